"""The box-constrained dual of the hinge: exchanges of sets of samples between the bounds and the inside."""

from __future__ import annotations

import numpy as np

from ..._utils.linalg import transposed_times
from . import interior_point
from .requirements import BOUNDED_MARGIN_LOSS
from .solution import IterationMonitor, Solution

REQUIRES = (BOUNDED_MARGIN_LOSS,)

_MAX_INTERIOR_POINT = 400  # samples up to which the interior-point method is as fast as exchanges
_HALF_TOL = 1e-3  # relative gap of the problem with half of the samples; it only gives a starting point
_ROUNDS = 60  # exchanges at most; then the interior-point method continues
_PATIENCE = 8  # rounds without fewer misplaced samples after which exchanges are taken to cycle
_MARGIN_SHARE = 0.01  # share of the samples, those nearest to the margin, that start strictly inside the box
_GROWTH = 0.5  # samples that may join those inside in one round, relative to their number
_MIN_JOINING = 50  # samples that may join in any case


def cost(problem, factors):
    """Several small systems, together about one Cholesky factorisation of all samples."""
    return len(problem.Y) ** 3 / 6


def solve(problem, *, tol=1e-6, max_iter=1000, init=None, callback=None, factors=None) -> Solution:
    """minimise ``b' Q b / 2 - <w, b>`` over ``0 <= b <= w`` (b and w scaled by 1/sqrt(w) when there are weights).

    Few samples are strictly inside the box at the optimum. Once these are known, a small linear system gives their
    values. The first guess comes from ``init``, or from the same problem with half of the samples. Exchanges between
    bounds and inside improve it. An interior-point method takes over where exchanges cycle.
    """
    Q = problem.separable_term.gram.dense() / problem.penalty
    upper = np.ones(len(Q)) if problem.root_weights is None else problem.root_weights
    b = np.clip(upper if init is None else init[:, 0], 0.0, upper)

    def gap(b, Qb):
        return problem.gap(b[:, None], Qb[:, None])

    monitor = IterationMonitor(callback)
    options = {"tol": tol, "max_iter": max_iter, "callback": monitor}
    best_gap = gap(b, transposed_times(Q, b))
    history = [best_gap]
    if best_gap > tol and (init is not None or len(Q) > _MAX_INTERIOR_POINT):
        low, high = (b <= 0, b >= upper) if init is not None else _guess_from_half(problem, upper)
        b, best_gap, history = _exchange(Q, upper, gap, low, high, **options)
    if best_gap > tol and len(history) <= max_iter and not monitor.stopped:
        options["max_iter"] = max_iter - len(history) + 1
        b, best_gap, gaps = interior_point.minimise(Q, upper, gap, b, **options)
        history += gaps[1:]
    return Solution(b[:, None], best_gap, len(history) - 1, best_gap <= tol, history, stopped=monitor.stopped)


def _guess_from_half(problem, upper):
    """Masks (n,) of samples that may be at 0 and at the upper bound, from the margins of a model of half of them."""
    K = problem.separable_term.gram.dense()
    rows = np.sort(np.random.default_rng(0).permutation(len(K))[: len(K) // 2])
    part = problem.take(rows, share=float((upper[rows] ** 2).sum() / (upper**2).sum()))
    b = solve(part, tol=_HALF_TOL).dual[:, 0]
    excess = transposed_times(K[rows], b) / part.penalty - upper
    on_margin = np.abs(excess) <= np.quantile(np.abs(excess), _MARGIN_SHARE)
    low, high = ~on_margin & (excess > 0), ~on_margin & (excess <= 0)
    low[rows], high[rows] = b <= 0, b >= upper[rows]
    return low, high


def _exchange(Q, upper, gap, low, high, *, tol, max_iter, callback):
    """Block principal pivoting: returns the best b, its gap, and all gaps.

    Each round solves for the samples inside the box, moves those beyond a bound to it, and lets in those at a bound
    whose gradient has the wrong sign. The number let in is limited, so that systems stay small.
    """
    best, history = np.zeros_like(upper), [gap(np.zeros_like(upper), np.zeros_like(upper))]
    best_gap, fewest, stalled = history[0], len(upper) + 1, 0
    while best_gap > tol and len(history) <= min(max_iter, _ROUNDS) and stalled < _PATIENCE:
        inside = np.flatnonzero(~(low | high))
        b = np.where(high, upper, 0.0)
        if len(inside):
            system = interior_point.system_solver(Q[np.ix_(inside, inside)])
            b[inside] = system((upper - transposed_times(Q, b))[inside])
        gradient = transposed_times(Q, b) - upper
        below, above = b < 0, b > upper
        clipped = np.clip(b, 0.0, upper)
        history.append(gap(clipped, gradient + upper if not (below | above).any() else transposed_times(Q, clipped)))
        if history[-1] < best_gap:
            best, best_gap = clipped, history[-1]
        if callback(len(history) - 1, history[-1]):
            break
        violations = np.where((low & (gradient < 0)) | (high & (gradient > 0)), np.abs(gradient), 0.0)
        misplaced = int(np.count_nonzero(violations) + np.count_nonzero(below | above))
        fewest, stalled = (misplaced, 0) if misplaced < fewest else (fewest, stalled + 1)
        max_joining = max(_MIN_JOINING, int(_GROWTH * len(inside)))
        joining = violations > 0
        if joining.sum() > max_joining:
            joining &= violations >= np.partition(violations, -max_joining)[-max_joining]
        low, high = (low & ~joining) | below, (high & ~joining) | above
    return best, best_gap, history
