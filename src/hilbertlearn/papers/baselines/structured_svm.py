"""A structured support vector machine for sets of labels."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..._utils.fitting import store, transactional
from ..._utils.validation import check_number, warn
from ...data.objects import distinct
from ...metrics import hamming_loss
from ...output_losses import Hamming
from .structured import check_lengths


class LinearScoreModel(BaseEstimator):
    """Base of methods whose scores are linear in x, with a constant feature that is penalised like the others."""

    def _read(self, X, y, output_loss):
        """Check settings and samples; inputs (n, d + 1) with the constant feature, outputs in the form of the loss."""
        check_number(self.alpha, "alpha")
        check_number(self.tol, "tol")
        check_number(self.max_iter, "max_iter", integer=True)
        X = validate_data(self, X, dtype=np.float64)
        Y = output_loss.check(y)
        check_lengths(X, Y)
        return np.column_stack([X, np.ones(len(X))]), Y

    def _linear(self, X):
        """Scores ``X @ coef_.T + intercept_`` of new inputs."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False) @ self.coef_.T + self.intercept_


class StructuredSVM(LinearScoreModel):
    """Support vector machine for sets of labels: Hamming loss, margin rescaling.

    The score of a set is a sum of linear functions of x, one for each label in it, and of a number for each pair of
    labels in it. Predictions are sets of the training samples. The method minimises
    ``alpha / 2 ||w||^2 + mean_i max_y (hamming(y, y_i) + score(x_i, y) - score(x_i, y_i))`` by block-coordinate
    Frank-Wolfe steps in the dual. A constant feature is added and is penalised like the others.

    Parameters
    ----------
    alpha : float, default=0.01
        Regularisation, positive.
    tol : float, default=0.01
        Duality gap at which the iterations stop; the objective is at most one.
    max_iter : int, default=200
        Largest number of passes over the samples.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the samples.

    Attributes
    ----------
    candidates_ : array of shape (c, labels)
        Distinct sets of the training samples.
    coef_ : array of shape (labels, features)
        Coefficients.
    intercept_ : array of shape (labels,)
        Coefficients of the constant feature.
    pairs_ : array of shape (labels (labels - 1) / 2,)
        Coefficients of pairs of labels, in the order of ``numpy.triu_indices``.
    gap_ : float
        The duality gap.
    n_iter_ : int
        Number of passes over the samples.

    References
    ----------
    - Tsochantaridis, Joachims, Hofmann and Altun (2005). Large margin methods for structured and interdependent output
      variables. Journal of Machine Learning Research 6.
    - Lacoste-Julien, Jaggi, Schmidt and Pletscher (2013). Block-coordinate Frank-Wolfe optimization for structural
      SVMs. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import baselines
    >>> X = np.linspace(-1, 1, 20)[:, None]
    >>> Y = np.hstack([X > 0, X > 0, X < 0]).astype(int)  # the first two labels come together
    >>> model = baselines.StructuredSVM(alpha=0.1, random_state=0).fit(X, Y)
    >>> model.predict([[-0.9], [0.9]])
    array([[0, 0, 1],
           [1, 1, 0]])
    """

    def __init__(self, *, alpha=1e-2, tol=1e-2, max_iter=200, random_state=None):
        store(self, locals())

    @transactional
    def fit(self, X, y):
        """Fit to inputs and sets of labels.

        Parameters
        ----------
        X : array of shape (n, p)
            Inputs.
        y : array of shape (n, labels)
            Zeros and ones.

        Returns
        -------
        self : StructuredSVM
            The fitted estimator.
        """
        features, Y = self._read(X, y, Hamming())
        first, truth = distinct(Y)
        self.candidates_ = Y[first].astype(np.asarray(y).dtype)
        dual = _SetDual(features, Y[first], truth, self.alpha)
        rng = check_random_state(self.random_state)
        for passes in range(1, self.max_iter + 1):
            for i in rng.permutation(len(Y)):
                dual.step(i)
            self.gap_, self.n_iter_ = dual.gap(), passes
            if self.gap_ <= self.tol:
                break
        else:
            message = f"StructuredSVM: gap {self.gap_:.2g} > tol after {self.max_iter} passes; raise max_iter or alpha"
            warn(message, ConvergenceWarning)
        self.coef_, self.intercept_, self.pairs_ = dual.linear[:, :-1].copy(), dual.linear[:, -1].copy(), dual.pairs

    def predict(self, X):
        """Predict sets of labels.

        Parameters
        ----------
        X : array of shape (m, p)
            Inputs.

        Returns
        -------
        sets : array of shape (m, labels)
            Zeros and ones, in the dtype of the training outputs.
        """
        scores = self._linear(X) @ self.candidates_.T + _pairs(self.candidates_) @ self.pairs_
        return self.candidates_[scores.argmax(axis=1)]

    def score(self, X, y):
        """Compute one minus the Hamming loss.

        Parameters
        ----------
        X : array of shape (m, p)
            Inputs.
        y : array of shape (m, labels)
            True sets.

        Returns
        -------
        score : float
            Between zero and one.
        """
        return 1 - hamming_loss(y, self.predict(X))


class _SetDual:
    """The dual of ``StructuredSVM``: for each sample a distribution over candidates, represented by mean features.

    Features of a candidate are its labels and pairs of labels. For sample i with features F_i the weights get
    ``(F_i - mean_i) / (alpha n)``, times x_i for the labels; at first the mean is F_i itself.
    """

    def __init__(self, X, candidates, truth, alpha):
        self.X, self.truth, self.scale = X, truth, alpha * len(X)  # truth (n,): candidate of each sample
        self.labels = candidates.shape[1]
        self.features = np.hstack([candidates, _pairs(candidates)])
        self.losses = Hamming()(candidates, candidates)
        self.means, self.mean_losses = self.features[truth], np.zeros(len(X))
        self.linear = np.zeros((self.labels, X.shape[1]))
        self.pairs = np.zeros(self.features.shape[1] - self.labels)

    def _worst(self, rows):
        """The candidates of largest violation for the samples `rows`, and their excess over the mean violation."""
        directions = np.hstack([self.X[rows] @ self.linear.T, np.tile(self.pairs, (len(rows), 1))])
        violations = self.losses[:, self.truth[rows]].T + directions @ self.features.T
        worst = violations.argmax(axis=1)
        means = self.mean_losses[rows] + np.einsum("ij,ij->i", self.means[rows], directions)
        return worst, violations[np.arange(len(rows)), worst] - means

    def gap(self):
        """Duality gap."""
        return float(self._worst(np.arange(len(self.X)))[1].mean())

    def step(self, i):
        """Move the distribution of sample i towards its worst candidate, by the optimal step."""
        worst, excess = self._worst(np.array([i]))
        change = self.features[worst[0]] - self.means[i]
        labels, pairs = change[: self.labels], change[self.labels :]
        length = (labels @ labels) * (self.X[i] @ self.X[i]) + pairs @ pairs
        if excess[0] <= 0 or length == 0:
            return
        share = min(1.0, excess[0] * self.scale / length)
        self.means[i] += share * change
        self.mean_losses[i] += share * (self.losses[worst[0], self.truth[i]] - self.mean_losses[i])
        self.linear -= np.multiply.outer(share / self.scale * labels, self.X[i])
        self.pairs -= share / self.scale * pairs


def _pairs(Y):
    """Products (n, labels (labels - 1) / 2) of all pairs of labels."""
    rows, columns = np.triu_indices(Y.shape[1], 1)
    return Y[:, rows] * Y[:, columns]
