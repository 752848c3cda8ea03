"""The box-constrained dual of the hinge: exchanges of whole sets between bounds and inside."""

from __future__ import annotations

import numpy as np

from ..._utils.linalg import transposed_times
from . import interior_point
from .requirements import BOUNDED_MARGIN_LOSS
from .solution import IterationMonitor, Solution

REQUIRES = (BOUNDED_MARGIN_LOSS,)

_SMALL = 400  # samples up to which the interior-point method is as fast as exchanges
_COARSE = 1e-3  # relative gap of the problem with half of the samples; it only gives a starting point
_ROUNDS = 60  # exchanges at most; then the interior-point method continues
_PATIENCE = 8  # rounds in which the number of misplaced samples does not fall: exchanges go in circles
_MARGIN = 0.01  # share of the samples, those nearest to the margin, that start strictly inside the box
_GROWTH = 0.5  # samples that may join those inside in one round, relative to their number
_FEWEST = 50  # samples that may join in any case


def cost(problem, factors):
    """Several small systems, together about one Cholesky factorisation of all samples."""
    return len(problem.Y) ** 3 / 6


def solve(problem, *, tol=1e-6, max_iter=1000, init=None, callback=None, factors=None) -> Solution:
    """minimise ``b' Q b / 2 - <w, b>`` over ``0 <= b <= w`` (b and w scaled by 1/sqrt(w) when there are weights).

    Few samples are strictly inside the box at the optimum. Once these are known, a small linear system gives their
    values. The first guess comes from ``init``, or from the same problem with half of the samples. Exchanges between
    bounds and inside improve it. An interior-point method takes over where exchanges go in circles.
    """
    Q = problem.separable_term.gram.dense() / problem.penalty
    top = np.ones(len(Q)) if problem.root_weights is None else problem.root_weights
    b = np.clip(top if init is None else init[:, 0], 0.0, top)

    def gap(b, Qb):
        return problem.gap(b[:, None], Qb[:, None])

    monitor = IterationMonitor(callback)
    options = {"tol": tol, "max_iter": max_iter, "callback": monitor}
    least = gap(b, transposed_times(Q, b))
    history = [least]
    if least > tol and (init is not None or len(Q) > _SMALL):
        low, high = (b <= 0, b >= top) if init is not None else _from_half(problem, top)
        b, least, history = _exchange(Q, top, gap, low, high, **options)
    if least > tol and len(history) <= max_iter and not monitor.stopped:
        options["max_iter"] = max_iter - len(history) + 1
        b, least, more = interior_point.minimise(Q, top, gap, b, **options)
        history += more[1:]
    return Solution(b[:, None], least, len(history) - 1, least <= tol, history, stopped=monitor.stopped)


def _from_half(problem, top):
    """Guess which samples are at 0 and at the top, two masks (n,), from the margins of a model of half of them."""
    K = problem.separable_term.gram.dense()
    rows = np.sort(np.random.default_rng(0).permutation(len(K))[: len(K) // 2])
    part = problem.take(rows, share=float((top[rows] ** 2).sum() / (top**2).sum()))
    b = solve(part, tol=_COARSE).dual[:, 0]
    excess = transposed_times(K[rows], b) / part.penalty - top
    on_margin = np.abs(excess) <= np.quantile(np.abs(excess), _MARGIN)
    low, high = ~on_margin & (excess > 0), ~on_margin & (excess <= 0)
    low[rows], high[rows] = b <= 0, b >= top[rows]
    return low, high


def _exchange(Q, top, gap, low, high, *, tol, max_iter, callback):
    """Block principal pivoting: returns the best b, its gap, and all gaps.

    Each round solves for the samples inside the box, moves those beyond a bound to it, and lets in those at a bound
    whose gradient has the wrong sign. The number let in is limited, so that systems stay small.
    """
    best, history = np.zeros_like(top), [gap(np.zeros_like(top), np.zeros_like(top))]
    least, fewest, since = history[0], len(top) + 1, 0
    while least > tol and len(history) <= min(max_iter, _ROUNDS) and since < _PATIENCE:
        inside = np.flatnonzero(~(low | high))
        b = np.where(high, top, 0.0)
        if len(inside):
            system = interior_point.system_solver(Q[np.ix_(inside, inside)])
            b[inside] = system((top - transposed_times(Q, b))[inside])
        gradient = transposed_times(Q, b) - top
        below, above = b < 0, b > top
        clipped = np.clip(b, 0.0, top)
        history.append(gap(clipped, gradient + top if not (below | above).any() else transposed_times(Q, clipped)))
        if history[-1] < least:
            best, least = clipped, history[-1]
        if callback(len(history) - 1, history[-1]):
            break
        wrong = np.where((low & (gradient < 0)) | (high & (gradient > 0)), np.abs(gradient), 0.0)
        misplaced = int(np.count_nonzero(wrong) + np.count_nonzero(below | above))
        fewest, since = (misplaced, 0) if misplaced < fewest else (fewest, since + 1)
        room = max(_FEWEST, int(_GROWTH * len(inside)))
        joining = wrong > 0
        if joining.sum() > room:
            joining &= wrong >= np.partition(wrong, -room)[-room]
        low, high = (low & ~joining) | below, (high & ~joining) | above
    return best, least, history
