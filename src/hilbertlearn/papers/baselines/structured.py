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

_BLOCK_ENTRIES = 2**22  # kernel values in a block of candidates, 32 MB; twice as many take twice the memory
_RANK = 1e-10  # eigenvalues of a centred Gram matrix below this share of the largest count as zero


class RobustNadarayaWatson(RegressorMixin, BaseEstimator):
    """Local M-estimator of numbers: minimises ``sum_i k(x, x_i) loss(z, y_i)`` over z.

    Where all kernel values are zero, as far from all samples, all samples have the same weight.

    Parameters
    ----------
    kernel : str, callable or kernel object, default="rbf"
        Kernel of the inputs, as in ``OperatorKernelRegressor``; its values must not be negative.
    gamma : float or {"median", "scale", "auto"}, default="median"
        Rate of a named kernel, as in ``OperatorKernelRegressor``.
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
        The rate of a named kernel.
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
        """Store the samples.

        Parameters
        ----------
        X : array of shape (n, p)
            Inputs.
        y : array of shape (n,)
            Outputs.
        sample_weight : array of shape (n,), default=None
            Weights of the samples; None for equal weights.

        Returns
        -------
        self : RobustNadarayaWatson
            The fitted estimator.
        """
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
        """Compute the weights of the training samples.

        Parameters
        ----------
        X : array of shape (m, p)
            Inputs.

        Returns
        -------
        weights : array of shape (m, n)
            Kernel values, the largest of each row scaled to one, times the sample weights.
        """
        check_is_fitted(self)
        K = self._kernel_(validate_data(self, X, dtype=np.float64, order="C", reset=False), self.X_fit_)
        K = local_weights(K)
        return np.where(K.any(axis=1, keepdims=True), K, 1.0) * self.sample_weight_

    def predict(self, X):
        """Predict numbers.

        Parameters
        ----------
        X : array of shape (m, p)
            Inputs.

        Returns
        -------
        y : array of shape (m,)
            Predictions.
        """
        W = self.weights(X)
        return decoders.DECODERS[self.output_loss_.decoder](W, self.y_fit_, self.output_loss_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # gamma is not selected from the data
        return tags


class KernelDependencyEstimation(BaseEstimator):
    """Kernel PCA of the outputs, kernel ridge regression of its components, pre-image among candidates.

    The Gram matrix of the outputs is centred, and the prediction is the candidate whose components are nearest to the
    predicted ones. Unlike ``StructuredPredictor`` it uses the first components of outputs only.

    Parameters
    ----------
    kernel : str, callable or kernel object, default="rbf"
        Kernel of the inputs, as in ``OperatorKernelRegressor``.
    gamma : float or {"median", "scale", "auto"}, default="median"
        Rate of a named kernel, as in ``OperatorKernelRegressor``.
    output_kernel : str, array, kernel object or callable, default="rbf"
        Kernel of the outputs, as in ``StructuredPredictor``.
    n_components : int, default=None
        Largest number of components; None for all components of positive variance.
    alpha : float, default=0.001
        Regularisation, positive; the regression minimises the mean of half squared errors plus ``alpha / 2`` times the
        squared norm.

    Attributes
    ----------
    X_fit_ : array of shape (n, p)
        Training inputs.
    outputs_ : sequence of length n
        Training outputs.
    output_kernel_ : kernel object
        The output kernel with its settings resolved.
    gamma_ : float
        The rate of a named kernel.
    components_ : array of shape (n, r)
        Coefficients of the components in the training outputs.
    coordinates_ : array of shape (n, r)
        Components of the training outputs.
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
        """Fit to inputs and outputs.

        Parameters
        ----------
        X : array of shape (n, p)
            Inputs.
        y : array of shape (n, d) or sequence of length n
            Outputs: rows of numbers, labels, or objects of the output kernel.

        Returns
        -------
        self : KernelDependencyEstimation
            The fitted estimator.
        """
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
        """Compute the components of outputs.

        Parameters
        ----------
        outputs : array or list of length b
            Outputs in canonical form.

        Returns
        -------
        components : array of shape (b, r)
            Components.
        """
        K = np.asarray(self.output_kernel_(outputs, self._references_), dtype=float)
        return self._centerer_.transform(K) @ self.components_

    def predict(self, X, candidates=None):
        """Predict the nearest candidate for each input.

        Parameters
        ----------
        X : array of shape (m, p)
            Inputs.
        candidates : sequence, default=None
            Possible outputs; None for the training outputs.

        Returns
        -------
        outputs : array or list of length m
            Predictions, in the form of the candidates.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        outputs, pool = self.outputs_, self._references_
        if candidates is not None:
            outputs, pool = _known_outputs(candidates, "candidates")
        predicted = self._kernel_(X, self.X_fit_) @ self.dual_coef_
        best, _ = decoders.candidates.top_k(2 * predicted, self._blocks(pool), 1)
        return take(outputs, best[:, 0])

    def _blocks(self, pool):
        """Blocks of candidates for `top_k`: minus squared distances, without the norm of the query."""
        size = max(1, _BLOCK_ENTRIES // len(self._references_))
        for start in range(0, len(pool), size):
            V = self.transform(take(pool, range(start, min(start + size, len(pool)))))
            yield V, -np.einsum("ij,ij->i", V, V)

    def score(self, X, y):
        """Compute minus the mean squared distance in the space of the output kernel.

        Parameters
        ----------
        X : array of shape (m, p)
            Inputs.
        y : array of shape (m, d) or sequence of length m
            True outputs.

        Returns
        -------
        score : float
            At most zero.
        """
        loss = KernelLoss(self.output_kernel_)
        predicted, true = read_outputs(self.predict(X))[0], _known_outputs(y, "y")[1]
        check_lengths(predicted, true)
        return -float(np.mean([loss(take(predicted, [i]), take(true, [i])) for i in range(len(true))]))


def _known_outputs(y, name):
    """Outputs in the given container, and in canonical form; all must be known."""
    y = y.to_numpy() if hasattr(y, "to_numpy") else y
    y = y if isinstance(y, np.ndarray) else list(y)
    outputs, known = read_outputs(y)
    if not len(known) or not known.all():
        raise ValueError(f"{name} must be known outputs, at least one; remove those that are None or NaN")
    return y, outputs


def check_lengths(X, y):
    """Raise unless X and y have the same length."""
    if len(y) != len(X):
        raise ValueError(f"X and y must have as many samples, got {len(X)} and {len(y)}")


def local_weights(K):
    """Kernel values (m, n) divided by the largest of their row, so that they do not underflow; zeros stay zeros."""
    if K.min(initial=0.0) < 0:
        raise ValueError(f"kernel must not be negative, its values are weights; got {K.min():.3g}, use 'rbf'")
    largest = K.max(axis=1, keepdims=True)
    return K / np.where(largest > 0, largest, 1.0)
