"""The base class of the estimators: one ``fit``, predictions, and what was learnt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

from .. import kernels
from .._utils.callbacks import FitCallbacksMixin
from .._utils.fitting import transaction, unfitted_copy
from .._utils.naming import unnamed_in_errors
from .._utils.summary import SummaryItems, SummaryMixin, short
from .._utils.validation import check_number
from ..data.frames import FrameForm
from ..selection import Selection
from .dates import date_items
from .distributed import is_dask, map_blocks_lazily
from .fitted import FittedMachine
from .forms import DataForm
from .in_memory import MemorySource
from .named_settings import NamedSettings
from .sources import open_source
from .spec import Spec
from .state import RegressorState, State
from .steps import FitResult, fitted_copy, path_results

_ALL = 0.995  # share of an average that a summary calls all of it


def learnt(name):
    """A public attribute that is read from the state of the fit."""
    return property(lambda self: self.machine_.form.round(_read(self, name)))


def _read(estimator, name):
    """The attribute of the state; an error says that the settings do not estimate it."""
    state = estimator.state_
    try:
        return getattr(state, name)
    except AttributeError as error:
        if not str(error).endswith(f"has no attribute {name!r}"):  # the state itself gives a reason
            raise
        raise AttributeError(f"{type(estimator).__name__} does not estimate {name}_ with these settings") from error


@unnamed_in_errors
class KernelMachine(FitCallbacksMixin, SummaryMixin, NamedSettings):
    """Kernel regression of coordinates in a Hilbert space; see ``OperatorKernelRegressor`` for the settings.

    A subclass defines ``read_outputs`` and ``output_space``. One whose fit differs in a step gives ``spec`` other
    ``FitSteps``. Nothing overrides ``fit``.
    """

    state_: Any  # what a fit has learnt
    _frame_: FrameForm | None = None  # these three are the DataForm of the training data
    _index_: Any = None
    _single_ = False
    _saturated_name = "held at the loss's bound"  # what a summary calls saturated samples

    loss_, center_, solver_ = learnt("loss"), learnt("center"), learnt("solver")
    operator_, space_, X_fit_ = learnt("operator"), learnt("space"), learnt("X_fit")
    dual_coef_, dual_gap_, n_iter_ = learnt("dual_coef"), learnt("dual_gap"), learnt("n_iter")
    precision_ = learnt("precision")
    manifold_error_ = learnt("manifold_error")
    support_, saturated_, outlier_scores_ = learnt("support"), learnt("saturated"), learnt("outlier_scores")
    screened_, screening_weights_ = learnt("screened"), learnt("screening_weights")
    search_results_ = learnt("search_results")
    feature_map_ = learnt("feature_map")

    @property
    def alpha_(self):
        alpha, by_output = _read(self, "alpha"), self.state_.alpha_by_output
        return alpha if by_output is None else by_output

    @property
    def gamma_(self):
        rates = [kernel.rate for kernel in self.state_.kernels]
        return rates[0] if len(rates) == 1 else rates

    @property
    def kernel_(self):
        scalars = self.state_.scalar_kernels
        return scalars[0] if len(scalars) == 1 else scalars

    @property
    def metric_(self):
        metric = getattr(self.kernel_, "metric", None)
        if metric is None:
            raise AttributeError(
                "no metric was learnt: the default learns one from 400 samples on, where errors fall; "
                "kernel=kernels.MetricKernel() learns one from any number"
            )
        return metric

    @property
    def objectives_(self):
        objectives = _read(self, "objectives")
        if objectives is None:
            raise AttributeError("objectives_ are those of operators.LearnedOperator; set operator='learned'")
        return objectives

    @property
    def machine_(self) -> FittedMachine:
        """What wrappers use of a fitted estimator."""
        return FittedMachine(self, DataForm(self._frame_, self._index_, self._single_))

    # ---------------------------------------------------------------- methods of subclasses

    def read_outputs(self, y):
        """Outputs y in a form that has a length and can be indexed by rows, checked as far as possible without X."""
        raise TypeError(f"{type(self).__name__} must define read_outputs(y)")

    def output_space(self, y, sample_weight):
        """The space of outputs y, as read: a ``spaces.Space``, which may learn from them and their weights (n,)."""
        raise TypeError(f"{type(self).__name__} must define output_space(y, sample_weight)")

    def spec(self, y=None) -> Spec:
        """The checked settings of a fit.

        Parameters
        ----------
        y : outputs, default=None
            As given to ``fit``. Their container may decide what is fitted.

        Returns
        -------
        spec : Spec
        """
        return Spec.from_estimator(self)

    # ---------------------------------------------------------------- fit

    def fit(self, X, y=None, sample_weight=None):
        """Fit to inputs X and outputs y; NaN (or None) in y means not observed.

        Parameters
        ----------
        X : array-like of shape (n, n_features), sparse matrix, Gram matrix or list of objects
            Inputs: a Gram matrix (n, n) for ``kernel="precomputed"``, a list of objects for a kernel of these. On
            features also rows that are not held in memory: a source of ``hilbertlearn.streams``, a callable that
            returns an iterator of batches (X, y) or (X, y, sample_weight), such an iterator, a memory-mapped array, or
            the path of a .npy or Parquet file; also a Dask array or data frame, whose blocks stay on their workers.
        y : array-like of shape (n,) or (n, d), default=None
            Outputs. None where batches contain them; the path of a second .npy file beside one of X; names of the
            target columns where X is the path of a Parquet file.
        sample_weight : array-like of shape (n,), default=None
            Non-negative weights. Samples of weight 0 are left out; None is 1 for all.

        Returns
        -------
        self : object
        """
        with transaction(self) as new:
            new._fit(X, y, sample_weight)
        return self

    def fit_selection(self, X, y, sample_weight=None, keep_factors=False) -> Selection | None:
        """Fit, and return the selected settings with the training data; wrappers fit parts of these.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        keep_factors : bool, default=False
            Whether the result has the factors that leave-one-out models are computed from, where they have a formula.

        Returns
        -------
        selection : Selection or None
            None for data that are not held in memory, and with a regressor in place of the kernel machine.
        """
        with transaction(self) as new:
            result = new._fit(X, y, sample_weight, reuse="factors" if keep_factors else "parts")
        return result.selection

    def _fit(self, X, y, sample_weight, reuse=None) -> FitResult:
        """The one fit, of an estimator without learnt attributes; reuse : see ``Spec``."""
        with self._fit_scope(X, y, sample_weight):
            spec = replace(self.spec(y), reuse=reuse)
            result = open_source(spec, X, y, sample_weight).fit(spec)
            self.keep(result)
        return result

    def keep(self, result: FitResult):
        """Store the result of a fit: the only place where ``state_`` is assigned."""
        self.state_ = result.state
        self._frame_, self._index_, self._single_ = result.form.frame, result.form.index, result.form.single
        for name, value in result.learnt.items():
            setattr(self, name, value)

    def fit_path(self, X, y, alphas, sample_weight=None):
        """Yield a fitted copy of the estimator for each alpha; kernel and factors are shared, starts are warm.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        alphas : sequence of float
            Positive numbers.

        Yields
        ------
        model : object
            A copy of the estimator, fitted with this alpha.
        """
        new = unfitted_copy(self)
        spec = new.spec(y)
        training = MemorySource(X, y, sample_weight).prepare(spec)
        for result in path_results(spec, training, [check_number(alpha, "alphas") for alpha in alphas]):
            yield fitted_copy(new, result)

    # ---------------------------------------------------------------- predict

    def predict(self, X):
        """Outputs predicted for X.

        Parameters
        ----------
        X : array-like of shape (m, n_features), or what ``fit`` was given
            Inputs. Outputs of a Dask collection are computed block by block when they are needed.

        Returns
        -------
        y : outputs of shape (m,) or (m, d), in the container of the training outputs
        """
        check_is_fitted(self)
        if is_dask(X):
            return map_blocks_lazily(self.predict, X)
        machine = self.machine_
        return machine.form.wrap(machine.form.round(machine.decode(machine.coordinates(X))), X)

    # ---------------------------------------------------------------- inspect

    def novelty(self, X):
        """How far inputs are from the training samples, from 0 to 1, in the geometry of the kernel.

        Novelty is the share of the kernel's prior variance that the samples leave open. With the posterior variance
        ``v(x) = k(x, x) - k_x' D (D K D + alpha sum(w) I)^-1 D k_x``, D = diag(sqrt(w)), it is ``(v(x) - v_0) / (k_0 -
        v_0)``, clipped to [0, 1]. v_0 and k_0 are the largest v(x) and k(x, x) of a sample with an output. It is 0
        at these samples, but not at those without outputs that a graph adds, and 1 where a stationary kernel has no
        value with any of them; the prediction there is the constant. It does not depend on the outputs, except through
        the selected settings. Columns of X that were constant in training count, although predictions do not depend
        on them.

        An operator is a factor of the kernel, its mean positive eigenvalue; several terms are summed. Landmarks count
        the part of k(x, x) that they do not explain. Samples count as a whole, with gaps in their outputs too; those
        of weight 0 and screened outliers do not count.

        Parameters
        ----------
        X : array-like of shape (m, n_features), or what ``fit`` was given
            Inputs. Novelty of a Dask collection is computed block by block when it is needed.

        Returns
        -------
        novelty : array of shape (m,)
            The first call computes a factorisation of the kernel matrix, which is not stored with the model.
        """
        check_is_fitted(self)
        return self.machine_.novelty(X)

    def loo_residuals(self):
        """Leave-one-out residuals of the training outputs, in closed form, for the squared loss.

        alpha times the sum of weights is held fixed, and so are the other settings. Where the default has learnt a
        metric of the inputs, residuals are too small, because it has seen all outputs; ``search_results_`` has the
        error over folds.

        Returns
        -------
        residuals : of the shape of the training outputs
            NaN for samples that were left out of the fit.
        """
        check_is_fitted(self)
        machine = self.machine_
        differences = machine.space.decode_differences(machine.loo_residuals())
        frame = machine.form.frame
        return differences if frame is None or not machine.space.decodes else frame.wrap(differences, frame.index)

    def summary_items(self) -> SummaryItems:
        """The lines of ``summary`` as pairs (name, value); numbers are those of the learnt attributes."""
        check_is_fitted(self)
        state = self.state_
        if isinstance(state, RegressorState):
            return [("regressor", state.regressor), *date_items(self)]
        n = len(self.saturated_) if isinstance(state, State) else state.n_samples
        items: SummaryItems = [("samples", n), ("coordinates", len(self.center_))]
        items += [("features", state.approximation)] if state.approximation is not None else []
        items += [("loss", self.loss_), ("alpha", self.alpha_), ("kernel", self.kernel_)]
        has_average = any(kernels.is_average(kernel.kernel) for kernel in state.kernels)
        items += [("gamma", self.gamma_)] if self.gamma_ is not None and not has_average else []
        scaled = max((kernel.scaled_share for kernel in state.kernels), default=0.0)
        items += [("scaled inputs", "yes" if scaled > _ALL else f"{scaled:.0%}")] if scaled > 0 else []
        if isinstance(state, State):
            items += [("support", f"{len(self.support_)} of {n} samples")]
            items += [(self._saturated_name, int(self.saturated_.sum()))]
            items += [("screened as outliers", len(self.screened_))] if len(self.screened_) else []
        items += date_items(self)
        return [*items, ("gap", self.dual_gap_), ("iterations", self.n_iter_), ("solver", self.solver_)]

    def summary(self) -> str:
        """A few lines on what was learnt.

        Returns
        -------
        text : str
        """
        texts, name = {name: short(value) for name, value in self.summary_items()}, type(self).__name__
        dates = [f"{key:<10} {texts[key]}" for key in ("dates", "grid") if key in texts]
        if "regressor" in texts:
            return "\n".join([f"{name}: {texts['regressor']} on coordinates", *dates])
        features = f" on {texts['features']}" if "features" in texts else ""
        gamma = f", gamma {texts['gamma']}" if "gamma" in texts else ""
        scaled = {None: "", "yes": ", scaled inputs"}.get(texts.get("scaled inputs"))
        scaled = f", {texts['scaled inputs']} scaled inputs" if scaled is None else scaled
        lines = [
            f"{name}: {texts['samples']} samples, {texts['coordinates']} coordinates{features}",
            f"loss       {texts['loss']}",
            f"alpha      {texts['alpha']}    kernel {texts['kernel']}{gamma}{scaled}",
        ]
        if "support" in texts:
            screened = texts.get("screened as outliers")
            outliers = "" if screened is None else f", {screened} screened as outliers"
            lines.append(
                f"support    {texts['support']}, {texts[self._saturated_name]} {self._saturated_name}{outliers}"
            )
        gap = f"relative duality gap {self.dual_gap_:.1e}"
        lines.append(f"certified  {gap} after {self.n_iter_} iterations of {self.solver_}")
        return "\n".join([*lines, *dates])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        terms = [term[0] for term in self.kernel] if isinstance(self.kernel, (list, tuple)) else [self.kernel]
        tags.input_tags.pairwise = any(kernels.is_precomputed(kernels.scalar_kernel(kernel)) for kernel in terms)
        tags.input_tags.sparse = True
        return tags


class GridMixin:
    """The points of outputs that are functions."""

    space_: Any

    @property
    def grid_(self):
        return _single_or_tuple(self._function_space.grids)

    @property
    def grid_origin_(self):
        space = self._function_space
        origins = (*space.layout.origins, *[None] * len(space.grids))
        return _single_or_tuple(origins[: len(space.grids)])

    @property
    def _function_space(self):
        space = getattr(self.space_, "base", self.space_)  # of the outputs, not of their quantiles
        if not hasattr(space, "grids"):
            raise AttributeError("grid_ and grid_origin_ are those of functions, and the training outputs are vectors")
        return space


def _single_or_tuple(values):
    """The value of the only variable, or a tuple with one for each."""
    return values[0] if len(values) == 1 else tuple(values)
