"""Sets of candidates and balls of a loss: by their definition with refits and loops, counted, and their coverage."""

import pickle
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import (
    ConformalPredictor,
    LinkPredictor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    output_losses,
)
from hilbertlearn.conformal import (
    Balls,
    CandidateSets,
    candidate_calibration,
    candidate_scores,
    finite_spaces,
    sets_of_scores,
)
from hilbertlearn.conformal.additive_costs import WeightedLoss
from hilbertlearn.conformal.finite_spaces import ball_sizes, mahonian

N, LEVEL, ALPHA, GAMMA = 30, 0.8, 0.02, 0.7
DIRECTIONS = np.array([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0], [1.0, 1.0]])
SCORES = ["gap", "objective", "rank", "likelihood", "cumulative"]
WORDS = ["aa", "ab", "abb", "bbb", "ba", "bbab"]
FOLDS = [(train, test) for train, test in KFold(3, shuffle=True, random_state=0).split(np.arange(N))]


def inputs(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 2))


def numbers_of_classes(n, seed):
    X, rng = inputs(n, seed), np.random.default_rng(seed + 100)
    return X, np.digitize(X[:, 0] + 0.5 * rng.normal(size=n), [-1.0, -0.4, 0.3, 0.9])


def words(n, seed):
    X, numbers = numbers_of_classes(n, seed)
    return X, [WORDS[i] for i in numbers]


def rankings(n, seed, items=4):
    X, rng = inputs(n, seed), np.random.default_rng(seed + 200)
    W = np.vstack([DIRECTIONS, DIRECTIONS[:, ::-1] * 0.7])[:items]
    return X, (X @ W.T + 0.7 * rng.normal(size=(n, items))).argsort(axis=1).argsort(axis=1) + 1


def label_sets(n, seed, labels=4):
    X, rng = inputs(n, seed), np.random.default_rng(seed + 300)
    W = np.vstack([DIRECTIONS] * 4)[:labels]
    return X, (X @ W.T + 0.7 * rng.normal(size=(n, labels)) > 0.5).astype(int)


def predictor(**settings):
    return StructuredPredictor("rbf", **{"gamma": GAMMA, "alpha": ALPHA, **settings})


def conformal(method="cv+", estimator=None, **settings):
    cv = {"cv+": FOLDS, "split": FOLDS[:1]}.get(method)
    return ConformalPredictor(
        predictor() if estimator is None else estimator, method, **{"level": LEVEL, "cv": cv, **settings}
    )


def score_by_hand(name, g, j):
    """The score of candidate j from objectives g (c,), one formula each."""
    gap = g - g.min()
    mass = np.exp(-gap / (0.2 * gap.mean()))
    mass /= mass.sum()
    as_good = g <= g[j] + 1e-12
    return {
        "gap": gap[j],
        "objective": g[j],
        "rank": as_good.sum(),
        "likelihood": -np.log(mass[j]),
        "cumulative": mass[as_good].sum(),
    }[name]


def refits(X, y, splits, estimator):
    """Triples (fitted, train, test) of models without the test part."""
    take = (lambda rows: [y[i] for i in rows]) if isinstance(y, list) else (lambda rows: y[rows])
    return [(clone(estimator).fit(X[train], take(train)), train, test) for train, test in splits]


def members_by_definition(models, X, y, queries, pool, name, level=LEVEL):
    """Positions of the candidates in each set, by loops over samples, queries and candidates."""
    held, by_model = [], []
    for k, (model, _, test) in enumerate(models):
        for i, g in zip(test, -model.predict_scores(X[test], candidates=pool), strict=True):
            held.append((k, score_by_hand(name, g, pool.index(y[i]))))
        by_model.append(-model.predict_scores(queries, candidates=pool))
    out = []
    for q in range(len(queries)):
        inside = set()
        for j in range(len(pool)):
            smaller = sum(score_by_hand(name, by_model[k][q], j) - 1e-9 > R for k, R in held)
            if smaller < level * (len(held) + 1) - 1e-9:
                inside.add(j)
        out.append(inside)
    return out


# ---------------------------------------------------------------- by definition


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


