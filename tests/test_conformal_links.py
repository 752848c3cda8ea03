"""Links: probabilities calibrated on pairs held out, and sets of partners, by definition and on synthetic graphs."""

import pickle

import networkx as nx
import numpy as np
import pytest
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression

from hilbertlearn import ConformalPredictor, LinkPredictor
from hilbertlearn.conformal.link_calibration import ProbabilityCurve
from hilbertlearn.graphs import Pairs
from hilbertlearn.model_selection import EdgeSplit

LEVEL = 0.8
MODEL = LinkPredictor(gamma=10.0, alpha=0.01, similarities=("adamic_adar", "attributes"))


def graph(n, seed):
    """Features (n, 2) and links, the likelier the nearer nodes are."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    A = np.triu(rng.random((n, n)) < expit((0.25 - distances) / 0.06), 1)
    return X, (A | A.T).astype(float)


def conformal(method="cv+", **settings):
    return ConformalPredictor(MODEL, method, **{"level": LEVEL, "random_state": 0, **settings})


X, A = graph(40, 0)
PAIRS = Pairs(A, X)
TRAIN, TEST = next(EdgeSplit(4, random_state=1).split(PAIRS))
KNOWN, HIDDEN = PAIRS[TRAIN], PAIRS[TEST]
FOLDS = list(EdgeSplit(3, random_state=2).split(KNOWN))


def held_out(splits):
    """Models without some pairs, and (model, score, linked) of each of these."""
    models = [clone(MODEL).fit(KNOWN[train], KNOWN.linked[train]) for train, _ in splits]
    found = []
    for k, (model, (_, test)) in enumerate(zip(models, splits, strict=True)):
        scores = model.decision_function(KNOWN[test])
        found += [(k, score, linked) for score, linked in zip(scores, KNOWN.linked[test], strict=True)]
    return models, found


# ---------------------------------------------------------------- by definition


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
    scores, linked, weights = model.estimator_.state_.example_scores("mixed")
    found, values = model.predict_set(new), model.estimator_.decision_function(new)
    links = np.sort(scores[linked > 0])
    known = model.estimator_.nodes_[model.estimator_.known_]
    for i in range(6):
        better = (links[:, None] > values[i] + 1e-9).sum(axis=0)
        assert set(found[i].tolist()) == set(known[better < LEVEL * (len(links) + 1) - 1e-9].tolist())
    steps = IsotonicRegression(out_of_bounds="clip").fit(scores, linked, weights)
    expected = steps.predict(values.ravel()).reshape(values.shape)
    assert_allclose(model.predict_probability(new, "isotonic"), expected)


def test_forms_of_graphs():
    adjacency = A.copy()
    adjacency[HIDDEN.first, HIDDEN.second] = adjacency[HIDDEN.second, HIDDEN.first] = np.nan
    first = conformal().fit(KNOWN).predict_probability(HIDDEN)
    assert_allclose(conformal().fit(X, adjacency).predict_probability(HIDDEN), first)
    assert_allclose(conformal().fit(KNOWN, KNOWN.linked).predict_probability(HIDDEN), first)
    nodes = nx.from_numpy_array(A)
    plain = ConformalPredictor(LinkPredictor(), level=LEVEL, cv=3).fit(nodes, None)
    found = plain.predict_set()  # nothing is hidden: pairs without a link
    assert not any(nodes.has_edge(u, v) for u, own in zip(found.nodes.tolist(), found) for v in own.tolist())
    assert ((plain.predict_probability([(0, 1), (2, 5)]) >= 0) & (plain.predict_probability([(0, 1)]) <= 1)).all()
    again = pickle.loads(pickle.dumps(plain))
    assert_array_equal(again.predict_set().sizes, found.sizes)
    assert conformal().fit(KNOWN).predict(HIDDEN).shape == (len(HIDDEN),)


# ---------------------------------------------------------------- calibration and coverage


def draws(method, repetitions, n=45):
    """Links, raw and calibrated probabilities, and whether hidden links were covered, of several graphs."""
    linked, raw, found, covered = [], [], [], []
    for seed in range(repetitions):
        features, adjacency = graph(n, 100 + seed)
        pairs = Pairs(adjacency, features)
        train, test = next(EdgeSplit(5, random_state=seed).split(pairs))
        model = ConformalPredictor(MODEL, method, cv=3 if method == "cv+" else None, random_state=seed)
        model.fit(pairs[train])
        hidden = pairs[test]
        linked.append(hidden.linked)
        raw.append(expit(model.estimator_.decision_function(hidden)))
        found.append(model.predict_probability(hidden))
        covered.append(model.predict_set().contains(hidden[np.flatnonzero(hidden.linked)]))
    return tuple(map(np.concatenate, (linked, raw, found, covered)))


def calibration_error(linked, probabilities, bins=8):
    """Mean distance of shares of links and mean probabilities in bins of as many pairs."""
    parts = np.array_split(np.argsort(probabilities), bins)
    return np.mean([abs(linked[part].mean() - probabilities[part].mean()) for part in parts])


@pytest.mark.parametrize("method", ["split", "cv+"])
def test_calibration_and_coverage_of_some_graphs(method):
    linked, raw, found, covered = draws(method, 8)
    assert np.mean((found - linked) ** 2) <= 1.02 * np.mean((raw - linked) ** 2)
    assert calibration_error(linked, found) < 0.03
    assert covered.mean() >= 0.87


@pytest.mark.slow
@pytest.mark.parametrize("method", ["split", "cv+"])
def test_calibration_and_coverage_of_many_graphs(method):
    linked, raw, found, covered = draws(method, 100)
    assert np.mean((found - linked) ** 2) <= 1.005 * np.mean((raw - linked) ** 2)
    assert calibration_error(linked, found) < 0.015
    assert covered.mean() >= 0.89


def test_links_of_new_nodes_are_covered():
    covered, linked, found = [], [], []
    for seed in range(6):
        features, adjacency = graph(90, 300 + seed)
        model = ConformalPredictor(MODEL, "split", random_state=0).fit(features[:60], adjacency[:60, :60])
        truth = adjacency[60:, :60]
        covered.append(model.predict_set(features[60:]).contains(list(zip(*np.nonzero(truth), strict=True))))
        linked.append(truth.ravel())
        found.append(model.predict_probability(features[60:]).ravel())
    assert np.concatenate(covered).mean() >= 0.86
    assert calibration_error(np.concatenate(linked), np.concatenate(found)) < 0.03


# ---------------------------------------------------------------- bad input


def test_bad_input():
    model = conformal().fit(KNOWN)
    assert_refused(lambda: conformal("jackknife+").fit(KNOWN), ["jackknife+", "cv+"])
    assert_refused(lambda: conformal(level=0.999).fit(KNOWN), ["999 links", "lower level"])
    assert_refused(lambda: conformal("split", calibration=0.02).fit(KNOWN), ["links", "calibration"])
    lonely = np.zeros((12, 12))
    lonely[0, 1] = lonely[1, 0] = 1
    assert_refused(lambda: conformal("split").fit(X[:12], lonely), ["links"])
    assert_refused(lambda: conformal().fit(X, None), ["y", "graph"])
    assert_refused(lambda: conformal().fit(KNOWN, [1, 0]), ["y", "pairs"])
    assert_refused(lambda: conformal().fit(KNOWN, sample_weight=np.ones(len(KNOWN))), ["sample_weight", "links"])
    overlapping = [(np.arange(50, len(KNOWN)), np.arange(50)), (np.arange(50, len(KNOWN)), np.arange(40))]
    assert_refused(lambda: conformal(cv=overlapping).fit(KNOWN), ["cv", "disjoint"])
    assert_refused(lambda: model.predict_set(candidates=[1]), ["candidates", "links"])
    assert_refused(lambda: model.predict_interval(X), ["LinkPredictor", "predict_set"], AttributeError)
    assert_refused(lambda: model.predict_probability(HIDDEN, "sigmoid"), ["method", "platt"])
    assert_refused(lambda: model.predict_probability([(0, 99)]), ["99"])
    without = ConformalPredictor(LinkPredictor(), level=LEVEL, cv=3).fit(Pairs(A)[TRAIN])
    assert_refused(lambda: without.predict_set(X[:2]), ["features"])
    assert_refused(lambda: ProbabilityCurve.from_scores(np.arange(3.0), np.zeros(3), None, "platt"), ["no links"])
