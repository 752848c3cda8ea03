"""Conformal predictors around what users have: weights, gaps, groups, pipelines, searches, frames, bad input."""

import numpy as np
import pandas as pd
import pytest
from helpers.estimator_checks import assert_checks_pass, in_one_line
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from hilbertlearn import (
    ConformalPredictor,
    FunctionalRegressor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    StructuredPredictor,
)
from hilbertlearn.conformal import scores

METHODS = ["jackknife+", "cv+", "split"]
MODEL = OperatorKernelRegressor("rbf", gamma=0.5, alpha=0.05)


def vectors(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, np.c_[np.sin(3 * X[:, 0]), X[:, 1] + X[:, 0]] + rng.normal(size=(n, 2)) * [0.3, 0.6]


X, Y = vectors(40)
QUERIES, TRUE = vectors(15, seed=1)
GAPS = np.where(np.random.default_rng(2).random(Y.shape) < 0.3, np.nan, Y)
GROUPS = np.repeat(np.arange(10), 4)

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


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize("method", METHODS)
def test_queries_with_weights_by_definition(method):
    """The smallest value whose samples weigh the level's share of all, the query among them."""
    weights, own = np.random.default_rng(0).uniform(0.2, 3, 40), np.random.default_rng(1).uniform(0.2, 3, 15)
    weights[3] = 0
    model = ConformalPredictor(MODEL, method, 0.8, random_state=0).fit(X, Y, weights)
    left = model.sets_.calibration.models
    assert 3 not in left.rows
    w, predictions = weights[left.rows], left.predictions(QUERIES)[:, left.model_index]
    half = np.abs(Y[left.rows] - left.out_of_fold)
    found = model.predict_interval(QUERIES, sample_weight=own)
    for q in range(15):
        for j in range(2):
            ends, total = predictions[q, :, j] + half[:, j], w.sum() + own[q]
            good = [end for end in ends if w[ends <= end].sum() >= 0.8 * total]
            assert found[q, j, 1] == pytest.approx(min(good, default=np.inf))
            ends = predictions[q, :, j] - half[:, j]
            good = [end for end in ends if w[ends >= end].sum() >= 0.8 * total]
            assert found[q, j, 0] == pytest.approx(max(good, default=-np.inf))
    region = model.predict_region(QUERIES, sample_weight=own)
    within = ((region.lower <= TRUE) & (region.upper >= TRUE)).all(axis=1)
    assert (within | ~region.contains(TRUE)).all()


@pytest.mark.parametrize("score", ["auto", "mahalanobis"])
@pytest.mark.parametrize("method", METHODS)
def test_equal_weights_are_no_weights(method, score):
    model = ConformalPredictor(MODEL, method, 0.8, score, random_state=0)
    plain = model.fit(X, Y).predict_region(QUERIES)
    weighted = clone(model).fit(X, Y, np.full(40, 2.0)).predict_region(QUERIES, sample_weight=np.full(15, 2.0))
    assert_allclose(weighted.upper, plain.upper)
    assert_array_equal(weighted.contains(TRUE), plain.contains(TRUE))
    assert_allclose(weighted.volume(), plain.volume())


def test_a_query_that_weighs_much_has_everything():
    model = ConformalPredictor(MODEL, level=0.8).fit(X, Y)
    assert np.isinf(model.predict_interval(QUERIES[:1], sample_weight=[1e6])).all()
    region = model.predict_region(QUERIES[:1], sample_weight=[1e6])
    assert region.contains(1e9 + TRUE[:1]).all() and np.isinf(region.volume()).all()


def test_weights_restore_coverage_under_a_shift():
    """Noise grows with x, and queries are where it is large: density ratios make up for that."""
    found = {"plain": [], "weighted": []}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x, new = rng.uniform(size=150), np.sqrt(rng.uniform(size=40))  # densities 1 and 2x
        y, true = (x + (0.05 + x**2) * rng.normal(size=len(x)) for x in (x, new))
        model = ConformalPredictor(LinearRegression(), "split", 0.8, random_state=seed, calibration=0.5)
        model.fit(x[:, None], y, 2 * x)
        for name, weights in (("plain", None), ("weighted", 2 * new)):
            ends = model.predict_interval(new[:, None], weights)
            found[name].append(np.mean((ends[:, 0] <= true) & (true <= ends[:, 1])))
    assert np.mean(found["plain"]) < 0.75
    assert 0.78 < np.mean(found["weighted"]) < 0.87


# ---------------------------------------------------------------- gaps


@pytest.mark.parametrize("score", ["auto", "robust", "trimmed", "mahalanobis"])
@pytest.mark.parametrize("method", METHODS)
def test_outputs_with_gaps(method, score):
    model = ConformalPredictor(MODEL, method, 0.8, score, random_state=0).fit(X, GAPS)
    seen = np.isfinite(GAPS).any(axis=1)
    assert set(model.sets_.calibration.models.rows) <= set(np.flatnonzero(seen))
    region, partly = model.predict_region(QUERIES), np.where([True, False], TRUE, np.nan)
    assert (region.contains(partly) | ~region.contains(TRUE)).all()  # less is asked for
    assert region.contains(np.full_like(TRUE, np.nan)).all()
    assert np.isfinite(region.upper).all()


def test_intervals_with_gaps_have_the_samples_of_their_output():
    model = ConformalPredictor(MODEL, "split", 0.8, cv=[(np.arange(20), np.arange(20, 40))]).fit(X, GAPS)
    left = np.abs(GAPS[20:] - model.predict(X[20:]))
    for j in range(2):
        values = np.sort(left[np.isfinite(left[:, j]), j])
        half = values[int(np.ceil(0.8 * (len(values) + 1))) - 1]
        ends = model.predict_interval(QUERIES)[:, j]
        assert_allclose(ends[:, 1] - ends[:, 0], 2 * half)


def test_an_output_that_was_seldom_observed_is_told():
    T = Y.copy()
    T[3:, 1] = np.nan
    model = ConformalPredictor(MODEL, level=0.8).fit(X, T)
    with pytest.warns(UserWarning, match="too few samples"):
        found = model.predict_interval(QUERIES)
    assert np.isinf(found[:, 1]).all() and np.isfinite(found[:, 0]).all()


def test_samples_without_any_output_do_not_count():
    T = np.r_[Y, np.full((5, 2), np.nan)]
    more = np.r_[X, QUERIES[:5]]
    for method in METHODS[:1]:
        one, other = (ConformalPredictor(MODEL, method, 0.8).fit(*data) for data in ((X, Y), (more, T)))
        assert_allclose(one.predict_interval(QUERIES), other.predict_interval(QUERIES))


# ---------------------------------------------------------------- groups and order


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_groups_are_left_out_together(method):
    model = ConformalPredictor(MODEL, method, 0.8, random_state=0).fit(X, Y, groups=GROUPS)
    left = model.sets_.calibration.models
    for group in np.unique(GROUPS[left.rows]):
        own = GROUPS[left.rows] == group
        assert own.sum() == 4 and len(np.unique(left.model_index[own])) == 1
    assert model.method_ == ("cv+" if method == "auto" else method) and not model.closed_form_


def test_splitters_that_take_groups():
    model = ConformalPredictor(MODEL, level=0.8, cv=GroupKFold(3)).fit(X, Y, groups=GROUPS)
    assert model.method_ == "cv+" and model.sets_.calibration.models.n_models == 3


def test_order_in_time():
    model = ConformalPredictor(MODEL, level=0.8, cv=TimeSeriesSplit(4)).fit(X, Y)
    assert_array_equal(np.sort(model.sets_.calibration.models.rows), np.arange(8, 40))
    split = ConformalPredictor(MODEL, "split", 0.8, cv=[(np.arange(25), np.arange(25, 40))]).fit(X, Y)
    assert_array_equal(split.sets_.calibration.models.rows, np.arange(25, 40))


# ---------------------------------------------------------------- around and inside of others


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


def test_progress_is_told(capsys):
    ConformalPredictor(MODEL, "cv+", 0.8, cv=3, verbose=1).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" in ")[0] for line in lines] == [
        "[ConformalPredictor] model of all samples",
        "[ConformalPredictor] models without some samples: 3 of 3",
    ]


