"""The state of a fitted link predictor: embeddings, the function that predicts them, and the combination of scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .. import kernels
from .._utils.validation import check_choice
from ..data.graphs import STRUCTURE
from ..metrics import best_f1_threshold
from .folds import LinkFolds, PairExamples, structural_scores
from .inputs import Nodes, known_pair_mask, take_inputs
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
    embedding_scores,
)

BOTH_KNOWN, ONE_NEW, BOTH_NEW = KINDS = ("known", "mixed", "new")  # pairs by their number of new nodes
LEARNT = "learnt"
SIMILARITIES = (*STRUCTURE, ATTRIBUTES, LEARNT)
SCORE_WITH = ("auto", PREDICTED, KNOWN)


@dataclass(frozen=True)
class ScoreSelection:
    """The scores of a pair that are combined, by the settings."""

    names: tuple[str, ...] | None  # of ``SIMILARITIES``, None for the scores of embeddings alone
    cosine: Any  # True, False or "auto"
    score_with: str

    @property
    def structure(self):
        """Names of the similarities by the graph."""
        return tuple(name for name in self.names or () if name in STRUCTURE)

    @property
    def uses_embeddings(self):
        return self.names is None or LEARNT in self.names

    def select(self, scores):
        """The selected scores of a mapping by name."""
        names = {*(self.names or ())}
        if self.uses_embeddings:
            names |= {side + suffix for side in self._sides(scores) for suffix in self._suffixes()}
        return {name: score for name, score in scores.items() if name in names}

    def _sides(self, scores):
        if self.score_with == "auto":
            return (PREDICTED, KNOWN)
        return (KNOWN,) if self.score_with == KNOWN and KNOWN in scores else (PREDICTED,)

    def _suffixes(self):
        if isinstance(self.cosine, str):
            return ("", COSINE)
        return (COSINE,) if self.cosine else ("",)


@dataclass(frozen=True)
class GraphEmbedding:
    """The embedding of the nodes of a known graph by an output kernel."""

    kernel: Any  # a name, or a matrix (l, l) of the known nodes
    beta: float
    rank: Any
    center: bool

    @property
    def depends_on_links(self):
        """Whether hidden links have no part in it; a given matrix may contain all links."""
        return isinstance(self.kernel, str)

    def __call__(self, W, rows):
        """Embeddings (r, d) of some known nodes, from the links W (r, r) among them."""
        kernel = self.kernel
        if not isinstance(kernel, str):
            kernel = kernel[np.ix_(rows, rows)]
        return kernels.node_embedding(kernel, W, self.beta, rank=self.rank, center=self.center)


@dataclass(frozen=True)
class LinkState:
    """What a link predictor has learnt. It is immutable, with nodes in their canonical order, known ones first."""

    nodes: Nodes
    graph_embedding: GraphEmbedding
    selection: ScoreSelection
    criterion: str
    scoring: str
    kernel: Any = None  # ``InputKernel`` of features; this and the next three are None without features
    V: Any = None  # (l, d) embeddings of the known nodes
    embedding: Any = None  # the function h, ``MachineEmbedding`` or ``RegressorEmbedding``
    H: Any = None  # (n, d) predicted embeddings of all nodes
    structure: Mapping[str, Any] = field(default_factory=dict)  # similarities by the graph that have a weight
    combinations: Mapping[str, Any] = field(default_factory=dict)  # by kind of pairs
    examples: Mapping[str, PairExamples] = field(default_factory=dict)  # pairs that taught the combinations

    @property
    def n_known(self):
        return len(self.nodes.graph)

    @property
    def has_features(self) -> bool:
        """Whether the nodes have features, so that new nodes have scores."""
        return self.kernel is not None

    def embed_known(self):
        """Embeddings (l, d) of the known nodes."""
        graph = self.nodes.graph
        return self.graph_embedding(graph.adjacency, np.arange(len(graph))) if self.V is None else self.V

    # ---------------------------------------------------------------- combinations, from cross-validated links

    def with_combinations(self):
        """The state with combinations of the selected scores, learnt from folds if there are several scores."""
        if self.selection.names is None:
            names = dict.fromkeys(KINDS, PREDICTED + self.embedding.cosine * COSINE)
            if self.selection.score_with == KNOWN:
                names[BOTH_KNOWN] = names[ONE_NEW] = KNOWN + self.embedding.cosine * COSINE
            return replace(self, combinations={kind: SingleScore(names[kind]) for kind in KINDS})
        examples = self.cross_validate()
        combinations = {kind: pairs.combination() for kind, pairs in examples.items()}
        used = [name for name in self.selection.structure if name in combinations[BOTH_KNOWN].used]
        (structure,) = structural_scores(used, self.nodes.graph.adjacency)
        return replace(self, structure=structure, combinations=combinations, examples=examples)

    def cross_validate(self):
        """Examples of every kind of pairs that has scores."""
        folds = self._folds()
        examples = {BOTH_KNOWN: folds.hide_pairs()}
        if self.nodes.X is not None:
            examples[ONE_NEW], examples[BOTH_NEW] = folds.hide_nodes()
        return {kind: pairs for kind, pairs in examples.items() if pairs.scores}

    def _folds(self):
        names = self.selection.names
        gram = predict = None
        if self.nodes.X is not None and names is not None and ATTRIBUTES in names:
            gram = self.kernel.training_gram(
                take_inputs(self.nodes.X, np.arange(self.n_known), self.kernel.precomputed)
            )
        if self.embedding is not None and self.selection.uses_embeddings:
            predict = self.embedding.refit_function(self.n_known)
        graph = self.nodes.graph
        new_have_kernel = self.kernel is not None and not self.kernel.precomputed
        return LinkFolds(
            graph.adjacency,
            graph.hidden,
            self.selection,
            self.graph_embedding,
            predict,
            gram,
            gram if new_have_kernel else None,
            learnt_of_known=self.graph_embedding.depends_on_links or not {*(names or ())} - {LEARNT},
        )

    def thresholds(self):
        """Thresholds of scores with the best F1 on cross-validated pairs, by kind."""
        examples = self.examples or self.cross_validate()
        thresholds = {kind: pairs.threshold(self.combinations[kind]) for kind, pairs in examples.items()}
        if not self.examples:  # scores of h alone: all pairs, without both nodes
            thresholds[BOTH_NEW] = best_f1_threshold(self.nodes.graph.adjacency, *self.cross_validated_scores())[0]
        return thresholds

    def cross_validated_scores(self):
        """Scores (l, l) of pairs of known nodes by h, predicted without them, and the mask of the known pairs."""
        return self.embedding.cross_validated_scores(self.V, self.criterion), known_pair_mask(self.nodes.graph)

    def example_scores(self, kind):
        """Combined scores (m,) of cross-validated pairs, whether they are linked (m,), and weights (m,).

        kind : "known", hidden pairs of known nodes; "mixed", pairs of a known node and a new one; or "new"
        """
        check_choice(kind, "kind", KINDS)
        pairs = (self.examples or self.cross_validate()).get(kind)
        if pairs is None or not len(pairs.linked):
            raise ValueError(f"no {kind} pairs were cross-validated: the nodes have no features, or no links")
        return self.combinations[kind](pairs.scores), pairs.linked, pairs.weights

    # ---------------------------------------------------------------- scores

    def scores_of_nodes(self) -> AllPairScores:
        """Scores of all pairs of nodes of fit."""
        l, X = self.n_known, self.nodes.X
        scores = dict(self.structure)
        if X is None:
            return AllPairScores(l, self._combine(BOTH_KNOWN, scores), None, None)
        known = _safe_indexing(X, np.arange(l))
        if self.H is not None:
            scores |= embedding_scores(self.H[:l], self.H[:l], self.V, self.V, self._used(BOTH_KNOWN))
        scores[ATTRIBUTES] = KernelScores(self.kernel, known, known)
        both_known = self._combine(BOTH_KNOWN, scores)
        if _num_samples(X) == l:
            return AllPairScores(l, both_known, None, None)
        others = _safe_indexing(X, np.arange(l, _num_samples(X)))
        mixed = self.scores_with_known(others) if ONE_NEW in self.combinations else None
        new = self.scores_of_new(others) if BOTH_NEW in self.combinations else None
        return AllPairScores(l, both_known, mixed, new)

    def scores_with_known(self, X) -> PairScores:
        """Scores of pairs of new nodes X with the known ones."""
        l = self.n_known
        scores = {}
        if self.H is not None:
            scores = embedding_scores(self.embedding(X), self.H[:l], None, self.V, self._used(ONE_NEW))
        scores[ATTRIBUTES] = KernelScores(self.kernel, X, _safe_indexing(self.nodes.X, np.arange(l)))
        return self._combine(ONE_NEW, scores)

    def scores_of_new(self, X, Z=None) -> PairScores:
        """Scores of pairs of new nodes X with Z, or with each other."""
        scores = {}
        if self.embedding is not None:
            H = self.embedding(X)
            scores = embedding_scores(H, H if Z is None else self.embedding(Z), used=self._used(BOTH_NEW))
        scores[ATTRIBUTES] = KernelScores(self.kernel, X, X if Z is None else Z)
        return self._combine(BOTH_NEW, scores)

    def _used(self, kind):
        """Names of the scores with a weight for a kind of pairs."""
        return self.combinations[kind].used if kind in self.combinations else ()

    def _combine(self, kind, scores):
        if kind not in self.combinations:
            raise ValueError(NO_SCORE)
        return PairScores(self.combinations[kind], scores)
