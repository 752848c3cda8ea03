"""Sets of candidates against their definition."""

from itertools import permutations, product

import numpy as np
import pytest
from helpers.conformal_objects import (
    FOLDS,
    LEVEL,
    SCORES,
    WORDS,
    N,
    conformal,
    inputs,
    label_sets,
    members_by_definition,
    numbers_of_classes,
    predictor,
    rankings,
    refits,
    score_by_hand,
    words,
)
from numpy.testing import assert_array_equal

from hilbertlearn import output_losses
from hilbertlearn.conformal import CandidateSets, candidate_calibration, finite_spaces


@pytest.mark.parametrize("method", ["split", "cv+"])
@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("settings", [{"output_loss": "edit"}, {"output_kernel": "linear"}])
def test_sets_of_shared_candidates_by_definition(method, name, settings):
    if "output_kernel" in settings:
        settings = {"output_kernel": np.exp(-np.abs(np.subtract.outer(range(6), range(6))) / 2)}
        (X, y), pool = numbers_of_classes(N, 0), list(range(6))
        y = y.tolist()
    else:
        (X, y), pool = words(N, 0), WORDS
    queries = inputs(12, 1)
    model = conformal(method, predictor(**settings), score=name).fit(X, y)
    found = model.predict_set(queries, candidates=pool, allow_empty=True)
    models = refits(X, y, FOLDS if method == "cv+" else FOLDS[:1], predictor(**settings))
    expected = members_by_definition(models, X, y, queries, pool, name)
    assert [set(own.tolist()) for own in found.indices] == expected
    assert_array_equal(found.sizes, [len(own) for own in expected])
    assert 1 < np.mean(found.sizes) < len(pool)
    for j, z in enumerate(pool):
        assert_array_equal(found.contains([z] * len(queries)), [j in own for own in expected])


def test_weighted_sets_by_definition():
    X, y = words(N, 0)
    rng = np.random.default_rng(5)
    w, own = rng.uniform(0.5, 2, size=N), rng.uniform(0.5, 2, size=8)
    model = conformal("cv+", predictor(output_loss="edit")).fit(X, y, sample_weight=w)
    queries = inputs(8, 1)
    found = model.predict_set(queries, candidates=WORDS, sample_weight=own, allow_empty=True)
    smaller, held = np.zeros((8, len(WORDS))), []
    for train, test in FOLDS:
        fitted = predictor(output_loss="edit").fit(X[train], [y[i] for i in train], w[train])
        g = -fitted.predict_scores(queries, WORDS)
        for i, values in zip(test, -fitted.predict_scores(X[test], WORDS), strict=True):
            R = score_by_hand("gap", values, WORDS.index(y[i]))
            smaller += w[i] * np.array([[score_by_hand("gap", row, j) - 1e-9 > R for j in range(6)] for row in g])
            held.append(i)
    inside = smaller < LEVEL * (w.sum() + own[:, None])
    assert sorted(held) == list(range(N))
    assert [sorted(a) for a in found.indices] == [np.flatnonzero(row).tolist() for row in inside]


def test_outputs_that_are_no_candidates_are_scored_as_one_more():
    X, y = words(N, 0)
    pool = ["aa", "bbb", "ba"]
    model = conformal("split", predictor(output_loss="edit"), score="rank").fit(X, y)
    queries = inputs(6, 1)
    found = model.predict_set(queries, candidates=pool, allow_empty=True)
    ((fitted, _, test),) = refits(X, y, FOLDS[:1], predictor(output_loss="edit"))
    R = []
    for i in test:
        own = pool if y[i] in pool else [*pool, y[i]]
        R.append(score_by_hand("rank", -fitted.predict_scores(X[[i]], own)[0], own.index(y[i])))
    bound = np.sort(R)[int(np.ceil(LEVEL * (len(R) + 1))) - 1]
    for g, members in zip(-fitted.predict_scores(queries, pool), found.indices):
        assert set(members) == {j for j in range(3) if score_by_hand("rank", g, j) <= bound}
    assert not found.contains(["abb"] * 6).any()


@pytest.mark.parametrize("method", ["split", "cv+", "jackknife+"])
def test_equal_lists_are_shared_candidates(method):
    X, y = words(N, 0)
    queries = inputs(7, 1)
    shared = conformal(method, predictor(output_loss="edit")).fit(X, y).predict_set(queries, candidates=WORDS)
    model = conformal(method, predictor(output_loss="edit")).fit(X, y, candidates_per_query=[WORDS] * N)
    own = model.predict_set(queries, candidates_per_query=[WORDS] * 7)
    assert list(own) == list(shared)
    assert list(model.predict_set(queries, candidates=WORDS)) == list(shared)  # calibrated on what is asked for


def test_lists_by_definition():
    X, y = words(N, 0)
    rng = np.random.default_rng(3)
    lists = [list(dict.fromkeys([*rng.permutation(WORDS)[: rng.integers(1, 5)].tolist(), word])) for word in y]
    queries, asked = inputs(7, 1), [rng.permutation(WORDS)[:4].tolist() for _ in range(7)]
    model = conformal("split", predictor(output_loss="edit")).fit(X, y, candidates_per_query=lists)
    found = model.predict_set(queries, candidates_per_query=asked, allow_empty=True)
    ((fitted, _, test),) = refits(X, y, FOLDS[:1], predictor(output_loss="edit"))
    R = [score_by_hand("gap", -fitted.predict_scores(X[[i]], lists[i])[0], lists[i].index(y[i])) for i in test]
    bound = np.sort(R)[int(np.ceil(LEVEL * (len(R) + 1))) - 1]
    for query, own, members in zip(queries, asked, found):
        g = -fitted.predict_scores(query[None], own)[0]
        assert set(members) == {own[j] for j in range(4) if score_by_hand("gap", g, j) <= bound + 1e-12}


