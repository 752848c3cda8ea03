"""Weights of queries, gaps, and samples that are not used."""

import numpy as np
import pytest
from helpers.conformal_samples import METHODS, MODEL, QUERIES, TRUE, X, Y
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

from hilbertlearn import ConformalPredictor, OperatorKernelRegressor, StructuredPredictor

GAPS = np.where(np.random.default_rng(2).random(Y.shape) < 0.3, np.nan, Y)


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


def test_a_rarely_observed_output_gives_a_warning():
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


@pytest.mark.parametrize(
    ("model", "y"), [(OperatorKernelRegressor(), np.full(30, np.nan)), (StructuredPredictor(), [None] * 30)], ids=str
)
def test_outputs_without_any_observation_are_refused(model, y):
    with pytest.raises(ValueError, match="no samples with an observed output"):
        ConformalPredictor(model).fit(np.arange(30.0)[:, None], y)
