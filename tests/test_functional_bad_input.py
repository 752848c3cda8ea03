"""Bad functions are refused with a message that says what to do, and odd ones are fine."""

import numpy as np
import pytest
import scipy.sparse
from helpers.refusals import assert_refused, changed
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KNeighborsRegressor

from hilbertlearn import (
    FunctionalRegressor,
    IrregularFunctions,
    OperatorKernelRegressor,
    RegularizationPathCV,
    kernels,
    losses,
    operators,
    spaces,
)

rng = np.random.default_rng(6)
N, M = 10, 8
T = np.linspace(0, 1, M)
X = rng.uniform(size=(N, 2))
Y = np.sin(4 * (T + X[:, :1]))
TWO = np.stack([Y, Y**2], axis=-1)
SHEETS = rng.normal(size=(N, 3, 4))  # of two variables
AXES = (np.arange(3.0), np.arange(4.0))
POINTS = [np.sort(rng.uniform(size=k)) for k in rng.integers(3, 7, N)]
CURVES = IrregularFunctions(POINTS, [np.sin(4 * (p + x)) for p, x in zip(POINTS, X[:, 0])], (0, 1))
POINT_BY_POINT = losses.Huber(0.1, p=1)


def regressor(**settings):
    return FunctionalRegressor(**{"alpha": 0.01, **settings})


def fdata_grid(values, points=T):
    return pytest.importorskip("skfda").FDataGrid(values, points)


# ---------------------------------------------------------------- curves


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([T, T], [T]), ["points and values", "each curve", "2 and 1"]),
        (([T, T], [T, T[:3]]), ["curve 1", "8 points", "(3,)", "one value a point"]),
        (([T], [np.ones((M, 1, 1))]), ["curve 0", "(8, 1, 1)"]),
        (([T, T], [np.ones((M, 2)), np.ones((M, 3))]), ["values", "same p"]),
        (([T, T], [np.ones((M, 2)), np.ones(M)]), ["values", "same p"]),
        (([T, changed(T, np.nan, 2)], [T, T]), ["curve 1", "points must be finite"]),
        (([T, changed(T, np.inf, 2)], [T, T]), ["curve 1", "points must be finite"]),
        (([T], [changed(T, -np.inf, 2)]), ["curve 0", "values finite or NaN"]),
        (([T], [T], (0, 0.5)), ["points of curve 0", "[0, 0.5]", "inside it", "wider domain"]),
        (([T], [T], (1, 0)), ["domain", "(low, high)", "(1, 0)"]),
        (([T], [T], (0, np.nan)), ["domain", "(low, high)", "nan"]),
        (([], []), ["points", "no curve", "domain"]),
        (([[]], [[]]), ["points", "no curve", "domain"]),
    ],
)
def test_irregular_functions(arguments, words):
    assert_refused(lambda: IrregularFunctions(*arguments), words)


# ---------------------------------------------------------------- grids and outputs


@pytest.mark.parametrize("wrap", [lambda m: m, RegularizationPathCV], ids=["model", "path"])
@pytest.mark.parametrize(
    ("grid", "y", "words"),
    [
        (T[::-1], Y, ["grid must increase", "sort it", "y with it"]),
        (changed(T, T[3], 4), Y, ["grid must increase", "sort it"]),
        (changed(T, np.nan, 4), Y, ["grid", "nan"]),
        (changed(T, np.inf, -1), Y, ["grid", "inf"]),
        (T[:-1], Y, ["grid", "one point for each value", "y has 8", "(7,)"]),
        (np.c_[T, T], Y, ["grid", "one point for each value", "(8, 2)"]),
        (T, SHEETS, ["grid", "y has 3", "(8,)"]),
        ((T, T), Y, ["grid has 2 axes", "3 dimensions", "(10, 8)"]),
        (AXES[::-1], SHEETS, ["grid", "y has 3", "(4,)"]),
        (None, SHEETS[..., None], ["y", "(10, 3, 4, 1)", "tuple", "each variable"]),
        (None, changed(Y, np.inf), ["y contains infinity"]),
        (None, changed(Y, -np.inf), ["y contains infinity"]),
        (None, Y * np.nan, ["y has no observed entry", "NaN", "at least one sample"]),
        (None, Y[:, :0], ["y", "0 feature(s)"]),
        (None, Y[:-1], ["X and y", "10", "9"]),
        (None, CURVES[:-1], ["X and y", "10", "9"]),
        (None, None, ["requires y", "None"]),
        (None, [["a", "b"]] * N, ["y must be numbers", "IrregularFunctions"]),
        (None, [[1, 2], [3]] * 5, ["y must be numbers", "IrregularFunctions"]),
        (T * 2, CURVES, ["grid", "[0, 1]", "inside it"]),
        (T[::-1], CURVES, ["grid must", "increas"]),
        ((T, T), CURVES, ["grid must be one increasing array"]),
    ],
)
def test_training_outputs(grid, y, words, wrap):
    assert_refused(lambda: wrap(regressor(grid=grid)).fit(X, y), words)


