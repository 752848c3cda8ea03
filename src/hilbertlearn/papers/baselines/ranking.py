"""Rankings by pairwise comparisons: linear, hinge and logistic surrogates."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ridge_regression

from ..._utils.fitting import store, transactional
from ..._utils.validation import check_choice, warn
from ...metrics import normalized_rank_loss
from ...output_losses import Rank
from .structured_svm import LinearScoreModel

_WIDTHS = (0.3, 0.1, 0.03, 0.01)  # of the rounded corner of the hinge; each fit starts from the one before


class PairwiseRanker(LinearScoreModel):
    """Scores of items, linear in the features of the sample, by a surrogate of the rank loss over pairs.

    Minimises the mean over samples of ``sum_ij gamma_ij phi(s_i - s_j) / sum_ij gamma_ij``, over the pairs with
    ``gamma_ij = y_i - y_j > 0``, plus ``alpha / 2`` times the squared norm of the coefficients. A constant feature is
    added and is penalised like the others. The surrogates phi, by name:

    - ``"linear"``: ``-t``, with ``||s||^2 / 2`` added for each sample (Duchi et al. 2010): a ridge regression of
      differences of ratings, summed over all other items;
    - ``"hinge"``: ``max(0, 1 - t)`` (Herbrich et al. 2000), its corner rounded over 0.01;
    - ``"logistic"``: ``log(1 + exp(-t))`` (Dekel et al. 2004).

    Parameters
    ----------
    loss : {"linear", "hinge", "logistic"}, default="linear"
        The surrogate.
    alpha : float, default=0.001
        Regularisation, positive.
    tol : float, default=1e-6
        Largest entry of the gradient at which L-BFGS stops.
    max_iter : int, default=500
        Largest number of iterations of L-BFGS.

    Attributes
    ----------
    coef_ : array of shape (items, features)
        Coefficients.
    intercept_ : array of shape (items,)
        Coefficients of the constant feature.

    References
    ----------
    - Duchi, Mackey and Jordan (2010). On the consistency of ranking algorithms. ICML.
    - Herbrich, Graepel and Obermayer (2000). Large margin rank boundaries for ordinal regression. In Advances in Large
      Margin Classifiers, MIT Press.
    - Dekel, Manning and Singer (2004). Log-linear models for label ranking. NIPS 16.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import baselines
    >>> X = np.linspace(-1, 1, 20)[:, None]
    >>> ratings = np.hstack([3 + X, 3 - X, np.full((20, 1), np.nan)])  # the third item is not rated
    >>> model = baselines.PairwiseRanker("logistic").fit(X, ratings)
    >>> scores = model.decision_function([[-0.9], [0.9]])
    >>> (scores[:, 0] > scores[:, 1]).tolist()
    [False, True]
    """

    def __init__(self, loss="linear", *, alpha=1e-3, tol=1e-6, max_iter=500):
        store(self, locals())

    @transactional
    def fit(self, X, y):
        """Fit to inputs and ratings.

        Parameters
        ----------
        X : array of shape (n, p)
            Inputs.
        y : array of shape (n, items)
            Ratings, the larger the better; NaN where an item is not rated.

        Returns
        -------
        self : PairwiseRanker
            The fitted estimator.
        """
        check_choice(self.loss, "loss", ("linear", "hinge", "logistic"))
        features, Y = self._read(X, y, Rank())
        pairs = _RatedPairs(Y)
        if self.loss == "linear":
            targets = pairs.slopes(np.ones(len(pairs.gamma)))
            theta = ridge_regression(features, targets, self.alpha * len(Y), solver="cholesky").T
        else:
            theta = np.zeros((features.shape[1], Y.shape[1]))
            for surrogate in [_logistic] if self.loss == "logistic" else map(_rounded_hinge, _WIDTHS):
                theta = self._minimise(theta, features, pairs, surrogate)
        self.coef_, self.intercept_ = theta[:-1].T, theta[-1]

    def _minimise(self, theta, features, pairs, surrogate):
        n, shape = len(features), theta.shape

        def objective(flat):
            values, slopes = surrogate(pairs.margins(features @ flat.reshape(shape)))
            gradient = features.T @ pairs.slopes(slopes) / n + self.alpha * flat.reshape(shape)
            return pairs.gamma @ values / n + self.alpha / 2 * (flat @ flat), gradient.ravel()

        options = {"maxiter": self.max_iter, "gtol": self.tol, "ftol": 1e-12}
        result = minimize(objective, theta.ravel(), jac=True, method="L-BFGS-B", options=options)
        if result.status == 1:
            message = f"PairwiseRanker: not converged after {self.max_iter} iterations; raise max_iter, tol or alpha"
            warn(message, ConvergenceWarning)
        return result.x.reshape(shape)

    def decision_function(self, X):
        """Compute the scores of all items.

        Parameters
        ----------
        X : array of shape (m, p)
            Inputs.

        Returns
        -------
        scores : array of shape (m, items)
            The larger, the more preferred.
        """
        return self._linear(X)

    def predict(self, X):
        """Predict rankings.

        Parameters
        ----------
        X : array of shape (m, p)
            Inputs.

        Returns
        -------
        rankings : array of shape (m, items)
            The numbers 1 to the number of items; the largest is the most preferred.
        """
        return rankdata(self.decision_function(X), axis=1, method="ordinal").astype(float)

    def score(self, X, y):
        """Compute one minus the normalised rank loss.

        Parameters
        ----------
        X : array of shape (m, p)
            Inputs.
        y : array of shape (m, items)
            True ratings.

        Returns
        -------
        score : float
            Between zero and one.
        """
        return 1 - normalized_rank_loss(y, self.predict(X))


class _RatedPairs:
    """All pairs of items that a sample rates differently.

    Flat indices (p,) of the better and the worse item in the matrix of ratings, and differences gamma (p,) of their
    ratings, of sum one for each sample.
    """

    def __init__(self, Y):
        self.shape = Y.shape
        better, worse, gamma = [], [], []
        for start, row in zip(range(0, Y.size, Y.shape[1]), Y, strict=True):
            differences = np.subtract.outer(row, row)
            i, j = np.nonzero(differences > 0)
            better.append(start + i)
            worse.append(start + j)
            gamma.append(differences[i, j] / max(differences[i, j].sum(), np.finfo(float).tiny))
        self.better, self.worse, self.gamma = map(np.concatenate, (better, worse, gamma))

    def margins(self, scores):
        """Differences (p,) of the scores of the better and the worse item."""
        flat = scores.ravel()
        return flat[self.better] - flat[self.worse]

    def slopes(self, slopes):
        """Gradient in the scores (n, items) of a sum over pairs with these slopes (p,) in the margins."""
        weighted, size = self.gamma * slopes, self.shape[0] * self.shape[1]
        flat = np.bincount(self.better, weighted, size) - np.bincount(self.worse, weighted, size)
        return flat.reshape(self.shape)


def _logistic(t):
    return np.logaddexp(0.0, -t), -expit(-t)


def _rounded_hinge(width):
    """The hinge ``max(0, 1 - t)`` with a parabola where ``|1 - t| < width / 2``; it is larger by at most width / 8."""

    def surrogate(t):
        slope = np.clip((1 - t) / width + 0.5, 0.0, 1.0)
        return np.where(slope < 1, width / 2 * slope**2, 1 - t), -slope

    return surrogate
