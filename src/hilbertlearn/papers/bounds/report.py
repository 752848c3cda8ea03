"""How bounds are shown, and checks that all of them share."""

from __future__ import annotations

from dataclasses import fields
from numbers import Real

from ..._utils.validation import check_number


class Report:
    """A frozen dataclass whose text has a line for each part."""

    def __repr__(self):
        lines = [f"{type(self).__name__}"]
        for own in fields(self):  # type: ignore[arg-type]
            value = getattr(self, own.name)
            if value is None or (isinstance(value, tuple) and not value):
                continue
            if isinstance(value, Report):
                lines += [f"  {line}" for line in repr(value).splitlines()]
            else:
                lines.append(f"  {own.name:<16} {_text(value)}")
        return "\n".join(lines)


def _text(value):
    if isinstance(value, tuple):
        return "; ".join(map(str, value))
    if isinstance(value, Real) and not isinstance(value, (bool, int)):
        return f"{value:.6g}"
    return str(value)


def check_delta(delta):
    """The probability with which a bound may fail, in (0, 1)."""
    if not isinstance(delta, Real) or isinstance(delta, bool) or not 0 < float(delta) < 1:
        raise ValueError(
            f"delta must be a number between 0 and 1, the probability that the bound fails, got {delta!r}; "
            "0.05 is usual"
        )
    return float(delta)


def check_samples(n):
    """The number of samples."""
    return int(check_number(n, "n", low=1, strict=False, integer=True))
