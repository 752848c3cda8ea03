"""Scores of a pair made one, against convex solvers, and links held out for it, against folds written out by hand."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from helpers.by_hand import solve
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import f1_score, precision_recall_curve
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import LinkPredictor
from hilbertlearn.data.graphs import read_known_graph, structural
from hilbertlearn.kernels import InputKernel
from hilbertlearn.links.combination import Combination, learn_combination
from hilbertlearn.links.folds import PairExamples, joined
from hilbertlearn.links.pair_scores import AllPairScores, KernelScores, ScoreMatrix, UnknownPairScores

# ---------------------------------------------------------------- weights


def problem(m=300, seed=0):
    """Three scores, of which the first says much, the second little and the third the contrary; weights of pairs."""
    rng = np.random.default_rng(seed)
    linked = (rng.random(m) < 0.2).astype(float)
    scores = {
        "much": np.exp(rng.normal(size=m) + 2 * linked),
        "little": rng.normal(size=m) + 0.5 * linked,
        "contrary": rng.normal(size=m) - 1.5 * linked,
    }
    return scores, linked, np.where(linked > 0, 1.0, rng.integers(1, 5, size=m))


PRIOR = {"much": 1.0, "little": 0.5}


def standardised(scores, weights):
    """Logarithms of the scores, with mean 0 and variance 1."""
    columns = []
    for values in scores.values():
        size = np.average(abs(values), weights=weights)
        columns.append(np.sign(values) * np.log(1 + abs(values) / size))
    Z = np.stack(columns, axis=1)
    Z = Z - np.average(Z, axis=0, weights=weights)
    return Z / np.sqrt(np.average(Z**2, axis=0, weights=weights))


def optimum(scores, linked, weights, prior):
    """Log odds (m,) and weights of standardised scores by a convex solver."""
    Z, centre = standardised(scores, weights), np.array([prior.get(name, 0.0) for name in scores])
    beta, constant = cp.Variable(Z.shape[1]), cp.Variable()
    odds = Z @ beta + constant
    loss = weights @ (cp.logistic(odds) - cp.multiply(linked, odds)) + 5 * cp.sum_squares(beta - centre)
    solve(loss, [beta >= 0])
    return odds.value, beta.value


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("prior", [PRIOR, {}, {"contrary": 2.0}], ids=str)
def test_weights_are_the_optimum(seed, prior):
    scores, linked, weights = problem(seed=seed)
    found = learn_combination(scores, linked, weights, prior)
    expected, beta = optimum(scores, linked, weights, prior)
    assert_allclose(found(scores), expected, atol=2e-3)
    assert (found.weights >= 0).all() and list(found.by_name()) == list(scores)
    spread = [
        np.std(np.repeat(np.sign(s) * np.log1p(abs(s) / z), weights.astype(int)))
        for s, z in zip(scores.values(), found.sizes, strict=True)
    ]
    assert_allclose(found.weights * spread, beta, atol=2e-3)
    assert set(found.used) == {name for name, weight in found.by_name().items() if weight > 0}
    if prior == PRIOR:
        assert "contrary" not in found.used and {"much", "little"} <= set(found.used)


def test_a_pair_that_stands_for_three_is_three_pairs():
    scores, linked, weights = problem()
    repeated = np.repeat(np.arange(len(linked)), weights.astype(int))
    more = {name: values[repeated] for name, values in scores.items()}
    found = learn_combination(scores, linked, weights, PRIOR)
    again = learn_combination(more, linked[repeated], np.ones(len(repeated)), PRIOR)
    assert_allclose(found(scores), again(scores), atol=1e-3)


@pytest.mark.parametrize("factor", [1000.0, 1e-9])
def test_the_size_of_a_score_does_not_matter(factor):
    scores, linked, weights = problem()
    scaled = {**scores, "much": factor * scores["much"]}
    found, again = (learn_combination(one, linked, weights, PRIOR) for one in (scores, scaled))
    assert_allclose(found(scores), again(scaled), atol=1e-7)
    assert found.weights == pytest.approx(again.weights, abs=1e-7)


@pytest.mark.parametrize("value", [0.0, 3.7, -1e-8, 1e300])
def test_a_constant_score_has_no_say(value):
    scores, linked, weights = problem()
    constant = np.full(len(linked), value)
    constant[::2] *= 1 + 2e-16  # to rounding
    found = learn_combination({**scores, "same": constant}, linked, weights, {**PRIOR, "same": 1.0})
    plain = learn_combination(scores, linked, weights, PRIOR)
    assert found.by_name()["same"] == 0 and "same" not in found.used
    assert_allclose(found({**scores, "same": constant}), plain(scores), atol=1e-3)


def test_of_scores_that_are_all_constant_the_share_of_links_is_left():
    linked, weights = np.array([1.0, 0.0, 0.0, 0.0]), np.array([1.0, 2.0, 3.0, 4.0])
    found = learn_combination({"a": np.ones(4), "b": np.zeros(4)}, linked, weights, {"a": 1.0})
    used = {name: np.linspace(0, 9, 6).reshape(2, 3) for name in found.used}  # what a caller forms
    assert found(used).shape == (2, 3)
    assert_allclose(found(used), np.log(1 / 9), atol=0.01)


def test_with_few_pairs_the_prior_rules():
    scores, linked, weights = problem(4)
    linked[:] = [0, 0, 1, 0]
    found = learn_combination(scores, linked, weights, PRIOR)
    Z = standardised(scores, weights)
    odds = found(scores) - np.average(found(scores), weights=weights)
    assert_allclose(odds, Z @ [1.0, 0.5, 0.0], atol=0.8)
    many = learn_combination(*problem(4000), PRIOR)
    assert many.weights[0] == pytest.approx(learn_combination(*problem(4000), {}).weights[0], rel=0.02)  # not of many


def test_with_no_pairs_the_prior_is_all():
    none = np.empty(0)
    found = learn_combination({"much": none, "other": none}, none, none, PRIOR)
    assert found.by_name() == {"much": 1.0, "other": 0.0} and np.isfinite(found({"much": np.ones(3)})).all()
    assert joined([]).scores == {}


def test_a_combination_by_hand():
    made = Combination(("a", "b", "c"), np.array([1.0, 2.0, 1.0]), np.array([3.0, 0.5, 0.0]), -1.0)
    a, b = np.array([0.0, 1.0, -3.0]), np.array([2.0, -6.0, 0.0])
    expected = 3 * np.log([1, 2, 1 / 4]) + 0.5 * np.log([2, 1 / 4, 1]) - 1
    assert_allclose(made({"a": a, "b": b}), expected)  # what does not count is not asked for
    assert_array_equal(a, [0.0, 1.0, -3.0])
    assert made.used == ("a", "b")


# ---------------------------------------------------------------- folds

N, GAMMA, ALPHA = 23, 6.0, 0.02
RNG = np.random.default_rng(4)
X = RNG.uniform(size=(N, 2))
K = rbf_kernel(X, gamma=GAMMA)
A = ((np.linalg.norm(X[:, None] - X, axis=2) < 0.3) & ~np.eye(N, dtype=bool)).astype(float)
MASK = np.triu(RNG.random((N, N)) < 0.15, 1)
MASK |= MASK.T
SEEN = np.where(MASK, 0.0, A)


def fitted(**settings):
    return LinkPredictor(gamma=GAMMA, alpha=ALPHA, **settings).fit(X, A, hidden=MASK)


def diffusion_root(W):
    values, vectors = np.linalg.eigh(np.diag(W.sum(axis=1)) - W)
    return vectors * np.exp(-values / 2)


def in_order(model):
    """Links, hidden pairs and kernel values in the order that folds are drawn from."""
    order = model._state_.nodes.order
    return (matrix[np.ix_(order, order)] for matrix in (SEEN, MASK, K))


def ridge(K, rows, V):
    """Predictions (n, d) for all nodes of what is fitted to some."""
    system = K[np.ix_(rows, rows)] + ALPHA * len(rows) * np.eye(len(rows))
    return K[:, rows] @ np.linalg.solve(system, V)


def cosines(U, V):
    return (U / np.linalg.norm(U, axis=1)[:, None]) @ (V / np.linalg.norm(V, axis=1)[:, None]).T


def by_hand_known(model):
    """Of each fold of the links and of the pairs that are known to be none: (score name -> values), linked."""
    SEEN, MASK, K = in_order(model)
    rng, found, truth = np.random.default_rng(0), [], []
    links = [(i, j) for i, j in itertools.combinations(range(N), 2) if SEEN[i, j]]
    others = [(i, j) for i, j in itertools.combinations(range(N), 2) if not SEEN[i, j] and not MASK[i, j]]
    link_folds = np.array_split(rng.permutation(len(links)), 5)
    other_folds = np.array_split(rng.permutation(len(others)), 5)
    for held, rest in zip(link_folds, other_folds, strict=True):
        W = SEEN.copy()
        for i, j in (links[k] for k in held):
            W[i, j] = W[j, i] = 0.0
        V = diffusion_root(W)
        H = ridge(K, np.arange(N), V)
        matrices = {
            "adamic_adar": structural("adamic_adar", scipy.sparse.csr_array(W)).block(slice(0, N), slice(0, N)),
            "katz": np.linalg.inv(np.eye(N) - 0.5 / np.linalg.eigvalsh(W)[-1] * W),
            "attributes": K,
            "predicted": H @ H.T,
            "predicted, cosine": cosines(H, H),
            "known": (H @ V.T + V @ H.T) / 2,
            "known, cosine": (cosines(H, V) + cosines(V, H)) / 2,
        }
        pairs = [links[k] for k in held] + [others[k] for k in rest]
        i, j = np.array(pairs).T
        found.append({name: M[i, j] for name, M in matrices.items()})
        truth.append(SEEN[i, j])
    return {name: np.concatenate([part[name] for part in found]) for name in found[0]}, np.concatenate(truth)


def by_hand_nodes(model):
    """The same of folds of nodes: pairs with the others, and pairs among themselves."""
    SEEN, MASK, K = in_order(model)
    rng = np.random.default_rng(0)
    mixed, new = ([], []), ([], [])
    for test in np.array_split(rng.permutation(N), 5):
        test = np.sort(test)
        train = np.setdiff1d(np.arange(N), test)
        V = diffusion_root(SEEN[np.ix_(train, train)])
        H = ridge(K, train, V)
        known = np.zeros((N, V.shape[1]))
        known[train] = V
        for (scores, truth), pairs in (
            (mixed, [(i, j) for i in test for j in train if not MASK[i, j]]),
            (new, [(i, j) for i, j in itertools.combinations(test, 2) if not MASK[i, j]]),
        ):
            pairs = sorted(pairs, key=lambda pair: not SEEN[pair])  # links first, the sort is stable
            i, j = np.array(pairs).T
            own = {"attributes": K[i, j], "predicted": (H @ H.T)[i, j], "predicted, cosine": cosines(H, H)[i, j]}
            if scores is mixed[0]:
                own["known"] = (H @ known.T)[i, j]
                own["known, cosine"] = cosines(H, known + (known == 0).all(axis=1)[:, None])[i, j]
            scores.append(own)
            truth.append(SEEN[i, j])
    return [
        ({name: np.concatenate([part[name] for part in scores]) for name in scores[0]}, np.concatenate(truth))
        for scores, truth in (mixed, new)
    ]


def sorted_columns(scores, linked):
    """Rows of all scores, in an order of their own."""
    table = np.stack([linked, *(scores[name] for name in sorted(scores))], axis=1)
    return table[np.lexsort(np.round(table, 9).T[::-1])]


def test_folds_of_known_pairs_are_those_by_hand():
    model = fitted(similarities=["adamic_adar", "katz", "attributes", "learnt"])
    found = model._state_.held_out["known"]
    scores, linked = by_hand_known(model)
    assert set(found.scores) == set(scores)
    assert_array_equal(found.weights, 1.0)
    assert found.linked.sum() == SEEN.sum() / 2 and len(linked) == np.triu(~MASK, 1).sum()
    assert_allclose(sorted_columns(found.scores, found.linked), sorted_columns(scores, linked), atol=1e-8)
    for name, values in scores.items():
        assert_allclose(found.scores[name], values, atol=1e-8)


def test_folds_of_nodes_are_those_by_hand():
    model = fitted(similarities=["adamic_adar", "katz", "attributes", "learnt"])
    for kind, (scores, linked) in zip(("mixed", "new"), by_hand_nodes(model), strict=True):
        found = model._state_.held_out[kind]
        assert set(found.scores) == set(scores)
        assert_array_equal(found.linked, linked)
        for name, values in scores.items():
            assert_allclose(found.scores[name], values, atol=1e-8)


def test_weights_are_learnt_from_these_folds():
    model = fitted()
    for kind, held_out in model._state_.held_out.items():
        prior = {"adamic_adar": 1, "resource_allocation": 1, "preferential_attachment": 1}
        prior |= {"attributes": 0.5, "predicted, cosine": 0.5}
        expected, _ = optimum(held_out.scores, held_out.linked, held_out.weights, {**prior, "known, cosine": 0.5})
        odds = model._state_.combinations[kind](held_out.scores)
        assert_allclose(odds, expected, atol=0.02)
        assert min(model.weights_[kind].values()) >= 0


@pytest.mark.parametrize(
    "settings", [{}, {"similarities": None}, {"similarities": None, "score_with": "known"}], ids=str
)
def test_thresholds_are_the_best_by_f1(settings):
    model = fitted(cosine=False, **settings)
    state = model._state_
    for kind, held_out in state.all_held_out().items():
        if kind == "new" and settings:  # all pairs, both left out: test_links has it
            continue
        scores = state.combinations[kind](held_out.scores)
        precision, recall, _ = precision_recall_curve(held_out.linked, scores, sample_weight=held_out.weights)
        f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-300)  # of every threshold
        best = f1_score(held_out.linked, scores >= model.thresholds_[kind], sample_weight=held_out.weights)
        assert best == pytest.approx(max(f1)) and best > 0.5


def test_weighted_thresholds():
    """Each of the pairs without a link stands for many: the threshold is the higher."""
    rng = np.random.default_rng(0)
    linked = (np.arange(200) < 40).astype(float)
    scores = rng.normal(size=200) + 1.5 * linked
    once, often = (PairExamples({"s": scores}, linked, np.where(linked > 0, 1.0, w)) for w in (1.0, 50.0))
    low, high = (one.threshold(lambda scores: scores["s"]) for one in (once, often))
    f1 = [f1_score(linked, scores >= t, sample_weight=often.weights) for t in np.unique(scores)]
    assert f1_score(linked, scores >= high, sample_weight=often.weights) == pytest.approx(max(f1))
    assert high > low


def test_many_pairs_are_a_sample_with_weights(monkeypatch):
    monkeypatch.setattr("hilbertlearn.links.folds._MOST", 60)
    few = fitted()._state_.held_out
    monkeypatch.undo()
    for kind, every in fitted()._state_.held_out.items():
        some = few[kind]
        assert some.linked.sum() == every.linked.sum()  # all links
        assert_array_equal(some.weights[some.linked > 0], 1.0)
        total = every.weights.sum()
        assert some.weights.sum() == pytest.approx(total, rel=0.25)
        assert len(some.linked) < len(every.linked) or kind == "new"


# ---------------------------------------------------------------- scores in blocks


@pytest.mark.parametrize("precomputed", [False, True])
@pytest.mark.parametrize("entries", [2**22, 40, 1])
def test_kernel_values(precomputed, entries, monkeypatch):
    monkeypatch.setattr("hilbertlearn.links.pair_scores._ENTRIES", entries)
    Z = RNG.normal(size=(9, 2))
    gram = rbf_kernel(X, Z, gamma=GAMMA)
    values = (
        KernelScores(InputKernel("precomputed"), gram, Z)
        if precomputed
        else KernelScores(InputKernel("rbf", GAMMA), X, Z)
    )
    i, j = np.random.default_rng(0).integers(9, size=(2, 60))
    assert_allclose(values.at(i, j), gram[i, j], rtol=1e-12)
    assert_allclose(values.at(i[:1], j[:1]), gram[i[:1], j[:1]], rtol=1e-12)
    assert values.at(i[:0], j[:0]).shape == (0,)
    assert_allclose(values.block(slice(2, 7), slice(3, 9)), gram[2:7, 3:], rtol=1e-12)


def quadrants(n=9, l=5):
    rng = np.random.default_rng(0)
    S = rng.normal(size=(n, n))
    S = S + S.T
    return S, AllPairScores(l, ScoreMatrix(S[:l, :l]), ScoreMatrix(S[l:, :l]), ScoreMatrix(S[l:, l:]))


def test_quadrants():
    S, parts = quadrants()
    for rows in itertools.combinations(range(10), 2):
        for columns in ((0, 9), (0, 5), (5, 9), (3, 7), (4, 5), (8, 9)):
            assert_array_equal(parts.block(slice(*rows), slice(*columns)), S[slice(*rows), slice(*columns)])
    i, j = (part.ravel() for part in np.indices((9, 9)))
    assert_array_equal(parts.at(i, j), S[i, j])
    alone = AllPairScores(5, parts.known, None, None)
    assert_array_equal(alone.block(slice(1, 3), slice(0, 5)), S[1:3, :5])
    with pytest.raises(ValueError, match="give X to fit"):
        alone.block(slice(0, 6), slice(0, 5))
    with pytest.raises(ValueError, match="give X to fit"):
        alone.at(np.array([6]), np.array([7]))


@pytest.mark.parametrize("hidden", [[], [(0, 1), (2, 4)]], ids=["none hidden", "some hidden"])
@pytest.mark.parametrize("n", [5, 9])
def test_pairs_that_are_not_settled(n, hidden):
    """Those that are hidden or of a new node; if there are none, those without a link."""
    S, parts = quadrants(n)
    W = np.zeros((5, 5))
    W[0, 1] = W[1, 0] = W[1, 2] = W[2, 1] = W[3, 4] = W[4, 3] = 1.0
    unsettled = UnknownPairScores(parts, read_known_graph(W, hidden=hidden), n)
    expected = S.copy()
    for i, j in itertools.product(range(5), repeat=2):
        asked = (i, j) in hidden or (j, i) in hidden
        if not (asked if hidden or n > 5 else not W[i, j]):
            expected[i, j] = np.nan
    for rows in ((0, n), (0, 2), (2, 5), (1, n), (n - 1, n)):
        for columns in ((0, n), (3, 5), (4, n)):
            assert_array_equal(unsettled.block(slice(*rows), slice(*columns)), expected[slice(*rows), slice(*columns)])
    assert np.isfinite(parts.block(slice(0, n), slice(0, n))).all()  # scores themselves are not written to
