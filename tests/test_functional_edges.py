"""Functional data at their edges: empty curves, other grids, refits, units, and what messages say."""

import numpy as np
import pytest
from helpers.estimator_checks import assert_checks_pass, in_one_line
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold, cross_val_predict

from hilbertlearn import (
    FunctionalRegressor,
    IrregularFunctions,
    OperatorKernelRegressor,
    kernels,
    metrics,
    operators,
    spaces,
)

rng = np.random.default_rng(6)
N, M = 10, 8
T = np.linspace(0, 1, M)
X = rng.uniform(size=(N, 2))
Y = np.sin(4 * (T + X[:, :1]))
TWO = np.stack([Y, Y**2], axis=-1)
SHEETS = rng.normal(size=(N, 3, 4))
AXES = (np.arange(3.0), np.arange(4.0))
POINTS = [np.sort(rng.uniform(size=k)) for k in rng.integers(3, 7, N)]
VALUES = [np.sin(4 * (p + x)) for p, x in zip(POINTS, X[:, 0])]
CURVES = IrregularFunctions(POINTS, VALUES, (0, 1))


def regressor(**settings):
    return FunctionalRegressor(**{"alpha": 0.01, **settings})


def fdata_grid(values, points=T):
    return pytest.importorskip("skfda").FDataGrid(values, points)


# ---------------------------------------------------------------- the centre


@pytest.mark.parametrize("space", ["grid", "eigen", "bspline"])
@pytest.mark.parametrize("points", [4, 12])
def test_the_centre_of_irregular_curves_is_near_their_mean(space, points):
    """Smooth curves in [-1, 1]: their mean, and predictions, do not leave [-2, 2]; the true curves are predicted."""
    draw = np.random.default_rng(0)
    x = draw.uniform(size=(40, 1))
    own = [np.sort(draw.uniform(size=points)) for _ in x]
    y = IrregularFunctions(own, [np.sin(4 * (p + a)) for p, a in zip(own, x)], (0, 1))
    t = np.linspace(0, 1, 201)
    model = FunctionalRegressor(space=space, alpha=1e-5).fit(x, y)
    mean = model.space_.evaluate_mean((t,))
    assert np.abs(mean).max() < 2
    truth = np.sin(4 * (t + x))
    assert np.mean((model.predict(x, grid=t).to_array() - truth) ** 2) < 0.02


# ---------------------------------------------------------------- nothing seen of a curve


@pytest.mark.parametrize("space", ["grid", "fourier", "bspline", "eigen"])
@pytest.mark.parametrize("irregular", ["exact", "projected"])
@pytest.mark.parametrize("alpha", [0.01, "auto"])
def test_curves_without_any_value_are_left_out(space, irregular, alpha):
    """No points, or only NaN: as if the sample had not been given."""
    none = IrregularFunctions([[], *POINTS[1:]], [[], *VALUES[1:]], (0, 1))
    unseen = IrregularFunctions(POINTS, [VALUES[0] * np.nan, *VALUES[1:]], (0, 1))
    on_grid = np.where(np.arange(N)[:, None] == 0, np.nan, Y)
    partly = np.where(rng.random(Y.shape) < 0.2, np.nan, on_grid)
    for y, rest in ((none, CURVES[1:]), (unseen, CURVES[1:]), (on_grid, Y[1:]), (partly, partly[1:])):
        if space == "grid" and irregular == "projected" and not isinstance(y, np.ndarray):
            continue
        settings = {"space": space, "irregular": irregular, "gamma": 1.0, "alpha": alpha, "tol": 1e-10}
        found, expected = (FunctionalRegressor(**settings).fit(*data) for data in ((X, y), (X[1:], rest)))
        at = np.linspace(0, 1, 5)
        values = [m.predict(X, grid=at) for m in (found, expected)]
        values = [v.to_array() if hasattr(v, "to_array") else v for v in values]
        assert_allclose(values[0], values[1], atol=1e-4)
        assert np.isfinite(found.score(X, y))


def test_only_curves_without_values():
    for space in ("grid", "fourier"):
        y = IrregularFunctions(POINTS, [v * np.nan for v in VALUES], (0, 1))
        assert_refused(
            lambda space=space, y=y: regressor(space=space).fit(X, y),
            ["y has no observed entry", "at least one sample"],
        )


def test_a_regressor_leaves_out_curves_without_values():
    y = IrregularFunctions([[], *POINTS[1:]], [[], *VALUES[1:]], (0, 1))
    found, expected = (regressor(regressor=Ridge()).fit(*data) for data in ((X, y), (X[1:], CURVES[1:])))
    assert_allclose(found.predict(X).to_array(), expected.predict(X).to_array())


