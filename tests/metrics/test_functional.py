"""Metrics of functions against loops over curves and points."""

from itertools import pairwise

import numpy as np
import pytest
from helpers.refusals import assert_refused
from scipy.integrate import trapezoid
from sklearn.base import BaseEstimator
from sklearn.metrics import make_scorer, mean_squared_error

from hilbertlearn.data.functions import IrregularFunctions
from hilbertlearn.metrics import functional_mse, functional_nmse, integrated_squared_error

METRICS = [functional_mse, functional_nmse, integrated_squared_error]
rng = np.random.default_rng(6)
N, M = 9, 12
GRID = np.sort(rng.uniform(1, 4, M))
TRUE, PRED = rng.normal(size=(2, N, M))
GAPS = TRUE.copy()
GAPS[rng.random(TRUE.shape) < 0.4] = np.nan
GAPS[2] = np.nan  # a curve that nobody saw
GAPS[3, 1:] = np.nan  # and one of which one point was seen
GAPS[3, 0] = 1.0
WEIGHTS = rng.uniform(0.5, 2, N)


def curve_error(metric, points, true, pred):
    """Of one curve, point by point; None without any point."""
    seen = sorted((t, (y - z) ** 2) for t, y, z in zip(points, true, pred) if y == y)
    if not seen:
        return None
    if metric is functional_mse:
        return sum(e for _, e in seen)
    if metric is functional_nmse or len(seen) == 1:
        return sum(e for _, e in seen) / len(seen)
    area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(seen))
    return area / (seen[-1][0] - seen[0][0])


def by_loop(metric, points, true, pred, weights=None):
    errors = [curve_error(metric, *curve) for curve in zip(points, true, pred)]
    weights = np.ones(len(errors)) if weights is None else weights
    kept = [(w, e) for w, e in zip(weights, errors) if e is not None]
    return sum(w * e for w, e in kept) / sum(w for w, _ in kept)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weights"])
@pytest.mark.parametrize("true", [TRUE, GAPS], ids=["full", "gaps"])
def test_arrays(metric, true, weights):
    expected = by_loop(metric, [GRID] * N, true, PRED, weights)
    assert metric(true, PRED, GRID, sample_weight=weights) == pytest.approx(expected)
    even = np.linspace(0, 1, M)  # the grid by default
    assert metric(true, PRED) == pytest.approx(by_loop(metric, [even] * N, true, PRED))


def test_without_gaps_the_normalised_error_is_the_mean():
    assert functional_nmse(TRUE, PRED) == pytest.approx(mean_squared_error(TRUE, PRED))
    assert functional_mse(TRUE, PRED) == pytest.approx(M * mean_squared_error(TRUE, PRED))


def test_integral_of_a_known_error():
    grid = 3 + np.linspace(0, 1, 2001) ** 2  # dense and uneven on [3, 4]
    true = np.sin(2 * np.pi * grid)[None]
    assert integrated_squared_error(true, np.zeros_like(true), grid) == pytest.approx(0.5, abs=1e-5)
    assert integrated_squared_error(true, true - 3, grid) == pytest.approx(9)


@pytest.mark.parametrize("metric", METRICS)
def test_irregular_functions(metric):
    points = [rng.uniform(-1, 1, size=m) for m in (5, 1, 8, 0, 6)]  # in any order
    true, pred = ([rng.normal(size=len(p)) for p in points] for _ in range(2))
    true[2][3] = np.nan
    expected = by_loop(metric, points, true, pred)
    domain = (-1, 1)
    Y, P = (IrregularFunctions(points, values, domain) for values in (true, pred))
    assert metric(Y, P) == pytest.approx(expected)
    columns = IrregularFunctions(points, [v[:, None] for v in pred], domain)
    assert metric(Y, columns) == pytest.approx(expected)


@pytest.mark.parametrize("metric", METRICS)
def test_gaps_are_points_of_other_curves(metric):
    seen = [~np.isnan(row) for row in GAPS]
    irregular = [
        IrregularFunctions([GRID[s] for s in seen], [v[s] for v, s in zip(values, seen)]) for values in (GAPS, PRED)
    ]
    assert metric(*irregular) == pytest.approx(metric(GAPS, PRED, GRID))


@pytest.mark.parametrize("metric", METRICS)
def test_several_functions_add_up(metric):
    both = np.stack([GAPS, TRUE], axis=2)
    pred = np.stack([PRED, PRED[::-1]], axis=2)
    errors = [sum(curve_error(metric, GRID, both[i, :, c], pred[i, :, c]) or 0.0 for c in range(2)) for i in range(N)]
    assert metric(both, pred, GRID) == pytest.approx(np.mean(errors))


