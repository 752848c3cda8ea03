"""Cross-validation of a kernel machine on the nodes of a graph, by which gamma, alpha and other settings are selected.

With the squared loss all pairs of nodes have a closed form, else nodes are in folds.
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.preprocessing import KernelCenterer

from .._utils.linalg import unit_rows
from ..losses import as_loss
from ..selection import FOLDS, Selection, automatic_bounds, best_index, resolve_loss
from ..training import Training, fit_path
from ..vector import OperatorKernelRegressor
from .leave_node_out import leave_nodes_out
from .leave_pair_out import leave_pairs_out

CRITERIA = ("pairs", "nodes")
_STEP, _STEP_FOLDS = 2, 4  # steps on the default grid of alphas: closed form, folds; twice the step, half the time
_SMALLEST = 1e-9  # alpha, relative to the largest of the grid: below, cross-validated predictions are rounding errors
_TINY = np.finfo(float).tiny


def inner_products(H, G, cosine):
    """Inner products (m, p) of rows, or their cosines."""
    if cosine:
        unit = unit_rows(H)
        return unit @ (unit if G is H else unit_rows(G)).T
    return H @ G.T


@dataclass(frozen=True)
class LinkSearchResult:
    """Selected settings, and the cross-validated scores (l, l) of pairs of known nodes that selected them."""

    selection: Selection
    cosine: bool
    scores: np.ndarray
    error: float


@dataclass(frozen=True)
class LinkTrial:
    """A kernel machine with its training data, which cross-validation and the final fit share."""

    centerer: KernelCenterer | None
    model: OperatorKernelRegressor
    training: Training

    @property
    def closed_form(self):
        """Whether cross-validation has a closed form."""
        return self.training.closed_form and as_loss(self.model.loss).quadratic

    def alphas(self, alpha):
        """The values of alpha to evaluate: the setting, or some of the default grid."""
        if not isinstance(alpha, str):
            return np.array([float(alpha)])
        alphas = self.training.alphas()
        return alphas[alphas >= _SMALLEST * alphas[-1]][:: _STEP if self.closed_form else _STEP_FOLDS]

    def search(self, alpha, cosines, criterion, error) -> LinkSearchResult:
        """The best alpha, and whether cosines or inner products are better.

        cosines : list of booleans
        error : function of scores (l, l)
        """
        training = self.training
        closed_form, alphas = self.closed_form, self.alphas(alpha)
        loss = resolve_loss(training, as_loss(self.model.loss), alphas, self.model.spec().options)
        if len(training.Y) < (2 if closed_form else 3):  # nothing is left to fit: the smoothest model
            scores = inner_products(training.Y, training.Y, cosines[0])
            return LinkSearchResult(Selection(alphas[-1], loss, training), cosines[0], scores, 0.0)

        def scores_of(alphas):
            if not closed_form:
                return self._fold_scores(loss, alphas, cosines, criterion)
            return (self._node_scores if criterion == "nodes" else self._pair_scores)(alphas, cosines)

        if len(alphas) > 1:
            errors = [min(map(error, candidates)) for candidates in scores_of(alphas)]
            alphas = [float(alphas[best_index(errors)])]
        (candidates,) = scores_of(alphas)
        errors = [error(scores) for scores in candidates]
        best = best_index(errors)
        bounds = automatic_bounds(as_loss(self.model.loss), loss)
        selection = Selection(alphas[0], loss, training, selected_alpha=isinstance(alpha, str), selected_bounds=bounds)
        return LinkSearchResult(selection, cosines[best], candidates[best], errors[best])

    def cross_validated_scores(self, alpha, cosine, criterion):
        """Scores (l, l) of pairs of known nodes, predicted without them."""
        return self.search(alpha, [cosine], criterion, lambda scores: 0.0).scores

    def fixed_result(self, alpha, cosine) -> LinkSearchResult:
        """The result where all settings are given, without cross-validation."""
        loss = resolve_loss(self.training, as_loss(self.model.loss), [alpha], self.model.spec().options)
        return LinkSearchResult(Selection(float(alpha), loss, self.training), cosine, np.empty((0, 0)), 0.0)

    def _separable(self, alphas):
        """For each alpha the Gram matrix (l, l) of the squared loss and its penalty."""
        training = self.training
        if training.depends_on_alpha:  # else each alpha needs one inverse and no eigenvectors
            training, _ = training.factor_for_path(alphas)
        for alpha in alphas:
            yield training.weighted_term(alpha).as_separable().gram.dense(), alpha * len(training.Y)

    @cached_property
    def _inner(self):
        """Inner products (l, l) of the embeddings."""
        return self.training.Y @ self.training.Y.T

    def _pair_scores(self, alphas, cosines):
        """For each alpha the scores (l, l) of pairs, predicted without both nodes."""
        for K, penalty in self._separable(alphas):
            products, squares = leave_pairs_out(
                K, self.training.Y, penalty, center=self.centerer is not None, inner=self._inner
            )
            lengths = np.sqrt(squares)  # the product of two squares might underflow
            yield [
                np.clip(products / np.maximum(lengths * lengths.T, _TINY), -1.0, 1.0) if cosine else products
                for cosine in cosines
            ]

    def _node_scores(self, alphas, cosines):
        """For each alpha the scores (l, l) of leave-one-out predictions (Brouard et al. 2016)."""
        for K, penalty in self._separable(alphas):
            H = leave_nodes_out(K, self.training.Y, penalty, center=self.centerer is not None)
            yield [inner_products(H, H, cosine) for cosine in cosines]

    def _fold_scores(self, loss, alphas, cosines, criterion):
        """For each alpha the scores (l, l) of pairs, by predictions without the folds of both nodes or of each."""
        training, n = self.training, len(self.training.rows)
        pairs = criterion == "pairs"
        scores = np.zeros((len(alphas), len(cosines), n, n))
        predictions = np.zeros((len(alphas), *training.Y.shape))
        for train, test in pairs_of_folds(n) if pairs else folds(n):
            part = training.take(train)
            center = np.zeros(part.Y.shape[1]) if self.centerer is None else part.Y.mean(axis=0)
            path = fit_path(part, loss, alphas[::-1], self.model.spec().options, center)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # these models only serve the selection
                for k, model in zip(range(len(alphas))[::-1], path, strict=True):
                    H = predictions[k, test] = model.coordinates_at(training.cross(test, part)) - center
                    for matrix, cosine in zip(scores[k], cosines, strict=True) if pairs else ():
                        matrix[np.ix_(test, test)] = inner_products(H, H, cosine)
        if pairs:
            return iter(scores)
        return ([inner_products(H, H, cosine) for cosine in cosines] for H in predictions)


def folds(n):
    """List of (train, test), n >= 3 samples in folds."""
    return list(KFold(min(FOLDS, n), shuffle=True, random_state=0).split(np.arange(n)))


def pairs_of_folds(n):
    """List of (train, test) in which every pair of n >= 3 samples is in a test set: all unions of two folds."""
    tests = [np.sort(np.concatenate(two)) for two in itertools.combinations([test for _, test in folds(n)], 2)]
    return [(np.setdiff1d(np.arange(n), test), test) for test in tests]
