"""Weighted sums of losses: the best of the known outputs and of the proposals of the parts' decoders."""

from __future__ import annotations

import numpy as np

from .._utils.blocks import slices
from ..data.objects import take
from .candidates import best_outputs, block_size

_LOSSES = 2**20  # losses of a block of proposals at all outputs, 8 MB


def decode_sum(decoders, W, Y, loss):
    """Outputs (m,) with a small ``sum_i W[q, i] loss(z, Y[i])``, W (m, n), loss a sum with ``parts()``.

    decoders : functions ``(W, Y, loss) -> outputs`` by name; a part with another decoder proposes nothing

    The result is never worse than the best of Y or than any proposal.
    """
    pool = loss.all_outputs(Y)
    indices = best_outputs(-W, Y, loss, pool)
    best = [pool[i] for i in indices]
    values = weighted_losses(W, take(pool, indices), Y, loss)
    for _, part in loss.parts():
        if part.decoder in decoders:
            proposals = part.restore(decoders[part.decoder](W, part.check(Y), part), Y)
            losses = weighted_losses(W, proposals, Y, loss)
            for q in np.flatnonzero(losses < values):
                best[q], values[q] = proposals[q], losses[q]
    return np.array(best) if isinstance(Y, np.ndarray) else best


def weighted_losses(W, Z, Y, loss):
    """``sum_i W[q, i] loss(Z[q], Y[i])`` (m,) for outputs Z, one for each query."""
    values = np.empty(len(W))
    for rows in slices(len(W), block_size(_LOSSES) // max(len(Y), 1)):
        values[rows] = np.einsum("qi,qi->q", W[rows], loss(Z[rows], Y))
    return values
