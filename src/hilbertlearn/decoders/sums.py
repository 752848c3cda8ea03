"""Weighted sums of losses: the best of the outputs that are known and of those that the parts' decoders propose."""

from __future__ import annotations

import numpy as np

from .._utils.blocks import slices
from ..data.objects import take
from .candidates import at_once, best_outputs

_LOSSES = 2**20  # losses of some proposals at all outputs, computed at once


def decode(decoders, W, Y, loss):
    """Outputs (m,) of small ``sum_i W[q, i] loss(z, Y[i])``, W (m, n), loss a sum with ``parts()``.

    decoders : functions ``(W, Y, loss) -> outputs`` by their names; a part whose decoder is not among them proposes
        nothing. Never worse than the best of Y or of what any part's decoder finds.
    """
    pool = loss.all_outputs(Y)
    at = best_outputs(-W, Y, loss, pool)
    best = [pool[i] for i in at]
    values = weighted_losses(W, take(pool, at), Y, loss)
    for _, part in loss.parts():
        if part.decoder in decoders:
            found = part.restore(decoders[part.decoder](W, part.check(Y), part), Y)
            its = weighted_losses(W, found, Y, loss)
            for q in np.flatnonzero(its < values):
                best[q], values[q] = found[q], its[q]
    return np.array(best) if isinstance(Y, np.ndarray) else best


def weighted_losses(W, Z, Y, loss):
    """``sum_i W[q, i] loss(Z[q], Y[i])`` (m,) for outputs Z, one a query."""
    values = np.empty(len(W))
    for some in slices(len(W), at_once(_LOSSES) // max(len(Y), 1)):
        values[some] = np.einsum("qi,qi->q", W[some], loss(Z[some], Y))
    return values
