"""Weights, pipelines, searches and transformers around the estimator."""

import numpy as np
import pandas as pd
import pytest
from helpers.conformal_samples import MODEL, QUERIES, TRUE, X, Y, machine, noisy, samples
from joblib import parallel_config
from numpy.testing import assert_allclose
from scipy.sparse import csr_matrix
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

from hilbertlearn import (
    ConformalPredictor,
    FunctionalRegressor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    features,
)


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


def test_with_routing_weights_without_a_request_are_refused(routing):
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


BATCHES = {
    "centred": lambda X: X - X.mean(axis=0),
    "largest": lambda X: X / np.abs(X).max(axis=0),
    "ranks": lambda X: X.argsort(axis=0).argsort(axis=0) / len(X),
    "small beside others": lambda X: np.c_[1e12 * X, X[:, :1] - X[:, :1].mean()],
    "sparse, centred": lambda X: csr_matrix(X - X.mean(axis=0)),
    "few at a time": lambda X: X - (X.mean() if len(X) > 10 else 0.0),
}
ROWS = {
    "tanh": np.tanh,
    "product": lambda X: X @ np.array([[1.0, 2.0, 0.3], [0.1, -1.0, 2.0]]),
    "sparse": csr_matrix,
    "logarithm": lambda X: np.log(X - 0.5),  # NaN and warnings would be of the data
}


@pytest.mark.parametrize("name", [*BATCHES, *ROWS])
def test_functions_of_a_batch_learn_from_it(name):
    X, Y, new = noisy(24)
    X, new = X + 2, new + 2
    steps = FunctionTransformer({**BATCHES, **ROWS}[name], accept_sparse=True)
    model = ConformalPredictor(make_pipeline(steps, machine()), "jackknife+", level=0.8).fit(X, Y)
    assert model.closed_form_ == (name in ROWS)
    if name == "centred":
        i, rest = 3, np.arange(24) != 3
        alone = make_pipeline(steps, machine()).fit(X[rest], Y[rest])
        assert_allclose(model.sets_.calibration.models.out_of_fold[i], alone.predict(X[i : i + 1])[0])


@pytest.mark.parametrize("name", ["centred", "tanh", "product"])
def test_functions_of_a_batch_as_feature_map(name):
    X, Y, _ = noisy(24)
    steps = FunctionTransformer({**BATCHES, **ROWS}[name])
    for feature_map in (steps, features.TransformerFeatures(steps)):
        estimator = OperatorKernelRegressor(feature_map=feature_map, alpha=1e-2)
        model = ConformalPredictor(estimator, "jackknife+", level=0.8).fit(X, Y)
        assert model.closed_form_ == (name in ROWS)
    learnt = OperatorKernelRegressor(feature_map=Nystroem(n_components=8, random_state=0), alpha=1e-2)
    assert ConformalPredictor(learnt, "jackknife+", level=0.8).fit(X, Y).closed_form_  # part of the kernel


def test_functions_of_a_batch_before_a_predictor_of_objects():
    X, Y, _ = noisy(30)
    labels = np.where(Y[:, 0] > 0, "high", "low").tolist()
    for steps, closed_form in ((FunctionTransformer(BATCHES["centred"]), False), (Normalizer(), True)):
        estimator = make_pipeline(steps, StructuredPredictor("rbf", gamma=1.0, alpha=1e-2))
        assert ConformalPredictor(estimator, "jackknife+", level=0.8).fit(X, labels).closed_form_ == closed_form


def test_closed_form_behind_steps_that_learn_nothing():
    steps = make_pipeline(FunctionTransformer(np.tanh), MODEL)
    model = ConformalPredictor(steps, level=0.8).fit(X, Y)
    direct = ConformalPredictor(MODEL, level=0.8).fit(np.tanh(X), Y)
    assert model.closed_form_
    assert_allclose(model.predict_interval(QUERIES), direct.predict_interval(np.tanh(QUERIES)))


def test_steps_that_learn_are_fitted_in_every_fold():
    model = ConformalPredictor(make_pipeline(StandardScaler(), MODEL), level=0.8, random_state=0).fit(X, Y)
    assert (model.method_, model.closed_form_) == ("cv+", False)
    means = [one[0].mean_ for one in model.sets_.calibration.models.models]
    assert not np.allclose(means[0], means[1])
    model = ConformalPredictor(make_pipeline(StandardScaler(), MODEL), "jackknife+", level=0.8).fit(X, Y)
    assert model.sets_.calibration.models.n_models == 40 and not model.closed_form_


def test_weights_reach_the_last_step():
    weights = np.random.default_rng(0).uniform(0.2, 3, 40)
    steps = make_pipeline(FunctionTransformer(np.tanh), MODEL)
    model = ConformalPredictor(steps, level=0.8).fit(X, Y, weights)
    assert_allclose(model.predict(QUERIES), clone(MODEL).fit(np.tanh(X), Y, weights).predict(np.tanh(QUERIES)))


def test_closed_form_in_a_search_over_alpha():
    path = RegularizationPathCV(MODEL, [1e-3, 1e-2, 1e-1])
    model = ConformalPredictor(path, level=0.8).fit(X, Y)
    assert model.closed_form_
    alone = ConformalPredictor(clone(MODEL).set_params(alpha=model.estimator_.alpha_), level=0.8).fit(X, Y)
    assert_allclose(model.predict_interval(QUERIES), alone.predict_interval(QUERIES))
    robust = ConformalPredictor(RegularizationPathCV(clone(MODEL).set_params(loss="huber"), [0.1]), level=0.8, cv=3)
    assert robust.fit(X, Y).method_ == "cv+"


def test_inside_a_pipeline_and_a_search():
    steps = make_pipeline(StandardScaler(), ConformalPredictor(MODEL, level=0.8)).fit(X, Y)
    assert steps.predict(QUERIES).shape == TRUE.shape
    model = ConformalPredictor(MODEL, "split", random_state=0, level=0.5)
    search = GridSearchCV(model, {"estimator__alpha": [0.01, 10]}, scoring="r2", cv=3)
    assert search.fit(X, Y).best_params_ == {"estimator__alpha": 0.01}
