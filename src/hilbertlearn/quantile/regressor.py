"""Quantiles of several levels at once, of vectors and curves."""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .. import kernels
from .._utils.facts import short
from .._utils.fitting import store
from .._utils.validation import check_choice, check_number
from ..data.functions import IrregularFunctions, Layout, has_points, read_functions, read_training
from ..losses import Pinball
from ..machine.base import GridMixin, KernelMachine
from ..machine.fitted import drop_unpredicted
from ..metrics import d2_pinball
from ..operators import Integral, as_learned
from ..spaces import FunctionSpace, VectorSpace, function_space, output_scales, read_vectors
from ..training import best_constant
from .steps import QuantileSteps

_SMOOTHER = (Integral("rbf", 100.0),)  # beside the grid's own, as for ``FunctionalRegressor``


class QuantileRegressor(MultiOutputMixin, RegressorMixin, GridMixin, KernelMachine):
    """Conditional quantiles of all levels at once, certified, with gaps in the outputs and without crossings.

    Minimises ``1/n sum_i sum_j pinball_j(y_i - c_j - h_j(x_i)) + alpha/2 ||h||^2`` to a duality gap, over functions h
    with the kernel ``k(x, z) M (x) exp(-coupling (tau_i - tau_j)^2)``: M relates outputs, the last factor levels
    (Sangnier, Fercoq and d'Alché-Buc 2016). Constants c_j are the quantiles of y itself.

    Outputs y are numbers (n,), vectors (n, d), or with ``grid`` curves (n, m) on a common grid; NaN means not observed.
    Quantiles of an output that no sample observes are NaN, and ``fit`` warns; see ``FunctionalRegressor`` for points.
    Predictions have the levels as their last axis, (n, n_levels) or (n, d, n_levels); for ``levels`` a single number
    they have the shape of y.

    Parameters
    ----------
    levels : increasing numbers in (0, 1), or one
    kernel, gamma, kernel_params : as in ``OperatorKernelRegressor``; "auto" by leave-one-out of the squared loss
        among kernels that are not linear: the linear one has no constant beside c_j, the quantiles of y, from which
        those at the mean input differ
    operator : "auto", as in ``OperatorKernelRegressor``, or for curves as in ``FunctionalRegressor``
        Operator on the outputs. "auto": for vectors each output is a problem of its own, with its own kernel, alpha
        and coupling; for curves the better of two integral operators. None: outputs of vectors share kernel and
        coupling, and have an alpha each where that is "auto".
    coupling : "auto" or number >= 0, or infinity
        How much levels may differ: at 0 quantiles are one function up to constants, at infinity each level is a model
        of its own. "auto": the smallest pinball loss over folds of 0, 0.1, 1, 10 and infinity.
    non_crossing : True, False or "rearranged"
        "rearranged": predicted quantiles are sorted, which never raises the pinball loss. True: quantiles are in order
        at the training inputs and at ``points``, as a constraint of the problem, whose optimum is certified; elsewhere
        they may cross. False: as they come.
    points : "auto", None or inputs (k, n_features)
        Where quantiles are held in order beside the training inputs. "auto": for a single numeric input 100 points
        over its range and a little beyond, otherwise none.
    grid : None for vectors, or increasing points (m,) of curves y (n, m), a tuple of them for two variables, as in
        ``FunctionalRegressor``; an ``FDataGrid`` brings its own
    alpha : "auto" or number
        Regularisation; "auto": the smallest pinball loss over 5 folds, which share their factors.
    center : "auto" or bool
        Whether there are constants c_j; "auto" smooths those of curves, see ``FunctionalRegressor``.
    scale : bool
        Divide outputs of vectors by their mean absolute deviation, so that they count alike; alpha is then that of
        scaled outputs.
    feature_map, solver, tol, max_iter, verbose : as in ``OperatorKernelRegressor``

    Attributes
    ----------
    levels_ : (n_levels,)
    alpha_, coupling_, gamma_, kernel_, loss_, operator_ : the values used; where outputs are problems of their own, one
        for each, as are ``X_fit_`` and ``dual_coef_``
    center_ : (d n_levels,) constants in coordinates, levels of an output side by side, as columns of ``dual_coef_``
    dual_coef_ : coefficients at ``X_fit_``: predictions are ``k(x, X_fit_) @ dual_coef_ @ operator_ + center_``, scaled
    X_fit_ : the samples, with ``non_crossing=True`` followed by the points at which quantiles are in order
    dual_gap_ : relative duality gap of the solution, of quantiles that are in order where that is asked for
    saturated_ : (n, d n_levels) observations that are beside their quantile, not on it
    screened_ : empty, all samples count
    outlier_scores_ : (n, d n_levels) distances from the quantiles, relative to their median
    n_iter_, solver_, precision_, space_, support_, feature_map_, metric_, objectives_, manifold_error_ : as in
        ``OperatorKernelRegressor``
    search_results_ : what was tried, see ``OperatorKernelRegressor``; errors of folds are twice the pinball loss
    grid_, grid_origin_ : of curves, as in ``FunctionalRegressor``
    machine_ : what wrappers use of a fitted estimator: coordinates, residuals, leave-one-out models
    n_features_in_, feature_names_in_ : as in scikit-learn

    References
    ----------
    - Koenker, R. and Bassett, G. (1978). Regression quantiles. Econometrica 46(1).
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
        grid=None,
        alpha="auto",
        center="auto",
        scale=True,
        feature_map="auto",
        solver="auto",
        tol=1e-6,
        max_iter=1000,
        verbose=0,
    ):
        store(self, locals())

    # ---------------------------------------------------------------- what a fit is made of

    @property
    def loss(self):
        """The loss of its problem; its only setting are the levels."""
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
            separate_outputs=automatic and not functions,
            scale=self.scale,
        )
        spec = self._make_spec(
            operator=None if automatic and not functions else self.operator,
            operators=("auto", *_SMOOTHER) if automatic and functions else (),
            excluded_kernels=("linear",),
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
                raise ValueError("operator: LearnedOperator does not go with quantiles; give another operator, or None")
        return spec

    def _check_settings(self):
        check_choice(self.scale, "scale", (True, False))
        check_choice(self.non_crossing, "non_crossing", (True, False, "rearranged"))
        if not (isinstance(self.coupling, numbers.Real) and self.coupling == np.inf):
            check_number(self.coupling, "coupling", strict=False, choices=("auto",))
        if isinstance(self.points, str):
            check_choice(self.points, "points", ("auto",), ", None or inputs")

    def _read_curves(self, y):
        read = read_training(y, self.grid)
        if isinstance(read.data, IrregularFunctions):
            raise ValueError("y: quantiles are of curves on a common grid, NaN where not observed; resample the curves")
        one = read.data.values.shape[-1] == 1
        layout = Layout("array", ndim=read.data.values.ndim - one, origins=read.layout.origins)
        return replace(read, layout=layout)  # predictions are arrays

    def _vector_space(self, y, sample_weight):
        rows = y[:, None] if y.ndim == 1 else y
        return VectorSpace(y.ndim == 1, output_scales(rows, sample_weight, robust=True) if self.scale else None)

    def _curve_space(self, y, sample_weight):
        smooth = self.center == "auto"
        return function_space("grid", y, sample_weight=sample_weight, centre=_median_curve, smooth=smooth)

    # ---------------------------------------------------------------- predict

    def facts(self):
        facts = super().facts()
        place = [name for name, _ in facts].index("alpha")
        return [*facts[:place], ("levels", self.levels_), ("coupling", self.coupling_), *facts[place:]]

    def summary(self):
        return f"{super().summary()}\ncoupling   {short(self.coupling_)}"

    def predict(self, X):
        """Quantiles of all levels: (n, n_levels), (n, d, n_levels) of vectors and curves; of one level as y is."""
        machine = self.machine_
        return machine.form.wrap(self._in_order(machine.decode(machine.coordinates(X))), X)

    def predict_level(self, X, level=0.5):
        """Quantiles of one of the levels, of the shape of y; the median by default."""
        check_is_fitted(self)
        found = np.flatnonzero(np.isclose(self.levels_, level, rtol=0.0, atol=1e-12))
        if not len(found):
            raise ValueError(f"level must be one of the levels {self.levels_.tolist()}, got {level!r}")
        quantiles = np.asarray(self.predict(X))
        return quantiles[..., found[0]] if self.space_.axis else quantiles

    def _in_order(self, quantiles):
        return np.sort(quantiles, axis=-1) if self._rearranged_ and self.space_.axis else quantiles

    def _curves(self, y):
        """Values of curves y on the training grid."""
        base = self.space_.base
        data, _ = read_functions(y, None if has_points(y) else base.grids, origins=base.layout.origins)
        return data.values

    def score(self, X, y, sample_weight=None):
        """1 - pinball loss / that of the quantiles of y itself, mean over outputs and levels, where y was observed.

        Of curves the loss is summed over their points first.
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