def test_outputs_that_are_sparse():
    assert_refused(lambda: regressor().fit(X, scipy.sparse.csr_matrix(Y)), ["for y", "toarray"], TypeError)


@pytest.mark.parametrize("space", ["grid", "fourier"])
def test_scikit_fda_outputs(space):
    skfda = pytest.importorskip("skfda")
    model = regressor(space=space)
    words = ["grid must be None", "grid_points", "y"]
    assert_refused(lambda: model.set_params(grid=T**2).fit(X, fdata_grid(Y)), words)
    assert_refused(lambda: model.set_params(grid=T[1:]).fit(X, fdata_grid(Y)), words)
    assert_refused(lambda: model.set_params(grid=(T, T)).fit(X, fdata_grid(Y)), words)
    model.set_params(grid=T).fit(X, fdata_grid(Y))
    model.set_params(grid=None)
    assert_refused(lambda: model.fit(X, fdata_grid(changed(Y, np.inf))), ["y contains infinity", "NaN"])
    flat = skfda.FDataIrregular([0, 2], rng.uniform(size=(4, 2)), np.ones((4, 1)))
    assert_refused(lambda: model.fit(X[:2], flat), ["y", "one variable", "got 2", "FDataGrid"])


def test_inputs():
    curves = fdata_grid(Y)
    for kernel in ("rbf", kernels.L2()):
        model = regressor(kernel=kernel).fit(Y, Y)
        assert_refused(lambda model=model: model.predict(Y[:, 1:]), ["X has 7 features", "expecting 8"])
        assert_refused(lambda kernel=kernel: regressor(kernel=kernel).fit(Y[:-1], Y), ["X and y", "9", "10"])
    assert_refused(
        lambda: regressor(kernel="rbf").fit(curves, Y).predict(fdata_grid(Y[:, :5], T[:5])),
        ["X has 5 features", "expecting 8"],
    )
    model = regressor(kernel=kernels.L2()).fit(curves, Y)
    words = ["same grid", "8 points on [0, 1]", "sample both at the same points"]
    assert_refused(lambda: model.predict(fdata_grid(Y, T**2)), words)
    assert_refused(lambda: model.predict(fdata_grid(Y[:, :5], T[:5])), [*words, "5 points"])
    model = regressor(kernel=kernels.L2()).fit(CURVES, Y)
    other = IrregularFunctions(POINTS, CURVES.values)  # on the span of their points
    assert_refused(lambda: model.predict(other), ["same grid", "IrregularFunctions with the same domain"])
    model = regressor(kernel=kernels.L2()).fit(TWO, Y)
    assert_refused(lambda: model.predict(TWO[:, :, :1]), ["channels", "1 and 2"])
    assert_refused(lambda: regressor(kernel=kernels.L2()).fit(changed(Y, np.inf), Y), ["X contains infinity"])
    sheets = fdata_grid(SHEETS, list(AXES))
    assert_refused(lambda: regressor(kernel=kernels.L2()).fit(sheets, Y), ["X", "one variable", "got 2"])


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"space": "splines"}, ["space", "'splines'", "'grid'", "'eigen'", "'fourier'", "'bspline'", "'wavelet'"]),
        ({"space": "splines"}, ["'principal_components'", "spaces"]),
        ({"space": []}, ["space", "empty list", "at least one"]),
        ({"space": spaces.Dictionary([])}, ["basis", "empty list", "at least one"]),
        ({"space": spaces.Dictionary("splines")}, ["basis", "'splines'", "'fourier'", "'bspline'"]),
        ({"space": lambda t: np.zeros((0, len(t)))}, ["callable", "no atoms", "at least one"]),
        ({"space": lambda t: np.zeros((2, len(t)))}, ["space", "zero on the grid", "other atoms"]),
        ({"space": lambda t: np.ones(2)}, ["callable", "one row an atom", "(2,)"]),
        ({"space": lambda t: np.full((1, len(t)), np.nan)}, ["callable", "NaN"]),
        ({"space": spaces.Dictionary(spaces.Fourier(3), [1, 2])}, ["eigenvalues", "3 non-negative", "[1, 2]"]),
        ({"space": spaces.Dictionary(spaces.Fourier(3), [1, 2, -1])}, ["eigenvalues", "3 non-negative", "-1"]),
        ({"space": spaces.Dictionary(spaces.Fourier(3), [1, 2, np.nan])}, ["eigenvalues", "nan"]),
        ({"space": spaces.Dictionary(spaces.Fourier(3), [[1, 2, 3]])}, ["eigenvalues", "[[1, 2, 3]]"]),
        ({"space": spaces.Grid("simpson")}, ["Grid: weights", "'simpson'", "'trapezoid'", "'equal'"]),
        ({"space": spaces.Eigen(n_components=0)}, ["Eigen: n_components", "integer > 0"]),
        ({"space": spaces.Fourier(2.5)}, ["Fourier: n_components", "integer > 0", "2.5"]),
        ({"irregular": "exactly"}, ["irregular", "'exactly'", "'exact'", "'projected'"]),
        ({"operator": "smooth"}, ["operator", "'smooth'", "'integral'", "'decay'", "'covariance'", "'identity'"]),
        ({"operator": np.eye(3)}, ["operator", "(8, 8)", "point of the grid", "(3, 3)"]),
        ({"operator": np.eye(8), "space": spaces.Fourier(3)}, ["operator", "(3, 3)", "atom", "(8, 8)"]),
        ({"operator": operators.AxisProduct(curves=np.eye(3))}, ["operator", "(1, 1)", "(3, 3)"]),
        ({"operator": operators.AxisProduct(domain=np.eye(3))}, ["operator", "(8, 8)", "(3, 3)"]),
        ({"operator": -np.eye(M)}, ["operator", "not positive semi-definite", "hilbertlearn.operators"]),
        ({"operator": operators.Integral("gauss")}, ["kernel", "'gauss'", "rbf", "laplacian"]),
        ({"operator": operators.Integral(gamma=0)}, ["Integral: gamma", "> 0", "got 0"]),
        ({"loss": POINT_BY_POINT, "space": "fourier"}, ["loss", "p=1", "point values", "p=2", "space='grid'"]),
        (
            {"loss": losses.EpsilonInsensitive(0.1, p=np.inf), "space": "eigen"},
            ["loss", "p=inf", "p=2", "space='grid'"],
        ),
        ({"kernel": [("rbf", None)], "operator": np.eye(M)}, ["operator must be None", "each of its terms"]),
        ({"alpha": -1}, ["alpha must be", "> 0", "-1"]),
        ({"loss": "absolute"}, ["loss", "'absolute'", "squared", "huber"]),
        ({"center": "mean"}, ["center", "'mean'", "True", "False"]),
    ],
)
def test_settings(settings, words):
    assert_refused(lambda: regressor(**settings).fit(X, Y), words)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"space": 3}, ["space", "'fourier'", "'grid'", "int"]),
        ({"space": None}, ["space", "'fourier'", "'grid'", "NoneType"]),
        ({"space": spaces.Fourier}, ["space", "class Fourier", "Fourier()"]),
        ({"operator": object()}, ["operator", "hilbertlearn.operators"]),
        ({"regressor": 3}, ["regressor", "scikit-learn", "None", "got 3"]),
        ({"regressor": "trees"}, ["regressor", "scikit-learn", "None", "'trees'"]),
    ],
)
def test_settings_of_another_type(settings, words):
    assert_refused(lambda: regressor(**settings).fit(X, Y), words, TypeError)


