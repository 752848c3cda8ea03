"""The estimator of autoencoders: settings, checks, codes and reconstructions."""

from __future__ import annotations

import numbers
from functools import partial

import numpy as np
import scipy.linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_array, check_is_fitted

from .. import features, kernels
from .._utils.blocks import blocks_of
from .._utils.callbacks import FitCallbacksMixin, with_fit_callbacks
from .._utils.fitting import snapshot, store, transactional
from .._utils.progress import Progress
from .._utils.summary import SummaryItems, SummaryMixin
from .._utils.validation import check_memory, check_number, warn
from ..losses import as_loss
from ..machine.dates import date_items
from ..machine.inputs import check_inputs
from ..machine.named_settings import NamedSettings
from ..spaces import OutputKernel
from ..training import check_alpha, resolve_schedule
from .layers import Network, check_inner_kernel, initial_layers, minimise

_ITERATION_LIMIT = 1  # status of scipy's L-BFGS


class KernelAutoencoder(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, FitCallbacksMixin, SummaryMixin, NamedSettings
):
    """Autoencoder of any data that have a kernel (Laforgue et al. 2020, section 4.2).

    With phi(x) the image of x in the space of ``kernel``, it minimises over functions f_1, ..., f_L

        1/n sum_i loss(phi(x_i) - f_L(... f_1(x_i))) + alpha/2 sum_l ||f_l||^2

    f_1 maps samples to codes and is in the space of ``kernel``. The other functions have the kernel ``inner_kernel``
    times the identity, and f_L has values in the space of ``kernel``. For given codes f_L is solved in the dual to a
    certified gap. The layers before it are fitted by L-BFGS on the value of that optimum. The problem is not convex:
    L-BFGS starts at kernel principal components, so that nothing is random, and ends in a local minimum. Nothing is
    centred.

    Parameters
    ----------
    n_components : int or tuple of ints, default=2
        Number of codes. A tuple such as ``(10, 2, 10)`` has the sizes of several hidden layers; ``transform`` then
        returns the smallest layer, the first if there are several. At most as many codes differ from zero as the kernel
        matrix has rank.
    kernel : str, callable, object of ``hilbertlearn.kernels`` or Gaussian-process kernel, default="rbf"
        A name of scikit-learn's ``pairwise_kernels``, a callable ``(X, Z) -> Gram``, or ``"precomputed"``. There is no
        "auto", here and for gamma and alpha: errors in the spaces of different kernels are not comparable.
    gamma : float, "median" or "scale", default="median"
        Coefficient of named kernels. "median": the bandwidth is the median distance between samples.
    kernel_params : dict or None, default=None
        Further parameters of a named kernel, such as ``degree``.
    inner_kernel : "rbf", "linear", "poly" or "polynomial", default="rbf"
        Kernel of the codes.
    inner_gamma : float, "median" or "scale", default="median"
        Coefficient of the kernel of the codes; names are resolved with the codes at the start.
    inner_params : dict or None, default=None
        ``degree`` (3) and ``coef0`` (1) of a polynomial inner kernel.
    loss : str or object of ``hilbertlearn.losses``, default="squared"
        A loss of the residual's Euclidean norm. Constants that are "auto" come from leave-one-out residuals of the last
        layer at the start.
    alpha : float, "n^-1/2" or "n^-1/4", default=1e-2
        Regularisation of all layers, n the number of samples. Errors are at most ``k(x, x)``, which is 1 for the rbf
        kernel; for kernels with larger values alpha should be larger in proportion. Many codes need a smaller value.
    feature_map : None, int or ``features.Landmarks``, default=None
        Landmarks whose span replaces that of all samples: d is their number. The kernel of the codes stays a matrix
        (n, n).
    max_iter : int, default=500
        Iterations of L-BFGS.
    tol : float, default=1e-5
        L-BFGS stops when an iteration decreases the objective by less, relative to its value at the start. The relative
        duality gap of the last layer is a tenth of it.
    verbose : int, default=0
        1 shows the objective on standard error.

    Attributes
    ----------
    codes_ : ndarray (n, n_components)
        Codes of the training samples.
    reconstruction_error_ : float
        Mean squared distance between the training samples and their reconstructions.
    sparsity_ : float
        Share of the training samples with zero coefficients in the last layer.
    support_ : ndarray
        Indices of the other samples.
    objective_path_ : ndarray of shape (n_iterations + 1,)
        The objective at the start and after each iteration; it never increases.
    n_iter_ : int
        Iterations of L-BFGS, at least 1.
    dual_gap_ : float
        Relative duality gap of the last layer.
    dual_coef_ : ndarray (n, d)
        Coefficients of the last layer.
    coefs_ : list of ndarrays
        Coefficients of the layers before: (d, p_1) on coordinates, then (n, p_l) on kernel values of codes.
    inner_kernels_ : list
        Kernels of the codes of each hidden layer.
    bottleneck_ : int
        Number of the hidden layer, from 0, whose codes ``transform`` returns.
    pivots_, factor_ : ndarrays (d,), (d, d)
        Indices of training samples that span all, and the Cholesky factor of their kernel matrix.
    kernel_, gamma_, loss_ : the settings in use
    X_fit_ : the pivots (for a Gram matrix, their rows)
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Reconstructions are points of the kernel's space. They have d coordinates in an orthonormal basis of the span of the
    training samples; ``coordinates(X)`` are the coordinates of samples. To decode ``inverse_transform(Z)``, take the
    candidate x with the smallest ``k(x, x) - 2 <coordinates(x), inverse_transform(z)>``. As a combination of the pivots
    a reconstruction has the weights
    ``scipy.linalg.solve_triangular(factor_, inverse_transform(Z).T, lower=True, trans=1).T``; for the linear kernel its
    features are ``weights @ X_fit_``.

    References
    ----------
    - Laforgue, P., Lambert, A., Brogat-Motte, L. and d'Alche-Buc, F. (2020). Duality in RKHSs with infinite dimensional
      outputs: application to robust losses. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import KernelAutoencoder
    >>> angle = np.linspace(0, 6, 60)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle), angle])
    >>> model = KernelAutoencoder(1, alpha=1e-5).fit(X)
    >>> model.transform(X).shape
    (60, 1)
    >>> bool(model.reconstruction_error_ < 0.01)
    True
    """

    def __init__(
        self,
        n_components=2,
        *,
        kernel="rbf",
        gamma="median",
        kernel_params=None,
        inner_kernel="rbf",
        inner_gamma="median",
        inner_params=None,
        loss="squared",
        alpha=1e-2,
        feature_map=None,
        max_iter=500,
        tol=1e-5,
        verbose=0,
    ):
        store(self, locals())

    # ---------------------------------------------------------------- fit

    @transactional
    @with_fit_callbacks
    def fit(self, X, y=None):
        """Learn the codes of X.

        Parameters
        ----------
        X : (n, n_features) array, sparse matrix, or list of objects
            An (n, n) Gram matrix for ``kernel="precomputed"``.
        y : ignored, default=None

        Returns
        -------
        self
        """
        loss, sizes = self._check_settings()
        X = check_inputs(self, X, [self.kernel], reset=True)
        kernel = kernels.InputKernel.from_settings(self.kernel, self.gamma, self.kernel_params, X)
        pivots, factor, V, landmarks = self._embed(kernel, X)
        if not len(pivots):
            raise ValueError("kernel is zero on all samples of X, which leaves nothing to encode; use another kernel")

        parameters, roots, inner = initial_layers(V, sizes, self.inner_kernel, self.inner_gamma, self.inner_params)
        network = Network(V, roots, inner, loss, float(resolve_schedule(self.alpha, len(V))), self.tol)
        if loss.needs_residuals:
            network.resolve_loss(parameters)
        with Progress(type(self).__name__, self.verbose).task("descent", "iteration") as task:
            callback = partial(_report, task)
            final, path, result = minimise(network, parameters, max_iter=self.max_iter, tol=self.tol, callback=callback)
        self._warn_if_not_converged(final.solution, result)
        self._kernel_, self.kernel_, self.gamma_ = kernel, kernel.kernel, kernel.gamma
        self.pivots_, self.factor_ = pivots, factor
        self.X_fit_ = _safe_indexing(X, pivots) if landmarks is None else landmarks
        self._keep(network, final, path, sizes)

    def _embed(self, kernel, X):
        """Indices (d,) of samples that span all, their Cholesky factor (d, d), and coordinates (n, d) of all samples.

        Last, the landmarks if they need not be samples, else None.
        """
        n, setting = _num_samples(X), features.as_feature_map(self.feature_map)
        if setting is not None and not isinstance(setting, features.Landmarks):
            raise ValueError(
                f"feature_map={self.feature_map!r}: codes are decoded by landmarks; give a number or "
                "features.Landmarks(), or put a transformer before the model with kernel='linear'"
            )
        if setting is not None:
            check_memory(n, copies=3)  # Gram matrix of codes, its factor and gradient
            fitted = setting.fit(kernel, X)
            return fitted.columns, np.asarray(fitted.root.T), fitted(X), fitted.X
        check_memory(n, copies=6)  # K, coordinates and dual variables too
        K = kernel.training_gram(X)
        if not K.any():
            return np.empty(0, dtype=int), K[:0, :0], K[:, :0], None
        space = OutputKernel(K).space(np.arange(len(K)))
        pivots = space.pivots.astype(int)
        return pivots, space.factor, _coordinates(space.factor, K[:, pivots]), None

    def _check_settings(self):
        """Check all plain settings; returns the loss and the sizes of the hidden layers."""
        sizes = (self.n_components,) if isinstance(self.n_components, numbers.Number) else self.n_components
        if not isinstance(sizes, (tuple, list)) or not sizes:
            raise ValueError(f"n_components must be an integer or a tuple of integers, got {self.n_components!r}")
        for size in sizes:
            check_number(size, "n_components", integer=True)
        check_alpha(self.alpha, automatic=False)
        check_number(self.max_iter, "max_iter", integer=True)
        check_number(self.tol, "tol")
        if isinstance(self.kernel, (list, tuple)) or kernels.provides_operator(self.kernel):
            raise TypeError(f"kernel must be a name or a callable (X, Z) -> Gram, got {self.kernel!r}")
        kernels.check_kernel(self.kernel)
        kernels.check_kernel_params([self.kernel], self.kernel_params)
        check_inner_kernel(self.inner_kernel, self.inner_gamma, self.inner_params)
        loss = snapshot(as_loss(self.loss))
        if loss.on_margins or loss.pointwise or np.isfinite(loss.largest_residual):
            raise ValueError(
                f"loss={loss!r} is no finite function of the norm of a residual, which an autoencoder needs; use "
                "Squared, Huber(p=2), EpsilonInsensitive(p=2), EpsilonSVR or Norm"
            )
        return loss, [int(size) for size in sizes]

    def _warn_if_not_converged(self, solution, result):
        if solution.gap > self.tol:
            warn(
                f"{type(self).__name__}: the last layer's gap {solution.gap:.1e} > tol {self.tol:.1e} after "
                f"{solution.n_iter} iterations; raise alpha or tol",
                ConvergenceWarning,
            )
        if result.status == _ITERATION_LIMIT:
            warn(
                f"{type(self).__name__}: the objective still fell by more than tol {self.tol:.1e} after {result.nit} "
                "iterations; raise max_iter or tol",
                ConvergenceWarning,
            )

    def _keep(self, network, final, path, sizes):
        """Set the learnt attributes from the final ``Evaluation``."""
        self.loss_, self.inner_kernels_ = network.loss, list(network.inner)
        self.coefs_, self._layer_codes_ = final.coefs, final.codes
        self.bottleneck_ = int(np.argmin(sizes))
        self.codes_ = final.codes[self.bottleneck_]
        self.dual_coef_ = final.solution.dual / (network.alpha * len(network.V))
        self.support_ = np.flatnonzero(self.dual_coef_.any(axis=1))
        self.sparsity_ = 1 - len(self.support_) / len(network.V)
        self.reconstruction_error_ = float(np.mean(_squared_distances(network.V, final.fitted)))
        self.objective_path_, self.n_iter_ = path, max(len(path) - 1, 1)
        self.dual_gap_ = float(final.solution.gap)

    def summary_items(self) -> SummaryItems:
        """Learnt settings and numbers, as pairs (name, value)."""
        check_is_fitted(self)
        n, k = self.codes_.shape
        items: SummaryItems = [("samples", n), ("codes", k), ("loss", self.loss_), ("kernel", self.kernel_)]
        items += [("gamma", self.gamma_)] if self.gamma_ is not None else []
        return [
            *items,
            ("support", f"{len(self.support_)} of {n} samples"),
            ("reconstruction error", self.reconstruction_error_),
            ("objective", self.objective_path_[-1]),
            ("iterations", self.n_iter_),
            ("gap of the last layer", self.dual_gap_),
            *date_items(self),
        ]

    # ---------------------------------------------------------------- codes and back

    def coordinates(self, X):
        """Coordinates of samples in the kernel's space, projected on the span of the training samples.

        Parameters
        ----------
        X : m samples
            Kernel values (m, n) with the training samples for ``kernel="precomputed"``.

        Returns
        -------
        ndarray (m, d)
        """
        return np.concatenate([self._coordinates(part) for _, part in self._blocks(X)])

    def _blocks(self, X):
        """Pairs (rows, X there) of checked inputs whose kernel values fit in scikit-learn's working memory."""
        check_is_fitted(self)
        X = check_inputs(self, X, [self.kernel_], reset=False)
        return blocks_of(X, self._n_numbers)

    @property
    def _n_numbers(self):
        """Numbers of a sample in memory: coordinates, and kernel values with the codes of training samples."""
        return len(self.factor_) + len(self.dual_coef_)

    def _coordinates(self, X):
        if kernels.is_precomputed(self.kernel_):
            return _coordinates(self.factor_, X[:, self.pivots_])
        return _coordinates(self.factor_, self._kernel_(X, self.X_fit_))

    def transform(self, X):
        """Codes of samples.

        Parameters
        ----------
        X : m samples
            Kernel values (m, n) with the training samples for ``kernel="precomputed"``.

        Returns
        -------
        ndarray (m, n_components)
        """
        return np.concatenate([self._encode(self._coordinates(part)) for _, part in self._blocks(X)])

    def _encode(self, V):
        Z = V @ self.coefs_[0]
        for layer in range(self.bottleneck_):
            Z = self.inner_kernels_[layer].gram(Z, self._layer_codes_[layer]) @ self.coefs_[layer + 1]
        return Z

    def inverse_transform(self, X):
        """Reconstructions from codes, as coordinates in the kernel's space.

        Parameters
        ----------
        X : (m, n_components) codes

        Returns
        -------
        ndarray (m, d)
        """
        check_is_fitted(self)
        Z = check_array(X, dtype=np.float64, input_name="X")
        size = self.codes_.shape[1]
        if Z.shape[1] != size:
            raise ValueError(f"X must be codes, as transform gives them, with {size} columns, got {Z.shape[1]}")
        return np.concatenate([self._reconstruct(part) for _, part in blocks_of(Z, self._n_numbers)])

    def _reconstruct(self, Z):
        """Reconstructions (m, d) from codes."""
        last = len(self.coefs_) - 1
        for layer in range(self.bottleneck_, last):
            Z = self.inner_kernels_[layer].gram(Z, self._layer_codes_[layer]) @ self.coefs_[layer + 1]
        if not len(self.support_):
            return np.zeros((len(Z), self.dual_coef_.shape[1]))
        codes = self._layer_codes_[last][self.support_]
        return self.inner_kernels_[last].gram(Z, codes) @ self.dual_coef_[self.support_]

    def score(self, X, y=None):
        """Minus the mean squared distance between the coordinates of samples and of their reconstructions.

        The part of a sample outside the span of the training samples does not count: no model can reconstruct it.

        Parameters
        ----------
        X : m samples
        y : ignored, default=None

        Returns
        -------
        float
        """
        parts = (self._coordinates(part) for _, part in self._blocks(X))
        errors = [_squared_distances(V, self._reconstruct(self._encode(V))) for V in parts]
        return -float(np.mean(np.concatenate(errors)))

    # ---------------------------------------------------------------- scikit-learn

    @property
    def _n_features_out(self):
        return self.codes_.shape[1]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = kernels.is_precomputed(self.kernel)
        tags.input_tags.sparse = True
        return tags


def _report(task, iteration, evaluation) -> bool:
    """Show an iteration; returns whether a callback asks to stop."""
    value, gap = evaluation.value, evaluation.solution.gap
    return task.step(f"objective {value:.6e}, gap {gap:.1e}", iteration=iteration, objective=value, gap=gap)


def _squared_distances(V, W):
    """Squared distances (m,) of rows."""
    return np.sum((V - W) ** 2, axis=1)


def _coordinates(factor, G):
    """Coordinates (m, d) from kernel values G (m, d) with the pivots."""
    return scipy.linalg.solve_triangular(factor, G.T, lower=True).T
