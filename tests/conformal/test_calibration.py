"""Intervals, boxes and ellipsoids against their definitions."""

import numpy as np
import pytest
from helpers.conformal_vectors import LEVEL, METHODS, MODEL, QUERIES, SCORES, TRUE, X, Y, ends_by_definition
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import KFold

from hilbertlearn import ConformalPredictor


def refits(splits, estimator=MODEL):
    """For each sample left out the model without it."""
    models = {}
    for train, test in splits:
        model = clone(estimator).fit(X[train], Y[train])
        models.update((i, model) for i in test)
    return models


def test_split_intervals_are_the_prediction_and_a_quantile():
    train, test = np.arange(18), np.arange(18, 30)
    model = ConformalPredictor(MODEL, "split", LEVEL, cv=[(train, test)]).fit(X, Y)
    alone = clone(MODEL).fit(X[train], Y[train])
    assert_allclose(model.predict(QUERIES), alone.predict(QUERIES))
    left = np.abs(Y[test] - alone.predict(X[test]))
    half = [ends_by_definition(column, LEVEL) for column in left.T]
    found = model.predict_interval(QUERIES)
    assert found.shape == (25, 2, 2)
    assert_allclose(found[..., 1], alone.predict(QUERIES) + half)
    assert_allclose(found[..., 0], alone.predict(QUERIES) - half)
    assert model.n_calibration_ == 12


def test_cv_plus_intervals_by_definition():
    splits = list(KFold(5).split(X))
    model = ConformalPredictor(MODEL, "cv+", LEVEL, cv=KFold(5)).fit(X, Y)
    without, found = refits(splits), model.predict_interval(QUERIES)
    left = {i: np.abs(Y[i] - without[i].predict(X[i : i + 1])[0]) for i in range(30)}
    for q, query in enumerate(QUERIES[:4]):
        ends = np.array([[without[i].predict(query[None])[0] + sign * left[i] for i in range(30)] for sign in (-1, 1)])
        for j in range(2):
            assert found[q, j, 1] == pytest.approx(ends_by_definition(ends[1, :, j], LEVEL))
            assert found[q, j, 0] == pytest.approx(-ends_by_definition(-ends[0, :, j], LEVEL))


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("method", METHODS)
def test_regions_by_definition(method, score):
    """Counts of samples with smaller scores, with each model's own scale."""
    model = ConformalPredictor(MODEL, method, LEVEL, score, cv=None if method == "jackknife+" else KFold(4)).fit(X, Y)
    region, left = model.predict_region(QUERIES), model.sets_.calibration.models
    predictions = left.predictions(QUERIES)
    scales = np.ones((1, 2)) if left.scales is None else left.scales
    spreads, spreads_at = np.ones(len(left.rows)), np.ones(predictions.shape[:2])
    if score == "novelty":
        spreads, spreads_at = left.spreads, left.spreads_at(QUERIES)
    inside = []
    for q in range(25):
        smaller = 0
        for i, k in zip(left.rows, left.model_index, strict=True):
            own = scales[left.scale_index[k]]
            at = np.flatnonzero(left.rows == i)[0]
            sizes = []
            pairs = (Y[i] - left.out_of_fold[at]) / spreads[at], (TRUE[q] - predictions[q, k]) / spreads_at[q, k]
            for residual in pairs:
                box = np.max(
                    np.abs(residual) / np.diag(np.diag(own)).diagonal() if own.ndim == 2 else np.abs(residual) / own
                )
                sizes.append(np.sqrt(residual @ np.linalg.solve(own, residual)) if own.ndim == 2 else box)
            smaller += sizes[0] < sizes[1]
        inside.append(smaller < LEVEL * (len(left.rows) + 1) - 1e-9)
    assert_array_equal(region.contains(TRUE), inside)
    assert 0 < np.sum(inside) <= 25
    within = ((region.lower <= TRUE) & (region.upper >= TRUE)).all(axis=1)
    assert (within | ~region.contains(TRUE)).all()  # the box holds the set


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("method", METHODS)
def test_boxes_hold_the_whole_set(method, score):
    """Points of a set, drawn at random, are inside its box; just outside the box nothing is in the set."""
    region = ConformalPredictor(MODEL, method, LEVEL, score).fit(X, Y).predict_region(QUERIES)
    rng, sides = np.random.default_rng(0), region.upper - region.lower
    for _ in range(20):
        points = region.lower + sides * rng.uniform(-0.3, 1.3, size=sides.shape)
        within = ((region.lower <= points) & (region.upper >= points)).all(axis=1)
        found = region.contains(points)
        assert (within | ~found).all()
        if method == "split" and score != "mahalanobis":
            assert_array_equal(found, within)  # the set is the box
