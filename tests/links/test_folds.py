"""Folds of links: hidden pairs and new nodes, against refits written out; thresholds."""

import itertools

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from helpers.link_combination_data import ALPHA, GAMMA, MASK, N, X, optimum
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import f1_score, precision_recall_curve
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import LinkPredictor
from hilbertlearn.data.graphs import structural_similarity
from hilbertlearn.links.folds import PairExamples

K = rbf_kernel(X, gamma=GAMMA)
A = ((np.linalg.norm(X[:, None] - X, axis=2) < 0.3) & ~np.eye(N, dtype=bool)).astype(float)
SEEN = np.where(MASK, 0.0, A)


def fitted(**settings):
    return LinkPredictor(gamma=GAMMA, alpha=ALPHA, **settings).fit(X, A, hidden=MASK)


def diffusion_root(W):
    values, vectors = np.linalg.eigh(np.diag(W.sum(axis=1)) - W)
    return vectors * np.exp(-values / 2)


def in_order(model):
    """Links, hidden pairs and kernel values in the order that folds are drawn from."""
    order = model.link_state_.nodes.order
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
            "adamic_adar": structural_similarity("adamic_adar", scipy.sparse.csr_array(W)).block(
                slice(0, N), slice(0, N)
            ),
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
    found = model.link_state_.examples["known"]
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
        found = model.link_state_.examples[kind]
        assert set(found.scores) == set(scores)
        assert_array_equal(found.linked, linked)
        for name, values in scores.items():
            assert_allclose(found.scores[name], values, atol=1e-8)


def test_weights_are_learnt_from_these_folds():
    model = fitted()
    for kind, examples in model.link_state_.examples.items():
        prior = {"adamic_adar": 1, "resource_allocation": 1, "preferential_attachment": 1}
        prior |= {"attributes": 0.5, "predicted, cosine": 0.5}
        expected, _ = optimum(examples.scores, examples.linked, examples.weights, {**prior, "known, cosine": 0.5})
        odds = model.link_state_.combinations[kind](examples.scores)
        assert_allclose(odds, expected, atol=0.02)
        assert min(model.weights_[kind].values()) >= 0


@pytest.mark.parametrize(
    "settings", [{}, {"similarities": None}, {"similarities": None, "score_with": "known"}], ids=str
)
def test_thresholds_are_the_best_by_f1(settings):
    model = fitted(cosine=False, **settings)
    state = model.link_state_
    for kind, examples in state.cross_validate().items():
        if kind == "new" and settings:  # all pairs, both left out: test_links has it
            continue
        scores = state.combinations[kind](examples.scores)
        precision, recall, _ = precision_recall_curve(examples.linked, scores, sample_weight=examples.weights)
        f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-300)  # of every threshold
        best = f1_score(examples.linked, scores >= model.thresholds_[kind], sample_weight=examples.weights)
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
    monkeypatch.setattr("hilbertlearn.links.folds._MOST_UNLINKED", 60)
    few = fitted().link_state_.examples
    monkeypatch.undo()
    for kind, every in fitted().link_state_.examples.items():
        some = few[kind]
        assert some.linked.sum() == every.linked.sum()  # all links
        assert_array_equal(some.weights[some.linked > 0], 1.0)
        total = every.weights.sum()
        assert some.weights.sum() == pytest.approx(total, rel=0.25)
        assert len(some.linked) < len(every.linked) or kind == "new"
