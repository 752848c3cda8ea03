"""The part of a conformal predictor that is about objects and links: sets of candidates, of partners, probabilities."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.validation import _check_sample_weight, _num_samples

from .._utils.naming import unnamed_in_errors
from .._utils.progress import Progress, propagate_callbacks
from ..data.objects import StructuredOutputs, take
from ..links import LinkPredictor
from ..structured import StructuredPredictor
from .candidate_scores import as_candidate_score
from .candidates import CandidateCalibration, all_candidates, as_lists, scored_by
from .links import LinkCalibration, held_out_pairs, pairs_of, refitted_links
from .objects import (
    OBJECTIVE,
    Judge,
    ObjectData,
    ObjectModels,
    has_closed_form,
    objects_without_each,
    refits_of_objects,
    refitted_objects,
)
from .splits import check_enough
from .wrapped import fitted, innermost

_EACH = 500  # samples up to which "auto" has a model without each of them,
_SCORES = 10**6  # if there are no more scores of candidates by all these models a query


@unnamed_in_errors
class SetPredictor:
    """Fits and sets of ``ConformalPredictor`` around a ``StructuredPredictor`` or a ``LinkPredictor``."""

    method: Any
    score: Any
    cv: Any
    calibration: Any
    n_jobs: Any
    random_state: Any
    verbose: Any
    estimator_: Any
    calibration_: Any
    _wrapped: Callable
    _groups: Callable
    _first_choice: Callable
    _splits: Callable
    _own: Callable
    _calibrated: Callable

    def _fit_special(self, level, X, y, sample_weight, groups, candidates_per_query):
        """Fit around a predictor of objects or links; whether the wrapped estimator is one."""
        kind = innermost(self._wrapped())[0]
        if isinstance(kind, StructuredPredictor):
            self._fit_objects(level, X, y, sample_weight, groups, candidates_per_query)
            return True
        if candidates_per_query is not None:
            raise ValueError(
                "candidates_per_query is of outputs that are objects; leave it out, or give a StructuredPredictor"
            )
        if isinstance(kind, LinkPredictor):
            self._fit_links(level, X, y, sample_weight, groups)
            return True
        return False

    # ---------------------------------------------------------------- objects

    def _fit_objects(self, level, X, y, sample_weight, groups, lists):
        wrapped, score = self._wrapped(), as_candidate_score(self.score)
        data, groups = self._objects(X, y, sample_weight), self._groups(X, groups)
        if lists is not None:
            lists = as_lists(lists, take(data.outputs.items, data.rows), data.n_samples)
        method, refits = self._first_choice(data, groups), None
        check_enough(len(data.rows), level, method)
        if method == "split":
            splits = self._object_splits(method, data, groups, level)
            refits = refits_of_objects(wrapped, data, splits, n_jobs=self.n_jobs, progress=self._progress())
        model = self._fitted_to_all(X, y, sample_weight) if refits is None else refits[0]
        rules = innermost(model)[0].space_.rules
        every = all_candidates(rules, take(data.outputs.items, data.rows))
        score, by = scored_by(score, rules, every is not None or lists is not None)
        closed_form = method != "split" and groups is None and by == OBJECTIVE and has_closed_form(model, X)
        if method == "auto":
            most = max(map(len, lists)) if lists is not None else 1 if every is None else len(every)
            few = len(data.rows) <= _EACH and len(data.rows) * most <= _SCORES
            method = "jackknife+" if closed_form and few else "cv+"
        self.method_, self.closed_form_ = method, closed_form and method == "jackknife+"
        models: ObjectModels
        if self.closed_form_:
            models, judge = objects_without_each(model, data), Judge(model)
        elif refits is not None:
            models = found = refitted_objects(refits, data, splits, by)
            (judge,) = found.judges
        else:
            splits = self._object_splits(method, data, groups, level)
            refits = refits_of_objects(wrapped, data, splits, n_jobs=self.n_jobs, progress=self._progress())
            models, judge = refitted_objects(refits, data, splits, by), Judge(model, by=by)
        own = None if lists is None else [lists[i] for i in models.rows]
        self.calibration_ = CandidateCalibration(models, judge, score, data.weights[models.rows], level, every, own)
        self.calibration_.check()
        self.estimator_, self.n_calibration_ = judge.model, len(models.rows)

    def _object_splits(self, method, data, groups, level):
        splits = self._splits(method, data, groups)
        check_enough(sum(len(test) for _, test in splits), level, method)
        return splits

    def _objects(self, X, y, sample_weight) -> ObjectData:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        X, outputs = indexable(X)[0], StructuredOutputs.from_y(y)
        n = _num_samples(X)
        if len(outputs) != n:
            raise ValueError(f"X and y must have as many samples, got inconsistent numbers {n} and {len(outputs)}")
        counts = outputs.known.copy()
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, counts, dtype=float, ensure_non_negative=True)
            counts &= sample_weight > 0
        return ObjectData(X, y, outputs, sample_weight, np.flatnonzero(counts))

    def _fitted_to_all(self, X, y, sample_weight=None):
        model = clone(self._wrapped())
        with self._one_model(), propagate_callbacks(model):
            return fitted(model, X, y, sample_weight)

    @contextmanager
    def _one_model(self):
        with self._progress().task("model of all samples", "model", 1, has_subtasks=True) as task:
            yield
            task.step()

    def _progress(self):
        return Progress(type(self).__name__, self.verbose)

    # ---------------------------------------------------------------- links

    def _fit_links(self, level, X, y, sample_weight, groups):
        wrapped = self._wrapped()
        if not isinstance(wrapped, LinkPredictor):
            raise TypeError("estimator: pairs of nodes go to a LinkPredictor itself; transform the features before")
        if sample_weight is not None or groups is not None:
            raise ValueError("sample_weight and groups are not for links: pairs of nodes count alike; leave them out")
        if self.method == "jackknife+":
            raise ValueError(
                "method='jackknife+': a model without each pair of nodes is too many; use 'cv+' or 'split'"
            )
        pairs, linked = pairs_of(X, y)
        method = "cv+" if self.method == "auto" else self.method
        splits = held_out_pairs(pairs, linked, method, self.cv, self.calibration, self.random_state)
        links = sum(int(linked[test].sum()) for _, test in splits)
        check_enough(links, level, method, "links")
        found = refitted_links(wrapped, pairs, linked, splits, n_jobs=self.n_jobs, progress=self._progress())
        if method == "split":
            (self.estimator_,) = found.models
        else:
            self.estimator_ = self._fitted_to_all(pairs, linked)
        self.calibration_ = LinkCalibration(found, self.estimator_, pairs, level)
        self.method_, self.closed_form_, self.n_calibration_ = method, False, links

    # ---------------------------------------------------------------- predict

    def predict_set(self, X=None, candidates=None, candidates_per_query=None, sample_weight=None, allow_empty=False):
        """For each of X the candidates, or of a ``LinkPredictor`` the partners, that conform.

        *Objects* (``StructuredPredictor``): ``CandidateSets`` or ``Balls``. Candidates are scored by what the
        prediction minimises over them. Without any they are those of the estimator, the classes, the outputs seen in
        fit, all rankings of up to 7 items, or all sets of up to 12 labels. Of more items and labels those that conform
        are looked for, for Kendall's loss and the Hamming loss; of other outputs that the decoder makes the set is a
        ball of the loss around the prediction. ``CandidateSets`` are a sequence of collections, best first, with
        ``sizes``, ``contains(y)`` and ``p_values``; ``Balls`` have ``center``, ``radius``, ``contains(y)`` and
        ``sizes``.

        *Links* (``LinkPredictor``): ``PartnerSets``, for each node the names of those that it may be linked to. A link
        that is hidden as the known pairs that calibrate were is among them with the promised probability.

        Parameters
        ----------
        X : inputs; of links features of new nodes, for partners among the known ones, or None for the nodes of fit, for
            partners by pairs that are hidden, or if none is, by those that are not linked
        candidates : outputs, the same for all queries. An output that is none of them is in no set: the promise is
            that a new output is a candidate and left out with probability ``1 - level`` at most.
        candidates_per_query : a list with a collection of candidates for each of X, where ``fit`` had one for each
            sample, or with score="objective" or "loss", which do not compare candidates
        sample_weight : as in ``predict_interval``
        allow_empty : False puts the best candidate into every set; else one may be empty, where no candidate conforms.
            Sets of partners may be empty: nodes need not have any.
        """
        calibration = self._calibrated((CandidateCalibration, LinkCalibration), "predict_set")
        if isinstance(calibration, LinkCalibration):
            if candidates is not None or candidates_per_query is not None or sample_weight is not None:
                raise ValueError("candidates and sample_weight are not for links: the known nodes are the candidates")
            return calibration.partners(X)
        if X is None:
            raise ValueError("X: sets of objects are for inputs; give X")
        X = indexable(X)[0]
        return calibration.predict(X, candidates, candidates_per_query, self._own(X, sample_weight), allow_empty)

    def predict_probability(self, X, method="auto"):
        """Probabilities of links, calibrated on pairs that were held out: (m,) of pairs, (m, l) of new nodes.

        Parameters
        ----------
        X : pairs of nodes of fit that are hidden, ``graphs.Pairs`` or a list of tuples of names; or features of m new
            nodes, whose links with the l known ones, ``estimator_.nodes_[estimator_.known_]``, are asked for
        method : "isotonic", a step function of the score; "platt", a logistic one (Platt 1999); "auto": "isotonic"
            where 500 links or more were held out
        """
        return self._calibrated(LinkCalibration, "predict_probability").probability(X, method)
