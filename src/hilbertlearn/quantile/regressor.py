"""Quantiles of several levels at once, of vectors and curves."""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .. import kernels
from .._utils.fitting import store
from .._utils.summary import short
from .._utils.validation import check_choice, check_number
from ..data.functions import IrregularFunctions, Layout, has_points, read_functions, read_training
from ..losses import Pinball
from ..machine.base import GridMixin, KernelMachine
from ..machine.fitted import drop_unpredicted
from ..machine.spec import Spec
from ..metrics import d2_pinball
from ..operators import Integral, as_learned
from ..spaces import FunctionSpace, VectorSpace, function_space, output_scales, read_vectors
from ..training import best_constant
from .steps import QuantileSteps

_SMOOTHER = (Integral("rbf", 100.0),)  # operators of curves beside that of the grid, as in ``FunctionalRegressor``


class QuantileRegressor(MultiOutputMixin, RegressorMixin, GridMixin, KernelMachine):
    """Conditional quantiles of all levels at once, certified, with missing outputs and without crossings.

    Minimises ``1/n sum_i sum_j pinball_j(y_i - c_j - h_j(x_i)) + alpha/2 ||h||^2`` to a duality gap, over functions h
    with the kernel ``k(x, z) M (x) exp(-coupling (tau_i - tau_j)^2)``: M relates outputs, the last factor levels
    (Sangnier, Fercoq and d'Alché-Buc 2016). The constants c_j are the quantiles of y.

    Outputs y are numbers (n,), vectors (n, d), or with ``grid`` curves (n, m) on a common grid; NaN means not observed.
    Quantiles of an output that no sample observes are NaN, and ``fit`` warns; for points of curves see
    ``FunctionalRegressor``. Predictions have the levels as their last axis, (n, n_levels) or (n, d, n_levels). For a
    single number as ``levels`` they have the shape of y.

    Parameters
    ----------
    levels : float or increasing sequence of float, default=(0.05, 0.25, 0.5, 0.75, 0.95)
        Levels in (0, 1).
    kernel : str, callable or kernel object, default="auto"
        As in ``OperatorKernelRegressor``, selected by leave-one-out errors of the squared loss; no metric is learnt.
        Without ``calibrate``,
        "auto" does not try the linear kernel: a linear function has no constant beside c_j.
    gamma : float, "auto", "median" or "scale", default="auto"
        As in ``OperatorKernelRegressor``. "auto", where alpha or the coupling is selected too, also tries rates 32 and
        1024 times as large or as small as that of the squared loss, and takes one whose pinball loss over folds is
        more than 1 % smaller.
    kernel_params : dict, default=None
        As in ``OperatorKernelRegressor``.
    operator : "auto", array, object or name of ``hilbertlearn.operators``, default="auto"
        Operator on the outputs. "auto": each output of vectors is a problem of its own, with its own kernel, alpha and
        coupling; curves have one of two integral operators. None: outputs of vectors share kernel and coupling, and
        ``alpha="auto"`` selects an alpha for each.
    coupling : float or "auto", default="auto"
        Rate of the kernel between levels, at least 0. At 0 all quantiles are one function up to constants; at infinity
        each level is a separate model. "auto" selects among 0, 0.1, 1, 10 and infinity by the pinball loss over folds:
        1, unless another is better by a standard error.
    non_crossing : bool or "rearranged", default="rearranged"
        "rearranged" sorts predicted quantiles, which never raises the pinball loss. True constrains the problem:
        quantiles are in order at the training inputs and at ``points``, and the optimum is certified; elsewhere they
        may cross. False does neither.
    points : "auto", None or array of shape (k, n_features), default="auto"
        Inputs at which ``non_crossing=True`` also holds quantiles in order. "auto" is 100 points over the range of a
        single numeric input and 5 % beyond, otherwise none.
    calibrate : bool or "auto", default="auto"
        Whether each level gets an offset, one number for all inputs (for curves, at each point), by which as many
        outputs as the level says are below the quantiles that models without their fold, of 10, predict for them.
        "auto" does so for vectors where ``alpha="auto"``; for a given alpha and for curves predictions are those of
        the certified optimum. The coverage of new outputs is then close to the levels, though not guaranteed; see
        ``ConformalPredictor``. The models of ``fit_path`` and ``RegularizationPathCV``, which compares alphas without
        offsets, get theirs by the same rule.
    grid : array of shape (m,) or tuple of arrays, default=None
        Increasing points of curves y (n, m), as in ``FunctionalRegressor``. None is for vectors, and for an
        ``FDataGrid``, which has its own.
    alpha : float or "auto", default="auto"
        Regularisation. "auto" minimises the pinball loss over 5 folds of at most 400 samples, with their offsets.
    center : bool or "auto", default="auto"
        Whether there are constants c_j; "auto" also smooths those of curves, see ``FunctionalRegressor``.
    scale : bool, default=True
        Whether outputs of vectors are divided by their mean absolute deviation, so that all have the same influence;
        alpha is then that of scaled outputs. There is no "auto": the model of the pinball loss always depends on it.
    scale_inputs : bool or "auto", default="auto"
        Whether columns of X are divided by their standard deviations. Dense X is then clipped to one range beyond the
        training range on either side, and constant columns take no part. This is for kernels given by name; True is an
        error for kernel objects and callables. "auto" is False where the rate of the kernel is not selected, for sparse
        X, and with a graph. Elsewhere it is True if the standard deviations differ by a factor of at most 1.5;
        otherwise leave-one-out errors compare scaled X, which is preferred if they are equal, with X as given, and the
        model of few samples is an average over both.
    feature_map : "auto", None, int, object or transformer, default="auto"
        As in ``OperatorKernelRegressor``.
    solver : str, default="auto"
        As in ``OperatorKernelRegressor``.
    tol : float, default=1e-6
        As in ``OperatorKernelRegressor``.
    max_iter : int, default=1000
        As in ``OperatorKernelRegressor``.
    verbose : int, default=0
        As in ``OperatorKernelRegressor``.

    Attributes
    ----------
    levels_ : array of shape (n_levels,)
        The levels.
    alpha_, coupling_, gamma_, kernel_, loss_, operator_
        As in ``OperatorKernelRegressor``; one for each output where outputs are separate problems, as ``X_fit_`` and
        ``dual_coef_``. ``gamma_`` is a list with the rate of each kernel where ``kernel_`` is an average.
    center_ : array of shape (d n_levels,)
        Constants in coordinates, with the offsets; the levels of an output are adjacent, as in the columns of
        ``dual_coef_``.
    offsets_ : array of shape (n_levels,) or (d, n_levels), or None
        What is added to the quantiles of the optimum by ``calibrate``; None for nothing. With ``non_crossing=True``
        offsets increase along the levels.
    dual_coef_ : array
        Coefficients: predictions are ``k(x, X_fit_) @ dual_coef_ @ operator_ + center_``, times the scale.
    X_fit_ : array
        The samples; with ``non_crossing=True`` followed by the points at which quantiles are in order.
    dual_gap_ : float
        Relative duality gap of the optimum, to which offsets are added, with the order as a constraint if
        ``non_crossing=True``.
    saturated_ : array of bool of shape (n, d n_levels)
        Observations above or below their quantile before offsets, not on it.
    screened_ : array of int
        Empty: there is no outlier screening.
    screening_weights_ : array of shape (n,)
        Ones.
    outlier_scores_ : array of shape (n, d n_levels)
        Distances from the quantiles before offsets, relative to their median.
    n_iter_, solver_, precision_, space_, support_, feature_map_, metric_, objectives_, manifold_error_, machine_
        As in ``OperatorKernelRegressor``.
    search_results_ : dict of arrays
        As in ``OperatorKernelRegressor``; errors of folds are twice the pinball loss.
    grid_, grid_origin_
        Points of curves, as in ``FunctionalRegressor``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    - Koenker, R. and Bassett, G. (1978). Regression quantiles. Econometrica 46(1).
    - Romano, Y., Patterson, E. and Candès, E. (2019). Conformalized quantile regression. NeurIPS.
    - Sangnier, M., Fercoq, O. and d'Alche-Buc, F. (2016). Joint quantile regression in vector-valued RKHSs. NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import QuantileRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 1))
    >>> y = X[:, 0] + X[:, 0] * rng.normal(size=200)
    >>> model = QuantileRegressor((0.1, 0.5, 0.9), alpha=0.01).fit(X, y)
    >>> model.predict([[0.2], [0.8]]).shape
    (2, 3)
    """

    conformal_strategy = "quantiles"  # of ``ConformalPredictor``
    coupling_: Any  # a number, or one for each output
    offsets_: Any = None  # (n_levels,) or (d, n_levels)
    _saturated_name = "beside their quantiles"
    _rearranged_ = False  # whether predictions are sorted

    def __init__(
        self,
        levels=(0.05, 0.25, 0.5, 0.75, 0.95),
        *,
        kernel="auto",
        gamma="auto",
        kernel_params=None,
        operator="auto",
        coupling="auto",
        non_crossing="rearranged",
        points="auto",
        calibrate="auto",
        grid=None,
        alpha="auto",
        center="auto",
        scale=True,
        scale_inputs="auto",
        feature_map="auto",
        solver="auto",
        tol=1e-6,
        max_iter=1000,
        verbose=0,
    ):
        store(self, locals())

    # ---------------------------------------------------------------- fit

    @property
    def loss(self):
        """The pinball loss of the levels."""
        return Pinball(self.levels)

    @property
    def levels_(self):
        return self.loss_.taus

    def spec(self, y=None):
        self._check_settings()
        functions = self.grid is not None or has_points(y)
        automatic = isinstance(self.operator, str) and self.operator == "auto"
        steps = QuantileSteps(
            coupling=self.coupling,
            has_level_axis=not isinstance(self.levels, numbers.Real),
            non_crossing=self.non_crossing,
            points=self.points,
            calibrates=isinstance(self.alpha, str) and not functions if self.calibrate == "auto" else self.calibrate,
            separate_outputs=automatic and not functions,
            scale=self.scale,
        )
        spec = Spec.from_estimator(
            self,
            operator=None if automatic and not functions else self.operator,
            operators=("auto", *_SMOOTHER) if automatic and functions else (),
            excluded_kernels=() if steps.calibrates else ("linear",),
            learns_metric=False,  # levels are calibrated by folds of its samples
            centers=("auto", True, False),
            read_outputs=self._read_curves if functions else read_vectors,
            output_space=self._curve_space if functions else self._vector_space,
            steps=steps,
        )
        for kernel, operator in spec.terms():
            if kernels.provides_operator(kernel):
                raise ValueError(
                    f"kernel: {type(kernel).__name__} brings an operator of its own, which levels have no part in; "
                    "give a kernel whose values are numbers"
                )
            if as_learned(operator) is not None:
                raise ValueError(
                    "operator: LearnedOperator cannot be used for quantiles; give another operator, or None"
                )
        return spec

    def _check_settings(self):
        check_choice(self.scale, "scale", (True, False))
        check_choice(self.calibrate, "calibrate", ("auto", True, False))
        check_choice(self.non_crossing, "non_crossing", (True, False, "rearranged"))
        if not (isinstance(self.coupling, numbers.Real) and self.coupling == np.inf):
            check_number(self.coupling, "coupling", strict=False, choices=("auto",))
        if isinstance(self.points, str):
            check_choice(self.points, "points", ("auto",), ", None or inputs")

    def _read_curves(self, y):
        read = read_training(y, self.grid)
        if isinstance(read.data, IrregularFunctions):
            raise ValueError("y: quantiles are of curves on a common grid, NaN where not observed; resample the curves")
        is_single = read.data.values.shape[-1] == 1
        layout = Layout("array", ndim=read.data.values.ndim - is_single, origins=read.layout.origins)
        return replace(read, layout=layout)  # predictions are arrays

    def _vector_space(self, y, sample_weight):
        rows = y[:, None] if y.ndim == 1 else y
        return VectorSpace(y.ndim == 1, output_scales(rows, sample_weight, robust=True) if self.scale else None)

    def _curve_space(self, y, sample_weight):
        smooth = self.center == "auto"
        return function_space("grid", y, sample_weight=sample_weight, centre=_median_curve, smooth=smooth)

    # ---------------------------------------------------------------- predict

    def summary_items(self):
        items = super().summary_items()
        place = [name for name, _ in items].index("alpha")
        own = [("levels", self.levels_), ("coupling", self.coupling_), ("offsets", self.offsets_)]
        return [*items[:place], *own, *items[place:]]

    def summary(self):
        lines = [super().summary(), f"coupling   {short(self.coupling_)}"]
        if self.offsets_ is not None:
            lines.append("calibrated by residuals of folds, see offsets_")
        return "\n".join(lines)

    def predict(self, X):
        """Quantiles of all levels.

        Parameters
        ----------
        X : array-like of shape (m, n_features), or other inputs of the kernel
            Inputs.

        Returns
        -------
        quantiles : array of shape (m, n_levels), or (m, d, n_levels) for vectors and curves
            For a single number as ``levels`` of the shape of y.
        """
        machine = self.machine_
        return machine.form.wrap(self._rearrange(machine.decode(machine.coordinates(X))), X)

    def predict_level(self, X, level=0.5):
        """Quantiles of one of the levels.

        Parameters
        ----------
        X : array-like of shape (m, n_features), or other inputs of the kernel
            Inputs.
        level : float, default=0.5
            One of ``levels``.

        Returns
        -------
        quantiles : array of shape (m,), or (m, d) for vectors and curves
        """
        check_is_fitted(self)
        indices = np.flatnonzero(np.isclose(self.levels_, level, rtol=0.0, atol=1e-12))
        if not len(indices):
            raise ValueError(f"level must be one of the levels {self.levels_.tolist()}, got {level!r}")
        quantiles = np.asarray(self.predict(X))
        return quantiles[..., indices[0]] if self.space_.axis else quantiles

    def _rearrange(self, quantiles):
        """Quantiles in increasing order, where ``non_crossing="rearranged"``."""
        return np.sort(quantiles, axis=-1) if self._rearranged_ and self.space_.axis else quantiles

    def _curves(self, y):
        """Values of curves y on the training grid."""
        base = self.space_.base
        data, _ = read_functions(y, None if has_points(y) else base.grids, origins=base.layout.origins)
        return data.values

    def score(self, X, y, sample_weight=None):
        """1 - pinball loss / that of the quantiles of y itself, mean over outputs and levels, where y was observed.

        The loss of curves is summed over their points first.

        Parameters
        ----------
        X : array-like of shape (m, n_features), or other inputs of the kernel
            Inputs.
        y : array-like of shape (m,) or (m, d)
            Outputs, NaN where not observed.
        sample_weight : array-like of shape (m,), default=None
            Weights of the samples; None is 1 for all.

        Returns
        -------
        score : float
        """
        predicted = np.asarray(self.predict(X))
        self.machine_.form.check_order(y)
        functions = isinstance(self.space_.base, FunctionSpace)
        true = self._curves(y).reshape(len(predicted), -1) if functions else read_vectors(y)
        if np.isnan(predicted).any():
            true = drop_unpredicted(true, np.isnan(predicted).reshape(*true.shape, -1).any(axis=-1))
        return d2_pinball(true, predicted, self.levels_, sample_weight, pooled=functions)


def _median_curve(curves, sample_weight, measure):
    """The median curve (d,), around which the noise of constants is estimated."""
    return best_constant(curves, sample_weight, Pinball(0.5))
