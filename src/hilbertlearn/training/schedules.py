"""Regularisation that falls with the number of samples at a rate known beforehand."""

from __future__ import annotations

from .._utils.validation import check_number

# powers of 1/n: the rate of Ciliberto et al. 2016, theorem 5, and universal consistency, theorem 4
SCHEDULES = {"n^-1/2": 1 / 2, "n^-1/4": 1 / 4}


def check_alpha(alpha, *, automatic=True):
    """alpha if it is a number > 0, the name of a schedule, or "auto" where that is allowed."""
    return check_number(alpha, "alpha", choices=(*(("auto",) if automatic else ()), *SCHEDULES))


def is_searched(alpha) -> bool:
    """Whether alpha is selected from the data; numbers and schedules are not."""
    return isinstance(alpha, str) and alpha not in SCHEDULES


def resolve_schedule(alpha, n):
    """The value of a schedule, given by name, for n samples in use; other settings as they are."""
    return float(n) ** -SCHEDULES[alpha] if isinstance(alpha, str) and alpha in SCHEDULES else alpha
