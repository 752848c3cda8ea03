"""The one fit; the estimators of the package are defaults, spaces and decoders around it."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, _num_samples

from .. import features, kernels, selection
from .._utils.callbacks import FitCallbacksMixin, with_fit_callbacks
from .._utils.fitting import blank, snapshot, transactional, weight_arguments
from .._utils.naming import unnamed_in_errors
from .._utils.progress import Progress
from .._utils.statistics import mean_rows
from .._utils.validation import check_choice, check_number, check_range, warn
from ..core import solvers
from ..data.frames import FrameForm, check_collected
from ..data.streams import is_source
from ..losses import as_loss
from ..training import (
    PRECISIONS,
    Encoded,
    Fit,
    Options,
    Recipe,
    Samples,
    Training,
    check_alpha,
    counting,
    decided,
    fit,
    fit_path,
    is_searched,
    is_single,
    kernel_terms,
    take_samples,
)
from .distributed import is_dask
from .fitted import FittedMachine
from .inputs import check_inputs
from .state import RegressorState, State

_DTYPES = {"auto": [np.float64, np.float32], "float32": np.float32, "float64": np.float64, "refined": np.float64}
_ROUNDED = 1e-4  # relative error of a deformed kernel that is told
_SHARED = 0.1  # and of one that stands for several: as if manifold were as much larger or smaller in some directions


@unnamed_in_errors
class KernelMachine(FitCallbacksMixin, FittedMachine):
    """Kernel regression of coordinates in a Hilbert space; see ``OperatorKernelRegressor`` for the settings."""

    regressor = None  # a setting of the estimators whose spaces are more than vectors
    graph, manifold = None, 0.0  # settings of those that learn from samples without outputs
    alpha_per_output = False  # a setting of those whose outputs are columns
    feature_map: Any = None  # a setting of those that take features in place of Gram matrices
    precision = "float64"  # a setting of those that may be fitted in single precision
    shares_choice = True  # whether ``fit_with_parts`` has models of parts
    _CENTERS: tuple = (True, False)  # what the setting ``center`` may be

    # ---------------------------------------------------------------- what estimators are made of

    def read_outputs(self, y):
        """Outputs y in a form that has a length and can be indexed by rows, checked as far as they go by themselves."""
        raise TypeError(f"{type(self).__name__} must define read_outputs(y)")

    def output_space(self, y, sample_weight):
        """The space of outputs y, as read: a ``spaces.Space``, which may learn from them and their weights (n,)."""
        raise TypeError(f"{type(self).__name__} must define output_space(y, sample_weight)")

    def make_state(self, found: Fit) -> State:
        """What is kept of a fit."""
        return State.of(found)

    def held_out_error(self, training: Training, found: Fit, test, loss=None):
        """Error of a fit to a part of the training data on others, by their positions; what paths are judged by.

        loss : to judge by in place of the fit's own, where several are compared
        """
        return selection.own_error(training, found, test, loss)

    # ---------------------------------------------------------------- fit

    @transactional
    @with_fit_callbacks
    def fit(self, X, y=None, sample_weight=None):
        """Fit to inputs X and outputs y; NaN (or None) in y means not observed.

        Parameters
        ----------
        X : (n, n_features) array, sparse matrix, (n, n) Gram matrix for ``kernel="precomputed"``, or a list of objects;
            on features also rows that are not held in memory: a source of ``hilbertlearn.streams``, a callable that
            returns an iterator of batches (X, y) or (X, y, sample_weight), such an iterator, a memory-mapped array, or
            the path of a .npy or Parquet file; also a Dask array or data frame, whose blocks stay on their workers
        y : (n,) or (n, d) outputs; None where batches bring them, a path beside one of a .npy file, names of the
            target columns beside one of a Parquet file
        sample_weight : (n,) non-negative weights, samples of weight 0 are left out; default 1
        """
        self._learn(X, y, sample_weight)

    def fit_without_one(self, X, y, sample_weight=None):
        """Fit, and give ``without_one()`` where it has a formula, from the same factorisation; None elsewhere."""
        kept: dict = {}
        if is_dask(X) or is_dask(y) or is_source(X) or self.regressor is not None:
            self.fit(X, y, sample_weight)
        else:
            self._fit_factored(X, y, sample_weight, kept)
        return self.state_.without_one(**kept) if self.leaves_one_out else None

    def fit_with_parts(self, X, y, sample_weight=None):
        """Fit, and give a function that fits a copy to some of the samples, an array of their positions.

        Copies share the kernel's values, and what was chosen by all samples: kernel, constants of the loss, and alpha n
        (alpha times the sum of weights), as leaving one out does; where the solver does not converge with these, a part
        has smoother ones. Constant, operator and space are the part's own.
        Inputs that are kernel values with the samples are those with all of them. None where there are no parts.
        """
        if is_dask(X) or is_dask(y) or is_source(X) or self.regressor is not None:
            self.fit(X, y, sample_weight)
            return None
        kept: dict = {}
        self._fit_chosen(X, y, sample_weight, kept)
        return partial(self._fit_part, kept["choice"])

    @transactional
    @with_fit_callbacks
    def _fit_chosen(self, X, y, sample_weight, kept):
        """``fit`` that hands on the settings that it used, in `kept`."""
        kept["choice"] = self.settle(self._chosen(X, y, sample_weight))

    def _fit_part(self, choice: selection.Selection, rows):
        training = choice.training
        part = training.take(np.flatnonzero(np.isin(training.rows, rows)))
        alpha = choice.alpha * training.weights.sum() / part.weights.sum()
        own = None if choice.alpha_by_output is None else alpha / choice.alpha * choice.alpha_by_output
        model = copy.copy(self)
        model.settle(replace(choice, training=part, alpha=alpha, alpha_by_output=own, factors=None))
        return model

    @transactional
    @with_fit_callbacks
    def _fit_factored(self, X, y, sample_weight, kept):
        """``fit`` that hands its factors on, in `kept`."""
        choice = self._chosen(X, y, sample_weight).factored()
        self.settle(choice)
        if choice.factors is not None:
            kept["factors"] = choice.factors

    def _learn(self, X, y, sample_weight):
        if self.regressor is not None:
            self.state_ = self._fit_regressor(X, y, sample_weight)
            return
        self.settle(self._chosen(X, y, sample_weight))

    def _chosen(self, X, y, sample_weight) -> selection.Selection:
        samples = self.read_whole(X, y, sample_weight)
        choice = selection.select(samples, self._loss(), self.alpha, self.options())
        by_output = self.alpha_per_output and is_searched(self.alpha)  # numbers and schedules are for all outputs
        return selection.select_alpha_by_output(choice, self.options()) if by_output else choice

    def prepare(self, X, y, sample_weight=None) -> Training:
        """The samples with their kernels, chosen where these are left to the data; what paths and folds begin with."""
        samples = self.read_whole(X, y, sample_weight)
        samples = samples.to_float64()  # one factorisation for many alphas is worth its digits
        return selection.select_kernels(samples, self._loss(), self.alpha, self.options())

    def read_whole(self, X, y, sample_weight=None) -> Samples:
        """As ``read``, for the samples of a whole fit: a warning names outputs that none of them has."""
        samples = self.read(X, y, sample_weight)
        self.warn_unobserved(samples.space, samples.space.unobserved_mask(samples.y[samples.rows]))
        return samples

    def warn_unobserved(self, space, mask):
        """Name outputs that no sample of a fit has observed, by a mask of theirs or None."""
        if mask is not None and mask.any():
            centred = self.regressor is not None or (bool(self.center) and not self._loss().on_margins)
            warn(f"y: {space.unobserved_message(mask, getattr(self._frame_, 'names', None), centred)}")

    def read(self, X, y, sample_weight=None, output_space=None) -> Samples:
        """Check everything that can be checked cheaply, then read inputs and outputs.

        output_space : in place of the estimator's own
        """
        check_collected(X, "X")
        check_collected(y, "y")
        if is_dask(X) or is_dask(y):
            raise ValueError(
                "Dask collections go to fit of OperatorKernelRegressor, FunctionalRegressor and StructuredPredictor, "
                "where alpha='auto' and 'auto' in the loss stand for a search; elsewhere give X.compute(), y.compute()"
            )
        if self.regressor is not None:
            raise ValueError("regressor has no path over alpha; set regressor=None, or search its own settings")
        loss, recipe = self._check_settings(X)
        output_space = self.output_space if output_space is None else output_space
        single = is_single(X)
        X, weights = self._read(X, y, sample_weight, _DTYPES[self.precision])
        y, kept = self.read_outputs(y), np.flatnonzero(weights > 0)
        some = y if len(kept) == len(y) else y[kept]
        check_range(some, deviations=loss.symmetric)
        encoded = Encoded.of(output_space(some, weights[kept]), some)
        check_range(encoded.Y, deviations=loss.symmetric)
        self._check_loss(loss, encoded)
        solver = None if self.alpha_per_output else self.solver
        given = (recipe, encoded, weights[kept], loss, solver)
        precision, self._single_ = decided(self.precision, single, *given)
        samples = Samples.of(replace(recipe, precision=precision), X, y, weights, encoded)
        double = precision == "float64" or samples.recipe.features is not None  # features are worked on in double
        return samples.to_float64() if double else samples

    def settle(self, choice: selection.Selection) -> selection.Selection:
        """Solve the problem of the training data with what was chosen, keep what was learnt, and return what was used.

        Selected settings with which the solver does not converge give way to smoother ones.
        """
        choice, found = selection.fit_selected(choice, self.solve)
        self.keep(self.checked(found), choice)
        return choice

    def solve(self, choice: selection.Selection) -> Fit:
        """The fit with these settings, converged or not."""
        return fit(choice.training, choice.loss, choice.alpha, self.options(), factors=choice.factors)

    def keep(self, found: Fit, choice: selection.Selection):
        """Store what a fit has learnt, and how its settings were selected: the one place where both meet."""
        state = self.make_state(found)
        self.state_ = replace(
            state,
            search_results=selection.trials_table(choice.trials),
            alpha_by_output=choice.alpha_by_output,
            approximation=choice.approximation or state.approximation,
        )

    def fit_path(self, X, y, alphas, sample_weight=None):
        """Yield a fitted copy of the estimator for each alpha; kernel and factorisation are shared, starts are warm."""
        new = blank(self)
        training = new.prepare(X, y, sample_weight)
        loss = selection.resolve_loss(training, new._loss(), alphas, new.options())
        alphas = [check_number(alpha, "alphas") for alpha in alphas]
        for found in fit_path(training, loss, alphas, new.options()):
            yield new.with_fit(new.checked(found))

    def with_fit(self, found: Fit):
        """A fitted copy of the estimator, from a fit to its training data or a part of them."""
        model = copy.copy(self)
        model.state_ = self.make_state(found)
        return model

    def options(self) -> Options:
        """How problems are solved."""
        return Options(self.solver, self.tol, self.max_iter, Progress(type(self).__name__, self.verbose))

    def _loss(self):
        return snapshot(as_loss(self.loss))

    def _check_settings(self, X):
        """The loss, and how samples become a problem; all plain settings are checked."""
        check_alpha(self.alpha)
        check_number(self.tol, "tol")
        check_number(self.max_iter, "max_iter", integer=True)
        check_choice(self.solver, "solver", solvers.NAMES)
        check_choice(self.precision, "precision", PRECISIONS)
        check_choice(self.center, "center", self._CENTERS)
        check_choice(self.alpha_per_output, "alpha_per_output", (True, False))
        check_number(self.manifold, "manifold", strict=False)
        shapes, pairs = self._shapes(X), self.pairs(X)
        scalar = [kernels.scalar_kernel(kernel) for kernel, _ in pairs]
        kernels.check_kernel_params(scalar, self.kernel_params)
        recipe = Recipe(
            pairs=[(snapshot(kernel), snapshot(operator)) for kernel, operator in pairs],
            gamma=self.gamma,
            params=self.kernel_params,
            center=bool(self.center),
            space=self.output_space,
            graph=self.graph,
            manifold=self.manifold,
            shapes=tuple(snapshot(shape) for shape in shapes) if len(shapes) > 1 else (),
            operators=self._operators() if len(shapes) > 1 else (),
            features=self._features(),
        )
        return self._loss(), recipe

    def _check_loss(self, loss, encoded: Encoded):
        """Refuse a loss that the outputs' space does not go with."""
        if loss.pointwise and not encoded.space.pointwise:
            raise ValueError(
                f"loss={loss!r} acts on point values, which the space of the outputs does not have; use p=2, or "
                "space='grid' and outputs on a common grid (NaN where not observed)"
            )
        loss.check_columns(encoded.Y.shape[1])
        if encoded.sampling is not None and (loss.on_margins or np.isfinite(loss.largest_residual)):
            raise ValueError(
                f"loss={loss!r} needs outputs that are known on a whole common grid; use Huber, EpsilonInsensitive or "
                "the squared loss, or irregular='projected'"
            )

    def _read(self, X, y, sample_weight, dtype=np.float64):
        """Checked inputs and the weight (n,) of each sample; dtype : as ``check_inputs`` takes it."""
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        index = next((given.index for given in (y, X) if hasattr(given, "iloc")), None)
        check_collected(y, "y")
        X = check_inputs(self, X, self._input_kernels(X), reset=True, dtype=dtype)
        n = _num_samples(X)
        if _num_samples(y) != n:
            raise ValueError(f"X and y must have as many samples, got inconsistent numbers {n} and {_num_samples(y)}")
        weights = np.ones(n)
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self._frame_ = FrameForm.from_outputs(y)
        self._index_ = index
        return X, weights

    def _features(self):
        """The setting of the feature map: "auto", None, or an object."""
        if isinstance(self.feature_map, str):
            check_choice(self.feature_map, "feature_map", ("auto",), ", None, a number, an object of features")
            return None if self._loss().on_margins else "auto"  # margins are between all pairs of samples
        return snapshot(features.as_feature_map(self.feature_map))

    def _shapes(self, X):
        """The kernels, settings, that are left to choose from; one where none are."""
        transformer = getattr(self._features(), "transformer", None)
        if transformer is not None:  # its features are the kernel
            if isinstance(self.kernel, (list, tuple)) or kernels.is_precomputed(self.kernel):
                raise ValueError(
                    "feature_map: a transformer takes the place of one kernel of inputs; give features.Landmarks() "
                    "with kernel='precomputed' or a list of terms"
                )
            return [features.TransformerKernel(transformer)]
        if isinstance(self.kernel, (list, tuple)):
            return [kernels.kernel_from_name(self.kernel, self.gamma)]
        return kernels.candidate_kernels(self.kernel, self.gamma, X)

    def _operators(self):
        """The operators, settings, that are left to choose from; none where one is given."""
        return ()

    def pairs(self, X=None):
        """The (kernel, operator) terms behind the settings, with the first of the kernels to choose from."""
        return next(kernel_terms(shape, self.operator) for shape in self._shapes(X))

    def _input_kernels(self, X):
        """The kernels, settings, that inputs are read for."""
        return [snapshot(kernels.scalar_kernel(kernel)) for kernel, _ in self.pairs(X)]

    def _fit_regressor(self, X, y, sample_weight):
        """Fit another model to the coordinates, gaps filled; alpha, loss and solver have no part in it."""
        check_regressor(self.regressor)
        if self.manifold:
            raise ValueError("regressor knows no graph; set manifold=0, or regressor=None")
        X, weights = self._read(X, y, sample_weight)
        if isinstance(X, kernels.InputTable):
            raise ValueError(
                "regressor takes rows of numbers, and kernels by columns have no part in it; set kernel='rbf'"
            )
        y = self.read_outputs(y)
        space = self.output_space(y, weights)
        Y = space.encode_filled(y)
        rows = counting(weights, Y)
        known = weights @ np.isfinite(Y) > 0
        self.warn_unobserved(space, space.unobserved_mask(y[np.flatnonzero(weights > 0)]))
        Y = np.where(np.isfinite(Y), Y, mean_rows(Y, weights))[:, known]  # a curve that a sample does not have
        model, given = clone(self.regressor), None if sample_weight is None else weights[rows]
        options = weight_arguments(model, given, self, "regressor")
        targets = Y[rows, 0] if Y.shape[1] == 1 else Y[rows]
        scalars = self._input_kernels(X)
        model.fit(take_samples(X, rows, scalars), targets, **options)
        of_these = None if known.all() else known
        return RegressorState(regressor=model, space=space, scalar_kernels=scalars, known=of_these)

    def checked(self, found: Fit) -> Fit:
        """The fit, after saying what is wrong with it: residuals that a loss forbids, gaps that are open, rounding."""
        loss, solution, setting = found.loss, found.solution, found.training.learns
        if np.isfinite(loss.largest_residual) and not np.isfinite(solution.gap):
            raise ValueError(
                f"loss={loss!r} allows no larger residuals, and no function was found that fits every sample "
                "so closely (equal inputs with different outputs?); raise scale, or use EpsilonInsensitive"
            )
        messages = []
        if setting is not None and found.left > setting.tol:
            messages.append(
                f"operator={setting!r} leaves up to {found.left:.1e} of the objective to gain after "
                f"{len(found.objectives)} rounds; raise its max_iter or tol"
            )
        if not solution.converged:
            direct = loss.quadratic and found.training.closed_form
            remedy = "raise alpha, which is at the limit of rounding," if direct else "raise max_iter"
            if solution.stopped:
                remedy = "a callback has stopped it: let it go on,"
            elif found.problem.is_float32 and solution.gap <= found.problem.rounding_gap:
                remedy = "it is what float32 reaches with this alpha: set precision='refined', raise alpha,"
            messages.append(
                f"gap {solution.gap:.1e} > tol {self.tol:.1e} after {solution.n_iter} iterations; {remedy} or tol"
            )
        rounding = found.training.grams[0].rounding(found.alpha)
        if rounding > _ROUNDED:
            messages.append(
                f"manifold={self.manifold:g} beside alpha={found.alpha:.3g} is at the limit of rounding, relative "
                f"errors may be {rounding:.0e}; lower manifold or raise alpha"
            )
        shared = found.problem.terms[0].error
        if shared > _SHARED:
            messages.append(
                f"manifold: the operator has so many different eigenvalues that some share a kernel, whose relative "
                f"error is up to {shared:.0%}; use a space with fewer components, such as "
                "space=spaces.Eigen(n_components=20), or operator=None"
            )
        for message in messages:
            warn(f"{type(self).__name__}: {message}", ConvergenceWarning)
        return found

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        terms = [term[0] for term in self.kernel] if isinstance(self.kernel, (list, tuple)) else [self.kernel]
        tags.input_tags.pairwise = any(kernels.is_precomputed(kernels.scalar_kernel(kernel)) for kernel in terms)
        tags.input_tags.sparse = True
        return tags


def check_regressor(regressor):
    """Raise unless it is a regressor of scikit-learn, an object and not a class."""
    if isinstance(regressor, type) or not hasattr(regressor, "fit") or not is_regressor(regressor):
        called = f"; pass {regressor.__name__}()" if isinstance(regressor, type) else ""
        raise TypeError(f"regressor must be a regressor of scikit-learn or None, got {regressor!r}{called}")
