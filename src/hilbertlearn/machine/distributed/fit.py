"""The model of blocks of rows, fitted on their workers, with settings selected from a sample of the rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ... import operators, selection
from ..._utils.statistics import mean_rows
from ...leave_one_out import Reservoir
from ...training import Samples, is_searched
from ...training.moments import MOST_PATTERNS, MomentSolution, is_diagonal
from .blocks import Blocks
from .parts import Job, Reader, compute_moments, solve_part

POOL = 10_000  # rows of the sample that selects kernel, landmarks and constants of the loss
_EVALUATED = 4000  # of these rows, whose leave-one-out errors select alpha
_SOLVERS = ("auto", "spectral", "splitting")


class BlockFit(NamedTuple):
    """A model of all rows."""

    solved: MomentSolution
    settings: selection.StreamSettings  # that it was fitted with
    trials: tuple  # settings that were tried
    solver: str

    @property
    def by_moments(self) -> bool:
        """Whether it was solved from sums over rows, without iterations."""
        return self.solver == "moments"


def check_settings(recipe, loss, solver):
    """Refuse what needs all samples at once."""
    if loss.on_margins or np.isfinite(loss.largest_residual):
        raise ValueError(
            f"loss={loss!r} compares all samples with each other and is not fitted in blocks; use the squared loss, "
            "Huber, EpsilonInsensitive or EpsilonSVR, or fit in memory"
        )
    if recipe.features is None:
        raise ValueError(
            "feature_map=None is the exact kernel, whose Gram matrix of all samples no worker has; set "
            "feature_map='auto', or a number of landmarks"
        )
    if recipe.manifold:
        raise ValueError("manifold: a graph joins samples of different blocks; set manifold=0, or fit in memory")
    if len(recipe.pairs) > 1:
        raise ValueError("kernel: a list of terms is not fitted in blocks; give one kernel, or fit in memory")
    if operators.as_learned(recipe.pairs[0][1]) is not None:
        raise ValueError("operator: LearnedOperator is not fitted in blocks; give another operator, or fit in memory")
    if solver not in _SOLVERS:
        raise ValueError(f"solver={solver!r} needs all samples at once; use 'auto', or fit in memory")


def fit_blocks(
    blocks: Blocks, samples: Samples, settings: selection.StreamSettings, read: Reader, alpha, options
) -> BlockFit:
    """The model of all rows.

    samples : a sample of the rows
    settings : selected with this sample
    read : function that reads a block
    alpha : a number, "auto" or a schedule
    """
    mixed = samples.mask is not None and not is_diagonal(settings.M)
    if settings.loss.quadratic and not mixed and selection.n_patterns(samples) <= MOST_PATTERNS:
        origin = mean_rows(samples.Y, samples.weights) if settings.recipe.center else np.zeros(samples.Y.shape[1])
        with options.progress.task("sums over blocks", total=1) as task:
            moments = blocks.sum(compute_moments, (read, origin), task.set_text)
            task.step()
        if not moments.has_gaps or is_diagonal(settings.M):
            rows = partial(_evaluated_rows, samples, settings)
            solved, trials = selection.solve_moments(moments, settings, rows, alpha, options.tol)
            return BlockFit(solved, settings, trials, "moments")
    return _fit_by_parts(blocks, samples, settings, read, alpha, options)


def _evaluated_rows(samples: Samples, settings: selection.StreamSettings) -> Reservoir:
    """Rows of the sample, with their features."""
    part = samples.subsample(selection.draw_subsample(samples, min(_EVALUATED, len(samples.rows))))
    Z = settings.kernel.training_gram(part.X)
    return Reservoir(Z=Z, Y=part.Y, weights=part.weights, keys=np.empty(0), n_seen=len(part.rows))


def _fit_by_parts(
    blocks: Blocks, samples: Samples, settings: selection.StreamSettings, read: Reader, alpha, options
) -> BlockFit:
    """The model of other losses, by a solver on each worker; a selected alpha keeps its penalty."""

    def solve(factor):
        smoother = settings if factor == 1 else settings.smoother(factor)
        solved = _solve_on_workers(blocks, samples, smoother, read, alpha, options)
        return BlockFit(solved, smoother, smoother.trials, "splitting")

    return selection.step_back(solve, lambda fitted: fitted.solved.converged or not settings.is_selected)


def _solve_on_workers(
    blocks: Blocks, samples: Samples, settings: selection.StreamSettings, read, alpha, options
) -> MomentSolution:
    """The model with these settings, converged or not."""
    loss, encoded = settings.loss, samples.encoded
    job = Job(
        reader=read,
        loss=loss,
        alpha=None if is_searched(alpha) else alpha,
        penalty=settings.penalty,
        M=settings.M,
        center=settings.recipe.center,
        n_outputs=samples.Y.shape[1],
        pads=encoded.outside is not None and not loss.quadratic,
        tol=options.tol,
        max_iter=options.max_iter,
    )
    with options.progress.iterations("on all workers", options.tol, options.max_iter) as report:
        return blocks.run_on_parts(solve_part, replace(job, reports=report is not None), report).result
