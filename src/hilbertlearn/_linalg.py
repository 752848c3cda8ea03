"""Linear algebra that several rooms share: Kronecker products, spectra, Cholesky factors, inverses, norms of rows."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

_EPS = np.finfo(float).eps
_COPIED_ROWS = 256  # of a triangle at a time: blocks that stay in the cache
_MANY = 400  # rows from which on a low rank saves time
_PIVOTS = 64  # candidates at a time
_LARGE_PIVOT = 0.2  # of the largest diagonal entry: smaller pivots wait, since they blow up errors
_LEFT = 0.1  # of what counts as rounding: how much a factor of low rank may leave out
_NOISE = 4  # times the errors: the least that pivots are
_PROBES = 3  # random vectors that a factor is tried on
_SEED = 271828  # of these; not one that data are drawn with


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
    The values of a product are not in order, but the last is the largest. A rank of less than half of n is found by the
    way, in a fraction of the time; where there is none, looking for it takes a few hundredths of the time.
    """
    if isinstance(S, Kronecker):
        parts = [(np.ones(f), f) if isinstance(f, int) else spectrum(f) for f in S.factors]
        return Spectrum(reduce(np.kron, (values for values, _ in parts)), Kronecker(vectors for _, vectors in parts))
    rounding = len(S) * _EPS if rounding is None else rounding
    low = low_rank_spectrum(S, 1 / 2) if rounding >= len(S) * _EPS else None
    return full_spectrum(S, rounding) if low is None else _above(low, rounding)


def full_spectrum(S, rounding=None) -> Spectrum:
    """As ``spectrum``, whatever the rank."""
    values, vectors = scipy.linalg.eigh(S, driver="evd", check_finite=False)
    return _above(Spectrum(values, vectors), len(S) * _EPS if rounding is None else rounding)


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
    small = scipy.linalg.blas.dsyrk(1.0, R, lower=1)
    values, V = _above(scipy.linalg.eigh(small, driver="evd", overwrite_a=True, check_finite=False), 0.0)
    return Spectrum(values, scipy.linalg.blas.dgemm(1.0, Q, V))


def low_rank_factor(S, limit):
    """L (n, r) with ``S = L L'`` to rounding for PSD S (n, n), r about `limit` at most; else None.

    None as well where n is small, S is not PSD, or half of `limit` columns foretell more than that: to find out is then
    four times cheaper.
    """
    n, path, halfway = len(S), [], False
    if n < _MANY or limit < 2 * _PIVOTS or not (rounding := _rounding(S)):
        return None
    trace, L = S.trace(), np.empty((n, limit + _PIVOTS), order="F")  # memory that is not written to costs nothing
    for k, left in _pivot_blocks(S, L):
        if left <= _LEFT * rounding:
            break
        path.append((k, math.log(trace / left)))
        if k >= limit:
            return None
        if not halfway and 2 * k >= limit and len(path) > 2:
            halfway = True
            if _foretold(path, math.log(trace / (_LEFT * rounding))) > limit:
                return None
    # what is left has a small trace; that it is small itself follows only where it is PSD, and errors stayed small
    G, L = np.random.default_rng(_SEED).normal(size=(n, _PROBES)), L[:, :k]
    rest = symmetric_product(_by_rows(S), G)
    rest -= scipy.linalg.blas.dgemm(1.0, L, scipy.linalg.blas.dgemm(1.0, L, G, trans_a=1))
    return L if np.linalg.norm(rest) <= math.sqrt(_PROBES) * rounding else None


