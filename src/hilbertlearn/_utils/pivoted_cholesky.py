"""Pivoted Cholesky decompositions of PSD matrices: factors of low rank, landmarks, independent rows.

The *residual* of a factor L is ``S - L L'``; its diagonal and its trace measure the error of the factor.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg
from scipy.linalg import get_blas_funcs, get_lapack_funcs

_SUMMED_ENTRIES = 2**16  # entries whose squares are summed in float32; sums of parts are added in float64
_SMALLEST_SIZE = 400  # rows below which a factor of low rank saves no time
_PIVOTS = 64  # candidates per block
_LARGE_PIVOT = 0.2  # smallest pivot of a block, relative to the largest diagonal entry; smaller ones amplify errors
_EARLY_FACTOR = 3  # the first extrapolation of the rank is uncertain: it may exceed the limit by this factor
_RESIDUAL_SHARE = 0.1  # largest trace of the residual of a factor of low rank, as a share of the rounding error
_SMALLEST_PIVOT = 4  # smallest pivot as a multiple of the errors
_PROBES = 3  # random vectors that test a factor
_SEED = 271828  # of probes and pivots; unusual, so that data are not drawn with the same one
_FLOAT32_ROUNDING = 8.0  # rounding error of the trace in float32, in units of its machine epsilon


def low_rank_factor(S, limit):
    """L (n, r) with ``S = L L'`` up to rounding for PSD S (n, n), r at most about `limit`; None if there is none.

    None also if n is small or S is not PSD. The rank is extrapolated after `limit` / 4 and `limit` / 2 columns. If it
    exceeds the limit, the decomposition stops there, at a sixteenth or a quarter of the cost.
    """
    n, path = len(S), []
    if n < _SMALLEST_SIZE or limit < 2 * _PIVOTS or not (rounding := _rounding(S)):
        return None
    stages = [(limit / 4, _EARLY_FACTOR * limit), (limit / 2, limit)]  # columns, largest extrapolated rank
    trace, L = _trace(S), np.empty((n, limit + _PIVOTS), dtype=S.dtype, order="F")
    for k, residual_trace in _pivot_blocks(S, L):
        if residual_trace <= _RESIDUAL_SHARE * rounding:
            break
        path.append((k, math.log(trace / residual_trace)))
        if k >= limit:
            return None
        if stages and k >= stages[0][0] and len(path) > 2:
            if _extrapolate_rank(path, math.log(trace / (_RESIDUAL_SHARE * rounding))) > stages[0][1]:
                return None
            stages = stages[1:]
    # a small trace of the residual implies that it is small only if it is PSD; random vectors test that
    G, L = np.random.default_rng(_SEED).normal(size=(n, _PROBES)).astype(S.dtype), L[:, :k]
    gemm = get_blas_funcs("gemm", (L,))
    residual = gemm(1.0, _by_rows(S).T, G)  # the transpose is in LAPACK's order
    residual -= gemm(1.0, L, gemm(1.0, L, G, trans_a=1))
    return L if np.linalg.norm(residual) <= math.sqrt(_PROBES) * rounding else None


def expected_rank(S) -> float:
    """The approximate rank of ``low_rank_factor`` for PSD S (n, n), extrapolated from n / 16 columns."""
    n, path = len(S), []
    if n < _SMALLEST_SIZE or not (rounding := _rounding(S)):
        return n
    trace, number = _trace(S), max(n // 16, 2 * _PIVOTS)
    for k, residual_trace in _pivot_blocks(S, np.empty((n, number + _PIVOTS), dtype=S.dtype, order="F")):
        if residual_trace <= _RESIDUAL_SHARE * rounding:
            return k
        path.append((k, math.log(trace / residual_trace)))
        if k >= number:
            return min(n, _extrapolate_rank(path, math.log(trace / (_RESIDUAL_SHARE * rounding))))
    return k


def _extrapolate_rank(path, goal) -> float:
    """The number of columns at which ``log(trace / residual trace)`` is `goal`.

    path : at least three pairs (columns, that logarithm), which grows like a power of the number of columns
    The power is estimated from the second half of the path.
    """
    k, value = path[-1]
    middle, middle_value = min(path[1:-1], key=lambda point: abs(point[0] - k / 2))
    power = max(math.log(value / middle_value) / math.log(k / middle), 0.05)
    return k * (goal / value) ** (1 / power)


def _rounding(S) -> float:
    """The rounding error of PSD S: ``n eps ||S||^2 / trace``; the quotient is at most the largest eigenvalue.

    In float32 it is a few roundings of the trace, because kernel values have errors of that size. It is 0, for unknown,
    if S is zero, not PSD by its norm and trace, out of range, or of another dtype.
    """
    if S.dtype not in (np.float64, np.float32):
        return 0.0
    trace, eps = _trace(S), float(np.finfo(S.dtype).eps)
    square = _square_sum(S)
    is_known = trace > 0 and 0 < square < math.inf and math.sqrt(square) <= 1.001 * trace
    if not is_known:
        return 0.0
    return _FLOAT32_ROUNDING * eps * trace if S.dtype == np.float32 else len(S) * eps * square / trace


def _trace(S) -> float:
    return float(S.trace(dtype=np.float64))


def _square_sum(S) -> float:
    """Sum of squares of the entries; in float32 by parts whose sums are added in float64."""
    entries = S.ravel(order="K")
    inner = get_blas_funcs("dot", (entries,))
    if S.dtype == np.float64:
        return float(inner(entries, entries))
    parts = (entries[start : start + _SUMMED_ENTRIES] for start in range(0, entries.size, _SUMMED_ENTRIES))
    return sum(float(inner(part, part)) for part in parts)


def _by_rows(S):
    """Symmetric S, contiguous by rows."""
    return S.T if S.flags.f_contiguous else S


def _pivot_blocks(S, L):
    """``pivot_blocks`` of a stored matrix: yields (columns so far, trace of the residual)."""
    rows = _by_rows(S)
    for pivots, residual_trace in pivot_blocks(lambda positions: rows[positions].T, S.diagonal(), L):
        yield len(pivots), residual_trace


def pivot_blocks(columns, diagonal, L):
    """Pivoted Cholesky decomposition, block by block into L (n, m): yields (pivots (k,), trace of the residual).

    columns : function of positions (b,) that returns these columns (n, b) of a PSD matrix
    diagonal : (n,)

    A block of candidates has large diagonal entries of the residual. Only their columns are computed, and updated by a
    product of matrices: O(n r^2) operations, where LAPACK's pstrf updates all of S in O(n^2 r). Random factors separate
    neighbours in an ordered sample, of which one pivot makes the others useless. The decomposition ends if L is full,
    or if the residual consists of errors, which show as negative diagonal entries and which smaller pivots would
    amplify. Use it for factors up to rounding, and ``random_pivots`` for coarser ones.
    """
    residual_diagonal, random, pivots = (
        np.array(diagonal, dtype=float),
        np.random.default_rng(_SEED),
        np.empty(0, dtype=int),
    )
    pstrf = get_lapack_funcs("pstrf", (L,))
    smallest = _SMALLEST_PIVOT * float(np.finfo(L.dtype).eps) * residual_diagonal.max()
    yield pivots, residual_diagonal.sum()
    while len(pivots) + _PIVOTS <= L.shape[1]:
        smallest = max(smallest, -_SMALLEST_PIVOT * residual_diagonal.min())
        if residual_diagonal.max() <= smallest:
            return
        # factors are at least 0.3 > _LARGE_PIVOT, so that the largest entry counts as large
        candidates = np.argpartition(residual_diagonal * random.uniform(0.3, 1.0, len(residual_diagonal)), -_PIVOTS)[
            -_PIVOTS:
        ]
        residual = _residual_columns(columns, L[:, : len(pivots)], candidates)
        tolerance = max(_LARGE_PIVOT * residual_diagonal.max(), smallest)
        factor, order, rank, _ = pstrf(residual[candidates], lower=1, tol=tolerance)
        if not rank:
            return
        accepted = order[:rank] - 1
        new = L[:, len(pivots) : len(pivots) + rank]
        _eliminate(residual[:, accepted], factor[:rank, :rank], candidates[accepted], new, residual_diagonal)
        pivots = np.concatenate([pivots, candidates[accepted]])
        yield pivots, residual_diagonal.clip(0.0).sum()


def random_pivots(columns, diagonal, L, weights=None, tolerance=0.0, random=None, initial=(), entries=None):
    """As ``pivot_blocks`` for an approximation: pivots are drawn in proportion to the diagonal of the residual.

    For any matrix the mean trace of the residual is close to that of the best approximation of the same rank; pivots at
    the largest entries may be outliers that approximate nothing else (Chen, Epperly, Tropp & Webber 2025). Rejection
    from a block of proposals gives the distribution of draws one after the other (Epperly, Tropp & Webber 2025).

    weights : (n,) of the rows in the trace, ``sum_i w_i residual_ii``; default ones
    tolerance : stop once all diagonal entries of the residual are at most this share of the largest of the matrix
    random : generator of numpy; None for the same draws in each call
    initial : positions (g,) of the first pivots, g <= m; dependent ones are dropped
    entries : function of positions (b,) that returns the entries (b, b) between them. Columns are then computed for
        pivots only, and not for all proposals, of which half may be rejected.
    """
    residual_diagonal, pivots = np.array(diagonal, dtype=float), np.empty(0, dtype=int)
    random = np.random.default_rng(_SEED) if random is None else random
    weights = np.ones(len(residual_diagonal)) if weights is None else weights
    smallest = max(_SMALLEST_PIVOT * float(np.finfo(L.dtype).eps), tolerance) * residual_diagonal.max(initial=0.0)
    if len(initial):
        pivots = _eliminate_independent(columns, np.asarray(initial), L, 0, residual_diagonal, smallest)
    yield pivots, weights @ residual_diagonal
    while (free := L.shape[1] - len(pivots)) > 0:
        smallest = max(smallest, -_SMALLEST_PIVOT * residual_diagonal.min())
        probabilities = np.where(residual_diagonal > smallest, weights * residual_diagonal, 0.0)
        if not probabilities.any():
            return
        candidates = _proposals(probabilities, min(_PIVOTS, free), random)
        k = len(pivots)
        if entries is None:
            residual = _residual_columns(columns, L[:, :k], candidates)
            accepted, triangle = _accepted(residual[candidates], random, smallest)
            further = candidates[accepted]
            _eliminate(residual[:, accepted], triangle, further, L[:, k : k + len(accepted)], residual_diagonal)
        else:
            rows = L[candidates, :k].astype(float)
            accepted, _ = _accepted(entries(candidates) - rows @ rows.T, random, smallest)
            further = _eliminate_independent(columns, candidates[accepted], L, k, residual_diagonal, smallest)
        pivots = np.concatenate([pivots, further])
        yield pivots, weights @ residual_diagonal.clip(0.0)


def _eliminate_independent(columns, pivots, L, k, residual_diagonal, smallest):
    """Write columns for the independent pivots into L after the first k; returns these pivots (r,)."""
    residual = _residual_columns(columns, L[:, :k], pivots)
    root, independent = independent_root(residual[pivots].astype(float), smallest)
    if len(independent):
        _eliminate(
            residual[:, independent], root.T, pivots[independent], L[:, k : k + len(independent)], residual_diagonal
        )
    residual_diagonal[pivots] = 0.0  # also of the dependent ones, whose residual is rounding
    return pivots[independent]


def _proposals(probabilities, number, random):
    """Distinct positions in the order of `number` draws; a repeated draw would be rejected."""
    ends = np.cumsum(probabilities)
    draws = np.searchsorted(ends, ends[-1] * random.random(number), side="right")
    draws = np.minimum(draws, np.flatnonzero(probabilities)[-1])  # a draw may be rounded to the end
    _, first = np.unique(draws, return_index=True)
    return draws[np.sort(first)]


def _accepted(S, random, smallest):
    """Positions (r,) of the accepted proposals with the matrix S (b, b), and their Cholesky factor (r, r) in float64.

    A proposal is accepted with the share of its diagonal entry that remains after the earlier ones; the first always.
    """
    S = S.astype(float, copy=False)
    diagonal, residual_diagonal, factor = S.diagonal().copy(), S.diagonal().copy(), np.zeros_like(S)
    accepted: list[int] = []
    for i in range(len(S)):
        if i and not (residual_diagonal[i] > smallest and random.random() * diagonal[i] < residual_diagonal[i]):
            continue
        k = len(accepted)
        column = (S[:, i] - factor[:, :k] @ factor[i, :k]) / math.sqrt(max(residual_diagonal[i], smallest))
        factor[:, k] = column
        residual_diagonal -= column**2
        accepted.append(i)
    return np.array(accepted), np.tril(factor[np.ix_(accepted, range(len(accepted)))])


def _residual_columns(columns, L, candidates):
    """Columns (n, b) of the residual of a factor, in Fortran order."""
    values = np.asfortranarray(columns(candidates), dtype=L.dtype)
    if not L.shape[1]:
        return values
    return get_blas_funcs("gemm", (L,))(-1.0, L, L[candidates], 1.0, values, trans_b=1)


def _eliminate(residual, triangle, pivots, new, residual_diagonal):
    """Write the columns of a factor for pivots into `new`, and subtract their squares from the residual's diagonal.

    residual : (n, r) columns of the residual at the pivots
    triangle : (r, r) the Cholesky factor of their entries
    """
    new[:] = get_blas_funcs("trsm", (new,))(1.0, triangle, residual, side=1, lower=1, trans_a=1)
    residual_diagonal -= np.einsum("ij,ij->i", new, new)
    residual_diagonal[pivots] = 0.0


def pivoted_cholesky(K, tolerance):
    """Factor L (n, r) with ``K = L L'`` up to the tolerance, and the pivots (r,), whose rows of L are lower triangular.

    tolerance : largest diagonal entry of the residual, relative to the largest of K
    """
    pstrf = get_lapack_funcs("pstrf", (K,))
    factor, order, rank, _ = pstrf(K, lower=1, tol=tolerance * max(K.diagonal().max(), 0.0))
    L = np.empty((len(K), rank), dtype=K.dtype)
    L[order - 1] = np.tril(factor)[:, :rank]
    return L, order[:rank] - 1


def independent_root(K, tolerance, first=None):
    """Upper triangular R with ``R'R = K[i][:, i]`` for PSD K (n, n) and independent positions i (r,); returns both.

    tolerance : pivots below it, or below rounding, are dropped
    first : (k, k) the root of the first k rows and columns, which are all kept
    Positions are in increasing order, or in the order of pivots if the increasing order has small pivots.
    """
    tolerance = max(tolerance, len(K) * np.finfo(float).eps * K.diagonal().max(initial=0.0))
    k = 0 if first is None else len(first)
    if not k:
        return _independent(K, tolerance)
    off_diagonal = scipy.linalg.solve_triangular(first, K[:k, k:], trans="T", check_finite=False)
    last, independent = _independent(K[k:, k:] - off_diagonal.T @ off_diagonal, tolerance)
    R = np.zeros((k + len(independent),) * 2, order="F")
    R[:k, :k], R[:k, k:], R[k:, k:] = first, off_diagonal[:, independent], last
    return R, np.concatenate([np.arange(k), k + independent])


def _independent(K, tolerance):
    R, failed = scipy.linalg.lapack.dpotrf(K, lower=0, clean=1)
    if not failed and R.diagonal().min(initial=np.inf) ** 2 > tolerance:
        return R, np.arange(len(K))
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(K, lower=0, tol=tolerance)
    order = order[:rank] - 1
    independent = np.sort(order)
    R, failed = scipy.linalg.lapack.dpotrf(K[np.ix_(independent, independent)], lower=0, clean=1)
    if failed or R.diagonal().min(initial=np.inf) ** 2 <= tolerance:
        R, independent = np.triu(factor[:rank, :rank]), order
    return np.asfortranarray(R), independent
