"""The default output kernel or loss, and integers that mean no label."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import kernels
from .._utils.validation import warn
from ..data.objects import NO_LABEL, distinct, unlabelled_mask
from ..output_losses import as_output_loss

_RECURRING = 0.5  # distinct strings per sample up to which strings are labels; above, they are texts


def default_kernel_or_loss(outputs, form, texts, gaps):
    """The default output kernel and loss, one of which is None, by the type of the outputs.

    texts : whether strings get a kernel even if they recur
    gaps : whether some outputs are missing, so that integers beside NaN have become floats
    """
    if isinstance(outputs, list):
        return _default_of_objects(outputs, texts)
    if outputs.ndim > 1:
        return None, "hamming" if np.isin(outputs, (0, 1)).all() else "squared"
    if form[1] is not None:
        return None, "zero_one"
    if gaps and (outputs == np.round(outputs)).all() and _recur(outputs):
        warn(
            "y: whole numbers beside NaN are taken for numbers, by the squared loss; if they are labels, set "
            "output_loss='zero_one', or give a list with None for those not known"
        )
    return None, "squared"


def _default_of_objects(outputs, texts):
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


def drop_missing_labels(y, output_kernel, output_loss):
    """Outputs in which -1 among integer labels is missing; see ``data.objects.unlabelled_mask``."""
    kind, dtype = y.form
    if output_kernel is not None or kind != "array" or dtype is None or dtype.kind == "b" or y.items.ndim != 1:
        return y
    rows = np.flatnonzero(y.known)
    missing = rows[unlabelled_mask(y.items[rows].astype(int))]
    others = y.items[np.setdiff1d(rows, missing)]
    classes = _classes("zero_one" if output_loss is None else output_loss, others) if len(missing) else None
    if classes is None or NO_LABEL in list(classes):
        return y
    warn(
        f"y: {NO_LABEL} stands for no label, of {len(missing)} samples, as in scikit-learn's semi-supervised "
        "estimators; if it is a class, set output_loss=ZeroOne(labels=...) with it among them"
    )
    items, known = y.items.copy(), y.known.copy()
    items[missing], known[missing] = np.nan, False
    return replace(y, items=items, known=known, all_known=others, no_label=NO_LABEL)


def _classes(output_loss, outputs):
    """The classes of a loss, None if it is no loss of classes."""
    return as_output_loss(output_loss).resolve(outputs).classes(np.unique(outputs))


def _recur(outputs):
    """Whether outputs occur twice on average."""
    return len(distinct(outputs)[0]) <= _RECURRING * len(outputs)
