"""Links left out: what alpha, gamma and the threshold of a link predictor are chosen by."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.preprocessing import KernelCenterer

from ..losses import Loss
from ..losses.balls import row_norms
from ..solvers.pairs import leave_pairs_out
from ..spaces import Space
from . import choice
from .training import Training
from .vector import OperatorKernelRegressor

_FOLDS = 5  # where leaving out has no closed form
_THIN, _THIN_FOLDS = 2, 4  # every so many alphas of the default grid are tried: pairs left out, folds
_SMALLEST = 1e-9  # alpha tried, relative to the largest
_TINY = np.finfo(float).tiny


def pair_scores(H, G, cosine):
    """Inner products (m, p) of rows, or their cosines."""
    if cosine:
        unit = H / np.maximum(row_norms(H), _TINY)[:, None]
        return unit @ (unit if G is H else G / np.maximum(row_norms(G), _TINY)[:, None]).T
    return H @ G.T


@dataclass
class Candidate:
    """A kernel machine with its Gram matrix, which leave-one-out and the fit share."""

    cosine: bool
    gamma: float | None
    centerer: KernelCenterer | None
    model: OperatorKernelRegressor
    inputs: object
    targets: np.ndarray  # (n, d), NaN for nodes whose links are not known
    training: Training
    loss: Loss
    space: Space

    def choose(self, alpha, error):
        """The best alpha, the scores (l, l) of pairs of known nodes, left out, and their error (a function of them)."""
        alphas = _alphas(self.training) if isinstance(alpha, str) else [float(alpha)]
        self.loss = choice.resolve(self.model, self.training, self.loss, self.targets, alphas)
        self.model.set_params(loss=self.loss)
        if len(self.training.Y) < (2 if self._closed_form else 3):  # nothing is left: the smoothest model
            return alphas[-1], pair_scores(self.training.Y, self.training.Y, self.cosine), 0.0
        left_out = self._pairs_left_out if self._closed_form else self._folds_left_out
        if len(alphas) > 1:
            alphas = alphas[:: _THIN if self._closed_form else _THIN_FOLDS]
            alphas = [alphas[choice.best_index([error(scores) for scores in left_out(alphas)])]]
        (scores,) = left_out(alphas)
        return alphas[0], scores, error(scores)

    @property
    def _closed_form(self):
        return self.training.closed_form and self.loss.quadratic

    def _pairs_left_out(self, alphas):
        """For each alpha the scores (l, l) of pairs, both nodes left out: that one is linked says much of the other."""
        if self.training.around is not None:  # without a graph each alpha takes one inverse, and no eigenvectors
            self.training.prepare_path(alphas)
        for alpha in alphas:
            (term,) = self.training.terms_at(alpha)
            penalty = alpha * len(self.training.Y)
            products, squares = leave_pairs_out(term.K, self.training.Y, penalty, center=self.centerer is not None)
            if self.cosine:
                products = np.clip(products / np.maximum(np.sqrt(squares * squares.T), _TINY), -1.0, 1.0)
            yield products

    def _folds_left_out(self, alphas):
        """For each alpha the scores (l, l) of pairs, both nodes left out with their folds."""
        known = self.training.rows
        scores = np.zeros((len(alphas), len(known), len(known)))
        pairs = pairs_of_folds(len(known))
        parts = choice.split(self.model, [(known[a], known[b]) for a, b in pairs], self.inputs, self.targets, None)
        for (X, Y, _, _, X_test, _), (_, test) in zip(parts, pairs, strict=True):
            if self.centerer is not None:  # of the others
                Y = Y - np.nanmean(Y, axis=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # of models that only serve to choose
                for one, fitted in zip(scores[::-1], self.model.fit_path(X, Y, alphas[::-1]), strict=True):
                    H = fitted.predict(X_test)
                    one[np.ix_(test, test)] = pair_scores(H, H, self.cosine)
        return iter(scores)


def pairs_of_folds(n):
    """List of (train, test) in which every pair of n >= 3 samples is in a test set: all unions of two folds."""
    folds = [test for _, test in KFold(min(_FOLDS, n), shuffle=True, random_state=0).split(np.arange(n))]
    tests = [np.sort(np.concatenate(two)) for two in itertools.combinations(folds, 2)]
    return [(np.setdiff1d(np.arange(n), test), test) for test in tests]


def _alphas(training):
    """The default grid without its smallest, where what is left out is lost in rounding."""
    alphas = training.alphas()
    return alphas[alphas >= _SMALLEST * alphas[-1]]
