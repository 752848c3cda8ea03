"""Outputs that are known before the data are: what coordinates of batches may be made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._utils.fitting import snapshot
from ..data.objects import StructuredOutputs, distinct, read_outputs, take
from ..output_losses import as_output_loss
from ..spaces import OutputKernel

_REMEDY = (
    "give output_loss= with all its labels, such as ZeroOne(labels), or output_kernel=OutputKernel(kernel, "
    "landmarks=...) alone; or fit in memory"
)


def known_outputs(y: StructuredOutputs, output_kernel, output_loss) -> StructuredOutputs:
    """All labels of an output loss, or the landmarks of an output kernel, in the form of outputs y of a first batch.

    Raises where coordinates would depend on all outputs, which come later.
    """
    if output_kernel is not None:
        landmarks = getattr(output_kernel, "landmarks", None)
        if not isinstance(output_kernel, OutputKernel) or landmarks is None:
            raise ValueError(f"output_kernel: coordinates of outputs in batches must be known before; {_REMEDY}")
        if output_loss is not None:
            raise ValueError(
                "output_loss beside output_kernel decodes by weights of all training outputs, which are not kept of "
                f"batches; {_REMEDY}"
            )
        return _in_form(y, read_outputs(landmarks, like=y.items)[0])
    labels = None if output_loss is None else _labels(y, output_loss)
    if labels is None:
        raise ValueError(f"output_loss: weights of outputs in batches need all outputs that there are; {_REMEDY}")
    return _in_form(y, labels)


def _labels(y, output_loss):
    """The labels that a loss knows of whatever outputs it is given, None where it learns them."""
    known = take(y.items, np.flatnonzero(y.known))
    one = take(known, [0])
    found = snapshot(as_output_loss(output_loss)).resolve(one).classes(one)
    if found is None or len(found) < 2:
        return None
    labels, _ = read_outputs(list(found), like=y.items)
    number = distinct([*labels, *known])[1]
    return labels if number.max() < len(labels) else None


def _in_form(y, items):
    return replace(y, items=items, known=np.ones(len(items), dtype=bool), all_known=items)
