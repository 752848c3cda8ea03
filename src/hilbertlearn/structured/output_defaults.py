"""The output kernel or loss of outputs for which none was given; integers that are no labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import kernels
from .._utils.validation import warn
from ..data.objects import NO_LABEL, distinct, unlabelled_mask
from ..output_losses import as_output_loss

_RECURRING = 0.5  # distinct strings a sample up to which they are labels and not texts


def default_rule(outputs, form, texts, gaps):
    """An output kernel or loss by what the outputs are.

    texts : whether strings have a kernel even if they recur
    gaps : whether there are outputs that are not known: integers beside NaN have become floats
    """
    if isinstance(outputs, list):
        if all(isinstance(item, str) for item in outputs):
            return (None, "zero_one") if not texts and _recur(outputs) else (kernels.NGrams(), None)
        if all(isinstance(item, (set, frozenset)) for item in outputs):
            return None, "hamming"
        names = list(dict.fromkeys(type(item).__name__ for item in outputs))
        mixed = f"a mix of {' and '.join(names[:3])}" if len(names) > 1 else f"of {names[0]}"
        raise ValueError(
            f"y is a list of objects, {mixed}: give output_kernel or output_loss; only numbers, labels, 0/1 matrices, "
            "sets of labels and strings, all of one kind, have defaults (np.array(y) makes rows of tuples of numbers)"
        )
    if outputs.ndim == 1:
        if form[1] is None and gaps and (outputs == np.round(outputs)).all() and _recur(outputs):
            warn(
                "y: whole numbers beside NaN are taken for numbers, by the squared loss; if they are labels, set "
                "output_loss='zero_one', or give a list with None for those not known"
            )
        return None, "zero_one" if form[1] is not None else "squared"
    return None, "hamming" if np.isin(outputs, (0, 1)).all() else "squared"


def without_label(y, output_kernel, output_loss):
    """Outputs of semi-supervised learning, as read: -1 is none of integer labels, as ``outputs.unlabelled`` has it."""
    kind, dtype = y.form
    if output_kernel is not None or kind != "array" or dtype is None or dtype.kind == "b" or y.items.ndim != 1:
        return y
    rows = np.flatnonzero(y.known)
    none = rows[unlabelled_mask(y.items[rows].astype(int))]
    others = y.items[np.setdiff1d(rows, none)]
    classes = _classes("zero_one" if output_loss is None else output_loss, others) if len(none) else None
    if classes is None or NO_LABEL in list(classes):
        return y
    warn(
        f"y: {NO_LABEL} stands for no label, of {len(none)} samples, as in scikit-learn's semi-supervised estimators; "
        "if it is a class, set output_loss=ZeroOne(labels=...) with it among them"
    )
    items, known = y.items.copy(), y.known.copy()
    items[none], known[none] = np.nan, False
    return replace(y, items=items, known=known, all_known=others, no_label=NO_LABEL)


def _classes(output_loss, outputs):
    """The classes that a loss has beside outputs, None if it is a loss of something else."""
    return as_output_loss(output_loss).resolve(outputs).classes(np.unique(outputs))


def _recur(outputs):
    """Whether outputs come twice on average."""
    return len(distinct(outputs)[0]) <= _RECURRING * len(outputs)
