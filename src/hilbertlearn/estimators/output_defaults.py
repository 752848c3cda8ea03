"""The output kernel or loss of outputs for which none was given."""

from __future__ import annotations

import numpy as np

from .. import kernels
from ..outputs import distinct

_RECURRING = 0.5  # distinct strings a sample up to which they are labels and not texts


def default_rule(outputs, form, texts):
    """An output kernel or loss by what the outputs are; texts : strings have a kernel even if they recur."""
    if isinstance(outputs, list):
        if all(isinstance(item, str) for item in outputs):
            recur = not texts and len(distinct(outputs)[0]) <= _RECURRING * len(outputs)
            return (None, "zero_one") if recur else (kernels.NGrams(), None)
        if all(isinstance(item, (set, frozenset)) for item in outputs):
            return None, "hamming"
        names = list(dict.fromkeys(type(item).__name__ for item in outputs))
        mixed = f"a mix of {' and '.join(names[:3])}" if len(names) > 1 else f"of {names[0]}"
        raise ValueError(
            f"y is a list of objects, {mixed}: give output_kernel or output_loss; only numbers, labels, 0/1 matrices, "
            "sets of labels and strings, all of one kind, have defaults (np.array(y) makes rows of tuples of numbers)"
        )
    if outputs.ndim == 1:
        return None, "zero_one" if form[1] is not None else "squared"
    return None, "hamming" if np.isin(outputs, (0, 1)).all() else "squared"