def test_a_score_without_comparisons_needs_no_lists_in_fit():
    X, y = words(N, 0)
    for score in ("objective", "loss"):
        model = conformal("cv+", predictor(output_loss="edit"), score=score).fit(X, y)
        shared = model.predict_set(X[:5], candidates=WORDS)
        assert list(model.predict_set(X[:5], candidates_per_query=[WORDS] * 5)) == list(shared)


@pytest.mark.parametrize(
    ("make", "loss", "pool"),
    [
        (rankings, "kendall", list(permutations(range(1, 5)))),
        (rankings, "spearman", list(permutations(range(1, 5)))),
        (label_sets, "hamming", list(product((0, 1), repeat=4))),
        (label_sets, "f1", list(product((0, 1), repeat=4))),
    ],
)
def test_small_output_spaces_are_listed(make, loss, pool):
    X, y = make(N, 0)
    queries, true = make(10, 1)
    model = conformal("cv+", predictor(output_loss=loss)).fit(X, y)
    found = model.predict_set(queries)
    given = model.predict_set(queries, candidates=np.array(pool))
    assert [set(map(tuple, own)) for own in found] == [set(map(tuple, own)) for own in given]
    assert_array_equal(found.contains(true), [tuple(t) in set(map(tuple, own)) for t, own in zip(true, found)])
    assert found[0].dtype.kind == "i"


def test_rankings_are_known_by_their_order():
    X, y = rankings(N, 0)
    model, other = (
        conformal("cv+", predictor(output_loss="kendall")),
        conformal("cv+", predictor(output_loss="kendall")),
    )
    ratings = y * 1.5 + 0.25
    found, same = model.fit(X, y).predict_set(X), other.fit(X, ratings).predict_set(X)
    assert_array_equal(found.contains(y), same.contains(ratings))
    assert_array_equal(found.sizes, same.sizes)


def test_classes_and_sets_of_labels_with_rare_ones():
    X, y = label_sets(N, 0)
    names = np.array(["w", "x", "y", "z"])
    sets = [set(names[row > 0].tolist()) for row in y]
    sets[3] = {"rare"}  # in one sample only, that some models do not see
    found = conformal("cv+").fit(X, sets).predict_set(X[:6])
    assert isinstance(found, CandidateSets) and isinstance(found[0][0], set)
    assert found.contains([{"w"}] * 6).shape == (6,)
    assert not found.contains([{"never seen"}] * 6).any()
    X, y = numbers_of_classes(N, 0)
    found = conformal("split").fit(X, y).predict_set(X[:6])
    assert set(np.concatenate(list(found))) <= set(y)
    costs = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    found = conformal("jackknife+", predictor(output_loss=output_losses.CostMatrix(costs))).fit(X, y).predict_set(X)
    assert found.contains(y).mean() > 0.7


@pytest.mark.parametrize("method", ["split", "cv+"])
@pytest.mark.parametrize(("make", "loss"), [(rankings, "kendall"), (label_sets, "hamming")])
def test_sets_of_all_outputs_that_are_too_many_by_definition(method, make, loss, monkeypatch):
    monkeypatch.setattr(finite_spaces, "_ITEMS", 3)  # so that all outputs are too many
    monkeypatch.setattr(finite_spaces, "_LABELS", 3)
    X, y = make(N, 0)
    queries = inputs(6, 1)
    every = np.array(list(permutations(range(1, 5)) if make is rankings else product((0, 1), repeat=4)))
    model = conformal(method, predictor(output_loss=loss)).fit(X, y)
    found = model.predict_set(queries, allow_empty=True)
    parts = refits(X, y, FOLDS if method == "cv+" else FOLDS[:1], predictor(output_loss=loss))

    def gaps(fitted, X, outputs):
        values, own = -fitted.predict_scores(X, outputs), -fitted.predict_scores(X, fitted.predict(X))
        return values - np.diag(own)[:, None]

    R = np.concatenate([np.diag(gaps(fitted, X[test], y[test])) for fitted, _, test in parts])
    by_sample = np.array([gaps(fitted, queries, every) for fitted, _, test in parts for _ in test])
    inside = (R[:, None, None] < by_sample - 1e-9).sum(axis=0) < int(np.ceil(LEVEL * (len(R) + 1)))
    for own, row in zip(found, inside):
        assert {tuple(z) for z in own} == {tuple(z) for z in every[row]}
    assert_array_equal(found.sizes, inside.sum(axis=1))
    for z, row in zip(every, inside.T):
        assert_array_equal(found.contains(np.tile(z, (6, 1))), row)
    some = model.predict_set(queries, candidates=every[::3], allow_empty=True)
    assert_array_equal(some.sizes, inside[:, ::3].sum(axis=1))
    monkeypatch.setattr(candidate_calibration, "LARGEST_SET", 3)
    short = model.predict_set(queries, allow_empty=True)
    assert [own is None for own in short] == (short.sizes == np.inf).tolist() and np.isinf(short.sizes).any()
    assert_array_equal(short.contains(y[:6]), found.contains(y[:6]))
