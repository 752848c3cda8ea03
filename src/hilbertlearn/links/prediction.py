"""What a fitted link predictor answers: scores of pairs, links, names, and what was learnt."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._utils.facts import Facts, WithFacts
from .._utils.naming import unnamed_in_errors
from .._utils.validation import check_choice, check_memory, check_number
from ..data.functions import has_points
from ..data.graphs import Pairs, is_networkx, row_names
from ..data.graphs.edges import edge_columns, edges_of
from ..data.graphs.names import abbreviate, as_names, find_positions
from ..machine.dates import date_facts
from ..machine.inputs import check_inputs
from ..machine.state import blocks_of
from .inputs import LinkEstimator, same_inputs, take_inputs
from .pair_scores import UnknownPairScores, all_scores, score_blocks, scores_at_once
from .selection import SCORING
from .state import BOTH_KNOWN, KINDS
from .top_pairs import SIZE, top_pairs


@unnamed_in_errors
class LinkPredictionMixin(WithFacts, LinkEstimator):
    """The methods of a link predictor after its fit, which sets ``_state_``, a ``LinkState``."""

    @property
    def _learnt(self):
        check_is_fitted(self, "_state_")
        return self._state_

    def _get_fitted_attr_html(self, doc_link=""):
        """No table of all attributes in scikit-learn's diagram: some are computed when they are read."""
        return {}

    @property
    def nodes_(self):
        return self._learnt.nodes.names

    @property
    def known_(self):
        return np.sort(self._learnt.nodes.order[: self._learnt.n_known])

    @property
    def embedding_(self):
        return self._learnt.embedded()[self._learnt.nodes.places]

    @property
    def fitted_(self):
        return self._of_function(self._learnt.H)[self._learnt.nodes.places]

    @property
    def thresholds_(self):
        return self._learnt.thresholds()

    @property
    def left_out_score_(self):
        state = self._learnt
        self._of_function(state.embedding)
        return SCORING[state.scoring](state.nodes.graph.adjacency, *state.left_out())

    @property
    def weights_(self):
        return {kind: one.by_name() for kind, one in self._learnt.combinations.items()}

    @property
    def model_(self):
        return self._of_function(self._learnt.embedding).model

    @property
    def alpha_(self):
        return self._of_machine("alpha")

    @property
    def loss_(self):
        return self._of_machine("loss")

    @property
    def dual_gap_(self):
        return self._of_machine("model").dual_gap_

    @property
    def n_iter_(self):
        return getattr(self.model_, "n_iter_", 1)

    @property
    def kernel_(self):
        return self._of_function(self._learnt.kernel).kernel

    @property
    def gamma_(self):
        return self._of_function(self._learnt.kernel).gamma

    def _of_machine(self, name):
        embedding = self._of_function(self._learnt.embedding)
        if not hasattr(embedding, "alpha"):
            raise AttributeError(f"{type(self).__name__} was fitted with a regressor: there is no kernel machine")
        return getattr(embedding, name)

    def _of_function(self, value):
        if value is None:
            raise AttributeError(f"{type(self).__name__} was fitted without features: there is no function of them")
        return value

    @property
    def has_features(self) -> bool:
        """Whether the nodes of fit had features, so that there are scores of new ones."""
        return self._learnt.kernel is not None

    def held_out_scores(self, kind):
        """Scores (m,) of pairs whose links were held out, whether they are linked (m,), and how many each stands for.

        kind : "known", hidden pairs of known nodes; "mixed", of a known node and one that was left out; or "new", of
            two that were. Weights of similarities were learnt from these pairs.
        """
        check_choice(kind, "kind", KINDS)
        state = self._learnt
        pairs = (state.held_out or state.all_held_out()).get(kind)
        if pairs is None or not len(pairs.linked):
            raise ValueError(f"no {kind} pairs were held out: the nodes have no features, or no links")
        return state.combinations[kind](pairs.scores), pairs.linked, pairs.weights

    def facts(self) -> Facts:
        """What was found, as pairs (name, value): the graph, how scores are made, the function of the features."""
        state = self._learnt
        facts: Facts = [("known nodes", state.n_known), ("links", state.nodes.graph.adjacency.nnz // 2)]
        for kind, one in state.combinations.items():
            weights = {name: float(weight) for name, weight in one.by_name().items() if weight > 0}
            facts.append((f"scores of {kind} pairs", weights))
        return facts if state.embedding is None else facts + state.embedding.facts() + date_facts(self)

    # ---------------------------------------------------------------- predict

    def decision_function(self, X):
        """Scores (m, l) of links between the nodes X and the known ones, or (m,) of pairs of nodes of fit.

        They are log odds of a link, as pairs that were held out have them; with similarities=None those of h alone.

        X : features of new nodes; or pairs of nodes of fit: ``graphs.Pairs``, a list of tuples of two names, or, of a
            model without features, any edge list
        """
        pairs = self._pairs_of(X)
        if pairs is not None:
            return self._learnt.scores_of_nodes().at(*pairs)
        X = self._check_X(X)
        out = np.empty((_num_samples(X), self._learnt.n_known))
        for rows, part in self._blocks(X):
            out[rows] = self._with_known(part)
        return out

    def _with_known(self, X):
        """Scores (m, l) of new nodes with the known ones, in the order of `known_`."""
        state = self._learnt
        scores = state.scores_with_known(X).block(slice(0, _num_samples(X)), slice(0, state.n_known))
        return scores[:, state.nodes.places]

    def predict(self, X):
        """Whether pairs of nodes of fit are linked (m,), 0 or 1; or the likeliest neighbour (m,) of new nodes.

        X : ``graphs.Pairs`` or a list of pairs of names; or features of new nodes, for names of known ones
        """
        pairs = self._pairs_of(X)
        if pairs is None:
            return self.nodes_[self.known_][self._nearest(self._check_X(X))]
        n_new = sum((side >= self._learnt.n_known).astype(int) for side in pairs)
        found = self.thresholds_
        thresholds = np.array([found.get(kind, np.inf) for kind in KINDS])
        return (self._learnt.scores_of_nodes().at(*pairs) >= thresholds[n_new]).astype(int)

    def _nearest(self, X):
        """Positions (m,) of the known nodes with the highest scores."""
        return np.concatenate([self._with_known(part).argmax(axis=1) for _, part in self._blocks(X)])

    def _blocks(self, X):
        """Pairs (rows, X there) of new nodes whose scores with the known ones, and embeddings, fit in memory."""
        state = self._learnt
        return blocks_of(X, 2 * state.n_known + (0 if state.H is None else 2 * state.H.shape[1]))

    def pair_scores(self, X=None, Z=None):
        """Scores of links between the nodes X and Z (m, p), among those of X (m, m), or among those of fit (n, n).

        The X of fit itself stands for these nodes, whose links are known; others are new.
        """
        asked = self._asked(X, Z)
        m, p = len(asked.rows), len(asked.columns)
        remedy = "use predict_links(top_k=), which goes through them in blocks"
        check_memory(max(m, p), 4, f"X has {m} nodes: the scores of all pairs", remedy)
        return all_scores(asked.scores, asked.row_places, asked.column_places)

    def predict_links(self, X=None, Z=None, *, top_k=None):
        """Links between X and Z, among X, or among the nodes of fit.

        Of pairs of nodes of fit those that are known are left out: where some are hidden these are predicted, else all
        that are not linked.

        Parameters
        ----------
        X, Z : as for ``pair_scores``; Z="known" for the known nodes
        top_k : None for a sparse matrix of booleans, scores of ``thresholds_`` or more; or a number of links, for a
            list of (name, name, score), best first. Names are those of ``nodes_``, of the index of X, or row numbers.
        """
        if top_k is not None:
            check_number(top_k, "top_k", integer=True)
        asked = self._asked(X, Z)
        m, p = len(asked.rows), len(asked.columns)
        scores = UnknownPairScores(asked.scores, self._learnt.nodes.graph, m) if asked.of_fit else asked.scores
        if top_k is not None:
            best = top_pairs(scores.block, m, p, top_k, symmetric=asked.symmetric, size=scores_at_once(SIZE))
            best = best.placed(asked.row_places, asked.column_places, asked.symmetric)
            first, second = asked.rows[best.rows].tolist(), asked.columns[best.columns].tolist()
            return list(zip(first, second, best.scores.tolist(), strict=True))
        found = self.thresholds_
        thresholds, parts = np.array([found.get(kind, np.inf) for kind in KINDS]), []
        for rows in score_blocks(m, p, SIZE):
            limits = thresholds[np.add.outer(asked.new_rows[rows].astype(int), asked.new_columns.astype(int))]
            parts.append(scipy.sparse.csr_array(scores.block(rows, slice(0, p)) >= limits))
        links = scipy.sparse.csr_array(scipy.sparse.vstack(parts))
        if asked.symmetric:
            links.setdiag(False)
            links.eliminate_zeros()
        return links[np.argsort(asked.row_places)][:, np.argsort(asked.column_places)]

    def _asked(self, X, Z):
        """The pairs that are asked for, and their scores."""
        state = self._learnt
        if Z is None and (X is None or self._is_of_fit(X)):
            order, names = state.nodes.order, state.nodes.names
            new = np.arange(len(order)) >= state.n_known
            return _PairGrid(state.scores_of_nodes(), names, names, order, order, new, new, True, of_fit=True)
        if X is None:
            raise ValueError(
                "X: beside Z give features of the other nodes; pair_scores() has those of the nodes of fit"
            )
        names, X = as_names(row_names(X), "X"), self._check_X(X)
        places, new = np.arange(len(names)), np.ones(len(names), dtype=bool)
        if Z is None:
            return _PairGrid(state.scores_of_new(X), names, names, places, places, new, new, True)
        if isinstance(Z, str):
            check_choice(Z, "Z", (BOTH_KNOWN,))
            known, known_places = self.nodes_[self.known_], np.argsort(state.nodes.places)
            old = np.zeros(len(known), dtype=bool)
            return _PairGrid(state.scores_with_known(X), names, known, places, known_places, new, old, False)
        others, Z = as_names(row_names(Z), "Z"), self._check_X(Z)
        new_others = np.ones(len(others), dtype=bool)
        return _PairGrid(
            state.scores_of_new(X, Z), names, others, places, np.arange(len(others)), new, new_others, False
        )

    def _is_of_fit(self, X):
        """Whether these are the features of fit, and so its nodes."""
        nodes = self._learnt.nodes
        if nodes.X is None or _num_samples(X) != len(nodes.names):
            return False
        X = self._check_X(X, in_order=False)
        return same_inputs(take_inputs(X, nodes.order, self._learnt.kernel.precomputed), nodes.X)

    def _pairs_of(self, X):
        """Positions (m,), (m,) of pairs of nodes of fit, known ones first; None for anything but pairs."""
        if isinstance(X, Pairs):
            names = X.nodes[X.first], X.nodes[X.second]
        else:
            with_features = self._learnt.kernel is not None
            if with_features and not (isinstance(X, (list, tuple)) and X and all(isinstance(p, tuple) for p in X)):
                return None
            columns = edge_columns(X if with_features or not isinstance(X, Iterable) else edges_of(X), "X")
            if columns is None:
                return None
            names = columns[:2]
        known = self._learnt.nodes.names[self._learnt.nodes.order]
        places = tuple(find_positions(side, known) for side in names)
        strange = np.concatenate([side[place < 0] for side, place in zip(names, places, strict=True)])
        if len(strange):
            raise ValueError(f"X has nodes that fit did not see: {abbreviate(strange)}; give names of nodes_")
        same = places[0] == places[1]
        if same.any():
            raise ValueError(
                f"X has pairs of a node with itself, {abbreviate(names[0][same])}; give pairs of two nodes"
            )
        return places

    def _check_X(self, X, in_order=True):
        state = self._learnt
        if state.kernel is None:
            raise ValueError(
                f"X: {type(self).__name__} was fitted without features; ask for pairs of names, or give X to fit"
            )
        if isinstance(state.kernel.kernel, str) and _are_no_rows(X):
            raise ValueError(
                f"X must be the features of new nodes, a row of {self.n_features_in_} numbers for each, got "
                f"{reprlib.repr(X)}. Reshape your data, such as array.reshape(-1, 1) or array.reshape(1, -1). For "
                "nodes of fit give pairs of names, [(one, other), ...], to predict or decision_function, or ask "
                "predict_links()"
            )
        X = check_inputs(self, X, [state.kernel.kernel], reset=False)
        if in_order and state.kernel.precomputed:
            X = X[:, state.nodes.order]
        return X


def _are_no_rows(X):
    """Whether X is one number or name, a list of them, or a graph, but no rows of numbers or curves."""
    if isinstance(X, (list, tuple)):
        return not any(isinstance(row, (list, tuple)) or getattr(row, "ndim", 0) for row in X)
    return is_networkx(X) or (np.ndim(X) < 2 and not has_points(X) and not hasattr(X, "parts"))


@dataclass(frozen=True)
class _PairGrid:
    """Pairs of nodes that are asked for: the names of the nodes, the scores, and where these are among the names."""

    scores: Any
    rows: np.ndarray  # (m,) names, in the order in which the nodes were given
    columns: np.ndarray  # (p,)
    row_places: np.ndarray  # (m,) where the rows of the scores are among the names
    column_places: np.ndarray  # (p,)
    new_rows: np.ndarray  # (m,) whether the rows of the scores are new nodes
    new_columns: np.ndarray  # (p,)
    symmetric: bool
    of_fit: bool = False  # the nodes of fit, with themselves
