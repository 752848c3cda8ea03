"""Scores and errors of structured outputs, averaged over samples: label sets, rankings, candidates, histograms."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import _check_sample_weight

from .._utils.validation import check_choice, check_number, warn
from ..data.frames import check_order
from ..data.functions import rows_of_none
from ..data.objects import nan_for_missing

TIE_TOLERANCE = 1e-10  # differences of scores below this share of the largest are rounding errors: ties
SUM_TOLERANCE = 1e-6  # deviation of the sum of a histogram from 1 that single precision may cause


def hamming_loss(Y_true, Y_pred, sample_weight=None):
    """Share of the labels that are wrong, averaged over samples.

    Parameters
    ----------
    Y_true : array of shape (n, d)
        Labels, 0/1 or any other codes. NaN is an unknown label; unknown labels, and samples without any known label,
        are ignored.
    Y_pred : array of shape (n, d)
        Predicted labels.
    sample_weight : array of shape (n,), default=None
        Non-negative weights of the samples; None for ones.

    Returns
    -------
    loss : float
        Between 0 and 1, NaN when no label of a sample of positive weight is known.

    References
    ----------
    - Tsoumakas and Katakis (2007). Multi-label classification: an overview. International Journal of Data Warehousing
      and Mining 3.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import metrics
    >>> round(metrics.hamming_loss([[1, 0, 1, np.nan], [0, 0, 1, 1]], [[1, 0, 0, 1], [0, 0, 1, 1]]), 3)
    0.167
    """
    true, pred, known = _known_rows(Y_true, Y_pred, "labels")
    wrong, count = (known & (true != pred)).sum(axis=1), known.sum(axis=1)
    return _mean(wrong / np.maximum(count, 1), sample_weight, count > 0)


def f1_by_sample(Y_true, Y_pred, sample_weight=None):
    """F1 of each sample's label set, ``2 |A ∩ B| / (|A| + |B|)``, averaged over samples.

    Two empty sets agree: their F1 is 1.

    Parameters
    ----------
    Y_true : 0/1 array of shape (n, d), or sequence of n sets
        Labels of the samples.
    Y_pred : same form as Y_true
        Predicted labels.
    sample_weight : array of shape (n,), default=None
        Non-negative weights of the samples; None for ones.

    Returns
    -------
    f1 : float
        Between 0 and 1.

    References
    ----------
    - Dembczyński, Waegeman, Cheng and Hüllermeier (2011). An exact algorithm for F-measure maximization. NIPS 24.

    Examples
    --------
    >>> from hilbertlearn import metrics
    >>> round(metrics.f1_by_sample([{"sea", "sun"}, {"snow"}], [{"sea"}, {"snow"}]), 3)
    0.833
    """
    common, total = _common_labels(Y_true, Y_pred)
    return _mean(np.where(total > 0, 2 * common / np.maximum(total, 1), 1.0), sample_weight)


def normalized_rank_loss(Y_true, Y_pred, sample_weight=None):
    """Rank loss of Ciliberto et al. 2016 as a share of the worst possible one, averaged over samples.

    With ratings r and predicted positions p, larger is better for both, a pair of items with ``r_i > r_j`` costs
    ``r_i - r_j`` if ``p_i < p_j``, and half of it if ``p_i = p_j``. The sum of the costs is divided by the sum of
    ``r_i - r_j`` over these pairs: 0 is the true order, 1 the reverse order, and 1/2 is expected of a random order. The
    loss of the paper is a sum over all ordered pairs, ``2 L - P`` with L the sum of the costs and P the divisor.

    Parameters
    ----------
    Y_true : array of shape (n, d)
        Ratings, larger for better items. NaN is an item without a rating, which is ignored. Samples without two
        different ratings have no order and are ignored.
    Y_pred : array of shape (n, d)
        Positions or scores, entry j that of item j, *larger for better items*. Give the negative of ranks in which 1
        is the best.
    sample_weight : array of shape (n,), default=None
        Non-negative weights of the samples; None for ones.

    Returns
    -------
    loss : float
        Between 0 and 1, NaN when no sample of positive weight has an order.

    References
    ----------
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      equation 22.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import metrics
    >>> ratings = [[5.0, 3.0, np.nan, 1.0]]
    >>> metrics.normalized_rank_loss(ratings, [[4, 3, 2, 1]]), metrics.normalized_rank_loss(ratings, [[3, 4, 2, 1]])
    (0.0, 0.25)
    """
    true, pred, known = _known_rows(Y_true, Y_pred, "scores")
    losses = np.full(len(true), np.nan)
    for i, rated in enumerate(known):
        better, signs = _differences(true[i, rated]), np.sign(_differences(pred[i, rated]))
        worst = np.abs(better).sum()  # each pair is counted twice, here and below
        if worst > 0:
            losses[i] = (worst - (better * signs).sum()) / (2 * worst)
    return _mean(losses, sample_weight, ~np.isnan(losses))


def kendall_tau(Y_true, Y_pred, sample_weight=None):
    """Kendall's rank correlation (tau-b) of each sample's items, averaged over samples.

    The number of pairs of items in the same order minus that of pairs in opposite order, divided by the geometric mean
    of the numbers of pairs that are not tied in Y_true and in Y_pred. A prediction that ties all items has
    correlation 0.

    Parameters
    ----------
    Y_true : array of shape (n, d)
        Ranks, ratings or scores of the items, with the same direction in both arrays. Entry j is the rank of item j,
        not the item in place j (see ``ranks_from_order``). NaN (None, pandas.NA) is unknown; unknown items, and samples
        whose known items are all tied, are ignored.
    Y_pred : array of shape (n, d)
        Predicted ranks, ratings or scores.
    sample_weight : array of shape (n,), default=None
        Non-negative weights of the samples; None for ones.

    Returns
    -------
    tau : float
        Between -1 and 1; NaN, with a warning, if no sample of positive weight has an order.

    References
    ----------
    - Kendall (1945). The treatment of ties in ranking problems. Biometrika 33.

    Examples
    --------
    >>> from hilbertlearn import metrics
    >>> metrics.kendall_tau([[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [3, 2, 1]])
    0.0
    >>> round(metrics.kendall_tau([[1, 2, 3]], [[2, 1, 3]]), 3)
    0.333
    """
    true, pred, known = _known_rows(Y_true, Y_pred, "ranks")
    taus = np.full(len(true), np.nan)
    for i, ranked in enumerate(known):
        a, b = np.sign(_differences(true[i, ranked])), np.sign(_differences(pred[i, ranked]))
        pairs_a, pairs_b = np.abs(a).sum(), np.abs(b).sum()
        if pairs_a > 0:
            taus[i] = (a * b).sum() / np.sqrt(pairs_a * pairs_b) if pairs_b > 0 else 0.0
    tau = _mean(taus, sample_weight, ~np.isnan(taus))
    if np.isnan(tau):
        warn(
            "kendall_tau: no sample has two known items that are not tied; the score is NaN. One row is one ranking",
            UndefinedMetricWarning,
        )
    return tau


def top_k_accuracy(true_index, scores, k=1, *, ties="average", sample_weight=None):
    """Share of the queries whose true candidate is among the k candidates of highest score.

    Candidates may have equal scores, for example molecules with the same fingerprint. With b candidates of higher score
    than the true one, and t candidates of its score including itself, a query counts

    - ``"average"``: ``(k - b) / t``, clipped to [0, 1], the probability when ties are broken at random. A constant
      score has the accuracy of chance, and the order of the candidates does not matter.
    - ``"best"``: 1 if ``b < k``, else 0. A constant score has accuracy 1.
    - ``"worst"``: 1 if ``b + t <= k``, else 0. A constant score has accuracy 0 if there are more than k candidates.

    Scores equal up to rounding (1e-10 of the query's largest absolute score) are ties.

    Parameters
    ----------
    true_index : integer array of shape (n,)
        Position of the true candidate among the candidates of its query, from 0.
    scores : sequence of n arrays, or array of shape (n, c)
        Scores of the candidates of each query, higher for better candidates; queries may have different numbers of
        candidates.
    k : int, default=1
        Number of candidates with the highest scores.
    ties : {"average", "best", "worst"}, default="average"
        How ties count, see above.
    sample_weight : array of shape (n,), default=None
        Non-negative weights of the samples; None for ones.

    Returns
    -------
    accuracy : float
        Between 0 and 1.

    References
    ----------
    - McSherry and Najork (2008). Computing information retrieval performance measures efficiently in the presence of
      tied scores. ECIR.
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, table 1 (metabolite identification).

    Examples
    --------
    >>> from hilbertlearn import metrics
    >>> scores = [[0.9, 0.1, 0.3], [0.5, 0.5]]
    >>> metrics.top_k_accuracy([0, 1], scores, k=1)
    0.75
    >>> metrics.top_k_accuracy([0, 1], scores, k=1, ties="best")
    1.0
    """
    check_number(k, "k", integer=True)
    check_choice(ties, "ties", ("average", "best", "worst"))
    true_index = np.asarray(true_index)
    if true_index.ndim != 1 or len(true_index) != len(scores):
        raise ValueError(
            "true_index must have one integer for each query of scores, "
            f"got shape {true_index.shape} and {len(scores)} queries"
        )
    if true_index.dtype.kind not in "iu":
        raise ValueError(f"true_index must be integers, positions among the candidates, got {true_index.dtype}")
    counts = [_above_and_tied(i, index, np.asarray(s)) for i, (index, s) in enumerate(zip(true_index, scores))]
    above, tied = np.array(counts).reshape(-1, 2).T
    if ties == "best":
        hits = (above < k).astype(float)
    elif ties == "worst":
        hits = (above + tied <= k).astype(float)
    else:
        hits = np.clip((k - above) / tied, 0.0, 1.0)
    return _mean(hits, sample_weight)


def hellinger_distance(Y_true, Y_pred, sample_weight=None):
    """Hellinger distance ``||√y - √z|| / √2`` of histograms, between 0 and 1, averaged over samples.

    Parameters
    ----------
    Y_true : array of shape (n, d)
        Histograms: non-negative, rows of sum 1.
    Y_pred : array of shape (n, d)
        Predicted histograms.
    sample_weight : array of shape (n,), default=None
        Non-negative weights of the samples; None for ones.

    Returns
    -------
    distance : float
        Between 0 and 1.

    References
    ----------
    - Le Cam and Yang (2000). Asymptotics in Statistics: Some Basic Concepts, second edition. Springer.

    Examples
    --------
    >>> from hilbertlearn import metrics
    >>> round(metrics.hellinger_distance([[0.5, 0.5, 0.0]], [[0.5, 0.0, 0.5]]), 3)
    0.707
    """
    return _mean(np.sqrt(_squared_root_distances(Y_true, Y_pred) / 2), sample_weight)


def squared_hellinger_loss(Y_true, Y_pred, sample_weight=None):
    """The loss ``||√y - √z||² / √2`` of histograms, averaged over samples.

    It is √2 times the square of ``hellinger_distance``.

    Parameters
    ----------
    Y_true : array of shape (n, d)
        Histograms: non-negative, rows of sum 1.
    Y_pred : array of shape (n, d)
        Predicted histograms.
    sample_weight : array of shape (n,), default=None
        Non-negative weights of the samples; None for ones.

    Returns
    -------
    loss : float
        Between 0 and √2.

    References
    ----------
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      equation 23 and table 2.

    Examples
    --------
    >>> from hilbertlearn import metrics
    >>> round(metrics.squared_hellinger_loss([[0.5, 0.5, 0.0]], [[0.5, 0.0, 0.5]]), 3)
    0.707
    """
    return _mean(_squared_root_distances(Y_true, Y_pred) / np.sqrt(2), sample_weight)


def _rows(Y_true, Y_pred):
    """Both as float arrays (n, d); NaN is allowed."""
    check_order(Y_pred, getattr(Y_true, "columns", ()), "Y_pred", "Y_true")
    arrays = []
    for Y, name in ((Y_true, "Y_true"), (Y_pred, "Y_pred")):
        try:
            array = np.asarray(nan_for_missing(rows_of_none(Y)), dtype=float)
        except (TypeError, ValueError):
            raise ValueError(
                f"{name} must be an array of numbers (n, d); got a {type(Y).__name__} that is not"
            ) from None
        if array.ndim != 2:
            raise ValueError(f"{name} must have shape (n, d), one row a sample, got {array.shape}")
        if np.isinf(array).any():
            raise ValueError(f"{name} contains infinity; give finite values")
        arrays.append(array)
    true, pred = arrays
    if true.shape != pred.shape:
        raise ValueError(f"Y_true and Y_pred must have the same shape, got {true.shape} and {pred.shape}")
    return true, pred


def _known_rows(Y_true, Y_pred, quantity):
    """Both as float arrays (n, d), and the mask of known entries of Y_true, where predictions must not be NaN."""
    true, pred = _rows(Y_true, Y_pred)
    known = ~np.isnan(true)
    invalid_rows = np.flatnonzero((np.isnan(pred) & known).any(axis=1))
    if len(invalid_rows):
        raise ValueError(
            f"Y_pred is NaN at an entry of sample {invalid_rows[0]} that Y_true knows; predict {quantity} there"
        )
    return true, pred, known


def _common_labels(Y_true, Y_pred):
    """Sizes (n,) of the intersections of label sets, and sums (n,) of the sizes of both sets."""
    if _are_sets(Y_true) and _are_sets(Y_pred):
        if len(Y_true) != len(Y_pred):
            raise ValueError(f"Y_true and Y_pred must have as many sets, got {len(Y_true)} and {len(Y_pred)}")
        return np.array([(len(a & b), len(a) + len(b)) for a, b in zip(Y_true, Y_pred)]).T
    true, pred = _rows(Y_true, Y_pred)
    for Y, name in ((true, "Y_true"), (pred, "Y_pred")):
        invalid = Y[~np.isin(Y, (0, 1))]
        if len(invalid):
            raise ValueError(
                f"{name} must have entries 0 and 1 only, or be a list of sets of labels; got {invalid[0]:g}"
            )
    return (true * pred).sum(axis=1), (true + pred).sum(axis=1)


def _are_sets(Y):
    return len(Y) > 0 and all(isinstance(labels, (set, frozenset)) for labels in Y)


def _differences(values):
    """``values_i - values_j`` of all pairs, (d, d)."""
    return np.subtract.outer(values, values)


def _above_and_tied(query, index, scores):
    """Number of candidates with higher scores than the one at index, and of ties, including itself."""
    if scores.ndim != 1 or not np.isfinite(scores).all():
        raise ValueError(f"scores of query {query} must be finite numbers (n_candidates,), got shape {scores.shape}")
    if not 0 <= index < len(scores):
        raise ValueError(
            f"true_index is {index} for query {query}, which has {len(scores)} candidates numbered from 0 on; "
            "leave out queries whose true candidate is not among them"
        )
    scores = scores.astype(float)
    higher = scores - scores[index]
    tied = np.abs(higher) <= TIE_TOLERANCE * np.abs(scores).max()
    return (higher[~tied] > 0).sum(), tied.sum()


def _squared_root_distances(Y_true, Y_pred):
    """``||√y - √z||²`` of histograms, (n,)."""
    true, pred = _rows(Y_true, Y_pred)
    for Y, name in ((true, "Y_true"), (pred, "Y_pred")):
        is_invalid = ~((Y >= 0).all(axis=1) & (np.abs(Y.sum(axis=1) - 1) <= SUM_TOLERANCE))
        if is_invalid.any():
            row = np.flatnonzero(is_invalid)[0]
            raise ValueError(
                f"{name} must be histograms, non-negative rows of sum 1; row {row} has sum {Y[row].sum():g} and least "
                f"entry {Y[row].min():g}; divide counts by their sum"
            )
    return ((np.sqrt(true) - np.sqrt(pred)) ** 2).sum(axis=1)


def _mean(values, sample_weight, is_scored=None):
    """Weighted mean of the values in the mask `is_scored`, None for all; NaN if their weight is 0."""
    weights = _check_sample_weight(sample_weight, values, dtype=np.float64, ensure_non_negative=True)
    if is_scored is not None:
        weights, values = weights[is_scored], values[is_scored]
    total = weights.sum()
    return float(weights @ values / total) if total > 0 else float("nan")
