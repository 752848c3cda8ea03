"""Sets of candidates and balls."""

from itertools import permutations, product

import numpy as np
import pytest
from helpers.conformal_objects import (
    FOLDS,
    LEVEL,
    WORDS,
    N,
    conformal,
    inputs,
    label_sets,
    predictor,
    rankings,
    refits,
    score_by_hand,
    words,
)
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import ConformalPredictor, OperatorKernelRegressor, StructuredPredictor, output_losses
from hilbertlearn.conformal import Balls


def test_p_values_are_shares_of_samples_that_fit_no_better():
    X, y = words(N, 0)
    model = conformal("split", predictor(output_loss="edit")).fit(X, y)
    queries = inputs(5, 1)
    found = model.predict_set(queries, candidates=WORDS)
    ((fitted, _, test),) = refits(X, y, FOLDS[:1], predictor(output_loss="edit"))
    R = [score_by_hand("gap", -g, WORDS.index(y[i])) for i, g in zip(test, fitted.predict_scores(X[test], WORDS))]
    for g, own, values in zip(-fitted.predict_scores(queries, WORDS), found.indices, found.p_values):
        expected = [(1 + sum(r >= score_by_hand("gap", g, j) - 1e-9 for r in R)) / (len(R) + 1) for j in own]
        assert_allclose(values, expected)
        assert_array_equal(own, sorted(own, key=lambda j: g[j]))  # best first


def test_the_best_candidate_is_in_unless_sets_may_be_empty():
    X, y = words(N, 0)
    model = conformal("cv+", predictor(output_loss="edit"), score="objective", level=0.2).fit(X, y)
    queries = inputs(40, 1)
    some, whole = model.predict_set(queries, allow_empty=True), model.predict_set(queries)
    assert (some.sizes == 0).any() and (whole.sizes >= 1).all()
    best = model.estimator_.predict_topk(queries, 1, candidates=sorted(set(y)))[0]
    assert all(own[0] == top[0] for own, top in zip(whole, best))


@pytest.mark.parametrize("method", ["split", "cv+"])
@pytest.mark.parametrize(
    ("make", "loss"), [(rankings, "kendall"), (rankings, "spearman"), (label_sets, "jaccard"), (label_sets, "f1")]
)
def test_balls_by_definition(method, make, loss):
    X, y = make(N, 0)
    queries = inputs(6, 1)
    every = np.array(list(permutations(range(1, 5)) if make is rankings else product((0, 1), repeat=4)))
    model = conformal(method, predictor(output_loss=loss, decoder=_Closest(every)))
    found = model.fit(X, y).predict_set(queries)
    assert isinstance(found, Balls) and len(found) == 6
    delta = output_losses.as_output_loss(loss)

    def losses(Z, W):
        return delta(delta.check(Z), delta.check(W))

    parts = refits(X, y, FOLDS if method == "cv+" else FOLDS[:1], model.estimator)
    R = np.concatenate([np.diag(losses(fitted.predict(X[test]), y[test])) for fitted, _, test in parts])
    k = int(np.ceil(LEVEL * (len(R) + 1)))
    around = losses(found.center, every)
    members = np.array([found.contains(np.tile(z, (6, 1))) for z in every])
    for q in range(6):
        by_sample = [losses(f.predict(queries[[q]]), every)[0] for f, _, test in parts for _ in test]
        smaller = (R[:, None] < np.array(by_sample) - 1e-9).sum(axis=0)
        inside = members[:, q]
        assert_array_equal(inside, smaller < k)
        near = around[q] <= found.radius[q] + 1e-9
        assert not (inside & ~near).any()  # the ball holds the set
        if method == "split":
            assert_array_equal(inside, near)
        assert near.sum() == found.sizes[q]


class _Closest:
    """A decoder of one's own, which cannot be listed: the output of the smallest weighted loss."""

    def __init__(self, every):
        self.every = every

    def decode(self, weights, outputs, loss):
        losses = loss(loss.check(self.every), loss.check(np.asarray(outputs)))
        return self.every[np.argmin(weights @ losses.T, axis=1)]


def test_many_items_have_balls():
    X, y = rankings(N, 0, items=8)
    found = conformal("cv+", predictor(output_loss="kendall"), score="loss").fit(X, y).predict_set(X)
    assert isinstance(found, Balls) and found.contains(y).mean() > 0.7
    assert (found.sizes >= 1).all() and (found.sizes <= 40320).all()
    X, y = label_sets(N, 0, labels=14)
    found = conformal("split", predictor(output_loss="f1")).fit(X, y).predict_set(X)
    assert isinstance(found, Balls) and found.sizes.max() <= 2**14
    weighed = conformal("split", predictor(output_loss="f1")).fit(X, y, np.ones(N))
    assert_allclose(weighed.predict_set(X, sample_weight=np.ones(N)).radius, found.radius)
    listed = conformal("split", score="rank").fit(X, y)
    assert_refused(lambda: listed.predict_set(X), ["candidates", "threshold", "loss"])
    assert listed.predict_set(X, candidates=np.unique(y, axis=0)).contains(y).mean() > 0.7


def test_losses_without_a_metric_have_sets_without_a_radius():
    X, y = inputs(N, 0), np.abs(inputs(N, 0)) + 0.1
    histograms = y / y.sum(axis=1, keepdims=True)
    model = conformal("cv+", predictor(output_loss="hellinger")).fit(X, histograms)
    found = model.predict_set(X)
    assert found.contains(histograms).mean() > 0.7
    assert np.isnan(found.radius).all() and np.isnan(found.sizes).all()
    split = conformal("split", predictor(output_loss="hellinger")).fit(X, histograms).predict_set(X)
    assert np.isfinite(split.radius).all()


def test_sets_and_bands_say_in_a_line_what_they_are():
    X = np.linspace(0, 1, 60)[:, None]
    words = ["low" if x < 0.5 else "high" for x in X[:, 0]]
    model = ConformalPredictor(StructuredPredictor("rbf", gamma=10.0, alpha=1e-3)).fit(X, words)
    assert repr(model.predict_set(X[[3, 50]])) == "CandidateSets(2 queries, sizes 1 to 1, median 1)"
    model = ConformalPredictor(OperatorKernelRegressor("rbf", gamma=10.0, alpha=1e-3)).fit(X, np.hstack([X, 2 * X]))
    region = model.predict_region(X[:1])
    assert repr(region) == f"Box(1 query, mean width {np.mean(region.upper - region.lower):.3g})"
