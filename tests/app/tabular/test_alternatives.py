"""Alternatives of scikit-learn: conversion of outputs, and scores against their definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.dummy import DummyRegressor
from sklearn.metrics import d2_absolute_error_score, f1_score, mean_pinball_loss, r2_score

from hilbertlearn import IrregularFunctions
from hilbertlearn.app.tabular.alternatives import QuantilesByLevel, alternatives_for, tuned_kernel_ridge

rng = np.random.default_rng(0)
Y, P = rng.normal(size=(2, 30, 3))


def test_scores_of_vectors_and_curves_are_those_of_scikit_learn():
    assert alternatives_for("vector", Y).score(Y, P) == pytest.approx(r2_score(Y, P))
    robust = alternatives_for("vector", Y, "huber")
    assert robust.score_name == "D2 absolute"
    assert robust.score(Y, P) == pytest.approx(d2_absolute_error_score(Y, P))
    curves = alternatives_for("functional", Y)
    assert curves.score(Y, P) == pytest.approx(r2_score(Y, P, multioutput="variance_weighted"))


def test_missing_targets_become_the_mean_of_the_column():
    gaps = np.where(rng.random(Y.shape) < 0.3, np.nan, Y)
    filled = alternatives_for("vector", gaps).targets(gaps)
    expected = np.where(np.isnan(gaps), [np.nanmean(column) for column in gaps.T], gaps)
    assert_allclose(filled, expected)


def test_rankings_and_label_sets_are_decoded_from_regression():
    ranks = alternatives_for("ranking", Y).decode(np.array([[0.3, -1.0, 0.5]]), None)
    assert ranks.tolist() == [[1, 0, 2]]
    labels = (Y > 0).astype(int)
    sets = alternatives_for("multilabel", labels, "f1")
    decoded = sets.decode(np.where(P > 0, 0.9, 0.1), labels)
    assert (decoded == (P > 0)).all() and sets.score_name == "F1"
    assert sets.score(labels, decoded) == pytest.approx(f1_score(labels, decoded, average="samples", zero_division=1.0))


def test_irregular_curves_are_interpolated():
    points = [np.sort(rng.uniform(0, 1, size=6)) for _ in range(5)]
    lines = IrregularFunctions(points, [2 * t + 1 for t in points], domain=(0, 1))
    alternatives = alternatives_for("functional", lines)
    targets = alternatives.targets(lines)
    for t, row in zip(points, targets, strict=True):
        inside = (t[0] <= alternatives.grid) & (alternatives.grid <= t[-1])
        assert_allclose(row[inside], 2 * alternatives.grid[inside] + 1)
    decoded = alternatives.decode(np.tile(2 * alternatives.grid + 1, (5, 1)), lines)
    assert alternatives.score(lines, decoded) == pytest.approx(1.0)


def test_quantiles_are_fitted_for_each_level_to_known_rows():
    y = np.where(np.arange(30) % 5 == 0, np.nan, Y[:, 0])
    model = QuantilesByLevel(DummyRegressor(strategy="quantile"), (0.2, 0.8)).fit(P, y)
    known = y[np.isfinite(y)]
    assert_allclose(model.predict(P)[0], np.percentile(known, [20, 80]))
    score = alternatives_for("quantiles", known, levels=(0.2, 0.8)).score(known, model.predict(P)[: len(known)])

    def loss(constant, level):
        return mean_pinball_loss(known, np.full(len(known), constant), alpha=level)

    def share(level):
        return loss(np.percentile(known, 100 * level), level) / min(loss(value, level) for value in known)

    assert score == pytest.approx(1 - np.mean([share(0.2), share(0.8)]))


def test_kernel_ridge_is_centred():
    model = tuned_kernel_ridge(3).set_params(param_grid={"regressor__alpha": [1e-3]}).fit(P, Y[:, 0] + 100)
    assert_allclose(model.predict(P).mean(), 100 + Y[:, 0].mean(), atol=0.5)
