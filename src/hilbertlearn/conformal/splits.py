"""Which samples are left out together."""

from __future__ import annotations

import numbers

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    ShuffleSplit,
    check_cv,
)
from sklearn.utils import _safe_indexing

from .._utils.validation import check_number
from .leaving_out import Data
from .levels import samples_needed

FOLDS = 10


def folds(data: Data, cv, groups, random_state):
    """Pairs (train, test) among the samples that count, each of which is in one test part at most.

    cv : None for 10 folds, a number of them, a splitter of scikit-learn or an iterable of pairs
    """
    n = len(data.rows)
    if cv is None or isinstance(cv, numbers.Integral):
        number = min(FOLDS if cv is None else check_number(int(cv), "cv", low=1, integer=True), n)
        if groups is not None:
            there = len(np.unique(groups[data.rows]))
            if there < 2:
                raise ValueError("groups must have at least 2 among the samples that count, got 1; give none, or more")
            cv = GroupKFold(min(number, there))
        else:
            cv = KFold(max(number, 2), shuffle=True, random_state=random_state)
    return _parts(data, cv, groups)


def each(data: Data, groups):
    """One sample, or one group of them, left out at a time."""
    return _parts(data, LeaveOneOut() if groups is None else LeaveOneGroupOut(), groups)


def halves(data: Data, calibration, cv, groups, random_state):
    """One pair: the samples that the model is fitted to, and those that calibrate it.

    calibration : share of the samples, or their number
    cv : None, or a splitter or an iterable whose only, or first, pair it is
    """
    if cv is not None and not isinstance(cv, numbers.Integral):
        return _parts(data, cv, groups)[:1]
    whole = isinstance(calibration, numbers.Integral) and not isinstance(calibration, bool)
    size = check_number(calibration, "calibration", integer=whole)
    if (whole and size >= len(data.rows)) or (not whole and size >= 1):
        raise ValueError(
            f"calibration must be a share below 1, or a number of samples below the {len(data.rows)} there are, got "
            f"{calibration!r}"
        )
    splitter = ShuffleSplit if groups is None else GroupShuffleSplit
    if groups is not None and whole:
        size = size / len(data.rows)
    return _parts(data, splitter(1, test_size=size, random_state=random_state), groups)


def _parts(data: Data, cv, groups):
    """Pairs of positions among all samples, from those that count."""
    rows, parts = data.rows, []
    X, y = _safe_indexing(data.X, rows), _safe_indexing(data.y, rows)
    own = None if groups is None else groups[rows]
    given = not hasattr(cv, "split")
    times = np.zeros(data.n_samples, dtype=int)
    for train, test in check_cv(cv).split(*((data.X, data.y, groups) if given else (X, y, own))):
        if given:  # pairs of positions among all samples
            every = np.arange(data.n_samples)
            train, test = (np.intersect1d(every[part], rows) for part in (train, test))
        else:
            train, test = rows[train], rows[test]
        if not len(train):
            raise ValueError("cv: a fold leaves no sample with a positive weight and an observed output to fit")
        if np.isin(test, train).any():
            raise ValueError(
                "cv: a fold is to fit samples that it leaves out, which say nothing of new ones; part them"
            )
        times[test] += 1
        parts.append((train, test))
    if (times > 1).any():
        raise ValueError(
            f"cv leaves sample {int(np.argmax(times > 1))} out more than once; use a splitter whose test parts are "
            "disjoint, such as KFold, GroupKFold or TimeSeriesSplit"
        )
    return [part for part in parts if len(part[1])]


def check_enough(n, level, method, what="samples"):
    """Raise where so few samples are left out that every set would be everything."""
    needed = samples_needed(level)
    if not n:
        raise ValueError(f"y: no {what} with an observed output are left out; give some whose output is known")
    if n < needed:
        remedy = "raise calibration, or use method='cv+'" if method == "split" else f"give more {what}"
        raise ValueError(
            f"level={level:g} needs at least {needed} {what} that are left out, {method} has {n}; lower level to "
            f"{n / (n + 1):.3g} or below, or {remedy}"
        )
