"""Scores of predicted links, over pairs of nodes. All need one sort of the scores and one look-up of the links'."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from .._utils.validation import check_choice

PAIRS = ("upper", "all")


def link_roc_auc(adjacency, scores, pairs="upper"):
    """Area under the ROC curve: how often a linked pair has a higher score than one that is not, ties being a half.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n, m), or array of shape (m,)
        Positive for a link, 0 for none. NaN in a dense one is not known and left out. A vector is a list of pairs, of
        which all count.
    scores : array of the same shape
        Higher for a link.
    pairs : {"upper", "all"} or boolean array of shape (n, m), default="upper"
        Which of them count: "upper" for i < j of a square matrix, "all" (a rectangle of test nodes and training
        nodes, say), or a mask.

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
    links, everything = (ordered.scores for ordered in _ordered(adjacency, scores, pairs))
    n_links, n_others = len(links), len(everything) - len(links)
    if n_links == 0 or n_others == 0:
        return np.nan
    below, upto = (np.searchsorted(everything, links, side) for side in ("left", "right"))
    ranks = (below + upto + 1) / 2  # from 1, the mean of those that tied scores have
    return float((ranks.sum() - n_links * (n_links + 1) / 2) / n_links / n_others)


def link_average_precision(adjacency, scores, pairs="upper"):
    """Average precision, the area under the curve of precision by recall as a step function.

    The mean over links of the share of links among the pairs that have at least the link's score. Chance gives the
    share of links among all pairs.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n, m), or array of shape (m,)
        Positive for a link, 0 for none. NaN in a dense one is not known and left out. A vector is a list of pairs, of
        which all count.
    scores : array of the same shape
        Higher for a link.
    pairs : {"upper", "all"} or boolean array of shape (n, m), default="upper"
        Which of them count: "upper" for i < j of a square matrix, "all" (a rectangle of test nodes and training
        nodes, say), or a mask.

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
    links, everything = _ordered(adjacency, scores, pairs)
    if len(links.scores) == 0:
        return np.nan
    return float(np.mean(links.at_least(links.scores) / everything.at_least(links.scores)))


def best_f1_threshold(adjacency, scores, pairs="upper", sample_weight=None):
    """The threshold from which on a score is called a link such that F1 is largest.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n, m), or array of shape (m,)
        Positive for a link, 0 for none. NaN in a dense one is not known and left out. A vector is a list of pairs, of
        which all count.
    scores : array of the same shape
        Higher for a link.
    pairs : {"upper", "all"} or boolean array of shape (n, m), default="upper"
        Which of them count: "upper" for i < j of a square matrix, "all" (a rectangle of test nodes and training
        nodes, say), or a mask.
    sample_weight : array of the shape of scores, default=None
        How many pairs each stands for.

    Returns
    -------
    threshold : float
        Half-way between the lowest score that is called a link and the highest that is not; of thresholds as
        good as each other the highest. Infinity when no pair is a link.
    f1 : float
        What ``scores >= threshold`` has on these pairs; 1 when no pair is a link, and so none is wrong.

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
    links, everything = _ordered(adjacency, scores, pairs, sample_weight)
    if len(links.scores) == 0:
        return np.inf, 1.0
    lowest = np.unique(links.scores)[::-1]  # elsewhere a higher threshold loses no link
    f1 = 2 * links.at_least(lowest) / (links.mass[0] + everything.at_least(lowest))
    threshold = lowest[f1.argmax()]
    n_rejected = np.searchsorted(everything.scores, threshold)
    if n_rejected > 0:
        rejected = everything.scores[n_rejected - 1]
        between = rejected + (threshold - rejected) / 2
        if between > rejected:  # not so for neighbouring floating-point numbers
            threshold = between
    return float(threshold), float(f1.max())


class _Ordered(NamedTuple):
    """Scores (n,) in ascending order, and the mass (n + 1,) of each with all that follow."""

    scores: np.ndarray
    mass: np.ndarray

    @classmethod
    def of(cls, scores, weights):
        if weights is None:
            return cls(np.sort(scores), np.arange(len(scores), -1, -1))
        order = np.argsort(scores)
        return cls(scores[order], np.append(np.cumsum(weights[order][::-1])[::-1], 0.0))

    def at_least(self, values):
        """Mass of the scores that are at least as large as each of the values."""
        return self.mass[np.searchsorted(self.scores, values)]


def _ordered(adjacency, scores, pairs, weights=None):
    """Scores of the linked pairs and of all pairs that count, both in order."""
    if not scipy.sparse.issparse(adjacency):
        adjacency = np.asarray(adjacency, dtype=float)
    scores = np.asarray(scores, dtype=float)
    given = (adjacency, scores) if weights is None else (adjacency, scores, weights := np.asarray(weights, dtype=float))
    if len({one.shape for one in given}) > 1:
        raise ValueError(
            "adjacency and scores must have the same shape, one entry a pair, got "
            + " and ".join(str(one.shape) for one in given)
        )
    counted = _counted(pairs, scores.shape)
    if scipy.sparse.issparse(adjacency):
        rows, columns = (adjacency > 0).nonzero()
        kept = counted[rows, columns]
        linked: Any = (rows[kept], columns[kept])
    else:
        linked = counted & (adjacency > 0)
        counted = counted & ~np.isnan(adjacency)
    if np.isnan(scores[counted]).any():
        raise ValueError("scores has NaN where adjacency is known; leave these pairs out by a mask in pairs")
    return tuple(_Ordered.of(scores[some], None if weights is None else weights[some]) for some in (linked, counted))


def _counted(pairs, shape):
    """Mask of the pairs that count."""
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
