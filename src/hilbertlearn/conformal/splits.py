"""Splits of the samples into training and calibration parts."""

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

from .._utils.validation import check_number, warn
from .levels import samples_needed
from .samples import CalibrationData

FOLDS = 10  # default of method="cv+"; models are fitted to 9/10 of the samples
_DIGITS = 9  # decimals of relative predictions that samples are sorted by; further ones depend on the order of samples


def cross_validation_splits(data: CalibrationData, cv, random_state):
    """Pairs (train, test) of sample positions; test parts are disjoint.

    cv : None for 10 folds, a number of folds, a splitter of scikit-learn or an iterable of pairs
    """
    n, groups = len(data.rows), data.groups
    if cv is None or isinstance(cv, numbers.Integral):
        number = min(FOLDS if cv is None else check_number(int(cv), "cv", low=1, integer=True), n)
        if groups is not None:
            n_groups = len(np.unique(groups[data.rows]))
            if n_groups < 2:
                raise ValueError(
                    "groups must have at least 2 values among the samples in use, got 1; give none, or more"
                )
            cv = GroupKFold(min(number, n_groups))
        else:
            cv = KFold(max(number, 2), shuffle=True, random_state=random_state)
    return _positions(data, cv)


def leave_one_out_splits(data: CalibrationData):
    """Pairs (train, test) whose test part is one sample, or one group."""
    return _positions(data, LeaveOneOut() if data.groups is None else LeaveOneGroupOut())


def calibration_split(data: CalibrationData, calibration, cv, random_state):
    """One pair: the samples for the model, and those for the calibration.

    calibration : share of the samples, or their number
    cv : None, or a splitter or an iterable whose first pair is used
    """
    if cv is not None and not isinstance(cv, numbers.Integral):
        return _positions(data, cv)[:1]
    is_count = isinstance(calibration, numbers.Integral) and not isinstance(calibration, bool)
    size = check_number(calibration, "calibration", integer=is_count)
    if (is_count and size >= len(data.rows)) or (not is_count and size >= 1):
        raise ValueError(
            f"calibration must be a share below 1, or a number of samples below the {len(data.rows)} there are, got "
            f"{calibration!r}"
        )
    splitter = ShuffleSplit if data.groups is None else GroupShuffleSplit
    if data.groups is not None and is_count:
        size = size / len(data.rows)
    return _positions(data, splitter(1, test_size=size, random_state=random_state))


def groups_by_value(outputs, predictions, number):
    """Groups (n,), numbered from 0, of samples sorted by outputs, then by rounded predictions: every `number`-th.

    So groups do not depend on the order of the samples, and equal samples are in one group.

    outputs : (n, d), NaN where not observed
    predictions : (n, d) of the samples
    """
    size = np.abs(predictions).max(axis=0)
    relative = np.round(np.nan_to_num(predictions) / np.where(size > 0, size, 1.0), _DIGITS)
    keys = np.hstack([np.isnan(outputs), np.nan_to_num(outputs), relative])
    return np.unique(keys, axis=0, return_inverse=True)[1].ravel() % number


def _positions(data: CalibrationData, cv):
    """Pairs of positions among all samples; splitters see the samples in use only."""
    rows, parts = data.rows, []
    is_iterable = not hasattr(cv, "split")
    arguments = [data.X, data.y, data.groups]
    if not is_iterable:
        arguments = [None if part is None else _safe_indexing(part, rows) for part in arguments]
    times = np.zeros(data.n_samples, dtype=int)
    for train, test in check_cv(cv).split(*arguments):
        if is_iterable:  # pairs of positions among all samples
            positions = np.arange(data.n_samples)
            train, test = (np.intersect1d(positions[part], rows) for part in (train, test))
        else:
            train, test = rows[train], rows[test]
        if not len(train):
            raise ValueError("cv: a fold leaves no sample with a positive weight and an observed output to fit")
        if np.isin(test, train).any():
            raise ValueError("cv: a fold has samples in both its training and its test part; use disjoint parts")
        times[test] += 1
        parts.append((train, test))
    if (times > 1).any():
        raise ValueError(
            f"cv leaves sample {int(np.argmax(times > 1))} out more than once; use a splitter whose test parts are "
            "disjoint, such as KFold, GroupKFold or TimeSeriesSplit"
        )
    return [part for part in parts if len(part[1])]


def check_enough(n, unit, level, method):
    """Raise where the calibration samples are so few that every set is the whole output space; warn for groups.

    n, unit : number of exchangeable units of calibration, "samples", "groups" or "links"
    """
    needed = samples_needed(level)
    if not n:
        raise ValueError(f"y: no {unit} with an observed output for calibration; give some whose output is known")
    if n < needed and unit == "groups":
        warn(
            f"level={level:g} needs at least {needed} groups for calibration, {method} has {n}: all sets are infinite; "
            f"lower level to {n / (n + 1):.3g} or below, or give more groups"
        )
    elif n < needed:
        remedy = "raise calibration, or use method='cv+'" if method == "split" else f"give more {unit}"
        raise ValueError(
            f"level={level:g} needs at least {needed} {unit} for calibration, {method} has {n}; lower level to "
            f"{n / (n + 1):.3g} or below, or {remedy}"
        )
