"""Linear algebra that several rooms share: Kronecker products, spectra, Cholesky factors, inverses, norms of rows."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

_COPIED_ROWS = 256  # of a triangle at a time: blocks that stay in the cache


class Kronecker:
    """Kronecker product of matrices, one for each axis of the coordinates, applied axis by axis and never formed.

    Stands for a matrix on the right of products: ``A @ kronecker`` for A (n, product of the numbers of rows).
    """

    __array_ufunc__ = None  # numpy then leaves ``A @ self`` to __rmatmul__

    def __init__(self, factors):
        self.factors = tuple(factors)  # matrices; an integer is the identity of that size

    @property
    def shape(self):
        sizes = [(f, f) if isinstance(f, int) else f.shape for f in self.factors]
        return math.prod(rows for rows, _ in sizes), math.prod(columns for _, columns in sizes)

    @property
    def T(self):
        return Kronecker(f if isinstance(f, int) else f.T for f in self.factors)

    def __rmatmul__(self, A):
        after, columns = self.shape
        shape = (*A.shape[:-1], columns)
        if not after or not columns:  # a factor of rank 0
            return np.zeros(shape)
        out = A.reshape(-1, after)
        for f in self.factors:  # the axes before are in their new sizes, those after still in the old ones
            rows = f if isinstance(f, int) else len(f)
            after //= rows
            if not isinstance(f, int):
                block = out.reshape(-1, rows, after)
                out = block[:, :, 0] @ f if after == 1 else np.matmul(f.T, block)
        return np.ascontiguousarray(out.reshape(shape))

    def __array__(self, dtype=None, copy=None):
        dense = reduce(np.kron, (np.eye(f) if isinstance(f, int) else f for f in self.factors))
        return dense if dtype is None else dense.astype(dtype)


def kronecker(factors, sizes):
    """The product of PSD matrices, None for identities: None when all are, a plain matrix when only one axis counts."""
    if all(f is None for f in factors):
        return None
    if math.prod(sizes) == max(sizes):  # the other axes have one point
        largest = int(np.argmax(sizes))
        scale = math.prod(float(f[0, 0]) for k, f in enumerate(factors) if f is not None and k != largest)
        return scale * (np.eye(sizes[largest]) if factors[largest] is None else factors[largest])
    return Kronecker(size if f is None else f for f, size in zip(factors, sizes, strict=True))


class Spectrum(NamedTuple):
    """Eigenpairs of a PSD matrix above rounding: values (r,) in increasing order, vectors (n, r)."""

    values: np.ndarray
    vectors: Any  # an array, or a Kronecker product of arrays


def spectrum(S, rounding=None) -> Spectrum:
    """Eigenpairs of the PSD matrix S (n, n) that are larger than rounding errors; of a product, by factor.

    rounding : what counts as such, relative to the largest eigenvalue; None is n times the machine's
    The values of a product are not in order, but the last is the largest.
    """
    if isinstance(S, Kronecker):
        parts = [(np.ones(f), f) if isinstance(f, int) else spectrum(f) for f in S.factors]
        return Spectrum(reduce(np.kron, (values for values, _ in parts)), Kronecker(vectors for _, vectors in parts))
    values, vectors = scipy.linalg.eigh(S, driver="evd", check_finite=False)
    rounding = len(values) * np.finfo(float).eps if rounding is None else rounding
    kept = values > max(values[-1], 0.0) * rounding
    first = np.argmax(kept) if kept.any() else len(values)
    return Spectrum(values[first:], vectors[:, first:])  # a view of whole Fortran columns: BLAS takes it as it is


def eigenspaces(pairs: Spectrum, alike=1e-10):
    """List of (eigenvalue, vectors (d, k)), eigenvalues that differ by less than a share of ``alike`` together."""
    order = np.argsort(pairs.values)
    values, vectors = pairs.values[order], np.asarray(pairs.vectors)[:, order]
    if not len(values):
        return []
    starts = [0, *(np.flatnonzero(np.diff(values) > alike * values[1:]) + 1)]
    return [(values[a], vectors[:, a:b]) for a, b in zip(starts, [*starts[1:], len(values)], strict=True)]


def psd_root(S):
    """The symmetric square root (n, n) of a PSD matrix."""
    values, vectors = np.linalg.eigh(S)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def cholesky(K, shift):
    """Lower Cholesky factor of ``K + diag(shift)``, for ``cho_solve``; LAPACK's error where that is not positive.

    The other triangle holds nothing of use: neither is it copied from K, nor cleaned.
    """
    S = np.zeros_like(K)
    for start in range(0, len(K), _COPIED_ROWS):
        S[start : start + _COPIED_ROWS, start:] = K[start : start + _COPIED_ROWS, start:]
    S.flat[:: len(S) + 1] += shift
    # the transpose of S is the Fortran array that LAPACK factors in place, its lower triangle the upper one of S
    return scipy.linalg.cho_factor(S.T, lower=True, overwrite_a=True, check_finite=False)[0]


def cholesky_solve(factor, R, overwrite=False):
    """Solution of the system whose factor ``cholesky`` gave."""
    return scipy.linalg.cho_solve((factor, True), R, overwrite_b=overwrite, check_finite=False)


def symmetric_inverse(factor):
    """The inverse whose lower Cholesky factor is given, which is overwritten."""
    lower, _ = scipy.linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
    lower = np.tril(lower)
    lower += np.tril(lower, -1).T
    return lower


def shifted_inverse(K, shift):
    """``(K + shift I)^-1`` (n, n), several times cheaper than eigenvectors; None where rounding made K indefinite."""
    try:
        return symmetric_inverse(cholesky(K, shift))
    except np.linalg.LinAlgError:
        return None


def pivoted_cholesky(K, tolerance):
    """Factor L (n, r) with ``K = L L'`` up to dependence, and the pivots (r,), whose rows of L are lower triangular.

    tolerance : what is left of every diagonal entry, relative to the largest, when it stops
    """
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(K, lower=1, tol=tolerance * max(K.diagonal().max(), 0.0))
    L = np.empty((len(K), rank))
    L[order - 1] = np.tril(factor)[:, :rank]
    return L, order[:rank] - 1


def row_norms(A):
    """Euclidean norm of each row, shape (n,)."""
    return np.sqrt(np.einsum("ij,ij->i", A, A))


def dot(A, B) -> float:
    """Sum of products of entries; arrays from LAPACK are in another order than numpy's, and vdot would copy them."""
    return float(np.vdot(A, B) if A.flags.c_contiguous and B.flags.c_contiguous else np.einsum("ij,ij->", A, B))


# numpy and scipy bring a BLAS each. Between factorisations, which are scipy's, waking up the threads of numpy's costs
# more than the product itself.


def symmetric_product(K, A, scale=1.0):
    """``scale K A`` for symmetric K, by the BLAS that factors."""
    return scipy.linalg.blas.dgemm(scale, K.T, A)  # the transpose of K is in LAPACK's order


def transposed_times(Q, b):
    """``Q.T @ b`` for a vector b, by the BLAS that factors."""
    return scipy.linalg.blas.dgemv(1.0, Q.T, b)
