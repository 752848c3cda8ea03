"""Conformal sets of links: forms of graphs, calibration on synthetic graphs, bad input."""

import pickle

import networkx as nx
import numpy as np
import pytest
from helpers.conformal_links import HIDDEN, KNOWN, LEVEL, MODEL, TRAIN, A, X, conformal, graph
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from hilbertlearn import ConformalPredictor, LinkPredictor
from hilbertlearn.conformal.link_calibration import ProbabilityCurve
from hilbertlearn.graphs import Pairs
from hilbertlearn.model_selection import EdgeSplit


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
