"""Sources of rows of arrays in memory or in files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from sklearn.utils import _safe_indexing

from ..._utils.validation import check_number
from ..frames import is_framed
from .base import Batch, Source, batch_rows


class ArraySource(Source):
    """Rows of X and y; see ``from_arrays``."""

    def __init__(self, X, y, sample_weight=None, batch_size=None):
        n = _count_rows(X, "X")
        for part, name in ((y, "y"), (sample_weight, "sample_weight")):
            if part is not None and _count_rows(part, name) != n:
                raise ValueError(f"X and {name} must have as many rows, got {n} and {_count_rows(part, name)}")
        if not n:
            raise ValueError("X has no rows; give at least one sample")
        self.X, self.y, self.sample_weight, self.n_rows = X, y, sample_weight, n
        self.batch_size = batch_rows(int(np.prod(X.shape[1:])), batch_size)

    def __iter__(self):
        for start in range(0, self.n_rows, self.batch_size):
            yield self._read_rows(slice(start, min(start + self.batch_size, self.n_rows)))

    def sample(self, number, random_state=0):
        check_number(number, "number", integer=True)
        if number >= self.n_rows:
            return self._read_rows(slice(None))
        rows = np.random.default_rng(random_state).choice(self.n_rows, number, replace=False, shuffle=False)
        return self._read_rows(np.sort(rows))

    def _read_rows(self, rows):
        return Batch(*(_take(part, rows) for part in (self.X, self.y, self.sample_weight)))


def _count_rows(part, name):
    """Number of rows."""
    if not hasattr(part, "shape") or not len(part.shape):
        raise TypeError(
            f"{name} must be an array, a memory-mapped array, or something else with a shape and rows by slices, got "
            f"{type(part).__name__}"
        )
    return part.shape[0]


def _take(part, rows):
    """The given rows; rows of a memory-mapped array as an ordinary array over the same memory."""
    if part is None or is_framed(part):
        return None if part is None else _safe_indexing(part, rows)
    selected = part[rows]
    return selected.view(np.ndarray) if isinstance(selected, np.memmap) else selected


def from_arrays(X, y, sample_weight=None, batch_size=None) -> ArraySource:
    """Rows of arrays, memory-mapped ones, sparse matrices, data frames, or data sets of h5py or zarr.

    Parameters
    ----------
    X : array-like of shape (n, p)
        Inputs; any object with a shape and rows by slices.
    y : array-like of shape (n,) or (n, d)
        Outputs.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None for ones.
    batch_size : int, default=None
        Rows of a batch; None for about 16 MB of X.

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
    >>> X = np.linspace(0, 1, 500)[:, None]
    >>> source = streams.from_arrays(X, np.sin(6 * X[:, 0]), batch_size=100)
    >>> [len(batch.X) for batch in source]
    [100, 100, 100, 100, 100]
    >>> OperatorKernelRegressor(feature_map=20, gamma=10.0, alpha=1e-6).fit(source).predict([[0.25]]).round(2)
    array([1.])
    """
    return ArraySource(X, y, sample_weight, batch_size)


def from_npy(X, y, sample_weight=None, batch_size=None) -> ArraySource:
    """Rows of memory-mapped files of ``numpy.save``.

    Parameters
    ----------
    X : path, or array of shape (n, p)
        Inputs.
    y : path, or array of shape (n,) or (n, d)
        Outputs.
    sample_weight : path, or array of shape (n,), default=None
        Weights of the rows; None for ones.
    batch_size : int, default=None
        Rows of a batch; None for about 16 MB of X.

    Returns
    -------
    source : Source
        Estimators with a ``feature_map`` take it in place of X.

    References
    ----------
    - Harris et al. (2020). Array programming with NumPy. Nature 585.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from hilbertlearn import streams
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "X.npy", np.zeros((1000, 3)))
    >>> np.save(folder / "y.npy", np.zeros(1000))
    >>> source = streams.from_npy(folder / "X.npy", folder / "y.npy", batch_size=400)
    >>> [batch.X.shape for batch in source]
    [(400, 3), (400, 3), (200, 3)]
    """
    X, y, sample_weight = _open_memmap(X, "X"), _open_memmap(y, "y"), _open_memmap(sample_weight, "sample_weight")
    return ArraySource(X, y, sample_weight, batch_size)


def _open_memmap(part, name):
    """A path as a memory-mapped array; other data unchanged."""
    if not isinstance(part, (str, os.PathLike)):
        return part
    path = Path(part)
    if not path.exists():
        raise FileNotFoundError(f"{name}: there is no file {str(path)!r}")
    if not path.stat().st_size:
        raise ValueError(f"{name}: the file {str(path)!r} is empty; write it with numpy.save")
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{name}: {str(path)!r} is no array that numpy.save has written ({error})") from error
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{name}: {str(path)!r} holds several arrays (.npz); write each with numpy.save")
    return array
