"""The constant of smallest loss, around which a model is fitted."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._utils.linalg import row_norms
from .._utils.statistics import geometric_median, mean_rows
from .._utils.sums import local_total
from .._utils.validation import warn
from ..core.problem import Problem, relative_gap
from ..core.solvers import splitting
from ..core.solvers.anderson import Anderson
from ..core.terms import ConstantTerm

_TOL = 1e-9  # of the certificate, and of the constant relative to the spread of the outputs
_WARN = 1e-3  # certificate above which a fit warns
_MAX_ITER = 500
_CHECK_EVERY = 4  # iterations between two certificates, which cost as much as an iteration
_SMOOTHED = 1e-10  # relative curvature added to the conjugate of a loss that is not smooth
_SHRUNK = (0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.1)  # shares by which dual variables shrink until they are feasible


def best_constant(Y, weights, loss, measure=None, outside=None, total=local_total):
    """The constant c (d,) of the smallest ``sum_i w_i loss(y_i - c)``, for Y (n, d) with NaN where not observed.

    It is the model of infinite alpha: the mean for the squared loss, a median of rows or entries for losses that grow
    linearly, and continuous in their settings in between. It solves the dual problem of the package for the kernel 1
    without a penalty, whose dual variables sum to zero. Losses of margins have no constant. Losses that forbid large
    residuals may admit none; they take the mean.

    Entries that no row observes are NaN.

    outside : (n,) norms of the outputs outside their space, or None
    total : function that turns a sum over these samples into the sum over all samples
    """
    if loss.on_margins:
        return np.zeros(Y.shape[1])
    used = weights > 0
    Y, weights, outside = Y[used], weights[used], None if outside is None else outside[used]
    is_observed = total(weights @ np.isfinite(Y)) > 0
    return np.where(is_observed, _minimiser(Y, weights, loss, measure, outside, total), np.nan)


def _minimiser(Y, weights, loss, measure, outside, total):
    """The constant (d,) of ``best_constant``, with any number where nothing is observed."""
    known = loss.best_constant(Y, weights) if total is local_total else None
    if known is not None:
        return known
    mean = mean_rows(Y, weights, total)
    if loss.quadratic or np.isfinite(loss.largest_residual):
        return mean
    # where steps are as small as the bound on dual variables, begin near the end
    origin = mean if loss.decreasing_weight or np.isinf(loss.bound) else geometric_median(Y, weights, total)
    mask, targets, d = np.isfinite(Y), np.nan_to_num(Y - origin), Y.shape[1]
    if outside is not None:
        targets, mask = np.column_stack([targets, outside]), np.column_stack([mask, np.ones(len(Y), dtype=bool)])
    term, root = ConstantTerm(np.sqrt(weights)[:, None] * mask, d, total), np.sqrt(weights)
    mask = None if mask.all() else mask
    problem = Problem((term,), root[:, None] * targets, loss, 1.0, mask, root, measure, total=total)
    squares, number = total(np.array([np.sum(targets**2), targets.size]))
    with np.errstate(over="ignore", invalid="ignore"):  # far from the optimum
        certificate = _Certificate(problem, term, np.sqrt(squares / number))
        certificate(np.zeros_like(targets), term.root * np.append(mean - origin, np.zeros(targets.shape[1] - d)))
        certificate.value = 0.0
        if certificate.size > 0:
            _minimise(problem, term, certificate, np.sqrt(squares))
    if certificate.value > _WARN:
        warn(
            f"loss={loss!r}: the constant that the model is fitted around is known to {certificate.value:.0e} only; "
            "scale the outputs, or set center=False",
            ConvergenceWarning,
        )
    return origin + certificate.best[:d]


def _minimise(problem, term, certificate, largest):
    """Minimise until the certificate is small; largest : bound on the targets."""
    loss = problem.loss
    if loss.decreasing_weight or (loss.curvature > 0 and (loss.by_row or loss.by_entry)):
        _descend(problem, term, certificate)
    else:
        splitting.solve(problem, tol=_TOL, max_iter=_MAX_ITER, certificate=certificate)
    if certificate.value > _WARN and problem.Y.shape[1] == 1:
        _search_golden_section(problem, term, certificate, largest)


class _Certificate:
    """The relative duality gap of a constant, or its relative change since the last call where that is larger.

    It keeps the best constant so far.
    """

    def __init__(self, problem, term, size):
        self.problem, self.term, self.size = problem, term, size
        self.last = self.best = np.zeros(problem.Y.shape[1])
        self.least = problem.primal(np.zeros_like(problem.Y), np.zeros_like(problem.Y))

    def __call__(self, Z, F):
        """Z : (n, d) dual variables, which need not sum to zero; F : fitted values of the constant, or near it."""
        constant = self.term.constant(F)
        moved, self.last = np.abs(constant - self.last).max() / max(self.size, np.finfo(float).tiny), constant
        primal = self.problem.primal(np.zeros_like(F), self.term.root * constant)
        if primal <= self.least:
            self.least, self.best = primal, constant
        self.value = moved
        if moved > _TOL:  # the gap would not help
            return moved
        centred = Z - self.term.root * self.term.constant(Z)
        for share in _SHRUNK:
            dual = self.problem.dual_value((1 - share) * centred, 0.0)
            if np.isfinite(dual):
                break
        self.value = max(relative_gap(primal, dual, self.problem.floor), moved)
        return self.value


def _search_golden_section(problem, term, certificate, largest):
    """Golden-section search for one column, where other methods cycle: the sum of losses is convex in the constant.

    largest : bound on the targets
    """
    share = (np.sqrt(5.0) - 1) / 2

    def value(constant):
        return problem.primal(np.zeros_like(problem.Y), term.root * constant)

    low, high = -float(largest), float(largest)
    inner, outer = high - share * (high - low), low + share * (high - low)
    at_inner, at_outer = value(inner), value(outer)
    while high - low > _TOL * certificate.size:
        if at_inner <= at_outer:
            high, outer, at_outer = outer, inner, at_inner
            inner = high - share * (high - low)
            at_inner = value(inner)
        else:
            low, inner, at_inner = inner, outer, at_outer
            outer = low + share * (high - low)
            at_outer = value(outer)
    middle = (low + high) / 2
    if value(middle) <= certificate.least:
        certificate.least, certificate.best = value(middle), np.array([middle])
    certificate.value = 0.0  # no constant outside the interval is better, whatever the dual variables are


def _descend(problem, term, certificate):
    """Accelerated steps of majorisation: c times the mean dual variable of the residuals.

    With decreasing weight the parabola through a residual that lies above it has the curvature dual variable /
    residual, and longer steps are safe. A loss that has no gradient everywhere is made smooth, to rounding.
    """
    loss, Y = problem.loss, problem.Y
    slope = np.divide(*problem.norms(problem.prox(Y, 1.0), Y))
    c = loss.curvature or _SMOOTHED / max(float(slope), _SMOOTHED)
    constant, accelerated = np.zeros(Y.shape[1]), Anderson((Y.shape[1],))
    for iteration in range(_MAX_ITER):
        F = term.root * constant
        R = problem.zero_missing(Y - F)
        A = problem.prox(R / c, 1 / c)
        if iteration % _CHECK_EVERY == 0 and certificate(A, F) <= _TOL:
            return
        step = c * term.constant(A)
        if loss.decreasing_weight:
            size, dual = (row_norms(R)[:, None], row_norms(A)[:, None]) if loss.by_row else (R, A)
            curvature = c * term.constant(term.root * np.divide(dual, size, out=np.ones_like(dual), where=size != 0))
            step[: term.free] /= np.maximum(curvature[: term.free], np.finfo(float).tiny)
        constant = accelerated.step(constant, step)
