"""The printed form of bounds, and checks of arguments that all of them share."""

from __future__ import annotations

from dataclasses import fields
from numbers import Real

from ..._utils.validation import check_number


class BoundResult:
    """Base of frozen dataclasses that are printed with one line for each field; empty fields are left out."""

    def __repr__(self):
        lines = [f"{type(self).__name__}"]
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value is None or (isinstance(value, tuple) and not value):
                continue
            if isinstance(value, BoundResult):
                lines += [f"  {line}" for line in repr(value).splitlines()]
            else:
                lines.append(f"  {field.name:<16} {_format(value)}")
        return "\n".join(lines)


def _format(value):
    if isinstance(value, tuple):
        return "; ".join(map(str, value))
    if isinstance(value, Real) and not isinstance(value, (bool, int)):
        return f"{value:.6g}"
    return str(value)


def check_delta(delta):
    """Check the probability that a bound fails, a number in (0, 1)."""
    if not isinstance(delta, Real) or isinstance(delta, bool) or not 0 < float(delta) < 1:
        raise ValueError(
            f"delta must be a number between 0 and 1, the probability that the bound fails, got {delta!r}; "
            "0.05 is usual"
        )
    return float(delta)


def check_samples(n):
    """Check the number of samples."""
    return int(check_number(n, "n", low=1, strict=False, integer=True))