@pytest.mark.parametrize("settings", [{"output_loss": "edit"}, {"output_loss": "zero_one"}, {"output_kernel": None}])
@pytest.mark.parametrize("many", [False, True])
def test_jackknife_plus_in_closed_form_equals_refits(settings, many):
    X, y = words(20, 0)
    pool = list(WORDS)
    if many:  # so many outputs that weights are solved for at predict
        y = [f"{word}{i}" for i, word in enumerate(y)]
        pool = y
    if "output_kernel" in settings:
        settings = {"output_kernel": lambda Z, Y: np.array([[0.5 ** abs(len(z) - len(w)) for w in Y] for z in Z])}
    model = conformal("jackknife+", predictor(**settings)).fit(X, y)
    assert model.closed_form_ and model.method_ == "jackknife+"
    queries = inputs(9, 1)
    found = model.predict_set(queries, candidates=pool, allow_empty=True)
    each = [(np.delete(np.arange(20), i), [i]) for i in range(20)]
    models = refits(X, y, each, predictor(**{**settings, "alpha": ALPHA * 20 / 19}))  # alpha n is held fixed
    expected = members_by_definition(models, X, y, queries, pool, "gap")
    assert [set(own.tolist()) for own in found.indices] == expected


def test_auto_is_the_closed_form_where_there_is_one():
    X, y = words(20, 0)
    assert conformal("auto", predictor(output_loss="edit")).fit(X, y).method_ == "jackknife+"
    assert conformal("auto", predictor(output_kernel="ngrams"), cv=2).fit(X, y).method_ == "cv+"
    robust = conformal("auto", predictor(output_loss="edit", output_kernel="ngrams")).fit(X, y)
    assert (robust.method_, robust.closed_form_) == ("cv+", False)


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


# ---------------------------------------------------------------- candidates of each query


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


@pytest.mark.parametrize("name", SCORES)
def test_order_and_repetitions_change_nothing(name):
    X, y = words(N, 0)
    model = conformal("cv+", predictor(output_loss="edit"), score=name).fit(X, y)
    once = model.predict_set(X, candidates=WORDS)
    again = model.predict_set(X, candidates=[*reversed(WORDS), *WORDS, "aa"])
    assert [sorted(own) for own in once] == [sorted(own) for own in again]
    assert all(len(set(own)) == len(own) for own in again)


def test_ties_count_as_a_whole():
    g = np.array([[1.0, 0.5, 0.5 + 1e-17, 2.0, 1.0]])
    assert_array_equal(candidate_scores.ObjectiveRank()(g), [[4, 2, 2, 5, 4]])
    cumulative = candidate_scores.CumulativeMass(penalty=0.1)(g)
    assert cumulative[0, 1] == cumulative[0, 2] and cumulative[0, 0] == cumulative[0, 4]
    assert_allclose(cumulative[0, 3], 1 + 0.1 * 4)
    flat = np.full((2, 3, 4), 7.0)
    assert_array_equal(candidate_scores.Gap(relative=True)(flat), np.zeros(flat.shape))
    assert_allclose(candidate_scores.Likelihood()(flat), np.log(4))


def test_relative_gap():
    g = np.array([1.0, 3.0, 8.0])
    assert_allclose(candidate_scores.Gap(relative=True)(g), [0, 2 / 3, 7 / 3])


def test_the_best_candidate_is_in_unless_sets_may_be_empty():
    X, y = words(N, 0)
    model = conformal("cv+", predictor(output_loss="edit"), score="objective", level=0.2).fit(X, y)
    queries = inputs(40, 1)
    some, whole = model.predict_set(queries, allow_empty=True), model.predict_set(queries)
    assert (some.sizes == 0).any() and (whole.sizes >= 1).all()
    best = model.estimator_.predict_topk(queries, 1, candidates=sorted(set(y)))[0]
    assert all(own[0] == top[0] for own, top in zip(whole, best))


# ---------------------------------------------------------------- forms of outputs


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


def test_unknown_outputs_and_weights_of_zero_are_left_out():
    X, y = words(N, 0)
    gaps = [None if i in (2, 7) else word for i, word in enumerate(y)]
    kept = np.array([i not in (2, 7) for i in range(N)])
    model = conformal("jackknife+", predictor(output_loss="edit"))
    first = model.fit(X, gaps).predict_set(X, candidates=WORDS)
    assert model.n_calibration_ == N - 2
    second = model.fit(X[kept], [y[i] for i in np.flatnonzero(kept)]).predict_set(X, candidates=WORDS)
    third = model.fit(X, y, sample_weight=kept.astype(float)).predict_set(X, candidates=WORDS)
    assert list(first) == list(second) == list(third)


