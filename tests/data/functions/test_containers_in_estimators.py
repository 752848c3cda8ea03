"""scikit-fda's containers in and out, scikit-learn's searches over functions, and what happens to fitted models."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.interpolate import BSpline
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from hilbertlearn import (
    FunctionalRegressor,
    IrregularFunctions,
    RegularizationPathCV,
    kernels,
    losses,
    operators,
    spaces,
)

rng = np.random.default_rng(5)
N = M = 12  # as many points as samples: no container may mix them up
T = np.linspace(0, 1, M) ** 1.5 * 3 + 2
X = rng.uniform(size=(N, 2))
Y = np.sin(2 * (T + X[:, :1])) + X[:, 1:]
INPUTS = np.cos(T * (1 + X[:, :1]))
POINTS = [np.sort(rng.uniform(2, 5, size=k)) for k in rng.integers(4, 9, N)]
VALUES = [np.sin(2 * (p + x)) for p, x in zip(POINTS, X[:, 0])]
CURVES = IrregularFunctions(POINTS, VALUES, (1, 6))
FOLDS = KFold(3, shuffle=True, random_state=0)


def regressor(**settings):
    return FunctionalRegressor(**{"alpha": 0.01, "gamma": "median", **settings})


def fdata_grid(values, points=T, **options):
    return pytest.importorskip("skfda").FDataGrid(values, points, **options)


def fdata_irregular(points, values, **options):
    skfda = pytest.importorskip("skfda")
    values = [np.reshape(v, (len(p), -1)) for p, v in zip(points, values)]
    starts = np.cumsum([0, *(len(p) for p in points[:-1])])
    return skfda.FDataIrregular(starts, np.concatenate(points)[:, None], np.concatenate(values), **options)


def plain(functions):
    """All numbers of predictions, whatever their container."""
    if hasattr(functions, "data_matrix"):
        return functions.data_matrix.ravel()
    return (
        np.concatenate([np.ravel(v) for v in functions.values]) if hasattr(functions, "values") else functions.ravel()
    )


# ---------------------------------------------------------------- scikit-fda

NAMES = {"dataset_name": "Weather", "argument_names": ("day",), "coordinate_names": ("degrees",)}


def assert_names(functions, names):
    assert {key: getattr(functions, key) for key in names} == names


@pytest.mark.parametrize("space", ["grid", "eigen", "fourier"])
def test_grid_functions_come_back(space):
    functions = fdata_grid(Y, **NAMES)
    found = regressor(space=space).fit(X, functions).predict(X[:5])
    assert type(found) is type(functions) and found.n_samples == 5
    assert_names(found, NAMES)
    assert_array_equal(found.grid_points[0], T)
    assert found.domain_range == functions.domain_range
    assert_allclose(plain(found), plain(regressor(space=space, grid=T).fit(X, Y).predict(X[:5])))


def test_the_domain_of_grid_functions_may_be_wider():
    """It is what is mapped to the unit interval, and where predictions can be made."""
    model = regressor().fit(X, fdata_grid(Y, domain_range=(1, 7), **NAMES))
    found = model.predict(X, grid=[1, 1.5, 4, 7])
    assert found.domain_range == ((1.0, 7.0),)
    assert_array_equal(found.grid_points[0], [1, 1.5, 4, 7])
    assert_names(found, NAMES)
    slower = regressor(grid=T, operator=operators.Integral(gamma=10 * np.ptp(T) / 6)).fit(
        X, Y
    )  # the same per unit of T
    assert_allclose(plain(model.predict(X)), plain(slower.predict(X)))
    assert plain(model.predict(X, grid=T)) == pytest.approx(plain(model.predict(X)))


def test_grid_functions_of_two_variables():
    s, t = np.linspace(0, 2, 4), np.linspace(-1, 1, 5)
    values = rng.normal(size=(N, 4, 5))
    names = {"argument_names": ("s", "t"), "coordinate_names": ("height",)}
    model = regressor().fit(X, fdata_grid(values, [s, t], **names))
    found, expected = model.predict(X), regressor(grid=(s, t)).fit(X, values)
    assert_names(found, names)
    assert found.domain_range == ((0.0, 2.0), (-1.0, 1.0))
    assert_allclose(plain(found), plain(expected.predict(X)))
    fine = model.predict(X, grid=(s[:2], np.linspace(-1, 1, 7)))
    assert fine.data_matrix.shape == (N, 2, 7, 1)
    assert_allclose(plain(fine), plain(expected.predict(X, grid=(s[:2], np.linspace(-1, 1, 7)))))
    assert model.score(X, fdata_grid(values, [s, t])) == pytest.approx(expected.score(X, values))


def test_grid_functions_with_several_values():
    values = rng.normal(size=(N, M, 2))
    names = {"coordinate_names": ("x", "y")}
    model = regressor(operator=operators.AxisProduct(curves="covariance")).fit(X, fdata_grid(values, **names))
    found = model.predict(X)
    assert_names(found, names)
    expected = regressor(operator=operators.AxisProduct(curves="covariance"), grid=T).fit(X, values)
    assert_allclose(found.data_matrix, expected.predict(X))
    own = model.predict(X[:2], grid=[[2.0, 3.0], [4.5]])
    assert_names(own, names)
    assert_allclose(own.values, np.concatenate(expected.predict(X[:2], grid=[[2.0, 3.0], [4.5]]).values))


def test_gaps_in_grid_functions():
    gaps = Y.copy()
    gaps[rng.random(Y.shape) < 0.3] = np.nan
    given = fdata_grid(gaps)
    for space in ("grid", spaces.BSpline(6)):
        expected = regressor(space=space, grid=T).fit(X, gaps).predict(X)
        assert_allclose(plain(regressor(space=space).fit(X, given).predict(X)), plain(expected))
    assert_array_equal(given.data_matrix[..., 0], gaps)


def test_points_of_their_own_for_grid_functions():
    model, at = regressor().fit(X, fdata_grid(Y, **NAMES)), [[2.0, 2.5], [5.0]]
    found = model.predict(X[:2], grid=at)
    assert type(found).__name__ == "FDataIrregular" and found.domain_range == ((2.0, 5.0),)
    assert_names(found, NAMES)
    expected = regressor(grid=T).fit(X, Y).predict(X[:2], grid=at)
    assert_array_equal(found.points[:, 0], [2.0, 2.5, 5.0])
    assert_allclose(found.values[:, 0], np.concatenate(expected.values))


@pytest.mark.parametrize("irregular", ["exact", "projected"])
def test_irregular_functions_come_back(irregular):
    functions = fdata_irregular(POINTS, VALUES, domain_range=(1, 6), **NAMES)
    settings = {"space": spaces.BSpline(6), "irregular": irregular}
    model, expected = regressor(**settings).fit(X, functions), regressor(**settings).fit(X, CURVES)
    found = model.predict(X)
    assert type(found) is type(functions) and found.domain_range == ((1.0, 6.0),)
    assert_names(found, NAMES)
    assert_allclose(plain(found), plain(expected.predict(X)))
    at = [p[:2] for p in POINTS]
    assert_allclose(plain(model.predict(X, grid=at)), plain(expected.predict(X, grid=at)))
    assert_allclose(plain(model.predict(X, grid=[2, 3])), plain(expected.predict(X, grid=[2, 3])))
    assert model.score(X, functions) == pytest.approx(expected.score(X, CURVES))
    several = fdata_irregular(POINTS, [np.c_[v, v**2] for v in VALUES], domain_range=(1, 6))
    two = IrregularFunctions(POINTS, [np.c_[v, v**2] for v in VALUES], (1, 6))
    assert_allclose(plain(model.fit(X, several).predict(X)), plain(expected.fit(X, two).predict(X)))


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear"])
def test_inputs_of_a_named_kernel(kernel):
    expected = regressor(kernel=kernel).fit(INPUTS, Y).predict(INPUTS[:4])
    functions = fdata_grid(INPUTS)
    assert_allclose(regressor(kernel=kernel).fit(functions, Y).predict(functions[:4]), expected)
    channels = np.stack([INPUTS, INPUTS**2], axis=-1)
    vectors = fdata_grid(channels)
    expected = regressor(kernel=kernel).fit(channels.reshape(N, -1), Y).predict(channels.reshape(N, -1)[:4])
    assert_allclose(regressor(kernel=kernel).fit(vectors, Y).predict(vectors[:4]), expected)
    irregular = fdata_irregular(POINTS, VALUES, domain_range=(1, 6))
    expected = regressor(kernel=kernel).fit(CURVES, Y).predict(CURVES[:4])
    assert_allclose(regressor(kernel=kernel).fit(irregular, Y).predict(irregular[:4]), expected)


@pytest.mark.parametrize("kernel", [kernels.L2, kernels.IntegratedKernel, kernels.ChannelSum, kernels.AdditiveKernel])
def test_inputs_of_a_kernel_of_curves(kernel):
    functions, irregular = fdata_grid(INPUTS), fdata_irregular(POINTS, VALUES, domain_range=(1, 6))
    expected = regressor(kernel=kernel(grid=T)).fit(INPUTS, Y).predict(INPUTS[:4])
    assert_allclose(regressor(kernel=kernel()).fit(functions, Y).predict(functions[:4]), expected)
    expected = regressor(kernel=kernel()).fit(CURVES, Y).predict(CURVES[:4])
    assert_allclose(regressor(kernel=kernel()).fit(irregular, Y).predict(irregular[:4]), expected)


# ---------------------------------------------------------------- scikit-learn's tools

CONTAINERS = {
    "arrays": lambda: (INPUTS, Y),
    "grid functions": lambda: (fdata_grid(INPUTS), fdata_grid(Y)),
    "grid functions as inputs": lambda: (fdata_grid(INPUTS), Y),
    "grid functions as outputs": lambda: (X, fdata_grid(Y)),
    "irregular": lambda: (CURVES, CURVES),
    "irregular as inputs": lambda: (CURVES, Y),
    "irregular as outputs": lambda: (X, CURVES),
    "scikit-fda's irregular": lambda: (fdata_irregular(POINTS, VALUES, domain_range=(1, 6)),) * 2,
}
BASIS = {"space": spaces.Dictionary(spaces.BSpline(6))}  # for irregular outputs too
SEARCHES = {
    "loss__kappa": (regressor(loss=losses.Huber(0.1), **BASIS), [0.01, 1.0]),
    "alpha": (regressor(**BASIS), [1e-3, 1.0]),
    "space__basis__n_components": (regressor(**BASIS), [4, 7]),
    "space__n_components": (regressor(space=spaces.Eigen(n_components=3)), [2, 8]),
    "operator__gamma": (regressor(operator=operators.Integral(), **BASIS), [0.1, 30.0]),
    "space": (regressor(), [spaces.Fourier(3), spaces.BSpline(5)]),
}


def assert_search_is_fits_by_hand(model, params, x, y):
    search = GridSearchCV(model, params, cv=FOLDS, error_score="raise").fit(x, y)
    means = search.cv_results_["mean_test_score"]
    for settings, mean in zip(search.cv_results_["params"], means, strict=True):
        one = clone(model).set_params(**clone(settings, safe=False))
        scores = [one.fit(x[train], y[train]).score(x[test], y[test]) for train, test in FOLDS.split(X)]
        assert mean == pytest.approx(np.mean(scores), rel=1e-9)
    assert np.ptp(means) > 1e-6  # the setting matters
    assert len(search.predict(x)) == N and np.isfinite(search.score(x, y))


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("container", ["grid functions", "irregular"])
def test_grid_search(container, name):
    model, values = SEARCHES[name]
    assert_search_is_fits_by_hand(model, {name: values}, *CONTAINERS[container]())


@pytest.mark.parametrize("container", CONTAINERS)
def test_grid_search_in_every_container(container):
    x, y = CONTAINERS[container]()
    model = regressor(kernel=kernels.L2(), **BASIS) if x is not X else regressor(**BASIS)
    gamma = "gamma" if x is X else "kernel__gamma"
    assert_search_is_fits_by_hand(model, {gamma: [0.1, 10.0]}, x, y)


@pytest.mark.parametrize("container", CONTAINERS)
def test_cross_validation_scores(container):
    """1 - squared error over that of the training mean, both integrated, of each fold."""
    x, y = CONTAINERS[container]()
    scores = cross_val_score(regressor(**BASIS), x, y, cv=FOLDS, error_score="raise")
    assert scores.shape == (3,) and (scores < 1).all()
    if not isinstance(y, np.ndarray):
        return
    for (train, test), score in zip(FOLDS.split(X), scores, strict=True):
        model = regressor(**BASIS).fit(x[train], y[train])
        mean = y[train].mean(axis=0)
        error, total = (np.trapezoid((y[test] - f) ** 2, dx=1 / (M - 1)).mean() for f in (model.predict(x[test]), mean))
        assert score == pytest.approx(1 - error / total)


def test_cross_validated_predictions():
    found = cross_val_predict(regressor(grid=T), fdata_grid(INPUTS), Y, cv=FOLDS)
    for train, test in FOLDS.split(X):
        assert_allclose(found[test], regressor(grid=T).fit(INPUTS[train], Y[train]).predict(INPUTS[test]))
    one_by_one = cross_val_predict(regressor(), INPUTS, fdata_grid(Y), cv=FOLDS)  # scikit-fda's functions, one each
    assert_allclose([function.data_matrix[0, :, 0] for function in one_by_one], found)


def squared_errors(model, x, y):
    """Of each curve: the mean over its points, or on a grid the integral of what is left in the span of the splines.

    A loss that is not squared sees what is outside of the span too.
    """
    if hasattr(y, "points"):
        starts = getattr(y, "start_indices", None)
        points = y.points if starts is None else np.split(y.points[:, 0], starts[1:])
        values = y.values if starts is None else np.split(y.values[:, 0], starts[1:])
        found = plain(model.predict(x, grid=points))
        ends = np.cumsum([len(p) for p in points])[:-1]
        return [np.mean((v - f) ** 2) for v, f in zip(values, np.split(found, ends), strict=True)]
    units = np.linspace(0, 1, M) if isinstance(y, np.ndarray) else (T - T[0]) / np.ptp(T)
    root = np.sqrt((np.diff(units, prepend=0) + np.diff(units, append=1)) / 2)
    knots = np.r_[0, 0, 0, np.linspace(0, 1, 4), 1, 1, 1]
    atoms = BSpline.design_matrix(units, knots, 3).toarray()
    errors = (plain(y) - plain(model.predict(x))).reshape(-1, M) * root
    Q = np.linalg.qr(root[:, None] * atoms)[0]
    return ((errors @ Q if model.loss_.quadratic else errors) ** 2).sum(axis=1)


def assert_errors_of_folds(path, x, y, cost=lambda squares: squares, **settings):
    for alpha, error in zip(path.alphas_, path.errors_, strict=True):
        by_fold = []
        for train, test in FOLDS.split(X):
            model = regressor(alpha=alpha, **settings).fit(x[train], y[train])
            by_fold.append(np.mean(cost(np.array(squared_errors(model, x[test], y[test])))))
        assert error == pytest.approx(np.mean(by_fold), rel=1e-3)
    assert path.alpha_ == path.alphas_[int(np.argmin(path.errors_))]


@pytest.mark.parametrize("container", CONTAINERS)
def test_paths(container):
    x, y = CONTAINERS[container]()
    path = RegularizationPathCV(regressor(**BASIS), [1e-3, 1e-1], cv=FOLDS).fit(x, y)
    assert_errors_of_folds(path, x, y, **BASIS)
    assert_allclose(plain(path.predict(x[:3])), plain(path.best_estimator_.predict(x[:3])))
    assert path.score(x, y) == path.best_estimator_.score(x, y)


@pytest.mark.parametrize("container", ["grid functions", "irregular as outputs"])
def test_paths_of_another_loss(container):
    """Twice the Huber loss is the error: t^2 up to kappa, then 2 kappa t - kappa^2."""
    x, y = CONTAINERS[container]()
    settings = {"loss": losses.Huber(0.1), **BASIS}
    path = RegularizationPathCV(regressor(**settings), [1e-2, 1e-1], cv=FOLDS).fit(x, y)
    assert_errors_of_folds(path, x, y, lambda s: np.where(s <= 0.01, s, 0.2 * np.sqrt(s) - 0.01), **settings)


@pytest.mark.parametrize("container", ["arrays", "grid functions"])
def test_leave_one_out_along_a_path(container):
    """The closed form holds alpha n fixed, so each fit by hand has alpha n / (n - 1)."""
    x, y = CONTAINERS[container]()
    path = RegularizationPathCV(regressor(kernel="cosine", **BASIS), [1e-2, 1.0]).fit(x, y)
    assert path.n_splits_ == N
    for alpha, error in zip(path.alphas_, path.errors_, strict=True):
        by_hand = []
        for i in range(N):
            rest = np.delete(np.arange(N), i)
            model = regressor(kernel="cosine", alpha=alpha * N / (N - 1), **BASIS).fit(x[rest], y[rest])
            by_hand.append(squared_errors(model, x[[i]], y[[i]]))
        assert error == pytest.approx(np.mean(by_hand))
    own = path.predict(x[:2], grid=[0.1] if container == "arrays" else [2.5])
    assert_allclose(
        plain(own), plain(path.best_estimator_.predict(x[:2], grid=[0.1] if container == "arrays" else [2.5]))
    )


@pytest.mark.parametrize("container", CONTAINERS)
def test_pipelines(container):
    x, y = CONTAINERS[container]()
    direct = regressor(**BASIS).fit(x, y)
    pipeline = make_pipeline(FunctionTransformer(), clone(direct)).fit(x, y)
    assert type(pipeline.predict(x)) is type(direct.predict(x))
    assert_allclose(plain(pipeline.predict(x)), plain(direct.predict(x)))
    assert pipeline.score(x, y) == pytest.approx(direct.score(x, y))
    if x is X:
        scaled = StandardScaler().fit_transform(X)
        pipeline = make_pipeline(StandardScaler(), clone(direct)).fit(x, y)
        assert_allclose(plain(pipeline.predict(x)), plain(direct.fit(scaled, y).predict(scaled)))


# ---------------------------------------------------------------- fitted models


def powers(points):
    return np.stack([points**0, points, points**2])


MODELS = {
    "grid": regressor(),
    "equal weights": regressor(space=spaces.Grid("equal")),
    "eigen": regressor(space="eigen"),
    "fourier": regressor(space="fourier"),
    "bspline": regressor(space="bspline"),
    "principal components": regressor(space="principal_components"),
    "eigenvalues": regressor(space=spaces.Dictionary(spaces.Fourier(3), [1, 0.5, 0.5])),
    "union": regressor(space=[spaces.Fourier(3), spaces.BSpline(5)]),
    "callable": regressor(space=powers),
    "huber": regressor(loss=losses.Huber(0.1, p=1)),
    "two terms": regressor(kernel=[("rbf", operators.Integral()), ("linear", operators.Decay())]),
    "trees": regressor(regressor=ExtraTreesRegressor(3, random_state=0)),
    "trees on atoms": regressor(space="fourier", regressor=ExtraTreesRegressor(3, random_state=0)),
    "path": RegularizationPathCV(FunctionalRegressor(space="fourier"), [1e-3, 1e-1]),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("make", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy], ids=["pickle", "deepcopy"])
def test_copies_predict_the_same(name, make):
    model = clone(MODELS[name]).fit(X, Y)
    other = make(model)
    for options in ({}, {"grid": [0.1, 0.7]}, {"grid": [[0.3], [0.2, 0.9]]}):
        assert_array_equal(plain(other.predict(X[:2], **options)), plain(model.predict(X[:2], **options)))
    assert other.score(X, Y) == model.score(X, Y)


def test_copies_of_models_of_wavelets_and_scikit_fda():
    pytest.importorskip("pywt")
    for model, y in ((regressor(space="wavelet"), Y), (regressor(), fdata_grid(Y)), (regressor(**BASIS), CURVES)):
        model.fit(X, y)
        assert_array_equal(plain(pickle.loads(pickle.dumps(model)).predict(X)), plain(model.predict(X)))


@pytest.mark.parametrize("name", MODELS)
def test_clones_have_the_settings_and_nothing_learnt(name):
    model = clone(MODELS[name]).fit(X, Y)
    other = clone(model)
    assert not [key for key in vars(other) if key.endswith("_")] and repr(other) == repr(MODELS[name])
    assert_array_equal(plain(other.fit(X, Y).predict(X)), plain(model.predict(X)))


def test_refits_forget():
    """Other inputs, another container, another grid: the same as a new model."""
    model = regressor(**BASIS)
    for x, y in [
        (X, Y),
        (X[:7, :1], CURVES[:7]),
        (fdata_grid(INPUTS), fdata_grid(Y)),
        (CURVES, Y[:, 0]),
        (X, Y[:, :5]),
    ]:
        found, expected = model.fit(x, y).predict(x), regressor(**BASIS).fit(x, y).predict(x)
        assert type(found) is type(expected)
        assert_array_equal(plain(found), plain(expected))
    model.set_params(regressor=Ridge()).fit(X, Y)
    expected = regressor(regressor=Ridge(), **BASIS).fit(X, Y)
    assert_array_equal(model.predict(X, grid=[0.3]), expected.predict(X, grid=[0.3]))
    model.set_params(regressor=None).fit(X, Y)
    assert_array_equal(model.predict(X), regressor(**BASIS).fit(X, Y).predict(X))


def test_settings_changed_after_the_fit_wait_for_the_next():
    model = regressor(grid=T).fit(X, Y)
    before = model.predict(X), model.predict(X, grid=[2.2]), model.score(X, Y)
    model.set_params(grid=T * 2, space="fourier", operator="decay", loss="huber", alpha=5.0, center=False, gamma=3.0)
    assert_array_equal(model.predict(X), before[0])
    assert_array_equal(model.predict(X, grid=[2.2]), before[1])
    assert model.score(X, Y) == before[2]
    assert_allclose(model.fit(X, Y).space_.grids[0], T * 2)


def test_fit_leaves_data_and_settings_alone():
    x, y, functions = X.copy(), Y.copy(), fdata_grid(Y.copy())
    curves = copy.deepcopy(CURVES)
    for model in (FunctionalRegressor("rbf"), regressor(space="principal_components"), regressor(regressor=Ridge())):
        params = repr(model)
        model.fit(x, y), model.fit(functions, functions), model.fit(x, curves)
        assert repr(model) == params
    assert_array_equal(x, X), assert_array_equal(y, Y), assert_array_equal(functions.data_matrix[..., 0], Y)
    assert_array_equal(np.concatenate(curves.values), np.concatenate(VALUES))
