"""Checks of arguments. Errors name the argument, its value and the remedy."""

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
_PACKAGE = os.path.dirname(os.path.dirname(__file__))  # warnings point to the first line outside of this folder
_LARGEST = 1e150  # numbers up to this size have squares whose sums do not overflow
_FLOAT32_FACTOR = 100  # factor of both tolerances for matrices in float32


def check_symmetric_psd(S, name, remedy):
    """The symmetric part of S (n, n) as floats; raise unless S is square, finite, symmetric and PSD."""
    slack = _FLOAT32_FACTOR if getattr(S, "dtype", None) == np.float32 else 1
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
    """Whether a symmetric matrix has no negative eigenvalue beyond the tolerance; one Cholesky factorisation."""
    jitter = tolerance * max(np.abs(S).sum(axis=1).max(initial=0.0), np.finfo(float).tiny)
    shifted = S + 0.0
    shifted.flat[:: len(S) + 1] += jitter
    try:
        scipy.linalg.cholesky(shifted.T, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return False
    return True


def check_number(value, name, *, low=0.0, strict=True, integer=False, choices=()):
    """Return the value; raise unless it is one of choices, or a real number > low (>= low if not strict)."""
    if isinstance(value, str) and value in choices:
        return value
    kind = numbers.Integral if integer else numbers.Real
    is_valid = isinstance(value, kind) and not isinstance(value, bool) and (value > low if strict else value >= low)
    if not is_valid or not np.isfinite(value):
        expected = f"{'an integer' if integer else 'a finite number'} {'>' if strict else '>='} {low:g}"
        options = "".join(f" or {c!r}" for c in choices)
        raise ValueError(f"{name} must be {expected}{options}, got {value!r}{_suggestion(value, choices)}")
    return value


def check_choice(value, name, known, others="", synonyms=None):
    """Return the value; raise unless it is one of the known names.

    others : further values that are allowed, for the message
    synonyms : {name in other packages: known name}, for the message
    """
    if not isinstance(value, Hashable) or value not in known:
        names = ", ".join(map(repr, known))
        raise ValueError(f"{name}: unknown name {value!r}{_suggestion(value, known, synonyms)}; known: {names}{others}")
    return value


def _suggestion(value, known, synonyms=None):
    """The question whether a similar known name was meant; empty if there is none."""
    if not isinstance(value, str):
        return ""
    by_lower = {word.lower(): word for word in known if isinstance(word, str)}
    word = value.lower().replace(" ", "_").replace("-", "_")
    similar = [synonyms[word]] if synonyms and word in synonyms else difflib.get_close_matches(word, by_lower, n=1)
    return f", did you mean {by_lower.get(similar[0], similar[0])!r}?" if similar else ""


_FEWER_SAMPLES = (
    "set feature_map='auto', or feature_map=1000 for as many landmarks in place of the kernel matrix, or fit on fewer "
    "samples"
)


def check_memory(n, copies, subject=None, remedy=_FEWER_SAMPLES):
    """Raise if copies of an (n, n) matrix do not fit in this machine's memory.

    subject : beginning of the message, what needs the memory; None is the kernel matrix of n samples
    """
    if copies > copies_in_memory(n):
        subject = subject or f"X has {n} samples: the kernel matrix and its factor"
        needed, available = copies * 8.0 * n**2, _physical_memory()
        raise ValueError(
            f"{subject} need {needed / 2**30:.0f} GiB, this machine has {available / 2**30:.0f} GiB; {remedy}"
        )


def copies_in_memory(n) -> float:
    """Number of (n, n) matrices that fit in this machine's memory."""
    return _physical_memory() / (8.0 * n**2)


def warn(message, category=UserWarning):
    """Warn at the line of the user's code that called the package."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth)


def _physical_memory() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # unknown on this platform
        return np.inf


def check_range(y, deviations=True):
    """Raise if squares of outputs y (n, ...), NaN where not observed, overflow; only arrays of floats are checked.

    deviations : whether to check too that squares of differences do not underflow
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
    """Items separated by commas; of more than `most` the first ones and the number of all."""
    first = ", ".join(map(str, items[:most]))
    return first if len(items) <= most else f"{first}, ... ({len(items)} in all)"
