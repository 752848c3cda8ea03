"""Scores of the samples left out at their candidates, and the candidates of queries that conform to them.

With R_i the score of the output of sample i among its candidates by the model k(i) without it, and s_k(x, z) that of a
candidate z of x by model k, the set at x is ``{z : #{i : R_i < s_k(i)(x, z)} < level (n + 1)}``, as in ``calibration``.

*Shared candidates.* An output that is not among them is scored as if it were one more. So for any candidates that were
there before the data, and for all outputs seen in them, the new output is a candidate that the set leaves out with
probability at most ``1 - level`` (for one model; twice that for several). An output that is no candidate is in no set.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from ..data.objects import concatenate_outputs, distinct, read_outputs, take, to_array_or_list
from ..decoders.candidates import best_first
from ..structured.candidate_pools import read_candidates, read_lists
from .candidate_scores import CandidateScore, Gap, Loss, Objective
from .enumerated import all_outputs
from .masses import Masses
from .near_best import WeightedLoss, can_list
from .objects import GAP, LOSS, OBJECTIVE, Judge
from .sets import Balls, CandidateSets, canonical

MOST = 20_000  # members of a set that are listed,
_LOOKED_AT = 10  # and times as many that may be looked at
_SEARCHED = ("candidates", "classes")  # decoders that choose


@dataclass(frozen=True, eq=False)
class CandidateCalibration:
    """Models of objects without some samples, a score, and the candidates of the samples."""

    models: Any  # ``ObjectModels``
    judge: Judge  # the model that ``predict`` asks
    score: CandidateScore
    weights: np.ndarray  # (n,) of the samples left out, for queries that bring theirs
    level: float
    every: Any = None  # outputs that are candidates where none are given
    lists: list | None = None  # (n,) the candidates of the samples left out

    @property
    def rules(self):
        return self.judge.rules

    def check(self):
        """Raise where the output of a sample is not among its candidates."""
        if self.lists is not None:
            for i in range(len(self.lists)):
                self._place(i)

    def predict(self, X, candidates=None, candidates_per_query=None, own=None, allow_empty=False):
        """The sets of candidates, or balls where all outputs are too many to be listed."""
        if candidates is not None and candidates_per_query is not None:
            raise ValueError("candidates and candidates_per_query exclude each other; give one of them")
        if candidates_per_query is not None:
            found = self._each(X, candidates_per_query, own, allow_empty)
        elif candidates is not None:
            pool = read_candidates(candidates, self.rules.outputs, "candidates")
            found = self._shared(X, pool, own, allow_empty)
        elif self.lists is not None:
            raise ValueError(
                "candidates_per_query: fit had candidates for each sample; give those of each query, or candidates for "
                "all of them"
            )
        elif self.every is not None:
            found = self._shared(X, self.every, own, allow_empty)
        elif self.judge.by == LOSS:
            return self._balls(X, own)
        elif self.judge.by == GAP:
            return self._near(X, own, allow_empty)
        else:
            raise ValueError(
                f"candidates: the decoder {self.rules.decoder!r} makes outputs that cannot be listed; give candidates, "
                "or set score='loss' for balls around the predictions"
            )
        return CandidateSets.of(self.rules, list(found))

    # ---------------------------------------------------------------- candidates

    def _shared(self, X, pool, own, allow_empty):
        """For each query the members of its set, their places among the candidates, and their p-values."""
        first, _ = distinct(canonical(self.rules, pool))
        outputs = take(pool, first)
        masses = self._masses(self._held_shared(outputs), own)
        queries, final = self.models.queries(X), self.judge.queries(X)
        for rows in self.models.blocks(_num_samples(X), len(outputs)):
            mass = masses.smaller(self.score(self.models.at(queries, rows, outputs)))
            orders = _best_first(self.judge.objective(final[rows], outputs))
            for q, row in enumerate(range(_num_samples(X))[rows]):
                weight = 1.0 if own is None else own[row]
                chosen, shares = masses.members(mass[q], orders[q], self.level, weight, allow_empty)
                yield take(outputs, chosen), first[chosen], shares

    def _each(self, X, lists, own, allow_empty):
        """The same for lists of candidates."""
        if self.lists is None and self.score.by_candidates:
            raise ValueError(
                "candidates_per_query: the score compares an output with the other candidates, and those of the "
                "samples are not known; give fit(X, y, candidates_per_query=...) too, or set score='objective'"
            )
        lists = as_lists(lists, self.rules.outputs, _num_samples(X))
        held = self._held_lists() if self.score.by_candidates else self._held_own()
        masses = self._masses(held, own)
        queries, final = self.models.queries(X), self.judge.queries(X)
        for row, pool in enumerate(lists):
            first, _ = distinct(canonical(self.rules, pool))
            outputs, here = take(pool, first), slice(row, row + 1)
            mass = masses.smaller(self.score(self.models.at(queries, here, outputs)))
            order = _best_first(self.judge.objective(final[here], outputs))[0]
            chosen, shares = masses.members(mass[0], order, self.level, 1.0 if own is None else own[row], allow_empty)
            yield take(outputs, chosen), first[chosen], shares

    def _masses(self, sizes, own):
        weights = None if own is None else self.weights
        return Masses.of(sizes, self.models.model_of, self.models.n_models, weights)

    # ---------------------------------------------------------------- scores of the samples left out

    def _held_shared(self, outputs):
        """Scores (n,) of the samples' outputs among shared candidates, distinct ones, and themselves."""
        models, c = self.models, len(outputs)
        together = concatenate_outputs([outputs, models.outputs])
        first, group = distinct(canonical(self.rules, together))
        every, own = take(together, first), group[c:]
        sizes = np.empty(len(own))
        for rows in models.blocks(len(own), len(every)):
            samples = np.arange(len(own))[rows]
            objective = models.held_out(samples, every)
            known, extra = own[samples] < c, own[samples] >= c
            sizes[samples[known]] = self.score(objective[known, :c])[np.arange(known.sum()), own[samples[known]]]
            if extra.any():
                with_own = np.concatenate(
                    [objective[extra, :c], objective[np.flatnonzero(extra), own[samples[extra]], None]], axis=1
                )
                sizes[samples[extra]] = self.score(with_own)[:, -1]
        return sizes

    def _held_lists(self):
        """Scores (n,) of the samples' outputs among their own candidates."""
        assert self.lists is not None
        sizes = np.empty(len(self.lists))
        for i, pool in enumerate(self.lists):
            first, place = self._place(i)
            sizes[i] = self.score(self.models.held_out(np.array([i]), take(pool, first)))[0, place]
        return sizes

    def _place(self, i):
        """Where the distinct candidates of a sample left out are in its list, and its output among them."""
        assert self.lists is not None
        pool = self.lists[i]
        first, group = distinct(canonical(self.rules, concatenate_outputs([pool, take(self.models.outputs, [i])])))
        if first[group[-1]] == len(pool):
            raise ValueError(
                f"candidates_per_query: the output of sample {self.models.rows[i]} is not among its candidates; add it "
                "to them, or leave the sample out"
            )
        return first, group[-1]

    def _held_own(self):
        """Scores (n,) of the samples' outputs, of a score that needs no other candidates."""
        sizes = np.empty(len(self.models.rows))
        for i in range(len(sizes)):
            sizes[i] = self.models.held_out(np.array([i]), take(self.models.outputs, [i]))[0, 0]
        return sizes

    # ---------------------------------------------------------------- outputs that are too many to be looked at

    def _near(self, X, own, allow_empty):
        """Sets of all rankings or sets of labels."""
        masses, queries, final = self._masses(self._held_own(), own), self.models.queries(X), self.judge.queries(X)
        best = canonical(self.rules, read_outputs(self.judge.predict(X), like=self.rules.outputs)[0])
        found = []
        for row in range(_num_samples(X)):
            here, weight = slice(row, row + 1), 1.0 if own is None else own[row]
            losses = [_loss_of(judge, own[row]) for judge, own in zip(self.models.judges, queries, strict=True)]
            marks = [own[row, -1] for own in queries]
            listed = self._listed(masses, losses, marks, weight)
            if listed is None:
                found.append((None, None, None))
                continue
            listed = distinct_rows(np.concatenate([best[here], listed]))  # the prediction first
            scores = [loss(listed) - mark for loss, mark in zip(losses, marks, strict=True)]
            mass = masses.smaller(np.stack(scores)[None])[0]
            order = _best_first(_loss_of(self.judge, final[row])(listed)[None])[0]
            if not allow_empty:
                order = np.append(0, order[order != 0])
            chosen, shares = masses.members(mass, order, self.level, weight, allow_empty)
            if len(chosen) > MOST:
                found.append((None, None, None))
                continue
            members = self.rules.loss.restore(listed[chosen], self.rules.outputs)
            found.append((members, None, shares))
        return CandidateSets.of(self.rules, found, partial(self._conform, masses, queries, own))

    def _listed(self, masses, losses, marks, weight):
        """Canonical outputs (b, M) among which are all that conform; None where they are too many.

        Samples with scores at or above those of a member weigh more than ``total - level (total + own)``. So by one
        model at least, those that it leaves out weigh more than its share of that, and the member is within a bound.

        losses, marks : the weighted loss of each model, and its value at the model's prediction
        """
        left, parts = masses.total - self.level * (masses.total + weight), []
        for loss, mark, bound in zip(losses, marks, masses.bounds(left), strict=True):
            part = loss.near(mark + bound, _LOOKED_AT * MOST)
            if part is None:
                return None
            parts.append(part)
        return distinct_rows(np.concatenate(parts))

    def _conform(self, masses, queries, own, outputs):
        """Which outputs, one for each query, conform (m,)."""
        found = np.empty(len(outputs), dtype=bool)
        for row in range(len(found)):
            mass = masses.smaller(self.models.at(queries, slice(row, row + 1), take(outputs, [row])))[0]
            chosen, _ = masses.members(mass, np.zeros(1, dtype=int), self.level, 1.0 if own is None else own[row], True)
            found[row] = len(chosen) > 0
        return found

    def _balls(self, X, own):
        sizes = self._held_own()
        weights = None if own is None else self.weights
        return Balls.of(self.models, self.judge, X, sizes, self.level, weights, own)


