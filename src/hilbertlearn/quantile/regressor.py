"""Quantiles of several levels at once, of vectors and curves."""

from __future__ import annotations

import copy
import numbers
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import _num_samples, check_is_fitted

from .. import kernels, selection
from .._utils.facts import short
from .._utils.fitting import blank, store
from .._utils.progress import Progress
from .._utils.validation import check_choice, check_number
from ..data.functions import IrregularFunctions, Layout, has_points, read_functions, read_training
from ..losses import Pinball
from ..machine.base import KernelMachine
from ..machine.fitted import OnGrid
from ..machine.inputs import check_inputs
from ..machine.state import State
from ..metrics import d2_pinball
from ..operators import Integral, as_learned
from ..spaces import FunctionSpace, VectorSpace, function_space, output_scales, read_vectors
from ..training import Fit, best_constant
from .independent_outputs import SideBySide, unknown_output
from .non_crossing import fit_in_order, state_in_order

_SMOOTHER = (Integral("rbf", 100.0),)  # beside the grid's own, as for ``FunctionalRegressor``
_POINTS = 100  # of the range of a single input, at which quantiles are held in order beside the samples
_BEYOND = 0.05  # share of that range which is added at either end


class QuantileRegressor(MultiOutputMixin, RegressorMixin, OnGrid, KernelMachine):
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

    _CENTERS = ("auto", True, False)
    predicts_quantiles = True
    _held = "beside their quantiles"
    shares_choice = False  # several outputs are several problems, each with a choice of its own
    coupling_: Any  # a number, or one for each output
    _functions_ = False  # whether outputs being fitted are curves
    _rearranged_ = False  # whether predictions are sorted
    _points_ = None  # where quantiles are held in order beside the samples

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

    # ---------------------------------------------------------------- what it is made of

    @property
    def loss(self):
        """The loss of its problem, which levels are the only setting of."""
        return Pinball(self.levels)

    @property
    def levels_(self):
        return self.loss_.taus

    def _check_settings(self, X):
        check_choice(self.scale, "scale", (True, False))
        check_choice(self.non_crossing, "non_crossing", (True, False, "rearranged"))
        if not (isinstance(self.coupling, numbers.Real) and self.coupling == np.inf):
            check_number(self.coupling, "coupling", strict=False, choices=("auto",))
        if isinstance(self.points, str):
            check_choice(self.points, "points", ("auto",), ", None or inputs")
        for kernel, operator in self.pairs(X):
            if kernels.provides_operator(kernel):
                raise ValueError(
                    f"kernel: {type(kernel).__name__} brings an operator of its own, which levels have no part in; "
                    "give a kernel whose values are numbers"
                )
            if as_learned(operator) is not None:
                raise ValueError("operator: LearnedOperator does not go with quantiles; give another operator, or None")
        return super()._check_settings(X)

    def _check_loss(self, loss, encoded):
        """Levels become columns later."""
        if not encoded.space.pointwise:
            raise ValueError("y must be numbers, vectors, or curves on a common grid")

    def pairs(self, X=None):
        pairs = super().pairs(X)
        automatic = isinstance(self.operator, str) and self.operator == "auto" and not self._functions_
        return [(kernel, None) for kernel, _ in pairs] if automatic else pairs

    def _operators(self):
        own = isinstance(self.operator, str) and self.operator == "auto"
        return ("auto", *_SMOOTHER) if own and self._functions_ else ()

    def fit(self, X, y, sample_weight=None):
        """Fit to inputs X and outputs y; NaN in y means not observed.

        Parameters
        ----------
        X : (n, n_features) array, sparse matrix, Gram matrix for ``kernel="precomputed"``, or what the kernel takes
        y : (n,), (n, d), or curves (n, m) with ``grid``
        sample_weight : (n,) non-negative weights of the loss; default 1
        """
        return super().fit(X, y, sample_weight)

    def read(self, X, y, sample_weight=None, output_space=None):
        self._functions_ = self.grid is not None or has_points(y)
        self._rearranged_ = isinstance(self.non_crossing, str)
        return super().read(X, y, sample_weight, output_space)

    def read_outputs(self, y):
        if not self._functions_:
            return read_vectors(y)
        read = read_training(y, self.grid)
        if isinstance(read.data, IrregularFunctions):
            raise ValueError("y: quantiles are of curves on a common grid, NaN where not observed; resample the curves")
        one = read.data.values.shape[-1] == 1
        layout = Layout("array", ndim=read.data.values.ndim - one, origins=read.layout.origins)
        return replace(read, layout=layout)  # predictions are arrays

    def output_space(self, y, sample_weight):
        if not self._functions_:
            rows = y[:, None] if y.ndim == 1 else y
            return VectorSpace(y.ndim == 1, output_scales(rows, sample_weight, robust=True) if self.scale else None)
        smooth = self.center == "auto"
        return function_space("grid", y, sample_weight=sample_weight, centre=self._centre, smooth=smooth)

    def _centre(self, curves, sample_weight, measure):
        """The median curve (d,): what the noise of constants is judged around."""
        return best_constant(curves, sample_weight, Pinball(0.5))

    # ---------------------------------------------------------------- fit

    def _learn(self, X, y, sample_weight):
        self._functions_ = self.grid is not None or has_points(y)
        self._rearranged_ = isinstance(self.non_crossing, str)
        automatic = isinstance(self.operator, str) and self.operator == "auto"
        if y is None or self._functions_ or not automatic:
            return super()._learn(X, y, sample_weight)
        rows = read_vectors(y)
        if rows.ndim == 1 or rows.shape[1] == 1 or _num_samples(X) != len(rows):
            return super()._learn(X, y, sample_weight)
        self._check_settings(X)
        _, weights = super()._read(X, y, sample_weight)  # what is remembered of inputs and outputs
        observed = weights @ np.isfinite(rows) > 0
        if not observed.any():
            return super()._learn(X, y, sample_weight)  # which says so
        self.warn_unobserved(VectorSpace(), ~observed)
        models, progress = {int(j): copy.copy(self) for j in np.flatnonzero(observed)}, self.options().progress
        with progress.task("outputs", "output", len(models), has_subtasks=True) as task:
            for number, model in models.items():
                with Progress().task(
                    f"output {number}", "part", has_subtasks=True
                ):  # callbacks alone see one by itself
                    super(QuantileRegressor, model)._learn(X, rows[:, number], sample_weight)
                task.step()
        first, scales, coupling = next(iter(models.values())), np.ones(len(observed)), np.full(len(observed), np.nan)
        for number, model in models.items():
            scales[number] = 1.0 if model.space_.base.scale is None else model.space_.base.scale[0]
            coupling[number] = model.coupling_
        unknown = unknown_output(first.state_)
        states = [models[j].state_ if known else unknown for j, known in enumerate(observed)]
        space = replace(first.space_, base=VectorSpace(False, scales if self.scale else None))
        self.state_ = SideBySide(parts=tuple(states), space=space, n_samples=len(rows))
        self.coupling_ = coupling

    def _chosen(self, X, y, sample_weight) -> selection.Selection:
        samples, axis = self.read_whole(X, y, sample_weight), not isinstance(self.levels, numbers.Real)
        given = (self.alpha, self.coupling, axis, self.options())
        choice, self.coupling_ = selection.select_levels(samples, self._loss(), *given)
        self._points_ = self._held_at(X)
        return choice

    def fit_without_one(self, X, y, sample_weight=None):
        self.fit(X, y, sample_weight)  # quantiles without a sample have no formula

    def prepare(self, X, y, sample_weight=None):
        return self._chosen(X, y, sample_weight).training

    def solve(self, choice):
        if self.non_crossing is not True or len(choice.loss.taus) == 1:
            return super().solve(choice)
        return fit_in_order(choice.training, choice.loss, choice.alpha, self.options(), self._points_)

    def fit_path(self, X, y, alphas, sample_weight=None):
        """Yield a fitted copy of the estimator for each alpha; kernel, coupling and folds are chosen once."""
        new = blank(self)
        training = new.prepare(X, y, sample_weight)
        for alpha in alphas:
            model = copy.copy(new)
            model.settle(selection.Selection(check_number(alpha, "alphas"), self._loss(), training))
            yield model

    def _shapes(self, X):
        shapes = super()._shapes(X)
        auto = isinstance(self.kernel, str) and self.kernel == "auto"
        return [shape for shape in shapes if not (auto and isinstance(shape, str) and shape == "linear")]

    def make_state(self, found: Fit) -> State:
        """What is kept of a fit: arrays of samples have those given, without points that hold quantiles in order."""
        return state_in_order(found) if found.loss.is_constrained else State.of(found)

    def _held_at(self, X):
        """Checked inputs at which quantiles are held in order beside the samples; None for none."""
        given = self.points
        if self.non_crossing is not True or given is None:
            return None
        read = [kernels.scalar_kernel(kernel) for kernel, _ in self.pairs(X)]
        if not isinstance(given, str):
            if self.__sklearn_tags__().input_tags.pairwise:
                raise ValueError("points: kernel='precomputed' has no values at other inputs; set points=None")
            return check_inputs(self, given, read, reset=False)
        if np.ndim(X) != 2 or self.__sklearn_tags__().input_tags.pairwise or scipy.sparse.issparse(X):
            return None
        values = np.asarray(X, dtype=float)
        if values.shape[1] != 1:
            return None
        low, high = values.min(), values.max()
        more = _BEYOND * (high - low)
        return np.linspace(low - more, high + more, _POINTS)[:, None]

    # ---------------------------------------------------------------- predict

    def facts(self):
        facts = super().facts()
        place = [name for name, _ in facts].index("alpha")
        return [*facts[:place], ("levels", self.levels_), ("coupling", self.coupling_), *facts[place:]]

    def summary(self):
        return f"{super().summary()}\ncoupling   {short(self.coupling_)}"

    def predict(self, X):
        """Quantiles of all levels: (n, n_levels), (n, d, n_levels) of vectors and curves; of one level as y is."""
        return self.framed(self._in_order(self.decode(self.coordinates(X))), X)

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
        self._check_order(y)
        functions = isinstance(self.space_.base, FunctionSpace)
        true = self._curves(y).reshape(len(predicted), -1) if functions else read_vectors(y)
        if np.isnan(predicted).any():
            true = self.with_predictions(true, np.isnan(predicted).reshape(*true.shape, -1).any(axis=-1))
        return d2_pinball(true, predicted, self.levels_, sample_weight, pooled=functions)
