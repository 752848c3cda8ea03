"""Cross-validation of links: pairs of known nodes are hidden, or whole nodes are new, and everything is learnt again.

The resulting examples teach the weights of a ``Combination`` and the thresholds of scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse

from .._utils.threads import map_in_threads
from ..data.graphs import structural_similarity
from ..metrics import best_f1_threshold
from .combination import Combination, learn_combination
from .pair_scores import ATTRIBUTES, COSINE, KNOWN, PREDICTED, ScoreMatrix, embedding_scores

_FOLDS = 5
_MANY_NODES = 1000  # number of nodes beyond which folds end at enough links, and similarities use several threads
_ENOUGH_LINKS = {"known": 500, "new": 100}  # linked examples: hidden one by one, or with both nodes new
_MOST_UNLINKED = 20_000  # unlinked pairs that are drawn; time and memory of the folds grow with it
# Weights of scores with variance 1 before anything is learnt. Common neighbours and degrees come first. Paths of three
# links help where two nodes have no common neighbour, which is most pairs of a sparse graph.
_PRIORS = {
    "adamic_adar": 1.0,
    "resource_allocation": 1.0,
    "preferential_attachment": 1.0,
    "three_paths": 0.2,
    ATTRIBUTES: 0.5,
    PREDICTED + COSINE: 0.5,
    KNOWN + COSINE: 0.5,
}


@dataclass(frozen=True)
class PairExamples:
    """Pairs that were not seen in training, with their scores."""

    scores: dict[str, np.ndarray]  # (m,) each
    linked: np.ndarray  # (m,) 0 or 1
    weights: np.ndarray  # (m,) number of pairs that each represents

    def combination(self) -> Combination:
        """The weights of the scores, learnt from these pairs."""
        return learn_combination(self.scores, self.linked, self.weights, _PRIORS)

    def threshold(self, combination):
        """The threshold of combined scores with the best F1."""
        return best_f1_threshold(self.linked, combination(self.scores), sample_weight=self.weights)[0]


def structural_scores(names, W, *others) -> list[Any]:
    """Similarities by a graph W, by name, followed by the results of other functions; in threads if nodes are many."""
    jobs = [*others, *(partial(structural_similarity, name, W) for name in names)]  # the others take longer
    results = list((map_in_threads if W.shape[0] > _MANY_NODES else map)(_call, jobs))
    return [dict(zip(names, results[len(others) :], strict=True)), *results[: len(others)]]


def _call(job):
    return job()


def concatenate(parts):
    """The examples of several folds as one."""
    if not parts:
        return PairExamples({}, np.empty(0), np.empty(0))
    return PairExamples(
        {name: np.concatenate([part.scores[name] for part in parts]) for name in parts[0].scores},
        np.concatenate([part.linked for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


@dataclass(frozen=True)
class LinkFolds:
    """Folds of a graph of l known nodes.

    selection : ``ScoreSelection``, the scores that are combined
    embed : function (adjacency, rows) -> embeddings (r, d) of these nodes, from the links among them
    predict : function (rows, embeddings) -> predictions (l, d) for all known nodes, learnt from the rows; or None
    gram : (l, l) kernel values of the nodes' features, or None
    gram_of_new : the same for pairs of new nodes
    learnt_of_known : whether embeddings score pairs of known nodes. They do not if they come from a given matrix, in
        which no link can be hidden
    """

    adjacency: Any
    hidden: Any
    selection: Any
    embed: Callable
    predict: Callable | None
    gram: np.ndarray | None
    gram_of_new: np.ndarray | None
    learnt_of_known: bool = True

    @cached_property
    def _excluded(self):
        """Sparse mask of the pairs that are not known to be unlinked."""
        return scipy.sparse.csr_array((self.adjacency > 0) + self.hidden.astype(bool))

    def _has_enough_links(self, parts, kind):
        return self.adjacency.shape[0] > _MANY_NODES and sum(part.linked.sum() for part in parts) >= _ENOUGH_LINKS[kind]

    def hide_pairs(self) -> PairExamples:
        """Examples of pairs of known nodes, whose links are hidden from the graph."""
        rng, l = np.random.default_rng(0), self.adjacency.shape[0]
        upper = scipy.sparse.triu(self.adjacency, k=1, format="coo")
        first, second = upper.coords
        order = np.lexsort((second, first))  # folds depend on the links, not on how they are stored
        first, second = first[order], second[order]
        links = _draw_folds(rng, len(first))
        unlinked, weight = _draw_unlinked(np.arange(l), None, self._excluded, rng)
        shares = np.array_split(rng.permutation(len(unlinked[0])), len(links))
        parts = []
        for fold, share in zip(links, shares, strict=True):
            rest = np.delete(np.arange(len(first)), fold)
            W = scipy.sparse.csr_array((upper.data[order][rest], (first[rest], second[rest])), shape=(l, l))
            scores = self.similarities(scipy.sparse.csr_array(W + W.T))
            i, j = np.r_[first[fold], unlinked[0][share]], np.r_[second[fold], unlinked[1][share]]
            parts.append(_examples(scores, i, j, len(fold), weight))
            if self._has_enough_links(parts, "known"):
                break
        return concatenate(parts)

    def similarities(self, W):
        """Scores of all pairs of known nodes, by name, for a graph W of these."""
        everyone = np.arange(W.shape[0])
        predict = self.predict if self.learnt_of_known else None
        embed = () if predict is None else (partial(self.embed, W, everyone),)
        scores, *V = structural_scores(self.selection.structure, W, *embed)
        if self.gram is not None:
            scores[ATTRIBUTES] = ScoreMatrix(self.gram)
        if predict is not None:
            H = predict(everyone, *V)
            scores |= embedding_scores(H, H, *V, *V)
        return self.selection.select(scores)

    def hide_nodes(self) -> tuple[PairExamples, PairExamples]:
        """Examples of pairs of a new node and a known one, and of pairs of two new nodes."""
        rng, l = np.random.default_rng(0), self.adjacency.shape[0]
        mixed, new = [], []
        for test in _draw_folds(rng, l):
            test, train = np.sort(test), np.setdiff1d(np.arange(l), test)
            if not len(train):
                continue
            V = self.embed(self.adjacency[train][:, train], train)
            H = self.predict(train, V) if self.predict is not None else None
            scores = {} if H is None else embedding_scores(H[test], H[train], None, V)
            mixed.append(self._node_examples(scores, self.gram, test, train, rng))
            scores = {} if H is None else embedding_scores(H[test], H[test])
            new.append(self._node_examples(scores, self.gram_of_new, test, None, rng))
            if self._has_enough_links(new, "new"):
                break
        return concatenate(mixed), concatenate(new)

    def _node_examples(self, scores, gram, rows, columns, rng):
        """Examples among the pairs of rows and columns, or of two rows if columns is None."""
        others = rows if columns is None else columns
        if gram is not None:
            scores[ATTRIBUTES] = ScoreMatrix(gram[np.ix_(rows, others)])
        block = self.adjacency[rows][:, others]
        i, j = (scipy.sparse.triu(block, k=1) if columns is None else block).nonzero()
        (a, b), weight = _draw_unlinked(rows, columns, self._excluded, rng)
        return _examples(self.selection.select(scores), np.r_[i, a], np.r_[j, b], len(i), weight)


def _draw_folds(rng, n):
    """Positions of n items in at most five folds, drawn at random."""
    return np.array_split(rng.permutation(n), min(_FOLDS, max(n, 1)))


def _examples(scores, i, j, n_links, weight):
    """Examples of pairs of which the first `n_links` are linked; the others have a weight."""
    linked = np.arange(len(i)) < n_links
    values = {name: score.entries(i, j) for name, score in scores.items()}
    return PairExamples(values, linked.astype(float), np.where(linked, 1.0, weight))


def _draw_unlinked(rows, columns, excluded, rng):
    """Positions of pairs of rows and columns that are not excluded, and the number of pairs that each represents.

    Pairs of two rows if columns is None. All pairs up to a limit, a random sample beyond it.
    """
    m, p = len(rows), len(rows) if columns is None else len(columns)
    size = m * p if columns is not None else m * (m - 1) // 2
    if size <= _MOST_UNLINKED:
        i, j = np.triu_indices(m, k=1) if columns is None else np.divmod(np.arange(size), p)
    else:
        i, j = rng.integers(m, size=_MOST_UNLINKED), rng.integers(p, size=_MOST_UNLINKED)
        if columns is None:
            i, j = np.minimum(i, j), np.maximum(i, j)
            different = i < j
            i, j = i[different], j[different]
    n_drawn = len(i)
    others = rows if columns is None else columns
    mask = np.asarray(excluded[rows[i], others[j]]).ravel().astype(bool) if n_drawn else np.zeros(0, dtype=bool)
    return (i[~mask], j[~mask]), size / max(n_drawn, 1)
