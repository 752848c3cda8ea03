"""Errors by which settings are compared."""

import numpy as np
import pytest
from helpers.averages import limited_by_hand, log_trimmed_mean_square
from helpers.machines import read
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import OperatorKernelRegressor, losses, operators
from hilbertlearn.selection.criterion import Criterion, NormCriterion, RobustCriterion

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = np.column_stack([np.sin(3 * X[:, 0]) * X[:, 1], 100 * np.cos(X[:, 2])]) + 0.05 * rng.normal(size=(60, 2))
NEW = rng.normal(size=(10, 3))


@pytest.fixture(autouse=True)
def same_draws():
    """Each test draws the same whatever ran before it."""
    global rng
    rng = np.random.default_rng(0)


def test_outputs_count_by_their_own_variance():
    model, scaled = (OperatorKernelRegressor("rbf").fit(X, Y * scale) for scale in (1.0, np.array([1000.0, 1e-3])))
    assert model.gamma_ == scaled.gamma_ and model.alpha_ == pytest.approx(scaled.alpha_, rel=1e-9)
    assert_allclose(scaled.predict(NEW), model.predict(NEW) * [1000.0, 1e-3], rtol=1e-6)


@pytest.mark.parametrize(
    "setting", [{"operator": operators.TaskGraph()}, {"operator": "covariance"}, {"loss": "huber"}]
)
def test_one_output_rescaled_changes_nothing_else(setting):
    factors = np.array([1.0, 1000.0, 1.0])
    T = np.column_stack([Y[:, 0], Y[:, 0] + 0.1 * Y[:, 1] / 100, Y[:, 1]])
    model, scaled = (OperatorKernelRegressor("rbf", **setting).fit(X, T * factor) for factor in (1.0, factors))
    assert_allclose(scaled.predict(NEW) / factors, model.predict(NEW), rtol=1e-4, atol=1e-3)
    assert_allclose(scaled.scale_, model.scale_ * factors)
    plain = OperatorKernelRegressor("rbf", scale=False, **setting).fit(X, T)
    assert_array_equal(plain.scale_, 1.0)


def test_scaling_by_hand():
    gaps = Y.copy()
    gaps[::7, 1] = np.nan
    spread = np.sqrt(np.nanmean((gaps - np.nanmean(gaps, axis=0)) ** 2, axis=0))
    setting = {"gamma": 0.2, "alpha": 1e-3, "operator": np.array([[1.0, 0.5], [0.5, 1.0]]), "tol": 1e-15}
    model = OperatorKernelRegressor(scale=True, **setting).fit(X, gaps)
    by_hand = OperatorKernelRegressor(scale=False, **setting).fit(X, gaps / spread)
    assert_allclose(model.predict(NEW), by_hand.predict(NEW) * spread, rtol=1e-6)
    assert_allclose(
        model.machine_.residuals(X, gaps), by_hand.machine_.residuals(X, gaps / spread), rtol=1e-6, atol=1e-9
    )
    with pytest.raises(ValueError, match="scale"):
        OperatorKernelRegressor(scale="yes").fit(X, Y)


# ---------------------------------------------------------------- by hand


@pytest.mark.parametrize("gaps", [False, True])
def test_relative_errors_by_hand(gaps):
    weights, residuals = rng.uniform(0.5, 2, 60), rng.normal(size=Y.shape)
    T = Y.copy()
    if gaps:
        T[::5, 0] = residuals[::5, 0] = np.nan
    data = read(OperatorKernelRegressor(), X, T, weights)
    spread = np.empty(2)
    roots, limited = np.empty((2, 2))
    for j in range(2):
        seen = np.isfinite(data.Y[:, j])
        mean = np.average(data.Y[seen, j], weights=weights[seen])
        spread[j] = np.sqrt(np.average((data.Y[seen, j] - mean) ** 2, weights=weights[seen]))
        squares = residuals[seen, j] ** 2
        roots[j] = np.sqrt(np.average(squares, weights=weights[seen]))
        n = np.exp(-np.sum(weights / weights.sum() * np.log(weights / weights.sum())))
        limited[j] = np.sqrt(np.average(limited_by_hand(squares / spread[j] ** 2, n), weights=weights[seen]))
    evaluation = Criterion().evaluate(data, residuals)
    assert evaluation.error == pytest.approx(np.mean(roots / spread), rel=1e-12)
    if not gaps:
        C = np.cov(T, rowvar=False, aweights=weights)
        expected = 2 * np.log(np.mean(limited)) / np.mean((C / np.sqrt(np.outer(C.diagonal(), C.diagonal()))) ** 2)
        assert evaluation.log_loss == pytest.approx(expected, rel=1e-12)


