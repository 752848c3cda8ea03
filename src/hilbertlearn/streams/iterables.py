"""Batches that come one after another: lists of them, generators, data loaders."""

from __future__ import annotations

from .base import Batch, Source


class IterableSource(Source):
    """Batches of an iterable, or of the iterators that a callable returns; see ``from_batches``."""

    def __init__(self, batches):
        if isinstance(batches, (str, bytes)) or not (callable(batches) or hasattr(batches, "__iter__")):
            raise TypeError(
                f"batches must be an iterable of (X, y), or a callable that returns one, got {type(batches).__name__}"
            )
        self.batches = batches
        self.repeatable = callable(batches) or not hasattr(batches, "__next__")
        self._begun = False

    def __iter__(self):
        if self._begun and not self.repeatable:
            raise ValueError(
                "the iterator was read before, and cannot be again; give a callable that returns a fresh one, or a list"
            )
        self._begun = True
        number = 0
        for number, batch in enumerate(self.batches() if callable(self.batches) else self.batches, 1):
            yield _as_batch(batch, number)
        if not number:
            raise ValueError("batches: the iterable is empty; give at least one batch (X, y)")


def _as_batch(batch, number):
    if isinstance(batch, (tuple, list)) and len(batch) in (2, 3):
        return Batch(*batch)
    seen = f"{len(batch)} parts" if isinstance(batch, (tuple, list)) else type(batch).__name__
    raise ValueError(f"batch {number} must be (X, y) or (X, y, sample_weight), got {seen}")


def from_batches(batches) -> IterableSource:
    """Batches (X, y) or (X, y, sample_weight).

    batches : a callable that returns a fresh iterator each time, a list or another object that can be iterated over
        again, or an iterator, which is read once: what needs a sample of all rows then has the first ones
    """
    return IterableSource(batches)
