"""Conformal predictors: kernel values that are given, constant outputs, weights that are handed on."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from hilbertlearn import ConformalPredictor, FunctionalRegressor, OperatorKernelRegressor, RegularizationPathCV


def samples(n=40, m=15):
    """Inputs and outputs of n samples, and of m new ones."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n + m, 2))
    Y = np.c_[np.sin(3 * X[:, 0]), X.sum(axis=1)] + rng.normal(size=(n + m, 2)) * [0.3, 0.6]
    return X[:n], Y[:n], X[n:], Y[n:]


@pytest.mark.parametrize("method", ["jackknife+", "cv+", "split"])
@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, pd.DataFrame])
def test_kernel_values_in_any_form_have_the_intervals_of_their_kernel(method, form):
    X, Y, new, _ = samples()
    settings = {"method": method, "random_state": 0}
    plain = ConformalPredictor(OperatorKernelRegressor("rbf", gamma=0.5, alpha=0.01), **settings).fit(X, Y)
    own = ConformalPredictor(OperatorKernelRegressor("precomputed", alpha=0.01), **settings)
    own.fit(form(rbf_kernel(X, gamma=0.5)), Y)
    values = form(rbf_kernel(new, X, gamma=0.5))
    assert_allclose(own.predict_interval(values), plain.predict_interval(new), rtol=1e-8)
    assert_allclose(own.predict(values), plain.predict(new), rtol=1e-8)


@pytest.mark.parametrize("method", ["jackknife+", "cv+", "split"])
@pytest.mark.parametrize("value", [5.3, -1e6 / 3, 0.0])
def test_outputs_that_are_constant_are_inside(method, value):
    """What rounding does to predictions of new samples is not an error that the others do not have."""
    X, Y, new, truth = samples()
    X, new = np.tile(X, 3), np.tile(new, 3)
    model = ConformalPredictor(OperatorKernelRegressor("rbf", gamma=1e-3, alpha=80.0), method=method, random_state=0)
    y = np.full(len(new), value)
    model.fit(X, np.full(len(X), value))
    assert model.predict_region(new).contains(y).all()
    lower, upper = model.predict_interval(new).T
    assert (lower <= y).all()
    assert (y <= upper).all()
    assert (upper - lower).max() <= 1e-12 * abs(value)
    # beside another output it takes no part
    alone = model.fit(X, Y[:, 0]).predict_region(new)
    both = model.fit(X, np.c_[Y[:, 0], np.full(len(X), value)]).predict_region(new)
    assert_allclose(both.upper[:, 0], alone.upper, rtol=1e-9)
    assert_array_equal(both.contains(np.c_[truth[:, 0], y]), alone.contains(truth[:, 0]))


def test_weights_reach_the_estimator_inside_whatever_hands_them_on():
    X, Y, new, _ = samples()
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(X))
    ridge = Ridge(alpha=1.0)
    wrapped = [
        GridSearchCV(ridge, {"alpha": [1.0]}),
        TransformedTargetRegressor(ridge),
        make_pipeline(make_pipeline(StandardScaler(), ridge)),
    ]
    expected = ConformalPredictor(ridge, random_state=0).fit(X, Y, weights).predict_interval(new)
    for estimator in wrapped[:2]:
        found = ConformalPredictor(estimator, random_state=0).fit(X, Y, weights)
        assert_allclose(found.predict_interval(new), expected)
    plain = ConformalPredictor(make_pipeline(StandardScaler(), ridge), random_state=0).fit(X, Y, weights)
    nested = ConformalPredictor(wrapped[2], random_state=0).fit(X, Y, weights)
    assert_allclose(nested.predict_interval(new), plain.predict_interval(new))
    with pytest.raises(ValueError, match=r"KNeighborsRegressor\(\) takes no sample_weight"):
        ConformalPredictor(make_pipeline(KNeighborsRegressor())).fit(X, Y, weights)


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def weighted_samples():
    X, Y, new, _ = samples()
    return X, Y, new, np.random.default_rng(0).uniform(0.1, 3.0, len(X))


@pytest.mark.parametrize("method", ["auto", "cv+", "split"])
def test_routed_weights_reach_the_last_step_as_they_do_without_routing(method):
    X, Y, new, weights = weighted_samples()
    scaler = FunctionTransformer(np.tanh)
    machine = OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-3)
    plain = ConformalPredictor(make_pipeline(scaler, machine), method, random_state=0).fit(X, Y, weights)
    with config_context(enable_metadata_routing=True):
        machine = OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-3).set_fit_request(sample_weight=True)
        routed = ConformalPredictor(make_pipeline(scaler, machine), method, random_state=0).fit(X, Y, weights)
        found = routed.predict_interval(new)
    assert_allclose(found, plain.predict_interval(new), rtol=1e-12)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_with_routing_each_step_decides_about_weights(routing, backend):
    X, Y, new, weights = weighted_samples()
    requested = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=True), Ridge().set_fit_request(sample_weight=False)
    )
    with parallel_config(backend, n_jobs=2 if backend == "threading" else 1):  # workers have the configuration too
        model = ConformalPredictor(requested, "cv+", random_state=0).fit(X, Y, weights)
    expected = StandardScaler().fit(X, sample_weight=weights)
    assert_allclose(model.estimator_[0].mean_, expected.mean_)
    assert_allclose(model.predict(new), Ridge().fit(expected.transform(X), Y).predict(expected.transform(new)))


