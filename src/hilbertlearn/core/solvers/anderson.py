"""Anderson acceleration of a fixed-point iteration ``w <- w + g(w)``."""

from __future__ import annotations

import numpy as np

from ..._utils.linalg import dot
from ..._utils.sums import local_total

_MEMORY = 8  # steps that the extrapolation uses; twice as many double its cost and memory
_RIDGE = 1e-10  # smallest ridge of the least-squares problem, relative to the trace
_ROUNDINGS = 8  # the ridge is at least so many roundings of the inner products
_MAX_GROWTH = 2.0  # residual, relative to the smallest so far, beyond which the memory is cleared
_PROGRESS = 0.9  # a residual above this share of the smallest so far is no progress; ..
_PATIENCE = 2 * _MEMORY  # .. so many in a row are a cycle, which _MEMORY plain steps break


class Anderson:
    """Extrapolates from the last few steps (Walker & Ni 2011, type II); falls back on plain steps when it fails.

    total : function that adds the sums of other parts of the entries; called once a step
    """

    def __init__(self, shape, dtype=float, total=local_total):
        size, self._total = int(np.prod(shape)), total
        self._changes = np.empty((_MEMORY, size), dtype=dtype)  # of g
        self._steps = np.empty((_MEMORY, size), dtype=dtype)  # of w + g
        self._ridge = max(_RIDGE, _ROUNDINGS * float(np.finfo(dtype).eps))
        self._gram = np.empty((_MEMORY, _MEMORY))  # inner products of the changes
        self.restart()

    def restart(self):
        """Clear the memory: the map has changed."""
        self._count, self._best, self._stalled = 0, np.inf, 0
        self._last: tuple[np.ndarray, np.ndarray] | None = None

    def step(self, w, g):
        """The next point, from the current one and its residual ``g = g(w)``."""
        plain, flat = w + g, g.ravel()
        change = None if self._last is None else flat - self._last[1]
        square, with_change, with_g = self._products(flat, change)
        size = float(np.sqrt(square))
        self._stalled = 0 if size < _PROGRESS * self._best else self._stalled + 1
        if self._stalled > _PATIENCE:
            if self._stalled > _PATIENCE + _MEMORY:
                self.restart()
            return plain
        if size > _MAX_GROWTH * self._best:
            self._count, self._last = 0, None
        self._best = min(self._best, size)
        if self._last is not None:
            with_g = self._remember(plain.ravel() - self._last[0], change, with_change, with_g)
        self._last = (plain.ravel(), flat)
        used = min(self._count, _MEMORY)
        if not used:
            return plain
        gram = self._gram[:used, :used].copy()
        gram.flat[:: used + 1] += self._ridge * np.trace(gram) + np.finfo(float).tiny
        weights = np.linalg.solve(gram, with_g).astype(self._changes.dtype, copy=False)
        return plain - (weights @ self._steps[:used]).reshape(w.shape)

    def _products(self, flat, change):
        """``g'g``, and inner products of the changes, the new one last, with the new one and with g."""
        if change is None:
            return self._total(np.array([dot(flat, flat)]))[0], None, None
        stored = self._changes[: min(self._count, _MEMORY)]
        products = [[dot(flat, flat)], stored @ change, [change @ change], stored @ flat, [change @ flat]]
        sums = self._total(np.concatenate(products, dtype=float))
        return sums[0], *np.split(sums[1:], 2)

    def _remember(self, step, change, with_change, with_g):
        """Store a step, if need be in place of the oldest; returns inner products of the stored changes with g."""
        slot = self._count % _MEMORY
        self._count += 1
        used = min(self._count, _MEMORY)
        self._steps[slot], self._changes[slot] = step, change
        with_change[slot], with_g[slot] = with_change[-1], with_g[-1]
        self._gram[slot, :used] = self._gram[:used, slot] = with_change[:used]
        return with_g[:used]
