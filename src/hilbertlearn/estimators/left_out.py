"""Links left out: what alpha, gamma and the threshold of a link predictor are chosen by."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.preprocessing import KernelCenterer

from .._linalg import row_norms
from ..held_out import FOLDS, Choice, best_index, leave_pairs_out, settled
from ..kernels import InputKernel
from ..losses import as_loss
from ..training import Training, fit_path
from .vector import OperatorKernelRegressor

_THIN, _THIN_FOLDS = 2, 4  # every so many alphas of the default grid are tried: pairs left out, folds
_SMALLEST = 1e-9  # alpha tried, relative to the largest
_TINY = np.finfo(float).tiny


def pair_scores(H, G, cosine):
    """Inner products (m, p) of rows, or their cosines."""
    if cosine:
        unit = H / np.maximum(row_norms(H), _TINY)[:, None]
        return unit @ (unit if G is H else G / np.maximum(row_norms(G), _TINY)[:, None]).T
    return H @ G.T


@dataclass(frozen=True)
class Candidate:
    """A kernel machine with its training data, which leaving out and the fit share."""

    cosine: bool
    kernel: InputKernel
    centerer: KernelCenterer | None
    model: OperatorKernelRegressor
    training: Training

    def choose(self, alpha, error):
        """The choice of alpha, the scores (l, l) of pairs of known nodes, left out, and their error (a function)."""
        training = self.training
        alphas = _alphas(training) if isinstance(alpha, str) else [float(alpha)]
        loss = settled(training, as_loss(self.model.loss), alphas, self.model.options())
        closed_form = training.closed_form and loss.quadratic
        if len(training.Y) < (2 if closed_form else 3):  # nothing is left: the smoothest model
            return Choice(alphas[-1], loss, training), pair_scores(training.Y, training.Y, self.cosine), 0.0

        def left_out(alphas):
            return self._pairs_left_out(alphas) if closed_form else self._folds_left_out(loss, alphas)

        if len(alphas) > 1:
            alphas = alphas[:: _THIN if closed_form else _THIN_FOLDS]
            alphas = [float(alphas[best_index([error(scores) for scores in left_out(alphas)])])]
        (scores,) = left_out(alphas)
        return Choice(alphas[0], loss, training), scores, error(scores)

    def _pairs_left_out(self, alphas):
        """For each alpha the scores (l, l) of pairs, both nodes left out: that one is linked says much of the other."""
        training = self.training
        if training.depends_on_alpha:  # without a graph each alpha takes one inverse, and no eigenvectors
            training, _ = training.prepared(alphas)
        for alpha in alphas:
            K, penalty = training.term_at(alpha).as_separable().gram.dense(), alpha * len(training.Y)
            products, squares = leave_pairs_out(K, training.Y, penalty, center=self.centerer is not None)
            if self.cosine:
                products = np.clip(products / np.maximum(np.sqrt(squares * squares.T), _TINY), -1.0, 1.0)
            yield products

    def _folds_left_out(self, loss, alphas):
        """For each alpha the scores (l, l) of pairs, both nodes left out with their folds."""
        training, n = self.training, len(self.training.rows)
        scores = np.zeros((len(alphas), n, n))
        for train, test in pairs_of_folds(n):
            part = training.take(train)
            center = np.zeros(part.Y.shape[1]) if self.centerer is None else part.Y.mean(axis=0)  # of the others
            path = fit_path(part, loss, alphas[::-1], self.model.options(), center)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # of models that only serve to choose
                for one, found in zip(scores[::-1], path, strict=True):
                    H = found.coordinates_at(training.cross(test, part)) - center
                    one[np.ix_(test, test)] = pair_scores(H, H, self.cosine)
        return iter(scores)


def pairs_of_folds(n):
    """List of (train, test) in which every pair of n >= 3 samples is in a test set: all unions of two folds."""
    folds = [test for _, test in KFold(min(FOLDS, n), shuffle=True, random_state=0).split(np.arange(n))]
    tests = [np.sort(np.concatenate(two)) for two in itertools.combinations(folds, 2)]
    return [(np.setdiff1d(np.arange(n), test), test) for test in tests]


def _alphas(training):
    """The default grid without its smallest, where what is left out is lost in rounding."""
    alphas = training.alphas()
    return alphas[alphas >= _SMALLEST * alphas[-1]]
