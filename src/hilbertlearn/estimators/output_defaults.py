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
        raise ValueError(
            "y is a list of objects: give output_kernel or output_loss; only numbers, labels, 0/1 matrices, sets of "
            "labels and strings have defaults"
        )
    if outputs.ndim == 1:
        return None, "zero_one" if form[1] is not None else "squared"
    return None, "hamming" if np.isin(outputs, (0, 1)).all() else "squared"