def test_two_variables():
    s, t = np.array([0.0, 0.2, 1.0]), np.array([1.0, 1.5, 3.0, 4.0])
    true, pred = rng.normal(size=(2, 5, 3, 4))
    error = (true - pred) ** 2
    inner = trapezoid(trapezoid(error, t, axis=2), s, axis=1) / 3
    assert integrated_squared_error(true, pred, (s, t)) == pytest.approx(inner.mean())
    assert functional_mse(true, pred, (s, t)) == pytest.approx(error.sum(axis=(1, 2)).mean())
    assert functional_nmse(true, pred, (s, t)) == pytest.approx(error.mean())
    true[0, 1:] = np.nan  # what is left of the first function is a line, of weights of sum 1
    inner[0] = trapezoid(error[0, 0], t) / 3
    assert integrated_squared_error(true, pred, (s, t)) == pytest.approx(inner.mean())


@pytest.mark.parametrize("metric", METRICS)
def test_scikit_fda(metric):
    skfda = pytest.importorskip("skfda")
    expected = metric(TRUE, PRED, GRID)
    Y, P = (skfda.FDataGrid(values, grid_points=GRID) for values in (TRUE, PRED))
    assert metric(Y, P) == pytest.approx(expected)
    assert metric(Y, PRED) == pytest.approx(expected)  # the one that has a grid gives it to the other
    assert metric(TRUE, P) == pytest.approx(expected)


@pytest.mark.parametrize("metric", METRICS)
def test_weights_repeat_samples(metric):
    counts = rng.integers(0, 3, size=N)
    expected = metric(np.repeat(GAPS, counts, axis=0), np.repeat(PRED, counts, axis=0))
    assert metric(GAPS, PRED, sample_weight=counts) == pytest.approx(expected)


@pytest.mark.parametrize("metric", METRICS)
def test_edges(metric):
    assert metric(TRUE, TRUE) == 0
    assert metric(GAPS, np.where(np.isnan(GAPS), np.nan, 0)) > 0  # nothing need be predicted where nothing was seen
    assert np.isnan(metric(GAPS[2:3], PRED[2:3]))
    assert np.isnan(metric(GAPS, PRED, sample_weight=np.eye(N)[2]))
    assert metric(TRUE[:, :1], PRED[:, :1]) == pytest.approx(mean_squared_error(TRUE[:, 0], PRED[:, 0]))
    twice = [IrregularFunctions([[0.3, 0.3]], [values]) for values in ([1.0, 2.0], [0.0, 0.0])]
    assert metric(*twice) == pytest.approx(5 if metric is functional_mse else 2.5)


def test_makes_a_scorer():
    class Copy(BaseEstimator):
        def predict(self, X):
            return X

    scorer = make_scorer(functional_mse, greater_is_better=False)
    assert scorer(Copy(), PRED, TRUE, sample_weight=WEIGHTS) == -functional_mse(TRUE, PRED, sample_weight=WEIGHTS)


@pytest.mark.parametrize("metric", METRICS)
def test_refusals(metric):
    hole = PRED.copy()
    hole[4, 5] = np.nan
    irregular = IrregularFunctions([GRID] * N, TRUE)
    shifted = IrregularFunctions([GRID] * N, PRED)
    shifted.points[6] = GRID + 0.1
    for action, words in [
        (lambda: metric(TRUE, hole), ["Y_pred", "NaN", "sample 4"]),
        (lambda: metric(TRUE, PRED[:5]), ["Y_true and Y_pred", "9", "5"]),
        (lambda: metric(TRUE, PRED[:, :5]), ["Y_pred", "5", "12"]),
        (lambda: metric(TRUE, np.stack([PRED, PRED], axis=2)), ["functions a sample", "1 and 2"]),
        (lambda: metric(irregular, PRED), ["same points", "IrregularFunctions", "ndarray"]),
        (lambda: metric(TRUE, irregular), ["same points", "IrregularFunctions", "ndarray"]),
        (lambda: metric(irregular, shifted), ["same points", "curve 6", "Y_true.points"]),
        (lambda: metric(TRUE, PRED, GRID[::-1]), ["grid", "increase"]),
        (lambda: metric(TRUE, PRED, sample_weight=-WEIGHTS), ["sample_weight"]),
        (lambda: metric(TRUE, PRED, sample_weight=0 * WEIGHTS), ["weights", "non-zero"]),
        (lambda: metric(TRUE, PRED, sample_weight=WEIGHTS[:3]), ["sample_weight", "(3,)"]),
        (lambda: metric(np.where(TRUE > 0, np.inf, 0), PRED), ["Y_true", "infinity"]),
    ]:
        assert_refused(action, words)
