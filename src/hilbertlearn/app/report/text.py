"""Numbers and outputs as text, in one form for the whole page."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

NONE = "–"  # for a missing number
_MINUS = "\u2212"
_LONGEST = 80  # characters of the text of an object
_SHOWN = 12  # items of a collection in its text


def format_number(value, digits=3):
    """A number with significant digits, as 0.0123, 1 234, 1.2e-6; a dash for NaN."""
    value = float(value)
    if not np.isfinite(value):
        return NONE if np.isnan(value) else f"{_MINUS * (value < 0)}∞"
    if (value == int(value) or abs(value) >= 1000) and abs(value) < 1e6:
        text = f"{value:,.0f}".replace(",", "\u202f")
    elif value and not 1e-3 <= abs(value) < 1e6:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        text = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    else:
        text = f"{value:#.{digits}g}".rstrip(".")
    return text.replace("-", _MINUS) if "e" not in text else re.sub("^-", _MINUS, text)


def format_percent(share, digits=0):
    """A share as per cent; "< 1 %" if it is positive and would be rounded to zero."""
    if not np.isfinite(share):
        return NONE
    unit = 10.0**-digits
    if 0 < 100 * share < unit / 2:
        return f"< {unit:g} %"
    return f"{100 * share:.{digits}f} %"


def format_seconds(value):
    """A duration in words."""
    if value < 0.001:
        return "less than 1 ms"
    if value < 1:
        return f"{1000 * value:.0f} ms"
    return f"{value:.1f} s" if value < 60 else f"{int(value // 60)} min {int(value % 60)} s"


def format_count(n, singular, plural=None):
    """As "3 samples"."""
    return f"{format_number(n)} {singular if n == 1 else plural or singular + 's'}"


def join_words(items, last="and"):
    """As "a, b and c"."""
    *first, end = map(str, items)
    return f"{', '.join(first)} {last} {end}" if first else end


def shorten(value, longest=_LONGEST):
    """Text of any object in one line, cut if it is long."""
    text = re.sub(r"\s+", " ", str(value)).strip()
    return text if len(text) <= longest else text[: longest - 1] + "…"


def format_setting(value):
    """Text of a kernel, a loss or another setting, its floats with three digits."""
    if value is None:
        return NONE
    if isinstance(value, (float, np.floating)):
        return format_number(value)
    if isinstance(value, np.ndarray) and value.ndim:
        return f"matrix {' × '.join(map(str, value.shape))}" if value.ndim > 1 else join_first(value, format_number)
    if isinstance(value, (list, tuple)):
        return join_first(value, format_setting)
    plain = re.sub(r"<(?:\w+\.)*(\w+) object at 0x\w+>", r"\1", str(value))  # default text of an object
    return shorten(re.sub(r"\d+\.\d+(e[+-]?\d+)?", lambda match: f"{float(match[0]):.3g}", plain), 2 * _LONGEST)


def join_first(items: Iterable, form=str, most=_SHOWN, between=", "):
    """The first items, and the number of the others."""
    items = list(items)
    ending = f" and {len(items) - most} more" if len(items) > most else ""
    return between.join(form(item) for item in items[:most]) + ending
