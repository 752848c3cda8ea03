"""Solvers of the dual problem: each is a function ``solve(problem, tol, max_iter, init, callback) -> Solution``."""

from __future__ import annotations

import dataclasses

from ..problem import PerDirection, Separable
from . import active_rows, box_qp, columns, conjugate_gradient, proximal_gradient, sampled, spectral, splitting
from .solution import Solution

SOLVERS = {
    "spectral": spectral.solve,
    "splitting": splitting.solve,
    "proximal_gradient": proximal_gradient.solve,
    "conjugate_gradient": conjugate_gradient.solve,
    "box_qp": box_qp.solve,
}
NAMES = ("auto", *SOLVERS)


def solve(problem, method="auto", *, tol=1e-6, max_iter=1000, init=None, callback=None) -> Solution:
    """The dual optimum by the named method, or by the fastest that fits the problem."""
    options = {"tol": tol, "max_iter": max_iter, "callback": callback}
    if problem.loss.on_margins:
        margins = problem.margins()
        start = None if init is None else problem.to_margins(init)
        solution = _solver(margins, method)(margins, init=start, **options)
        return dataclasses.replace(solution, dual=problem.from_margins(solution.dual))
    return _solver(problem, method)(problem, init=init, **options)


def _solver(problem, method):
    closed_form = problem.direct is not None and problem.loss.quadratic and problem.mask is None
    first = problem.terms[0]
    one_term = len(problem.terms) == 1 and isinstance(getattr(first, "term", first), (Separable, PerDirection))
    fits = {
        "spectral": closed_form,
        "splitting": one_term,
        "proximal_gradient": True,
        "conjugate_gradient": problem.loss.quadratic,
        "box_qp": problem.loss.on_margins and problem.loss.bound < float("inf"),
    }
    if method == "auto":
        if closed_form:
            return _columns_or_spectral if columns.promising(problem) else spectral.solve
        elif fits["box_qp"]:
            method = "box_qp"
        elif one_term and problem.direct is None and problem.loss.quadratic:
            return sampled.solve_by_value if sampled.few_values(problem.terms[0]) else sampled.solve
        elif fits["splitting"]:  # with gaps also for the squared loss: conjugate gradients need up to 20 times as many
            term = problem.separable
            if problem.loss.sparse and term is not None and term.M is None and not term.factored:
                return active_rows.solve
            method = "splitting"
        else:
            method = "conjugate_gradient" if fits["conjugate_gradient"] else "proximal_gradient"
    if not fits[method]:
        good = ", ".join(repr(name) for name, fit in fits.items() if fit)
        raise ValueError(f"solver={method!r} cannot solve this problem; use 'auto' or one of {good}")
    if method == "conjugate_gradient" and one_term and problem.direct is None:
        return sampled.solve  # the same with a preconditioner for this case
    return SOLVERS[method]


def _columns_or_spectral(problem, **options) -> Solution:
    solution = columns.solve(problem, **options)
    return solution if solution.converged else spectral.solve(problem, **options)


__all__ = ["NAMES", "SOLVERS", "Solution", "solve"]
