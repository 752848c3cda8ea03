"""Methods that papers on functional outputs compare with (Bouche et al. 2021, section 4).

Three of them are settings of ``FunctionalRegressor``: ``build()`` returns that estimator, not fitted, for example for
``RegularizationPathCV``.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from ... import kernels
from ..._utils.fitting import copy_feature_names, snapshot, store, transactional
from ..._utils.naming import unnamed_in_errors
from ..._utils.statistics import mean_rows
from ..._utils.validation import check_number
from ...data.functions import has_points
from ...functional import FunctionalRegressor
from ...losses import Squared
from ...machine.spec import Spec
from ...machine.state import Expansion
from ...machine.steps import FitResult, FitSteps
from ...operators import Integral
from ...spaces import PrincipalComponents, function_space
from ...training import Options, observed_rows, take_samples
from .structured import local_weights


class FunctionalNadarayaWatson(FunctionalRegressor):
    """Kernel estimator (KE): ``sum_i k(x, x_i) y_i / sum_i k(x, x_i)``.

    At each point of the grid the sums run over the curves observed there. Irregular curves are first interpolated
    linearly on the grid, and constant beyond their ends. Where no observed curve has a positive weight, as far from all
    samples, the prediction is the mean of the training curves. At a point of the grid without any observation, the
    values are interpolated along the curves.

    Inputs, outputs, ``predict`` and ``score`` are those of ``FunctionalRegressor``.

    Parameters
    ----------
    kernel : str, callable or kernel object, default="rbf"
        Kernel of the inputs, as in ``FunctionalRegressor``; its values must not be negative.
    gamma : float or {"median", "scale", "auto"}, default="median"
        Rate of a named kernel, as in ``FunctionalRegressor``.
    kernel_params : dict, default=None
        Further parameters of a named kernel, as in ``FunctionalRegressor``.
    grid : array of shape (m,), default=None
        Points of the outputs, as in ``FunctionalRegressor``; predictions are linear between them.

    Attributes
    ----------
    curves_ : array of shape (n, d)
        Coordinates of the training curves, NaN where not observed.
    kernel_, gamma_, X_fit_, space_, center_, grid_, grid_origin_, machine_ : as in ``FunctionalRegressor``
        As in ``FunctionalRegressor``; the centre is zero.
    alpha_, dual_coef_, dual_gap_, feature_map_, loss_, manifold_error_, metric_, n_iter_, objectives_ : none
        Not estimated here: they raise AttributeError.
    operator_, outlier_scores_, precision_, regressor_, saturated_, screened_ : none
        Not estimated here either.
    screening_weights_, search_results_, solver_, support_ : none
        Nor are these.

    References
    ----------
    - Ferraty and Vieu (2006). Nonparametric Functional Data Analysis. Springer.
    - Ferraty, Laksaci, Tadj and Vieu (2011). Kernel regression with functional response. Electronic Journal of
      Statistics 5.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import baselines
    >>> X, t = np.linspace(1, 2, 50)[:, None], np.linspace(0, 1, 30)
    >>> model = baselines.FunctionalNadarayaWatson(gamma=1000.0).fit(X, np.exp(-X * t))
    >>> round(float(np.abs(model.predict([[1.5]]) - np.exp(-1.5 * t)).max()), 2)
    0.0
    """

    operator = None  # settings of the parent class that are not in __init__ are not used

    def __init__(self, kernel="rbf", *, gamma="median", kernel_params=None, grid=None):
        store(self, locals())

    def spec(self, y=None):
        kernels.check_kernel(self.kernel)
        kernels.check_kernel_params([self.kernel], self.kernel_params)
        return Spec(
            estimator=self,
            kernel=self.kernel,
            gamma=self.gamma,
            kernel_params=self.kernel_params,
            operator=None,
            loss=Squared(),
            alpha=0.0,  # there is no penalty
            center=True,
            options=Options(),
            read_outputs=self.read_outputs,
            output_space=self.output_space,
            batch_space=self.output_space,
            steps=LocalMeanSteps(),
        )

    def output_space(self, y, sample_weight):
        return function_space("grid", y, grid=self.grid, sample_weight=sample_weight)

    def summary_items(self):
        check_is_fitted(self)
        return [("curves", len(self.curves_)), ("gamma", self.gamma_)]

    def summary(self):
        """Describe the fitted model in one line.

        Returns
        -------
        text : str
            Number of curves and gamma.
        """
        check_is_fitted(self)
        return f"{type(self).__name__}: {len(self.curves_)} curves, gamma {self.gamma_}"

    def loo_residuals(self):
        """Raise AttributeError: there is no closed form."""
        raise AttributeError(
            "FunctionalNadarayaWatson has no closed form; use sklearn.model_selection.cross_val_predict"
        )

    @property
    def fit_path(self):
        raise AttributeError("FunctionalNadarayaWatson has no alpha; search gamma, or its kernel, with GridSearchCV")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # on vectors of many features
        return tags


class LocalMeanSteps(FitSteps):
    """Stores the samples; NaN in outputs means not observed, samples of weight 0 are dropped."""

    def fit(self, spec, source):
        X, weights, form = source.read_rows(spec)
        y = spec.read_outputs(source.y)
        space = spec.output_space(y, weights)
        filled = space.encode_filled(y)
        Y = filled if space.sampled else space.encode(y)
        rows = observed_rows(weights, Y)
        Y = np.where(np.isfinite(Y[rows]).any(axis=0), Y[rows], filled[rows])
        X, weights = take_samples(X, rows, [spec.kernel]), weights[rows]
        state = Expansion(
            kernels=(kernels.InputKernel.from_settings(spec.kernel, spec.gamma, spec.kernel_params, X, weights),),
            X_fit=X,
            columns=rows,
            predictors=[LocalMeans(Y, weights)],
            space=space,
            center=np.zeros(Y.shape[1]),
        )
        return FitResult(state=state, form=form, learnt={"curves_": Y})


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


@unnamed_in_errors
class _FunctionalBaseline(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Base of methods that are settings of ``FunctionalRegressor``: ``build()`` returns that estimator, not fitted."""

    @transactional
    def fit(self, X, y, sample_weight=None):
        """Fit to inputs and outputs in the forms of ``FunctionalRegressor``.

        Parameters
        ----------
        X : array of shape (n, p), or curves
            Inputs.
        y : array of shape (n, m), or curves
            Outputs; NaN means not observed.
        sample_weight : array of shape (n,), default=None
            Weights of the samples; None for equal weights.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        self.model_ = snapshot(self.build()).fit(self._inputs(X), y, sample_weight)
        copy_feature_names(self.model_, self)

    def predict(self, X, grid=None):
        """Predict functions.

        Parameters
        ----------
        X : array of shape (n, p), or curves
            Inputs.
        grid : array of shape (m,), default=None
            Points of the predictions; None for the training grid.

        Returns
        -------
        functions : array of shape (n, m), or the container of the training outputs
            Predictions.
        """
        check_is_fitted(self)
        return self.model_.predict(self._inputs(X), grid)

    def score(self, X, y, sample_weight=None):
        """Compute one minus the integrated squared error relative to that of the mean training curve.

        Parameters
        ----------
        X : array of shape (n, p), or curves
            Inputs.
        y : array of shape (n, m), or curves
            True outputs; points that are not observed are left out.
        sample_weight : array of shape (n,), default=None
            Weights of the samples; None for equal weights.

        Returns
        -------
        score : float
            At most one.
        """
        check_is_fitted(self)
        return self.model_.score(self._inputs(X), y, sample_weight)

    def _inputs(self, X):
        """Inputs in a form that ``build()`` takes: without a kernel, arrays are curves (n, m) or (n, m, channels)."""
        if hasattr(self, "kernel") or has_points(X) or hasattr(X, "iloc"):
            return X
        return check_array(X, dtype=np.float64, order="C", allow_nd=True, ensure_all_finite="allow-nan", input_name="X")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        kernel = getattr(self, "kernel", kernels.L2)
        tags.input_tags.pairwise = kernels.is_precomputed(kernel)
        tags.input_tags.allow_nan = getattr(kernel, "accepts_missing", False)
        tags.input_tags.sparse = isinstance(kernel, str)
        tags.regressor_tags.poor_score = not isinstance(kernel, str)  # vectors are no curves
        return tags


class FunctionalKernelRidge(_FunctionalBaseline):
    """Functional kernel ridge regression (FKRR): squared loss, point values, an integral operator.

    The papers' penalty lambda multiplies a sum over samples instead of a mean: ``alpha = lambda / n``.

    Parameters
    ----------
    kernel : str, callable or kernel object, default="rbf"
        Kernel of the inputs, as in ``FunctionalRegressor``.
    gamma : float or {"median", "scale", "auto"}, default="median"
        Rate of a named kernel, as in ``FunctionalRegressor``.
    output_kernel : str or callable, default="laplacian"
        Kernel of the operator, as in ``operators.Integral``; "laplacian" is ``exp(-output_gamma |s - t|)`` with the
        domain mapped to [0, 1].
    output_gamma : float, default=10.0
        Rate of the output kernel, as ``gamma`` of ``operators.Integral``.
    grid : array of shape (m,), default=None
        Points of the outputs, as in ``FunctionalRegressor``.
    alpha : float or str, default="auto"
        Regularisation, as in ``FunctionalRegressor``.
    center : bool, default=True
        Whether the model has a constant, as in ``FunctionalRegressor``.

    Attributes
    ----------
    model_ : FunctionalRegressor
        The fitted model.
    n_features_in_ : int
        Number of columns of X, if it is an array of two axes.

    References
    ----------
    - Kadri, Duflos, Preux, Canu, Rakotomamonjy and Audiffren (2016). Operator-valued kernels for learning from
      functional response data. Journal of Machine Learning Research 17.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import baselines
    >>> X, t = np.linspace(1, 2, 20)[:, None], np.linspace(0, 1, 30)
    >>> model = baselines.FunctionalKernelRidge(alpha=1e-6).fit(X, np.exp(-X * t))
    >>> round(float(np.abs(model.predict([[1.5]]) - np.exp(-1.5 * t)).max()), 2)
    0.0
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
        """Create the ``FunctionalRegressor`` with these settings.

        Returns
        -------
        estimator : FunctionalRegressor
            Not fitted.
        """
        return FunctionalRegressor(
            self.kernel,
            gamma=self.gamma,
            operator=Integral(self.output_kernel, self.output_gamma),
            grid=self.grid,
            alpha=self.alpha,
            center=self.center,
        )


