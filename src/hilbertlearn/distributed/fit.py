"""A fit to blocks of rows: settings from a sample that is brought here, the function from all rows where they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import held_out
from .._statistics import mean_rows
from ..features import Landmarks
from ..problem import Problem
from ..solvers import Solution
from ..training import Fit, MomentProblem, Options, Samples, Training
from ..training.moments import MOST_PATTERNS
from .blocks import Blocks
from .parts import Job, Reader, Solved, moments_of, solve_part

POOL = 8000  # rows that are brought here: kernel, landmarks and constants of the loss are chosen on them
_JUDGED = 4000  # of these, whose left-out errors choose alpha


@dataclass(frozen=True)
class RemoteFit(Fit):
    """A fit to rows that are elsewhere: coefficients of the features, and no row's dual variables."""

    solved: Any = None  # ``Solved``

    @property
    def sample_coefficients(self):
        return self.solution.dual

    @property
    def coefficients(self):
        return [self.solved.coefficients]

    @property
    def saturated(self):
        return np.zeros(0, dtype=bool)

    def outlier_scores(self):
        return np.zeros(0)


def check_recipe(recipe, loss):
    """Refuse what needs all samples at once."""
    if recipe.features is None:
        raise ValueError(
            "feature_map=None is the exact kernel, whose Gram matrix of all samples no worker has; set "
            "feature_map='auto', or a number of landmarks"
        )
    if recipe.manifold:
        raise ValueError("manifold: a graph joins samples of different blocks; set manifold=0, or fit in memory")
    if len(recipe.pairs) > 1:
        raise ValueError("kernel: a list of terms is not fitted in blocks; give one kernel, or fit in memory")
    if loss.on_margins or np.isfinite(loss.largest_residual):
        raise ValueError(
            f"loss={loss!r} compares all samples with each other and is not fitted in blocks; use the squared loss, "
            "Huber, EpsilonInsensitive or EpsilonSVR, or fit in memory"
        )


def with_feature_map(samples: Samples, setting) -> Samples:
    """A sample of more rows, with features whatever their number; setting : of the feature map, "auto" for landmarks."""
    return samples.with_features(Landmarks("auto") if isinstance(setting, str) else setting)


def fit_blocks(blocks: Blocks, samples: Samples, loss, alpha, options: Options, reader: Callable):
    """The settings chosen and the fit to all rows: (``Choice``, ``RemoteFit``).

    samples : some of the rows, with the setting of a feature map
    reader : function of the kernel and its feature map, of training data, that gives what reads a block
    """
    choice = held_out.choose(samples, loss, alpha, options)
    training = choice.training
    if training.learns is not None:
        raise ValueError("operator: Learned is not fitted in blocks; give another operator, or fit in memory")
    read = reader(training)
    closed = choice.loss.quadratic and training.closed_form and _patterns(training) <= MOST_PATTERNS
    choice, solved, name = (_by_moments if closed else _by_parts)(blocks, choice, read, alpha, options)
    return choice, _fit_of(choice, solved, name)


def _patterns(training: Training) -> int:
    """Outputs, or groups of them, with gaps of their own."""
    return 1 if training.mask is None else len(np.unique(training.mask, axis=1).T)


def _by_moments(blocks: Blocks, choice, read: Reader, alpha, options: Options):
    """The squared loss from sums over all rows; alpha by rows of the sample, each left out of all."""
    training = choice.training
    origin = mean_rows(training.Y, training.weights)
    moments = blocks.summed(moments_of, (read, origin))
    problem = MomentProblem(moments, training.terms[0].M, training.recipe.center, training.space.smoothed)
    chosen = choice.alpha
    if isinstance(alpha, str):
        kernel = training.kernels[0]
        chosen, trials = held_out.choose_alpha(problem, _judged(training), training.space, kernel.kernel, kernel.rate)
        choice = replace(choice, alpha=chosen, trials=choice.trials + trials)
    found = problem.solve(chosen, options.tol)
    solved = Solved(
        coefficients=found.coefficients,
        center=found.center,
        penalty=chosen * moments.total,
        alpha=chosen,
        gap=found.gap,
        n_iter=found.n_iter,
        converged=found.gap <= options.tol,
        n_rows=moments.n_rows,
        n_support=moments.n_rows,
        n_saturated=0,
    )
    return choice, solved, "moments"


def _judged(training: Training) -> held_out.Reservoir:
    """Rows of the sample, and their features."""
    rows = held_out.drawn(training, min(_JUDGED, len(training.rows)))
    gram = training.grams[0].take(rows)
    return held_out.Reservoir(
        Z=gram.cross(np.arange(len(rows)), None),
        Y=training.Y[rows],
        weights=training.weights[rows],
        keys=np.empty(0),
        n_seen=len(rows),
    )


def _by_parts(blocks: Blocks, choice, read: Reader, alpha, options: Options):
    """Other losses, by a solver on each worker; a sample's choice of alpha keeps its penalty."""
    training = choice.training
    chosen = isinstance(alpha, str)
    job = Job(
        reader=read,
        loss=choice.loss,
        alpha=None if chosen else choice.alpha,
        penalty=choice.alpha * float(training.weights.sum()) if chosen else None,
        M=training.terms[0].M,
        center=training.recipe.center,
        n_outputs=training.Y.shape[1],
        pads=training.pads(choice.loss),
        tol=options.tol,
        max_iter=options.max_iter,
    )
    solved = blocks.on_parts(solve_part, job).result
    return replace(choice, alpha=solved.alpha), solved, "splitting"


def _fit_of(choice, solved: Solved, name) -> RemoteFit:
    """What states are made of, with no rows."""
    training, d = choice.training, len(solved.center)
    none = np.empty(0, dtype=int)
    training = replace(
        training,
        rows=none,
        n_samples=0,
        weights=np.empty(0),
        encoded=training.encoded.take(none),
        grams=tuple(gram.take(none) for gram in training.grams),
    )
    dual = np.zeros((0, d))
    solution = Solution(dual, solved.gap, solved.n_iter, solved.converged, [solved.gap], name)
    problem = Problem(training.terms, dual, choice.loss, solved.penalty, None, None, training.measure)
    return RemoteFit(training, problem, solution, choice.alpha, solved.center, solved=solved)
