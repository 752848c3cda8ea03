"""Scores of the calibration samples among candidates, and the candidates of queries that conform to them.

With R_i the score of the output of sample i among its candidates by the model k(i) without it, and s_k(x, z) that of a
candidate z of x by model k, the set at x is ``{z : #{i : R_i < s_k(i)(x, z)} < level (n + 1)}``, as in ``calibration``.

*Shared candidates.* An output that is not one of them is scored as an additional candidate. So for candidates that do
not depend on the data, and for all outputs of the data, the event "the new output is a candidate and not in the set"
has probability at most ``1 - level`` (for one model; twice that for several). An output that is no candidate is in no
set.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from ..data.objects import concatenate_outputs, distinct, read_outputs, take, to_array_or_list
from ..decoders.candidates import sort_best_first
from ..structured.candidate_pools import read_candidates, read_lists
from .additive_costs import WeightedLoss, has_additive_costs
from .candidate_scores import CandidateScore, Gap, Objective, PredictionLoss
from .candidate_sets import Balls, CandidateSets, canonical
from .finite_spaces import all_outputs
from .object_models import GAP, LOSS, OBJECTIVE, ObjectModels, OutputObjective
from .ranks import WeightedRanks

LARGEST_SET = 20_000  # members of a set that is listed; larger sets are None
_CHECKED = 10  # largest number of outputs that are scored to list such a set, as a multiple of LARGEST_SET
_LISTING_DECODERS = ("candidates", "classes")  # decoders that minimise over a list


@dataclass(frozen=True, eq=False)
class CandidateCalibration:
    """Models without the calibration samples, a score of candidates, and the candidates of the samples."""

    models: ObjectModels
    objective: OutputObjective  # of the model for point predictions
    score: CandidateScore
    weights: np.ndarray  # (n,) of the calibration samples, used where queries have weights or samples have groups
    level: float
    candidates: Any = None  # default candidates, None where outputs cannot be listed
    lists: list | None = None  # (n,) candidates of each calibration sample
    has_groups: bool = False  # whether groups are the exchangeable units: a query then has the weight of one

    @property
    def rules(self):
        return self.objective.rules

    def check(self):
        """Raise where the output of a sample is not among its candidates."""
        if self.lists is not None:
            for i in range(len(self.lists)):
                self._position(i)

    def predict(self, X, candidates=None, candidates_per_query=None, query_weights=None, allow_empty=False):
        """``CandidateSets`` of the queries, or ``Balls`` where outputs cannot be listed."""
        if candidates is not None and candidates_per_query is not None:
            raise ValueError("candidates and candidates_per_query exclude each other; give one of them")
        if candidates_per_query is not None:
            members = self._members_of_lists(X, candidates_per_query, query_weights, allow_empty)
        elif candidates is not None:
            pool = read_candidates(candidates, self.rules.outputs, "candidates")
            members = self._members_of_pool(X, pool, query_weights, allow_empty)
        elif self.lists is not None:
            raise ValueError(
                "candidates_per_query: fit had candidates for each sample; give those of each query, or candidates for "
                "all of them"
            )
        elif self.candidates is not None:
            members = self._members_of_pool(X, self.candidates, query_weights, allow_empty)
        elif self.objective.kind == LOSS:
            return self._balls(X, query_weights)
        elif self.objective.kind == GAP:
            return self._sets_by_costs(X, query_weights, allow_empty)
        else:
            raise ValueError(
                f"candidates: the decoder {self.rules.decoder!r} makes outputs that cannot be listed; give candidates, "
                "or set score='loss' for balls around the predictions"
            )
        return CandidateSets.from_members(self.rules, list(members))

    # ---------------------------------------------------------------- candidates

    def _members_of_pool(self, X, pool, query_weights, allow_empty):
        """For each query the members of its set, their positions among the candidates, and their p-values."""
        first, _ = distinct(canonical(self.rules, pool))
        outputs = take(pool, first)
        ranks = self._ranks(self._scores_in_pool(outputs), query_weights)
        queries, final, weights = self.models.queries(X), self.objective.queries(X), _weights(X, query_weights)
        for rows in self.models.blocks(_num_samples(X), len(outputs)):
            below = ranks.weight_below(self.score(self.models.values(queries, rows, outputs)))
            orders = _best_first(self.objective.values(final[rows], outputs))
            for q, weight in enumerate(weights[rows]):
                members, p_values = ranks.members(below[q], orders[q], self.level, weight, allow_empty)
                yield take(outputs, members), first[members], p_values

    def _members_of_lists(self, X, lists, query_weights, allow_empty):
        """The same with a list of candidates for each query."""
        if self.lists is None and self.score.by_candidates:
            raise ValueError(
                "candidates_per_query: the score compares an output with the other candidates, and those of the "
                "samples are not known; give fit(X, y, candidates_per_query=...) too, or set score='objective'"
            )
        lists = read_candidate_lists(lists, self.rules.outputs, _num_samples(X))
        scores = self._scores_in_lists() if self.score.by_candidates else self._scores_alone()
        ranks = self._ranks(scores, query_weights)
        queries, final, weights = self.models.queries(X), self.objective.queries(X), _weights(X, query_weights)
        for q, pool in enumerate(lists):
            first, _ = distinct(canonical(self.rules, pool))
            outputs, row = take(pool, first), slice(q, q + 1)
            below = ranks.weight_below(self.score(self.models.values(queries, row, outputs)))
            order = _best_first(self.objective.values(final[row], outputs))[0]
            members, p_values = ranks.members(below[0], order, self.level, weights[q], allow_empty)
            yield take(outputs, members), first[members], p_values

    def _ranks(self, scores, query_weights) -> WeightedRanks:
        weights = None if query_weights is None else self.weights
        return WeightedRanks.from_scores(scores, self.models.model_index, self.models.n_models, weights)

    # ---------------------------------------------------------------- scores of the calibration samples

    def _scores_in_pool(self, candidates):
        """Scores (n,) of the samples' outputs among distinct shared candidates, each completed by the output itself."""
        models, c = self.models, len(candidates)
        combined = concatenate_outputs([candidates, models.outputs])
        first, group = distinct(canonical(self.rules, combined))
        outputs, position = take(combined, first), group[c:]  # position of each sample's output
        scores = np.empty(len(position))
        for rows in models.blocks(len(position), len(outputs)):
            samples = np.arange(len(position))[rows]
            objective = models.out_of_fold(samples, outputs)
            is_candidate = position[samples] < c
            known, extra = np.flatnonzero(is_candidate), np.flatnonzero(~is_candidate)
            in_pool = self.score(objective[known, :c])
            scores[samples[known]] = in_pool[np.arange(len(known)), position[samples[known]]]
            if len(extra):
                added = objective[extra, position[samples[extra]], None]
                scores[samples[extra]] = self.score(np.concatenate([objective[extra, :c], added], axis=1))[:, -1]
        return scores

    def _scores_in_lists(self):
        """Scores (n,) of the samples' outputs among their own candidates."""
        assert self.lists is not None
        scores = np.empty(len(self.lists))
        for i, pool in enumerate(self.lists):
            first, position = self._position(i)
            scores[i] = self.score(self.models.out_of_fold(np.array([i]), take(pool, first)))[0, position]
        return scores

    def _position(self, i):
        """Positions of the distinct candidates of a sample in its list, and of its output among them."""
        assert self.lists is not None
        pool = self.lists[i]
        first, group = distinct(canonical(self.rules, concatenate_outputs([pool, take(self.models.outputs, [i])])))
        if first[group[-1]] == len(pool):
            raise ValueError(
                f"candidates_per_query: the output of sample {self.models.rows[i]} is not among its candidates; add it "
                "to them, or leave the sample out"
            )
        return first, group[-1]

    def _scores_alone(self):
        """Scores (n,) of the samples' outputs, for a score that does not depend on other candidates."""
        scores = np.empty(len(self.models.rows))
        for i in range(len(scores)):
            scores[i] = self.models.out_of_fold(np.array([i]), take(self.models.outputs, [i]))[0, 0]
        return scores

    # ---------------------------------------------------------------- outputs that cannot be listed

    def _sets_by_costs(self, X, query_weights, allow_empty):
        """Sets among all rankings or all sets of labels, whose objective is a sum of costs."""
        ranks, weights = self._ranks(self._scores_alone(), query_weights), _weights(X, query_weights)
        queries, final = self.models.queries(X), self.objective.queries(X)
        predictions = canonical(self.rules, read_outputs(self.objective.machine.predict(X), like=self.rules.outputs)[0])
        sets = []
        for q, weight in enumerate(weights):
            losses = [
                _weighted_loss(objective, part[q])
                for objective, part in zip(self.models.objectives, queries, strict=True)  # type: ignore[attr-defined]
            ]
            minima = [part[q, -1] for part in queries]
            candidates = self._list_candidates(ranks, losses, minima, weight)
            if candidates is None:
                sets.append((None, None, None))
                continue
            candidates = distinct_rows(np.concatenate([predictions[q : q + 1], candidates]))  # the prediction first
            scores = [loss(candidates) - minimum for loss, minimum in zip(losses, minima, strict=True)]
            below = ranks.weight_below(np.stack(scores)[None])[0]
            order = _best_first(_weighted_loss(self.objective, final[q])(candidates)[None])[0]
            if not allow_empty:
                order = np.append(0, order[order != 0])
            members, p_values = ranks.members(below, order, self.level, weight, allow_empty)
            if len(members) > LARGEST_SET:
                sets.append((None, None, None))
                continue
            sets.append((self.rules.loss.restore(candidates[members], self.rules.outputs), None, p_values))
        return CandidateSets.from_members(self.rules, sets, partial(self._conforms, ranks, queries, weights))

    def _list_candidates(self, ranks: WeightedRanks, losses, minima, weight):
        """Canonical outputs (b, M) that include all members of a set; None where they are too many.

        The samples with scores at or above that of a member weigh more than ``total - level (total + weight)``. So for
        at least one model, the samples that it leaves out weigh more than its share of that, which bounds the member's
        score by this model.

        losses, minima : the weighted loss of each model, and its value at the model's prediction
        """
        weight_above, parts = ranks.total - self.level * (ranks.total + weight), []
        for loss, minimum, bound in zip(losses, minima, ranks.bounds(weight_above), strict=True):
            part = loss.outputs_within(minimum + bound, _CHECKED * LARGEST_SET)
            if part is None:
                return None
            parts.append(part)
        return distinct_rows(np.concatenate(parts))

    def _conforms(self, ranks: WeightedRanks, queries, weights, outputs):
        """Which outputs, one for each query, conform (m,)."""
        result = np.empty(len(outputs), dtype=bool)
        for q, weight in enumerate(weights):
            below = ranks.weight_below(self.models.values(queries, slice(q, q + 1), take(outputs, [q])))[0]
            members, _ = ranks.members(below, np.zeros(1, dtype=int), self.level, weight, allow_empty=True)
            result[q] = len(members) > 0
        return result

    def _balls(self, X, query_weights):
        weights = None if query_weights is None else self.weights
        scores = self._scores_alone()
        return Balls.from_scores(self.models, self.objective, X, scores, self.level, weights, query_weights)


