"""Links held out for scores to be learnt by: single pairs that are hidden, and whole nodes that are new."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse

from .._utils.threads import side_by_side
from ..data.graphs import structural_similarity
from ..metrics import best_f1_threshold
from .combination import Combination, learn_combination
from .pair_scores import ATTRIBUTES, COSINE, KNOWN, PREDICTED, ScoreMatrix, embedded

_FOLDS, _MANY_NODES = 5, 1000  # of many nodes some folds are enough:
_ENOUGH = {"known": 500, "new": 100}  # links that were held out, one by one or with both nodes
_MOST = 20_000  # pairs without a link that are looked at, in all folds
# Weights of scores with variance 1 before anything is learnt. Common neighbours and degrees first; paths of three links
# speak where nodes have none in common, which in graphs of few links most have not.
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
    """Scores of pairs that were held out."""

    scores: dict[str, np.ndarray]  # (m,) each
    linked: np.ndarray  # (m,) 0 or 1
    weights: np.ndarray  # (m,) how many pairs each stands for

    def combined(self) -> Combination:
        return learn_combination(self.scores, self.linked, self.weights, _PRIORS)

    def threshold(self, combination):
        """The best by F1."""
        return best_f1_threshold(self.linked, combination(self.scores), sample_weight=self.weights)[0]


def structures(names, W, *others) -> list[Any]:
    """Similarities by a graph W, by name, and what other functions return; side by side where nodes are many."""
    jobs = [*others, *(partial(structural_similarity, name, W) for name in names)]  # the others take longer
    found = list((side_by_side if W.shape[0] > _MANY_NODES else map)(_called, jobs))
    return [dict(zip(names, found[len(others) :], strict=True)), *found[: len(others)]]


def _called(job):
    return job()


def joined(parts):
    if not parts:
        return PairExamples({}, np.empty(0), np.empty(0))
    return PairExamples(
        {name: np.concatenate([part.scores[name] for part in parts]) for name in parts[0].scores},
        np.concatenate([part.linked for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


@dataclass(frozen=True)
class LinkFolds:
    """A graph of l known nodes, parts of which are held out in turn, with all that is learnt from it learnt again.

    wanted : which scores count: ``structure`` names those by the graph, ``among(scores)`` picks from a mapping
    embed : function (adjacency, rows) -> embeddings (r, d) of those nodes with the links among them
    predict : function (rows, embeddings) -> predictions (l, d) for all known nodes by what is learnt from some; or None
    gram : (l, l) kernel values of the nodes' features, or None
    gram_of_new : the same for pairs of new nodes
    learnt_of_known : whether embeddings score pairs of known nodes: not if they are those of a matrix that was given,
        from which no link can be hidden
    """

    adjacency: Any
    hidden: Any
    wanted: Any
    embed: Callable
    predict: Callable | None
    gram: np.ndarray | None
    gram_of_new: np.ndarray | None
    learnt_of_known: bool = True

    @cached_property
    def _excluded(self):
        """Pairs that are no examples of pairs without a link."""
        return scipy.sparse.csr_array((self.adjacency > 0) + self.hidden.astype(bool))

    def _cut(self, rng, n):
        """Positions of n things in folds."""
        return np.array_split(rng.permutation(n), min(_FOLDS, max(n, 1)))

    def _is_enough(self, parts, kind):
        """Whether no further fold is needed."""
        return self.adjacency.shape[0] > _MANY_NODES and sum(part.linked.sum() for part in parts) >= _ENOUGH[kind]

    def known(self) -> PairExamples:
        """Pairs of known nodes, hidden from the graph."""
        rng, l = np.random.default_rng(0), self.adjacency.shape[0]
        upper = scipy.sparse.triu(self.adjacency, k=1, format="coo")
        first, second = upper.coords
        order = np.lexsort((second, first))  # folds depend on the links, not on how they are stored
        first, second = first[order], second[order]
        links = self._cut(rng, len(first))
        others, weight = _without_link(np.arange(l), None, self._excluded, rng)
        shares = np.array_split(rng.permutation(len(others[0])), len(links))
        parts = []
        for fold, share in zip(links, shares, strict=True):
            kept = np.delete(np.arange(len(first)), fold)
            W = scipy.sparse.csr_array((upper.data[order][kept], (first[kept], second[kept])), shape=(l, l))
            scores = self.similarities(scipy.sparse.csr_array(W + W.T))
            i, j = np.r_[first[fold], others[0][share]], np.r_[second[fold], others[1][share]]
            parts.append(_examples(scores, i, j, len(fold), weight))
            if self._is_enough(parts, "known"):
                break
        return joined(parts)

    def similarities(self, W):
        """Scores of all pairs of known nodes, by name, for a graph of these."""
        everyone = np.arange(W.shape[0])
        learnt = self.predict if self.learnt_of_known else None
        embed = () if learnt is None else (partial(self.embed, W, everyone),)
        scores, *V = structures(self.wanted.structure, W, *embed)
        if self.gram is not None:
            scores[ATTRIBUTES] = ScoreMatrix(self.gram)
        if learnt is not None:
            H = learnt(everyone, *V)
            scores |= embedded(H, H, *V, *V)
        return self.wanted.among(scores)

    def nodes(self) -> tuple[PairExamples, PairExamples]:
        """Pairs of a node that is left out with a known one, and pairs of two that are left out."""
        rng, l = np.random.default_rng(0), self.adjacency.shape[0]
        mixed, new = [], []
        for test in self._cut(rng, l):
            test, train = np.sort(test), np.setdiff1d(np.arange(l), test)
            if not len(train):
                continue
            V = self.embed(self.adjacency[train][:, train], train)
            H = self.predict(train, V) if self.predict is not None else None
            scores = {} if H is None else embedded(H[test], H[train], None, V)
            mixed.append(self._block(scores, self.gram, test, train, rng))
            scores = {} if H is None else embedded(H[test], H[test])
            new.append(self._block(scores, self.gram_of_new, test, None, rng))
            if self._is_enough(new, "new"):
                break
        return joined(mixed), joined(new)

    def _block(self, scores, gram, rows, columns, rng):
        """Examples among the pairs of rows and columns, or of two rows."""
        with_columns = rows if columns is None else columns
        if gram is not None:
            scores[ATTRIBUTES] = ScoreMatrix(gram[np.ix_(rows, with_columns)])
        block = self.adjacency[rows][:, with_columns]
        i, j = (scipy.sparse.triu(block, k=1) if columns is None else block).nonzero()
        (a, b), weight = _without_link(rows, columns, self._excluded, rng)
        return _examples(self.wanted.among(scores), np.r_[i, a], np.r_[j, b], len(i), weight)


def _examples(scores, i, j, n_links, weight):
    linked = np.arange(len(i)) < n_links
    values = {name: one.at(i, j) for name, one in scores.items()}
    return PairExamples(values, linked.astype(float), np.where(linked, 1.0, weight))


def _without_link(rows, columns, excluded, rng):
    """Positions of pairs of rows and columns, or of two rows, that are not excluded, and how many each stands for.

    All of them, or as many as are looked at, drawn at random.
    """
    m, p = len(rows), len(rows) if columns is None else len(columns)
    size = m * p if columns is not None else m * (m - 1) // 2
    if size <= _MOST:
        i, j = np.triu_indices(m, k=1) if columns is None else np.divmod(np.arange(size), p)
    else:
        i, j = rng.integers(m, size=_MOST), rng.integers(p, size=_MOST)
        if columns is None:
            i, j = np.minimum(i, j), np.maximum(i, j)
            apart = i < j
            i, j = i[apart], j[apart]
    drawn = len(i)
    nodes = rows if columns is None else columns
    out = np.asarray(excluded[rows[i], nodes[j]]).ravel().astype(bool) if drawn else np.zeros(0, dtype=bool)
    return (i[~out], j[~out]), size / max(drawn, 1)
