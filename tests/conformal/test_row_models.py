"""Models without some samples: closed form against refits, scales, blocks."""

from helpers.conformal_vectors import LEVEL, MODEL, QUERIES, SCORES, TRUE, X, Y
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor

from hilbertlearn import ConformalPredictor


def test_jackknife_plus_in_closed_form_equals_refits():
    """alpha n is held fixed, so that a refit to n - 1 samples has a slightly larger alpha."""
    found = ConformalPredictor(MODEL, "jackknife+", LEVEL).fit(X, Y)
    larger = clone(MODEL).set_params(alpha=MODEL.alpha * 30 / 29)
    splits = list(KFold(30).split(X))
    expected = ConformalPredictor(larger, "cv+", LEVEL, cv=splits).fit(X, Y)
    assert found.closed_form_ and not expected.closed_form_
    assert_allclose(found.predict_interval(QUERIES), expected.predict_interval(QUERIES), atol=1e-10)
    for score in SCORES:  # scales come from pairs left out, and from leave-one-out residuals of each refit
        one, other = (clone(m).set_params(score=score).fit(X, Y).predict_region(QUERIES) for m in (found, expected))
        assert_allclose(one.upper, other.upper, atol=1e-10)
        assert_array_equal(one.contains(TRUE), other.contains(TRUE))


def test_jackknife_plus_of_any_regressor_refits():
    found = ConformalPredictor(Ridge(), "jackknife+", LEVEL).fit(X, Y)
    expected = ConformalPredictor(Ridge(), "cv+", LEVEL, cv=KFold(30)).fit(X, Y)
    assert not found.closed_form_
    assert_allclose(found.predict_interval(QUERIES), expected.predict_interval(QUERIES))


def test_robust_models_have_robust_scales():
    T = Y.copy()
    T[:2] += 100
    huber = ConformalPredictor(
        MODEL.set_params(loss="squared"), "cv+", LEVEL, cv=KFold(3, shuffle=True, random_state=0)
    )
    huber = clone(huber).set_params(estimator__loss="huber").fit(X, T)
    assert huber.sets_.calibration.models.scales.max() < 5
    squared = clone(huber).set_params(estimator__loss="squared").fit(X, T)
    assert squared.sets_.calibration.models.scales.max() > 10


def test_models_through_every_sample_have_scales_in_the_units_of_the_outputs():
    nearest = KNeighborsRegressor(1)
    one, other = (ConformalPredictor(nearest, "cv+", LEVEL, cv=KFold(5)).fit(X, Y * units) for units in (1, [1, 1000]))
    assert_allclose(one.predict_region(QUERIES).upper * [1, 1000], other.predict_region(QUERIES).upper)


def test_blocks_of_queries_change_nothing():
    import sklearn

    model = ConformalPredictor(MODEL, level=LEVEL).fit(X, Y)
    whole = model.predict_region(QUERIES)
    with sklearn.config_context(working_memory=0.02):
        blocks = model.predict_region(QUERIES)
        inside = blocks.contains(TRUE)
    assert_allclose(whole.upper, blocks.upper, atol=1e-12)
    assert_array_equal(whole.contains(TRUE), inside)
