"""Finite output spaces, all rankings or all sets of labels: lists of their elements, and sizes of balls of a loss."""

from __future__ import annotations

from itertools import permutations, product
from math import comb

import numpy as np

from ..output_losses import F1, Hamming, Jaccard, Kendall, Spearman

RANKINGS, LABEL_SETS = (Kendall, Spearman), (Hamming, F1, Jaccard)
_ITEMS, _LABELS = 7, 12  # largest numbers whose 5040 rankings, or 4096 sets, are listed; one more item: 8 times as many
_SPEARMAN_ITEMS = 8  # largest number of items whose rankings are listed to count balls of Spearman's loss
_SLACK = 1e-9  # rounding error of a loss that equals the radius


def all_outputs(loss, references):
    """All outputs, canonical, where the loss defines a finite space of few elements; None otherwise.

    references : (c, M) training outputs, canonical
    """
    kinds = [type(part) for _, part in loss.parts()] if loss is not None else []
    if not kinds or np.ndim(references) != 2:
        return None
    M = np.shape(references)[1]
    if all(kind in RANKINGS for kind in kinds) and M <= _ITEMS:
        return np.array(list(permutations(range(1, M + 1))), dtype=float)
    if all(kind in LABEL_SETS for kind in kinds) and M <= _LABELS:
        return np.array(list(product((0.0, 1.0), repeat=M)))
    return None


def as_metric(loss, values):
    """An increasing function of the loss that is a metric; None where none is known.

    For F1 it is Jaccard's distance, for Spearman's loss the square root, a Euclidean distance of ranks.
    """
    if isinstance(loss, F1):
        return 2 * values / (1 + values)
    if isinstance(loss, Spearman):
        return np.sqrt(np.maximum(values, 0.0))
    return values if isinstance(loss, (Kendall, Hamming, Jaccard)) else None


def from_metric(loss, values):
    """The inverse of ``as_metric``, for values at or above zero."""
    if isinstance(loss, F1):
        return np.minimum(values, 1.0) / (2 - np.minimum(values, 1.0))
    return values**2 if isinstance(loss, Spearman) else values


def ball_sizes(loss, centers, radii):
    """Numbers (m,) of outputs with a loss of at most the radii (m,) from centers (m, M), canonical; NaN if unknown."""
    if not isinstance(loss, (*RANKINGS, *LABEL_SETS)):
        return np.full(len(radii), np.nan)
    M = np.shape(centers)[1]
    if isinstance(loss, Spearman) and M > _SPEARMAN_ITEMS:
        return np.full(len(radii), np.nan)
    if isinstance(loss, (Kendall, Spearman, Hamming)):  # the same around every center
        losses, counts = _loss_counts(loss, M)
        sums = np.concatenate([[0.0], np.cumsum(counts)])
        return sums[np.searchsorted(losses, radii + _SLACK, side="right")]
    return np.array(
        [_sets_around(loss, int(a), M, radius) for a, radius in zip(np.sum(centers, 1), radii, strict=True)]
    )


def _loss_counts(loss, M):
    """Values of the loss in increasing order, and numbers of outputs of M items or labels with each."""
    if isinstance(loss, Hamming):
        return np.arange(M + 1) / M, np.array([float(comb(M, j)) for j in range(M + 1)])
    if isinstance(loss, Kendall):
        counts = mahonian(M)
        return np.arange(len(counts)) / max(len(counts) - 1, 1), counts
    rankings = np.array(list(permutations(range(1, M + 1))), dtype=float)
    return np.unique(np.round(loss(rankings[:1], rankings)[0], 12), return_counts=True)


def mahonian(M):
    """Numbers of permutations of M items with 0, 1, ... inversions, M (M - 1) / 2 + 1 of them, as floats."""
    counts = np.ones(1)
    for items in range(2, M + 1):
        counts = np.convolve(counts, np.ones(items))
    return counts


def _sets_around(loss, a, M, radius):
    """Number of sets within the radius of a set of a labels, by numbers of common and extra labels."""
    number = 0.0
    for common in range(a + 1):
        for extra in range(M - a + 1):
            union, total = a + extra, a + common + extra
            if isinstance(loss, Jaccard):
                value = 1 - common / union if union else 0.0
            else:
                value = 1 - 2 * common / total if total else 0.0
            if value <= radius + _SLACK:
                number += float(comb(a, common) * comb(M - a, extra))
    return number