def _weights(X, query_weights):
    """Weights (m,) of the queries, ones by default."""
    return np.ones(_num_samples(X)) if query_weights is None else query_weights


def _weighted_loss(objective: OutputObjective, query) -> WeightedLoss:
    """The weighted loss of a model at a query, whose last number is its value at the prediction."""
    return WeightedLoss.from_weights(objective.rules.loss, -query[:-1], objective.rules.references)


def _best_first(objective):
    """Positions (m, c) of the candidates, best first."""
    m, c = objective.shape
    return sort_best_first(-objective, np.broadcast_to(np.arange(c), (m, c)), c)[0]


# ---------------------------------------------------------------- candidates and scores by default


def read_candidate_lists(lists, outputs, m):
    """Candidates of each of m queries, or samples, after reading; None stays None."""
    if lists is None:
        return None
    pool, sizes = read_lists(lists, outputs, m)
    ends = np.cumsum(sizes)
    return [pool.take(np.arange(end - size, end)) for end, size in zip(ends, sizes, strict=True)]


def all_candidates(rules, items):
    """Default candidates: the estimator's, all outputs of a small finite space, or those of the samples.

    None where the decoder makes outputs that cannot be listed. items : outputs of all samples in use
    """
    if rules.candidates is not None:
        return read_candidates(rules.candidates, rules.outputs, "candidates")
    if rules.decoder in _LISTING_DECODERS:
        observed = take(items, distinct(canonical(rules, items))[0])
        classes = None if rules.loss is None else rules.loss.classes(observed)
        return observed if classes is None else read_candidates(to_array_or_list(classes), rules.outputs, "candidates")
    outputs = all_outputs(rules.loss, rules.references) if isinstance(rules.decoder, str) else None
    return None if outputs is None else rules.loss.parts()[0][1].restore(outputs, rules.outputs)


def resolve_score(score, rules, has_candidates):
    """The score in use, and the kind of objective that it is computed from.

    score : None for "auto"; has_candidates : whether outputs can be listed

    "auto" is the gap to the best candidate. For rankings and sets of labels that are too many to list it is the gap to
    the prediction; for other outputs that cannot be listed, the loss to the prediction.
    """
    if score is None:
        score = Gap() if has_candidates or has_additive_costs(rules) else PredictionLoss()
    if score.by_loss:
        return score, LOSS
    if not has_candidates and has_additive_costs(rules) and isinstance(score, Gap) and not score.relative:
        return Objective(), GAP
    return score, OBJECTIVE


def distinct_rows(rows):
    """Distinct rows (n, M) of small integers, in the order of their first occurrence."""
    _, first = np.unique(rows.astype(np.int16), axis=0, return_index=True)
    return rows[np.sort(first)]
