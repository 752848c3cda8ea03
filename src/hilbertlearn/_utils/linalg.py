"""Linear algebra of several packages: Kronecker products, spectra, Cholesky factors, inverses, norms of rows."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from .pivoted_cholesky import low_rank_factor
from .threads import map_in_threads

_COPIED_ROWS = 256  # of a matrix at a time: blocks that stay in the cache
_MIRRORED_ROWS = 128  # and columns of a matrix whose halves are alike, at a time
_FEW = 8  # blocks of rows that are not worth the start of threads
# What counts as rounding in eigenvalues of float32, in units of its machine epsilon; n units would be more than the
# penalties that are useful, see ``rounding_tolerance``.
_SINGLE_ROUNDING = 2.0


def rounding_tolerance(S) -> float:
    """What counts as rounding in the eigenvalues of PSD S (n, n), relative to the largest.

    In double precision n times the machine's, a bound that costs nothing. In single precision that bound would be as
    large as useful penalties; errors are a few times the machine's, and whoever solves with them refines.
    """
    eps = float(np.finfo(S.dtype).eps)
    return _SINGLE_ROUNDING * eps if S.dtype == np.float32 else len(S) * eps


def to_float64(A):
    """A in double precision, itself where it is."""
    return A.astype(np.float64, copy=False)


def as_dtype(A, dtype):
    """A matrix, a Kronecker product or None, with numbers of that type."""
    if A is None:
        return None
    if isinstance(A, Kronecker):
        return Kronecker(f if isinstance(f, int) else f.astype(dtype, copy=False) for f in A.factors)
    return A.astype(dtype, copy=False)


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

    def __repr__(self):
        return f"Kronecker({', '.join(str((f, f) if isinstance(f, int) else f.shape) for f in self.factors)})"

    def __rmatmul__(self, A):
        after, columns = self.shape
        shape = (*A.shape[:-1], columns)
        if not after or not columns:  # a factor of rank 0
            return np.zeros(shape, dtype=A.dtype)
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

    rounding : what counts as such, relative to the largest eigenvalue; None is that of ``rounding_tolerance``
    The values of a product are not in order, but the last is the largest. A rank of less than half of n is found by the
    way, in a fraction of the time; where there is none, looking for it takes a few hundredths of the time.
    """
    if isinstance(S, Kronecker):
        parts = [(np.ones(f), f) if isinstance(f, int) else spectrum(f) for f in S.factors]
        return Spectrum(reduce(np.kron, (values for values, _ in parts)), Kronecker(vectors for _, vectors in parts))
    rounding = rounding_tolerance(S) if rounding is None else rounding
    low = low_rank_spectrum(S, 1 / 2) if rounding >= rounding_tolerance(S) else None
    return full_spectrum(S, rounding) if low is None else _above(low, rounding)


def full_spectrum(S, rounding=None) -> Spectrum:
    """As ``spectrum``, whatever the rank."""
    values, vectors = scipy.linalg.eigh(S, driver="evd", check_finite=False)
    return _above(Spectrum(values, vectors), rounding_tolerance(S) if rounding is None else rounding)


def _above(pairs, rounding):
    values, vectors = pairs
    kept = values > values[-1:].clip(0.0).sum() * rounding
    first = np.argmax(kept) if kept.any() else len(values)
    return Spectrum(values[first:], vectors[:, first:])  # a view of whole Fortran columns: BLAS takes it as it is


def low_rank_spectrum(S, share) -> Spectrum | None:
    """Eigenpairs of PSD S (n, n) in O(n r^2) where the rank r is below a share of n; None where not, or n is small.

    All that the factor ``S = L L'`` has, L (n, r): more than ``spectrum`` keeps, since the factor leaves out the noise.
    With the QR decomposition ``L = Q R`` the eigenvectors are Q times those of ``R R'``. They are orthonormal to
    rounding; ``L V / sqrt(values)``, V those of ``L' L``, are not for small values.
    """
    L = low_rank_factor(S, int(share * len(S)))
    if L is None:
        return None
    Q, R = scipy.linalg.qr(L, mode="economic", overwrite_a=True, check_finite=False)
    syrk, gemm = get_blas_funcs(("syrk", "gemm"), (R,))
    small = syrk(1.0, R, lower=1)
    values, V = _above(scipy.linalg.eigh(small, driver="evd", overwrite_a=True, check_finite=False), 0.0)
    return Spectrum(values, gemm(1.0, Q, V))


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
    S = np.zeros(K.shape, dtype=K.dtype)  # pages that are not written to cost nothing
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
    lower, _ = get_lapack_funcs("potri", (factor,))(factor, lower=1, overwrite_c=1)
    return mirror_upper_triangle(lower.T)


