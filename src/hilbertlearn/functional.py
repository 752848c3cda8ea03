"""Functional outputs: regression of whole curves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import _num_samples, check_is_fitted

from ._utils.blocks import blocks_of
from ._utils.fitting import snapshot, store
from ._utils.linalg import Kronecker
from ._utils.statistics import pointwise_median
from .core.terms import LinearPredictor
from .data.frames import points_of
from .data.functions import IrregularFunctions, check_grids, has_points, read_functions, read_training
from .kernels import provides_operator
from .losses import Squared, as_loss
from .machine.base import GridMixin, learnt
from .machine.batch_state import StreamState
from .machine.distributed import is_dask, map_blocks_lazily
from .machine.fitted import drop_unpredicted
from .machine.partial_fit import BatchMachine
from .machine.spec import Spec
from .machine.state import Expansion, State
from .machine.steps import FitSteps
from .metrics import integrated_squared_error
from .operators import AxisProduct, Integral
from .spaces import Grid, function_space
from .spaces.settings import as_space
from .training import best_constant

_SMOOTHER = (Integral("rbf", 100.0),)  # operators to select from beside that of the grid, whose functions are rough


@dataclass(frozen=True, eq=False, kw_only=True)
class FunctionalState(State):
    """The state of a model of functions, which can be evaluated between the points of their grid."""

    integrals: list  # for each term the integral operator on the domain, or None


class FunctionalSteps(FitSteps):
    """The state of a model of functions has their integral operators, and points in the shape of their grid."""

    def make_state(self, result):
        space, pairs = result.training.space, zip(result.training.recipe.pairs, result.training.terms, strict=True)
        integrals = [_integral(kernel, operator, term.M, space) for (kernel, operator), term in pairs]
        state = FunctionalState.from_fit(result, integrals=integrals)
        if state.saturated.ndim == 1:
            return state
        points = (-1, *(space.sizes if space.n_curves > 1 else space.sizes[:-1]))
        saturated, sizes = state.saturated.reshape(points), state.residual_sizes.reshape(points)
        return replace(state, saturated=saturated, residual_sizes=sizes)

    def make_stream_state(self, settings, solved, n_samples, search_results):
        ((kernel, operator),) = settings.recipe.pairs
        integral = _integral(kernel, operator, settings.M, settings.space)
        return StreamState.from_moments(settings, solved, n_samples, search_results, integrals=(integral,))


class FunctionalRegressor(MultiOutputMixin, RegressorMixin, GridMixin, BatchMachine):
    """Regression of functions with the operator-valued kernel ``k(x, z) M`` and any loss, from observed values.

    Minimises ``1/n sum_i loss(y_i - c - h(x_i)) + alpha/2 ||h||^2`` to a certified duality gap; norms are those of L2
    on the domain of the functions, mapped to the unit interval.

    Outputs y are one of

    - an array (n, m) of curves on a common grid, (n, m, p) for p curves per sample, or (n, m_1, m_2) with a grid for
      each of two variables; NaN where not observed,
    - a data frame of pandas or polars with one curve per row. Column names that are numbers, or numbers as text, are
      the grid unless ``grid`` is given, and ``predict(X, grid)`` has the new points as columns,
    - ``IrregularFunctions(points, values)``, where each curve has its own points,
    - a ``FDataGrid``, ``FDataIrregular`` or ``FDataBasis`` of scikit-fda, or a list of ``FDataGrid``, one per sample,
      whose grids may differ. Functions in a basis are in the space of that basis unless another is given.

    Predictions come back in the same container. Inputs X are rows of features, arrays (n, m) or (n, m, channels) of
    curves, the containers above, or anything that the kernel takes.

    ``cross_val_predict`` turns containers into an array of single functions, which ``metrics`` and ``fit`` accept.
    Names of scorers, ``scoring="r2"``, are for arrays (n, m) without gaps; ``scoring=metrics.FunctionalScorer("r2")``
    is for all functions on a common grid; the default, ``score``, is for all.

    Missing values on a common grid are exact in ``space="grid"``, for every loss: they have no part in the fit. At
    points that no curve observes, which ``fit`` names in a warning, the mean curve is interpolated by a spline in
    tension, predictions deviate from it according to the operator, and conformal bands are infinite. If there are
    several curves per sample, one that is never observed is predicted as NaN. In other spaces, and for irregular
    points, ``irregular`` determines the objective:

    - "exact": the mean squared error at the observed points of each curve (or another loss of its root). Suited to
      few, clustered or unevenly spread points; iterative.
    - "projected": inner products with the basis are replaced by averages over the observed points (Bouche et al. 2021,
      equation 13); then everything has a closed form. Suited to many evenly spread points per curve.
    - "projected_trapezoid": the same with averages by quadrature weights on a common grid, and by the trapezoid rule
      at irregular points. Suited to many unevenly spread points.

    On a grid, a curve with gaps counts with the observed share of its domain. In other spaces the mean is over its
    observed points, whatever their number. There, losses other than the squared one act on the whole residual, also on
    its part outside the dictionary (equation 8 of the same paper); with "projected", on the part inside.

    Parameters
    ----------
    kernel : str, callable, kernel object or list, default="auto"
        As in ``OperatorKernelRegressor``, or a kernel of curves: ``kernels.L2`` ("l2"), ``IntegratedKernel``
        ("integrated"), ``ChannelSum``. For curves in a container or (n, m, channels), "auto" selects a shape of
        ``kernels.L2``.
    gamma : float, "auto", "median" or "scale", default="auto"
        As in ``OperatorKernelRegressor``.
    kernel_params : dict, default=None
        As in ``OperatorKernelRegressor``.
    space : "grid", "eigen", object of ``hilbertlearn.spaces`` or basis, default="grid"
        Space of the outputs; a basis is one such as ``spaces.Fourier(10)``, or one of scikit-fda such as
        ``BSplineBasis(n_basis=10)``.
    grid : array of shape (m,) or tuple of arrays, default=None
        Increasing points of y: numbers, dates or durations, which count in days; a tuple for several variables. None
        takes the points from the column names of a data frame, otherwise even steps on [0, 1]. For irregular y, the
        points of the space (knots on a grid, quadrature in a dictionary), at which predictions are made by default;
        None is then 101 points.
    operator : "auto", array, object or name of ``hilbertlearn.operators``, default="auto"
        "auto" is the operator of the space: ``operators.Integral("laplacian", 10)`` on a grid, eigenvalues or weights
        of the atoms otherwise. With ``kernel="auto"`` on a grid, the smoother ``Integral("rbf", 100)`` is used if its
        leave-one-out error is smaller. Otherwise as in ``OperatorKernelRegressor``, or ``operators.AxisProduct``.
    loss : str or object of ``hilbertlearn.losses``, default="squared"
        Losses with p other than 2 act on point values and need ``space="grid"``.
    alpha : float, "auto", "n^-1/2" or "n^-1/4", default="auto"
        As in ``OperatorKernelRegressor``.
    center : bool or "auto", default="auto"
        Whether the model has a constant curve: the one of smallest loss. "auto" also smooths it on a grid, according
        to the noise estimated from differences between curves; True does not.
    scale_inputs : bool or "auto", default="auto"
        Whether columns of X are divided by their standard deviations. Dense X is then clipped to one range beyond the
        training range on either side, and constant columns take no part. This is for kernels given by name; True is an
        error for kernel objects and callables. "auto" is False where the rate of the kernel is not selected, for sparse
        X, and with a graph. Elsewhere it is True if the standard deviations differ by a factor of at most 1.5;
        otherwise leave-one-out errors compare scaled X, which is preferred if they are equal, with X as given, and the
        model of few samples is an average over both.
    graph : array, networkx graph or object, default=None
        As in ``OperatorKernelRegressor``; curves that are all NaN are unlabelled.
    manifold : float, default=0.0
        As in ``OperatorKernelRegressor``. Each eigenvalue of the operator needs its own kernel. Where memory does not
        hold all of them, close eigenvalues share one, and ``manifold_error_`` bounds the relative error; a space with
        fewer components is faster.
    feature_map : "auto", None, int, object or transformer, default="auto"
        As in ``OperatorKernelRegressor``.
    irregular : "exact", "projected" or "projected_trapezoid", default="exact"
        Objective for irregular points and for gaps in a dictionary, see above.
    regressor : regressor of scikit-learn, default=None
        Fitted to the coordinates in place of the kernel machine (projection learning with any model). Missing values
        are interpolated; of the other settings only ``space`` and ``grid`` matter.
    solver : str, default="auto"
        As in ``OperatorKernelRegressor``.
    tol : float, default=1e-6
        As in ``OperatorKernelRegressor``.
    max_iter : int, default=1000
        As in ``OperatorKernelRegressor``.
    precision : "auto", "float32", "float64" or "refined", default="auto"
        As in ``OperatorKernelRegressor``.
    verbose : int, default=0
        As in ``OperatorKernelRegressor``.

    Attributes
    ----------
    space_ : FunctionSpace
        The space of the functions, with its grids, its basis and the mean of the training curves.
    grid_ : array of shape (m,) or tuple of arrays
        Points of the training outputs, or of the space for irregular outputs. Dates are days since ``grid_origin_``.
    grid_origin_ : numpy.datetime64 or None
        The date of point 0, None for points that are no dates; a tuple for several variables.
    saturated_, outlier_scores_, screened_, screening_weights_
        As in ``OperatorKernelRegressor``; for p = 1 the first two have an entry for each point of each curve.
    center_ : array of shape (d,)
        The constant in coordinates of the space.
    dual_coef_, dual_gap_, solver_, n_iter_, precision_, alpha_, gamma_, kernel_, loss_, operator_
        As in ``OperatorKernelRegressor``, in coordinates of the space.
    search_results_, support_, X_fit_, feature_map_, manifold_error_, metric_, objectives_, machine_
        As in ``OperatorKernelRegressor``.
    regressor_ : object
        The fitted regressor, where one was given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    - Lambert, A., Bouche, D., Szabo, Z. and d'Alche-Buc, F. (2022). Functional output regression with infimal
      convolution: exploring the Huber and epsilon-insensitive losses. ICML.
    - Bouche, D., Clausel, M., Roueff, F. and d'Alche-Buc, F. (2021). Nonlinear functional output regression: a
      dictionary approach. AISTATS.
    - Laforgue, P., Lambert, A., Brogat-Motte, L. and d'Alche-Buc, F. (2020). Duality in RKHSs with infinite dimensional
      outputs: application to robust losses. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import FunctionalRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(40, 1))
    >>> t = np.linspace(0, 1, 30)
    >>> Y = np.sin(6 * (t + X))
    >>> Y[rng.random(Y.shape) < 0.3] = np.nan  # gaps are fine
    >>> model = FunctionalRegressor(alpha=1e-6).fit(X, Y)
    >>> bool(model.score(X, np.sin(6 * (t + X))) > 0.99)
    True
    >>> model.predict(X[:2], grid=np.linspace(0, 1, 200)).shape
    (2, 200)
    """

    regressor_ = learnt("regressor")

    def __init__(
        self,
        kernel="auto",
        *,
        gamma="auto",
        kernel_params=None,
        space="grid",
        grid=None,
        operator="auto",
        loss="squared",
        alpha="auto",
        center="auto",
        scale_inputs="auto",
        graph=None,
        manifold=0.0,
        feature_map="auto",
        irregular="exact",
        regressor=None,
        solver="auto",
        tol=1e-6,
        max_iter=1000,
        precision="auto",
        verbose=0,
    ):
        store(self, locals())

    def read_outputs(self, y):
        return read_training(y, self.grid)

    def output_space(self, y, sample_weight):
        return function_space(
            self.space,
            y,
            grid=self.grid,
            irregular=self.irregular,
            sample_weight=sample_weight,
            centre=self._centre if self.center else None,
            smooth=self.center == "auto",
        )

    def _centre(self, curves, sample_weight, measure):
        """The constant curve (d,) of smallest loss, for values (n, d) under a measure (d,)."""
        loss, root = Squared() if self.regressor is not None else snapshot(as_loss(self.loss)), np.sqrt(measure)
        if loss.needs_residuals:
            loss = loss.resolve(root * (curves - pointwise_median(curves, sample_weight)), measure, sample_weight)
        return best_constant(root * curves, sample_weight, loss, measure) / root

    def spec(self, y=None):
        automatic = isinstance(self.operator, str) and self.operator == "auto" and not self.manifold
        operators = ("auto", *_SMOOTHER) if automatic and isinstance(as_space(self.space), Grid) else ()
        return Spec.from_estimator(
            self, takes_batches=True, centers=("auto", True, False), operators=operators, steps=FunctionalSteps()
        )

    def predict(self, X, grid=None):
        """Functions predicted for X, in the container of the training outputs.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or other inputs of the kernel
            Inputs.
        grid : array of shape (m,), tuple of arrays or list of arrays, default=None
            Increasing points: a tuple for several variables, a list with the points of each sample, None for the
            training grid.

        Returns
        -------
        functions : in the container of the training outputs
        """
        check_is_fitted(self)
        if is_dask(X):
            if isinstance(grid, list) and np.ndim(grid[0]) == 1:
                raise ValueError("grid: points of their own are for inputs in memory; give one grid for all functions")
            return map_blocks_lazily(partial(self.predict, grid=grid), X)
        machine = self.machine_
        checked, form, space = machine.check_inputs(X), machine.form, self.space_
        if grid is None:
            return form.wrap(form.round(space.decode(self.state_.coordinates(checked))), X)
        if hasattr(grid, "__len__") and not len(grid):
            raise ValueError("grid is empty; give at least one point, or None for the training grid")
        if isinstance(grid, list) and np.ndim(grid[0]) == 1:
            points = [space.layout.axes(sample_grid)[0] for sample_grid in grid]
            return space.layout.wrap_irregular(points, self._irregular_values(checked, points), space.domain)
        axes = space.layout.axes(grid)
        check_grids(axes, [len(axis) for axis in axes], "the prediction")
        values = form.round(space.layout.wrap(self._grid_values(checked, axes), axes, space.domain))
        return form.wrap(values, X, _as_names(grid, axes[0])) if len(axes) == 1 else values

    def score(self, X, y, sample_weight=None):
        """1 - integrated squared error / that of the mean training curve, at the points that y observes.

        An array y is on the training grid, or, after training on irregular curves without ``grid``, at even steps of
        their domain.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or other inputs of the kernel
            Inputs.
        y : functions
            In any of the forms that ``fit`` takes.
        sample_weight : array-like of shape (n,), default=None
            Weights of the samples; None is 1 for all.

        Returns
        -------
        score : float
        """
        checked = self.machine_.check_inputs(X)
        self.machine_.form.check_order(y)
        true, _ = read_functions(y, self.grids_of(y), origins=self.space_.layout.origins)
        irregular = isinstance(true, IrregularFunctions)
        curves, expected = true.n_curves if irregular else true.values.shape[-1], self.space_.n_curves
        if curves != expected:
            raise ValueError(
                f"y must have {expected} curve{'s' * (expected > 1)} a sample, as in training, got {curves}"
            )
        n = _num_samples(checked)
        if not irregular and len(true) != n:
            raise ValueError(f"X and y must have as many functions, got {n} and {len(true)}")
        if irregular:
            predicted = self._irregular_values(checked, true.points)
            cuts = np.cumsum([len(points) for points in true.points])[:-1]
            joined, unknown = (np.concatenate(each).reshape(-1, curves) for each in (true.values, predicted))
            values = np.split(drop_unpredicted(joined, np.isnan(unknown)), cuts)
            true = IrregularFunctions(true.points, values, true.domain)
            means = [self.space_.evaluate_mean(self.space_.to_unit_cube((points,))) for points in true.points]
            error, total = (
                integrated_squared_error(
                    true,
                    IrregularFunctions(true.points, [v.reshape(t.shape) for v, t in zip(f, true.values)], true.domain),
                    sample_weight=sample_weight,
                )
                for f in (predicted, means)
            )
        else:
            mean = np.broadcast_to(self.space_.evaluate_mean(self.space_.to_unit_cube(true.axes)), true.values.shape)
            predicted = self._grid_values(checked, true.axes)
            scored = drop_unpredicted(true.values, np.isnan(predicted))
            error, total = (integrated_squared_error(scored, f, true.axes, sample_weight) for f in (predicted, mean))
        if np.isnan(total):
            raise ValueError("y has no observed value with a positive weight to score; give at least one")
        return 1 - error / total if total > 0 else float(error == 0)

    def grids_of(self, y):
        """The grids of functions y that are compared with predictions.

        Parameters
        ----------
        y : functions
            In any of the forms that ``fit`` takes.

        Returns
        -------
        grids : tuple of arrays or None
            None for functions that have their own points.
        """
        if has_points(y) or (self.grid is None and points_of(y) is not None):
            return None
        irregular = self.space_.layout.kind in ("IrregularFunctions", "FDataIrregular")
        if irregular and not self.space_.has_user_grid and np.ndim(y) > 1:
            low, high = self.space_.domain[0]
            return (np.linspace(low, high, np.shape(y)[1]),)
        return self.space_.grids

    def _grid_values(self, X, axes):
        """Values (n, m_1, ..., m_k, p) on a product grid."""
        units, shape = self.space_.to_unit_cube(axes), (*(len(axis) for axis in axes), self.space_.n_curves)
        out, bases = np.empty((_num_samples(X), *shape)), None
        for rows, block in self._blocks(X, math.prod(shape)):
            terms = list(self._terms(block))
            bases = [self._basis(integral, units) for _, integral in terms] if bases is None else bases
            values = sum(C @ basis for (C, _), basis in zip(terms, bases, strict=True))
            out[rows] = values.reshape(-1, *shape)
        out += self.space_.evaluate_origin(units)
        return out

    def _blocks(self, X, points=0):
        """Pairs (rows, X there) whose kernel values, coordinates and values at points fit in the working memory."""
        state = self.state_
        n = len(state.columns) if isinstance(state, Expansion) else 0
        return blocks_of(X, n + 2 * math.prod(self.space_.sizes) + points)

    def _irregular_values(self, X, points):
        """For each sample the values (m_i, p) at its own points (m_i,)."""
        if len(points) != _num_samples(X):
            raise ValueError(f"grid: a list must have one array a sample, got {len(points)} for {_num_samples(X)}")
        if len(self.space_.axes) != 1:
            raise ValueError("grid: a list of points is for functions of one variable; give a tuple of grids")
        out = []
        for rows, block in self._blocks(X):
            terms = list(self._terms(block))
            for i, sample_points in enumerate(points[rows]):
                units = self.space_.to_unit_cube((sample_points,))
                values = sum(C[i : i + 1] @ self._basis(integral, units) for C, integral in terms)
                values = values.reshape(len(sample_points), self.space_.n_curves)
                out.append(values + self.space_.evaluate_origin(units))
        return out

    def _terms(self, X):
        """Pairs (coefficients (n, d), integral operator still to be applied or None) that add up to the predictions."""
        state = self.state_
        integrals = getattr(state, "integrals", ())
        if not any(integrals):
            yield state.coordinates(X), None
            return
        yield np.broadcast_to(state.center, (_num_samples(X), len(state.center))), None
        for k, (predictor, integral) in enumerate(zip(state.predictors, integrals, strict=True)):
            predictor = predictor if integral is None else LinearPredictor(state.kernel_coefficients[k])
            yield state.expansion(X, {k: predictor}), integral

    def _basis(self, integral, units):
        """Values (d, points) that coefficients of ``_terms`` are multiplied with."""
        if integral is None:
            return self.space_.basis(units)
        operator, between_curves = integral
        return Kronecker([*self.space_.evaluate_integral(operator, units).factors[:-1], between_curves])


def _as_names(grid, points):
    """Points of a prediction as names of columns: dates, durations and text as they were given, else the numbers."""
    return points if np.asarray(grid).dtype.kind in "biuf" else list(grid)


def _integral(kernel, operator, M, space):
    """The integral operator of an operator on point values, and the matrix between curves; None where there is none.

    Values between the points of the grid come from the kernel of the integral operator.
    """
    if not space.pointwise or provides_operator(kernel):
        return None
    between_curves = space.n_curves
    if isinstance(operator, AxisProduct):
        operator, between_curves = operator.domain, M.factors[-1]
    if isinstance(operator, str) and operator in ("auto", "integral"):
        operator = space.axes[0].operator if operator == "auto" else Integral()
    return (operator, between_curves) if isinstance(operator, Integral) else None
