"""A uniform sample of the rows of a stream, and its leave-one-out residuals under the model of all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._utils.linalg import Spectrum
from ..core.terms import loo_residuals_from_spectrum
from ..training import MomentProblem
from .residuals import ALONE

SIZE = 2000  # rows in the sample; twice as many halve the variance of leave-one-out errors at twice the cost
_PENDING = 2  # samples' worth of rows that wait before they are merged: copies cost less the longer they wait
_SEED = 0
_ENTRIES = 2**25  # of residuals that are in memory at a time: 256 MB


@dataclass(frozen=True, eq=False, kw_only=True)
class Reservoir:
    """A uniform sample of the rows seen so far, without replacement: those with the smallest of random keys.

    Keys are numbered by rows, so that the sample does not depend on how rows came in batches.
    """

    Z: np.ndarray  # (m, r)
    Y: np.ndarray  # (m, d), NaN where not observed
    weights: np.ndarray  # (m,)
    keys: np.ndarray  # (m,)
    n_seen: int = 0  # rows that count
    size: int = SIZE
    pending: tuple = ()  # further rows (Z, Y, weights, keys) that may stay, see ``with_rows``

    @classmethod
    def empty(cls, n_features, n_outputs, size=SIZE) -> Reservoir:
        shapes = ((0, n_features), (0, n_outputs), (0,), (0,))
        Z, Y, weights, keys = (np.empty(shape) for shape in shapes)
        return cls(Z=Z, Y=Y, weights=weights, keys=keys, size=size)

    def with_rows(self, Z, Y, weights) -> Reservoir:
        """The reservoir after further rows: Z (n, r), Y (n, d), weights (n,) or None.

        Rows without outputs or weight do not count. Candidates wait in ``pending`` until there are many, so that the
        sample is not copied with each batch.
        """
        used = np.isfinite(Y).any(axis=1)
        if weights is not None:
            used &= weights > 0
        rows = np.flatnonzero(used)
        generator = np.random.Generator(np.random.PCG64(_SEED).advance(self.n_seen))
        keys = generator.random(len(rows))
        new = replace(self, n_seen=self.n_seen + len(rows))
        if len(self.keys) == self.size:  # most rows of a long stream are no candidates
            candidates = keys < self.keys.max()
            rows, keys = rows[candidates], keys[candidates]
        if len(rows) > self.size:  # the others cannot be among the smallest of all
            candidates = _smallest(keys, self.size)
            rows, keys = rows[candidates], keys[candidates]
        if not len(rows):
            return new
        row_weights = np.ones(len(rows)) if weights is None else weights[rows]
        new = replace(new, pending=(*self.pending, (Z[rows], Y[rows], row_weights, keys)))
        return new.flush() if sum(len(part[3]) for part in new.pending) >= _PENDING * self.size else new

    def flush(self) -> Reservoir:
        """The same reservoir with pending rows merged into the sample."""
        if not self.pending:
            return self
        parts = [(self.Z, self.Y, self.weights, self.keys), *self.pending]
        Z, Y, weights, keys = (np.concatenate(each) for each in zip(*parts, strict=True))
        if len(keys) > self.size:
            sample = _smallest(keys, self.size)
            Z, Y, weights, keys = Z[sample], Y[sample], weights[sample], keys[sample]
        return replace(self, Z=Z, Y=Y, weights=weights, keys=keys, pending=())


def _smallest(keys, k):
    """Increasing positions of the k smallest keys."""
    return np.sort(np.argpartition(keys, k - 1)[:k])


def loo_residuals_from_moments(problem: MomentProblem, rows: Reservoir, penalties):
    """Yield for each penalty s the residuals (m, d) of rows that are left out, one at a time, of the model of all rows.

    The same as ``loo_residuals`` on all rows: residuals over one minus leverages need ``Z'Z`` and the rows themselves,
    and one more column, of ones, for the effect of a row on the mean. NaN where not observed.
    """
    rows = rows.flush()
    m, d = problem.moments, rows.Y.shape[1]
    penalties = np.asarray(penalties, dtype=float)
    root = np.sqrt(rows.weights)[:, None]
    shift = _shifts(problem, rows) if problem.centered else None
    targets = root * np.nan_to_num(rows.Y - problem.center)
    at_once = max(1, _ENTRIES // max(len(rows.Y) * d, 1))
    for first in range(0, len(penalties), at_once):
        part = penalties[first : first + at_once]
        out = np.full((len(part), len(rows.Y), d), np.nan)
        for k, block in enumerate(problem.blocks):
            (values, V), columns, operator = block.pairs, block.columns, block.operator
            rotation = V / np.sqrt(values)
            gamma, E = (np.ones(1), None) if operator is None else operator
            coefficients = rotation.T @ (block.P if E is None else block.P @ E)
            path = loo_residuals_from_spectrum(
                Spectrum(values, root * (rows.Z @ rotation)),
                gamma,
                E,
                targets[:, columns],
                None if shift is None else shift[:, columns],
                root,
                part,
                coefficients,
                rotation.T @ m.Z[k],
                len(values) == m.n_rows,
            )
            for i, residuals in enumerate(path):
                out[i][:, columns] = residuals
        out[:, np.isnan(rows.Y)] = np.nan
        yield from out


def _shifts(problem, rows):
    """Changes (m, d) of the constant when a row is left out."""
    m = problem.moments
    mass, observed = m.weight[m.pattern], rows.weights[:, None] * np.isfinite(rows.Y)
    rest = mass - observed
    alone = rest <= mass * ALONE  # a row that is alone keeps its own value
    others = (m.Y - observed * np.nan_to_num(rows.Y - m.origin) * ~alone) / np.where(
        alone, np.where(mass > 0, mass, 1.0), rest
    )
    shift = m.origin + others - m.mean  # NaN where nothing is observed, as the mean
    return np.nan_to_num(shift if problem.smoothed is None else problem.smoothed(shift))
