"""Models fitted without some of the samples, and their errors there."""

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
from .draws import shuffled_folds
from .trials import Trial, best_index, trials_of

_TRIED = 13  # alphas that such a search takes, more or less
_LEAST = 1e-9  # alpha beside the largest, where a search near a known one ends: less is at the limit of rounding
_FURTHER = 2  # decades that a search near a known alpha may go on at one of its ends
_HALF_DECADE = 10.0**0.5
_FINEST = 2.0  # step between alphas at which a search over folds ends


def own_error(training: Training, found: Fit, test, loss: Loss | None = None):
    """Twice the weighted mean of a loss, the model's own by default, above its least value: squared errors, for the
    square."""
    loss = found.loss if loss is None else loss
    space, y = found.training.space, training.y[training.rows[test]]
    values = found.coordinates_at(training.cross(test, found.training))
    residuals, weights = space.residuals(y, values), training.weights[test]
    if loss.on_margins:
        targets = np.where(np.isnan(residuals), 0.0, loss.margin_targets(np.nan_to_num(residuals + values)))
        return 2 * float(np.average(loss.row_value(-np.sum(targets * values, axis=1)[:, None]), weights=weights))
    rows = full_rows(loss, space, y, np.nan_to_num(residuals))
    floor = loss.row_value(np.zeros_like(rows[:1]), space.measure)
    return 2 * float(np.average(loss.row_value(rows, space.measure) - floor, weights=weights))


def full_rows(loss, space, y, residuals):
    """Residuals (n, d) with what the outputs have outside their space, where the loss sees it."""
    outside = None if loss.quadratic else space.outside_norms(y)
    return residuals if outside is None else np.column_stack([residuals, outside])


def fold_errors(
    training: Training, folds, alphas, losses, options: Options, *, error: Callable = own_error, n_jobs=None
):
    """Errors (n_folds, n_alphas, n_losses) on held-out folds, positions among the training samples.

    Each fold's kernel is factored once; paths run from the largest alpha down, the order in which warm starts help.

    losses : with numbers for their settings, or functions of a fold's training data that give them
    error : function of training data, a fit to a part of it and the positions held out
    n_jobs : folds at the same time, where joblib's configuration says: threads, processes, a Dask cluster
    """
    alone = effective_n_jobs(n_jobs) == 1
    given = (alphas, losses, options if alone else replace(options, progress=Progress()), error)
    jobs = (delayed(_errors_of_fold)(training, fold, *given) for fold in folds)
    task = options.progress.task("errors of folds", "fold", len(folds), has_subtasks=True)
    return np.array(run_jobs(task, jobs, 1 if alone else n_jobs))


def _errors_of_fold(training, fold, alphas, losses, options, error):
    """Errors (n_alphas, n_losses) of the models without a fold."""
    (train, test), order = fold, np.argsort(alphas)[::-1]
    errors, part = np.full((len(losses), len(alphas)), np.inf), training.take(train)
    numbers = [loss(part) if callable(loss) else loss for loss in losses]
    grid = fit_grid(part, numbers, [alphas[i] for i in order], options)
    with options.progress.task("models without a fold", "model", errors.size, is_step=True) as task:
        for i, (j, found) in zip(np.tile(order, len(losses)), grid, strict=True):
            errors[j, i] = error(training, found, test)
            task.step(f"error {errors[j, i]:.4g} at alpha {alphas[i]:.2g}")
    return errors.T


def search_folds(training: Training, loss, alpha, options: Options) -> tuple[float, tuple[Trial, ...]]:
    """The alpha of smallest mean error over folds, around a first guess, and what was tried."""
    folds = Folds(training, loss, options.quick())
    folds.widely(alpha)
    return folds.best(), folds.trials()


