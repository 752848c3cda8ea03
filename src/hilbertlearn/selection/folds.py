"""Cross-validation by folds: errors, residuals, and the search of alpha."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import replace

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import delayed

from .._utils.progress import Progress, StopSearch, Task, run_jobs
from ..losses import Loss
from ..training import Fit, Options, Training, fit, fit_grid, fit_path
from .draws import FOLDS, shuffled_folds
from .trials import Trial, best_index, make_trials

_N_ALPHAS = 13  # about as many alphas a search evaluates; for the progress display
_LEAST = 1e-9  # smallest alpha of a local search, relative to the largest: smaller ones are at the limit of rounding
_FURTHER = 2  # decades by which a local search may continue at one of its ends
_HALF_DECADE = 10.0**0.5
_FINEST = 2.0  # ratio between neighbouring alphas at which a search ends; errors over folds do not resolve less


def fold_error(training: Training, fitted: Fit, test, loss: Loss | None = None):
    """Twice the weighted mean of a loss above its least value; for the squared loss the squared error.

    loss : the fit's by default
    """
    loss = fitted.loss if loss is None else loss
    space, y = fitted.training.space, training.y[training.rows[test]]
    values = fitted.coordinates_at(training.cross(test, fitted.training))
    residuals, weights = space.residuals(y, values), training.weights[test]
    if loss.on_margins:
        targets = np.where(np.isnan(residuals), 0.0, loss.margin_targets(np.nan_to_num(residuals + values)))
        return 2 * float(np.average(loss.row_value(-np.sum(targets * values, axis=1)[:, None]), weights=weights))
    rows = full_rows(loss, space, y, np.nan_to_num(residuals))
    floor = loss.row_value(np.zeros_like(rows[:1]), space.measure)
    return 2 * float(np.average(loss.row_value(rows, space.measure) - floor, weights=weights))


def full_rows(loss, space, y, residuals):
    """Residuals (n, d) with the norm of the outputs outside their space as a last column, for losses that count it."""
    outside = None if loss.quadratic else space.outside_norms(y)
    return residuals if outside is None else np.column_stack([residuals, outside])


def fold_errors(
    training: Training, folds, alphas, losses, options: Options, *, error: Callable = fold_error, n_jobs=None
):
    """Cross-validated errors (n_folds, n_alphas, n_losses).

    Each fold's kernel is factored once; paths run from the largest alpha down, the order in which warm starts help.

    folds : list of (train, test), positions among the training samples
    losses : with numbers for their constants, or functions of a fold's training data that return such losses
    error : function of training data, a fit to a part of it and the test positions
    n_jobs : folds at the same time, by joblib's backend: threads, processes, a Dask cluster
    """
    is_serial = effective_n_jobs(n_jobs) == 1
    fold_options = options if is_serial else replace(options, progress=Progress())
    jobs = (delayed(_errors_of_fold)(training, fold, alphas, losses, fold_options, error) for fold in folds)
    task = options.progress.task("errors of folds", "fold", len(folds), has_subtasks=True)
    return np.array(run_jobs(task, jobs, 1 if is_serial else n_jobs))


def _errors_of_fold(training, fold, alphas, losses, options, error):
    """Errors (n_alphas, n_losses) of the models without a fold."""
    (train, test), order = fold, np.argsort(alphas)[::-1]
    errors, part = np.full((len(losses), len(alphas)), np.inf), training.take(train)
    numbers = [loss(part) if callable(loss) else loss for loss in losses]
    grid = fit_grid(part, numbers, [alphas[i] for i in order], options)
    with options.progress.task("models without a fold", "model", errors.size, is_step=True) as task:
        for i, (j, fitted) in zip(np.tile(order, len(losses)), grid, strict=True):
            errors[j, i] = error(training, fitted, test)
            task.step(f"error {errors[j, i]:.4g} at alpha {alphas[i]:.2g}")
    return errors.T


def search_folds(training: Training, loss, alpha, options: Options) -> tuple[float, tuple[Trial, ...]]:
    """The alpha with the smallest mean error over folds, starting from a guess, and the trials."""
    search = FoldSearch(training, loss, options.quick())
    search.evaluate_range(alpha)
    return search.best(), search.trials()


class FoldSearch:
    """Search of alpha over folds. All folds are fitted at one alpha at a time, with warm starts from the nearest."""

    def __init__(self, training: Training, loss, options: Options, error: Callable | None = None, n_folds: int = FOLDS):
        """error : as for ``fold_errors``; a number, or one for each output, whose sum is minimised."""
        self.training, self.loss, self.options = training, loss, options
        self.error = fold_error if error is None else error
        self.folds = shuffled_folds(training, n_folds)
        self.parts = [self.factored(training.take(train)) for train, _ in self.folds]
        self.centres = [part.constant(loss) for part, _ in self.parts]
        self.errors: dict[float, np.ndarray] = {}  # (n_folds,)
        self.by_output: dict[float, np.ndarray] = {}  # (n_folds, outputs)
        self.seconds: dict[float, float] = {}
        self._duals: dict[float, list] = {}
        self._task: Task | None = None

    def with_operators(self, change: Callable) -> FoldSearch:
        """The same folds with other operators; the models' constants stay, and factors of the kernel where possible.

        change : function of training data that returns them with another operator
        """
        new = copy.copy(self)
        new.parts = [self._with_operator(change(part), factors) for part, factors in self.parts]
        new.errors, new.by_output, new.seconds, new._duals = {}, {}, {}, {}
        return new

    def factored(self, part: Training):
        """Training data of a fold, and factors that serve all alphas."""
        return part.factor_for_path([1.0, 1.0])

    def _with_operator(self, part: Training, factors):
        """Training data with another operator, and factors, from those of the former operator where possible."""
        changed = None if factors is None or part.term is None else factors.with_operator(part.term.M)
        return self.factored(part) if changed is None else (part, changed)

    def evaluate_range(self, alpha):
        """The whole range of alphas from a guess: two decades apart, then finer around the best."""
        alphas, step = self.training.alphas(), 100.0
        ratios = alpha / alphas[0], alphas[-1] / alpha
        below, above = (int(np.log(max(ratio, 1.0)) / np.log(step)) for ratio in ratios)
        with self._search(_N_ALPHAS):
            for power in range(above, -below - 1, -1):  # from the largest down: the order in which warm starts help
                self.evaluate(alpha * step**power)
            self.refine(step)

    def evaluate_near(self, alpha, step=10.0):
        """Alphas around the best one of a similar model, and further as long as errors fall.

        step : ratio between the alphas that are evaluated first
        """
        least = _LEAST * self.training.alphas()[-1]
        alpha = max(alpha, step * least)
        with self._search(_N_ALPHAS // 2):
            for power in (1, 0, -1):
                self.evaluate(alpha * step**power)
            while not self.is_solved() and max(self.errors) < self.training.alphas()[-1]:
                self.evaluate(max(self.errors) * step)
            for _ in range(round(_FURTHER / np.log10(step))):
                best, smallest, largest = self.best(), min(self.errors), max(self.errors)
                if best not in (smallest, largest) or (best == smallest and best / step < least):
                    break
                self.evaluate(best / step if best == smallest else best * step)
            self.refine(step, _HALF_DECADE)

    def refine(self, step=_HALF_DECADE, finest=_FINEST):
        """Alphas around the best, from neighbours a factor `step` away to neighbours a factor `finest` away."""
        with self._search(_N_ALPHAS // 4):
            while step > finest:
                step, best = np.sqrt(step), self.best()
                self.evaluate(best * step)
                self.evaluate(best / step)

    @contextmanager
    def _search(self, number):
        """A progress task of about so many alphas, or a part of the running one; a callback may end it early."""
        if self._task is not None:
            yield
            return
        where, progress = f"{len(self.folds)} folds", self.options.progress
        task = progress.task("search of alpha", "alpha", number, where=where, exact=False)
        try:
            with suppress(StopSearch), task as self._task:
                yield
        finally:
            self._task = None

    def evaluate(self, alpha):
        """Fit all folds at an alpha and record their errors, unless they are known."""
        if alpha in self.errors:
            return
        begun = time.perf_counter()
        nearest = min(self._duals, key=lambda known: abs(np.log(known / alpha)), default=None)
        measured, duals = [], []
        with warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
            warnings.simplefilter("ignore", ConvergenceWarning)  # these models only serve the selection
            for k, (_, test) in enumerate(self.folds):
                (part, factors), init = self.parts[k], None if nearest is None else self._duals[nearest][k]
                settings = {"center": self.centres[k], "factors": factors, "init": init}
                fitted = fit(part, self.loss, alpha, self.options, **settings)
                measured.append(self.error(self.training, fitted, test))
                duals.append(fitted.solution.dual)
        self.by_output[alpha], self._duals[alpha] = self.errors_of(alpha, measured), duals
        self.errors[alpha] = self.by_output[alpha].sum(axis=1)
        self.seconds[alpha] = time.perf_counter() - begun
        if self._task is not None:
            error, best_so_far = self.mean(alpha), "none solved"
            if self.is_solved():
                best = self.best()
                best_so_far = f"best {self.mean(best):.4g} at {best:.2g}"
            self._task.search_step(f"error {error:.4g} at alpha {alpha:.2g}", best_so_far, alpha=alpha, error=error)

    def errors_of(self, alpha, measured):
        """Errors (n_folds, outputs) at an alpha, from the values of ``error`` on each fold."""
        return np.array([np.atleast_1d(error) for error in measured])

    def mean(self, alpha) -> float:
        """Mean error over the folds that have one; infinite where fewer than half have."""
        finite = self.errors[alpha][np.isfinite(self.errors[alpha])]
        return float(finite.mean()) if 2 * len(finite) > len(self.folds) else np.inf

    def is_solved(self) -> bool:
        """Whether an alpha has a mean error. Models far from their optimum have none."""
        return any(np.isfinite(self.mean(alpha)) for alpha in self.errors)

    def least(self) -> float:
        """The mean error of the best alpha."""
        return self.mean(self.best())

    def best(self) -> float:
        alphas = sorted(self.errors)
        return alphas[best_index([self.mean(alpha) for alpha in alphas])]

    def best_by_output(self):
        """For each output the evaluated alpha with its smallest mean error."""
        alphas = sorted(self.by_output)
        means = np.array([np.nanmean(self.by_output[alpha], axis=0) for alpha in alphas])
        return np.array([alphas[best_index(column)] for column in means.T])

    def trials(self) -> tuple[Trial, ...]:
        alphas = sorted(self.errors)
        with np.errstate(invalid="ignore"):  # folds without an error
            spread = [np.std(self.errors[alpha]) / np.sqrt(len(self.folds)) for alpha in alphas]
        means = [self.mean(alpha) for alpha in alphas]
        return make_trials(self.training, alphas, means, spread, sum(self.seconds.values()), "folds")


def fold_residuals(training: Training, loss, alpha, options: Options):
    """Residuals (n, d) of each sample under the model fitted without its fold."""
    residuals = np.full(training.Y.shape, np.nan)
    for train, test in shuffled_folds(training):
        fitted = next(fit_path(training.take(train), loss, [alpha], options))
        values = fitted.coordinates_at(training.cross(test, fitted.training))
        errors = fitted.training.space.residuals(training.y[training.rows[test]], values)
        residuals[test, : errors.shape[1]] = errors  # curves of a fold may have fewer points
    return residuals