def test_outputs_count_by_their_number_unless_they_are_copies():
    residuals = rng.normal(size=(60, 1))
    mean_square = np.log(np.mean(limited_by_hand(residuals**2 / Y[:, 0].var(), 60)))
    for n_outputs in (2, 5):
        copies = read(OperatorKernelRegressor(scale=False), X, np.repeat(Y[:, :1], n_outputs, axis=1))
        evaluation = Criterion().evaluate(copies, np.repeat(residuals, n_outputs, axis=1))
        assert evaluation.log_loss == pytest.approx(mean_square)
    signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]] * 15, dtype=float)  # not correlated
    evaluation = Criterion().evaluate(read(OperatorKernelRegressor(), X, signs), np.repeat(residuals, 2, axis=1))
    assert evaluation.log_loss == pytest.approx(2 * np.log(np.mean(limited_by_hand(residuals**2, 60))))


def test_the_standard_error_is_that_of_repeated_draws():
    """Errors of many draws of residuals have the standard deviation that one draw predicts."""
    data = read(OperatorKernelRegressor(), X, Y)
    errors = np.array([Criterion().evaluate(data, rng.normal(size=Y.shape)) for _ in range(2000)])
    assert errors[:, 1].mean() == pytest.approx(errors[:, 0].std(), rel=0.1)


def test_one_output_has_squared_errors_and_a_loss_its_own():
    data, residuals = read(OperatorKernelRegressor(), X, Y[:, :1]), rng.normal(size=(60, 1))
    squares = residuals[:, 0] ** 2
    limited = limited_by_hand(squares / Y[:, 0].var(), 60)
    expected = squares.mean(), squares.std() / np.sqrt(60), np.log(limited.mean())
    assert Criterion().evaluate(data, residuals) == pytest.approx(expected)
    r = np.abs(residuals[:, 0])
    huber = np.where(r < 0.5, r**2 / 2, 0.5 * r - 0.125)
    assert Criterion(losses.Huber(0.5)).evaluate(data, residuals)[0] == pytest.approx(2 * huber.mean())
    norm = NormCriterion().evaluate(data, residuals)
    assert norm.error == pytest.approx(r.mean())


