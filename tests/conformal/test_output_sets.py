"""What all strategies share: the method in use, point predictions, pickles, coverage."""

import pickle

import numpy as np
import pytest
from helpers.conformal_vectors import LEVEL, METHODS, MODEL, QUERIES, TRUE, X, Y, vectors
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import (
    ConformalPredictor,
    LinkPredictor,
    OperatorKernelRegressor,
    QuantileRegressor,
    StructuredPredictor,
)
from hilbertlearn.conformal import scores
from hilbertlearn.conformal.output_sets import OutputSets
from hilbertlearn.conformal.predictor import STRATEGIES
from hilbertlearn.conformal.wrapped import strategy_name


def test_auto_is_the_closed_form_where_there_is_one():
    model = ConformalPredictor(MODEL).fit(X, Y)
    assert (model.method_, model.closed_form_) == ("jackknife+", True)
    model = ConformalPredictor(MODEL, cv=5).fit(X, Y)
    assert (model.method_, model.closed_form_, model.sets_.calibration.models.n_models) == ("cv+", False, 5)
    model = ConformalPredictor(LinearRegression()).fit(X, Y)
    assert (model.method_, model.closed_form_, model.sets_.calibration.models.n_models) == ("cv+", False, 10)
    assert ConformalPredictor().fit(X, Y).method_ == "jackknife+"


def test_one_output_as_a_row():
    model = ConformalPredictor(MODEL, level=LEVEL).fit(X, Y[:, 0])
    column = ConformalPredictor(MODEL, level=LEVEL).fit(X, Y[:, :1])
    assert model.predict(QUERIES).shape == (25,)
    assert model.predict_interval(QUERIES).shape == (25, 2)
    assert_allclose(model.predict_interval(QUERIES), column.predict_interval(QUERIES)[:, 0])
    assert model.predict_region(QUERIES).upper.shape == (25,)
    assert model.predict_region(QUERIES).contains(TRUE[:, 0]).shape == (25,)


def test_pickles_and_clones():
    model = ConformalPredictor(MODEL, "split", LEVEL, scores.ScaledMaximum("robust"), random_state=0)
    again = clone(model)
    assert again.get_params()["score__modulation"] == "robust"
    for one in (model, clone(model).set_params(method="jackknife+"), clone(model).set_params(method="cv+")):
        one.fit(X, Y)
        back = pickle.loads(pickle.dumps(one))
        assert_allclose(back.predict_interval(QUERIES), one.predict_interval(QUERIES))
        assert_array_equal(back.predict_region(QUERIES).contains(TRUE), one.predict_region(QUERIES).contains(TRUE))


def test_coverage_of_many_draws():
    """Marginal coverage over draws of samples and queries together; test_predictor_coverage.py has more."""
    covered = {method: [] for method in METHODS}
    for seed in range(40):
        Xs, Ys = vectors(50, seed=seed)
        Xt, Yt = vectors(20, seed=1000 + seed)
        for method, found in covered.items():
            model = ConformalPredictor(MODEL, method, random_state=seed).fit(Xs, Ys)
            found.append(model.predict_region(Xt).contains(Yt).mean())
    for method, found in covered.items():
        assert 0.87 < np.mean(found) < 0.97, (method, np.mean(found))


# one contract for every strategy: a new one is listed here


def _links():
    points = np.linspace(0, 3, 24)[:, None]
    return points, (abs(points - points.T) < 0.4).astype(int) - np.eye(24, dtype=int)


STRATEGY_CASES = {
    "rows": (MODEL, lambda: (X, Y), lambda model: model.predict_interval(QUERIES)),
    "quantiles": (
        QuantileRegressor((0.1, 0.9), alpha=0.1),
        lambda: (X, Y[:, 0]),
        lambda model: model.predict_interval(QUERIES),
    ),
    "objects": (
        StructuredPredictor("rbf", gamma=0.5, alpha=0.05),
        lambda: (X, np.where(X[:, 0] > 0, "right", "left")),
        lambda model: model.predict_set(QUERIES).sizes,
    ),
    "links": (LinkPredictor(gamma=2.0, alpha=1e-2), _links, lambda model: model.predict_set().sizes),
}
PREDICTION_METHODS = {name for kind in STRATEGIES.values() for name in kind.methods}


@pytest.mark.parametrize("method", ["auto", "split", "cv+"])
@pytest.mark.parametrize("name", STRATEGIES)
def test_strategies(name, method):
    estimator, data, predict = STRATEGY_CASES[name]
    unfitted = ConformalPredictor(estimator, method, 0.6, random_state=0)
    model = clone(unfitted).fit(*data())
    sets = model.sets_
    assert isinstance(sets, OutputSets) and type(sets) is STRATEGIES[name]
    assert (model.estimator_, model.method_) == (sets.estimator, sets.method)
    assert model.method_ in ("jackknife+", "cv+", "split") and method in ("auto", model.method_)
    assert (model.closed_form_, model.n_calibration_) == (sets.closed_form, sets.n_calibration)
    assert sets.calibration.level == 0.6
    assert_array_equal(predict(pickle.loads(pickle.dumps(model))), predict(model))
    for one in (unfitted, model):
        assert {method for method in PREDICTION_METHODS if hasattr(one, method)} == set(sets.methods)
        for missing in PREDICTION_METHODS - set(sets.methods):
            with pytest.raises(AttributeError, match=f"{type(estimator).__name__}; use .*{sets.methods[-1]}"):
                getattr(one, missing)
    for offered in sets.methods:
        with pytest.raises(NotFittedError):
            getattr(unfitted, offered)(QUERIES)


def test_an_estimator_names_its_strategy_behind_pipelines_and_searches():
    assert strategy_name(LinearRegression()) == "rows"
    assert strategy_name(make_pipeline(StandardScaler(), QuantileRegressor())) == "quantiles"
    search = GridSearchCV(make_pipeline(StandardScaler(), StructuredPredictor()), {"structuredpredictor__alpha": [0.1]})
    assert strategy_name(search) == "objects"
    assert strategy_name(LinkPredictor()) == "links"


@pytest.mark.parametrize("outputs", ["rows", "objects"])
def test_split_predictions_of_kernel_values_are_those_of_the_training_part(outputs):
    y = Y if outputs == "rows" else np.where(X[:, 0] > 0, "right", "left")
    kind = OperatorKernelRegressor if outputs == "rows" else StructuredPredictor
    K, cross = rbf_kernel(X, gamma=0.5), rbf_kernel(QUERIES, X, gamma=0.5)
    options = {"method": "split", "level": 0.6, "random_state": 0}
    by_values = ConformalPredictor(kind("precomputed", alpha=0.05), **options).fit(K, y).predict(cross)
    by_kernel = ConformalPredictor(kind("rbf", gamma=0.5, alpha=0.05), **options).fit(X, y).predict(QUERIES)
    if outputs == "rows":
        assert_allclose(by_values, by_kernel)
    else:
        assert_array_equal(by_values, by_kernel)
