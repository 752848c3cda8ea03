"""Leave-one-out residuals of rows under the model of all rows, against refits; uniform samples of streams."""

import numpy as np
import pytest
from helpers.moments_by_hand import moments_of, refitted
from numpy.testing import assert_allclose

from hilbertlearn.leave_one_out import Reservoir, loo_residuals_from_moments
from hilbertlearn.training import MomentProblem

N, R, D = 40, 6, 3
rng = np.random.default_rng(0)
Z = rng.normal(size=(N, R))
Y = np.c_[np.sin(Z[:, 0]), Z[:, 1] ** 2, Z.sum(axis=1)] + 0.1 * rng.normal(size=(N, D)) + [0, 50, -2]
WEIGHTS = rng.uniform(0.3, 3, N)
ROOT = rng.normal(size=(D, D))
OPERATORS = {
    "identity": None,
    "full": ROOT @ ROOT.T,
    "diagonal": np.diag([0.5, 2.0, 1.0]),
    "dropping": np.diag([0.5, 0.0, 1.0]),
    "rank 2": ROOT[:, :2] @ ROOT[:, :2].T,
}
GAPS = Y.copy()
GAPS[rng.random(Y.shape) < 0.2] = np.nan
GAPS[:2] = np.nan


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("center", [False, True], ids=["", "centred"])
@pytest.mark.parametrize("operator", [*OPERATORS, "gaps"])
def test_residuals_of_rows_under_the_model_of_all_equal_refits(operator, center, weighted):
    weights, targets = (WEIGHTS if weighted else np.ones(N)), (GAPS if operator == "gaps" else Y)
    M = None if operator == "gaps" else OPERATORS[operator]
    rows = np.flatnonzero(np.isfinite(targets).any(axis=1))
    weights, targets, features = weights[rows], targets[rows], Z[rows]
    problem = MomentProblem(moments_of(features, targets, weights), M, center)
    some = [3, 7, 20]
    kept = Reservoir(Z=features[some], Y=targets[some], weights=weights[some], keys=np.zeros(3))
    penalties = [1e-3, 0.5, 30.0]
    for s, residuals in zip(penalties, loo_residuals_from_moments(problem, kept, penalties), strict=True):
        assert_allclose(residuals, refitted(features, targets, M, s, center, weights)[some], atol=1e-7)


def test_as_many_features_as_rows():
    problem = MomentProblem(moments_of(Z[:4], Y[:4]))
    kept = Reservoir(Z=Z[:4], Y=Y[:4], weights=np.ones(4), keys=np.zeros(4))
    (residuals,) = loo_residuals_from_moments(problem, kept, [0.3])
    assert_allclose(residuals, refitted(Z[:4], Y[:4], None, 0.3, True, np.ones(4)), atol=1e-8)


def test_the_reservoir_is_a_uniform_sample_whatever_the_batches():
    n, size = 3000, 200
    row = np.arange(n, dtype=float)[:, None]
    samples = []
    for cuts in ([], [10, 11, 1500], list(range(1, n, 7))):
        reservoir = Reservoir.empty(1, 1, size)
        for part in np.split(row, cuts):
            reservoir = reservoir.with_rows(part, part, None)
        reservoir = reservoir.flush()
        assert reservoir.n_seen == n and len(reservoir.Z) == size
        samples.append(np.sort(reservoir.Z[:, 0]))
    assert_allclose(samples[1:], samples[:1] * 2)
    # a uniform sample has its mean within a few standard errors, and rows from everywhere
    assert abs(samples[0].mean() - n / 2) < 4 * n / np.sqrt(12 * size)
    assert np.diff(samples[0], prepend=0, append=n).max() < 20 * n / size
    assert len(np.unique(samples[0])) == size


def test_rows_that_do_not_count_are_not_kept():
    reservoir = Reservoir.empty(R, D, 10).with_rows(Z, GAPS, np.where(np.arange(N) < 35, 0.0, WEIGHTS)).flush()
    assert reservoir.n_seen == 5
    assert_allclose(reservoir.Z, Z[35:])
