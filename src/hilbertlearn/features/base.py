"""Base class of fitted feature maps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import scipy.sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .._utils.blocks import rows_at_once, slices

_BLOCK_ENTRIES = 2**23  # entries of Z computed at once, 64 MB; temporary arrays take a few times as much


class FeatureMap(ABC):
    """Map of inputs to features Z (m, r) whose inner products are kernel values, exactly or approximately."""

    n_components: int  # number r of features

    @abstractmethod
    def values(self, X):
        """First step for a block of rows, without checks: a new array (m, r) that ``finish`` turns into features."""

    def without_bounds(self) -> FeatureMap:
        """The same map without the bounds of an ``InputScaling``; itself if it has none."""
        return self

    def finish(self, values):
        """Second step, for any number of rows: features Z (m, r) from values (m, r), in place."""
        return values

    def __call__(self, X, samples=None):
        """Compute Z (m, r) in C order, in blocks of rows.

        samples : ignored; the signature is that of a kernel, see ``expansion``
        """
        X, values = as_row_indexable(X), np.empty((0, self.n_components))
        m = _num_samples(X)
        for rows in self.row_slices(m):
            block = self._checked_values(X, rows)
            if len(block) == m:
                values = block
                break
            if not len(values):
                values = np.empty((m, self.n_components), dtype=block.dtype)
            values[rows] = block
        # all rows at once: ``values`` uses numpy's BLAS and ``finish`` scipy's, whose threads obstruct each other
        return check_features(self.finish(values), m, self.n_components)

    def blocks(self, X, rows=None) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield pairs (slice, Z of these rows), `rows` rows of X at a time; None for blocks of ``_BLOCK_ENTRIES``."""
        X = as_row_indexable(X)
        for part in self.row_slices(_num_samples(X), rows):
            values = self._checked_values(X, part)
            yield part, check_features(self.finish(values), len(values), self.n_components)

    def _checked_values(self, X, rows):
        """``values`` of a slice of rows, with the shape checked."""
        return check_features(self.values(_safe_indexing(X, rows)), rows.stop - rows.start, self.n_components)

    def row_slices(self, n, rows=None) -> list[slice]:
        """Slices of n rows, `rows` at a time; None for blocks of ``_BLOCK_ENTRIES``."""
        return slices(n, rows_at_once(self.n_components, most=_BLOCK_ENTRIES) if rows is None else rows)

    def detach(self) -> FeatureMap:
        """Return the same map without reference to the samples of fit, for models of other samples."""
        return self

    def unexplained_variances(self, X, Z):
        """The part of k(x, x) (m,) that features Z (m, r) of inputs X lack; zero where features define the kernel."""
        return np.zeros(len(Z))

    def expansion(self, W):
        """Express ``Z(x) W`` with coefficients W (r, d) as ``kernel(x, samples) @ C``: (kernel, samples, C)."""
        return self, None, W


def as_row_indexable(X):
    """X in a format whose rows can be indexed."""
    return X.tocsr() if scipy.sparse.issparse(X) else X


def check_features(Z, n_rows, n_columns):
    """Return features as floats in C order; raise an error for a wrong shape, NaN or infinity."""
    Z = Z.toarray() if scipy.sparse.issparse(Z) else np.asarray(Z)
    Z = np.ascontiguousarray(Z, dtype=Z.dtype if Z.dtype == np.float32 else float)
    if Z.shape != (n_rows, n_columns):
        raise ValueError(
            f"feature_map must give {n_columns} features for each of {n_rows} samples, got shape {Z.shape}; "
            "its transform must keep the samples it is given, and return as many features for all of them"
        )
    if not np.isfinite(Z @ np.ones(n_columns, dtype=Z.dtype)).all():  # one pass over Z
        raise ValueError("feature_map returned NaN or infinity; check the samples it was given, and its settings")
    return Z
