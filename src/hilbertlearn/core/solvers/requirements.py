"""What solvers require of a problem.

A solver lists its requirements as ``REQUIRES``. It suits a problem that meets all of them. They are tested in order, so
that a later one may rely on an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._utils.sums import local_total
from ..problem import Problem


@dataclass(frozen=True)
class Requirement:
    """A property of problems.

    text : what the solver requires; the error message contains it
    is_met : function of a problem
    """

    text: str
    is_met: Callable[[Problem], bool]


def first_unmet(requirements, problem: Problem) -> Requirement | None:
    """The first requirement that the problem does not meet, None if it meets all."""
    return next((requirement for requirement in requirements if not requirement.is_met(problem)), None)


def _has_fixed_kernel(problem: Problem) -> bool:
    term = problem.separable_term
    return term is not None and not term.gram.depends_on_alpha


SQUARED_LOSS = Requirement("the squared loss", lambda problem: problem.loss.quadratic)
LINEAR_SYSTEM = Requirement(
    "the squared loss, and no missing entries that only a mask can express", lambda problem: problem.is_linear_system
)
DIRECT_FACTORS = Requirement("a term with direct factors", lambda problem: problem.term.inversion == "direct")
FACTORS = Requirement("a term that can be inverted", lambda problem: problem.term.inversion is not None)
SEPARABLE_TERM = Requirement("one kernel k(x, z) M", lambda problem: problem.separable_term is not None)
FIXED_KERNEL = Requirement("a kernel that does not depend on alpha", _has_fixed_kernel)
OPERATOR = Requirement("an output operator", lambda problem: problem.term.M is not None)
NO_OPERATOR = Requirement("no output operator", lambda problem: problem.term.M is None)
SPARSE_LOSS = Requirement("a loss that gives sparse dual variables", lambda problem: problem.loss.sparse)
FINITE_LOSS = Requirement("a loss without hard constraints", lambda problem: np.isinf(problem.loss.largest_residual))
POLYHEDRAL_LOSS = Requirement("a loss with faces (pinball)", lambda problem: hasattr(problem.loss, "face"))
DOUBLE_PRECISION = Requirement("double precision", lambda problem: not problem.is_float32)
ONE_PART = Requirement("all samples in one process", lambda problem: problem.total is local_total)
BOUNDED_MARGIN_LOSS = Requirement(
    "the hinge", lambda problem: problem.loss.on_margins and np.isfinite(problem.loss.bound)
)
