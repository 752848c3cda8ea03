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


class LinearScores(BaseEstimator):
    """What methods share whose scores are linear in x, with a constant feature that counts like the others."""

    def _read(self, X, y, output_loss):
        """Inputs (n, d + 1) with the constant feature, and outputs as the loss takes them."""
        check_number(self.alpha, "alpha")
        check_number(self.tol, "tol")
        check_number(self.max_iter, "max_iter", integer=True)
        X = validate_data(self, X, dtype=np.float64)
        Y = output_loss.check(y)
        check_lengths(X, Y)
        return np.column_stack([X, np.ones(len(X))]), Y

    def _linear(self, X):
        """``X @ coef_.T + intercept_`` of new inputs."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False) @ self.coef_.T + self.intercept_


class StructuredSVM(LinearScores):
    """Support vector machine for sets of labels: Hamming loss, margin rescaling.

    The score of a set is a sum of linear functions of x, one for each label in it, and of a number for each pair of
    labels in it. Sets are looked for among those of the training samples. Minimises
    ``alpha / 2 ||w||^2 + mean_i max_y (hamming(y, y_i) + score(x_i, y) - score(x_i, y_i))`` by block-coordinate
    Frank-Wolfe steps in the dual. A constant feature is added and counts like the others.

    Parameters
    ----------
    alpha : float, default=0.01
        A positive number.
    tol : float, default=0.01
        Duality gap at which to stop; the objective is at most one.
    max_iter : int, default=200
        Passes over the samples.
    random_state : int, RandomState instance or None, default=None
        Of the order of the samples.

    Attributes
    ----------
    candidates_ : array of shape (c, labels)
        Distinct sets.
    coef_ : array of shape (labels, features)
        Coefficients.
    intercept_ : array of shape (labels,)
        Of the constant feature.
    pairs_ : array of shape (labels (labels - 1) / 2,)
        Of pairs of labels, in the order of ``numpy.triu_indices``.
    gap_ : float
        The duality gap.
    n_iter_ : int
        Passes over the samples.

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
        """Fit to X (n, d) and 0/1 labels y (n, labels)."""
        features, Y = self._read(X, y, Hamming())
        first, own = distinct(Y)
        self.candidates_ = Y[first].astype(np.asarray(y).dtype)
        dual = _SetDual(features, Y[first], own, self.alpha)
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
        """Sets (m, labels) as 0/1 rows of the type of the training outputs."""
        scores = self._linear(X) @ self.candidates_.T + _pairs(self.candidates_) @ self.pairs_
        return self.candidates_[scores.argmax(axis=1)]

    def score(self, X, y):
        """One minus the Hamming loss."""
        return 1 - hamming_loss(y, self.predict(X))


class _SetDual:
    """The dual of ``StructuredSVM``: for each sample a distribution over candidates, kept as the mean of features.

    Features of a candidate are its labels and pairs of labels. For sample i with features F_i the weights get
    ``(F_i - mean_i) / (alpha n)``, times x_i for the labels; at first the mean is F_i itself.
    """

    def __init__(self, X, candidates, own, alpha):
        self.X, self.own, self.scale = X, own, alpha * len(X)
        self.labels = candidates.shape[1]
        self.features = np.hstack([candidates, _pairs(candidates)])
        self.losses = Hamming()(candidates, candidates)
        self.means, self.mean_losses = self.features[own], np.zeros(len(X))
        self.linear = np.zeros((self.labels, X.shape[1]))
        self.pairs = np.zeros(self.features.shape[1] - self.labels)

    def _worst(self, rows):
        """For the samples `rows`: the candidates of largest violation, and by how much each exceeds its mean."""
        directions = np.hstack([self.X[rows] @ self.linear.T, np.tile(self.pairs, (len(rows), 1))])
        violations = self.losses[:, self.own[rows]].T + directions @ self.features.T
        worst = violations.argmax(axis=1)
        means = self.mean_losses[rows] + np.einsum("ij,ij->i", self.means[rows], directions)
        return worst, violations[np.arange(len(rows)), worst] - means

    def gap(self):
        """Duality gap."""
        return float(self._worst(np.arange(len(self.X)))[1].mean())

    def step(self, i):
        """Move the distribution of sample i towards its worst candidate, as far as is best."""
        worst, excess = self._worst(np.array([i]))
        change = self.features[worst[0]] - self.means[i]
        labels, pairs = change[: self.labels], change[self.labels :]
        length = (labels @ labels) * (self.X[i] @ self.X[i]) + pairs @ pairs
        if excess[0] <= 0 or length == 0:
            return
        share = min(1.0, excess[0] * self.scale / length)
        self.means[i] += share * change
        self.mean_losses[i] += share * (self.losses[worst[0], self.own[i]] - self.mean_losses[i])
        self.linear -= np.multiply.outer(share / self.scale * labels, self.X[i])
        self.pairs -= share / self.scale * pairs


def _pairs(Y):
    """Products (n, labels (labels - 1) / 2) of all pairs of labels."""
    rows, columns = np.triu_indices(Y.shape[1], 1)
    return Y[:, rows] * Y[:, columns]
