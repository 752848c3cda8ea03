"""What a link predictor has learnt: embeddings, a function that predicts them, and how scores of pairs are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .. import kernels
from ..data.graphs import STRUCTURE
from ..metrics import best_f1_threshold
from .folds import LinkFolds, PairExamples, structures
from .inputs import Nodes, pairs_that_count, take_inputs
from .pair_scores import (
    ATTRIBUTES,
    COSINE,
    KNOWN,
    NO_SCORE,
    PREDICTED,
    AllPairScores,
    KernelScores,
    PairScores,
    SingleScore,
    embedded,
)

BOTH_KNOWN, ONE_NEW, BOTH_NEW = KINDS = ("known", "mixed", "new")  # pairs of nodes
LEARNT = "learnt"
SIMILARITIES = (*STRUCTURE, ATTRIBUTES, LEARNT)
SCORE_WITH = ("auto", PREDICTED, KNOWN)


@dataclass(frozen=True)
class ScoreSelection:
    """Which scores of a pair count."""

    names: tuple[str, ...] | None  # of ``SIMILARITIES``, or None for those of embeddings alone
    cosine: Any  # True, False or "auto"
    score_with: str

    @property
    def structure(self):
        return tuple(name for name in self.names or () if name in STRUCTURE)

    @property
    def learnt(self):
        return self.names is None or LEARNT in self.names

    def among(self, scores):
        """Those of a mapping by name."""
        names = {*(self.names or ())}
        if self.learnt:
            names |= {one + end for one in self._sides(scores) for end in self._ends()}
        return {name: one for name, one in scores.items() if name in names}

    def _sides(self, scores):
        if self.score_with == "auto":
            return (PREDICTED, KNOWN)
        return (KNOWN,) if self.score_with == KNOWN and KNOWN in scores else (PREDICTED,)

    def _ends(self):
        if isinstance(self.cosine, str):
            return ("", COSINE)
        return (COSINE,) if self.cosine else ("",)


@dataclass(frozen=True)
class GraphEmbedding:
    """How nodes of a graph are embedded."""

    kernel: Any  # a name, or a matrix (l, l) of the known nodes
    beta: float
    rank: Any
    center: bool

    @property
    def of_graph(self):
        """Whether links that are hidden have no part in it."""
        return isinstance(self.kernel, str)

    def __call__(self, W, rows):
        """Embeddings (r, d) of some known nodes, with the links W (r, r) among them."""
        kernel = self.kernel
        if not isinstance(kernel, str):
            kernel = kernel[np.ix_(rows, rows)]
        return kernels.node_embedding(kernel, W, self.beta, rank=self.rank, center=self.center)


@dataclass(frozen=True)
class LinkState:
    """A fitted link predictor; nothing in it changes."""

    nodes: Nodes
    output: GraphEmbedding
    wanted: ScoreSelection
    criterion: str
    scoring: str
    kernel: Any = None  # ``InputKernel`` of features; this and the next three are None without any
    V: Any = None  # (l, d) embeddings of the known nodes
    embedding: Any = None  # the function h, ``MachineEmbedding`` or ``RegressorEmbedding``
    H: Any = None  # (n, d) predicted embeddings of all nodes, known ones first
    structure: Mapping[str, Any] = field(default_factory=dict)  # similarities by the graph that count
    combinations: Mapping[str, Any] = field(default_factory=dict)  # by kind of pairs
    held_out: Mapping[str, PairExamples] = field(default_factory=dict)  # what they were learnt from

    @property
    def n_known(self):
        return len(self.nodes.graph)

    def embedded(self):
        """Embeddings (l, d) of the known nodes."""
        graph = self.nodes.graph
        return self.output(graph.adjacency, np.arange(len(graph))) if self.V is None else self.V

    # ---------------------------------------------------------------- how scores are made

    def with_combinations(self):
        """The state with combinations of the scores that are wanted, learnt from folds if these are several."""
        if self.wanted.names is None:
            name = dict.fromkeys(KINDS, PREDICTED + self.embedding.cosine * COSINE)
            if self.wanted.score_with == KNOWN:
                name[BOTH_KNOWN] = name[ONE_NEW] = KNOWN + self.embedding.cosine * COSINE
            return replace(self, combinations={kind: SingleScore(name[kind]) for kind in KINDS})
        held_out = self.all_held_out()
        combinations = {kind: found.combined() for kind, found in held_out.items()}
        used = [name for name in self.wanted.structure if name in combinations[BOTH_KNOWN].used]
        (structure,) = structures(used, self.nodes.graph.adjacency)
        return replace(self, structure=structure, combinations=combinations, held_out=held_out)

    def all_held_out(self):
        """Scores of held-out pairs, by kind; of kinds that there are scores of."""
        folds = self._folds()
        found = {BOTH_KNOWN: folds.known()}
        if self.nodes.X is not None:
            found[ONE_NEW], found[BOTH_NEW] = folds.nodes()
        return {kind: pairs for kind, pairs in found.items() if pairs.scores}

    def _folds(self):
        gram = predict = None
        if self.nodes.X is not None and self.wanted.names is not None and ATTRIBUTES in self.wanted.names:
            gram = self.kernel.training_gram(
                take_inputs(self.nodes.X, np.arange(self.n_known), self.kernel.precomputed)
            )
        if self.embedding is not None and self.wanted.learnt:
            predict = self.embedding.refits(self.n_known)
        graph = self.nodes.graph
        new_have_kernel = self.kernel is not None and not self.kernel.precomputed
        return LinkFolds(
            graph.adjacency,
            graph.hidden,
            self.wanted,
            self.output,
            predict,
            gram,
            gram if new_have_kernel else None,
            learnt_of_known=self.output.of_graph or not {*(self.wanted.names or ())} - {LEARNT},
        )

    def thresholds(self):
        """Of scores, the best by F1 on held-out pairs, by kind."""
        held_out = self.held_out or self.all_held_out()
        found = {kind: pairs.threshold(self.combinations[kind]) for kind, pairs in held_out.items()}
        if not self.held_out:  # all pairs, both left out
            found[BOTH_NEW] = best_f1_threshold(self.nodes.graph.adjacency, *self.left_out())[0]
        return found

    def left_out(self):
        """Scores (l, l) of pairs of known nodes by h, left out, and the mask of those that are known."""
        return self.embedding.left_out(self.V, self.criterion), pairs_that_count(self.nodes.graph)

    # ---------------------------------------------------------------- scores

    def scores_of_nodes(self) -> AllPairScores:
        """Of all pairs of nodes of fit, known ones first."""
        l, X = self.n_known, self.nodes.X
        scores = dict(self.structure)
        if X is None:
            return AllPairScores(l, self._pairs(BOTH_KNOWN, scores), None, None)
        known = _safe_indexing(X, np.arange(l))
        if self.H is not None:
            scores |= embedded(self.H[:l], self.H[:l], self.V, self.V, self._used(BOTH_KNOWN))
        scores[ATTRIBUTES] = KernelScores(self.kernel, known, known)
        both_known = self._pairs(BOTH_KNOWN, scores)
        if _num_samples(X) == l:
            return AllPairScores(l, both_known, None, None)
        others = _safe_indexing(X, np.arange(l, _num_samples(X)))
        mixed = self.scores_with_known(others) if ONE_NEW in self.combinations else None
        new = self.scores_of_new(others) if BOTH_NEW in self.combinations else None
        return AllPairScores(l, both_known, mixed, new)

    def scores_with_known(self, X) -> PairScores:
        """Of pairs of new nodes X with the known ones."""
        l = self.n_known
        scores = {}
        if self.H is not None:
            scores = embedded(self.embedding(X), self.H[:l], None, self.V, self._used(ONE_NEW))
        scores[ATTRIBUTES] = KernelScores(self.kernel, X, _safe_indexing(self.nodes.X, np.arange(l)))
        return self._pairs(ONE_NEW, scores)

    def scores_of_new(self, X, Z=None) -> PairScores:
        """Of pairs of new nodes X with Z, or with each other."""
        scores = {}
        if self.embedding is not None:
            H = self.embedding(X)
            scores = embedded(H, H if Z is None else self.embedding(Z), used=self._used(BOTH_NEW))
        scores[ATTRIBUTES] = KernelScores(self.kernel, X, X if Z is None else Z)
        return self._pairs(BOTH_NEW, scores)

    def _used(self, kind):
        """Names of the scores that pairs of a kind have."""
        return self.combinations[kind].used if kind in self.combinations else ()

    def _pairs(self, kind, scores):
        if kind not in self.combinations:
            raise ValueError(NO_SCORE)
        return PairScores(self.combinations[kind], scores)
