"""What every feature map guarantees. A new one gets these tests by a line in ``CASES``."""

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import PolynomialFeatures

from hilbertlearn import features, kernels, load, save

rng = np.random.default_rng(0)
X, NEW = rng.normal(size=(30, 3)), rng.normal(size=(7, 3))
RBF = kernels.InputKernel("rbf", 0.4)
UNITS = np.array([1.0, 100.0, 0.01])
MANY, INDEPENDENT = features.RandomFeatures(6000), features.RandomFeatures(6000, orthogonal=False)


@dataclass
class Case:
    """A setting, with the kernel and the samples it is fitted to."""

    setting: Any
    kernel: kernels.InputKernel = RBF
    X: Any = None

    @property
    def samples(self):
        return X if self.X is None else self.X

    def fit(self):
        return clone(self.setting).fit(self.kernel, self.samples)


CASES = {
    "Landmarks": Case(features.Landmarks(12)),
    "Landmarks, pivoted": Case(features.Landmarks(12, method="pivoted")),
    "Landmarks, leverage": Case(features.Landmarks(12, method="leverage")),
    "Landmarks, uniform": Case(features.Landmarks(12, method="uniform")),
    "Landmarks, given": Case(features.Landmarks(points=NEW)),
    "Landmarks, float32": Case(features.Landmarks(12), X=X.astype(np.float32)),
    "Landmarks, sparse rows": Case(features.Landmarks(12), X=scipy.sparse.csr_array(X)),
    "Landmarks, strings": Case(
        features.Landmarks(4), kernels.InputKernel(kernels.NGrams()), ["ab", "b", "abc", "x"] * 6
    ),
    "RandomFeatures": Case(features.RandomFeatures(16)),
    "RandomFeatures, independent": Case(
        features.RandomFeatures(16, orthogonal=False), kernels.InputKernel("matern32", 1)
    ),
    "RandomFeatures, scaled inputs": Case(
        features.RandomFeatures(16),
        kernels.InputKernel("rbf", 0.4, scaling=kernels.InputScaling.from_samples(X * UNITS)),
        X * UNITS,
    ),
    "TransformerFeatures": Case(features.TransformerFeatures(PolynomialFeatures(2))),
    "TransformerFeatures, Nystroem": Case(features.TransformerFeatures(Nystroem(n_components=8, random_state=0))),
}
with_cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def test_every_feature_map_is_listed():
    assert set(features.__all__) == {name for name in CASES if name in features.__all__}


@with_cases
def test_features_are_finite_floats_in_c_order(case):
    fitted = case.fit()
    Z = fitted(case.samples)
    assert Z.shape == (
        len(case.samples) if isinstance(case.samples, list) else case.samples.shape[0],
        fitted.n_components,
    )
    assert np.isfinite(Z).all() and Z.flags.c_contiguous
    assert Z.dtype == (np.float32 if getattr(case.samples, "dtype", None) == np.float32 else np.float64)


@with_cases
def test_features_of_a_row_do_not_depend_on_the_others(case):
    fitted, tolerance = case.fit(), 1e-4 if getattr(case.samples, "dtype", None) == np.float32 else 1e-9
    Z = fitted(case.samples)
    assert_allclose(fitted(case.samples[5:9]), Z[5:9], atol=tolerance)
    for rows, block in fitted.blocks(case.samples, 7):
        assert_allclose(block, Z[rows], atol=tolerance)


@with_cases
def test_the_expansion_is_the_same_function(case):
    fitted, single = case.fit(), getattr(case.samples, "dtype", None) == np.float32
    W = rng.normal(size=(fitted.n_components, 2))
    kernel, samples, C = fitted.expansion(W)
    assert_allclose(kernel(case.samples, samples) @ C, fitted(case.samples) @ W, atol=1e-2 if single else 1e-7)


@with_cases
def test_nothing_that_is_given_changes(case):
    before, params = copy.deepcopy(case.samples), repr(case.setting)
    fitted = case.setting.fit(case.kernel, case.samples)
    fitted(case.samples)
    assert repr(case.setting) == params
    if scipy.sparse.issparse(before):
        assert (before != case.samples).nnz == 0
    else:
        assert_array_equal(before, case.samples)
    with pytest.raises(AttributeError):
        fitted.n_components = 3


@with_cases
def test_fits_repeat_and_maps_are_saved(case, tmp_path):
    fitted = case.fit()
    assert_array_equal(case.fit()(case.samples), fitted(case.samples))
    loaded = load(save(fitted, tmp_path / "map.hl"))
    assert_array_equal(loaded(case.samples), fitted(case.samples))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("setting", [features.Landmarks(30), features.Landmarks(points=X * UNITS), MANY, INDEPENDENT])
def test_features_of_scaled_inputs_approximate_the_kernel_of_standardised_ones(setting, sparse):
    inputs = scipy.sparse.csr_array(X * UNITS) if sparse else X * UNITS
    scaled = kernels.InputKernel("rbf", 0.4, scaling=kernels.InputScaling.from_samples(inputs))
    fitted = clone(setting).fit(scaled, inputs)
    standardised = X / X.std(axis=0)
    assert_allclose(fitted(inputs) @ fitted(inputs).T, rbf_kernel(standardised, gamma=0.4), atol=0.1)
    if not sparse:
        far = np.vstack([X.max(axis=0) + 0.5, X.max(axis=0) + 50.0])
        limited = np.minimum(far, X.max(axis=0) + np.ptp(X, axis=0)) / X.std(axis=0)
        values = fitted(far * UNITS) @ fitted(inputs).T
        assert_allclose(values, rbf_kernel(limited, standardised, gamma=0.4), atol=0.1)
        unlimited = fitted.without_bounds()
        expected = rbf_kernel(far / X.std(axis=0), standardised, gamma=0.4)
        assert_allclose(unlimited(far * UNITS) @ unlimited(inputs).T, expected, atol=0.1)