class KernelAdditiveRegressor(_FunctionalBaseline):
    """Kernel additive model (KAM): ``y(t)`` is the integral over s of a smooth function of (s, t, x(s)), plus the mean.

    Gaussian kernels in each of the three variables, and outputs in their principal components. Inputs must be curves.
    The papers' penalty lambda multiplies a sum over samples instead of a mean: ``alpha = lambda / n``.

    Parameters
    ----------
    bandwidth_points : float, default=0.1
        Bandwidth of s, as in ``kernels.AdditiveKernel``.
    bandwidth_values : float or {"median", "auto"}, default="median"
        Bandwidth of x(s), as in ``kernels.AdditiveKernel``.
    bandwidth_out : float, default=0.1
        Bandwidth of t; the kernel is ``exp(-(t - t')^2 / bandwidth_out^2)``, the domain mapped to [0, 1].
    n_components : int, default=20
        Number J of principal components of the outputs, around their mean.
    input_grid : array of shape (p,), default=None
        Points of the inputs given as arrays, by default evenly spaced.
    grid : array of shape (m,), default=None
        Points of the outputs, as in ``FunctionalRegressor``.
    alpha : float or str, default="auto"
        Regularisation, as in ``FunctionalRegressor``.

    Attributes
    ----------
    model_ : FunctionalRegressor
        The fitted model.
    n_features_in_ : int
        Number of columns of X, if it is an array of two axes.

    References
    ----------
    - Reimherr and Sriperumbudur (2017). Optimal prediction for additive function on function regression. Electronic
      Journal of Statistics 12.
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS, appendix C.2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import baselines
    >>> a, t = np.linspace(1, 2, 20)[:, None], np.linspace(0, 1, 30)
    >>> X, Y = np.sin(a * t), np.exp(-a * t)
    >>> model = baselines.KernelAdditiveRegressor(n_components=3, alpha=1e-6).fit(X, Y)
    >>> round(float(np.abs(model.predict(np.sin(1.5 * t)[None]) - np.exp(-1.5 * t)).max()), 2)
    0.0
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
        """Create the ``FunctionalRegressor`` with these settings.

        Returns
        -------
        estimator : FunctionalRegressor
            Not fitted.
        """
        width = check_number(self.bandwidth_out, "bandwidth_out")
        return FunctionalRegressor(
            kernels.AdditiveKernel(self.bandwidth_points, self.bandwidth_values, self.input_grid),
            operator=Integral("rbf", 1 / width**2),
            space=PrincipalComponents(self.n_components),
            grid=self.grid,
            alpha=self.alpha,
        )


class TripleBasisRegressor(_FunctionalBaseline):
    """Triple-basis estimator (3BE): input coefficients -> random Fourier features -> output coefficients.

    Both curves become coefficients in orthonormal bases, and a ridge regression on random features of a Gaussian kernel
    relates them, at a cost that is linear in the number of samples. Inputs must be curves. Gaps are filled by linear
    interpolation. ``alpha`` has the convention of the package, a mean of half squared errors: it is that of the kernel
    ridge regression that the features approximate.

    Parameters
    ----------
    input_basis : str or basis object, default="fourier"
        Basis of the inputs, of ``hilbertlearn.spaces``; it is orthonormalised where necessary.
    output_basis : str or basis object, default="fourier"
        Basis of the outputs, in the same way.
    n_features : int, default=300
        Number of random features.
    gamma : float or "median", default="median"
        Rate of the kernel ``exp(-gamma ||b - b'||^2)`` of input coefficients, as in ``FunctionalRegressor``.
    alpha : float, default=0.001
        Regularisation, a positive number.
    input_grid : array of shape (p,), default=None
        Points of the inputs given as arrays, by default evenly spaced.
    grid : array of shape (m,), default=None
        Points of the outputs, as in ``FunctionalRegressor``.
    random_state : int, RandomState instance or None, default=None
        Seed of the random features.

    Attributes
    ----------
    model_ : FunctionalRegressor
        The fitted model; its ``regressor_`` is a ``FourierFeatureRidge``.
    n_features_in_ : int
        Number of columns of X, if it is an array of two axes.

    References
    ----------
    - Oliva, Neiswanger, Poczos, Xing, Trac, Ho and Schneider (2015). Fast function to function regression. AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import baselines
    >>> a, t = np.linspace(1, 2, 20)[:, None], np.linspace(0, 1, 30)
    >>> X, Y = np.sin(a * t), np.exp(-a * t)
    >>> model = baselines.TripleBasisRegressor(output_basis="bspline", alpha=1e-6, random_state=0).fit(X, Y)
    >>> round(float(np.abs(model.predict(np.sin(1.5 * t)[None]) - np.exp(-1.5 * t)).max()), 2)
    0.0
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
        """Create the ``FunctionalRegressor`` with these settings.

        Returns
        -------
        estimator : FunctionalRegressor
            Not fitted.
        """
        ridge = FourierFeatureRidge(
            self.input_basis, self.input_grid, self.n_features, self.gamma, self.alpha, self.random_state
        )
        # the kernel is not used; a kernel of curves accepts inputs in any container
        return FunctionalRegressor(kernels.L2(), space=self.output_basis, grid=self.grid, regressor=ridge)


class FourierFeatureRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Ridge regression of vectors on random Fourier features of the coefficients of input curves.

    Outputs are centred.

    Parameters
    ----------
    basis : str or basis object, default="fourier"
        Basis of the inputs.
    grid : array of shape (p,), default=None
        Points of the inputs given as arrays, by default evenly spaced.
    n_features : int, default=300
        Number of random features.
    gamma : float or "median", default="median"
        Rate of the kernel of input coefficients.
    alpha : float, default=0.001
        Regularisation, positive.
    random_state : int, RandomState instance or None, default=None
        Seed of the random features.

    Attributes
    ----------
    space_ : FunctionSpace
        The space of the inputs.
    sampler_ : RBFSampler
        The random features.
    ridge_ : Ridge
        The regression on the features.
    center_ : array of shape (d,)
        Mean of the outputs.
    """

    def __init__(self, basis="fourier", grid=None, n_features=300, gamma="median", alpha=1e-3, random_state=None):
        store(self, locals())

    @transactional
    def fit(self, X, y, sample_weight=None):
        """Fit to curves and vectors.

        Parameters
        ----------
        X : array of shape (n, p), or curves
            Inputs.
        y : array of shape (n,) or (n, d)
            Outputs.
        sample_weight : array of shape (n,), default=None
            Weights of the samples; None for equal weights.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        check_number(self.alpha, "alpha")
        check_number(self.n_features, "n_features", integer=True)
        y = np.asarray(y, dtype=float)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        self.space_ = function_space(snapshot(self.basis), X, grid=self.grid, sample_weight=weights)
        coefficients = self.space_.encode_filled(X)
        gamma = kernels.resolve_gamma("rbf", self.gamma, coefficients, weights)
        self.sampler_ = RBFSampler(gamma=gamma, n_components=self.n_features, random_state=self.random_state)
        features = self.sampler_.fit_transform(coefficients)
        self.center_ = np.average(y, axis=0, weights=weights)
        self.ridge_ = Ridge(alpha=self.alpha * weights.sum(), fit_intercept=False)
        self.ridge_.fit(features, y - self.center_, weights)

    def predict(self, X):
        """Predict vectors.

        Parameters
        ----------
        X : array of shape (n, p), or curves
            Inputs.

        Returns
        -------
        vectors : array of shape (n,) or (n, d)
            Predictions, in the shape of the training outputs.
        """
        check_is_fitted(self)
        return self.ridge_.predict(self.sampler_.transform(self.space_.encode_filled(X))) + self.center_
