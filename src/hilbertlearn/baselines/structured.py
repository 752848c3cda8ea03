"""The methods that papers on structured outputs compare with (Ciliberto et al. 2016, section 6)."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.linalg
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import KernelCenterer
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .. import decoders, kernels
from .._validation import check_choice, check_number
from ..kernels.outputs import as_output_kernel
from ..metrics import hamming_loss, normalized_rank_loss
from ..output_losses import Hamming, KernelLoss, Rank, as_output_loss
from ..outputs import distinct, read_outputs, take

_BLOCK_ENTRIES = 2**22  # of a block of output features, 32 MB
_RANK = 1e-10  # eigenvalues of a centred Gram matrix, relative to the largest, that count as zero
_ROUNDINGS = (0.3, 0.1, 0.03, 0.01)  # widths of the hinge's corner, one fit after the other


class RobustNadarayaWatson(RegressorMixin, BaseEstimator):
    """Local M-estimator of numbers: minimises ``sum_i k(x, x_i) loss(z, y_i)`` over z (Haerdle 1984).

    Where all kernel values are zero, as far from all samples, they are taken as equal.

    Parameters
    ----------
    kernel, gamma : of the inputs, as in ``OperatorKernelRegressor``; values must not be negative
    output_loss : name or object of ``hilbertlearn.output_losses`` for numbers

    Attributes
    ----------
    X_fit_, y_fit_, sample_weight_ : the training samples
    gamma_ : the number behind gamma
    output_loss_ : the loss object
    """

    def __init__(self, kernel="rbf", *, gamma="median", output_loss="cauchy"):
        self.kernel = kernel
        self.gamma = gamma
        self.output_loss = output_loss

    def fit(self, X, y, sample_weight=None):
        """Keep the samples X (n, d) and y (n,); those of weight 0 count for nothing."""
        kernels.check_kernel(self.kernel)
        loss = as_output_loss(self.output_loss)
        if loss.decoder not in ("scalar", "mean"):
            raise ValueError(f"output_loss={self.output_loss!r} is not a loss of numbers; use 'cauchy' or 'huber'")
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self.sample_weight_ = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self.output_loss_ = loss
        self.X_fit_, self.y_fit_ = X, loss.check(y)
        self.gamma_ = kernels.resolve_gamma(self.kernel, self.gamma, X, self.sample_weight_)
        return self

    def weights(self, X):
        """Weights (m, n) of the training samples for each of X, the largest kernel value of a row scaled to one."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        K = kernels.gram(self.kernel, X, self.X_fit_, gamma=self.gamma_)
        if K.min(initial=0.0) < 0:
            raise ValueError(f"kernel must not be negative, its values are weights; got {K.min():.3g}, use 'rbf'")
        K[K.max(axis=1) == 0] = 1.0
        return K / K.max(axis=1, keepdims=True) * self.sample_weight_

    def predict(self, X):
        """Predictions (m,)."""
        W = self.weights(X)
        return decoders.DECODERS[self.output_loss_.decoder](W, self.y_fit_, self.output_loss_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # gamma is not chosen by the data's noise
        return tags


class KernelDependencyEstimation(BaseEstimator):
    """Kernel PCA of the outputs, kernel ridge regression of its components, pre-image among candidates.

    Weston et al. 2003: the Gram matrix of the outputs is centred, and the prediction is the candidate whose components
    are nearest to the predicted ones. Unlike ``StructuredPredictor`` it sees outputs through their first components.

    Parameters
    ----------
    kernel, gamma : of the inputs, as in ``OperatorKernelRegressor``
    output_kernel : as in ``StructuredPredictor``
    n_components : number of components, at most; None for all that are not zero
    alpha : positive number; the regression minimises a mean of half squared errors plus ``alpha / 2`` squared norms

    Attributes
    ----------
    X_fit_, outputs_ : the training samples
    output_kernel_, gamma_ : as used
    components_ : (n, r) combinations of the training outputs
    coordinates_ : (n, r) of the training outputs
    dual_coef_ : (n, r)
    """

    def __init__(self, kernel="rbf", *, gamma="median", output_kernel="rbf", n_components=None, alpha=1e-3):
        self.kernel = kernel
        self.gamma = gamma
        self.output_kernel = output_kernel
        self.n_components = n_components
        self.alpha = alpha

    def fit(self, X, y):
        """Fit to X (n, d) and n outputs y: rows of an array, labels, or a list of objects the output kernel takes."""
        kernels.check_kernel(self.kernel)
        check_number(self.alpha, "alpha")
        if self.n_components is not None:
            check_number(self.n_components, "n_components", integer=True)
        X = validate_data(self, X, dtype=np.float64)
        y, outputs = _known_outputs(y, "y")
        if len(y) != len(X):
            raise ValueError(f"X and y must have as many samples, got {len(X)} and {len(y)}")
        self.X_fit_, self.outputs_ = X, y
        kernel = as_output_kernel(self.output_kernel)
        self.output_kernel_ = kernel.resolve(outputs) if hasattr(kernel, "resolve") else kernel
        self.gamma_ = kernels.resolve_gamma(self.kernel, self.gamma, X)
        self._references = outputs
        self.coordinates_ = self._principal_components(np.asarray(self.output_kernel_(outputs, outputs), dtype=float))
        K = kernels.training_gram(self.kernel, X, gamma=self.gamma_)
        system = K + len(X) * self.alpha * np.eye(len(X))
        self.dual_coef_ = scipy.linalg.solve(system, self.coordinates_, assume_a="pos")
        return self

    def _principal_components(self, K):
        """Coordinates (n, r) of the training outputs, after setting what `transform` needs."""
        self._centerer = KernelCenterer().fit(K)
        centred = self._centerer.transform(K)
        values, vectors = scipy.linalg.eigh(centred)
        kept = np.flatnonzero(values > _RANK * max(values[-1], np.finfo(float).tiny))[::-1][: self.n_components]
        self.components_ = vectors[:, kept] / np.sqrt(values[kept])
        return centred @ self.components_

    def transform(self, outputs):
        """Components (b, r) of outputs in canonical form."""
        K = np.asarray(self.output_kernel_(outputs, self._references), dtype=float)
        return self._centerer.transform(K) @ self.components_

    def predict(self, X, candidates=None):
        """The best for each of X of the candidates, by default the training outputs, in the form they are given."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        given, pool = (
            (self.outputs_, self._references) if candidates is None else _known_outputs(candidates, "candidates")
        )
        predicted = kernels.gram(self.kernel, X, self.X_fit_, gamma=self.gamma_) @ self.dual_coef_
        best, _ = decoders.candidates.top_k(2 * predicted, self._blocks(pool), 1)
        return take(given, best[:, 0])

    def _blocks(self, pool):
        """Blocks of candidates for `top_k`: minus squared distances, without the part of the query alone."""
        size = max(1, _BLOCK_ENTRIES // len(self._references))
        for start in range(0, len(pool), size):
            V = self.transform(take(pool, range(start, min(start + size, len(pool)))))
            yield V, -np.einsum("ij,ij->i", V, V)

    def score(self, X, y):
        """Minus the mean squared distance in the output kernel's space."""
        loss = KernelLoss(self.output_kernel_)
        predicted, true = read_outputs(self.predict(X))[0], _known_outputs(y, "y")[1]
        return -float(np.mean([loss(take(predicted, [i]), take(true, [i])) for i in range(len(true))]))


class PairwiseRanker(BaseEstimator):
    """Scores of items, linear in the features of who ranks, by a surrogate of the rank loss over pairs.

    Minimises the mean over samples of ``sum_ij gamma_ij phi(s_i - s_j) / sum_ij gamma_ij``, over the pairs with
    ``gamma_ij = y_i - y_j > 0``, plus ``alpha / 2`` times the squared norm of the coefficients. A constant feature is
    added and counts like the others. The surrogates phi, by name:

    - ``"linear"``: ``-t``, with ``||s||^2 / 2`` added for each sample (Duchi et al. 2010): a ridge regression of the
      items' ratings, summed over what they are compared with;
    - ``"hinge"``: ``max(0, 1 - t)`` (Herbrich et al. 2000), its corner rounded over 0.01;
    - ``"logistic"``: ``log(1 + exp(-t))`` (Dekel et al. 2004).

    Parameters
    ----------
    loss : "linear", "hinge" or "logistic"
    alpha : positive number
    tol : largest entry of the gradient at which L-BFGS stops
    max_iter : of its iterations

    Attributes
    ----------
    coef_ : (items, features), intercept_ : (items,)
    """

    def __init__(self, loss="linear", *, alpha=1e-3, tol=1e-6, max_iter=500):
        self.loss = loss
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y):
        """Fit to X (n, d) and ratings y (n, items), the larger the better, NaN where an item is not rated."""
        check_choice(self.loss, "loss", ("linear", "hinge", "logistic"))
        check_number(self.alpha, "alpha")
        check_number(self.tol, "tol")
        check_number(self.max_iter, "max_iter", integer=True)
        X = validate_data(self, X, dtype=np.float64)
        Y = Rank().check(y)
        if len(Y) != len(X):
            raise ValueError(f"X and y must have as many samples, got {len(X)} and {len(Y)}")
        features = _with_constant(X)
        pairs = _Pairs(Y)
        if self.loss == "linear":
            theta = self._ridge(features, pairs.slopes(np.ones(len(pairs.gamma))))
        else:
            theta = np.zeros((features.shape[1], Y.shape[1]))
            for surrogate in [_logistic] if self.loss == "logistic" else map(_rounded_hinge, _ROUNDINGS):
                theta = self._descend(theta, features, pairs, surrogate)
        self.coef_, self.intercept_ = theta[:-1].T, theta[-1]
        return self

    def _ridge(self, features, targets):
        gram = features.T @ features + self.alpha * len(features) * np.eye(features.shape[1])
        return scipy.linalg.solve(gram, features.T @ targets, assume_a="pos")

    def _descend(self, theta, features, pairs, surrogate):
        n, shape = len(features), theta.shape

        def objective(flat):
            values, slopes = surrogate(pairs.margins(features @ flat.reshape(shape)))
            gradient = features.T @ pairs.slopes(slopes) / n + self.alpha * flat.reshape(shape)
            return pairs.gamma @ values / n + self.alpha / 2 * (flat @ flat), gradient.ravel()

        options = {"maxiter": self.max_iter, "gtol": self.tol, "ftol": 1e-12}
        found = minimize(objective, theta.ravel(), jac=True, method="L-BFGS-B", options=options)
        if found.status == 1:
            message = f"PairwiseRanker: not converged after {self.max_iter} iterations; raise max_iter, tol or alpha"
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
        return found.x.reshape(shape)

    def decision_function(self, X):
        """Scores (m, items)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return X @ self.coef_.T + self.intercept_

    def predict(self, X):
        """Rankings (m, items): the numbers 1 to the number of items, the largest for the most preferred."""
        return rankdata(self.decision_function(X), axis=1, method="ordinal").astype(float)

    def score(self, X, y):
        """One minus the normalised rank loss."""
        return 1 - normalized_rank_loss(y, self.predict(X))


class _Pairs:
    """All pairs of items that a sample rates differently: flat indices (p,) of the better and the worse one in the
    matrix of ratings, and their differences gamma (p,), of sum one for each sample.
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
        """By how much the better item's score is above the other's, (p,)."""
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


