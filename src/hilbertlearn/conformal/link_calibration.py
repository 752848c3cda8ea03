"""Calibration of links: probabilities from scores, and sets of partners.

Pairs of known nodes are samples (``graphs.Pairs``). Some of them, linked or not, are hidden from a model and scored by
it. A new link is exchangeable with the hidden links: with R_i minus their scores and s minus the scores of a pair, the
pair conforms if ``#{i : R_i < s_k(i)} < level (n + 1)``, as in ``calibration``. For new nodes the calibration scores
are cross-validated scores of ``LinkPredictor`` itself, whose folds are nodes. The model of all nodes knows more nodes
than those of the folds, so that the guarantee is approximate there.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils.parallel import delayed

from .._utils.progress import Progress, run_jobs
from .._utils.validation import check_choice
from ..data.graphs import Pairs, is_networkx, node_attributes, row_names
from ..data.graphs.names import as_names
from ..model_selection import EdgeSplit
from .levels import samples_needed
from .partner_sets import PartnerSets
from .ranks import WeightedRanks
from .wrapped import fit_model, scores_of_new_nodes

FOLDS = 5  # default of method="cv+"
_ISOTONIC_FROM = 500  # smallest number of calibration links for which "auto" learns a step function
_INVERSE_PENALTY = 1e6  # C of the logistic regression of Platt's method, large for almost no penalty


def read_pairs(X, y):
    """The known pairs of a graph, and which are linked (m,); X, y : as ``LinkPredictor.fit`` takes them."""
    if isinstance(X, Pairs):
        pairs, linked = X, X.linked if y is None else np.asarray(y)
        if linked.shape != (len(pairs),):
            raise ValueError(f"y must be the labels of {len(pairs)} pairs, got shape {linked.shape}")
        return pairs, (linked > 0).astype(int)
    if y is None and is_networkx(X):
        pairs = Pairs(X)
        return Pairs(X, node_attributes(X, pairs.nodes.tolist())[0]), pairs.linked
    if y is None:
        raise ValueError("y: give the graph of the nodes, or a networkx graph or graphs.Pairs in place of X")
    pairs = Pairs(y.graph() if isinstance(y, Pairs) else y, X)
    return pairs, pairs.linked


def split_pairs(pairs, linked, method, cv, calibration, random_state):
    """Splits (train, test) of the positions of pairs; parts have the same share of links.

    cv : None for 5 folds, a number, ``EdgeSplit`` or another splitter of pairs, or an iterable
    """
    if hasattr(cv, "split"):
        parts = list(cv.split(pairs, linked))
    elif cv is not None and not isinstance(cv, numbers.Integral):
        parts = list(cv)
    elif method == "split":
        splitter = StratifiedShuffleSplit(1, test_size=calibration, random_state=random_state)
        parts = list(splitter.split(linked, linked)) if 2 <= linked.sum() <= len(linked) - 2 else []
    else:
        seed = 0 if random_state is None else random_state
        parts = list(EdgeSplit(FOLDS if cv is None else cv, random_state=seed).split(pairs, linked))
    times = np.zeros(len(pairs), dtype=int)
    for _, test in parts:
        times[test] += 1
    if (times > 1).any():
        raise ValueError("cv has some pairs in several test parts; use a splitter whose test parts are disjoint")
    return parts[:1] if method == "split" else parts


@dataclass(frozen=True, eq=False)
class LinkModels:
    """Models fitted without some pairs, and the scores of these calibration pairs."""

    models: tuple
    scores: np.ndarray  # (n,) of the calibration pairs
    linked: np.ndarray  # (n,) 0 or 1
    model_index: np.ndarray  # (n,) the model without calibration pair i

    def evaluate(self, pairs):
        """Scores (m, K) of pairs by every model."""
        return np.stack([model.decision_function(pairs) for model in self.models], axis=1)


def fit_link_models(estimator, pairs, linked, splits, *, n_jobs=None, progress: Progress) -> LinkModels:
    """Fit a copy of the estimator without the pairs of each test part."""
    work = (delayed(_fit_part)(estimator, pairs, linked, train, test) for train, test in splits)
    task = progress.task("models without some pairs", "model", len(splits), has_subtasks=True)
    models, scores = zip(*run_jobs(task, work, n_jobs), strict=True)
    tests = [test for _, test in splits]
    return LinkModels(
        models,
        np.concatenate(scores),
        np.concatenate([linked[test] for test in tests]),
        np.repeat(np.arange(len(splits)), list(map(len, tests))),
    )


def _fit_part(estimator, pairs, linked, train, test):
    model = fit_model(clone(estimator), pairs[train], linked[train])
    return model, model.decision_function(pairs[test])


@dataclass(frozen=True, eq=False)
class LinkCalibration:
    """Scores of calibration pairs, for probabilities and sets of partners."""

    models: LinkModels
    predictor: Any  # fitted ``LinkPredictor`` for point predictions
    pairs: Pairs  # the known ones
    level: float

    def probability(self, X, method):
        """Probabilities (m,) of pairs, or (m, l) of new nodes with the known ones."""
        check_choice(method, "method", ("auto", "isotonic", "platt"))
        if _are_pairs(X, self.predictor):
            curve = ProbabilityCurve.from_scores(self.models.scores, self.models.linked, None, method)
            return curve(self.models.evaluate(X)).mean(axis=1)
        scores, linked, weights = self._new_node_scores
        curve = ProbabilityCurve.from_scores(scores, linked, weights, method)
        return curve(self.predictor.decision_function(X))

    @cached_property
    def _new_node_scores(self):
        return scores_of_new_nodes(self.predictor)

    # ---------------------------------------------------------------- partners

    def partners(self, X=None) -> PartnerSets:
        """Partners of the nodes of fit, or of new nodes with features X."""
        return self._partners_of_known() if X is None else self._partners_of_new(X)

    def _partners_of_new(self, X):
        scores, linked, _ = self._new_node_scores
        is_link = linked > 0
        links = int(is_link.sum())
        if links < samples_needed(self.level):
            raise ValueError(
                f"level={self.level:g} needs at least {samples_needed(self.level)} calibration links of new nodes, "
                f"there are {links}; lower level, or give more links"
            )
        ranks = WeightedRanks.from_scores(-scores[is_link], np.zeros(links, dtype=int), 1)
        names, known = as_names(row_names(X), "X"), self.predictor.nodes_[self.predictor.known_]
        negative = -self.predictor.decision_function(X)
        below, is_open = ranks.weight_below(negative[:, None]), np.ones(negative.shape, dtype=bool)
        return PartnerSets.from_ranks(names, known, below, negative, is_open, ranks.total, self.level)

    def _partners_of_known(self):
        open_pairs, models = self._open_pairs(), self.models
        is_link = models.linked > 0
        ranks = WeightedRanks.from_scores(-models.scores[is_link], models.model_index[is_link], len(models.models))
        nodes, l = self.pairs.nodes, len(self.pairs.nodes)
        below, negative, is_open = np.full((l, l), np.inf), np.full((l, l), np.inf), np.zeros((l, l), dtype=bool)
        if len(open_pairs):
            scores = -models.evaluate(open_pairs)
            both_orders = (np.r_[open_pairs.first, open_pairs.second], np.r_[open_pairs.second, open_pairs.first])
            below[both_orders] = np.tile(ranks.weight_below(scores[:, :, None])[:, 0], 2)
            negative[both_orders] = np.tile(scores.mean(axis=1), 2)
            is_open[both_orders] = True
        return PartnerSets.from_ranks(nodes, nodes, below, negative, is_open, ranks.total, self.level)

    def _open_pairs(self) -> Pairs:
        """Hidden pairs of known nodes; if there is none, those without a link."""
        l = len(self.pairs.nodes)
        hidden = np.ones((l, l), dtype=bool)
        hidden[self.pairs.first, self.pairs.second] = False
        first, second = np.nonzero(np.triu(hidden, k=1))
        if not len(first):
            return self.pairs[np.flatnonzero(self.pairs.linked == 0)]
        return self.pairs.with_pairs(first, second)


def _are_pairs(X, predictor):
    """Whether X are pairs of nodes, by the rule of ``LinkPredictor.decision_function``."""
    if isinstance(X, Pairs):
        return True
    is_list_of_names = isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(pair, tuple) for pair in X)
    return is_list_of_names or not predictor.link_state_.has_features


@dataclass(frozen=True)
class ProbabilityCurve:
    """The probability of a link as an increasing function of the score."""

    steps: Any = None  # fitted ``IsotonicRegression``; None for the logistic function
    slope: float = 0.0
    constant: float = 0.0

    @classmethod
    def from_scores(cls, scores, linked, weights, method):
        """Learn from scores (n,) of calibration pairs, whether they are linked (n,), and weights (n,) or None."""
        if not 0 < linked.sum() < len(linked):
            content = "no links" if not linked.sum() else "links only"
            raise ValueError(f"the calibration pairs are {content}; probabilities need pairs of both kinds")
        if method == "auto":
            method = "isotonic" if linked.sum() >= _ISOTONIC_FROM else "platt"
        if method == "isotonic":
            return cls(IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(scores, linked, weights))
        mass = np.ones(len(linked)) if weights is None else weights
        links, non_links = mass @ linked, mass @ (1 - linked)
        # Platt's targets inside (0, 1): the slope stays finite where scores separate the links
        high, low = (links + 1) / (links + 2), 1 / (non_links + 2)
        target = np.where(linked > 0, high, low)
        scale = scores.std() or 1.0
        Z = np.tile(scores / scale, 2)[:, None]
        labels = np.repeat([1, 0], len(scores))
        model = LogisticRegression(C=_INVERSE_PENALTY, max_iter=1000)
        model.fit(Z, labels, sample_weight=np.r_[mass * target, mass * (1 - target)])
        return cls(None, max(float(model.coef_[0, 0]) / scale, 0.0), float(model.intercept_[0]))

    def __call__(self, scores):
        if self.steps is None:
            return expit(self.slope * scores + self.constant)
        return self.steps.predict(scores.ravel()).reshape(scores.shape)
