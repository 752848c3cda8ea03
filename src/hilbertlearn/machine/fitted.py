"""What a fitted kernel machine can be asked: predictions, what was learnt, samples left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._utils.facts import Facts, WithFacts, short
from .._utils.naming import unnamed_in_errors
from .._utils.validation import warn
from ..data.frames import FrameForm
from .dates import date_facts
from .distributed import by_blocks, is_dask
from .inputs import check_inputs
from .named_settings import NamedSettings
from .state import RegressorState, State


def learnt(name):
    """A public attribute that is read from the state of the fit."""
    return property(lambda self: self.rounded(_read(self, name)))


def _read(self, name):
    """What the state of the fit has under that name."""
    state = self.state_
    try:
        return getattr(state, name)
    except AttributeError as error:
        if not str(error).endswith(f"has no attribute {name!r}"):  # the state says why itself
            raise
        raise AttributeError(f"{type(self).__name__} does not estimate {name}_ with these settings") from error


@unnamed_in_errors
class FittedMachine(WithFacts, NamedSettings):
    """The questions; all of them are answered from the state of the fit, and change nothing."""

    state_: Any  # what a fit has learnt
    _frame_: FrameForm | None = None  # of the training outputs
    _index_: Any = None  # of the training samples, where they came in a data frame of pandas
    _single_ = False  # whether predictions are in float32
    _held = "held at the loss's bound"  # what is said of samples that are

    loss_, center_, solver_ = learnt("loss"), learnt("center"), learnt("solver")
    operator_, space_, X_fit_ = learnt("operator"), learnt("space"), learnt("X_fit")
    dual_coef_, dual_gap_, n_iter_ = learnt("dual_coef"), learnt("dual_gap"), learnt("n_iter")
    precision_ = learnt("precision")
    manifold_error_ = learnt("manifold_error")
    support_, saturated_, outlier_scores_ = learnt("support"), learnt("saturated"), learnt("outlier_scores")
    screened_ = learnt("screened")
    search_results_ = learnt("search_results")
    feature_map_ = learnt("feature_map")

    @property
    def alpha_(self):
        alpha, by_output = _read(self, "alpha"), self.state_.alpha_by_output
        return alpha if by_output is None else by_output

    @property
    def gamma_(self):
        gammas = [kernel.rate for kernel in self.state_.kernels]
        return gammas[0] if len(gammas) == 1 else gammas

    @property
    def kernel_(self):
        used = self.state_.scalar_kernels
        return used[0] if len(used) == 1 else used

    @property
    def metric_(self):
        metric = getattr(self.kernel_, "metric", None)
        if metric is None:
            raise AttributeError("metric_ is that of kernels.MetricKernel; set kernel=kernels.MetricKernel()")
        return metric

    @property
    def objectives_(self):
        objectives = _read(self, "objectives")
        if objectives is None:
            raise AttributeError("objectives_ are those of operators.LearnedOperator; set operator='learned'")
        return objectives

    # ---------------------------------------------------------------- predict

    def predict(self, X):
        """Outputs predicted for X; of a Dask collection block by block, once they are asked for."""
        if is_dask(X):
            return by_blocks(self, "predict", X)
        return self.framed(self.rounded(self.decode(self.coordinates(X))), X)

    def rounded(self, outputs):
        """Numbers in float32 where the training inputs were, anything else as it is."""
        floats = isinstance(outputs, np.ndarray) and outputs.dtype == np.float64
        return outputs.astype(np.float32) if self._single_ and floats else outputs

    def framed(self, outputs, X, points=None):
        """Outputs predicted for X in a data frame or a series, where the training outputs came in one.

        points : where functions were evaluated, None for the training grid
        """
        if self._frame_ is None:
            return outputs
        return self._frame_.wrap(outputs, X.index if hasattr(X, "iloc") else None, points)

    def coordinates(self, X):
        """Predicted coordinates (m, d) in the space of the outputs."""
        if is_dask(X):
            return by_blocks(self, "coordinates", X)
        X = self._check_X(X)
        return self.state_.coordinates(X)

    def encode(self, y):
        """Coordinates (n, d) of outputs y in the space of the training outputs, NaN where not observed."""
        check_is_fitted(self)
        self._check_order(y)
        return self.space_.encode(y)

    def decode(self, coordinates):
        """Outputs from coordinates (n, d)."""
        check_is_fitted(self)
        return self.space_.decode(coordinates)

    def _check_X(self, X):
        check_is_fitted(self)
        state = self.state_
        return check_inputs(self, X, state.scalar_kernels, reset=False, like=getattr(state, "X_fit", None))

    # ---------------------------------------------------------------- inspect

    def residuals(self, X, y):
        """What is left of outputs y after the prediction, rows (n, d) in coordinates: the loss is a function of them.

        For functions observed at points of their own, and with gaps in a dictionary, of the observed values.
        """
        check_is_fitted(self)
        self._check_order(y)
        return self.space_.residuals(y, self.coordinates(X))

    def loo_residuals(self):
        """Leave-one-out residuals of the training outputs, in closed form, alpha n held fixed (squared loss only).

        Shape of the training Y; NaN for samples that were left out of the fit.
        """
        residuals = self.loo_coordinates()
        differences = self.space_.decode_differences(residuals)
        if self._frame_ is None or not self.space_.decodes:
            return differences
        return self._frame_.wrap(differences, self._frame_.index)

    def names_of(self, rows):
        """What the data frame of the training data calls samples in these positions; positions without one."""
        return rows if self._index_ is None else self._index_[rows]

    def _check_order(self, y):
        """Raise if outputs in a data frame are not in the order of the training ones."""
        if self._frame_ is not None:
            self._frame_.check(y)

    def loo_coordinates(self):
        """``loo_residuals`` as rows (n, d) in coordinates."""
        check_is_fitted(self)
        if isinstance(self.state_, RegressorState):
            raise ValueError("loo_residuals() is for the kernel machine; set regressor=None")
        return self.state_.loo_residuals()

    @property
    def leaves_one_out(self) -> bool:
        """Whether ``without_one`` has a formula: squared loss, one (kernel, operator) term, no gaps that it mixes."""
        check_is_fitted(self)
        return isinstance(self.state_, State) and self.state_.leaves_one_out

    def without_one(self):
        """All models without one training sample each, in closed form, alpha n held fixed (squared loss only).

        An object with ``rows`` (n,), which samples are left out; ``held_out`` (n, d), their coordinates predicted
        without them; and ``coordinates_at(X, models=None)``, coordinates (m, n, d) of checked inputs. From the first
        call of that on it holds factors of the size of the kernel matrix, which are not stored with it.
        """
        check_is_fitted(self)
        if not isinstance(self.state_, State):
            raise ValueError("without_one() is for the kernel machine fitted in memory; set regressor=None")
        return self.state_.without_one()

    def loo_coordinates_at(self, X):
        """Coordinates (m, n, d) at X predicted without each training sample, in closed form; see ``without_one``."""
        return self.without_one().coordinates_at(self.checked_inputs(X))

    def checked_inputs(self, X):
        """Inputs X of a prediction as kernels take them."""
        return self._check_X(X)

    @staticmethod
    def with_predictions(true, unknown):
        """Outputs to be scored, NaN in place of those without a prediction, by a mask; a warning says so."""
        if (unknown & np.isfinite(true)).any():
            warn("score: outputs that no training sample has observed have no prediction, and are left out")
        return np.where(unknown, np.nan, true)

    def facts(self) -> Facts:
        """What was found, as pairs (name, value); numbers are as the attributes have them."""
        check_is_fitted(self)
        state = self.state_
        if isinstance(state, RegressorState):
            return [("regressor", state.regressor), *date_facts(self)]
        n = len(self.saturated_) if isinstance(state, State) else state.n_samples
        facts: Facts = [("samples", n), ("coordinates", len(self.center_))]
        facts += [("features", state.approximation)] if state.approximation is not None else []
        facts += [("loss", self.loss_), ("alpha", self.alpha_), ("kernel", self.kernel_)]
        facts += [("gamma", self.gamma_)] if self.gamma_ is not None else []
        if isinstance(state, State):
            facts += [("support", f"{len(self.support_)} of {n} samples"), (self._held, int(self.saturated_.sum()))]
            facts += [("not trusted", len(self.screened_))] if len(self.screened_) else []
        facts += date_facts(self)
        return [*facts, ("gap", self.dual_gap_), ("iterations", self.n_iter_), ("solver", self.solver_)]

    def summary(self) -> str:
        """A few lines on what was learnt."""
        found, name = {name: short(value) for name, value in self.facts()}, type(self).__name__
        if "regressor" in found:
            return "\n".join([f"{name}: {found['regressor']} on coordinates", *_dated(found)])
        on = f" on {found['features']}" if "features" in found else ""
        gamma = f", gamma {found['gamma']}" if "gamma" in found else ""
        lines = [
            f"{name}: {found['samples']} samples, {found['coordinates']} coordinates{on}",
            f"loss       {found['loss']}",
            f"alpha      {found['alpha']}    kernel {found['kernel']}{gamma}",
            f"certified  relative duality gap {self.dual_gap_:.1e} after {self.n_iter_} iterations of {self.solver_}",
        ]
        if "support" in found:
            trust = f", {found['not trusted']} not trusted" if "not trusted" in found else ""
            lines.insert(3, f"support    {found['support']}, {found[self._held]} {self._held}{trust}")
        return "\n".join([*lines, *_dated(found)])


def _dated(found):
    """Lines of a summary on dates."""
    return [f"{name:<10} {found[name]}" for name in ("dates", "grid") if name in found]


class OnGrid:
    """The points of outputs that are functions, of estimators that have a space of them."""

    space_: Any

    @property
    def grid_(self):
        return _of_variables(self._functions.grids)

    @property
    def grid_origin_(self):
        functions = self._functions
        origins = (*functions.layout.origins, *[None] * len(functions.grids))
        return _of_variables(origins[: len(functions.grids)])

    @property
    def _functions(self):
        space = getattr(self.space_, "base", self.space_)  # of the outputs, not of their quantiles
        if not hasattr(space, "grids"):
            raise AttributeError("grid_ and grid_origin_ are those of functions, and the training outputs are vectors")
        return space


def _of_variables(values):
    """The value of the only variable, or a tuple of one for each."""
    return values[0] if len(values) == 1 else tuple(values)
