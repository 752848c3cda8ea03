"""The methods of a fitted link predictor: scores of pairs, predicted links, and learnt attributes."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._utils.blocks import blocks_of
from .._utils.naming import unnamed_in_errors
from .._utils.summary import SummaryItems, SummaryMixin
from .._utils.validation import check_choice, check_memory, check_number
from ..data.functions import has_points
from ..data.graphs import Pairs, is_networkx, row_names
from ..data.graphs.edges import edge_columns, edges_of
from ..data.graphs.names import abbreviate, as_names, find_positions
from ..machine.dates import date_items
from ..machine.inputs import check_inputs
from .inputs import LinkEstimator, same_inputs, take_inputs
from .pair_scores import UnknownPairScores, all_scores, block_entries, score_blocks
from .selection import SCORING
from .state import BOTH_KNOWN, KINDS
from .top_pairs import SIZE, top_pairs


@unnamed_in_errors
class LinkPredictionMixin(SummaryMixin, LinkEstimator):
    """The methods of a link predictor after its fit, which sets ``link_state_``, a ``LinkState``."""

    @property
    def _state(self):
        check_is_fitted(self, "link_state_")
        return self.link_state_

    def _get_fitted_attr_html(self, doc_link=""):
        """No table of all attributes in scikit-learn's diagram: some are computed when they are read."""
        return {}

    @property
    def nodes_(self):
        return self._state.nodes.names

    @property
    def known_(self):
        return np.sort(self._state.nodes.order[: self._state.n_known])

    @property
    def embedding_(self):
        return self._state.embed_known()[self._state.nodes.known_positions]

    @property
    def fitted_(self):
        return self._require_function(self._state.H)[self._state.nodes.known_positions]

    @property
    def thresholds_(self):
        return self._state.thresholds()

    @property
    def cv_score_(self):
        state = self._state
        self._require_function(state.embedding)
        return SCORING[state.scoring](state.nodes.graph.adjacency, *state.cross_validated_scores())

    @property
    def weights_(self):
        return {kind: combination.weights_by_name() for kind, combination in self._state.combinations.items()}

    @property
    def model_(self):
        return self._require_function(self._state.embedding).model

    @property
    def alpha_(self):
        return self._require_machine().alpha

    @property
    def loss_(self):
        return self._require_machine().loss

    @property
    def dual_gap_(self):
        return self._require_machine().model.dual_gap_

    @property
    def n_iter_(self):
        return getattr(self.model_, "n_iter_", 1)

    @property
    def kernel_(self):
        return self._require_function(self._state.kernel).kernel

    @property
    def gamma_(self):
        return self._require_function(self._state.kernel).gamma

    def _require_machine(self):
        """The embedding by the kernel machine."""
        embedding = self._require_function(self._state.embedding)
        if not hasattr(embedding, "alpha"):
            raise AttributeError(f"{type(self).__name__} was fitted with a regressor: there is no kernel machine")
        return embedding

    def _require_function(self, value):
        """A part of the state that is None without features."""
        if value is None:
            raise AttributeError(f"{type(self).__name__} was fitted without features: there is no function of them")
        return value

    def summary_items(self) -> SummaryItems:
        """The graph, the weights of scores and the function of the features, as pairs (name, value)."""
        state = self._state
        items: SummaryItems = [("known nodes", state.n_known), ("links", state.nodes.graph.adjacency.nnz // 2)]
        for kind, combination in state.combinations.items():
            weights = {name: float(weight) for name, weight in combination.weights_by_name().items() if weight > 0}
            items.append((f"scores of {kind} pairs", weights))
        return items if state.embedding is None else items + state.embedding.summary_items() + date_items(self)

    # ---------------------------------------------------------------- predict

    def decision_function(self, X):
        """Log odds of links; with ``similarities=None`` the scores of h.

        Parameters
        ----------
        X : features of new nodes, or pairs of nodes of fit
            Pairs are ``graphs.Pairs``, a list of tuples of two names, or any edge list if the model has no features.

        Returns
        -------
        ndarray (m, l) or (m,)
            Scores of new nodes with the known ones, in the order of ``known_``, or of pairs.
        """
        pairs = self._find_pairs(X)
        if pairs is not None:
            return self._state.scores_of_nodes().entries(*pairs)
        X = self._check_X(X)
        out = np.empty((_num_samples(X), self._state.n_known))
        for rows, part in self._blocks(X):
            out[rows] = self._scores_with_known(part)
        return out

    def _scores_with_known(self, X):
        """Scores (m, l) of new nodes with the known ones, in the order of `known_`."""
        state = self._state
        scores = state.scores_with_known(X).block(slice(0, _num_samples(X)), slice(0, state.n_known))
        return scores[:, state.nodes.known_positions]

    def predict(self, X):
        """Whether pairs of nodes of fit are linked, or the likeliest neighbours of new nodes.

        Parameters
        ----------
        X : ``graphs.Pairs``, a list of pairs of names, or features of new nodes

        Returns
        -------
        ndarray (m,)
            0 or 1 for pairs; the name of a known node for each new node.
        """
        pairs = self._find_pairs(X)
        if pairs is None:
            return self.nodes_[self.known_][self._nearest(self._check_X(X))]
        n_new = sum((side >= self._state.n_known).astype(int) for side in pairs)
        return (self._state.scores_of_nodes().entries(*pairs) >= self._threshold_by_new_nodes()[n_new]).astype(int)

    def _threshold_by_new_nodes(self):
        """Thresholds (3,) of pairs with no, one or two new nodes."""
        thresholds = self.thresholds_
        return np.array([thresholds.get(kind, np.inf) for kind in KINDS])

    def _nearest(self, X):
        """Positions (m,) in `known_` of the nodes with the highest scores."""
        return np.concatenate([self._scores_with_known(part).argmax(axis=1) for _, part in self._blocks(X)])

    def _blocks(self, X):
        """Pairs (rows, X there) of new nodes whose scores with the known ones, and embeddings, fit in memory."""
        state = self._state
        return blocks_of(X, 2 * state.n_known + (0 if state.H is None else 2 * state.H.shape[1]))

    def pair_scores(self, X=None, Z=None):
        """Scores of links between all nodes of two sets.

        Parameters
        ----------
        X : features of nodes or None, default=None
            None, or the X of fit itself, for the nodes of fit, whose links are known; any others are new nodes.
        Z : features of nodes or None, default=None
            The second set, None for the nodes of X.

        Returns
        -------
        ndarray (m, p)
        """
        grid = self._pair_grid(X, Z)
        m, p = grid.shape
        remedy = "use predict_links(top_k=), which goes through them in blocks"
        check_memory(max(m, p), 4, f"X has {m} nodes: the scores of all pairs", remedy)
        return all_scores(grid.scores, grid.rows.positions, grid.columns.positions)

    def predict_links(self, X=None, Z=None, *, top_k=None):
        """Links between the nodes of two sets.

        Known pairs of nodes of fit are not predicted: if some pairs are hidden, these are, else all that are not
        linked.

        Parameters
        ----------
        X : features of nodes or None, default=None
            As for ``pair_scores``.
        Z : features of nodes, "known" or None, default=None
            As for ``pair_scores``; "known" for the known nodes.
        top_k : int or None, default=None
            Number of links; None for all with a score of ``thresholds_`` or more.

        Returns
        -------
        sparse matrix of booleans, or list of (name, name, score)
            The list, for ``top_k``, has the best link first. Names are those of ``nodes_``, of the index of X, or row
            numbers.
        """
        if top_k is not None:
            check_number(top_k, "top_k", integer=True)
        grid = self._pair_grid(X, Z)
        scores: Any = grid.scores
        if grid.of_fit:
            scores = UnknownPairScores(grid.scores, self._state.nodes.graph, grid.shape[0])
        if top_k is None:
            return self._links_above_threshold(grid, scores)
        m, p = grid.shape
        best = top_pairs(scores.block, m, p, top_k, symmetric=grid.symmetric, size=block_entries(SIZE))
        best = best.reindex(grid.rows.positions, grid.columns.positions, grid.symmetric)
        first, second = grid.rows.names[best.rows].tolist(), grid.columns.names[best.columns].tolist()
        return list(zip(first, second, best.scores.tolist(), strict=True))

    def _links_above_threshold(self, grid, scores):
        """Sparse mask (m, p) of the pairs with a score of the threshold or more."""
        thresholds, blocks = self._threshold_by_new_nodes(), []
        rows_new, columns_new = grid.rows.is_new.astype(int), grid.columns.is_new.astype(int)
        m, p = grid.shape
        for rows in score_blocks(m, p, SIZE):
            limits = thresholds[np.add.outer(rows_new[rows], columns_new)]
            blocks.append(scipy.sparse.csr_array(scores.block(rows, slice(0, p)) >= limits))
        links = scipy.sparse.csr_array(scipy.sparse.vstack(blocks))
        if grid.symmetric:
            links.setdiag(False)
            links.eliminate_zeros()
        return links[np.argsort(grid.rows.positions)][:, np.argsort(grid.columns.positions)]

    def _pair_grid(self, X, Z):
        """The pairs of two sets of nodes, with their scores."""
        state = self._state
        if Z is None and (X is None or self._is_training_input(X)):
            order = state.nodes.order
            nodes = _NodeList(state.nodes.names, order, np.arange(len(order)) >= state.n_known)
            return _PairGrid(state.scores_of_nodes(), nodes, nodes, symmetric=True, of_fit=True)
        if X is None:
            raise ValueError(
                "X: beside Z give features of the other nodes; pair_scores() has those of the nodes of fit"
            )
        rows, X = _NodeList.from_names(as_names(row_names(X), "X")), self._check_X(X)
        if Z is None:
            return _PairGrid(state.scores_of_new(X), rows, rows, symmetric=True)
        if isinstance(Z, str):
            check_choice(Z, "Z", (BOTH_KNOWN,))
            names = self.nodes_[self.known_]
            known = _NodeList(names, np.argsort(state.nodes.known_positions), np.zeros(len(names), dtype=bool))
            return _PairGrid(state.scores_with_known(X), rows, known, symmetric=False)
        columns, Z = _NodeList.from_names(as_names(row_names(Z), "Z")), self._check_X(Z)
        return _PairGrid(state.scores_of_new(X, Z), rows, columns, symmetric=False)

    def _is_training_input(self, X):
        """Whether X equals the features of fit."""
        nodes = self._state.nodes
        if nodes.X is None or _num_samples(X) != len(nodes.names):
            return False
        X = self._check_X(X, in_order=False)
        return same_inputs(take_inputs(X, nodes.order, self._state.kernel.precomputed), nodes.X)

    def _pair_names(self, X):
        """Names (m,), (m,) of pairs of nodes; None if X has no pairs."""
        if isinstance(X, Pairs):
            return X.nodes[X.first], X.nodes[X.second]
        if self._state.has_features:
            are_tuples = isinstance(X, (list, tuple)) and X and all(isinstance(pair, tuple) for pair in X)
            columns = edge_columns(X, "X") if are_tuples else None
        else:
            columns = edge_columns(edges_of(X) if isinstance(X, Iterable) else X, "X")
        return None if columns is None else columns[:2]

    def _find_pairs(self, X):
        """Internal positions (m,), (m,) of pairs of nodes of fit; None if X has no pairs."""
        state, names = self._state, self._pair_names(X)
        if names is None:
            return None
        known = state.nodes.names[state.nodes.order]
        positions = tuple(find_positions(side, known) for side in names)
        unknown = np.concatenate([side[position < 0] for side, position in zip(names, positions, strict=True)])
        if len(unknown):
            raise ValueError(f"X has nodes that fit did not see: {abbreviate(unknown)}; give names of nodes_")
        same = positions[0] == positions[1]
        if same.any():
            raise ValueError(
                f"X has pairs of a node with itself, {abbreviate(names[0][same])}; give pairs of two nodes"
            )
        return positions

    def _check_X(self, X, in_order=True):
        """Checked features of new nodes; in_order : whether columns of kernel values are put in internal order."""
        state = self._state
        if not state.has_features:
            raise ValueError(
                f"X: {type(self).__name__} was fitted without features; ask for pairs of names, or give X to fit"
            )
        if isinstance(state.kernel.kernel, str) and _has_no_rows(X):
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


def _has_no_rows(X):
    """Whether X is one number or name, a list of them, or a graph, but not rows of numbers or curves."""
    if isinstance(X, (list, tuple)):
        return not any(isinstance(row, (list, tuple)) or getattr(row, "ndim", 0) for row in X)
    return is_networkx(X) or (np.ndim(X) < 2 and not has_points(X) and not hasattr(X, "parts"))


@dataclass(frozen=True)
class _NodeList:
    """Nodes of one side of a grid of pairs."""

    names: np.ndarray  # (m,) in the user's order
    positions: np.ndarray  # (m,) position among the names of each row or column of the scores
    is_new: np.ndarray  # (m,) mask of the rows or columns of the scores

    @classmethod
    def from_names(cls, names):
        """New nodes, in the user's order."""
        return cls(names, np.arange(len(names)), np.ones(len(names), dtype=bool))


@dataclass(frozen=True)
class _PairGrid:
    """All pairs of two lists of nodes, with their scores."""

    scores: Any
    rows: _NodeList
    columns: _NodeList
    symmetric: bool
    of_fit: bool = False  # whether these are the nodes of fit

    @property
    def shape(self):
        return len(self.rows.names), len(self.columns.names)