def test_irregular_outputs_ask_for_more():
    words = ["loss", "p=1", "p=2", "common grid"]
    assert_refused(lambda: regressor(loss=POINT_BY_POINT).fit(X, CURVES), words)
    assert_refused(lambda: regressor(irregular="projected").fit(X, CURVES), ["irregular='projected'", "Fourier()"])
    path = RegularizationPathCV(regressor(), cv="loo")
    assert_refused(lambda: path.fit(X, CURVES), ["cv='loo'", "closed form", "cv=5"])
    assert_refused(regressor(space="bspline").fit(X, CURVES).loo_residuals, ["loo_residuals()", "closed form"])
    refused = ["solver='columns'", "use 'auto'", "'conjugate_gradient'"]
    assert_refused(lambda: regressor(solver="columns").fit(X, CURVES), refused)


@pytest.mark.parametrize("operator", [operators.AxisProduct(), operators.Integral(), "integral"])
def test_operators_on_functions_need_functions(operator):
    model = OperatorKernelRegressor(operator=operator)
    assert_refused(lambda: model.fit(X, Y), ["operator", "functions of a variable", "use FunctionalRegressor"])


def test_regressors_without_weights_or_paths():
    model = regressor(regressor=KNeighborsRegressor())
    assert_refused(lambda: model.fit(X, Y, np.ones(N)), ["regressor", "KNeighbors", "no sample_weight", "another"])
    words = ["regressor has no path over alpha", "regressor=None", "search its own settings"]
    assert_refused(lambda: RegularizationPathCV(model).fit(X, Y), words)
    assert_refused(lambda: next(model.fit_path(X, Y, [0.1])), words)


