"""Probabilities and sets of partners against their definitions."""

import numpy as np
import pytest
from helpers.conformal_links import HIDDEN, KNOWN, LEVEL, MODEL, PAIRS, conformal, graph
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression

from hilbertlearn.conformal.link_calibration import ProbabilityCurve
from hilbertlearn.model_selection import EdgeSplit

FOLDS = list(EdgeSplit(3, random_state=2).split(KNOWN))


def held_out(splits):
    """Models without some pairs, and (model, score, linked) of each of these."""
    models = [clone(MODEL).fit(KNOWN[train], KNOWN.linked[train]) for train, _ in splits]
    found = []
    for k, (model, (_, test)) in enumerate(zip(models, splits, strict=True)):
        scores = model.decision_function(KNOWN[test])
        found += [(k, score, linked) for score, linked in zip(scores, KNOWN.linked[test], strict=True)]
    return models, found


@pytest.mark.parametrize("method", ["split", "cv+"])
def test_sets_of_partners_by_definition(method):
    splits = FOLDS if method == "cv+" else FOLDS[:1]
    model = conformal(method, cv=splits).fit(KNOWN)
    found = model.predict_set()
    models, held = held_out(splits)
    links = [(k, score) for k, score, linked in held if linked]
    assert model.n_calibration_ == len(links)
    scores = [other.decision_function(HIDDEN) for other in models]
    expected = {node: set() for node in PAIRS.nodes.tolist()}
    for j, (u, v) in enumerate(HIDDEN.names.tolist()):
        better = sum(score > scores[k][j] + 1e-9 for k, score in links)
        if better < LEVEL * (len(links) + 1) - 1e-9:
            expected[u].add(v)
            expected[v].add(u)
    assert {node: set(own.tolist()) for node, own in zip(found.nodes.tolist(), found, strict=True)} == expected
    assert_array_equal(found.sizes, [len(expected[node]) for node in found.nodes.tolist()])
    assert_array_equal(found.contains(HIDDEN), [v in expected[u] for u, v in HIDDEN.names.tolist()])
    assert not found.contains([(0, "nobody"), (1000, 1)]).any()
    assert all((np.diff(values) <= 1e-12).all() for values in found.p_values) or method == "cv+"


def test_probabilities_by_definition():
    model = conformal("cv+", cv=FOLDS).fit(KNOWN)
    models, held = held_out(FOLDS)
    _, scores, linked = map(np.array, zip(*held, strict=True))
    steps = IsotonicRegression(out_of_bounds="clip").fit(scores, linked)
    by_model = [steps.predict(other.decision_function(HIDDEN)) for other in models]
    assert_allclose(model.predict_probability(HIDDEN, "isotonic"), np.mean(by_model, axis=0))
    assert_allclose(model.predict_probability(HIDDEN, "auto"), model.predict_probability(HIDDEN, "platt"))
    names = list(map(tuple, HIDDEN.names.tolist()))
    assert_allclose(model.predict_probability(names), model.predict_probability(HIDDEN))


def test_platt_is_the_likeliest_logistic_function():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=200)
    linked = (rng.random(200) < expit(2 * scores - 1)).astype(float)
    weights = rng.uniform(0.5, 2, size=200)
    curve = ProbabilityCurve.from_scores(scores, linked, weights, "platt")
    links, others = weights @ linked, weights @ (1 - linked)
    target = np.where(linked > 0, (links + 1) / (links + 2), 1 / (others + 2))
    residuals = weights * (curve(scores) - target)  # the gradient is zero
    assert abs(residuals.sum()) < 1e-2 and abs(residuals @ scores) < 1e-2
    apart = ProbabilityCurve.from_scores(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 0, 1, 1]), None, "platt")
    assert np.isfinite(apart.slope) and 0 < apart(np.array([10.0]))[0] <= 1


def test_new_nodes_by_definition():
    model = conformal("split").fit(KNOWN)
    new, _ = graph(6, 7)
    scores, linked, weights = model.estimator_.link_state_.example_scores("mixed")
    found, values = model.predict_set(new), model.estimator_.decision_function(new)
    links = np.sort(scores[linked > 0])
    known = model.estimator_.nodes_[model.estimator_.known_]
    for i in range(6):
        better = (links[:, None] > values[i] + 1e-9).sum(axis=0)
        assert set(found[i].tolist()) == set(known[better < LEVEL * (len(links) + 1) - 1e-9].tolist())
    steps = IsotonicRegression(out_of_bounds="clip").fit(scores, linked, weights)
    expected = steps.predict(values.ravel()).reshape(values.shape)
    assert_allclose(model.predict_probability(new, "isotonic"), expected)
