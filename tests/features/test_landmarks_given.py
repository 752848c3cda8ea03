"""Landmarks that are given: the features do not depend on the samples of fit."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn.features import Landmarks
from hilbertlearn.kernels import InputKernel

rng = np.random.default_rng(0)
X, POINTS = rng.normal(size=(50, 3)), rng.normal(size=(8, 3))
KERNEL = InputKernel("rbf", gamma=0.2)


def test_products_are_those_of_projections_on_the_points():
    K, L = rbf_kernel(X, POINTS, gamma=0.2), rbf_kernel(POINTS, gamma=0.2)
    for points in (POINTS, scipy.sparse.csr_matrix(POINTS)):
        found = clone(Landmarks(points=points)).fit(KERNEL, X[:5])
        Z = found(X)
        assert Z.shape == (50, 8)
        assert_allclose(Z @ Z.T, K @ np.linalg.solve(L, K.T), atol=1e-9)
    W = rng.normal(size=(8, 2))
    kernel, samples, C = Landmarks(points=POINTS).fit(KERNEL, X).expansion(W)
    assert_allclose(kernel(X, samples) @ C, Landmarks(points=POINTS).fit(KERNEL, X[:1])(X) @ W, atol=1e-9)


def test_points_that_say_nothing_new_are_dropped():
    found = Landmarks(points=np.r_[POINTS, POINTS[:3]]).fit(KERNEL, X)
    assert found.n_components == 8


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (POINTS[:0], "points is empty"),
        (POINTS[:, :2], "points have 2 columns, and X has 3"),
        (np.where(POINTS > 2, np.nan, POINTS) * np.r_[np.nan, np.ones(7)][:, None], "NaN or infinity"),
    ],
)
def test_refused(points, message):
    with pytest.raises(ValueError, match=message):
        Landmarks(points=points).fit(KERNEL, X)


def test_kernel_values_have_no_points():
    with pytest.raises(ValueError, match="has none; set points=None"):
        Landmarks(points=POINTS).fit(InputKernel("precomputed"), X @ X.T)
