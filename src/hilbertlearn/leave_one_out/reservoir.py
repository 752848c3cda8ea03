"""Alpha from rows kept of many: each left out of the model of all rows, by what moments know of the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._utils.linalg import Spectrum
from ..core.terms import loo_residuals_from_spectrum
from ..training import MomentProblem

KEPT = 2000  # rows
_WAITING = 2  # times as many may wait for their turn
_SEED = 0
_HELD = 2**25  # entries of residuals of several alphas that are held at a time


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
    size: int = KEPT
    pending: tuple = ()  # further rows (Z, Y, weights, keys) that may stay, see ``seen``

    @classmethod
    def empty(cls, n_features, n_outputs, size=KEPT) -> Reservoir:
        shapes = ((0, n_features), (0, n_outputs), (0,), (0,))
        Z, Y, weights, keys = (np.empty(shape) for shape in shapes)
        return cls(Z=Z, Y=Y, weights=weights, keys=keys, size=size)

    def seen(self, Z, Y, weights) -> Reservoir:
        """With further rows: Z (n, r), Y (n, d), weights (n,) or None; those without outputs or weight do not count.

        Rows that may stay wait in ``pending`` until there are many: what is kept is not copied each time.
        """
        counts = np.isfinite(Y).any(axis=1)
        if weights is not None:
            counts &= weights > 0
        rows = np.flatnonzero(counts)
        generator = np.random.Generator(np.random.PCG64(_SEED).advance(self.n_seen))
        keys = generator.random(len(rows))
        new = replace(self, n_seen=self.n_seen + len(rows))
        if len(self.keys) == self.size:  # most rows of a long stream have no part in it
            near = keys < self.keys.max()
            rows, keys = rows[near], keys[near]
        if len(rows) > self.size:  # the others cannot be among the smallest of all
            near = _smallest(keys, self.size)
            rows, keys = rows[near], keys[near]
        if not len(rows):
            return new
        own = np.ones(len(rows)) if weights is None else weights[rows]
        new = replace(new, pending=(*self.pending, (Z[rows], Y[rows], own, keys)))
        return new.flush() if sum(len(part[3]) for part in new.pending) >= _WAITING * self.size else new

    def flush(self) -> Reservoir:
        """With nothing pending."""
        if not self.pending:
            return self
        parts = [(self.Z, self.Y, self.weights, self.keys), *self.pending]
        Z, Y, weights, keys = (np.concatenate(each) for each in zip(*parts, strict=True))
        if len(keys) > self.size:
            kept = _smallest(keys, self.size)
            Z, Y, weights, keys = Z[kept], Y[kept], weights[kept], keys[kept]
        return replace(self, Z=Z, Y=Y, weights=weights, keys=keys, pending=())


def _smallest(keys, k):
    """Where the k smallest keys are, in order of position."""
    return np.sort(np.argpartition(keys, k - 1)[:k])


def loo_residuals_from_moments(problem: MomentProblem, rows: Reservoir, penalties):
    """Yield residuals (m, d) for each penalty s, of rows left out one at a time of all those that moments know.

    As ``loo_residuals``, which has all rows: residuals over one less leverages need ``Z'Z`` and the rows themselves,
    and one more column, of ones, for the effect of a row on the mean. NaN where not observed.
    """
    rows = rows.flush()
    m, d = problem.moments, rows.Y.shape[1]
    penalties = np.asarray(penalties, dtype=float)
    root = np.sqrt(rows.weights)[:, None]
    shift = _shifts(problem, rows) if problem.centered else None
    targets = root * np.nan_to_num(rows.Y - problem.center)
    at_once = max(1, _HELD // max(len(rows.Y) * d, 1))
    for first in range(0, len(penalties), at_once):
        some = penalties[first : first + at_once]
        out = np.full((len(some), len(rows.Y), d), np.nan)
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
                some,
                coefficients,
                rotation.T @ m.Z[k],
                len(values) == m.n_rows,
            )
            for i, residuals in enumerate(path):
                out[i][:, columns] = residuals
        out[:, np.isnan(rows.Y)] = np.nan
        yield from out


def _shifts(problem, rows):
    """What the constant changes by (m, d) when a row is left out."""
    m = problem.moments
    mass, own = m.weight[m.pattern], rows.weights[:, None] * np.isfinite(rows.Y)
    rest = mass - own
    alone = rest <= mass * 1e-14  # what only one row has stays its own
    others = (m.Y - own * np.nan_to_num(rows.Y - m.origin) * ~alone) / np.where(
        alone, np.where(mass > 0, mass, 1.0), rest
    )
    shift = m.origin + others - m.mean  # NaN where nothing is observed, as the mean
    return np.nan_to_num(shift if problem.smoothed is None else problem.smoothed(shift))