def test_with_routing_weights_that_nobody_asked_about_are_refused(routing):
    X, Y, new, weights = weighted_samples()
    for estimator in (Ridge(), make_pipeline(StandardScaler(), Ridge()), OperatorKernelRegressor(alpha=1e-2)):
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            ConformalPredictor(estimator).fit(X, Y, weights)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        ConformalPredictor(make_pipeline(KNeighborsRegressor())).fit(X, Y, weights)
    default, machine = ConformalPredictor().fit(X, Y, weights), OperatorKernelRegressor()
    expected = ConformalPredictor(machine.set_fit_request(sample_weight=True)).fit(X, Y, weights)
    assert_allclose(default.predict_interval(new), expected.predict_interval(new))
    ignoring = ConformalPredictor(machine.set_fit_request(sample_weight=False)).fit(X, Y, weights)
    assert_allclose(ignoring.predict(new), OperatorKernelRegressor().fit(X, Y).predict(new))


@pytest.mark.parametrize("method", ["jackknife+", "cv+"])
def test_samples_of_weight_zero_do_not_calibrate_where_the_estimator_declines_weights(routing, method):
    X, Y, new, weights = weighted_samples()
    weights[::4] = 0.0
    machine = OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-3).set_fit_request(sample_weight=False)
    model = ConformalPredictor(machine, method, random_state=0).fit(X, Y, weights)
    assert model.n_calibration_ == 30
    if method == "jackknife+":
        assert_allclose(model.predict(new), machine.fit(X, Y).predict(new))
    assert model.predict_region(new).contains(model.predict(new)).all()


def test_routed_weights_go_through_whatever_is_around_and_inside(routing):
    X, Y, new, weights = weighted_samples()
    ridge = Ridge().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
    expected = Ridge().fit(X, Y, weights).predict(new)
    search = GridSearchCV(ridge, {"alpha": [1.0]})
    for inside in (search, TransformedTargetRegressor(ridge), make_pipeline(make_pipeline(ridge))):
        assert_allclose(ConformalPredictor(inside).fit(X, Y, weights).predict(new), expected)
    conformal = ConformalPredictor(ridge, "cv+", random_state=0).set_fit_request(sample_weight=True)
    around = make_pipeline(FunctionTransformer(), conformal).fit(X, Y, sample_weight=weights)
    assert_allclose(around.predict(new), expected)
    scoring = get_scorer("r2").set_score_request(sample_weight=True)
    grid = GridSearchCV(conformal, {"level": [0.8]}, scoring=scoring, cv=2).fit(X, Y, sample_weight=weights)
    assert_allclose(grid.best_estimator_.predict(new), expected)
    scores = cross_validate(conformal, X, Y, scoring=scoring, params={"sample_weight": weights}, cv=2)
    assert np.isfinite(scores["test_score"]).all()
    path = RegularizationPathCV(OperatorKernelRegressor("rbf", gamma=1.0), [1e-2]).set_fit_request(sample_weight=True)
    direct = OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-2).fit(X, Y, weights)
    assert_allclose(ConformalPredictor(path).fit(X, Y, weights).predict(new), direct.predict(new))
    around = make_pipeline(FunctionTransformer(), path).fit(X, Y, sample_weight=weights)
    assert_allclose(around.predict(new), direct.predict(new))


def test_weights_reach_the_regressor_inside_an_estimator():
    X, Y, new, weights = weighted_samples()
    ridge = Ridge()
    expected = FunctionalRegressor(regressor=ridge).fit(X, Y, weights).predict(new)
    for regressor in (make_pipeline(ridge), TransformedTargetRegressor(ridge), make_pipeline(make_pipeline(ridge))):
        assert_allclose(FunctionalRegressor(regressor=regressor).fit(X, Y, weights).predict(new), expected)
    with config_context(enable_metadata_routing=True):
        with pytest.raises(UnsetMetadataPassedError):
            FunctionalRegressor(regressor=make_pipeline(ridge)).fit(X, Y, weights)
        routed = make_pipeline(Ridge().set_fit_request(sample_weight=True))
        assert_allclose(FunctionalRegressor(regressor=routed).fit(X, Y, weights).predict(new), expected)


def test_a_single_group_is_named():
    X, Y, _, _ = samples()
    with pytest.raises(ValueError, match="groups must have at least 2"):
        ConformalPredictor(Ridge()).fit(X, Y, groups=np.zeros(len(X)))


@pytest.mark.parametrize("method", ["cv+", "split"])
def test_samples_that_are_fitted_and_left_out_are_refused(method):
    X, Y, _, _ = samples()
    every = np.arange(len(X))
    with pytest.raises(ValueError, match="cv: a fold is to fit samples that it leaves out"):
        ConformalPredictor(Ridge(), method, cv=[(every, every[20:])]).fit(X, Y)
