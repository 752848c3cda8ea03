"""Surrogate samples with closed-form errors: curves that are irregular, have missing values, or several channels."""

import numpy as np
import pytest
from helpers.machines import prepare, read
from numpy.testing import assert_allclose

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, operators, spaces
from hilbertlearn.data.functions import IrregularFunctions
from hilbertlearn.losses import Huber
from hilbertlearn.selection.surrogate import is_nearly_complete, make_surrogate, selection_subsample, subsample_size

N, T = 40, np.linspace(0, 1, 15)
FINE = np.linspace(0, 1, 40)
rng = np.random.default_rng(2)
X, NEW = rng.uniform(-1, 1, size=(N, 2)), rng.uniform(-1, 1, size=(60, 2))


def clean(X, t):
    return np.sin(6 * t + 2 * X[:, :1]) + 2 * X[:, 1:] * t + 3 * t


Y = clean(X, T) + 0.3 * rng.normal(size=(N, len(T)))
GAPS = np.where(rng.random(Y.shape) < 0.3, np.nan, Y)
GAPS[7] = np.nan  # a curve that was not seen
WEIGHTS = rng.uniform(0.2, 2, size=N)
POINTS = [np.sort(rng.random(6)) for _ in range(N)]
OWN = IrregularFunctions(
    POINTS, [clean(x[None], p)[0] + 0.3 * rng.normal(size=6) for x, p in zip(X, POINTS)], domain=(0, 1)
)
SEVERAL = np.stack([Y, -Y + T], axis=2)
KINDS = {"grid": "grid", "eigen": "eigen", "fourier": spaces.Fourier(7, rate=1.0), "bspline": spaces.BSpline(8)}


def errors(model):
    """Mean squared error on new inputs, without noise."""
    if isinstance(model.predict(NEW[:1]), IrregularFunctions):
        return np.mean((np.stack(model.predict(NEW, FINE).values) - clean(NEW, FINE)) ** 2)
    predicted = model.predict(NEW)
    return np.mean(((predicted if predicted.ndim == 2 else predicted[..., 0]) - clean(NEW, T)) ** 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "y, irregular", [(Y, "exact"), (GAPS, "exact"), (OWN, "exact"), (OWN, "projected"), (SEVERAL, "exact")],
    ids=["full", "gaps", "irregular", "projected", "several"],
)  # fmt: skip
def test_the_selected_alpha_is_near_the_best_in_hindsight(kind, y, irregular):
    settings = {"gamma": 1.0, "space": KINDS[kind], "irregular": irregular, "tol": 1e-4}
    if kind == "grid" and irregular == "projected":  # there is no basis to average over
        with pytest.raises(ValueError, match="irregular='projected' averages over a basis"):
            FunctionalRegressor(**settings).fit(X, y)
        return
    best = min(errors(FunctionalRegressor(alpha=alpha, **settings).fit(X, y)) for alpha in np.geomspace(1e-5, 1e-1, 7))
    chosen = FunctionalRegressor(alpha="auto", **settings).fit(X, y)
    assert errors(chosen) <= 1.35 * best


def test_points_of_their_own_are_nearly_as_good_as_a_grid():
    """The centre must not follow the values of single curves when the space is larger than the data."""
    settings = {"gamma": 1.0, "alpha": 1e-3}
    on_grid = errors(FunctionalRegressor(**settings).fit(X, Y))
    for kind in ("grid", "eigen"):
        for loss in ("squared", Huber(0.5)):
            assert errors(FunctionalRegressor(**settings, space=KINDS[kind], loss=loss).fit(X, OWN)) < 8 * on_grid


def test_centre_from_very_few_points_stays_among_the_values():
    few = IrregularFunctions([p[:2] for p in POINTS[:6]], [v[:2] for v in OWN.values[:6]], (0, 1))
    low, high = (f(np.concatenate(few.values)) for f in (np.min, np.max))
    for kind, space in KINDS.items():
        for loss in ("squared", Huber(0.5)):
            model = FunctionalRegressor(gamma=1.0, space=space, alpha=1e3, loss=loss).fit(X[:6], few)
            middle = model.predict(NEW[:1], FINE).values[0]  # alpha leaves the centre alone
            assert low - (high - low) < middle.min() and middle.max() < high + (high - low), kind


@pytest.mark.parametrize("center", [True, False])
def test_alpha_of_several_curves_without_a_centre(center):
    model = FunctionalRegressor(gamma=1.0, operator=operators.AxisProduct(curves=np.eye(2)), center=center).fit(
        X, SEVERAL
    )
    assert errors(model) < 0.1


# ---------------------------------------------------------------- surrogates themselves


def test_samples_with_a_closed_form_are_their_own_surrogate():
    samples = read(OperatorKernelRegressor(), X, Y[:, :3])
    assert make_surrogate(samples) is samples


def test_curves_at_irregular_points_are_interpolated():
    samples = read(FunctionalRegressor(), X, OWN)
    surrogate = make_surrogate(samples)
    assert samples.encoded.sampling is not None and surrogate.encoded.sampling is None
    assert np.isfinite(surrogate.Y).all() and len(surrogate.rows) == N


def test_missing_values_are_interpolated_between_their_neighbours():
    straight = X[:, :1] + X[:, 1:] * T
    gaps = straight.copy()
    gaps[3, 5], gaps[8, 6:9] = np.nan, np.nan
    samples = read(FunctionalRegressor(grid=T), X, gaps)
    surrogate = make_surrogate(samples)
    complete = read(FunctionalRegressor(grid=T), X, straight)
    assert samples.mask is not None
    assert_allclose(surrogate.Y, complete.Y, atol=1e-12)
    assert is_nearly_complete(surrogate, samples)
    gaps[1:, 3:9] = np.nan
    samples = read(FunctionalRegressor(grid=T), X, gaps)
    assert not is_nearly_complete(make_surrogate(samples), samples)


def test_operators_that_differ_between_terms_are_dropped():
    M = np.diag([1.0, 2.0, 3.0])
    samples = read(OperatorKernelRegressor([("rbf", M), ("linear", np.eye(3))]), X, Y[:, :3])
    assert all(operator is None for _, operator in make_surrogate(samples).recipe.pairs)
    samples = read(OperatorKernelRegressor("rbf", operator=M), X, Y[:, :3])
    assert make_surrogate(samples).recipe.pairs is samples.recipe.pairs
    samples = read(OperatorKernelRegressor("rbf", operator=M), X, GAPS[:, :3])
    assert make_surrogate(samples).recipe.pairs[0][1] is None


def test_sizes_of_subsamples():
    def size(n, d=1, gaps=None):
        T = np.zeros((n, d)) if gaps is None else np.where(gaps, np.nan, 0.0)
        return subsample_size(read(OperatorKernelRegressor(scale=False), np.zeros((n, 1)), T))

    assert [size(n) for n in (10, 2000, 2001)] == [10, 2000, 1500]
    assert size(1500, 2000) == 1000  # sqrt(2e9 / 2000)
    gaps = rng.random((3000, 64)) < 0.5
    assert size(3000, 64, gaps) == 750  # 64 patterns are eight times eight


def test_a_subsample_of_training_data_merges_duplicates():
    rows = np.repeat(np.arange(N), 2)
    training = prepare(OperatorKernelRegressor("rbf", gamma=1.0), X[rows], Y[rows, :2])
    data = selection_subsample(training)
    assert len(data.rows) == N and data.weights.sum() == 2 * N
    assert selection_subsample(data) is data
