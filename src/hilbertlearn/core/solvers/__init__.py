"""Solvers of the dual problem.

A solver is a module with

- ``REQUIRES``: what it requires of a problem (`requirements`),
- ``cost(problem, factors)``: about how many multiply-adds it takes; ``"auto"`` takes the cheapest that suits,
- ``solve(problem, *, tol, max_iter, init, callback, factors) -> Solution``; a callback (iteration, gap) that returns
  True stops it.

``factors`` are those of the problem's term if the caller has them already, else None.

Decisions
---------
- The certificate is the relative duality gap, ``(primal + dual) / (primal - floor)``, both stated as minima. The floor
  is the smallest value of the loss, 0 except for the log loss. Every solver stops on it and returns it. For a loss with
  hard constraints the solution is a feasible function, and the gap is that of this function.
- `spectral`: the squared loss is a linear system. With M = I and one alpha a Cholesky factor is many times cheaper than
  an eigendecomposition. With M != I, a path over alpha or leave-one-out, one ``eigh`` of K and one of M serve all.
  Eigenbases lose about ``||K|| / s`` in accuracy, which refinement with the same factors wins back.
- `columns`: with an operator and a single alpha, conjugate gradients solve one system for each coordinate in the
  eigenbasis of M, with one product in each iteration. It gives up when ``eigh`` would be faster.
- `splitting`: Douglas-Rachford splitting for all other losses. Its linear step is the squared-loss solver, so that
  conditioning does not matter as it does for proximal gradients (``1 + ||K|| ||M|| / s``). Anderson acceleration halves
  the iterations. For M = I the step is a product with an explicit inverse: triangular solves of scipy between products
  of numpy are slow, because each library has its own BLAS threads.
- `active_rows`: losses that leave most dual rows at zero are solved on the other rows.
- `conjugate_gradient`: sums of terms have no spectral step. The preconditioner is the nearest separable term. Irregular
  functions have their own preconditioned conjugate gradients (`core.terms.sampled`).
- `box_qp`: the dual of the hinge is a quadratic program on a box, with few samples strictly inside it.
- `proximal_newton`: for the pinball loss, where splitting takes thousands of iterations to the last digits.
- `proximal_gradient`: the papers' algorithm. It needs only ``apply`` and ``prox``, so it takes every problem, and it is
  an independent check of the others.
- Single precision: a problem may hold float32 arrays. Losses, proxes, sums and the gap are computed in float64 from
  them. Dual variables are rounded towards zero where the loss has a bound, because rounded up they would be infeasible.
  The smallest gap is then about ``(2e-10 trace(K) ||M|| / s)^2``, plus 4e-8 for losses with a bound.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from . import active_rows, box_qp, columns, conjugate_gradient, proximal_gradient, proximal_newton, spectral, splitting
from .feasibility import find_interior, make_feasible
from .requirements import first_unmet
from .solution import Solution

SOLVERS: dict[str, Any] = {
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


def suitable_solvers(problem) -> list[str]:
    """Names of the solvers whose requirements the problem meets."""
    return [name for name, solver in SOLVERS.items() if first_unmet(solver.REQUIRES, problem) is None]


def select_solver(problem, method="auto", factors=None) -> str:
    """The name of the solver that ``solve`` would use: ``method``, or the cheapest suitable one for "auto".

    For a loss of margins the problem is its ``margin_problem()``.
    """
    return _ranked_solvers(problem, method, factors)[0]


def _ranked_solvers(problem, method, factors):
    """Names of suitable solvers in the order of trial; each is tried where the one before gives up."""
    suitable = suitable_solvers(problem)
    by_cost = sorted(suitable, key=lambda name: SOLVERS[name].cost(problem, factors))
    if method == "auto":
        return by_cost
    if method not in suitable:
        unmet = first_unmet(SOLVERS[method].REQUIRES, problem) if method in SOLVERS else None
        reason = "" if unmet is None else f" (it requires {unmet.text})"
        names = ", ".join(map(repr, suitable))
        raise ValueError(f"solver={method!r} cannot solve this problem{reason}; use 'auto' or one of {names}")
    return [method, *(name for name in by_cost if name != method)]


def solve(problem, method="auto", *, tol=1e-6, max_iter=1000, init=None, callback=None, factors=None) -> Solution:
    """The dual optimum by the named method, or by the cheapest that suits the problem."""
    if problem.loss.on_margins:  # the factors belong to another map
        margins = problem.margin_problem()
        start = None if init is None else problem.to_margins(init)
        solution = _solve(margins, method, tol=tol, max_iter=max_iter, init=start, callback=callback, factors=None)
        return dataclasses.replace(solution, dual=problem.from_margins(solution.dual))
    if problem.loss.is_constrained:
        factors = problem.term.factor("path") if factors is None else factors
        problem = dataclasses.replace(problem, interior=find_interior(problem, factors))
    constrained = problem.interior is not None  # half of the tolerance is for the step to a feasible function
    options = {"tol": tol / 2 if constrained else tol, "max_iter": max_iter, "init": init, "callback": callback}
    solution = _solve(problem, method, factors=factors, **options)
    return make_feasible(problem, solution, tol) if constrained else solution


def _solve(problem, method, *, factors, **options):
    for name in _ranked_solvers(problem, method, factors):
        solution = SOLVERS[name].solve(problem, factors=factors, **options)
        if not solution.gave_up:
            break
    return dataclasses.replace(solution, solver=name)