def _loss_of(judge, query):
    """The weighted loss of a model at a query, whose last number is its value at the prediction."""
    return WeightedLoss.of(judge.rules.loss, -query[:-1], judge.rules.references)


def _best_first(objective):
    """Numbers (m, c) of the candidates, best first."""
    m, c = objective.shape
    return best_first(-objective, np.broadcast_to(np.arange(c), (m, c)), c)[0]


# ---------------------------------------------------------------- what candidates there are


def as_lists(lists, outputs, m):
    """Candidates of each of m queries, or samples, as they are read."""
    pool, sizes = read_lists(lists, outputs, m)
    ends = np.cumsum(sizes)
    return [pool.take(np.arange(end - size, end)) for end, size in zip(ends, sizes, strict=True)]


def all_candidates(rules, items):
    """Outputs that are candidates where none are given: the estimator's, all there are, or those of the samples.

    None where the decoder makes outputs that cannot be listed. items : outputs of all samples that count
    """
    if rules.candidates is not None:
        return read_candidates(rules.candidates, rules.outputs, "candidates")
    if rules.decoder in _SEARCHED:
        seen = take(items, distinct(canonical(rules, items))[0])
        classes = None if rules.loss is None else rules.loss.classes(seen)
        return seen if classes is None else read_candidates(to_array_or_list(classes), rules.outputs, "candidates")
    listed = all_outputs(rules.loss, rules.references) if isinstance(rules.decoder, str) else None
    return None if listed is None else rules.loss.parts()[0][1].restore(listed, rules.outputs)


def scored_by(score, rules, listed):
    """The score in use, and what outputs are judged by; score : None for "auto", listed : whether there are candidates.

    "auto" is the gap to the best candidate. Where all rankings or sets of labels are candidates and too many to be
    looked at, it is that to the prediction; of other outputs that cannot be listed, the loss to the prediction.
    """
    if score is None:
        score = Gap() if listed or can_list(rules) else Loss()
    if score.by_loss:
        return score, LOSS
    if not listed and can_list(rules) and isinstance(score, Gap) and not score.relative:
        return Objective(), GAP
    return score, OBJECTIVE


def distinct_rows(rows):
    """Rows (n, M) of small whole numbers without repetitions, in the order in which they come first."""
    _, first = np.unique(rows.astype(np.int16), axis=0, return_index=True)
    return rows[np.sort(first)]
