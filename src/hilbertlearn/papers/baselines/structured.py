"""Local and kernel-based methods that papers on structured outputs compare with (Ciliberto et al. 2016, section 6)."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.preprocessing import KernelCenterer
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ... import decoders, kernels
from ..._utils.fitting import snapshot, store, transactional
from ..._utils.linalg import cholesky, cholesky_solve, spectrum
from ..._utils.validation import check_number
from ...data.objects import read_outputs, take
from ...kernels import as_output_kernel
from ...output_losses import KernelLoss, as_output_loss

_BLOCK_ENTRIES = 2**22  # of a block of output features, 32 MB
_RANK = 1e-10  # eigenvalues of a centred Gram matrix, relative to the largest, that count as zero


class RobustNadarayaWatson(RegressorMixin, BaseEstimator):
    """Local M-estimator of numbers: minimises ``sum_i k(x, x_i) loss(z, y_i)`` over z.

    Where all kernel values are zero, as far from all samples, they are taken as equal.

    Parameters
    ----------
    kernel : str, callable or kernel object, default="rbf"
        Of the inputs, as in ``OperatorKernelRegressor``; values must not be negative.
    gamma : float or {"median", "scale", "auto"}, default="median"
        Of a named kernel, as in ``OperatorKernelRegressor``.
    output_loss : str or OutputLoss, default="cauchy"
        Name or object of ``hilbertlearn.output_losses`` for numbers.

    Attributes
    ----------
    X_fit_ : array of shape (n, p)
        Training inputs.
    y_fit_ : array of shape (n,)
        Training outputs.
    sample_weight_ : array of shape (n,)
        Weights of the samples.
    gamma_ : float
        The number behind gamma.
    output_loss_ : OutputLoss
        The loss object.

    References
    ----------
    - Härdle (1984). Robust regression function estimation. Journal of Multivariate Analysis 14.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import baselines
    >>> X, y = np.linspace(0, 1, 50)[:, None], np.zeros(50)
    >>> y[::10] = 9.0  # outliers
    >>> baselines.RobustNadarayaWatson(gamma=100.0).fit(X, y).predict([[0.5]]).round(2)
    array([0.01])
    """

    def __init__(self, kernel="rbf", *, gamma="median", output_loss="cauchy"):
        store(self, locals())

    @transactional
    def fit(self, X, y, sample_weight=None):
        """Keep the samples X (n, d) and y (n,); those of weight 0 count for nothing."""
        kernels.check_kernel(self.kernel)
        loss = snapshot(as_output_loss(self.output_loss))
        if loss.decoder not in ("scalar", "mean"):
            raise ValueError(f"output_loss={self.output_loss!r} is not a loss of numbers; use 'cauchy' or 'huber'")
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        self.sample_weight_ = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self.output_loss_ = loss
        self.X_fit_, self.y_fit_ = X, loss.check(y)
        self._kernel_ = kernels.InputKernel.from_settings(self.kernel, self.gamma, None, X, self.sample_weight_)
        self.gamma_ = self._kernel_.gamma

    def weights(self, X):
        """Weights (m, n) of the training samples for each of X, the largest kernel value of a row scaled to one."""
        check_is_fitted(self)
        K = self._kernel_(validate_data(self, X, dtype=np.float64, order="C", reset=False), self.X_fit_)
        K = local_weights(K)
        return np.where(K.any(axis=1, keepdims=True), K, 1.0) * self.sample_weight_

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

    The Gram matrix of the outputs is centred, and the prediction is the candidate whose components are nearest to the
    predicted ones. Unlike ``StructuredPredictor`` it sees outputs through their first components.

    Parameters
    ----------
    kernel : str, callable or kernel object, default="rbf"
        Of the inputs, as in ``OperatorKernelRegressor``.
    gamma : float or {"median", "scale", "auto"}, default="median"
        Of a named kernel, as in ``OperatorKernelRegressor``.
    output_kernel : str, array, kernel object or callable, default="rbf"
        As in ``StructuredPredictor``.
    n_components : int, default=None
        Number of components, at most; None for all that are not zero.
    alpha : float, default=0.001
        A positive number; the regression minimises a mean of half squared errors plus ``alpha / 2`` squared norms.

    Attributes
    ----------
    X_fit_ : array of shape (n, p)
        Training inputs.
    outputs_ : sequence of length n
        Training outputs.
    output_kernel_ : kernel object
        As used.
    gamma_ : float
        As used.
    components_ : array of shape (n, r)
        Combinations of the training outputs.
    coordinates_ : array of shape (n, r)
        Of the training outputs.
    dual_coef_ : array of shape (n, r)
        Coefficients of the regression.

    References
    ----------
    - Weston, Chapelle, Elisseeff, Schölkopf and Vapnik (2003). Kernel dependency estimation. NIPS 15.

    Examples
    --------
    >>> from hilbertlearn import baselines
    >>> X, words = [[0.0], [1.0], [2.0], [3.0]], ["cat", "cats", "dog", "dogs"]
    >>> model = baselines.KernelDependencyEstimation(output_kernel="ngrams", n_components=2).fit(X, words)
    >>> list(model.predict([[0.1], [2.9]]))
    ['cat', 'dogs']
    """

    def __init__(self, kernel="rbf", *, gamma="median", output_kernel="rbf", n_components=None, alpha=1e-3):
        store(self, locals())

    @transactional
    def fit(self, X, y):
        """Fit to X (n, d) and n outputs y: rows of an array, labels, or a list of objects the output kernel takes."""
        kernels.check_kernel(self.kernel)
        check_number(self.alpha, "alpha")
        if self.n_components is not None:
            check_number(self.n_components, "n_components", integer=True)
        X = validate_data(self, X, dtype=np.float64, order="C")
        y, outputs = _known_outputs(y, "y")
        check_lengths(X, y)
        self.X_fit_, self.outputs_, self._references_ = X, y, outputs
        kernel = as_output_kernel(self.output_kernel)
        self.output_kernel_ = kernel.resolve(outputs) if hasattr(kernel, "resolve") else snapshot(kernel)
        K = np.asarray(self.output_kernel_(outputs, outputs), dtype=float)
        self._centerer_ = KernelCenterer().fit(K)
        centred = self._centerer_.transform(K)
        values, vectors = spectrum(centred, _RANK)
        self.components_ = (vectors / np.sqrt(values))[:, ::-1][:, : self.n_components]
        self.coordinates_ = centred @ self.components_
        self._kernel_ = kernels.InputKernel.from_settings(self.kernel, self.gamma, None, X)
        self.gamma_ = self._kernel_.gamma
        factor = cholesky(self._kernel_.training_gram(X), len(X) * self.alpha)
        self.dual_coef_ = cholesky_solve(factor, self.coordinates_)

    def transform(self, outputs):
        """Components (b, r) of outputs in canonical form."""
        K = np.asarray(self.output_kernel_(outputs, self._references_), dtype=float)
        return self._centerer_.transform(K) @ self.components_

    def predict(self, X, candidates=None):
        """The best for each of X of the candidates, by default the training outputs, in the form they are given."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        given, pool = self.outputs_, self._references_
        if candidates is not None:
            given, pool = _known_outputs(candidates, "candidates")
        predicted = self._kernel_(X, self.X_fit_) @ self.dual_coef_
        best, _ = decoders.candidates.top_k(2 * predicted, self._blocks(pool), 1)
        return take(given, best[:, 0])

    def _blocks(self, pool):
        """Blocks of candidates for `top_k`: minus squared distances, without the part of the query alone."""
        size = max(1, _BLOCK_ENTRIES // len(self._references_))
        for start in range(0, len(pool), size):
            V = self.transform(take(pool, range(start, min(start + size, len(pool)))))
            yield V, -np.einsum("ij,ij->i", V, V)

    def score(self, X, y):
        """Minus the mean squared distance in the output kernel's space."""
        loss = KernelLoss(self.output_kernel_)
        predicted, true = read_outputs(self.predict(X))[0], _known_outputs(y, "y")[1]
        check_lengths(predicted, true)
        return -float(np.mean([loss(take(predicted, [i]), take(true, [i])) for i in range(len(true))]))


def _known_outputs(y, name):
    """Outputs in the container they come in, and in canonical form; all must be known."""
    y = y.to_numpy() if hasattr(y, "to_numpy") else y
    y = y if isinstance(y, np.ndarray) else list(y)
    outputs, known = read_outputs(y)
    if not len(known) or not known.all():
        raise ValueError(f"{name} must be known outputs, at least one; remove those that are None or NaN")
    return y, outputs


def check_lengths(X, y):
    """Raise unless there are as many outputs as inputs."""
    if len(y) != len(X):
        raise ValueError(f"X and y must have as many samples, got {len(X)} and {len(y)}")


def local_weights(K):
    """Kernel values (m, n) over the largest of their row, so that small ones do not underflow; zeros stay zeros."""
    if K.min(initial=0.0) < 0:
        raise ValueError(f"kernel must not be negative, its values are weights; got {K.min():.3g}, use 'rbf'")
    largest = K.max(axis=1, keepdims=True)
    return K / np.where(largest > 0, largest, 1.0)
