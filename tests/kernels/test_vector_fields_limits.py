"""Vector fields at their limits: what must stay the same, and what must go over into what."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import OperatorKernelRegressor, kernels

rng = np.random.default_rng(0)
X, NEW = rng.normal(size=(40, 2)), rng.normal(size=(9, 2))
FIELD = np.c_[np.sin(X[:, 0]), np.cos(X[:, 1])] + 0.1 * rng.normal(size=X.shape)
M = np.array([[1.0, 0.3], [0.3, 1.0]])


def predicted(kernel, X=X, Y=FIELD, weights=None, **settings):
    return OperatorKernelRegressor(kernel, **{"alpha": 1e-2, **settings}).fit(X, Y, weights).predict(NEW)


@pytest.mark.parametrize(
    ("share", "pure"), [(1.0, kernels.CurlFreeKernel(0.3)), (0.0, kernels.DivergenceFreeKernel(0.3))]
)
def test_the_mixture_goes_over_into_its_parts(share, pure):
    assert_allclose(predicted(kernels.HelmholtzKernel(share, 0.3)), predicted(pure), atol=1e-12)
    near = abs(share - 1e-9)
    assert_allclose(predicted(kernels.HelmholtzKernel(near, 0.3)), predicted(pure), atol=1e-6)


def test_a_scalar_kernel_times_a_matrix_is_separable():
    def blocks(A, B):
        return np.multiply.outer(np.exp(-0.3 * ((A[:, None] - B) ** 2).sum(axis=-1)), M)

    for loss in ("squared", "huber"):
        settings = {"loss": loss, "tol": 1e-10, "max_iter": 20_000}
        general = predicted(kernels.OperatorValuedKernel(blocks), **settings)
        assert_allclose(general, predicted("rbf", gamma=0.3, operator=M, **settings), atol=1e-5)


def test_infinite_alpha_leaves_the_centre():
    assert_allclose(predicted(kernels.CurlFreeKernel(0.3), alpha=1e12), np.tile(FIELD.mean(axis=0), (9, 1)), atol=1e-10)


@pytest.mark.parametrize("alpha", [1e-2, "auto"])
def test_a_sample_repeated_is_a_weight_of_two(alpha):
    weights = np.where(np.arange(40) == 3, 2.0, 1.0)
    twice = predicted(kernels.CurlFreeKernel(0.3), np.r_[X, X[3:4]], np.r_[FIELD, FIELD[3:4]], alpha=alpha)
    assert_allclose(predicted(kernels.CurlFreeKernel(0.3), weights=weights, alpha=alpha), twice, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_other_units_of_the_outputs(loss, scale):
    settings = {"loss": loss, "alpha": "auto"}
    expected = predicted(kernels.CurlFreeKernel(0.3), **settings)
    assert_allclose(predicted(kernels.CurlFreeKernel(0.3), Y=scale * FIELD, **settings) / scale, expected, atol=1e-8)


def test_one_value_missing_moves_less_than_its_sample_missing():
    gap, gone = FIELD.copy(), FIELD.copy()
    gap[5, 1], gone[5] = np.nan, np.nan
    whole = predicted(kernels.CurlFreeKernel(0.3))
    moved, more = (np.abs(predicted(kernels.CurlFreeKernel(0.3), Y=Y) - whole).max() for Y in (gap, gone))
    assert 0 < moved < 0.05 and more < 0.1


def test_one_sample_and_samples_all_alike():
    assert_allclose(predicted(kernels.CurlFreeKernel(), X[:1], FIELD[:1]), np.tile(FIELD[0], (9, 1)))
    assert np.isfinite(predicted(kernels.CurlFreeKernel(), np.zeros((5, 2)), FIELD[:5])).all()