def test_scores_leave_out_curves_without_values():
    model = regressor().fit(X, Y)
    some = IrregularFunctions([*POINTS[:-1], []], [*VALUES[:-1], []], (0, 1))
    assert model.score(X, some) == pytest.approx(model.score(X[:-1], CURVES[:-1]))
    assert model.predict(X[:2], grid=[[], [0.5]]).points[0].size == 0
    assert_refused(lambda: model.score(X, Y * np.nan), ["y", "no observed value", "at least one"])


def test_irregular_curves_at_one_point():
    """A domain of one point is one point of a grid."""
    y = IrregularFunctions([[2.0]] * N, list(Y[:, :1]))
    found = regressor(tol=1e-12).fit(X, y).predict(X)
    assert_allclose(np.concatenate(found.values), regressor().fit(X, Y[:, 0]).predict(X), atol=1e-5)


# ---------------------------------------------------------------- scores


def test_arrays_are_scored_on_the_training_grid():
    """An array brings no grid along: it is on that of the training outputs, whatever container these had."""
    points = 3 * T**2 + 1
    for model in (regressor().fit(X, fdata_grid(Y, points)), regressor(grid=points).fit(X, Y)):
        assert model.score(X, Y) == pytest.approx(model.score(X, fdata_grid(Y, points)))
        coarse = fdata_grid(Y[:, ::3], points[::3])
        assert model.score(X, coarse) == pytest.approx(
            model.score(X, IrregularFunctions([points[::3]] * N, list(Y[:, ::3]), (1, 4)))
        )
    assert_refused(lambda: regressor().fit(X, Y).score(X, Y[:, ::2]), ["y has 4", "(8,)"])


def test_scores_of_other_numbers_of_curves():
    two = IrregularFunctions(POINTS, [np.c_[v, v] for v in VALUES], (0, 1))
    assert_refused(lambda: regressor().fit(X, Y).score(X, two), ["y must have 1 curve", "got 2"])


def test_grids_in_small_units_are_compared_in_their_units():
    unit = 1e-9
    words = ["grid must be None", "grid_points"]
    assert_refused(lambda: regressor(grid=unit * T**2).fit(X, fdata_grid(Y, unit * T)), words)
    space = regressor().fit(X, fdata_grid(Y, unit * T)).space_
    assert_refused(lambda: space.encode(fdata_grid(Y, unit * T**2)), ["grid of the training outputs"])
    other = IrregularFunctions([unit * T] * N, list(Y)), IrregularFunctions([unit * T**2] * N, list(Y))
    assert_refused(lambda: metrics.functional_mse(*other), ["same points"])


# ---------------------------------------------------------------- inputs and refits


def test_input_curves_on_another_grid_of_as_many_points():
    for kernel in ("rbf", "linear"):
        model = regressor(kernel=kernel).fit(fdata_grid(Y), Y)
        assert_refused(lambda model=model: model.predict(fdata_grid(Y, T**2)), ["X", "grid"])
        model = regressor(kernel=kernel).fit(CURVES, Y)
        wider = IrregularFunctions([2 * p for p in POINTS], VALUES, (0, 2))
        assert_refused(lambda model=model, wider=wider: model.predict(wider), ["X", "domain"])


def test_surfaces_as_inputs_of_a_named_kernel():
    found = regressor().fit(fdata_grid(SHEETS, list(AXES)), Y).predict(fdata_grid(SHEETS, list(AXES)))
    assert_allclose(found, regressor().fit(SHEETS.reshape(N, -1), Y).predict(SHEETS.reshape(N, -1)))


def test_a_refit_forgets_what_the_last_learnt():
    model = regressor().fit(X, Y).set_params(regressor=Ridge()).fit(X, Y)
    fresh = regressor(regressor=Ridge()).fit(X, Y)
    assert set(vars(model)) == set(vars(fresh))
    assert_refused(model.loo_residuals, ["loo_residuals()"])
    assert_refused(fresh.loo_residuals, ["loo_residuals()"])
    model = regressor(kernel=kernels.L2()).fit(Y, Y).fit(fdata_grid(Y), Y)
    assert not hasattr(model, "n_features_in_")


def test_a_regressor_set_after_the_fit_waits_for_the_next():
    for first, second in ((None, Ridge()), (Ridge(), None)):
        model = regressor(regressor=first).fit(X, Y)
        before = model.predict(X), model.predict(X, grid=[0.3])
        model.set_params(regressor=second)
        assert_array_equal(model.predict(X), before[0])
        assert_array_equal(model.predict(X, grid=[0.3]), before[1])


