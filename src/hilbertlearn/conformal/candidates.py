"""Scores of the samples left out at their candidates, and the candidates of queries that conform to them.

With R_i the score of the output of sample i among its candidates by the model k(i) without it, and s_k(x, z) that of a
candidate z of x by model k, the set at x is ``{z : #{i : R_i < s_k(i)(x, z)} < level (n + 1)}``, as in ``calibration``.

*Shared candidates.* An output that is not among them is scored as if it were one more. So for any candidates that were
there before the data, and for all outputs seen in them, the new output is a candidate that the set leaves out with
probability at most ``1 - level`` (for one model; twice that for several). An output that is no candidate is in no set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from ..decoders.candidates import best_first
from ..estimators.pools import read_candidates, read_lists
from ..outputs import distinct, joined, plain, take
from .candidate_scores import CandidateScore, Gap, Loss
from .enumerated import all_outputs
from .masses import Masses
from .objects import Judge, ObjectModels
from .sets import Balls, CandidateSets, canonical

_SEARCHED = ("candidates", "classes")  # decoders that choose


@dataclass(frozen=True, eq=False)
class CandidateCalibration:
    """Models of objects without some samples, a score, and the candidates of the samples."""

    models: ObjectModels
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
        elif self.score.by_loss:
            return self._balls(X, own)
        else:
            raise ValueError(
                f"candidates: the decoder {self.rules.decoder!r} makes outputs that cannot be listed; give candidates, "
                "or set score='loss' for balls around the predictions"
            )
        return CandidateSets.of(self.rules, *found)

    # ---------------------------------------------------------------- candidates

    def _shared(self, X, pool, own, allow_empty):
        first, group = distinct(canonical(self.rules, pool))
        outputs = take(pool, first)
        masses = self._masses(self._held_shared(outputs), own)
        queries, final = self.models.queries(X), self.judge.queries(X)
        members, places, chances = [], [], []
        for rows in self.models.blocks(_num_samples(X), len(outputs)):
            mass = masses.smaller(self.score(self.models.at(queries, rows, outputs)))
            objective = self.judge.objective(final[rows], outputs)
            for q, row in enumerate(range(_num_samples(X))[rows]):
                weight = 1.0 if own is None else own[row]
                chosen, chance = masses.members(mass[q], _best_first(objective[q]), self.level, weight, allow_empty)
                members.append(take(outputs, chosen))
                places.append(first[chosen])
                chances.append(chance)
        return members, places, chances

    def _each(self, X, lists, own, allow_empty):
        if self.lists is None and self.score.by_candidates:
            raise ValueError(
                "candidates_per_query: the score compares an output with the other candidates, and those of the "
                "samples are not known; give fit(X, y, candidates_per_query=...) too, or set score='objective'"
            )
        lists = as_lists(lists, self.rules.outputs, _num_samples(X))
        held = self._held_lists() if self.score.by_candidates else self._held_own()
        masses = self._masses(held, own)
        queries, final = self.models.queries(X), self.judge.queries(X)
        members, places, chances = [], [], []
        for row, pool in enumerate(lists):
            first, _ = distinct(canonical(self.rules, pool))
            outputs, here = take(pool, first), slice(row, row + 1)
            mass = masses.smaller(self.score(self.models.at(queries, here, outputs)))
            objective = self.judge.objective(final[here], outputs)
            weight = 1.0 if own is None else own[row]
            chosen, chance = masses.members(mass[0], _best_first(objective[0]), self.level, weight, allow_empty)
            members.append(take(outputs, chosen))
            places.append(first[chosen])
            chances.append(chance)
        return members, places, chances

    def _masses(self, sizes, own):
        weights = None if own is None else self.weights
        return Masses.of(sizes, self.models.model_of, self.models.n_models, weights)

    # ---------------------------------------------------------------- scores of the samples left out

    def _held_shared(self, outputs):
        """Scores (n,) of the samples' outputs among shared candidates, distinct ones, and themselves."""
        models, c = self.models, len(outputs)
        together = joined([outputs, models.outputs])
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
        first, group = distinct(canonical(self.rules, joined([pool, take(self.models.outputs, [i])])))
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

    # ---------------------------------------------------------------- balls

    def _balls(self, X, own):
        sizes = self._held_own()
        weights = None if own is None else self.weights
        return Balls.of(self.models, self.judge, X, sizes, self.level, weights, own)


def _best_first(objective):
    """Numbers (c,) of the candidates, best first."""
    return best_first(-objective, np.arange(len(objective)), len(objective))[0]


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
        return seen if classes is None else read_candidates(plain(classes), rules.outputs, "candidates")
    listed = all_outputs(rules.loss, rules.references) if isinstance(rules.decoder, str) else None
    return None if listed is None else rules.loss.parts()[0][1].restore(listed, rules.outputs)


def default_score(every, lists) -> CandidateScore:
    """The score for "auto": the gap where outputs are chosen among candidates, else balls by the loss."""
    return Loss() if every is None and lists is None else Gap()
