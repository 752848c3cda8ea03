"""Linear algebra: Kronecker products, spectra, Cholesky factors, inverses, products in mixed precision."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from .pivoted_cholesky import low_rank_factor
from .threads import map_in_threads

_COPIED_ROWS = 256  # rows of a matrix that are copied or cast at a time; blocks stay in the cache
_MIRRORED_ROWS = 128  # rows and columns of a block that is transposed at a time
_SERIAL_BLOCKS = 8  # blocks of rows up to which starting threads takes longer than it saves
_FLOAT32_ROUNDING = 2.0  # rounding of eigenvalues in float32, in units of its epsilon; see ``rounding_tolerance``


def rounding_tolerance(S) -> float:
    """The rounding error of eigenvalues of PSD S (n, n), relative to the largest.

    In float64 it is the bound of n times the machine epsilon. In float32 that bound would be as large as useful
    penalties. Actual errors are a few times the epsilon, and solvers refine their solutions.
    """
    eps = float(np.finfo(S.dtype).eps)
    return _FLOAT32_ROUNDING * eps if S.dtype == np.float32 else len(S) * eps


def to_float64(A):
    """A in float64, without a copy if it has that dtype."""
    return A.astype(np.float64, copy=False)


def as_dtype(A, dtype):
    """A matrix, a Kronecker product or None, in a dtype."""
    if A is None:
        return None
    if isinstance(A, Kronecker):
        return Kronecker(f if isinstance(f, int) else f.astype(dtype, copy=False) for f in A.factors)
    return A.astype(dtype, copy=False)


class Kronecker:
    """Kronecker product of matrices, one for each axis of the coordinates, applied axis by axis and never formed.

    It is used on the right of products: ``A @ kronecker`` for A (n, product of the numbers of rows).
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
        remaining, columns = self.shape
        shape = (*A.shape[:-1], columns)
        if not remaining or not columns:  # a factor of rank 0
            return np.zeros(shape, dtype=A.dtype)
        out = A.reshape(-1, remaining)
        for f in self.factors:  # earlier axes have their new sizes, later ones their old sizes
            rows = f if isinstance(f, int) else len(f)
            remaining //= rows
            if not isinstance(f, int):
                block = out.reshape(-1, rows, remaining)
                out = block[:, :, 0] @ f if remaining == 1 else np.matmul(f.T, block)
        return np.ascontiguousarray(out.reshape(shape))

    def __array__(self, dtype=None, copy=None):
        dense = reduce(np.kron, (np.eye(f) if isinstance(f, int) else f for f in self.factors))
        return dense if dtype is None else dense.astype(dtype)