def test_cross_validated_predictions_of_irregular_curves():
    """As for scikit-fda's functions: an array of single curves."""
    folds = KFold(3)
    found = cross_val_predict(regressor(space="bspline"), X, CURVES, cv=folds)
    for train, test in folds.split(X):
        expected = regressor(space="bspline").fit(X[train], CURVES[train]).predict(X[test])
        for i, values in zip(test, expected.values):
            assert_allclose(found[i].values[0], values)


def test_no_curves():
    assert len(CURVES[[]]) == 0 and CURVES[[]].domain == CURVES.domain


# ---------------------------------------------------------------- scikit-learn


@pytest.mark.parametrize(
    "estimator",
    [
        FunctionalRegressor(regressor=ExtraTreesRegressor(5, random_state=0)),
    ],
    ids=in_one_line,
)
def test_estimator_checks(estimator):
    assert_checks_pass(estimator)


# ---------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([T], [T], (0, np.inf)), ["domain", "(low, high)"]),
        (([T], [T], 1), ["domain", "(low, high)"]),
        (([T], [T], (0, 1, 2)), ["domain", "(low, high)"]),
        (([T], [T], "ab"), ["domain", "(low, high)"]),
        (([0.0, 1.0], [0.0, 1.0]), ["curve 0", "one value a point"]),
        (([np.ones((2, 2))], [np.ones(4)]), ["curve 0", "(2, 2)"]),
        (([["a"]], [[1]]), ["curve 0", "number"]),
    ],
)
def test_irregular_functions(arguments, words):
    assert_refused(lambda: IrregularFunctions(*arguments), words)


@pytest.mark.parametrize(
    ("settings", "y", "words", "kind"),
    [
        ({"grid": "even"}, Y, ["grid", "'even'"], ValueError),
        ({"grid": [AXES[0], AXES[1]]}, SHEETS, ["grid", "tuple"], ValueError),
        ({"grid": np.r_[T[:-1], np.nan]}, Y, ["grid must be finite"], ValueError),
        ({"grid": np.r_[T[:-1], np.nan]}, CURVES, ["grid must be finite"], ValueError),
        ({"space": spaces.Grid}, Y, ["space", "Grid()"], TypeError),
        ({"operator": operators.Decay}, Y, ["operator", "Decay()"], TypeError),
        ({"operator": "smooth"}, Y, ["'auto'"], ValueError),
        ({"space": spaces.Eigen("gauss")}, Y, ["Eigen: kernel", "'gauss'"], ValueError),
        ({"space": spaces.Eigen(gamma=0)}, Y, ["Eigen: gamma"], ValueError),
        ({"space": spaces.Dictionary("fourier", "decay")}, Y, ["eigenvalues", "'decay'"], ValueError),
        ({"operator": operators.Integral("precomputed")}, Y, ["Integral: kernel", "precomputed"], ValueError),
        ({"regressor": LinearRegression}, Y, ["regressor", "LinearRegression()"], TypeError),
        ({"regressor": KMeans(2)}, Y, ["regressor", "KMeans"], TypeError),
        ({"loss": "hinge"}, CURVES, ["loss", "Hinge", "common grid"], ValueError),
    ],
)
def test_settings(settings, y, words, kind):
    assert_refused(lambda: regressor(**settings).fit(X, y), words, kind)


def test_output_tensor_kernels_bring_their_operator():
    found = regressor(kernel=kernels.OutputTensorKernel()).fit(X, Y).predict(X)
    assert_allclose(found, regressor(kernel=kernels.OutputTensorKernel(), operator=None).fit(X, Y).predict(X))


def test_vectors_do_not_take_functions():
    for y in (CURVES, fdata_grid(Y)):
        assert_refused(lambda y=y: OperatorKernelRegressor().fit(X, y), ["y must be numbers", "FunctionalRegressor"])


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ((T, T), ["grid", "1 variable", "got 2"]),
        ([[0.1, np.nan], [0.5]], ["grid", "finite"]),
        ("fine", ["grid", "'fine'"]),
        ([], ["grid", "at least one point"]),
    ],
)
def test_new_points(grid, words):
    assert_refused(lambda: regressor().fit(X, Y).predict(X[:2], grid=grid), words)


def test_new_points_of_two_variables():
    model = regressor(grid=AXES).fit(X, SHEETS)
    assert_refused(lambda: model.predict(X, grid=[0.5]), ["grid", "2 variables", "got 1"])
