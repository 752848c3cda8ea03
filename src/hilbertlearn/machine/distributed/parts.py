"""The work of one worker on its blocks: features, their sums, and its part of a problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ...core.problem import Problem
from ...core.solvers import splitting
from ...core.terms import FeatureGram, PaddedTerm, SeparableTerm
from ...data.streams.base import Batch, check_batch_weights
from ...features import FeatureMap
from ...losses import Loss
from ...spaces import Space
from ...training import EncodedOutputs, Moments, best_constant, resolve_schedule
from ...training.moments import MomentSolution


@dataclass(frozen=True, eq=False)
class Reader:
    """Function of a block of rows that returns its inputs, encoded outputs and weights; sent to every worker."""

    inputs: Callable  # inputs as given -> as the kernel takes them
    outputs: Callable  # outputs as given -> as the space takes them
    space: Space
    feature_map: FeatureMap

    def __call__(self, batch: Batch) -> tuple[Any, EncodedOutputs, np.ndarray]:
        """Inputs, encoded outputs and weights of the rows with a positive weight and an output."""
        y = self.outputs(batch.y)
        encoded = EncodedOutputs.from_outputs(self.space, y)
        if encoded.sampling is not None:
            raise ValueError(
                "y: functions at points of their own, or with gaps in a space that is no grid, are not fitted in "
                "blocks; set irregular='projected', or fill the gaps"
            )
        weights = check_batch_weights(batch.sample_weight, len(encoded.Y))
        rows = np.flatnonzero((weights > 0) & np.isfinite(encoded.Y).any(axis=1))
        X = self.inputs(batch.X)
        if len(rows) < len(weights):
            X, encoded, weights = _safe_indexing(X, rows), encoded.take(rows), weights[rows]
        return X, encoded, weights


def compute_moments(batches, shared) -> Moments:
    """Run on a worker: moments of its blocks, whose features are made a few rows at a time."""
    reader, origin = shared
    total = Moments.empty(reader.feature_map.n_components, origin)
    for batch in batches:
        if not _num_samples(batch.X):
            continue
        X, encoded, weights = reader(batch)
        for rows, Z in reader.feature_map.blocks(X) if len(weights) else ():
            total += Moments.from_rows(Z, encoded.Y[rows], weights[rows], origin)
    return total


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """A problem of all rows, as every worker receives it."""

    reader: Reader
    loss: Loss  # with numbers for all constants
    alpha: Any  # a number or a schedule; None where the penalty, alpha times the sum of weights, is given
    penalty: float | None
    M: Any  # (d, d), or None
    center: bool
    n_outputs: int  # coordinates
    pads: bool  # whether the loss includes the parts of outputs outside their space
    tol: float
    max_iter: int
    reports: bool = False  # whether the first part reports its iterations


def solve_part(batches, total, job: Job) -> MomentSolution:
    """Run on each worker at the same time: its rows of the one problem. All return the same."""
    Z, Y, outside, weights = _read_part(batches, job)
    n_rows, mass = total(np.array([len(weights), weights.sum()]))
    loss, space, measure = job.loss, job.reader.space, job.reader.space.measure
    penalty = job.penalty if job.alpha is None else resolve_schedule(job.alpha, n_rows) * float(mass)
    assert penalty is not None
    center = np.zeros(Y.shape[1])
    if job.center:
        center = space.smooth_means(best_constant(Y, weights, loss, measure, outside, total)[None])[0]
    root = None if (weights == 1).all() else np.sqrt(weights)
    mask, targets = np.isfinite(Y), np.nan_to_num(Y - center)
    term: Any = SeparableTerm(FeatureGram(Z, root, total=total), job.M)
    if outside is not None:
        targets, mask = np.column_stack([targets, outside]), np.column_stack([mask, np.ones(len(mask), dtype=bool)])
        term = PaddedTerm(term)
    problem = Problem(
        (term,),
        targets if root is None else targets * root[:, None],
        loss,
        penalty,
        None if mask.all() else mask,
        root,
        measure,
        total=total,
    )
    callback = total.report if job.reports else None
    solution = splitting.solve(problem, tol=job.tol, max_iter=job.max_iter, callback=callback)
    dual = term.coordinates(solution.dual)
    coefficients = term.expand((dual if root is None else root[:, None] * dual) / problem.penalty)
    return MomentSolution(
        coefficients=coefficients,
        center=center,
        alpha=penalty / float(mass),
        objective=problem.objective(solution.dual) / float(mass),
        gap=solution.gap,
        n_iter=solution.n_iter,
        converged=solution.converged,
        n_rows=int(n_rows),
        unobserved=~(total(weights @ np.isfinite(Y)) > 0),
    )


def _read_part(batches, job: Job):
    """Features, coordinates, norms outside the space (or None) and weights of the rows of all blocks."""
    parts = [job.reader(batch) for batch in batches if _num_samples(batch.X)]
    number, start = sum(len(weights) for _, _, weights in parts), 0
    Z = np.empty((number, job.reader.feature_map.n_components))
    for X, _, weights in parts:
        for rows, features in job.reader.feature_map.blocks(X) if len(weights) else ():
            Z[start + rows.start : start + rows.stop] = features
        start += len(weights)
    Y = np.concatenate([np.empty((0, job.n_outputs)), *(encoded.Y for _, encoded, _ in parts)])
    outside = np.concatenate([np.empty(0), *(encoded.outside for _, encoded, _ in parts)]) if job.pads else None
    return Z, Y, outside, np.concatenate([np.empty(0), *(weights for _, _, weights in parts)])
