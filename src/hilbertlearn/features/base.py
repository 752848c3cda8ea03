"""What fitted feature maps share: blocks of rows, and checks of what comes out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import scipy.sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .._utils.blocks import rows_at_once, slices

_BLOCK_ENTRIES = 2**23  # of Z that are computed at once, 64 MB: temporaries are a few times that


class FeatureMap(ABC):
    """Inputs -> features Z (m, r), the inner products of which are kernel values, exactly or about."""

    n_components: int  # r

    @abstractmethod
    def values(self, X):
        """What features are made of (m, r), of a few rows, all at once and not checked; the array is the caller's."""

    def finish(self, values):
        """Features Z (m, r) of any number of values (m, r), in their memory."""
        return values

    def __call__(self, X, samples=None):
        """Z (m, r) in C order, computed in blocks of rows.

        samples : None; a map so stands where a kernel does, see ``expansion``
        """
        X, values = as_row_indexable(X), np.empty((0, self.n_components))
        number = _num_samples(X)
        for rows in self.row_slices(number):
            block = self._checked_values(X, rows)
            if len(block) == number:
                values = block
                break
            if not len(values):
                values = np.empty((number, self.n_components), dtype=block.dtype)
            values[rows] = block
        # all at once: kernel values come from numpy's BLAS, triangles are solved by scipy's, and the threads of the one
        # that has just finished are in the way of the other's
        return check_features(self.finish(values), number, self.n_components)

    def blocks(self, X, rows=None) -> Iterator[tuple[slice, np.ndarray]]:
        """Pairs (slice, Z of these rows), `rows` rows of X at a time; None for as many as keep temporaries small."""
        X = as_row_indexable(X)
        for part in self.row_slices(_num_samples(X), rows):
            values = self._checked_values(X, part)
            yield part, check_features(self.finish(values), len(values), self.n_components)

    def _checked_values(self, X, rows):
        return check_features(self.values(_safe_indexing(X, rows)), rows.stop - rows.start, self.n_components)

    def row_slices(self, n, rows=None) -> list[slice]:
        """Slices of n rows, `rows` at a time; None for as many as keep temporaries small."""
        return slices(n, rows_at_once(self.n_components, most=_BLOCK_ENTRIES) if rows is None else rows)

    def detach(self) -> FeatureMap:
        """The same map, which knows of no samples of fit: for models of other samples."""
        return self

    def expansion(self, W):
        """The function ``Z(x) W`` of coefficients W (r, d) as ``kernel(x, samples) @ C``: (kernel, samples, C)."""
        return self, None, W


def as_row_indexable(X):
    """X in a form that rows can be taken of."""
    return X.tocsr() if scipy.sparse.issparse(X) else X


def check_features(Z, n_rows, n_columns):
    """Features as floats in C order, after a look at their shape and whether they are finite."""
    Z = Z.toarray() if scipy.sparse.issparse(Z) else np.asarray(Z)
    Z = np.ascontiguousarray(Z, dtype=Z.dtype if Z.dtype == np.float32 else float)
    if Z.shape != (n_rows, n_columns):
        raise ValueError(
            f"feature_map must give {n_columns} features for each of {n_rows} samples, got shape {Z.shape}; "
            "its transform must keep the samples it is given, and return as many features for all of them"
        )
    if not np.isfinite(Z @ np.ones(n_columns, dtype=Z.dtype)).all():  # one pass
        raise ValueError("feature_map returned NaN or infinity; check the samples it was given, and its settings")
    return Z