def mirror_upper_triangle(S):
    """The upper triangle of S (n, n) copied to the lower one, in the memory of S, by blocks that stay in the cache."""
    for i in range(0, len(S), _MIRRORED_ROWS):
        rows = slice(i, i + _MIRRORED_ROWS)
        S[rows, rows] = np.triu(S[rows, rows]) + np.triu(S[rows, rows], 1).T
        for j in range(i + _MIRRORED_ROWS, len(S), _MIRRORED_ROWS):
            columns = slice(j, j + _MIRRORED_ROWS)
            S[columns, rows] = S[rows, columns].T
    return S


def shifted_inverse(K, shift):
    """``(K + shift I)^-1`` (n, n), several times cheaper than eigenvectors; None where rounding made K indefinite."""
    try:
        return symmetric_inverse(cholesky(K, shift))
    except np.linalg.LinAlgError:
        return None


def solve_triangle(R, B):
    """``B R^-1`` (n, r) for upper triangular R, in the memory of B, C-ordered; in the precision of B."""
    solve = scipy.linalg.blas.strsm if B.dtype == np.float32 else scipy.linalg.blas.dtrsm
    if B.size:
        solve(1.0, np.asarray(R, dtype=B.dtype, order="F"), B.T, lower=0, trans_a=1, overwrite_b=1)
    return B


def row_norms(A):
    """Euclidean norm of each row, shape (n,)."""
    A = to_float64(A)
    return np.sqrt(np.einsum("ij,ij->i", A, A))


def unit_rows(A):
    """Rows divided by their norms, zero ones as they are; of tiny entries the squares would vanish."""
    scaled = A / np.maximum(np.abs(A).max(axis=1, keepdims=True, initial=0.0), np.finfo(float).tiny)
    norms = row_norms(scaled)
    scaled /= np.where(norms > 0, norms, 1.0)[:, None]
    return scaled


def dot(A, B) -> float:
    """Sum of products of entries; arrays from LAPACK are in another order than numpy's, and vdot would copy them."""
    A, B = to_float64(A), to_float64(B)
    return float(np.vdot(A, B) if A.flags.c_contiguous and B.flags.c_contiguous else np.einsum("ij,ij->", A, B))


def norm(A) -> float:
    """Euclidean norm of all entries."""
    return float(np.linalg.norm(to_float64(A)))


# numpy and scipy bring a BLAS each. Between factorisations, which are scipy's, waking up the threads of numpy's costs
# more than the product itself.


def symmetric_product(K, A, scale=1.0):
    """``scale K A`` for symmetric K, by the BLAS that factors; in the precision of A, without a copy of all of K."""
    gemm = get_blas_funcs("gemm", (K, A))
    if K.dtype == A.dtype:
        return gemm(scale, K.T, A)  # the transpose of K is in LAPACK's order
    out, wide = np.empty(A.shape, dtype=A.dtype), np.ascontiguousarray(A).T
    for start in range(0, len(K), _COPIED_ROWS):
        rows = K[start : start + _COPIED_ROWS].astype(A.dtype)
        out[start : start + _COPIED_ROWS] = gemm(scale, wide, rows.T).T
    return out


def product(K, A):
    """``K A``; of single K and double A in double precision, without a copy of all of K."""
    if K.dtype == A.dtype:
        return K @ A
    out = np.empty((len(K), A.shape[1]), dtype=np.result_type(K, A))

    def fill(rows):
        out[rows] = K[rows].astype(out.dtype) @ A

    parts = [slice(start, start + _COPIED_ROWS) for start in range(0, len(K), _COPIED_ROWS)]
    map_in_threads(fill, parts, serial_up_to=_FEW)
    return out


def transposed_times(Q, b):
    """``Q.T @ b`` for a vector b, by the BLAS that factors."""
    return get_blas_funcs("gemv", (Q,))(1.0, Q.T, b)