class StructuredSVM(BaseEstimator):
    """Support vector machine for sets of labels: Hamming loss, margin rescaling (Tsochantaridis et al. 2005).

    The score of a set is a sum of linear functions of x, one for each label in it, and of a number for each pair of
    labels in it. Sets are looked for among those of the training samples. Minimises
    ``alpha / 2 ||w||^2 + mean_i max_y (hamming(y, y_i) + score(x_i, y) - score(x_i, y_i))`` by block-coordinate
    Frank-Wolfe steps in the dual (Lacoste-Julien et al. 2013). A constant feature is added and counts like the others.

    Parameters
    ----------
    alpha : positive number
    tol : duality gap at which to stop; the objective is at most one
    max_iter : passes over the samples
    random_state : None, a seed or a RandomState, for the order of the samples

    Attributes
    ----------
    candidates_ : (c, labels) distinct sets
    coef_ : (labels, features), intercept_ : (labels,), pairs_ : (labels (labels - 1) / 2,) in the order of
        ``numpy.triu_indices``
    gap_ : the duality gap, n_iter_ : passes
    """

    def __init__(self, *, alpha=1e-2, tol=1e-2, max_iter=200, random_state=None):
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X, y):
        """Fit to X (n, d) and 0/1 labels y (n, labels)."""
        check_number(self.alpha, "alpha")
        check_number(self.tol, "tol")
        check_number(self.max_iter, "max_iter", integer=True)
        X = validate_data(self, X, dtype=np.float64)
        Y = Hamming().check(y)
        if len(Y) != len(X):
            raise ValueError(f"X and y must have as many samples, got {len(X)} and {len(Y)}")
        first, own = distinct(Y)
        self.candidates_ = Y[first]
        dual = _SetDual(_with_constant(X), self.candidates_, own, self.alpha)
        rng = check_random_state(self.random_state)
        for passes in range(1, self.max_iter + 1):
            for i in rng.permutation(len(X)):
                dual.step(i)
            self.gap_, self.n_iter_ = dual.gap(), passes
            if self.gap_ <= self.tol:
                break
        else:
            message = f"StructuredSVM: gap {self.gap_:.2g} > tol after {self.max_iter} passes; raise max_iter or alpha"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        self.coef_, self.intercept_, self.pairs_ = dual.linear[:, :-1], dual.linear[:, -1], dual.pairs
        return self

    def predict(self, X):
        """Sets (m, labels) as 0/1 rows."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        scores = (X @ self.coef_.T + self.intercept_) @ self.candidates_.T + _pairs(self.candidates_) @ self.pairs_
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
        directions = np.hstack(
            [self.X[rows] @ self.linear.T, np.broadcast_to(self.pairs, (len(rows), len(self.pairs)))]
        )
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


def _with_constant(X):
    return np.column_stack([X, np.ones(len(X))])


def _known_outputs(y, name):
    """Outputs in the container they come in, and in canonical form; all must be known."""
    y = y.to_numpy() if hasattr(y, "to_numpy") else y
    y = y if isinstance(y, np.ndarray) else list(y)
    outputs, known = read_outputs(y)
    if not len(known) or not known.all():
        raise ValueError(f"{name} must be known outputs, at least one; remove those that are None or NaN")
    return y, outputs