# ---------------------------------------------------------------- bad input


class NoPredict(BaseEstimator):
    def fit(self, X, y):
        return self


@pytest.mark.parametrize("level", [0, 1, 1.2, -0.1, "high", None, True, np.nan])
def test_level_must_be_between_0_and_1(level):
    with pytest.raises(ValueError, match="level must be a number between 0 and 1"):
        ConformalPredictor(MODEL, level=level).fit(X, Y)


@pytest.mark.parametrize(
    ("method", "level", "needed", "there"),
    [("split", 0.95, 19, 12), ("cv+", 0.98, 49, 40), ("jackknife+", 0.99, 99, 40)],
)
def test_too_few_samples_for_the_level(method, level, needed, there):
    with pytest.raises(ValueError, match=rf"needs at least {needed} samples .* has {there}"):
        ConformalPredictor(MODEL, method, level).fit(X, Y)
    ConformalPredictor(MODEL, method, there / (there + 1)).fit(X, Y)  # as the message says


@pytest.mark.parametrize("method", ["predict", "predict_interval", "predict_region", "predict_band"])
def test_unfitted(method):
    with pytest.raises(NotFittedError):
        getattr(ConformalPredictor(MODEL), method)(X)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"estimator": OperatorKernelRegressor}, TypeError, r"pass OperatorKernelRegressor\(\)"),
        ({"estimator": NoPredict()}, TypeError, "estimator must have predict"),
        ({"estimator": "ridge"}, TypeError, "estimator must have fit, predict"),
        ({"method": "jacknife+"}, ValueError, r"did you mean 'jackknife\+'"),
        ({"score": "trimed"}, ValueError, "did you mean 'trimmed'"),
        ({"score": scores.ScaledMaximum}, TypeError, r"pass ScaledMaximum\(\)"),
        ({"score": 3}, TypeError, "score must be a name or an object"),
        ({"score": scores.ScaledMaximum("larger")}, ValueError, "modulation: unknown name 'larger'"),
        ({"score": scores.Mahalanobis(2.0)}, ValueError, "shrinkage must be a number from 0 to 1"),
        ({"method": "split", "calibration": 1.5}, ValueError, "calibration must be a share below 1"),
        ({"method": "split", "calibration": 40}, ValueError, "calibration must be a share below 1"),
        ({"method": "split", "calibration": 0}, ValueError, "calibration must be"),
        ({"cv": 1}, ValueError, "cv must be an integer > 1"),
        ({"cv": ShuffleSplit(3, test_size=0.5, random_state=0)}, ValueError, "more than once"),
    ],
)
def test_bad_settings(settings, error, message):
    with pytest.raises(error, match=message):
        ConformalPredictor(**{"estimator": MODEL, "level": 0.8, **settings}).fit(X, Y)


