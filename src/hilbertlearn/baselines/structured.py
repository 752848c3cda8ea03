"""Local and kernel-based methods that papers on structured outputs compare with (Ciliberto et al. 2016, section 6)."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.preprocessing import KernelCenterer
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .. import decoders, kernels
from .._validation import check_number
from ..kernels.outputs import as_output_kernel
from ..output_losses import KernelLoss, as_output_loss
from ..outputs import read_outputs, take

_BLOCK_ENTRIES = 2**22  # of a block of output features, 32 MB
_RANK = 1e-10  # eigenvalues of a centred Gram matrix, relative to the largest, that count as zero


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
        if len(predicted) != len(true):
            raise ValueError(f"X and y must have as many samples, got {len(predicted)} and {len(true)}")
        return -float(np.mean([loss(take(predicted, [i]), take(true, [i])) for i in range(len(true))]))


def _known_outputs(y, name):
    """Outputs in the container they come in, and in canonical form; all must be known."""
    y = y.to_numpy() if hasattr(y, "to_numpy") else y
    y = y if isinstance(y, np.ndarray) else list(y)
    outputs, known = read_outputs(y)
    if not len(known) or not known.all():
        raise ValueError(f"{name} must be known outputs, at least one; remove those that are None or NaN")
    return y, outputs
