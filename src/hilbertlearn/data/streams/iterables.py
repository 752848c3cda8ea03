"""Sources of batches from lists, generators and data loaders."""

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
        self._has_started = False

    def __iter__(self):
        if self._has_started and not self.repeatable:
            raise ValueError(
                "the iterator was read before, and cannot be again; give a callable that returns a fresh one, or a list"
            )
        self._has_started = True
        number = 0
        for number, batch in enumerate(self.batches() if callable(self.batches) else self.batches, 1):
            yield _as_batch(batch, number)
        if not number:
            raise ValueError("batches: the iterable is empty; give at least one batch (X, y)")


def _as_batch(batch, number):
    """A tuple or list as a ``Batch``; number : its position in error messages."""
    if isinstance(batch, (tuple, list)) and len(batch) in (2, 3):
        return Batch(*batch)
    description = f"{len(batch)} parts" if isinstance(batch, (tuple, list)) else type(batch).__name__
    raise ValueError(f"batch {number} must be (X, y) or (X, y, sample_weight), got {description}")


def from_batches(batches) -> IterableSource:
    """Batches (X, y) or (X, y, sample_weight) of a list, a generator or a data loader.

    Parameters
    ----------
    batches : callable or iterable
        A callable that returns a new iterator each time, a list or another iterable, or an iterator. An iterator is
        read once: its first rows replace a uniform sample of all rows.

    Returns
    -------
    source : Source
        Estimators with a ``feature_map`` take it in place of X.

    References
    ----------
    - scikit-learn's user guide, Strategies to scale computationally: bigger data (scaling with instances using
      out-of-core learning).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, streams
    >>> def weeks():
    ...     for week in range(4):
    ...         X = np.random.default_rng(week).uniform(size=(50, 1))
    ...         yield X, 3 * X[:, 0]
    >>> model = OperatorKernelRegressor(feature_map=10, gamma=1.0, alpha=1e-6).fit(streams.from_batches(weeks))
    >>> model.predict([[0.5]]).round(2)
    array([1.5])
    """
    return IterableSource(batches)