# ---------------------------------------------------------------- new data


@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: RegularizationPathCV(m, [0.1])], ids=["model", "path"])
def test_new_points(wrap):
    model = wrap(regressor()).fit(X, Y)
    for grid, words in {
        "outside": ([0.5, 1.2], ["grid", "[0, 1]", "1.2", "inside it"]),
        "before": ([-0.1], ["grid", "[0, 1]", "-0.1", "inside it"]),
        "falling": (T[::-1], ["grid must increase", "sort it"]),
        "NaN": ([0.1, np.nan], ["grid", "nan"]),
        "2-D": (np.ones((3, 2)), ["grid", "(3, 2)"]),
        "one list too few": ([T] * (N - 1), ["grid", "one array a sample", "9 for 10"]),
        "one of a list outside": ([*[T] * (N - 1), T + 1], ["grid", "[0, 1]", "inside it"]),
    }.values():
        assert_refused(lambda grid=grid: model.predict(X, grid=grid), words)
    sheets = wrap(regressor(grid=AXES)).fit(X, SHEETS)
    assert_refused(lambda: sheets.predict(X, grid=[T] * N), ["grid", "one variable", "tuple of grids"])
    assert_refused(lambda: sheets.predict(X, grid=([0.5], [3.5])), ["grid", "[0, 3]", "3.5"])


def test_new_outputs():
    model = regressor().fit(X, Y)
    assert_refused(lambda: model.score(X, Y[:-1]), ["as many functions", "9", "10"])
    assert_refused(lambda: model.score(X, CURVES[:-1]), ["one array a sample", "9 for 10"])
    assert_refused(lambda: model.score(X, TWO), ["got 2"])
    beyond = IrregularFunctions([p + 0.5 for p in POINTS], CURVES.values)
    assert_refused(lambda: model.score(X, beyond), ["[0, 1]", "inside it"])
    assert_refused(lambda: model.score(X, fdata_grid(Y, 2 * T)), ["[0, 1]", "inside it"])
    assert_refused(lambda: model.score(X, Y, -np.ones(N)), ["Negative", "sample_weight"])
    known = regressor(grid=T).fit(X, Y)
    assert_refused(lambda: known.score(X, Y[:, :5]), ["grid", "y has 5", "(8,)"])
    assert_refused(lambda: known.score(X, changed(Y, np.inf)), ["y contains infinity"])


def test_unfitted():
    model = FunctionalRegressor()
    for action in (lambda: model.predict(X), lambda: model.predict(X, grid=T), lambda: model.score(X, Y)):
        assert_refused(action, ["FunctionalRegressor", "not fitted", "Call 'fit'"], NotFittedError)


# ---------------------------------------------------------------- a failure changes nothing

FAILURES = {
    "infinity": ({}, (X, changed(Y, np.inf))),
    "other lengths": ({}, (X[:5], CURVES)),
    "nothing observed": ({}, (X[:, :1], Y * np.nan)),
    "grid": ({"grid": T[::-1]}, (X[:, :1], Y)),
    "space": ({"space": "splines"}, (X[:, :1], Y)),
    "operator": ({"operator": np.eye(3)}, (X[:, :1], TWO)),
    "loss": ({"loss": POINT_BY_POINT}, (X[:, :1], CURVES)),
    "eigenvalues": ({"space": spaces.Dictionary("fourier", [-1])}, (X[:, :1], Y)),
    "regressor": ({"regressor": KNeighborsRegressor()}, (X[:, :1], Y, np.ones(N))),
}


