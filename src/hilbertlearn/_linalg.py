"""Linear algebra that several rooms share: Kronecker products, spectra, Cholesky factors, inverses, norms of rows."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy.linalg import get_blas_funcs, get_lapack_funcs

_COPIED_ROWS = 256  # of a matrix at a time: blocks that stay in the cache
_SUMMED = 2**16  # entries whose sum may be single
_MANY = 400  # rows from which on a low rank saves time
_PIVOTS = 64  # candidates at a time
_LARGE_PIVOT = 0.2  # of the largest diagonal entry: smaller pivots wait, since they blow up errors
_LEFT = 0.1  # of what counts as rounding: how much a factor of low rank may leave out
_NOISE = 4  # times the errors: the least that pivots are
_PROBES = 3  # random vectors that a factor is tried on
_SEED = 271828  # of these; not one that data are drawn with
# What counts as rounding in eigenvalues of float32, in units of its machine epsilon; n units would be more than the
# penalties that are useful, see ``rounding_of``.
_SINGLE_ROUNDING = 2.0
_SINGLE_LEFT = 8.0  # in these units, the share of the trace that a factor of low rank may leave out


def rounding_of(S) -> float:
    """What counts as rounding in the eigenvalues of PSD S (n, n), relative to the largest.

    In double precision n times the machine's, a bound that costs nothing. In single precision that bound would be as
    large as useful penalties; errors are a few times the machine's, and whoever solves with them refines.
    """
    eps = float(np.finfo(S.dtype).eps)
    return _SINGLE_ROUNDING * eps if S.dtype == np.float32 else len(S) * eps


def exact(A):
    """A in double precision, itself where it is."""
    return A.astype(np.float64, copy=False)


def in_dtype(A, dtype):
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

    rounding : what counts as such, relative to the largest eigenvalue; None is that of ``rounding_of``
    The values of a product are not in order, but the last is the largest. A rank of less than half of n is found by the
    way, in a fraction of the time; where there is none, looking for it takes a few hundredths of the time.
    """
    if isinstance(S, Kronecker):
        parts = [(np.ones(f), f) if isinstance(f, int) else spectrum(f) for f in S.factors]
        return Spectrum(reduce(np.kron, (values for values, _ in parts)), Kronecker(vectors for _, vectors in parts))
    rounding = rounding_of(S) if rounding is None else rounding
    low = low_rank_spectrum(S, 1 / 2) if rounding >= rounding_of(S) else None
    return full_spectrum(S, rounding) if low is None else _above(low, rounding)


def full_spectrum(S, rounding=None) -> Spectrum:
    """As ``spectrum``, whatever the rank."""
    values, vectors = scipy.linalg.eigh(S, driver="evd", check_finite=False)
    return _above(Spectrum(values, vectors), rounding_of(S) if rounding is None else rounding)


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


def low_rank_factor(S, limit):
    """L (n, r) with ``S = L L'`` to rounding for PSD S (n, n), r about `limit` at most; else None.

    None as well where n is small, S is not PSD, or half of `limit` columns foretell more than that: to find out is then
    four times cheaper.
    """
    n, path, halfway = len(S), [], False
    if n < _MANY or limit < 2 * _PIVOTS or not (rounding := _rounding(S)):
        return None
    # memory that is not written to costs nothing
    trace, L = _trace(S), np.empty((n, limit + _PIVOTS), dtype=S.dtype, order="F")
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
    G, L = np.random.default_rng(_SEED).normal(size=(n, _PROBES)).astype(S.dtype), L[:, :k]
    rest, gemm = symmetric_product(_by_rows(S), G), get_blas_funcs("gemm", (L,))
    rest -= gemm(1.0, L, gemm(1.0, L, G, trans_a=1))
    return L if np.linalg.norm(rest) <= math.sqrt(_PROBES) * rounding else None


