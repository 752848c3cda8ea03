"""The methods that papers on functional outputs compare with (Bouche et al. 2021, section 4).

Three are settings of other estimators under a name of their own: ``build()`` returns the ``FunctionalRegressor`` they
stand for, not fitted, for ``RegularizationPathCV`` and everything else that it can do.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .. import kernels
from .._fitting import snapshot, store, transactional
from .._statistics import mean_rows
from .._validation import check_number
from ..estimators import FunctionalRegressor
from ..estimators.state import Expansion
from ..functions import brings_points
from ..operators import Integral
from ..spaces import PrincipalComponents, function_space
from ..training import counting, take_samples
from .structured import local_weights


class FunctionalNadarayaWatson(FunctionalRegressor):
    """Kernel estimator (KE): ``sum_i k(x, x_i) y_i / sum_i k(x, x_i)`` (Ferraty et al. 2011).

    At each point of the grid the sums run over the curves observed there. Curves with points of their own are first
    interpolated linearly on the grid, constant beyond their ends. Where no curve that was observed has a positive
    weight, as far from all samples, the prediction is the mean of the training curves. A point of the grid at which no
    curve was observed at all takes values interpolated along the curves.

    Inputs, outputs, ``predict`` and ``score`` are those of ``FunctionalRegressor``.

    Parameters
    ----------
    kernel, gamma, kernel_params : as in ``FunctionalRegressor``; values must not be negative
    grid : as in ``FunctionalRegressor``; between its points predictions are linear

    Attributes
    ----------
    curves_ : (n, d) coordinates of the training curves, NaN where not observed
    kernel_, gamma_, space_, X_fit_ : as in ``FunctionalRegressor``
    """

    operator = None  # what else the parent class calls a setting has no part in it

    def __init__(self, kernel="rbf", *, gamma="median", kernel_params=None, grid=None):
        store(self, locals())

    @transactional
    def fit(self, X, y, sample_weight=None):
        """Keep the samples; NaN in y means not observed, samples of weight 0 are left out."""
        kernels.check_kernel(self.kernel)
        kernels.check_params([self.kernel], self.kernel_params)
        X, weights = self._read(X, y, sample_weight)
        y = self.read_outputs(y)
        space = function_space("grid", y, grid=self.grid, sample_weight=weights)
        filled = space.complete(y)
        Y = filled if space.sampled else space.encode(y)
        rows = counting(weights, Y)
        self.curves_ = Y = np.where(np.isfinite(Y[rows]).any(axis=0), Y[rows], filled[rows])
        X, weights = take_samples(X, rows, [self.kernel]), weights[rows]
        self.state_ = Expansion(
            kernels=(kernels.InputKernel.of(self.kernel, self.gamma, self.kernel_params, X, weights),),
            X_fit=X,
            columns=rows,
            predictors=[LocalMeans(Y, weights)],
            space=space,
            center=np.zeros(Y.shape[1]),
        )

    def facts(self):
        check_is_fitted(self)
        return [("curves", len(self.curves_)), ("gamma", self.gamma_)]

    def summary(self):
        """A line on what was kept."""
        check_is_fitted(self)
        return f"{type(self).__name__}: {len(self.curves_)} curves, gamma {self.gamma_}"

    def loo_residuals(self):
        raise AttributeError(
            "FunctionalNadarayaWatson has no closed form; use sklearn.model_selection.cross_val_predict"
        )

    @property
    def fit_path(self):
        raise AttributeError("FunctionalNadarayaWatson has no alpha; search gamma, or its kernel, with GridSearchCV")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # on vectors of many features, which are not what it is for
        return tags


class LocalMeans:
    """Weighted means (m, d) of curves (n, d), NaN where not observed, for kernel values (m, n) with their samples."""

    def __init__(self, curves, weights):
        self.curves, self.weights, self.mean = curves, weights, mean_rows(curves, weights)

    def __call__(self, K):
        K = local_weights(K) * self.weights
        observed = np.isfinite(self.curves)
        total = K @ observed
        means = np.broadcast_to(self.mean, total.shape).copy()
        return np.divide(K @ np.where(observed, self.curves, 0.0), total, out=means, where=total > 0)


class _NamedSetting(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A ``FunctionalRegressor`` under another name: ``build()`` returns it with its settings, not fitted."""

    @transactional
    def fit(self, X, y, sample_weight=None):
        """Fit to inputs X and outputs y as ``FunctionalRegressor`` does; NaN in y means not observed."""
        self.model_ = snapshot(self.build()).fit(self._inputs(X), y, sample_weight)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.model_, name):
                setattr(self, name, getattr(self.model_, name))

    def predict(self, X, grid=None):
        """Functions predicted for X, on the training grid or on another, in the container of the training outputs."""
        check_is_fitted(self)
        return self.model_.predict(self._inputs(X), grid)

    def score(self, X, y, sample_weight=None):
        """1 - integrated squared error / that of the mean training curve, at the points that y observes."""
        check_is_fitted(self)
        return self.model_.score(self._inputs(X), y, sample_weight)

    def _inputs(self, X):
        """X as ``build()`` takes it: without a kernel it is curves, (n, m) or (n, m, channels) if in a plain array."""
        if hasattr(self, "kernel") or brings_points(X) or hasattr(X, "iloc"):
            return X
        return check_array(X, dtype=np.float64, order="C", allow_nd=True, ensure_all_finite="allow-nan", input_name="X")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        kernel = getattr(self, "kernel", kernels.L2)
        tags.input_tags.pairwise = kernels.is_precomputed(kernel)
        tags.input_tags.allow_nan = getattr(kernel, "missing_points", False)
        tags.input_tags.sparse = isinstance(kernel, str)
        tags.regressor_tags.poor_score = not isinstance(kernel, str)  # on vectors, which are no curves
        return tags


