"""Batches of rows, and the base class of their sources."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ..._utils.validation import check_number
from ..frames import is_frame, is_framed

BATCH_ENTRIES = 2**21  # default number of entries of X in a batch: 16 MB in float64
_MIN_ROWS, _MAX_ROWS = 256, 65536  # smallest and largest default number of rows of a batch


class Batch(NamedTuple):
    """A batch of rows, as a ``Source`` yields it.

    Parameters
    ----------
    X : array of shape (b, p), sparse matrix or data frame
        Inputs in any form that an estimator takes.
    y : array of shape (b,) or (b, d), or data frame
        Outputs in any form that an estimator takes.
    sample_weight : array of shape (b,), default=None
        Weights of the rows; None for ones.

    References
    ----------
    - scikit-learn's user guide, Strategies to scale computationally: bigger data (scaling with instances using
      out-of-core learning).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import streams
    >>> batch = streams.Batch(np.arange(6.0).reshape(3, 2), np.array([1.0, 2.0, 3.0]))
    >>> batch.take([0, 2]).y
    array([1., 3.])
    """

    X: Any
    y: Any
    sample_weight: Any = None

    def take(self, rows) -> Batch:
        """The batch of the given rows.

        Parameters
        ----------
        rows : array of indices
            Rows to take.

        Returns
        -------
        batch : Batch
            The same form, with these rows.
        """
        return Batch(*(None if part is None else _safe_indexing(part, rows) for part in self))


class Source(ABC):
    """Rows in batches; it can be iterated again if ``repeatable``.

    A subclass defines ``__iter__``, which yields batches (X, y, sample_weight) in a fixed order.

    Attributes
    ----------
    n_rows : int or None
        Number of rows; None if it is unknown before a pass.
    repeatable : bool
        Whether the source can be read again.

    References
    ----------
    - scikit-learn's user guide, Strategies to scale computationally: bigger data (scaling with instances using
      out-of-core learning).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, streams
    >>> class Squares(streams.Source):
    ...     def __iter__(self):
    ...         for start in range(3):
    ...             X = start + np.linspace(0, 1, 20)[:, None]
    ...             yield streams.Batch(X, X[:, 0] ** 2)
    >>> model = OperatorKernelRegressor(feature_map=15, gamma=1.0, alpha=1e-6).fit(Squares())
    >>> model.predict([[1.5]]).round(2)
    array([2.25])
    """

    repeatable = True
    n_rows: Any = None

    @abstractmethod
    def __iter__(self) -> Iterator[Batch]:
        """Batches in a fixed order."""

    def sample(self, number, random_state=0) -> Batch:
        """A uniform sample of rows without replacement, in their order; all rows if there are fewer.

        One pass over the batches keeps the rows with the smallest random keys.

        Parameters
        ----------
        number : int
            Number of rows.
        random_state : int, default=0
            Seed of the random keys.

        Returns
        -------
        batch : Batch
            The sampled rows.
        """
        check_number(number, "number", integer=True)
        if not self.repeatable:
            raise ValueError(
                "an iterator can be read once, and a sample of it takes a pass of its own; give a callable that "
                "returns a fresh iterator, a list of batches, arrays or files"
            )
        generator, keys = np.random.default_rng(random_state), np.empty(0)
        parts: list[Batch] = []
        for batch in self:
            new_keys = generator.random(_num_samples(batch.X))
            all_keys = np.concatenate([keys, new_keys])
            bound = np.inf if len(all_keys) <= number else np.partition(all_keys, number - 1)[number - 1]
            if len(keys) and keys.max() > bound:
                retained = np.flatnonzero(keys <= bound)
                parts, keys = [concatenate_batches(parts).take(retained)], keys[retained]
            added = np.flatnonzero(new_keys <= bound)
            if len(added):
                parts.append(batch.take(added))
                keys = np.concatenate([keys, new_keys[added]])
        return concatenate_batches(parts)


def check_batch_weights(weights, number) -> np.ndarray:
    """Weights of a batch as floats (b,), from (b,), (b, 1), a number for all rows, or None for ones.

    All weights of a batch may be zero.
    """
    values = np.asarray(1.0 if weights is None else weights, dtype=float)
    values = np.full(number, values) if values.ndim == 0 else values
    if values.shape == (number, 1):
        values = values[:, 0]
    if values.shape != (number,):
        raise ValueError(f"sample_weight must have an entry for each of {number} rows, got shape {np.shape(weights)}")
    bad = values[~(np.isfinite(values) & (values >= 0))]
    if len(bad):
        raise ValueError(f"sample_weight must be finite and not negative, got {bad[0]}")
    return values


def nonempty_batches(batches) -> Iterator[Batch]:
    """The batches that have rows."""
    return (batch for batch in batches if _num_samples(batch.X))


def concatenate_batches(parts) -> Batch:
    """Concatenate batches."""
    parts = list(nonempty_batches(parts))
    if not parts:
        raise ValueError("the source has no rows; give at least one batch with samples")
    if len(parts) == 1:
        return parts[0]
    X, y, weights = zip(*parts, strict=True)
    if any(w is None for w in weights) and not all(w is None for w in weights):
        weights = tuple(np.ones(_num_samples(x)) if w is None else w for x, w in zip(X, weights, strict=True))
    return Batch(concatenate_rows(X, "X"), concatenate_rows(y, "y"), concatenate_rows(weights, "sample_weight"))


def concatenate_rows(parts, name):
    """Concatenate rows in the form of the parts; None if they are None.

    name : name of the rows in error messages
    """
    if parts[0] is None:
        return None
    if all(is_framed(part) for part in parts):
        return _concatenate_frames(parts, name)
    if all(isinstance(part, list) for part in parts):
        return [item for part in parts for item in part]
    if any(scipy.sparse.issparse(part) for part in parts):
        return scipy.sparse.vstack(parts, format="csr")
    parts = [np.asarray(part) for part in parts]
    shapes = {part.shape[1:] for part in parts}
    if len(shapes) > 1:
        text = " and ".join(sorted(str(shape) for shape in shapes))
        raise ValueError(f"{name}: batches have rows of shapes {text}; all batches must have the same columns")
    return np.concatenate(parts)


def _concatenate_frames(parts, name):
    """Concatenate data frames or series, which must have the same columns in the same order."""
    if is_frame(parts[0]):
        expected = list(parts[0].columns)
        for part in parts:
            columns = list(part.columns) if is_frame(part) else [part.name]
            if columns != expected:
                raise ValueError(
                    f"{name}: batches have the columns {columns} and {expected}; all batches must have the same "
                    f"columns in the same order, as {name}[names] has them with these names"
                )
    elif any(is_frame(part) for part in parts):
        raise ValueError(f"{name}: some batches are series and others data frames; give the same form each time")
    if hasattr(parts[0], "iloc"):
        import pandas

        return pandas.concat(parts)
    import polars

    return polars.concat(parts)


def batch_rows(width, batch_size=None) -> int:
    """Number of rows of a batch: batch_size, or by default about 16 MB of the given number of columns."""
    if batch_size is not None:
        return int(check_number(batch_size, "batch_size", integer=True))
    return int(np.clip(BATCH_ENTRIES // max(width, 1), _MIN_ROWS, _MAX_ROWS))