def test_pipelines_searches_and_gram_matrices():
    X, y = words(N, 0)
    K = rbf_kernel(X, gamma=GAMMA)
    plain = conformal("cv+", predictor(output_loss="edit")).fit(X, y).predict_set(X[:5], candidates=WORDS)
    gram = StructuredPredictor("precomputed", alpha=ALPHA, output_loss="edit")
    assert list(conformal("cv+", gram).fit(K, y).predict_set(K[:5], candidates=WORDS)) == list(plain)
    piped = make_pipeline(StandardScaler(), predictor(output_loss="edit"))
    half = conformal("split", gram, score="loss").fit(K, y).predict_set(K[:5], candidates=WORDS)
    same = conformal("split", predictor(output_loss="edit"), score="loss").fit(X, y)
    assert list(half) == list(same.predict_set(X[:5], candidates=WORDS))
    searched = GridSearchCV(predictor(output_loss="edit"), {"alpha": [0.01, 0.1]}, cv=2)
    path = RegularizationPathCV(predictor(output_loss="edit"), alphas=[0.01, 0.1])
    for estimator in (piped, searched, path, make_pipeline(StandardScaler(), path)):
        model = conformal("cv+", estimator).fit(X, y)
        assert model.predict_set(X, candidates=WORDS).contains(y).mean() > 0.7
        assert model.predict(X[:2]) == model.estimator_.predict(X[:2])
    assert conformal("auto", path, cv=None).fit(X, y).closed_form_
    assert not conformal("auto", piped, cv=None).fit(X, y).closed_form_


def test_frames():
    X, y = label_sets(N, 0)
    frame, queries = pd.DataFrame(y, columns=list("wxyz")), inputs(3, 1)
    model = conformal("cv+").fit(X, frame)
    assert list(model.predict(queries).columns) == list("wxyz")
    found = model.predict_set(queries)
    assert_array_equal(found.sizes, conformal("cv+").fit(X, y).predict_set(queries).sizes)
    assert_array_equal(found.contains(frame[:3]), found.contains(y[:3]))


def test_pickles():
    X, y = words(N, 0)
    model = conformal("jackknife+", predictor(output_loss="edit")).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert list(again.predict_set(X)) == list(model.predict_set(X))
    clone(model).fit(X, y)


# ---------------------------------------------------------------- balls


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


@pytest.mark.parametrize("loss", ["kendall", "hamming"])
def test_near_best_against_enumeration(loss):
    rng, delta = np.random.default_rng(0), output_losses.as_output_loss(loss)
    every = np.array(list(permutations(range(1, 6)) if loss == "kendall" else product((0, 1), repeat=5)), dtype=float)
    for _ in range(10):
        references, weights = every[rng.choice(len(every), 7)], rng.normal(size=7) + 0.3
        values = delta(every, references) @ weights
        for bound in np.quantile(values, [0.0, 0.1, 0.5, 1.0]):
            found = WeightedLoss.from_weights(delta, weights, references).outputs_within(bound, 1000)
            assert {tuple(z) for z in found} == {tuple(z) for z in every[values <= bound + 1e-9]}
            assert len(found) == (values <= bound + 1e-9).sum()
        weighted = WeightedLoss.from_weights(delta, weights, references)
        assert_allclose(weighted(every), values, atol=1e-12)
        assert weighted.outputs_within(values.max(), len(every) - 1) is None
        assert len(weighted.outputs_within(values.min() - 1e-3, 10)) == 0


