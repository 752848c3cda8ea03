"""Kernels on objects: settings with ``get_params``, called as ``kernel(X, Z) -> Gram``."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator


class Tanimoto(BaseEstimator):
    """``<x, z> / (||x||^2 + ||z||^2 - <x, z>)`` on rows of fingerprints (dense or sparse): shared over all set bits.

    Two rows of zeros are alike (1), one row of zeros is unlike any other (0).
    """

    def __call__(self, X, Z):
        X, Z = (A.astype(float) if hasattr(A, "astype") else np.asarray(A, dtype=float) for A in (X, Z))
        products = X @ Z.T
        products = np.asarray(products.todense() if hasattr(products, "todense") else products, dtype=float)
        squares = _squared_norms(X)[:, None] + _squared_norms(Z)
        union = squares - products
        return np.divide(products, union, out=np.ones_like(products), where=union > 0)


class Pairwise(BaseEstimator):
    """The kernel matrix of ``function(x, z)``, a function of two single objects; X may be any list.

    Symmetric matrices are filled from one half.
    """

    def __init__(self, function):
        self.function = function

    def __call__(self, X, Z):
        G = np.empty((len(X), len(Z)))
        same = X is Z
        for i, x in enumerate(X):
            for j in range(i if same else 0, len(Z)):
                G[i, j] = self.function(x, Z[j])
                if same:
                    G[j, i] = G[i, j]
        return G


def _squared_norms(X):
    squares = X.multiply(X) if hasattr(X, "multiply") else np.square(X, dtype=float)
    return np.asarray(squares.sum(axis=1), dtype=float).ravel()