def kronecker(factors, sizes):
    """The product of PSD matrices, None for identities; None if all are.

    It is an array, not a ``Kronecker``, if at most one axis has several points.
    """
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

    rounding : relative to the largest eigenvalue; None is ``rounding_tolerance``
    The values of a product are not in order, but the last is the largest. A rank below n / 2 is detected and saves most
    of the time; without such a rank the detection takes a few per cent of the time.
    """
    if isinstance(S, Kronecker):
        parts = [(np.ones(f), f) if isinstance(f, int) else spectrum(f) for f in S.factors]
        return Spectrum(reduce(np.kron, (values for values, _ in parts)), Kronecker(vectors for _, vectors in parts))
    rounding = rounding_tolerance(S) if rounding is None else rounding
    low = low_rank_spectrum(S, 1 / 2) if rounding >= rounding_tolerance(S) else None
    return full_spectrum(S, rounding) if low is None else _above(low, rounding)


def full_spectrum(S, rounding=None) -> Spectrum:
    """``spectrum`` without the search for a low rank."""
    values, vectors = scipy.linalg.eigh(S, driver="evd", check_finite=False)
    return _above(Spectrum(values, vectors), rounding_tolerance(S) if rounding is None else rounding)


def _above(pairs, rounding):
    values, vectors = pairs
    is_above = values > values[-1:].clip(0.0).sum() * rounding
    first = np.argmax(is_above) if is_above.any() else len(values)
    return Spectrum(values[first:], vectors[:, first:])  # contiguous columns in Fortran order, which BLAS does not copy


def low_rank_spectrum(S, share) -> Spectrum | None:
    """Eigenpairs of PSD S (n, n) in O(n r^2) if the rank r is below a share of n; None if not, or if n is small.

    They are all positive eigenpairs of ``L L'`` for the factor L (n, r) of S, which has no noise. With the QR
    decomposition ``L = Q R`` the eigenvectors are Q times those of ``R R'``. They are orthonormal up to rounding.
    ``L V / sqrt(values)``, with the eigenvectors V of ``L' L``, is not if values are small.
    """
    L = low_rank_factor(S, int(share * len(S)))
    if L is None:
        return None
    Q, R = scipy.linalg.qr(L, mode="economic", overwrite_a=True, check_finite=False)
    syrk, gemm = get_blas_funcs(("syrk", "gemm"), (R,))
    small = syrk(1.0, R, lower=1)
    values, V = _above(scipy.linalg.eigh(small, driver="evd", overwrite_a=True, check_finite=False), 0.0)
    return Spectrum(values, gemm(1.0, Q, V))


def eigenspaces(pairs: Spectrum, tolerance=1e-10):
    """List of (eigenvalue, vectors (d, k)); eigenvalues count as equal up to a relative difference of `tolerance`."""
    order = np.argsort(pairs.values)
    values, vectors = pairs.values[order], np.asarray(pairs.vectors)[:, order]
    if not len(values):
        return []
    starts = [0, *(np.flatnonzero(np.diff(values) > tolerance * values[1:]) + 1)]
    return [(values[a], vectors[:, a:b]) for a, b in zip(starts, [*starts[1:], len(values)], strict=True)]


def psd_root(S):
    """The symmetric square root (n, n) of a PSD matrix."""
    values, vectors = np.linalg.eigh(S)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def cholesky(K, shift):
    """Lower Cholesky factor of ``K + diag(shift)``, for ``cho_solve``; raises LinAlgError if that is not definite.

    The other triangle of the result is not defined.
    """
    S = np.zeros(K.shape, dtype=K.dtype)  # unwritten pages take no memory
    for start in range(0, len(K), _COPIED_ROWS):
        S[start : start + _COPIED_ROWS, start:] = K[start : start + _COPIED_ROWS, start:]
    S.flat[:: len(S) + 1] += shift
    # LAPACK factors the transpose, which is in Fortran order, in place
    return scipy.linalg.cho_factor(S.T, lower=True, overwrite_a=True, check_finite=False)[0]


def cholesky_solve(factor, R, overwrite=False):
    """Solve a system with the factor of ``cholesky``."""
    return scipy.linalg.cho_solve((factor, True), R, overwrite_b=overwrite, check_finite=False)


def symmetric_inverse(factor):
    """The inverse of a matrix from its lower Cholesky factor, which is overwritten."""
    lower, _ = get_lapack_funcs("potri", (factor,))(factor, lower=1, overwrite_c=1)
    return mirror_upper_triangle(lower.T)


def mirror_upper_triangle(S):
    """Copy the upper triangle of S (n, n) to the lower one in place, by blocks that stay in the cache."""
    for i in range(0, len(S), _MIRRORED_ROWS):
        rows = slice(i, i + _MIRRORED_ROWS)
        S[rows, rows] = np.triu(S[rows, rows]) + np.triu(S[rows, rows], 1).T
        for j in range(i + _MIRRORED_ROWS, len(S), _MIRRORED_ROWS):
            columns = slice(j, j + _MIRRORED_ROWS)
            S[columns, rows] = S[rows, columns].T
    return S


def shifted_inverse(K, shift):
    """``(K + shift I)^-1`` (n, n), several times cheaper than eigenvectors; None if rounding made K indefinite."""
    try:
        return symmetric_inverse(cholesky(K, shift))
    except np.linalg.LinAlgError:
        return None


def solve_triangle(R, B):
    """``B R^-1`` (n, r) for upper triangular R, in place in B, which is in C order; in the dtype of B."""
    solve = scipy.linalg.blas.strsm if B.dtype == np.float32 else scipy.linalg.blas.dtrsm
    if B.size:
        solve(1.0, np.asarray(R, dtype=B.dtype, order="F"), B.T, lower=0, trans_a=1, overwrite_b=1)
    return B


def row_norms(A):
    """Euclidean norm of each row, shape (n,)."""
    A = to_float64(A)
    return np.sqrt(np.einsum("ij,ij->i", A, A))


def unit_rows(A):
    """Rows divided by their norms; zero rows stay zero. Scaling first avoids underflow of squares."""
    scaled = A / np.maximum(np.abs(A).max(axis=1, keepdims=True, initial=0.0), np.finfo(float).tiny)
    norms = row_norms(scaled)
    scaled /= np.where(norms > 0, norms, 1.0)[:, None]
    return scaled


def dot(A, B) -> float:
    """Sum of products of entries, without copies of arrays in Fortran order, which vdot would make."""
    A, B = to_float64(A), to_float64(B)
    return float(np.vdot(A, B) if A.flags.c_contiguous and B.flags.c_contiguous else np.einsum("ij,ij->", A, B))


def norm(A) -> float:
    """Euclidean norm of all entries."""
    return float(np.linalg.norm(to_float64(A)))


# numpy and scipy each have a BLAS. Between factorisations, which use scipy's, waking up the threads of numpy's costs
# more than the product itself. The functions below use scipy's, except `product`.


def symmetric_product(K, A, scale=1.0):
    """``scale K A`` for symmetric K by scipy's BLAS; in the dtype of A, without a full copy of K."""
    gemm = get_blas_funcs("gemm", (K, A))
    if K.dtype == A.dtype:
        return gemm(scale, K.T, A)  # the transpose of K is in Fortran order
    out, wide = np.empty(A.shape, dtype=A.dtype), np.ascontiguousarray(A).T
    for start in range(0, len(K), _COPIED_ROWS):
        rows = K[start : start + _COPIED_ROWS].astype(A.dtype)
        out[start : start + _COPIED_ROWS] = gemm(scale, wide, rows.T).T
    return out


def product(K, A):
    """``K A``; for K in float32 and A in float64 in float64, without a full copy of K."""
    if K.dtype == A.dtype:
        return K @ A
    out = np.empty((len(K), A.shape[1]), dtype=np.result_type(K, A))

    def fill(rows):
        out[rows] = K[rows].astype(out.dtype) @ A

    parts = [slice(start, start + _COPIED_ROWS) for start in range(0, len(K), _COPIED_ROWS)]
    map_in_threads(fill, parts, serial_up_to=_SERIAL_BLOCKS)
    return out


def transposed_times(Q, b):
    """``Q.T @ b`` for a vector b by scipy's BLAS."""
    return get_blas_funcs("gemv", (Q,))(1.0, Q.T, b)
