"""Scores of the calibration samples, and the sets of outputs that conform to them.

With R_i the score of calibration sample i by the model k(i) without it, and s_k(x, y) that of an output y at x by model
k, the set at x is ``{y : #{i : R_i < s_k(i)(x, y)} < level (n + 1)}`` (Barber et al. 2021, in the form of Gupta et al.
2022 for any score). With one model it is split conformal: s(x, y) at most the ``ceil(level (n + 1))``-th smallest R_i.

*Hulls.* At most k - 1 of the n samples, k = ceil(level (n + 1)), have scores below that of a y in the set. For any
other sample s_k(i)(x, y) <= R_i, so that y is within ``mu_k(i)(x) +- R_i extent_k(i)`` in *all* outputs, or at all
points, at once. So at each point at most k - 1 of the upper ends are below y, and y is not above the k-th smallest of
them; the same holds for the lower ends. Therefore pointwise quantiles of the ends bound the whole set simultaneously.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .levels import conforms, is_bounded, lower_ends, rank, upper_ends
from .observations import IrregularOutputs, RowOutputs
from .row_models import RowModels
from .scores import Score


@dataclass(frozen=True, eq=False)
class Calibration:
    """Models without the calibration samples, and a score of these samples.

    Queries have weights (m,) where the law of the inputs has shifted or samples have groups; None gives all samples the
    same weight.
    """

    models: RowModels
    score: Score
    outputs: RowOutputs | IrregularOutputs  # of the calibration samples
    weights: np.ndarray  # (n,) of the calibration samples, used where queries have weights or samples have groups
    level: float
    has_groups: bool = False  # whether groups are the exchangeable units: a query then has the weight of one

    @cached_property
    def scores(self):
        """Score (n,) of each calibration sample by the model without it; NaN where no ``bounded`` entry is observed."""
        bounded = self.bounded()
        outputs = self.outputs if bounded.all() else self.outputs.masked(bounded)
        scores = outputs.scores_by_sample(self.score, self.models.out_of_fold, self.scales_by_sample)
        return scores if self.models.spreads is None else scores / self.models.spreads

    def bounded(self, query_weights=None):
        """(1, d), or (m, d) with weights: whether enough samples observe an output for a finite interval.

        Sets do not restrict the other outputs.
        """
        observed = np.isfinite(self.residuals)
        if query_weights is None:
            count = observed.sum(axis=0)
            return (rank(self.level, count) <= count)[None]
        return is_bounded(self.level, self.weights @ observed, query_weights[:, None])

    def _bounded_in_both(self, query_weights):
        """Whether outputs are bounded both without weights, as scores need it, and with the weights of queries."""
        return self.bounded() if query_weights is None else self.bounded() & self.bounded(query_weights)

    @property
    def coverage(self) -> float:
        """Share of the calibration samples whose score is at most the bound of the sets."""
        scored = ~np.isnan(self.scores)
        scores, weights = self.scores[scored], self.weights[scored] if self.has_groups else np.ones(scored.sum())
        if not len(scores):
            return 1.0
        bound = upper_ends(scores[None, :, None], self.level, weights, np.ones(1))[0, 0]
        return float(np.average(scores <= min(bound, scores.max()), weights=weights))

    @cached_property
    def residuals(self):
        """Out-of-fold residuals (n, d) of the calibration samples, NaN where not observed."""
        return self.outputs.residuals(self.models.out_of_fold)

    @property
    def _scales(self):
        models = self.models
        return np.ones((1, models.out_of_fold.shape[1])) if models.scales is None else models.scales

    @property
    def scales_by_sample(self):
        """Scale (n, ...) of the model without sample i."""
        return self._scales[self._scale_index]

    @property
    def _scale_index(self):
        """(n,) the scale of the model without sample i."""
        return self.models.scale_index[self.models.model_index]

    def intervals(self, X, query_weights=None):
        """Lower and upper ends (m, d) for each output by itself."""
        return self._ends(X, self._relative(np.abs(self.residuals)), query_weights)

    def _relative(self, sizes):
        """Sizes (n, d) of residuals, relative to the spreads of the posterior where the score follows inputs."""
        return sizes if self.models.spreads is None else sizes / self.models.spreads[:, None]

    def hull(self, X, query_weights=None, interpolate=None):
        """Lower and upper ends (m, d) of the box around the set, simultaneous in all outputs.

        interpolate : takes rows (..., d) to other points of functions, None for the training points
        """
        extents = self.score.extents(self._scales)
        extents = (extents if interpolate is None else interpolate(extents))[self._scale_index]
        lower, upper = self._ends(X, self.scores[:, None] * extents, query_weights, interpolate)
        bounded = self._bounded_in_both(query_weights)
        if not bounded.all():
            free = (~bounded[:, : self._scales.shape[-1]]).astype(float)
            free = (free if interpolate is None else interpolate(free)) > 0
            lower, upper = np.where(free, -np.inf, lower), np.where(free, np.inf, upper)
        return lower, upper

    def _ends(self, X, half_widths, query_weights, interpolate=None):
        """Quantiles of out-of-fold predictions plus and minus half widths (n, d), in units of spreads."""
        parts = []
        for rows, centres, spreads in self.centres(X, interpolate, half_widths.shape[1]):
            lower, upper = ends_around(centres, centres, half_widths if spreads is None else half_widths * spreads)
            weights = self._weight_arguments(query_weights, rows)
            parts.append((lower_ends(lower, self.level, *weights), upper_ends(upper, self.level, *weights)))
        lower, upper = (np.concatenate(ends) for ends in zip(*parts, strict=True))
        return lower, upper

    def _weight_arguments(self, query_weights, rows):
        """Weights of the samples and of some queries; None for both without query weights."""
        return (None, None) if query_weights is None else (self.weights, query_weights[rows])

    def contains(self, X, outputs, query_weights=None):
        """Which outputs, one for each query, are in the sets (m,); entries that are NaN do not matter."""
        bounded = self._bounded_in_both(query_weights)
        outputs = outputs if bounded.all() else outputs.masked(bounded)
        result, scored = np.empty(len(outputs), dtype=bool), ~np.isnan(self.scores)
        for rows, predictions, spreads in self.models.blocks(X):
            weights = (None, None) if query_weights is None else (self.weights[scored], query_weights[rows])
            scores = outputs[rows].scores(self.score, predictions, self._scales[self.models.scale_index])
            scores = scores if spreads is None else scores / spreads
            by_sample = scores[:, self.models.model_index[scored]]
            result[rows] = conforms(by_sample, self.scores[scored], self.level, *weights)
        return result

    def centres(self, X, interpolate=None, size=0):
        """Rows, predictions (m, n, d) by the models without sample i, and spreads, within the working memory.

        Spreads are an array (m, n, 1), or None for ones.

        interpolate, size : to other points of functions, as in ``hull``, and their number
        """
        index = self.models.model_index
        for rows, predictions, spreads in self.models.blocks(X, size):
            values = predictions if interpolate is None else interpolate(predictions)
            yield rows, values[:, index], None if spreads is None else spreads[:, index, None]


def ends_around(lower, upper, half_widths):
    """Predictions (m, n, d) minus and plus half widths (n, d); infinite without a prediction or a finite half width."""
    infinite = np.isinf(half_widths)
    lower_ends, upper_ends = lower - half_widths, upper + half_widths
    if not (infinite.any() or np.isnan(lower).any()):
        return lower_ends, upper_ends
    observed = ~np.isnan(half_widths)
    lower_ends = np.where(infinite | (np.isnan(lower) & observed), -np.inf, lower_ends)
    upper_ends = np.where(infinite | (np.isnan(upper) & observed), np.inf, upper_ends)
    return lower_ends, upper_ends