@pytest.mark.parametrize("n", [10, 33, 60])
@pytest.mark.parametrize("criterion", [Criterion(losses.Huber(0.5)), NormCriterion()], ids=["huber", "norm"])
def test_robust_criteria_weight_settings_by_the_smaller_residuals(criterion, n):
    """Whatever the others are, and with counts as with copies."""
    residuals = rng.normal(size=(n, 2))
    model = OperatorKernelRegressor(scale=False)
    data = read(model, X[:n], Y[:n])
    expected = log_trimmed_mean_square(residuals)
    assert criterion.evaluate(data, residuals).log_loss == pytest.approx(expected)
    spoilt = residuals.copy()
    spoilt[np.argsort(np.linalg.norm(residuals, axis=1))[-(3 * n // 10) :]] *= 1e6
    assert criterion.evaluate(data, spoilt).log_loss == pytest.approx(expected)
    counts = rng.integers(1, 4, n)
    weighted = criterion.evaluate(read(model, X[:n], Y[:n], counts), residuals).log_loss
    assert weighted == pytest.approx(log_trimmed_mean_square(np.repeat(residuals, counts, axis=0)))


# ---------------------------------------------------------------- entries that should not count


@pytest.mark.parametrize("constant", [0.0, 0.1, -3.3e5])
def test_a_constant_output_changes_no_other(constant):
    """Although rounding leaves a spread of it."""
    residuals, column = rng.normal(size=Y.shape), np.full((60, 1), constant)
    without = Criterion().evaluate(read(OperatorKernelRegressor(), X, Y), residuals)
    data = read(OperatorKernelRegressor(), X, np.hstack([Y, column]))
    smaller = Criterion().evaluate(read(OperatorKernelRegressor(), X, Y), 1e-3 * residuals)
    padded = np.hstack([residuals, np.zeros((60, 1))])
    found = [Criterion().evaluate(data, factor * padded).log_loss for factor in (1.0, 1e-3)]
    assert found[0] - found[1] == pytest.approx(without.log_loss - smaller.log_loss)
    model = OperatorKernelRegressor("rbf", operator=None).fit(X, Y)
    other = OperatorKernelRegressor("rbf", operator=None).fit(X, np.hstack([Y, column]))
    assert_allclose(other.predict(NEW)[:, :2], model.predict(NEW), rtol=1e-6)
    assert_allclose(other.predict(NEW)[:, 2], constant, rtol=1e-12)


def test_weights_count_as_copies_and_a_row_without_weight_as_none():
    counts, residuals = rng.integers(1, 4, 60), rng.normal(size=Y.shape)
    model = OperatorKernelRegressor()
    weighted = Criterion().evaluate(read(model, X, Y, np.ones(60)), residuals)
    outlier = [np.vstack([rows, row]) for rows, row in ((X, X[:1]), (Y, [[1000.0, -70000.0]]), (residuals, [[0, 0]]))]
    nearly_without = Criterion().evaluate(read(model, *outlier[:2], np.r_[np.ones(60), 1e-13]), outlier[2])
    assert nearly_without.log_loss == pytest.approx(weighted.log_loss, rel=1e-5)
    copies = [np.repeat(rows, counts, axis=0) for rows in (X, Y, residuals)]
    number = 1 / np.mean(np.corrcoef(copies[1], rowvar=False) ** 2)
    small, double = (Criterion().evaluate(read(model, X, Y, counts), size * residuals) for size in (1e-3, 2e-3))
    assert double.log_loss - small.log_loss == pytest.approx(2 * np.log(2) * number, rel=1e-3)  # far below the limit


def test_the_share_of_the_robust_weight_counts_samples_by_their_weight():
    weights = np.r_[np.ones(99), 0.1]
    loss, counts = losses.Huber(1.0), [np.r_[np.ones(99), weight] for weight in (0, 1e-9, 1)]
    share = [RobustCriterion.from_weights(loss, weights, count).share for count in counts]
    assert share[0] == 0 and 0 < share[1] < 1e-8 and share[2] == pytest.approx(0.9)
    y = np.sin(2 * X[:, 0]) + 0.05 * rng.uniform(-1, 1, 60)
    settings = {"loss": losses.Huber(1.0), "tol": 1e-12}
    model = OperatorKernelRegressor("rbf", **settings).fit(X, y)
    outlier = np.vstack([X, NEW[:1]]), np.append(y, 50.0), np.append(np.ones(60), 1e-9)
    other = OperatorKernelRegressor("rbf", **settings).fit(*outlier)
    assert other.alpha_ == pytest.approx(model.alpha_, rel=1e-2)
    assert_allclose(other.predict(NEW), model.predict(NEW), atol=1e-4)


@pytest.mark.parametrize("share", [0.5, 0.8, 0.9])
def test_trimmed_means_are_of_observed_entries(share):
    residuals = rng.normal(size=Y.shape)
    gaps = np.where(rng.uniform(size=Y.shape) < share, np.nan, residuals)
    seen = gaps[np.isfinite(gaps)][:, None]
    data = read(OperatorKernelRegressor(scale=False), X, np.where(np.isfinite(gaps), Y, np.nan))
    rows = np.isfinite(gaps).any(axis=1)  # others are left out of the data
    found = Criterion(losses.Huber(0.5, p=1)).evaluate(data, gaps[rows]).log_loss
    assert found == pytest.approx(log_trimmed_mean_square(seen))