@pytest.mark.parametrize("case", FAILURES)
@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: RegularizationPathCV(m, [0.1])], ids=["model", "path"])
def test_failed_fits(case, wrap):
    """A new model stays unfitted, a fitted one what it was."""
    settings, data = FAILURES[case]
    new, model = wrap(regressor(**settings)), wrap(regressor()).fit(X, Y)
    with pytest.raises(ValueError):
        new.fit(*data)
    assert not [key for key in vars(new) if key.endswith("_")]
    assert_refused(lambda: new.predict(X), ["not fitted"], NotFittedError)
    before, learnt = model.predict(X, grid=[0.3]), dict(vars(model))
    nested = "" if model.get_params().get("estimator") is None else "estimator__"
    with pytest.raises(ValueError):
        model.set_params(**{nested + key: value for key, value in settings.items()}).fit(*data)
    assert all(vars(model)[key] is value for key, value in learnt.items() if key.endswith("_"))
    model.set_params(**{nested + key: getattr(regressor(), key) for key in settings})
    assert_array_equal(model.predict(X, grid=[0.3]), before)


# ---------------------------------------------------------------- odd but fine


def dense(values, weights, L, alpha=0.01, gamma=1.0):
    """Point values (n, m) of the squared loss at what was observed, without a centre: one equation an entry."""
    root = np.sqrt(weights)
    i, j = np.nonzero(np.isfinite(values))
    K, S = rbf_kernel(X, gamma=gamma), root[:, None] * L * root
    a = np.linalg.solve(K[np.ix_(i, i)] * S[np.ix_(j, j)] + alpha * len(X) * np.eye(len(i)), root[j] * values[i, j])
    return (K[:, i] * a) @ (S[j] / root)


WEIGHTS = np.r_[0.5, np.ones(M - 2), 0.5] / (M - 1)
LAPLACIAN = np.exp(-10 * np.abs(T[:, None] - T))
ONE_EACH = np.where(np.arange(M) == rng.integers(0, M, (N, 1)), Y, np.nan)
GAPS = {
    "a curve never seen": changed(Y, np.nan, 3),
    "a point never seen": changed(Y, np.nan, (slice(None), 3)),
    "the first points never seen": changed(Y, np.nan, (slice(None), slice(2))),
    "one point of each curve": ONE_EACH,
    "one point of one curve": np.where(np.arange(N * M).reshape(N, M) == 20, Y, np.nan),
}


@pytest.mark.parametrize("case", GAPS)
def test_few_observations(case):
    model = regressor(center=False, gamma=1.0, tol=1e-12).fit(X, GAPS[case])
    seen = np.isfinite(GAPS[case]).any(axis=1).mean()  # alpha n counts the samples that were seen
    assert_allclose(model.predict(X), dense(GAPS[case], WEIGHTS, LAPLACIAN, 0.01 * seen), atol=2e-6)


def test_alpha_from_few_observations():
    model = FunctionalRegressor().fit(X, ONE_EACH)
    assert np.isfinite(model.predict(X)).all() and np.isfinite(model.score(X, Y))


SPACES = ["grid", "eigen", "fourier", "bspline", "principal_components", [spaces.Fourier(3), spaces.BSpline(4)]]


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("alpha", [0.01, "auto"])
def test_one_curve_and_constant_curves(space, alpha):
    """Nothing varies with x, so the prediction is the projection of the mean."""
    for y in (Y[:1], np.repeat(Y[:1], N, axis=0)):
        model = FunctionalRegressor(alpha=alpha, space=space).fit(X[: len(y)], y)
        at_once = model.space_.decode(model.space_.encode(Y[:1]))
        assert_allclose(model.predict(X), np.repeat(at_once, N, axis=0), atol=1e-9)
    flat = FunctionalRegressor(alpha=alpha, space=space).fit(X, np.full((N, M), 3.0))
    assert_allclose(flat.predict(X), 3.0, atol=1e-6)


@pytest.mark.parametrize(
    "space", ["grid", "eigen", spaces.Dictionary(lambda t: np.ones((1, len(t))))], ids=["grid", "eigen", "constant"]
)
def test_one_point_is_ridge_regression(space):
    y = Y[:, 0]
    ridge = KernelRidge(kernel="rbf", gamma=1.0, alpha=0.01 * N).fit(X, y - y.mean())
    for outputs in (y, y[:, None], y[:, None, None]):
        found = regressor(space=space, gamma=1.0).fit(X, outputs).predict(X)
        assert found.shape == outputs.shape
        assert_allclose(found.ravel(), ridge.predict(X) + y.mean())