@pytest.mark.parametrize("loss", ["kendall", "spearman", "hamming", "f1", "jaccard"])
def test_sizes_of_balls_against_enumeration(loss):
    delta = output_losses.as_output_loss(loss)
    ranked = loss in ("kendall", "spearman")
    for M in range(1, 6):
        every = np.array(list(permutations(range(1, M + 1)) if ranked else product((0, 1), repeat=M)), dtype=float)
        centers = every[:: max(1, len(every) // 7)]
        losses = delta(centers, every)
        for radius in (0.0, 0.1, 0.25, 0.5, 2 / 3, 0.8, 1.0):
            found = ball_sizes(delta, centers, np.full(len(centers), radius))
            assert_array_equal(found, (losses <= radius + 1e-9).sum(axis=1))
    assert_array_equal(mahonian(5), [1, 4, 9, 15, 20, 22, 20, 15, 9, 4, 1])
    assert np.isnan(ball_sizes(output_losses.Rank(), centers, np.ones(len(centers)))).all()


def test_losses_without_a_metric_have_sets_without_a_radius():
    X, y = inputs(N, 0), np.abs(inputs(N, 0)) + 0.1
    histograms = y / y.sum(axis=1, keepdims=True)
    model = conformal("cv+", predictor(output_loss="hellinger")).fit(X, histograms)
    found = model.predict_set(X)
    assert found.contains(histograms).mean() > 0.7
    assert np.isnan(found.radius).all() and np.isnan(found.sizes).all()
    split = conformal("split", predictor(output_loss="hellinger")).fit(X, histograms).predict_set(X)
    assert np.isfinite(split.radius).all()


# ---------------------------------------------------------------- scores of another model


@pytest.mark.parametrize("name", SCORES)
def test_sets_of_given_scores_are_those_of_split(name):
    X, y = words(N, 0)
    rng = np.random.default_rng(3)
    lists = [list(dict.fromkeys([*rng.permutation(WORDS)[: rng.integers(1, 5)].tolist(), word])) for word in y]
    queries, asked = inputs(7, 1), [rng.permutation(WORDS)[:4].tolist() for _ in range(7)]
    model = conformal("split", predictor(output_loss="edit"), score=name).fit(X, y, candidates_per_query=lists)
    expected = model.predict_set(queries, candidates_per_query=asked)
    own = [model.estimator_.predict_scores(X[[i]], lists[i])[0] for i in FOLDS[0][1]]
    new = [model.estimator_.predict_scores(query[None], pool)[0] for query, pool in zip(queries, asked)]
    places = [lists[i].index(y[i]) for i in FOLDS[0][1]]
    found = sets_of_scores(own, places, new, level=LEVEL, score=name)
    for positions, others, values, chances in zip(found, expected.indices, found.p_values, expected.p_values):
        assert_array_equal(positions, others)
        assert_allclose(values, chances)
    assert_array_equal(found.contains([own[0] for own in found]), True)
    assert_array_equal(found.sizes, expected.sizes)


def test_given_scores_that_are_none():
    values = [np.array([1.0, 2.0])] * 9
    assert_refused(lambda: sets_of_scores(values, [0] * 9, values, level=1.0), ["level"])
    assert_refused(lambda: sets_of_scores(values[:3], [0] * 3, values), ["9 samples", "3"])
    assert_refused(lambda: sets_of_scores(values, [0] * 8 + [2], values), ["true_index[8]", "2"])
    assert_refused(lambda: sets_of_scores(values, [0] * 8, values), ["true_index", "8"])
    assert_refused(lambda: sets_of_scores([*values[:8], [np.nan, 1]], [0] * 9, values), ["held_out[8]", "finite"])
    assert_refused(lambda: sets_of_scores(values, [0] * 9, [[]]), ["scores[0]", "at least one"])
    assert_refused(lambda: sets_of_scores(values, [0] * 9, values, score="loss"), ["loss"])


# ---------------------------------------------------------------- bad input


def test_bad_input():
    X, y = words(N, 0)
    lists = [WORDS] * N
    short = [*lists[:4], [word for word in WORDS if word != y[4]], *lists[5:]]
    loss = predictor(output_loss="edit")
    fit = conformal("cv+", loss).fit
    assert_refused(lambda: fit(X, y, candidates_per_query=short), ["candidates_per_query", "sample 4", "add"])
    assert_refused(lambda: fit(X, y, candidates_per_query=lists[:3]), ["3 lists", "30"])
    assert_refused(lambda: fit(X, y, candidates_per_query=[*lists[:-1], []]), ["candidates", "29", "at least one"])
    assert_refused(lambda: fit(X[:5], y), ["inconsistent", "5", "30"])
    assert_refused(lambda: fit(X, None), ["requires y"])
    assert_refused(lambda: conformal("cv+", loss, score="scale").fit(X, y), ["score", "gap", "candidate_scores"])
    few = conformal("jackknife+", loss, level=0.99)
    assert_refused(lambda: few.fit(X, y), ["99 samples", "0.968"])
    model = fit(X, y)
    assert_refused(lambda: model.predict_set(X, candidates=[]), ["candidates", "at least one"])
    assert_refused(lambda: model.predict_set(X, candidates_per_query=lists), ["fit", "objective"])
    assert_refused(lambda: model.predict_set(X, WORDS, lists), ["exclude"])
    assert_refused(lambda: model.predict_set(), ["X"])
    assert_refused(lambda: model.predict_set(X).contains(y[:3]), ["30", "3"])
    assert_refused(lambda: model.predict_interval(X), ["StructuredPredictor", "predict_set"], AttributeError)
    assert_refused(lambda: model.predict_probability(X), ["StructuredPredictor"], AttributeError)
    own = fit(X, y, candidates_per_query=lists)
    assert_refused(lambda: own.predict_set(X), ["candidates_per_query"])
    assert_refused(lambda: own.predict_set(X, candidates_per_query=lists[:-1]), ["29", "30"])


def test_other_estimators_have_no_sets_of_candidates():
    X, y = numbers_of_classes(N, 0)
    numbers = ConformalPredictor(OperatorKernelRegressor(alpha=0.1), level=LEVEL).fit(X, y.astype(float))
    assert_refused(lambda: numbers.predict_set(X), ["OperatorKernelRegressor", "predict_interval"], AttributeError)
    assert_refused(
        lambda: ConformalPredictor(OperatorKernelRegressor()).fit(X, y, candidates_per_query=[y] * N),
        ["candidates_per_query", "StructuredPredictor"],
    )
    assert_refused(
        lambda: ConformalPredictor(LogisticRegression()).fit(X, y), ["classifier", "StructuredPredictor"], TypeError
    )
    assert_refused(
        lambda: ConformalPredictor(make_pipeline(StandardScaler(), LinkPredictor())).fit(X, y),
        ["LinkPredictor"],
        TypeError,
    )
    assert_refused(lambda: conformal("cv+", score=candidate_scores.Gap).fit(X, y), ["Gap()"], TypeError)


# ---------------------------------------------------------------- coverage

PROBLEMS = {
    "classes": (numbers_of_classes, None),
    "words": (words, "edit"),
    "rankings": (rankings, "kendall"),
    "label sets": (label_sets, "hamming"),
    "many items": (lambda n, seed: rankings(n, seed, items=8), "kendall"),
}


def coverage(problem, method, repetitions, n_test=50):
    make, loss = PROBLEMS[problem]
    estimator = StructuredPredictor("rbf", gamma="median", alpha=0.01, output_loss=loss)
    covered = []
    for seed in range(repetitions):
        X, y = make(100, 1000 + seed)
        queries, true = make(n_test, 5000 + seed)
        model = ConformalPredictor(estimator, method, cv=4 if method == "cv+" else None, random_state=seed).fit(X, y)
        covered.append(model.predict_set(queries).contains(true).mean())
    return np.mean(covered)


@pytest.mark.parametrize("method", ["split", "cv+"])
@pytest.mark.parametrize("problem", ["words", "rankings"])
def test_coverage_of_some_draws(problem, method):
    assert coverage(problem, method, 16) >= 0.86  # standard error 0.01


@pytest.mark.slow
@pytest.mark.parametrize("method", ["split", "cv+", "jackknife+"])
@pytest.mark.parametrize("problem", list(PROBLEMS))
def test_coverage_of_many_draws(problem, method):
    if problem == "many items" and method == "jackknife+":
        pytest.skip("balls have no closed form: 200 times 100 refits")
    n_test = 15 if problem == "many items" else 50
    assert coverage(problem, method, 200, n_test) >= (0.87 if method == "jackknife+" else 0.88)


def test_sets_and_bands_say_in_a_line_what_they_are():
    X = np.linspace(0, 1, 60)[:, None]
    words = ["low" if x < 0.5 else "high" for x in X[:, 0]]
    model = ConformalPredictor(StructuredPredictor("rbf", gamma=10.0, alpha=1e-3)).fit(X, words)
    assert repr(model.predict_set(X[[3, 50]])) == "CandidateSets(2 queries, sizes 1 to 1, median 1)"
    model = ConformalPredictor(OperatorKernelRegressor("rbf", gamma=10.0, alpha=1e-3)).fit(X, np.hstack([X, 2 * X]))
    region = model.predict_region(X[:1])
    assert repr(region) == f"Box(1 query, mean width {np.mean(region.upper - region.lower):.3g})"
