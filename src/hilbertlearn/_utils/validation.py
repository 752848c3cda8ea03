"""Checks shared by the packages: each error names the argument, what was seen and the remedy."""

from __future__ import annotations

import difflib
import numbers
import os
import sys
import warnings
from collections.abc import Hashable

import numpy as np
import scipy.linalg

SYMMETRY_TOLERANCE = 1e-8  # relative to the largest entry
PSD_TOLERANCE = 1e-8  # negative eigenvalues up to this fraction of the largest diagonal sum count as rounding
_PACKAGE = os.path.dirname(os.path.dirname(__file__))  # warnings are shown at the first line outside of it
_LARGEST = 1e150  # number whose squares add up without overflow
_SINGLE = 100  # times as much, of matrices that come in float32


def check_symmetric_psd(S, name, remedy):
    """S (n, n) as floats, its symmetric part, after checking that it is square, finite, symmetric and PSD."""
    slack = _SINGLE if getattr(S, "dtype", None) == np.float32 else 1
    S = np.asarray(S, dtype=float)
    if S.ndim != 2 or S.shape[0] != S.shape[1]:
        raise ValueError(f"{name} must be a square matrix, got shape {S.shape}; {remedy}")
    if not np.isfinite(S).all():
        raise ValueError(f"{name} contains NaN or infinity; {remedy}")
    largest = np.abs(S).max(initial=0.0)
    asymmetry = np.abs(S - S.T).max(initial=0.0)
    if asymmetry > slack * SYMMETRY_TOLERANCE * largest:
        raise ValueError(
            f"{name} is not symmetric: entries differ from the transpose by up to {asymmetry:.2g}; {remedy}"
        )
    if asymmetry > 0:
        S = (S + S.T) / 2
    if not is_psd(S, slack * PSD_TOLERANCE):
        lowest = scipy.linalg.eigvalsh(S, subset_by_index=[0, 0])[0]
        raise ValueError(f"{name} is not positive semi-definite: smallest eigenvalue {lowest:.3g}; {remedy}")
    return S


def is_psd(S, tolerance=PSD_TOLERANCE) -> bool:
    """Whether the symmetric matrix S has no eigenvalue below rounding; one Cholesky factorisation."""
    jitter = tolerance * max(np.abs(S).sum(axis=1).max(initial=0.0), np.finfo(float).tiny)
    shifted = S + 0.0
    shifted.flat[:: len(S) + 1] += jitter
    try:
        scipy.linalg.cholesky(shifted.T, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return False
    return True


def check_number(value, name, *, low=0.0, strict=True, integer=False, choices=()):
    """value if it is one of choices, or a real number > low (>= low if not strict)."""
    if isinstance(value, str) and value in choices:
        return value
    kind = numbers.Integral if integer else numbers.Real
    good = isinstance(value, kind) and not isinstance(value, bool) and (value > low if strict else value >= low)
    if not good or not np.isfinite(value):
        wanted = f"{'an integer' if integer else 'a finite number'} {'>' if strict else '>='} {low:g}"
        options = "".join(f" or {c!r}" for c in choices)
        raise ValueError(f"{name} must be {wanted}{options}, got {value!r}{_meant(value, choices)}")
    return value


def check_choice(value, name, known, others="", called=None):
    """value if it is one of the known names.

    others : what may be given besides, for the error
    called : {what a known name is called elsewhere: that name}
    """
    if not isinstance(value, Hashable) or value not in known:
        names = ", ".join(map(repr, known))
        raise ValueError(f"{name}: unknown name {value!r}{_meant(value, known, called)}; known: {names}{others}")
    return value


def _meant(value, known, called=None):
    """A question after the known name that is nearest to a wrong one, nothing where none is near."""
    if not isinstance(value, str):
        return ""
    by_lower = {word.lower(): word for word in known if isinstance(word, str)}
    word = value.lower().replace(" ", "_").replace("-", "_")
    near = [called[word]] if called and word in called else difflib.get_close_matches(word, by_lower, n=1)
    return f", did you mean {by_lower.get(near[0], near[0])!r}?" if near else ""


_FEWER_SAMPLES = (
    "set feature_map='auto', or feature_map=1000 for as many landmarks in place of the kernel matrix, or fit on fewer "
    "samples"
)


def check_memory(n, copies, what=None, remedy=_FEWER_SAMPLES):
    """Raise before allocating when copies of an (n, n) matrix would not fit in this machine's memory.

    what : needs it, the kernel matrix of n samples if None
    """
    if copies > copies_in_memory(n):
        what = what or f"X has {n} samples: the kernel matrix and its factor"
        needed, there = copies * 8.0 * n**2, _physical_memory()
        raise ValueError(f"{what} need {needed / 2**30:.0f} GiB, this machine has {there / 2**30:.0f} GiB; {remedy}")


def copies_in_memory(n) -> float:
    """How many (n, n) matrices this machine's memory holds."""
    return _physical_memory() / (8.0 * n**2)


def warn(message, category=UserWarning):
    """A warning at the line of the user's that led here, however deep in the package this is."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth)


def _physical_memory() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not known on this platform: let the allocation decide
        return np.inf


def check_range(y, deviations=True):
    """Raise if squares of outputs y, numbers (n, ...), NaN where not observed, overflow; other objects may be any.

    deviations : whether those of differences may not be so small either that nothing is left of them
    """
    if not isinstance(y, np.ndarray) or y.dtype.kind != "f" or not y.size:
        return
    Y = y.reshape(len(y), -1)
    low, high = np.fmin.reduce(Y, axis=0), np.fmax.reduce(Y, axis=0)
    largest = np.fmax.reduce(np.maximum(np.abs(low), np.abs(high)), initial=0.0)
    if largest > _LARGEST:
        raise ValueError("y is too large, its squared errors overflow; divide y by its standard deviation")
    spread = np.fmax.reduce(high - low, initial=0.0)
    if deviations and 0 < spread < 1 / _LARGEST:
        raise ValueError(
            f"y is too small, it differs by {spread:.1e} and nothing is left of squared errors; divide y by its "
            "standard deviation"
        )


def join_items(items, most=8):
    """Items separated by commas; of more than `most` the first ones, and how many there are."""
    first = ", ".join(map(str, items[:most]))
    return first if len(items) <= most else f"{first}, ... ({len(items)} in all)"