class FunctionalKernelRidge(_NamedSetting):
    """Functional kernel ridge regression (FKRR): squared loss, point values, an integral operator (Kadri et al. 2016).

    The papers' penalty lambda multiplies a sum over samples instead of a mean: ``alpha = lambda / n``.

    Parameters
    ----------
    kernel, gamma : of the inputs, as in ``FunctionalRegressor``
    output_kernel, output_gamma : of the operator, as ``kernel`` and ``gamma`` of ``operators.Integral``; "laplacian" is
        ``exp(-output_gamma |s - t|)`` with the domain mapped to [0, 1]
    grid, alpha, center : as in ``FunctionalRegressor``

    ``model_`` is the fitted ``FunctionalRegressor``.
    """

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma="median",
        output_kernel="laplacian",
        output_gamma=10.0,
        grid=None,
        alpha="auto",
        center=True,
    ):
        store(self, locals())

    def build(self):
        return FunctionalRegressor(
            self.kernel,
            gamma=self.gamma,
            operator=Integral(self.output_kernel, self.output_gamma),
            grid=self.grid,
            alpha=self.alpha,
            center=self.center,
        )


class KernelAdditiveRegressor(_NamedSetting):
    """Kernel additive model (KAM): ``y(t)`` is the integral over s of a smooth function of (s, t, x(s)), plus the mean.

    Reimherr and Sriperumbudur 2017, with Gaussian kernels in each of the three variables, and outputs in their
    principal components (Bouche et al. 2021, appendix C.2.2). Inputs must be curves. The papers' penalty lambda
    multiplies a sum over samples instead of a mean: ``alpha = lambda / n``.

    Parameters
    ----------
    bandwidth_points, bandwidth_values : of s and x(s), as in ``kernels.Additive``
    bandwidth_out : of t; the kernel is ``exp(-(t - t')^2 / bandwidth_out^2)``, the domain mapped to [0, 1]
    n_components : number J of principal components of the outputs, around their mean
    input_grid : points of the inputs given as arrays, by default evenly spaced
    grid, alpha : as in ``FunctionalRegressor``

    ``model_`` is the fitted ``FunctionalRegressor``.
    """

    def __init__(
        self,
        *,
        bandwidth_points=0.1,
        bandwidth_values="median",
        bandwidth_out=0.1,
        n_components=20,
        input_grid=None,
        grid=None,
        alpha="auto",
    ):
        store(self, locals())

    def build(self):
        width = check_number(self.bandwidth_out, "bandwidth_out")
        return FunctionalRegressor(
            kernels.Additive(self.bandwidth_points, self.bandwidth_values, self.input_grid),
            operator=Integral("rbf", 1 / width**2),
            space=PrincipalComponents(self.n_components),
            grid=self.grid,
            alpha=self.alpha,
        )