def test_bad_data():
    model = ConformalPredictor(MODEL, level=0.8)
    with pytest.raises(ValueError, match="as many samples"):
        model.fit(X, Y[:-1])
    with pytest.raises(ValueError, match="must be numbers"):
        model.fit(X, [["a", "b"]] * 40)
    with pytest.raises(ValueError, match="groups must have one entry a sample"):
        model.fit(X, Y, groups=[1, 2])
    with pytest.raises(ValueError, match="takes no sample_weight"):
        ConformalPredictor(WithoutWeights(), level=0.8).fit(X, Y, np.ones(40))
    model.fit(X, Y)
    with pytest.raises(ValueError, match="an output for each of the 15"):
        model.predict_region(QUERIES).contains(TRUE[:3])
    with pytest.raises(ValueError, match="shape"):
        model.predict_region(QUERIES).contains(TRUE[:, :1])
    with pytest.raises(ValueError, match="features"):
        model.predict_interval(QUERIES[:, :1])
    with pytest.raises(ValueError, match="mahalanobis"):
        ConformalPredictor(MODEL, level=0.8, score="mahalanobis").fit(X, Y).predict_band(QUERIES)


class WithoutWeights(DummyRegressor):
    def fit(self, X, y):
        return super().fit(X, y)


def test_a_fit_that_fails_changes_nothing():
    model = ConformalPredictor(MODEL, level=0.8).fit(X, Y)
    before = model.predict_interval(QUERIES)
    with pytest.raises(ValueError, match="needs at least"):
        model.set_params(level=0.99).fit(X[:5], Y[:5])
    assert_array_equal(model.predict_interval(QUERIES), before)


def test_folds_of_too_few_samples_are_as_many_as_there_are():
    model = ConformalPredictor(LinearRegression(), "cv+", 0.5).fit(X[:5], Y[:5])
    assert model.sets_.calibration.models.n_models == 5
    assert ConformalPredictor(MODEL, cv=KFold(2), level=0.5).fit(X, Y).sets_.calibration.models.n_models == 2


def test_folds_do_not_go_with_jackknife_plus():
    with pytest.raises(ValueError, match="cv=5: 'jackknife\\+' leaves out each sample"):
        ConformalPredictor(LinearRegression(), "jackknife+", cv=5).fit(np.eye(30), np.arange(30.0))


@pytest.mark.parametrize(
    ("model", "y"), [(OperatorKernelRegressor(), np.full(30, np.nan)), (StructuredPredictor(), [None] * 30)], ids=str
)
def test_outputs_that_are_all_unknown_are_told_as_such(model, y):
    with pytest.raises(ValueError, match="no samples with an observed output"):
        ConformalPredictor(model).fit(np.arange(30.0)[:, None], y)


def test_methods_of_other_outputs_name_those_of_these():
    labels = np.array(["a", "b"])[np.arange(30) % 2]
    objects = ConformalPredictor(StructuredPredictor(kernel="linear", alpha=0.1), cv=3)
    objects.fit(np.c_[np.arange(30) % 2, np.arange(30) / 30], labels)
    for method in ("predict_probability", "predict_interval"):
        assert not hasattr(objects, method)
        with pytest.raises(AttributeError, match="for the outputs of StructuredPredictor; use predict_set"):
            getattr(objects, method)([[0.0, 0.0]])
