"""The output kernel or loss of outputs for which none was given."""

from __future__ import annotations

import numpy as np

from .. import kernels
from .._validation import warn
from ..outputs import distinct

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


def _recur(outputs):
    """Whether outputs come twice on average."""
    return len(distinct(outputs)[0]) <= _RECURRING * len(outputs)