class Folds:
    """Models of all folds, one alpha at a time, each begun at the nearest of those before."""

    def __init__(self, training: Training, loss, options: Options, error: Callable | None = None):
        """error : as for ``fold_errors``, a number, or one for each of several outputs whose sum decides."""
        self.training, self.loss, self.options = training, loss, options
        self.error = own_error if error is None else error
        self.folds = shuffled_folds(training)
        self.parts = [training.take(train).prepared([1.0, 1.0]) for train, _ in self.folds]
        self.centres = [part.centre(loss) for part, _ in self.parts]
        self.errors: dict[float, np.ndarray] = {}  # (n_folds,)
        self.by_output: dict[float, np.ndarray] = {}  # (n_folds, outputs)
        self.seconds: dict[float, float] = {}
        self._duals: dict[float, list] = {}
        self._task: Task | None = None

    def with_operators(self, change: Callable) -> Folds:
        """The same folds with other operators: constants stay, and so do factors of the kernel where they can.

        change : training data -> the same with another operator
        """
        new = copy.copy(self)
        new.parts = [_with_operator(change(part), factors) for part, factors in self.parts]
        new.errors, new.by_output, new.seconds, new._duals = {}, {}, {}, {}
        return new

    def widely(self, alpha):
        """The whole range of alphas, around a first guess.

        All folds are at the same alpha at any time, and their mean alone decides: two decades apart over the whole
        range, then between, around the best.
        """
        alphas, step = self.training.alphas(), 100.0
        ratios = alpha / alphas[0], alphas[-1] / alpha
        below, above = (int(np.log(max(ratio, 1.0)) / np.log(step)) for ratio in ratios)
        with self._search(_TRIED):
            for power in range(above, -below - 1, -1):  # from the largest down: the order in which warm starts help
                self.at(alpha * step**power)
            self.finer(step)

    def near(self, alpha):
        """Alphas around one that was the best of models near these, as far as errors fall."""
        step, least = 10.0, _LEAST * self.training.alphas()[-1]
        alpha = max(alpha, step * least)
        with self._search(_TRIED // 2):
            for power in (1, 0, -1):
                self.at(alpha * step**power)
            while not self.is_solved() and max(self.errors) < self.training.alphas()[-1]:
                self.at(max(self.errors) * step)
            for _ in range(_FURTHER):
                best, tried = self.best(), sorted(self.errors)
                if best not in (tried[0], tried[-1]) or (best == tried[0] and best / step < least):
                    break
                self.at(best / step if best == tried[0] else best * step)
            self.finer(step, _HALF_DECADE)

    def finer(self, step=_HALF_DECADE, finest=_FINEST):
        """Alphas around the best, from neighbours that are one step away to those that are `finest` away at most."""
        with self._search(_TRIED // 4):
            while step > finest:
                step, best = np.sqrt(step), self.best()
                for near in (best * step, best / step):
                    self.at(near)

    @contextmanager
    def _search(self, number):
        """A task of about so many alphas, or a part of one; it ends early where one who is told of it has enough."""
        if self._task is not None:
            yield
            return
        where, progress = f"{len(self.folds)} folds", self.options.progress
        task = progress.task("choice of alpha", "alpha", number, where=where, exact=False)
        try:
            with suppress(StopSearch), task as self._task:
                yield
        finally:
            self._task = None

    def at(self, alpha):
        begun = time.perf_counter()
        nearest = min(self._duals, key=lambda known: abs(np.log(known / alpha)), default=None)
        errors, duals = [], []
        with warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
            warnings.simplefilter("ignore", ConvergenceWarning)  # of models that only serve to choose
            for k, (_, test) in enumerate(self.folds):
                (part, factors), init = self.parts[k], None if nearest is None else self._duals[nearest][k]
                settings = {"center": self.centres[k], "factors": factors, "init": init}
                found = fit(part, self.loss, alpha, self.options, **settings)
                errors.append(np.atleast_1d(self.error(self.training, found, test)))
                duals.append(found.solution.dual)
        self.by_output[alpha], self._duals[alpha] = np.array(errors), duals
        self.errors[alpha] = self.by_output[alpha].sum(axis=1)
        self.seconds[alpha] = time.perf_counter() - begun
        if self._task is not None:
            error, so_far = self.mean(alpha), "none solved"
            if self.is_solved():
                best = self.best()
                so_far = f"best {self.mean(best):.4g} at {best:.2g}"
            self._task.search_step(f"error {error:.4g} at alpha {alpha:.2g}", so_far, alpha=alpha, error=error)

    def mean(self, alpha) -> float:
        """Over the folds that gave a number; infinite where fewer than half did."""
        finite = self.errors[alpha][np.isfinite(self.errors[alpha])]
        return float(finite.mean()) if 2 * len(finite) > len(self.folds) else np.inf

    def is_solved(self) -> bool:
        """Whether an alpha has a mean error: models that the solver leaves far from their optimum have none."""
        return any(np.isfinite(self.mean(alpha)) for alpha in self.errors)

    def least(self) -> float:
        """The mean error of the best alpha."""
        return self.mean(self.best())

    def best(self) -> float:
        alphas = sorted(self.errors)
        return alphas[best_index([self.mean(alpha) for alpha in alphas])]

    def best_by_output(self):
        """For each output the alpha of its own smallest mean error, among those that were tried."""
        alphas = sorted(self.by_output)
        means = np.array([np.nanmean(self.by_output[alpha], axis=0) for alpha in alphas])
        return np.array([alphas[best_index(column)] for column in means.T])

    def trials(self) -> tuple[Trial, ...]:
        alphas = sorted(self.errors)
        with np.errstate(invalid="ignore"):  # of folds that gave no number
            spread = [np.std(self.errors[alpha]) / np.sqrt(len(self.folds)) for alpha in alphas]
        means = [self.mean(alpha) for alpha in alphas]
        return trials_of(self.training, alphas, means, spread, sum(self.seconds.values()), "folds")


def _with_operator(part: Training, factors):
    """Training data and their factors, made for another operator."""
    own = None if factors is None or part.term is None else factors.with_operator(part.term.M)
    return part.prepared([1.0, 1.0]) if own is None else (part, own)


def held_out_residuals(training: Training, loss, alpha, options: Options):
    """Residuals (n, d) of each sample under the model fitted without its fold."""
    residuals = np.full(training.Y.shape, np.nan)
    for train, test in shuffled_folds(training):
        found = next(fit_path(training.take(train), loss, [alpha], options))
        values = found.coordinates_at(training.cross(test, found.training))
        left = found.training.space.residuals(training.y[training.rows[test]], values)
        residuals[test, : left.shape[1]] = left  # curves of a fold may have fewer points
    return residuals
