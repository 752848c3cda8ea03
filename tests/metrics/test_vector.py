"""Scores of vectors: scikit-learn's where nothing is missing, loops over outputs where something is."""

import warnings

import numpy as np
import pytest
from helpers.refusals import assert_refused
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from sklearn import metrics as reference
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score

from hilbertlearn import OperatorKernelRegressor, RegularizationPathCV, metrics

NAMES = ["r2_score", "mean_squared_error", "root_mean_squared_error", "mean_absolute_error"]
PAIRS = [(getattr(metrics, name), getattr(reference, name)) for name in NAMES]
rng = np.random.default_rng(5)
N, D = 11, 3
TRUE, PRED = rng.normal(size=(2, N, D))
GAPS = TRUE.copy()
GAPS[rng.random(TRUE.shape) < 0.35] = np.nan
WEIGHTS = rng.uniform(0.5, 2, N)
WEIGHTS[2] = 0.0


# ---------------------------------------------------------------- nothing missing


@st.composite
def outputs(draw):
    """Outputs, predictions and weights of small integers, so that constant outputs and exact predictions come up."""
    n, d = draw(st.integers(2, 7)), draw(st.integers(1, 4))
    numbers = st.integers(-3, 3).map(float)
    true, pred = (draw(arrays(float, (n, d), elements=numbers)) for _ in range(2))
    weights = draw(st.none() | arrays(float, n, elements=st.integers(0, 4).map(float)))
    if weights is not None:
        weights[:2] += 1  # scikit-learn counts samples of weight 0 as observed: not to be left with one
    averages = ["raw_values", "uniform_average", "variance_weighted"]
    if d > 1:
        averages.append(draw(arrays(float, d, elements=st.integers(1, 5).map(float))))
    return true, pred, weights, draw(st.sampled_from(averages))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(outputs(), st.sampled_from(PAIRS), st.booleans())
