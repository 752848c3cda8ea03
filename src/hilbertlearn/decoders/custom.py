"""Decoders given by users: functions of weights, outputs and loss, or objects with such a method ``decode``."""

from __future__ import annotations

import numpy as np

from ..data.objects import read_outputs


def check_decoder(decoder, candidates):
    """Return the decoder; raise an error that states what it must be."""
    if isinstance(decoder, type) or not (callable(decoder) or hasattr(decoder, "decode")):
        raise TypeError(
            "decoder must be a name, a function (weights, outputs, loss) -> outputs or an object with such a method "
            f"decode, got {decoder!r}"
        )
    if candidates is not None:
        raise ValueError("candidates: a decoder of your own takes none; set candidates=None, or let it know them")
    return decoder


def decode_custom(decoder, weights, outputs, loss):
    """Outputs (m,) of the decoder from weights (m, c) of c outputs; their number is checked."""
    decoded = getattr(decoder, "decode", decoder)(weights, outputs, loss)
    try:
        number = len(decoded)
    except TypeError:
        raise TypeError(
            f"decoder must return {len(weights)} outputs, one for each query, got {type(decoded).__name__}"
        ) from None
    if number != len(weights):
        raise ValueError(
            f"decoder returned {number} outputs for {len(weights)} queries; return one for each row of weights"
        )
    known = read_outputs(decoded, like=outputs)[1]
    if not known.all():
        raise ValueError(
            f"decoder returned None or NaN for query {int(np.argmin(known))}; return an output for each query"
        )
    return decoded
