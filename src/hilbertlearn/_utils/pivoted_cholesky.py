"""Cholesky decompositions with pivots of PSD matrices: factors of low rank, landmarks, what is independent."""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg
from scipy.linalg import get_blas_funcs, get_lapack_funcs

_SUMMED = 2**16  # entries whose sum may be single
_MANY = 400  # rows from which on a low rank saves time
_PIVOTS = 64  # candidates at a time
_LARGE_PIVOT = 0.2  # of the largest diagonal entry: smaller pivots wait, since they blow up errors
_FAR_MORE = 3  # times the columns that are worth it: foretold early, with little to go by
_LEFT = 0.1  # of what counts as rounding: how much a factor of low rank may leave out
_NOISE = 4  # times the errors: the least that pivots are
_PROBES = 3  # random vectors that a factor is tried on
_SEED = 271828  # of these; not one that data are drawn with
_SINGLE_LEFT = 8.0  # times the machine epsilon of float32: share of the trace that a factor of low rank may leave out


def low_rank_factor(S, limit):
    """L (n, r) with ``S = L L'`` to rounding for PSD S (n, n), r about `limit` at most; else None.

    None as well where n is small, S is not PSD, or the first columns foretell more than that: a quarter of `limit` if
    it is far more, else half of it. To find out is then 16 or four times cheaper.
    """
    n, path = len(S), []
    if n < _MANY or limit < 2 * _PIVOTS or not (rounding := _rounding(S)):
        return None
    stages = [(limit / 4, _FAR_MORE * limit), (limit / 2, limit)]  # columns, and how many more they may foretell
    # memory that is not written to costs nothing
    trace, L = _trace(S), np.empty((n, limit + _PIVOTS), dtype=S.dtype, order="F")
    for k, left in _pivot_blocks(S, L):
        if left <= _LEFT * rounding:
            break
        path.append((k, math.log(trace / left)))
        if k >= limit:
            return None
        if stages and k >= stages[0][0] and len(path) > 2:
            if _foretold(path, math.log(trace / (_LEFT * rounding))) > stages[0][1]:
                return None
            stages = stages[1:]
    # what is left has a small trace; that it is small itself follows only where it is PSD, and errors stayed small
    G, L = np.random.default_rng(_SEED).normal(size=(n, _PROBES)).astype(S.dtype), L[:, :k]
    gemm = get_blas_funcs("gemm", (L,))
    rest = gemm(1.0, _by_rows(S).T, G)  # the transpose is in LAPACK's order
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


def random_pivots(columns, diagonal, L, weights=None, tolerance=0.0, random=None, given=(), entries=None):
    """As ``pivot_blocks``, for a factor that leaves something out: pivots are drawn by what is left of the diagonal.

    The trace left is that of the best approximation of nearly the same rank, in the mean, whatever the matrix; the
    largest entries left, in their place, may be outliers that tell of nothing else (Chen, Epperly, Tropp & Webber
    2025). A block of proposals is thinned out by rejection, so that pivots are distributed as if they were drawn one
    after the other (Epperly, Tropp & Webber 2025).

    weights : (n,) of the rows in the trace, which then is ``sum_i w_i left_i``; default ones
    tolerance : what is left of every diagonal entry, relative to the largest, when it stops before L is full
    random : generator of numpy that is drawn from; None for draws that are the same each time
    given : positions (g,) of the first pivots, g <= m, of which those that depend on others are left out
    entries : function of positions (b,) that gives the entries (b, b) between them; columns are then asked for pivots
        alone, not for all proposals, of which half may be refused
    """
    left, pivots = np.array(diagonal, dtype=float), np.empty(0, dtype=int)
    random = np.random.default_rng(_SEED) if random is None else random
    weights = np.ones(len(left)) if weights is None else weights
    least = max(_NOISE * float(np.finfo(L.dtype).eps), tolerance) * left.max(initial=0.0)
    if len(given):
        pivots = _eliminate_independent(columns, np.asarray(given), L, 0, left, least)
    yield pivots, weights @ left
    while (free := L.shape[1] - len(pivots)) > 0:
        least = max(least, -_NOISE * left.min())
        chances = np.where(left > least, weights * left, 0.0)
        if not chances.any():
            return
        candidates = _proposals(chances, min(_PIVOTS, free), random)
        k = len(pivots)
        if entries is None:
            residual = _residual_columns(columns, L[:, :k], candidates)
            chosen, triangle = _accepted(residual[candidates], random, least)
            further = candidates[chosen]
            _eliminate(residual[:, chosen], triangle, further, L[:, k : k + len(chosen)], left)
        else:
            own = L[candidates, :k].astype(float)
            chosen, _ = _accepted(entries(candidates) - own @ own.T, random, least)
            further = _eliminate_independent(columns, candidates[chosen], L, k, left, least)
        pivots = np.concatenate([pivots, further])
        yield pivots, weights @ left.clip(0.0)


def _eliminate_independent(columns, pivots, L, k, left, least):
    """Write the columns for further pivots into L after the first k; those (r,) that are independent to rounding."""
    residual = _residual_columns(columns, L[:, :k], pivots)
    root, kept = independent_root(residual[pivots].astype(float), least)
    if len(kept):
        _eliminate(residual[:, kept], root.T, pivots[kept], L[:, k : k + len(kept)], left)
    left[pivots] = 0.0  # of the others too: nothing of them is left but rounding
    return pivots[kept]


def _proposals(chances, number, random):
    """Distinct positions in the order of so many draws: a second draw of the same has nothing to be accepted by."""
    ends = np.cumsum(chances)
    draws = np.searchsorted(ends, ends[-1] * random.random(number), side="right")
    draws = np.minimum(draws, np.flatnonzero(chances)[-1])  # where a draw is rounded to the very end
    _, first = np.unique(draws, return_index=True)
    return draws[np.sort(first)]


def _accepted(S, random, least):
    """Which of proposals with the matrix S (b, b) are pivots, each by the share that is left of it after those before.

    Their positions (r,) and their Cholesky factor (r, r), in double precision. The first is always one.
    """
    S = S.astype(float, copy=False)
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
