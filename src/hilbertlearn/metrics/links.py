"""Scores of predicted links over pairs of nodes; each sorts the scores once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from .._utils.validation import check_choice

PAIRS = ("upper", "all")


def link_roc_auc(adjacency, scores, pairs="upper"):
    """Area under the ROC curve: how often a linked pair scores higher than an unlinked pair; ties count one half.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n, m), or array of shape (m,)
        Positive for a link, 0 for none; NaN in a dense array is unknown and ignored. A vector is a list of pairs.
    scores : array of the same shape
        Scores of the pairs, higher for a link.
    pairs : {"upper", "all"} or boolean array of shape (n, m), default="upper"
        Pairs that are scored: "upper" for i < j of a square matrix, "all" (for example of test nodes and training
        nodes), or a mask.

    Returns
    -------
    auc : float
        Between 0 and 1, NaN when all of the pairs or none of them are links.

    References
    ----------
    - Fawcett (2006). An introduction to ROC analysis. Pattern Recognition Letters 27.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import metrics
    >>> links = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> scores = np.array([[0.0, 0.9, 0.5], [0.9, 0.0, 0.4], [0.5, 0.4, 0.0]])
    >>> metrics.link_roc_auc(links, scores)
    0.5
    """
    links, all_pairs = (part.scores for part in _sorted_scores(adjacency, scores, pairs))
    n_links, n_others = len(links), len(all_pairs) - len(links)
    if n_links == 0 or n_others == 0:
        return np.nan
    below, not_above = (np.searchsorted(all_pairs, links, side) for side in ("left", "right"))
    ranks = (below + not_above + 1) / 2  # from 1; tied scores have their mean rank
    return float((ranks.sum() - n_links * (n_links + 1) / 2) / n_links / n_others)


def link_average_precision(adjacency, scores, pairs="upper"):
    """Average precision: the area under the step function of precision over recall.

    The mean over links of the share of links among the pairs that have at least the link's score. Chance gives the
    share of links among all pairs.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n, m), or array of shape (m,)
        Positive for a link, 0 for none; NaN in a dense array is unknown and ignored. A vector is a list of pairs.
    scores : array of the same shape
        Scores of the pairs, higher for a link.
    pairs : {"upper", "all"} or boolean array of shape (n, m), default="upper"
        Pairs that are scored: "upper" for i < j of a square matrix, "all" (for example of test nodes and training
        nodes), or a mask.

    Returns
    -------
    precision : float
        Between 0 and 1, NaN when no pair is a link.

    References
    ----------
    - Davis and Goadrich (2006). The relationship between precision-recall and ROC curves. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import metrics
    >>> links = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> scores = np.array([[0.0, 0.9, 0.5], [0.9, 0.0, 0.4], [0.5, 0.4, 0.0]])
    >>> round(metrics.link_average_precision(links, scores), 3)
    0.833
    """
    links, all_pairs = _sorted_scores(adjacency, scores, pairs)
    if len(links.scores) == 0:
        return np.nan
    return float(np.mean(links.at_least(links.scores) / all_pairs.at_least(links.scores)))


def best_f1_threshold(adjacency, scores, pairs="upper", sample_weight=None):
    """The threshold of scores, above which pairs are predicted as links, that maximises F1.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n, m), or array of shape (m,)
        Positive for a link, 0 for none; NaN in a dense array is unknown and ignored. A vector is a list of pairs.
    scores : array of the same shape
        Scores of the pairs, higher for a link.
    pairs : {"upper", "all"} or boolean array of shape (n, m), default="upper"
        Pairs that are scored: "upper" for i < j of a square matrix, "all" (for example of test nodes and training
        nodes), or a mask.
    sample_weight : array of the shape of scores, default=None
        Weights of the pairs; None for ones.

    Returns
    -------
    threshold : float
        Midpoint between the lowest score of a predicted link and the highest score below; the highest of equally good
        thresholds. Infinity if no pair is a link.
    f1 : float
        F1 of ``scores >= threshold`` on these pairs; 1 if no pair is a link.

    References
    ----------
    - Brouard, Szafranski and d'Alché-Buc (2016). Input output kernel regression: supervised and semi-supervised
      structured output prediction with operator-valued kernels. Journal of Machine Learning Research 17.
    - Lipton, Elkan and Naryanaswamy (2014). Optimal thresholding of classifiers to maximize F1 measure. ECML PKDD.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import metrics
    >>> links = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> scores = np.array([[0.0, 0.9, 0.5], [0.9, 0.0, 0.4], [0.5, 0.4, 0.0]])
    >>> metrics.best_f1_threshold(links, scores)
    (0.4, 0.8)
    """
    links, all_pairs = _sorted_scores(adjacency, scores, pairs, sample_weight)
    if len(links.scores) == 0:
        return np.inf, 1.0
    lowest = np.unique(links.scores)[::-1]  # other thresholds cannot be better
    f1 = 2 * links.at_least(lowest) / (links.mass[0] + all_pairs.at_least(lowest))
    threshold = lowest[f1.argmax()]
    n_rejected = np.searchsorted(all_pairs.scores, threshold)
    if n_rejected > 0:
        rejected = all_pairs.scores[n_rejected - 1]
        between = rejected + (threshold - rejected) / 2
        if between > rejected:  # false for adjacent floating-point numbers
            threshold = between
    return float(threshold), float(f1.max())


class _SortedScores(NamedTuple):
    """Scores (n,) in increasing order, and the total weight (n + 1,) of each score and all larger ones."""

    scores: np.ndarray
    mass: np.ndarray

    @classmethod
    def from_scores(cls, scores, weights):
        """Sort scores (n,) with weights (n,), None for ones."""
        if weights is None:
            return cls(np.sort(scores), np.arange(len(scores), -1, -1))
        order = np.argsort(scores)
        return cls(scores[order], np.append(np.cumsum(weights[order][::-1])[::-1], 0.0))

    def at_least(self, values):
        """Total weight of the scores that are at least as large as each of the values."""
        return self.mass[np.searchsorted(self.scores, values)]


def _sorted_scores(adjacency, scores, pairs, weights=None):
    """Sorted scores of the linked pairs and of all known pairs."""
    if not scipy.sparse.issparse(adjacency):
        adjacency = np.asarray(adjacency, dtype=float)
    scores = np.asarray(scores, dtype=float)
    weights = None if weights is None else np.asarray(weights, dtype=float)
    arrays = [array for array in (adjacency, scores, weights) if array is not None]
    if len({array.shape for array in arrays}) > 1:
        raise ValueError(
            "adjacency and scores must have the same shape, one entry a pair, got "
            + " and ".join(str(array.shape) for array in arrays)
        )
    is_scored = _pair_mask(pairs, scores.shape)
    if scipy.sparse.issparse(adjacency):
        rows, columns = (adjacency > 0).nonzero()
        is_counted = is_scored[rows, columns]
        linked: Any = (rows[is_counted], columns[is_counted])
    else:
        linked = is_scored & (adjacency > 0)
        is_scored = is_scored & ~np.isnan(adjacency)
    if np.isnan(scores[is_scored]).any():
        raise ValueError("scores has NaN where adjacency is known; leave these pairs out by a mask in pairs")
    return tuple(
        _SortedScores.from_scores(scores[mask], None if weights is None else weights[mask])
        for mask in (linked, is_scored)
    )


def _pair_mask(pairs, shape):
    """Mask of the pairs that are scored."""
    if isinstance(pairs, str):
        check_choice(pairs, "pairs", PAIRS, f", or a mask {shape}")
        if pairs == "all" or len(shape) == 1:
            return np.ones(shape, dtype=bool)
        if shape[0] != shape[1]:
            raise ValueError(f"pairs='upper' needs a square matrix, got shape {shape}; give pairs='all' or a mask")
        return np.arange(shape[0])[:, None] < np.arange(shape[1])
    mask = np.asarray(pairs)
    if mask.dtype != bool or mask.shape != shape:
        raise ValueError(
            f"pairs must be a mask of the shape of scores, {shape}, got shape {mask.shape} and type {mask.dtype}"
        )
    return mask
