"""Layers of the autoencoder: gradients against finite differences, the start, and steps that fail."""

import numpy as np
import pytest
from helpers.autoencoder_data import LOSSES, X, coordinates, moved
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn.autoencoder.estimator import KernelAutoencoder
from hilbertlearn.autoencoder.layers import Network, initial_layers


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sizes", [(3,), (4, 2), (4, 2, 3)], ids=str)
@pytest.mark.parametrize(
    ("name", "params"), [("rbf", None), ("linear", None), ("polynomial", None), ("poly", {"degree": 2, "coef0": 0.5})]
)
def test_gradient_equals_finite_differences(name, params, sizes, loss):
    V = coordinates(rbf_kernel(X[:12], gamma=0.5))
    parameters, roots, inner = initial_layers(V, sizes, name, 0.3, params)
    noise = np.random.default_rng(1)
    parameters = [U * 0.7 + 0.1 * noise.normal(size=U.shape) for U in parameters]
    network = Network(V, roots, inner, LOSSES[loss], alpha=0.05, tol=1e-11)
    found = network.evaluate(parameters)
    assert found.solution.gap < 1e-11
    for layer, gradient in enumerate(found.gradients):
        direction = noise.normal(size=gradient.shape)
        ahead, behind = (network.evaluate(moved(parameters, layer, h * direction)).value for h in (1e-5, -1e-5))
        expected = (ahead - behind) / 2e-5
        assert np.vdot(gradient, direction) == pytest.approx(expected, rel=2e-4, abs=1e-6 * np.linalg.norm(gradient))


def test_start_is_kernel_principal_components():
    K = rbf_kernel(X, gamma=0.5)
    values, vectors = np.linalg.eigh(K)
    parameters, roots, inner = initial_layers(coordinates(K), (3, 2), "rbf", 0.8, None)
    codes = coordinates(K) @ parameters[0]
    expected = vectors[:, :-4:-1] * np.sqrt(values[:-4:-1])
    assert_allclose(np.abs(codes), np.abs(expected), atol=1e-8)
    inner_values, inner_vectors = np.linalg.eigh(rbf_kernel(codes, gamma=0.8))
    second = inner[0].gram(codes) @ roots[1] @ parameters[1]
    assert_allclose(np.abs(second), np.abs(inner_vectors[:, :-3:-1] * np.sqrt(inner_values[:-3:-1])), atol=1e-5)


@pytest.mark.parametrize("degree", [2, 5])
def test_steps_into_rounding_are_taken_back(degree, monkeypatch):
    refused, evaluate = [], Network.evaluate

    def counted(self, parameters):
        try:
            return evaluate(self, parameters)
        except ValueError as error:
            refused.append(str(error))
            raise

    monkeypatch.setattr(Network, "evaluate", counted)
    params = {"degree": degree}
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model = KernelAutoencoder((8, 2, 8), inner_kernel="poly", inner_params=params, alpha=1e-4, max_iter=20).fit(X)
    assert refused and "lower inner_gamma or the degree" in refused[0]
    assert np.isfinite(model.objective_path_).all() and (np.diff(model.objective_path_) <= 0).all()
    assert len(model.objective_path_) == 21 and model.objective_path_[-1] > 0


@pytest.mark.parametrize("gamma", [1.0, 5.0])
def test_a_start_of_nothing_but_rounding_is_refused(gamma):
    model = KernelAutoencoder((8, 2, 8), inner_kernel="poly", inner_gamma=gamma, inner_params={"degree": 5})
    with pytest.raises(ValueError, match=r"inner_kernel: .*; lower inner_gamma"):
        model.fit(X)