def test_two_points():
    kernel = np.exp(-10 * np.abs(np.subtract.outer([0, 1], [0, 1])))
    found = regressor(gamma=1.0, center=False).fit(X, Y[:, :2]).predict(X)
    assert_allclose(found, dense(Y[:, :2], np.full(2, 0.5), kernel))


def test_numbers_of_other_types():
    whole = np.round(10 * Y)
    expected = regressor().fit(X, whole).predict(X)
    assert_array_equal(regressor().fit(X, whole.astype(int)).predict(X), expected)
    assert_array_equal(regressor().fit(X, whole.astype(np.float32)).predict(X), expected)
    assert_array_equal(
        regressor(grid=np.arange(M)).fit(X, whole).predict(X), regressor(grid=np.arange(M) / 1).fit(X, whole).predict(X)
    )
    coarse = X.astype(np.float32)
    double = regressor().fit(coarse.astype(float), Y).predict(coarse)
    assert_array_equal(regressor(precision="float64").fit(coarse, Y).predict(coarse), double)
    single = regressor().fit(coarse, Y).predict(coarse)
    assert single.dtype == np.float32
    assert_allclose(single, double, rtol=np.finfo(np.float32).eps)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_repeated_samples_count_twice(space):
    """The loss is a mean: every sample twice is every sample once."""
    once, twice = (regressor(space=space, gamma=1.0).fit(np.tile(X, (k, 1)), np.tile(Y, (k, 1))) for k in (1, 2))
    assert_allclose(twice.predict(X), once.predict(X), atol=1e-9)
    some = np.arange(N) % 2 + 1
    weighted = regressor(space=space, gamma=1.0).fit(X, Y, some)
    repeated = regressor(space=space, gamma=1.0).fit(np.repeat(X, some, axis=0), np.repeat(Y, some, axis=0))
    assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-9)


def test_repeated_points_of_irregular_curves_change_nothing():
    """The loss of a curve is the mean over its points."""
    twice = IrregularFunctions([np.tile(p, 2) for p in POINTS], [np.tile(v, 2) for v in CURVES.values], (0, 1))
    found, expected = (regressor(space=spaces.BSpline(5), tol=1e-12).fit(X, y).predict(X) for y in (twice, CURVES))
    assert_allclose(np.concatenate(found.values), np.concatenate(expected.values), atol=1e-6)


def test_more_components_than_points():
    """All eigenfunctions on a grid are the grid; redundant atoms are the kernel ``sum of phi(s) phi(t)``."""
    eigen = regressor(space=spaces.Eigen(n_components=100), center=True).fit(X, Y)
    on_grid = regressor(operator=operators.Integral(), center=True).fit(X, Y)  # "auto" compares it with others
    assert_allclose(eigen.predict(X), on_grid.predict(X), atol=1e-8)
    atoms = spaces.Fourier(40).atoms(T, WEIGHTS)(T)
    found = regressor(space=spaces.Fourier(40), gamma=1.0, center=False).fit(X, Y).predict(X)
    assert_allclose(found, dense(Y, WEIGHTS, atoms.T @ atoms), atol=1e-6)
    for space in (spaces.PrincipalComponents(100), spaces.BSpline(30)):
        assert_allclose(regressor(space=space, alpha=1e-9, center=True).fit(X, Y).predict(X), Y, atol=1e-3)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_units_of_the_domain_do_not_matter(space):
    for y, grid in ((Y, T), (CURVES, None)):
        model = regressor(space=space, grid=grid).fit(X, y)
        at, score = model.predict(X, grid=[0.2, 0.9]), model.score(X, y)
        for unit in (1e-9, 1e9, 1e-200, 1e200):
            scaled, own = y, None
            if grid is None:
                scaled = IrregularFunctions([unit * p for p in POINTS], CURVES.values, (0, unit))
            else:
                own = unit * T
            other = regressor(space=space, grid=own).fit(X, scaled)
            far = other.predict(X, grid=unit * np.array([0.2, 0.9]))
            far, near = (np.concatenate(f.values) if hasattr(f, "values") else f.ravel() for f in (far, at))
            assert_allclose(far, near, rtol=1e-6, atol=1e-6)
            assert other.score(X, scaled) == pytest.approx(score, rel=1e-6)