class TripleBasisRegressor(_NamedSetting):
    """Triple-basis estimator (3BE): input coefficients -> random Fourier features -> output coefficients.

    Oliva et al. 2015: both curves become coefficients in orthonormal bases, and a ridge regression on random features
    of a Gaussian kernel links them, at a cost that is linear in the number of samples. Inputs must be curves. Gaps are
    filled by linear interpolation. ``alpha`` has the convention of the package, a mean of half squared errors: it is
    that of the kernel ridge regression which the features approximate.

    Parameters
    ----------
    input_basis, output_basis : a basis of ``hilbertlearn.spaces``; one that is not orthonormal is made so
    n_features : number of random features
    gamma : of the kernel ``exp(-gamma ||b - b'||^2)`` of input coefficients, or "median" as in ``FunctionalRegressor``
    alpha : positive number
    input_grid : points of the inputs given as arrays, by default evenly spaced
    grid : as in ``FunctionalRegressor``
    random_state : None, a seed or a RandomState, for the features

    Attributes
    ----------
    model_ : the fitted ``FunctionalRegressor``; its ``regressor_`` is a ``FourierFeatureRidge``
    """

    def __init__(
        self,
        *,
        input_basis="fourier",
        output_basis="fourier",
        n_features=300,
        gamma="median",
        alpha=1e-3,
        input_grid=None,
        grid=None,
        random_state=None,
    ):
        store(self, locals())

    def build(self):
        ridge = FourierFeatureRidge(
            self.input_basis, self.input_grid, self.n_features, self.gamma, self.alpha, self.random_state
        )
        # a kernel of curves, which is not used, lets inputs through in any container
        return FunctionalRegressor(kernels.L2(), space=self.output_basis, grid=self.grid, regressor=ridge)


class FourierFeatureRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Ridge regression of vectors on random Fourier features of the coefficients of input curves.

    Outputs are centred. Parameters as in ``TripleBasisRegressor``: basis and grid are those of the inputs.

    Attributes
    ----------
    space_ : the space of the inputs
    sampler_, ridge_ : ``RBFSampler`` and ``Ridge`` of scikit-learn
    center_ : (d,) mean of the outputs
    """

    def __init__(self, basis="fourier", grid=None, n_features=300, gamma="median", alpha=1e-3, random_state=None):
        store(self, locals())

    @transactional
    def fit(self, X, y, sample_weight=None):
        """Fit to curves X and vectors y (n,) or (n, d)."""
        check_number(self.alpha, "alpha")
        check_number(self.n_features, "n_features", integer=True)
        y = np.asarray(y, dtype=float)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        self.space_ = function_space(snapshot(self.basis), X, grid=self.grid, sample_weight=weights)
        coefficients = self.space_.complete(X)
        gamma = kernels.resolve_gamma("rbf", self.gamma, coefficients, weights)
        self.sampler_ = RBFSampler(gamma=gamma, n_components=self.n_features, random_state=self.random_state)
        features = self.sampler_.fit_transform(coefficients)
        self.center_ = np.average(y, axis=0, weights=weights)
        self.ridge_ = Ridge(alpha=self.alpha * weights.sum(), fit_intercept=False)
        self.ridge_.fit(features, y - self.center_, weights)

    def predict(self, X):
        """Vectors predicted for X, of the shape of the training ones."""
        check_is_fitted(self)
        return self.ridge_.predict(self.sampler_.transform(self.space_.complete(X))) + self.center_
