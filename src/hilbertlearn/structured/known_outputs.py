"""Outputs that the settings name, so that coordinates of outputs in batches do not depend on later batches."""

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


def read_known_outputs(y: StructuredOutputs, output_kernel, output_loss) -> StructuredOutputs:
    """All labels of an output loss, or the landmarks of an output kernel, in the form of y, the first batch.

    Raises an error if coordinates would depend on the outputs of later batches.
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
    """The labels that are settings of a loss, None if it learns them from outputs."""
    known = take(y.items, np.flatnonzero(y.known))
    first = take(known, [0])
    labels = snapshot(as_output_loss(output_loss)).resolve(first).classes(first)
    if labels is None or len(labels) < 2:
        return None
    labels, _ = read_outputs(list(labels), like=y.items)
    number = distinct([*labels, *known])[1]
    return labels if number.max() < len(labels) else None


def _in_form(y, items):
    return replace(y, items=items, known=np.ones(len(items), dtype=bool), all_known=items)
