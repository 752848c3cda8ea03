"""Solvers of the dual problem.

A solver is a module with

- ``suits(problem)``: whether it can solve the problem,
- ``cost(problem, factors)``: about how many multiply-adds it takes; ``"auto"`` takes the cheapest that suits,
- ``solve(problem, *, tol, max_iter, init, callback, factors) -> Solution``; a callback (iteration, gap) that returns
  True stops it.

``factors`` are those of the problem's term, if somebody has paid for them already.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from . import active_rows, box_qp, columns, conjugate_gradient, proximal_gradient, proximal_newton, spectral, splitting
from .feasibility import find_interior, make_feasible
from .solution import Solution

SOLVERS = {
    "spectral": spectral,
    "columns": columns,
    "splitting": splitting,
    "proximal_newton": proximal_newton,
    "active_rows": active_rows,
    "conjugate_gradient": conjugate_gradient,
    "proximal_gradient": proximal_gradient,
    "box_qp": box_qp,
}
NAMES = ("auto", *SOLVERS)


def choose(problem, method="auto", factors=None) -> str:
    """The name of the solver in use: ``method`` if it suits, for "auto" the cheapest that does. Solves nothing.

    For a loss of the margin the problem is that of its ``margins()``.
    """
    return _candidates(problem, method, factors)[0]


def _candidates(problem, method, factors):
    """Names of solvers to be tried, in order, each where the one before gives up."""
    suitable = [name for name, solver in SOLVERS.items() if solver.suits(problem)]
    by_cost = sorted(suitable, key=lambda name: SOLVERS[name].cost(problem, factors))
    if method == "auto":
        return by_cost
    if method not in suitable:
        good = ", ".join(map(repr, suitable))
        raise ValueError(f"solver={method!r} cannot solve this problem; use 'auto' or one of {good}")
    return [method, *(name for name in by_cost if name != method)]


def solve(problem, method="auto", *, tol=1e-6, max_iter=1000, init=None, callback=None, factors=None) -> Solution:
    """The dual optimum by the named method, or by the cheapest that suits the problem."""
    if problem.loss.on_margins:  # the factors are of another map
        margins = problem.margin_problem()
        start = None if init is None else problem.to_margins(init)
        solution = _solve(margins, method, tol=tol, max_iter=max_iter, init=start, callback=callback, factors=None)
        return dataclasses.replace(solution, dual=problem.from_margins(solution.dual))
    if problem.loss.is_constrained:
        factors = problem.term.factor("path") if factors is None else factors
        problem = dataclasses.replace(problem, interior=find_interior(problem, factors))
    hard = problem.interior is not None  # some of the tolerance is for the step inside
    options = {"tol": tol / 2 if hard else tol, "max_iter": max_iter, "init": init, "callback": callback}
    solution = _solve(problem, method, factors=factors, **options)
    return make_feasible(problem, solution, tol) if hard else solution


def _solve(problem, method, *, factors, **options):
    for name in _candidates(problem, method, factors):
        solution = SOLVERS[name].solve(problem, factors=factors, **options)
        if not solution.gave_up:
            break
    return dataclasses.replace(solution, solver=name)
