"""ConformalPredictor as an estimator: scikit-learn's checks, frames, progress, failures."""

import numpy as np
import pandas as pd
import pytest
from helpers.conformal_samples import METHODS, MODEL, QUERIES, TRUE, X, Y
from helpers.estimator_checks import assert_checks_pass, in_one_line
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import ConformalPredictor, FunctionalRegressor, OperatorKernelRegressor, StructuredPredictor

NAMED_SCORE = (  # score is a setting, these call it as a method
    "check_fit_score_takes_y",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_array_api_input",
    "check_regressors_train",
)


@pytest.mark.parametrize(
    "estimator",
    [
        ConformalPredictor(OperatorKernelRegressor("rbf", gamma="median", alpha=0.01), level=0.5, random_state=0),
        ConformalPredictor(LinearRegression(), "cv+", level=0.5, cv=3, random_state=0),
        ConformalPredictor(LinearRegression(), "split", level=0.5, random_state=0),
    ],
    ids=in_one_line,
)
def test_estimator_checks(estimator):
    assert_checks_pass(estimator, dict.fromkeys(NAMED_SCORE, "score is a setting"))


@pytest.mark.parametrize("method", METHODS)
def test_precomputed_kernels(method):
    K, G = rbf_kernel(X, gamma=0.5), rbf_kernel(QUERIES, X, gamma=0.5)
    by_gram = ConformalPredictor(OperatorKernelRegressor("precomputed", alpha=0.05), method, 0.8, random_state=0)
    by_name = ConformalPredictor(MODEL, method, 0.8, random_state=0)
    found, expected = by_gram.fit(K, Y).predict_interval(G), by_name.fit(X, Y).predict_interval(QUERIES)
    assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("method", ["cv+", "split"])
def test_forests(method):
    forest = RandomForestRegressor(20, random_state=0)
    region = ConformalPredictor(forest, method, 0.8, random_state=0, cv=4).fit(X, Y).predict_region(QUERIES)
    assert region.contains(TRUE).mean() > 0.5


@pytest.mark.parametrize("method", METHODS)
def test_frames(method):
    frame, inputs = pd.DataFrame(Y, columns=["a", "b"]), pd.DataFrame(X, columns=["u", "v"])
    new = pd.DataFrame(QUERIES, columns=["u", "v"], index=np.arange(15) + 100)
    model = ConformalPredictor(MODEL, method, 0.8, random_state=0).fit(inputs, frame)
    region = model.predict_region(new)
    assert list(region.lower.columns) == ["a", "b"] and list(region.lower.index) == list(new.index)
    plain = ConformalPredictor(MODEL, method, 0.8, random_state=0).fit(X, Y)
    assert_allclose(region.upper, plain.predict_region(QUERIES).upper)
    assert_allclose(model.predict_interval(new), plain.predict_interval(QUERIES))
    assert_array_equal(
        region.contains(pd.DataFrame(TRUE, columns=["a", "b"])), plain.predict_region(QUERIES).contains(TRUE)
    )
    with pytest.raises(ValueError, match="columns"):
        region.contains(pd.DataFrame(TRUE, columns=["b", "a"]))


def test_curves_in_a_container():
    skfda = pytest.importorskip("skfda")
    t = np.linspace(0, 2, 9)
    curves = np.sin(t + X[:, :1]) + 0.1 * np.random.default_rng(0).normal(size=(40, 9))
    model = ConformalPredictor(FunctionalRegressor("rbf", gamma=0.5, alpha=1e-2), level=0.8)
    plain = model.fit(X, curves).predict_band(QUERIES)
    band = clone(model).fit(X, skfda.FDataGrid(curves, t)).predict_band(QUERIES)
    assert isinstance(band.lower, skfda.FDataGrid)
    assert_allclose(band.upper.data_matrix[..., 0], plain.upper)
    assert_array_equal(band.contains(skfda.FDataGrid(curves[:15], t)), plain.contains(curves[:15]))
    assert_allclose(band.mean_width(), np.trapezoid(plain.width, t, axis=1) / 2)


def test_progress_is_shown(capsys):
    ConformalPredictor(MODEL, "cv+", 0.8, cv=3, verbose=1).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" in ")[0] for line in lines] == [
        "[ConformalPredictor] model of all samples",
        "[ConformalPredictor] models without some samples: 3 of 3",
    ]


@pytest.mark.parametrize("method", ["predict", "predict_interval", "predict_region", "predict_band"])
def test_unfitted(method):
    with pytest.raises(NotFittedError):
        getattr(ConformalPredictor(MODEL), method)(X)


def test_a_fit_that_fails_changes_nothing():
    model = ConformalPredictor(MODEL, level=0.8).fit(X, Y)
    before = model.predict_interval(QUERIES)
    with pytest.raises(ValueError, match="needs at least"):
        model.set_params(level=0.99).fit(X[:5], Y[:5])
    assert_array_equal(model.predict_interval(QUERIES), before)


def test_methods_of_other_outputs_name_those_of_these():
    labels = np.array(["a", "b"])[np.arange(30) % 2]
    objects = ConformalPredictor(StructuredPredictor(kernel="linear", alpha=0.1), cv=3)
    objects.fit(np.c_[np.arange(30) % 2, np.arange(30) / 30], labels)
    for method in ("predict_probability", "predict_interval"):
        assert not hasattr(objects, method)
        with pytest.raises(AttributeError, match="for the outputs of StructuredPredictor; use predict_set"):
            getattr(objects, method)([[0.0, 0.0]])