def expected_rank(S) -> float:
    """About the number of columns that ``low_rank_factor`` would take for PSD S (n, n), from n / 16 of them."""
    n, path = len(S), []
    if n < _MANY or not (rounding := _rounding(S)):
        return n
    trace, number = S.trace(), max(n // 16, 2 * _PIVOTS)
    for k, left in _pivot_blocks(S, np.empty((n, number + _PIVOTS), order="F")):
        if left <= _LEFT * rounding:
            return k
        path.append((k, math.log(trace / left)))
        if k >= number:
            return min(n, _foretold(path, math.log(trace / (_LEFT * rounding))))
    return k


def _foretold(path, goal) -> float:
    """Columns until ``log(trace / left)`` is `goal`, from three pairs (columns, that logarithm) or more.

    It grows about like a power of the number of columns, which the second half of the path gives.
    """
    k, gone = path[-1]
    half, before = min(path[1:-1], key=lambda point: abs(point[0] - k / 2))
    power = max(math.log(gone / before) / math.log(k / half), 0.05)
    return k * (goal / gone) ** (1 / power)


def _rounding(S) -> float:
    """n times the machine's rounding of the largest eigenvalue of PSD S, from below: of ``||S||^2 / trace``.

    0 where that is not known: S is zero, plainly not PSD, out of range, or not of the machine's numbers.
    """
    if S.dtype != float:
        return 0.0
    trace, entries = float(S.trace()), S.ravel(order="K")
    square = float(scipy.linalg.blas.ddot(entries, entries))
    known = trace > 0 and 0 < square < math.inf and math.sqrt(square) <= 1.001 * trace
    return len(S) * _EPS * square / trace if known else 0.0


def _by_rows(S):
    """Symmetric S in numpy's order."""
    return S.T if S.flags.f_contiguous else S


def _pivot_blocks(S, L):
    """Cholesky decomposition with pivots, block by block into L (n, m): yields (columns so far, trace left).

    Candidates are drawn from the large diagonal entries left, a block at once; columns of S are taken, and updated by a
    product of matrices, for these alone: n r^2 operations where LAPACK's dpstrf, which updates all of S, takes n^2 r.
    Random factors keep neighbours in an ordered sample apart, of which one would make the others useless (Chen,
    Epperly, Tropp & Webber 2025 draw all pivots at random). Ends where L is full or errors are all that is left: they
    show in diagonal entries below zero, and smaller pivots would blow them up.
    """
    left, random, k = S.diagonal().copy(), np.random.default_rng(_SEED), 0
    S = _by_rows(S)
    least = _NOISE * _EPS * left.max()
    yield k, left.sum()
    while k + _PIVOTS <= L.shape[1]:
        least = max(least, -_NOISE * left.min())
        if left.max() <= least:
            return
        # no factor takes the largest of all below what counts as large
        candidates = np.argpartition(left * random.uniform(0.3, 1.0, len(S)), -_PIVOTS)[-_PIVOTS:]
        columns = S[candidates].T
        if k:
            update = scipy.linalg.blas.dgemm
            columns = update(-1.0, L[:, :k], L[candidates, :k], 1.0, columns, trans_b=1, overwrite_c=1)
        tolerance = max(_LARGE_PIVOT * left.max(), least)
        factor, order, rank, _ = scipy.linalg.lapack.dpstrf(columns[candidates], lower=1, tol=tolerance)
        if not rank:
            return
        chosen = order[:rank] - 1
        solve, triangle = scipy.linalg.blas.dtrsm, factor[:rank, :rank]
        block = solve(1.0, triangle, columns[:, chosen], side=1, lower=1, trans_a=1, overwrite_b=1)
        L[:, k : k + rank] = block
        left -= np.einsum("ij,ij->i", block, block)
        left[candidates[chosen]] = 0.0
        k += rank
        yield k, left.clip(0.0).sum()


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
    S = np.zeros(K.shape)  # pages that are not written to cost nothing
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


def independent_root(K, tolerance, first=None):
    """Upper triangular R with ``R'R`` = PSD K (n, n) of the rows and columns kept, and which are kept (r,).

    tolerance : pivots below are dropped, as are those below rounding
    first : (k, k) the root of the first k rows and columns, which are kept as they are
    They stay in order unless that makes small pivots; then they are in the order of a decomposition with pivots.
    """
    tolerance = max(tolerance, len(K) * _EPS * K.diagonal().max(initial=0.0))
    k = 0 if first is None else len(first)
    if not k:
        return _independent(K, tolerance)
    beside = scipy.linalg.solve_triangular(first, K[:k, k:], trans="T", check_finite=False)
    further, kept = _independent(K[k:, k:] - beside.T @ beside, tolerance)
    R = np.zeros((k + len(kept),) * 2, order="F")
    R[:k, :k], R[:k, k:], R[k:, k:] = first, beside[:, kept], further
    return R, np.concatenate([np.arange(k), k + kept])


def _independent(K, tolerance):
    R, failed = scipy.linalg.lapack.dpotrf(K, lower=0, clean=1)
    if not failed and R.diagonal().min(initial=np.inf) ** 2 > tolerance:
        return R, np.arange(len(K))
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(K, lower=0, tol=tolerance)
    order = order[:rank] - 1
    kept = np.sort(order)
    R, failed = scipy.linalg.lapack.dpotrf(K[np.ix_(kept, kept)], lower=0, clean=1)
    if failed or R.diagonal().min(initial=np.inf) ** 2 <= tolerance:
        R, kept = np.triu(factor[:rank, :rank]), order
    return np.asfortranarray(R), kept


def solve_triangle(R, B):
    """``B R^-1`` (n, r) for upper triangular R, in the memory of B, C-ordered; in the precision of B."""
    solve = scipy.linalg.blas.strsm if B.dtype == np.float32 else scipy.linalg.blas.dtrsm
    if B.size:
        solve(1.0, np.asarray(R, dtype=B.dtype, order="F"), B.T, lower=0, trans_a=1, overwrite_b=1)
    return B


def row_norms(A):
    """Euclidean norm of each row, shape (n,)."""
    return np.sqrt(np.einsum("ij,ij->i", A, A))


def unit_rows(A):
    """Rows divided by their norms, zero ones as they are; of tiny entries the squares would vanish."""
    scaled = A / np.maximum(np.abs(A).max(axis=1, keepdims=True, initial=0.0), np.finfo(float).tiny)
    norms = row_norms(scaled)
    scaled /= np.where(norms > 0, norms, 1.0)[:, None]
    return scaled


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