def test_without_gaps_they_are_those_of_scikit_learn(given, pair, force_finite):
    true, pred, weights, average = given
    ours, theirs = pair
    if ours is not metrics.r2_score and isinstance(average, str) and average == "variance_weighted":
        return
    options = {"force_finite": force_finite} if ours is metrics.r2_score else {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = theirs(true, pred, sample_weight=weights, multioutput=average, **options)
    assert_allclose(ours(true, pred, sample_weight=weights, multioutput=average, **options), expected, rtol=1e-12)


@pytest.mark.parametrize("ours, theirs", PAIRS)
def test_one_output_in_any_shape(ours, theirs):
    expected = theirs(TRUE[:, 0], PRED[:, 0])
    assert ours(TRUE[:, 0], PRED[:, 0]) == pytest.approx(expected, rel=1e-12)
    assert ours(TRUE[:, :1], PRED[:, 0]) == pytest.approx(expected, rel=1e-12)
    assert ours(TRUE[:, 0].tolist(), PRED[:, :1]) == pytest.approx(expected, rel=1e-12)
    assert isinstance(ours(TRUE[:, 0], PRED[:, 0]), float)
    assert ours(TRUE[:, 0], PRED[:, 0], multioutput="raw_values").shape == (1,)


def test_a_constant_output_is_one_whatever_its_mean_rounds_to():
    y = np.full(10, 0.1) + 0.2
    assert metrics.r2_score(y, y) == 1.0
    assert metrics.r2_score(y, y + 1) == 0.0
    assert metrics.r2_score(y, y + 1, force_finite=False) == -np.inf
    assert np.isnan(metrics.r2_score(y, y, force_finite=False))


# ---------------------------------------------------------------- gaps


def by_output(theirs, true, pred, weights):
    """scikit-learn's metric of the observed samples of each output."""
    out = []
    for y, z in zip(true.T, pred.T):
        seen = ~np.isnan(y) & (weights > 0)
        out.append(theirs(y[seen], z[seen], sample_weight=weights[seen]))
    return np.array(out)


@pytest.mark.parametrize("ours, theirs", PAIRS)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weights"])
def test_gaps_are_left_out_entry_by_entry(ours, theirs, weights):
    expected = by_output(theirs, GAPS, PRED, np.ones(N) if weights is None else weights)
    assert_allclose(ours(GAPS, PRED, weights, multioutput="raw_values"), expected, rtol=1e-12)
    assert ours(GAPS, PRED, weights) == pytest.approx(expected.mean(), rel=1e-12)
    assert ours(GAPS, PRED, weights, multioutput=[1, 0, 3]) == pytest.approx((expected[0] + 3 * expected[2]) / 4)
    assert ours(GAPS, PRED, weights, multioutput=None) == pytest.approx(expected.mean(), rel=1e-12)


def test_variance_weighted_is_the_score_of_all_entries_together():
    mean = np.nanmean(GAPS, axis=0)
    expected = 1 - np.nansum((GAPS - PRED) ** 2) / np.nansum((GAPS - mean) ** 2)
    assert metrics.r2_score(GAPS, PRED, multioutput="variance_weighted") == pytest.approx(expected)


@pytest.mark.parametrize("ours, theirs", PAIRS)
def test_weights_repeat_samples(ours, theirs):
    counts = np.array([0, 1, 2, 3, 1, 1, 2, 0, 1, 2, 1])
    expected = ours(np.repeat(GAPS, counts, axis=0), np.repeat(PRED, counts, axis=0))
    assert ours(GAPS, PRED, counts) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("ours, theirs", PAIRS)
def test_predictions_are_not_asked_for_where_nothing_counts(ours, theirs):
    holes = np.where(np.isnan(GAPS), np.nan, PRED)
    assert ours(GAPS, holes) == ours(GAPS, PRED)
    holes[2] = np.nan  # a sample of weight 0
    assert ours(GAPS, holes, WEIGHTS) == ours(GAPS, PRED, WEIGHTS)


@pytest.mark.parametrize("name, least", list(zip(NAMES, [2, 1, 1, 1])))
def test_outputs_hardly_observed_are_named(name, least):
    pandas = pytest.importorskip("pandas")
    ours = getattr(metrics, name)
    true = GAPS.copy()
    true[least - 1 :, 1] = np.nan
    true[: least - 1, 1] = 0.5
    with pytest.warns(UndefinedMetricWarning, match=f"{name}: output 1 has .*observed value") as told:
        raw = ours(true, PRED, multioutput="raw_values")
    assert told[0].filename == __file__ and len(told) == 1
    assert np.isnan(raw[1])
    assert_allclose(raw[[0, 2]], ours(true[:, [0, 2]], PRED[:, [0, 2]], multioutput="raw_values"))
    with pytest.warns(UndefinedMetricWarning, match="output 'mass'"):
        average = ours(pandas.DataFrame(true, columns=["size", "mass", "age"]), PRED)
    assert average == pytest.approx(raw[[0, 2]].mean())
    with pytest.warns(UndefinedMetricWarning):
        assert ours(true, PRED, multioutput=[3, 5, 1]) == pytest.approx((3 * raw[0] + raw[2]) / 4)
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(ours(true, PRED, multioutput=[0, 1, 0]))
    with pytest.warns(UndefinedMetricWarning, match="0, 1, 2"):
        assert np.isnan(ours(np.full_like(true, np.nan), PRED))


# ---------------------------------------------------------------- containers


@pytest.mark.parametrize("name", [*NAMES, "kendall_tau"])
def test_frames_and_their_missing_values(name):
    pandas = pytest.importorskip("pandas")
    ours = getattr(metrics, name)
    expected = ours(GAPS, PRED)
    frame = pandas.DataFrame(GAPS, columns=list("abc"))
    nullable = frame.astype("Float64").where(frame.notna(), pandas.NA)
    objects = frame.astype(object).where(frame.notna(), pandas.NA)
    nones = [[None if np.isnan(v) else v for v in row] for row in GAPS]
    assert objects["a"].dtype == object and nullable["a"].dtype == "Float64"
    for true in (frame, nullable, objects, objects.to_numpy(), nones):
        assert ours(true, PRED) == pytest.approx(expected, rel=1e-12)
        assert ours(true, pandas.DataFrame(PRED)) == pytest.approx(expected, rel=1e-12)
    if name != "kendall_tau":  # whose rows are rankings
        for column in (nullable["b"], objects["b"]):
            assert ours(column, PRED[:, 1]) == pytest.approx(ours(GAPS[:, 1], PRED[:, 1]))


def test_polars_frames():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(GAPS, schema=["a", "b", "c"]).fill_nan(None)
    for name in NAMES:
        ours = getattr(metrics, name)
        assert ours(frame, PRED) == pytest.approx(ours(GAPS, PRED))


def test_kendall_tau_says_when_there_is_no_order():
    with pytest.warns(UndefinedMetricWarning, match="kendall_tau: no sample has two known items"):
        assert np.isnan(metrics.kendall_tau([[1, np.nan], [2, 2]], [[1, 2], [1, 2]]))


# ---------------------------------------------------------------- with estimators


def test_scorers_of_any_estimator():
    X = rng.normal(size=(60, 4))
    Y = X[:, :2] + 0.1 * rng.normal(size=(60, 2))
    held_out = Y.copy()
    held_out[::3, 0] = np.nan
    for name in NAMES:
        scorer = make_scorer(getattr(metrics, name), greater_is_better=name == "r2_score")
        trees = ExtraTreesRegressor(10, random_state=0).fit(X, Y)
        sign = 1 if name == "r2_score" else -1
        assert scorer(trees, X, held_out) == sign * getattr(metrics, name)(held_out, trees.predict(X))
        search = GridSearchCV(OperatorKernelRegressor(gamma=0.1), {"alpha": [1e-4, 1e3]}, scoring=scorer, cv=3)
        assert search.fit(X, held_out).best_params_ == {"alpha": 1e-4}


def test_own_scores_agree():
    X, T, W = rng.normal(size=(N, 2)), GAPS, WEIGHTS
    for model in (OperatorKernelRegressor(alpha=0.1), RegularizationPathCV(OperatorKernelRegressor(gamma=1.0), cv=3)):
        model.fit(X, T)
        for weights in (None, W):
            expected = metrics.r2_score(T, model.predict(X), weights)
            assert model.score(X, T, weights) == pytest.approx(expected, rel=1e-12)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(T).astype(object).where(~np.isnan(T), pandas.NA)
    model = OperatorKernelRegressor(alpha=0.1).fit(X, frame)
    assert model.score(X, frame) == pytest.approx(metrics.r2_score(T, model.predict(X)))
    folds = cross_val_score(model, X, T, cv=3)
    assert_allclose(folds, cross_val_score(model, X, T, cv=3, scoring=make_scorer(metrics.r2_score)))


@pytest.mark.parametrize("ours, theirs", PAIRS)
def test_refusals(ours, theirs):
    pandas = pytest.importorskip("pandas")
    hole = PRED.copy()
    hole[4, 1] = np.nan
    frame = pandas.DataFrame(TRUE, columns=list("abc"))
    for action, words in [
        (lambda: ours(TRUE, hole), ["y_pred is NaN", "sample 4", "output 1", "1 such", "y_true NaN"]),
        (lambda: ours(frame, hole), ["y_pred is NaN", "sample 4", "output 'b'"]),
        (lambda: ours(TRUE, PRED[:5]), ["y_true and y_pred", "(11, 3)", "(5, 3)"]),
        (lambda: ours(TRUE, PRED[:, 0]), ["y_true and y_pred", "(11, 3)", "(11, 1)"]),
        (lambda: ours(np.where(TRUE > 0, np.inf, 0), PRED), ["y_true", "infinity"]),
        (lambda: ours(TRUE, np.where(TRUE > 0, np.inf, 0)), ["y_pred", "infinity"]),
        (lambda: ours(TRUE[:, :, None], PRED[:, :, None]), ["y_true", "(n, d)"]),
        (lambda: ours([], []), ["y_true", "0 sample"]),
        (lambda: ours([["a"]], [["b"]]), ["y_true", "'a'"]),
        (lambda: ours(frame, pandas.DataFrame(PRED, columns=list("bac"))), ["another order", "y_pred[names]"]),
        (lambda: ours(TRUE, PRED, -WEIGHTS), ["sample_weight"]),
        (lambda: ours(TRUE, PRED, WEIGHTS[:3]), ["sample_weight", "(3,)"]),
        (lambda: ours(TRUE, PRED, multioutput="mean"), ["multioutput", "'mean'", "raw_values"]),
        (lambda: ours(TRUE, PRED, multioutput=[1, 2]), ["multioutput", "3 weights", "[1, 2]"]),
        (lambda: ours(TRUE, PRED, multioutput=[0, 0, 0]), ["multioutput", "not 0"]),
    ]:
        assert_refused(action, words)
