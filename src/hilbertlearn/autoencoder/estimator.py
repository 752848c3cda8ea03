"""Codes of a few numbers for any data that have a kernel."""

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
from .._utils.callbacks import FitCallbacksMixin, with_fit_callbacks
from .._utils.facts import Facts, WithFacts
from .._utils.fitting import snapshot, store, transactional
from .._utils.progress import Progress
from .._utils.validation import check_memory, check_number, warn
from ..losses import as_loss
from ..machine.dates import date_facts
from ..machine.inputs import check_inputs
from ..machine.named_settings import NamedSettings
from ..machine.state import blocks_of
from ..spaces import OutputKernel
from ..training import check_alpha, resolve_schedule
from .layers import Network, check_inner, descend, start

_ITERATION_LIMIT = 1  # status of scipy's L-BFGS


class KernelAutoencoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, FitCallbacksMixin, WithFacts, NamedSettings):
    """Codes from which the image of a sample in a kernel's space can be rebuilt (Laforgue et al. 2020, section 4.2).

    With phi(x) the image of x in the space of ``kernel``, minimises over functions f_1, ..., f_L

        1/n sum_i loss(phi(x_i) - f_L(... f_1(x_i))) + alpha/2 sum_l ||f_l||^2

    f_1 takes samples to numbers and is in the space of ``kernel``; the others have the kernel ``inner_kernel`` times
    the identity, and f_L ends in the space of ``kernel``. For given codes f_L is solved in the dual, to a certified
    gap; the layers before it descend by L-BFGS on what is then a function of them alone. It is not convex: the start
    is kernel principal components, so nothing is random, and the end a local minimum. Nothing is centred.

    Parameters
    ----------
    n_components : int or tuple of ints
        Number of codes. A tuple such as ``(10, 2, 10)`` gives the sizes of several hidden layers; ``transform`` then
        gives the smallest, the first of them if there are several. There are never more codes that differ from zero
        than the kernel matrix has rank: further ones could carry nothing.
    kernel : str, callable, object of ``hilbertlearn.kernels`` or Gaussian-process kernel
        A name of scikit-learn's ``pairwise_kernels``, a callable ``(X, Z) -> Gram``, or ``"precomputed"``.
    gamma : float, "median" or "scale"
        Coefficient of named kernels. "median": the bandwidth is the median distance between samples.
    kernel_params : dict or None
        Further parameters of a named kernel, such as ``degree``.
    inner_kernel : "rbf", "linear", "poly" or "polynomial"
    inner_gamma : float, "median" or "scale"
        As gamma, for the codes; names are resolved at the start of the descent.
    inner_params : dict or None
        ``degree`` (3) and ``coef0`` (1) of a polynomial inner kernel.
    loss : str or object of ``hilbertlearn.losses``
        A loss of the residual's Euclidean norm. What is "auto" in it comes from leave-one-out residuals of the last
        layer at the start.
    alpha : float, "n^-1/2" or "n^-1/4", n the number of samples
        Regularisation, the same for all layers. Errors are at most ``k(x, x)``, 1 for the rbf kernel: where that is
        of another size, so should alpha be. Many codes need a smaller one.
    feature_map : None, int or ``features.Landmarks``
        Landmarks in whose span samples are encoded and rebuilt, in place of all of them: d is their number. The kernel
        of the codes stays a matrix (n, n).
    max_iter : int
        Iterations of L-BFGS.
    tol : float
        Decrease of the objective in an iteration, relative to its value at the start, at which the descent ends; the
        relative duality gap of the last layer is held at a tenth of it.
    verbose : int
        1 shows the objective as it falls, on standard error.

    Attributes
    ----------
    codes_ : (n, n_components) codes of the training samples
    reconstruction_error_ : mean squared distance of the training samples from their reconstructions
    sparsity_ : share of the training samples that the last layer does without
    support_ : indices of the others
    objective_path_ : ``(n_iter_ + 1,)``, the objective at the start and after each iteration; it never increases
    n_iter_ : iterations of L-BFGS, at least 1
    dual_gap_ : relative duality gap of the last layer
    dual_coef_ : (n, d) coefficients of the last layer
    coefs_ : coefficients of the layers before: (d, p_1) on coordinates, then (n, p_l) on kernel values of codes
    inner_kernels_ : kernels of the codes of each hidden layer
    bottleneck_ : number of the hidden layer, from 0, whose codes ``transform`` gives
    pivots_, factor_ : indices (d,) of training samples that span all, and the Cholesky factor (d, d) of their kernel
        matrix
    kernel_, gamma_, loss_ : the settings used
    X_fit_ : the pivots (for a Gram matrix, their rows)
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Reconstructions are points of the kernel's space, given as d coordinates in an orthonormal basis of the span of the
    training samples; ``coordinates(X)`` are those of samples. So ``inverse_transform(Z)`` is decoded by the candidate
    x with the smallest ``k(x, x) - 2 <coordinates(x), inverse_transform(z)>``, and as a combination of the pivots it
    has the weights ``scipy.linalg.solve_triangular(factor_, inverse_transform(Z).T, lower=True, trans=1).T``; with
    these, the features of a reconstruction under the linear kernel are ``weights @ X_fit_``.

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
        """Learn the codes of X; y is ignored.

        X : (n, n_features) array, sparse matrix, (n, n) Gram matrix for ``kernel="precomputed"``, or a list of objects
        """
        loss, sizes = self._check_settings()
        X = check_inputs(self, X, [self.kernel], reset=True)
        kernel = kernels.InputKernel.from_settings(self.kernel, self.gamma, self.kernel_params, X)
        pivots, factor, V, landmarks = self._embedded(kernel, X)
        if not len(pivots):
            raise ValueError("kernel is zero on all samples of X, which leaves nothing to encode; use another kernel")

        parameters, roots, inner = start(V, sizes, self.inner_kernel, self.inner_gamma, self.inner_params)
        network = Network(V, roots, inner, loss, float(resolve_schedule(self.alpha, len(V))), self.tol)
        if loss.needs_residuals:
            network.resolve_loss(parameters)
        with Progress(type(self).__name__, self.verbose).task("descent", "iteration") as task:
            callback = partial(_tell, task)
            found, path, result = descend(network, parameters, max_iter=self.max_iter, tol=self.tol, callback=callback)
        self._warn(found.solution, result)
        self._kernel_, self.kernel_, self.gamma_ = kernel, kernel.kernel, kernel.gamma
        self.pivots_, self.factor_ = pivots, factor
        self.X_fit_ = _safe_indexing(X, pivots) if landmarks is None else landmarks
        self._store(network, found, path, sizes)

    def _embedded(self, kernel, X):
        """Positions of samples that span all (d,), their Cholesky factor (d, d), and coordinates (n, d) of all.

        Last, the landmarks where they need not be among the samples, else None.
        """
        n, setting = _num_samples(X), features.as_feature_map(self.feature_map)
        if setting is not None and not isinstance(setting, features.Landmarks):
            raise ValueError(
                f"feature_map={self.feature_map!r}: codes are decoded by landmarks; give a number or "
                "features.Landmarks(), or put a transformer before the model with kernel='linear'"
            )
        if setting is not None:
            check_memory(n, copies=3)  # inner K, its factor and gradient
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
        """The loss and the sizes of the hidden layers, all plain settings checked."""
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
        check_inner(self.inner_kernel, self.inner_gamma, self.inner_params)
        loss = snapshot(as_loss(self.loss))
        if loss.on_margins or loss.pointwise or np.isfinite(loss.largest_residual):
            raise ValueError(
                f"loss={loss!r} is no finite function of the norm of a residual, which an autoencoder needs; use "
                "Squared, Huber(p=2), EpsilonInsensitive(p=2), EpsilonSVR or Norm"
            )
        return loss, [int(size) for size in sizes]

    def _warn(self, solution, result):
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

    def _store(self, network, found, path, sizes):
        self.loss_, self.inner_kernels_ = network.loss, list(network.inner)
        self.coefs_, self._layer_codes_ = found.coefs, found.codes
        self.bottleneck_ = int(np.argmin(sizes))
        self.codes_ = found.codes[self.bottleneck_]
        self.dual_coef_ = found.solution.dual / (network.alpha * len(network.V))
        self.support_ = np.flatnonzero(self.dual_coef_.any(axis=1))
        self.sparsity_ = 1 - len(self.support_) / len(network.V)
        self.reconstruction_error_ = float(np.mean(np.sum((network.V - found.fitted) ** 2, axis=1)))
        self.objective_path_, self.n_iter_ = path, max(len(path) - 1, 1)
        self.dual_gap_ = float(found.solution.gap)

    def facts(self) -> Facts:
        """What was found, as pairs (name, value); numbers are as the attributes have them."""
        check_is_fitted(self)
        n, k = self.codes_.shape
        facts: Facts = [("samples", n), ("codes", k), ("loss", self.loss_), ("kernel", self.kernel_)]
        facts += [("gamma", self.gamma_)] if self.gamma_ is not None else []
        return [
            *facts,
            ("support", f"{len(self.support_)} of {n} samples"),
            ("reconstruction error", self.reconstruction_error_),
            ("objective", self.objective_path_[-1]),
            ("iterations", self.n_iter_),
            ("gap of the last layer", self.dual_gap_),
            *date_facts(self),
        ]

    # ---------------------------------------------------------------- codes and back

    def coordinates(self, X):
        """Coordinates (m, d) of samples in the kernel's space, or of their projections on the span of the training
        samples."""
        return np.concatenate([self._coordinates(part) for _, part in self._blocks(X)])

    def _blocks(self, X):
        """Pairs (rows, X there) of inputs, checked, whose kernel values fit in scikit-learn's working memory."""
        check_is_fitted(self)
        X = check_inputs(self, X, [self.kernel_], reset=False)
        return blocks_of(X, self._width)

    @property
    def _width(self):
        """Numbers that a sample has at once: coordinates, and kernel values with the codes of training samples."""
        return len(self.factor_) + len(self.dual_coef_)

    def _coordinates(self, X):
        if kernels.is_precomputed(self.kernel_):
            return _coordinates(self.factor_, X[:, self.pivots_])
        return _coordinates(self.factor_, self._kernel_(X, self.X_fit_))

    def transform(self, X):
        """Codes (m, n_components) of X; for ``kernel="precomputed"`` X has kernel values (m, n) with the samples."""
        return np.concatenate([self._encode(self._coordinates(part)) for _, part in self._blocks(X)])

    def _encode(self, V):
        Z = V @ self.coefs_[0]
        for layer in range(self.bottleneck_):
            Z = self.inner_kernels_[layer].gram(Z, self._layer_codes_[layer]) @ self.coefs_[layer + 1]
        return Z

    def inverse_transform(self, X):
        """Reconstructions (m, d), as coordinates in the kernel's space, from codes X (m, n_components)."""
        check_is_fitted(self)
        Z = check_array(X, dtype=np.float64, input_name="X")
        size = self.codes_.shape[1]
        if Z.shape[1] != size:
            raise ValueError(f"X must be codes, as transform gives them, with {size} columns, got {Z.shape[1]}")
        return np.concatenate([self._rebuilt(part) for _, part in blocks_of(Z, self._width)])

    def _rebuilt(self, Z):
        """Reconstructions (m, d) from codes."""
        last = len(self.coefs_) - 1
        for layer in range(self.bottleneck_, last):
            Z = self.inner_kernels_[layer].gram(Z, self._layer_codes_[layer]) @ self.coefs_[layer + 1]
        if not len(self.support_):
            return np.zeros((len(Z), self.dual_coef_.shape[1]))
        codes = self._layer_codes_[last][self.support_]
        return self.inner_kernels_[last].gram(Z, codes) @ self.dual_coef_[self.support_]

    def score(self, X, y=None):
        """Minus the mean squared distance between the coordinates of X and of their reconstructions; y is ignored.

        What a sample has outside the span of the training samples does not count: no model can rebuild it.
        """
        parts = (self._coordinates(part) for _, part in self._blocks(X))
        return -float(np.mean(np.concatenate([_distances(V, self._rebuilt(self._encode(V))) for V in parts])))

    # ---------------------------------------------------------------- scikit-learn

    @property
    def _n_features_out(self):
        return self.codes_.shape[1]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = kernels.is_precomputed(self.kernel)
        tags.input_tags.sparse = True
        return tags


def _tell(task, iteration, evaluation) -> bool:
    """Of an iteration; whether to stop."""
    value, gap = evaluation.value, evaluation.solution.gap
    return task.step(f"objective {value:.6e}, gap {gap:.1e}", iteration=iteration, objective=value, gap=gap)


def _distances(V, W):
    """Squared distances (m,) of rows."""
    return np.sum((V - W) ** 2, axis=1)


def _coordinates(factor, G):
    """Coordinates (m, d) from kernel values G (m, d) with the pivots."""
    return scipy.linalg.solve_triangular(factor, G.T, lower=True).T