def expected_rank(S) -> float:
    """About the number of columns that ``low_rank_factor`` would take for PSD S (n, n), from n / 16 of them."""
    n, path = len(S), []
    if n < _MANY or not (rounding := _rounding(S)):
        return n
    trace, number = _trace(S), max(n // 16, 2 * _PIVOTS)
    for k, left in _pivot_blocks(S, np.empty((n, number + _PIVOTS), dtype=S.dtype, order="F")):
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

    In single precision a few roundings of the trace: no less than errors of kernel values leave of it. 0 where that is
    not known: S is zero, plainly not PSD, out of range, or not of the machine's numbers.
    """
    if S.dtype not in (np.float64, np.float32):
        return 0.0
    trace, eps = _trace(S), float(np.finfo(S.dtype).eps)
    square = _square_sum(S)
    known = trace > 0 and 0 < square < math.inf and math.sqrt(square) <= 1.001 * trace
    if not known:
        return 0.0
    return _SINGLE_LEFT * eps * trace if S.dtype == np.float32 else len(S) * eps * square / trace


def _trace(S) -> float:
    return float(S.trace(dtype=np.float64))


def _square_sum(S) -> float:
    """Sum of squares of the entries, of single precision in parts whose sums are double."""
    entries = S.ravel(order="K")
    inner = get_blas_funcs("dot", (entries,))
    if S.dtype == np.float64:
        return float(inner(entries, entries))
    parts = (entries[start : start + _SUMMED] for start in range(0, entries.size, _SUMMED))
    return sum(float(inner(part, part)) for part in parts)


def _by_rows(S):
    """Symmetric S in numpy's order."""
    return S.T if S.flags.f_contiguous else S


def _pivot_blocks(S, L):
    """``pivot_blocks`` of a stored matrix: yields (columns so far, trace left)."""
    rows = _by_rows(S)
    for pivots, left in pivot_blocks(lambda positions: rows[positions].T, S.diagonal(), L):
        yield len(pivots), left


def pivot_blocks(columns, diagonal, L):
    """Cholesky decomposition with pivots, block by block into L (n, m): yields (pivots so far (k,), trace left).

    columns : function of positions (b,) that gives these columns (n, b) of a PSD matrix, which is never asked for whole
    diagonal : (n,)

    Candidates are drawn from the large diagonal entries left, a block at once; columns are taken, and updated by a
    product of matrices, for these alone: n r^2 operations where LAPACK's pstrf, which updates all of S, takes n^2 r.
    Random factors keep neighbours in an ordered sample apart, of which one would make the others useless. Ends where L
    is full or errors are all that is left: they show in diagonal entries below zero, and smaller pivots would blow
    them up. For a factor to rounding; ``random_pivots`` is for one that leaves something out.
    """
    left, random, pivots = np.array(diagonal, dtype=float), np.random.default_rng(_SEED), np.empty(0, dtype=int)
    pstrf = get_lapack_funcs("pstrf", (L,))
    least = _NOISE * float(np.finfo(L.dtype).eps) * left.max()
    yield pivots, left.sum()
    while len(pivots) + _PIVOTS <= L.shape[1]:
        least = max(least, -_NOISE * left.min())
        if left.max() <= least:
            return
        # no factor takes the largest of all below what counts as large
        candidates = np.argpartition(left * random.uniform(0.3, 1.0, len(left)), -_PIVOTS)[-_PIVOTS:]
        residual = _residual_columns(columns, L[:, : len(pivots)], candidates)
        tolerance = max(_LARGE_PIVOT * left.max(), least)
        factor, order, rank, _ = pstrf(residual[candidates], lower=1, tol=tolerance)
        if not rank:
            return
        chosen = order[:rank] - 1
        new = L[:, len(pivots) : len(pivots) + rank]
        _eliminate(residual[:, chosen], factor[:rank, :rank], candidates[chosen], new, left)
        pivots = np.concatenate([pivots, candidates[chosen]])
        yield pivots, left.clip(0.0).sum()


def random_pivots(columns, diagonal, L, weights=None, tolerance=0.0):
    """As ``pivot_blocks``, for a factor that leaves something out: pivots are drawn by what is left of the diagonal.

    The trace left is that of the best approximation of nearly the same rank, in the mean, whatever the matrix; the
    largest entries left, in their place, may be outliers that tell of nothing else (Chen, Epperly, Tropp & Webber
    2025). A block of proposals is thinned out by rejection, so that pivots are distributed as if they were drawn one
    after the other (Epperly, Tropp & Webber 2025). Draws are the same each time.

    weights : (n,) of the rows in the trace, which then is ``sum_i w_i left_i``; default ones
    tolerance : what is left of every diagonal entry, relative to the largest, when it stops before L is full
    """
    left, random, pivots = np.array(diagonal, dtype=float), np.random.default_rng(_SEED), np.empty(0, dtype=int)
    weights = np.ones(len(left)) if weights is None else weights
    least = max(_NOISE * float(np.finfo(L.dtype).eps), tolerance) * left.max(initial=0.0)
    yield pivots, weights @ left
    while (free := L.shape[1] - len(pivots)) > 0:
        least = max(least, -_NOISE * left.min())
        chances = np.where(left > least, weights * left, 0.0)
        if not chances.any():
            return
        ends = np.cumsum(chances)
        draws = np.searchsorted(ends, ends[-1] * random.random(min(_PIVOTS, free)), side="right")
        draws = np.minimum(draws, np.flatnonzero(chances)[-1])  # where a draw is rounded to the very end
        _, first = np.unique(draws, return_index=True)
        candidates = draws[np.sort(first)]  # a second draw of the same has nothing left to be accepted by
        residual = _residual_columns(columns, L[:, : len(pivots)], candidates)
        chosen, triangle = _accepted(residual[candidates], random, least)
        new = L[:, len(pivots) : len(pivots) + len(chosen)]
        _eliminate(residual[:, chosen], triangle, candidates[chosen], new, left)
        pivots = np.concatenate([pivots, candidates[chosen]])
        yield pivots, weights @ left.clip(0.0)


def _accepted(S, random, least):
    """Which of proposals with the matrix S (b, b) are pivots, each by the share that is left of it after those before.

    Their positions (r,) and their Cholesky factor (r, r). The first is always one.
    """
    before, left, factor = S.diagonal().copy(), S.diagonal().copy(), np.zeros_like(S)
    chosen: list[int] = []
    for i in range(len(S)):
        if i and not (left[i] > least and random.random() * before[i] < left[i]):
            continue
        k = len(chosen)
        column = (S[:, i] - factor[:, :k] @ factor[i, :k]) / math.sqrt(max(left[i], least))
        factor[:, k] = column
        left -= column**2
        chosen.append(i)
    return np.array(chosen), np.tril(factor[np.ix_(chosen, range(len(chosen)))])


def _residual_columns(columns, L, candidates):
    """Columns (n, b) of what is left of a matrix after ``L L'``, in LAPACK's order."""
    found = np.asfortranarray(columns(candidates), dtype=L.dtype)
    if not L.shape[1]:
        return found
    return get_blas_funcs("gemm", (L,))(-1.0, L, L[candidates], 1.0, found, trans_b=1)


def _eliminate(residual, triangle, pivots, new, left):
    """Write the columns of a factor for pivots into `new`, and take their squares from the diagonal left.

    residual : (n, r) columns of what is left, at the pivots
    triangle : (r, r) the Cholesky factor of their entries
    """
    new[:] = get_blas_funcs("trsm", (new,))(1.0, triangle, residual, side=1, lower=1, trans_a=1)
    left -= np.einsum("ij,ij->i", new, new)
    left[pivots] = 0.0


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
    pstrf = get_lapack_funcs("pstrf", (K,))
    factor, order, rank, _ = pstrf(K, lower=1, tol=tolerance * max(K.diagonal().max(), 0.0))
    L = np.empty((len(K), rank), dtype=K.dtype)
    L[order - 1] = np.tril(factor)[:, :rank]
    return L, order[:rank] - 1


def independent_root(K, tolerance, first=None):
    """Upper triangular R with ``R'R`` = PSD K (n, n) of the rows and columns kept, and which are kept (r,).

    tolerance : pivots below are dropped, as are those below rounding
    first : (k, k) the root of the first k rows and columns, which are kept as they are
    They stay in order unless that makes small pivots; then they are in the order of a decomposition with pivots.
    """
    tolerance = max(tolerance, len(K) * np.finfo(float).eps * K.diagonal().max(initial=0.0))
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
    A = exact(A)
    return np.sqrt(np.einsum("ij,ij->i", A, A))


def unit_rows(A):
    """Rows divided by their norms, zero ones as they are; of tiny entries the squares would vanish."""
    scaled = A / np.maximum(np.abs(A).max(axis=1, keepdims=True, initial=0.0), np.finfo(float).tiny)
    norms = row_norms(scaled)
    scaled /= np.where(norms > 0, norms, 1.0)[:, None]
    return scaled


def dot(A, B) -> float:
    """Sum of products of entries; arrays from LAPACK are in another order than numpy's, and vdot would copy them."""
    A, B = exact(A), exact(B)
    return float(np.vdot(A, B) if A.flags.c_contiguous and B.flags.c_contiguous else np.einsum("ij,ij->", A, B))


def norm(A) -> float:
    """Euclidean norm of all entries."""
    return float(np.linalg.norm(exact(A)))


# numpy and scipy bring a BLAS each. Between factorisations, which are scipy's, waking up the threads of numpy's costs
# more than the product itself.


def symmetric_product(K, A, scale=1.0):
    """``scale K A`` for symmetric K, by the BLAS that factors."""
    if K.dtype != A.dtype:
        return product(K, scale * A)
    return get_blas_funcs("gemm", (K, A))(scale, K.T, A)  # the transpose of K is in LAPACK's order


def product(K, A):
    """``K A``; of single K and double A in double precision, without a copy of all of K."""
    if K.dtype == A.dtype:
        return K @ A
    out = np.empty((len(K), A.shape[1]), dtype=np.result_type(K, A))
    for start in range(0, len(K), _COPIED_ROWS):
        rows = slice(start, start + _COPIED_ROWS)
        out[rows] = K[rows].astype(out.dtype) @ A
    return out


def transposed_times(Q, b):
    """``Q.T @ b`` for a vector b, by the BLAS that factors."""
    return get_blas_funcs("gemv", (Q,))(1.0, Q.T, b)
