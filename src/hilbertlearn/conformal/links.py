"""Links: scores of pairs that were held out make probabilities of scores, and sets of partners.

Pairs of known nodes are samples (``graphs.Pairs``). Some of them, linked or not, are hidden from a model and scored by
it. Among those that are linked, a hidden link is one more: with R_i minus the scores of the links left out and s minus
those of a pair, the pair conforms if ``#{i : R_i < s_k(i)} < level (n + 1)``, as in ``calibration``. For new nodes the
scores left out are those of ``LinkPredictor`` itself, which holds out nodes too; that the model of all nodes knows more
of them than those of its folds makes the promise an approximate one there.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils.parallel import delayed

from .._utils.progress import Progress, propagate_callbacks, run_jobs
from .._utils.validation import check_choice
from ..data.graphs import Pairs, is_networkx, node_attributes, row_names
from ..data.graphs.names import as_names, find_positions
from ..links import LinkPredictor
from ..model_selection import EdgeSplit
from .levels import rank, samples_needed
from .masses import Masses

FOLDS = 5
_ISOTONIC = 500  # links held out from which on a step function is learnt
_WEAK = 1e6  # inverse of the penalty of the logistic function
NEW = "mixed"  # pairs of a known and a new node


def pairs_of(X, y):
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


def held_out_pairs(pairs, linked, method, cv, calibration, random_state):
    """Pairs (train, test) of positions; each part has its share of the links.

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
        raise ValueError("cv holds some pairs out more than once; use a splitter whose test parts are disjoint")
    return parts[:1] if method == "split" else parts


@dataclass(frozen=True, eq=False)
class HeldOutLinks:
    """Models from which some pairs were hidden, and the scores of these."""

    models: tuple
    scores: np.ndarray  # (n,)
    linked: np.ndarray  # (n,) 0 or 1
    model_of: np.ndarray  # (n,) the model from which pair i was hidden

    def at(self, pairs):
        """Scores (m, K) of pairs by every model."""
        return np.stack([model.decision_function(pairs) for model in self.models], axis=1)


def refitted_links(estimator, pairs, linked, splits, *, n_jobs=None, progress: Progress) -> HeldOutLinks:
    """A copy of the estimator fitted without the pairs of each part."""
    work = (delayed(_refit)(estimator, pairs, linked, train, test) for train, test in splits)
    task = progress.task("models without some pairs", "model", len(splits), has_subtasks=True)
    models, scores = zip(*run_jobs(task, work, n_jobs), strict=True)
    tests = [test for _, test in splits]
    return HeldOutLinks(
        models,
        np.concatenate(scores),
        np.concatenate([linked[test] for test in tests]),
        np.repeat(np.arange(len(splits)), list(map(len, tests))),
    )


def _refit(estimator, pairs, linked, train, test):
    model = clone(estimator)
    with propagate_callbacks(model):
        model.fit(pairs[train], linked[train])
    return model, model.decision_function(pairs[test])


@dataclass(frozen=True, eq=False)
class LinkCalibration:
    """Scores of pairs held out, for probabilities and sets of partners."""

    held: HeldOutLinks
    model: LinkPredictor  # that predictions are asked of
    pairs: Pairs  # that are known
    level: float

    def probability(self, X, method):
        """Probabilities (m,) of pairs, or (m, l) of new nodes with the known ones."""
        check_choice(method, "method", ("auto", "isotonic", "platt"))
        if _are_pairs(X, self.model):
            curve = Curve.of(self.held.scores, self.held.linked, None, method)
            return curve(self.held.at(X)).mean(axis=1)
        scores, linked, weights = self._of_nodes
        return Curve.of(scores, linked, weights, method)(self.model.decision_function(X))

    @cached_property
    def _of_nodes(self):
        """Scores, links and weights of the pairs of nodes that were held out with a known one."""
        return self.model.held_out_scores(NEW)

    # ---------------------------------------------------------------- partners

    def partners(self, X=None) -> PartnerSets:
        """The names of nodes that the nodes X may be linked to."""
        return self._partners_of_fit() if X is None else self._partners_of_new(X)

    def _partners_of_new(self, X):
        scores, linked, _ = self._of_nodes
        is_link = linked > 0
        links = int(is_link.sum())
        if links < samples_needed(self.level):
            raise ValueError(
                f"level={self.level:g} needs at least {samples_needed(self.level)} links of nodes that are held out, "
                f"there are {links}; lower level, or give more links"
            )
        masses = Masses.of(-scores[is_link], np.zeros(links, dtype=int), 1)
        names, known = as_names(row_names(X), "X"), self.model.nodes_[self.model.known_]
        found = -self.model.decision_function(X)
        mass = masses.smaller(found[:, None])
        return PartnerSets.of(names, known, mass, found, np.ones(found.shape, dtype=bool), masses.total, self.level)

    def _partners_of_fit(self):
        open_pairs = self._open_pairs()
        is_link = self.held.linked > 0
        masses = Masses.of(-self.held.scores[is_link], self.held.model_of[is_link], len(self.held.models))
        nodes, l = self.pairs.nodes, len(self.pairs.nodes)
        mass, score, asked = np.full((l, l), np.inf), np.full((l, l), np.inf), np.zeros((l, l), dtype=bool)
        if len(open_pairs):
            scores = -self.held.at(open_pairs)
            both = (np.r_[open_pairs.first, open_pairs.second], np.r_[open_pairs.second, open_pairs.first])
            mass[both] = np.tile(masses.smaller(scores[:, :, None])[:, 0], 2)
            score[both] = np.tile(scores.mean(axis=1), 2)
            asked[both] = True
        return PartnerSets.of(nodes, nodes, mass, score, asked, masses.total, self.level)

    def _open_pairs(self) -> Pairs:
        """Pairs of known nodes that are hidden; if there is none, those without a link."""
        l = len(self.pairs.nodes)
        asked = np.ones((l, l), dtype=bool)
        asked[self.pairs.first, self.pairs.second] = False
        first, second = np.nonzero(np.triu(asked, k=1))
        if not len(first):
            return self.pairs[np.flatnonzero(self.pairs.linked == 0)]
        return self.pairs.with_pairs(first, second)


def _are_pairs(X, model):
    """Whether pairs of nodes are asked for, as ``LinkPredictor.decision_function`` has it."""
    if isinstance(X, Pairs):
        return True
    named = isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(pair, tuple) for pair in X)
    return named or not model.has_features


@dataclass(frozen=True)
class Curve:
    """The probability of a link as an increasing function of the score."""

    steps: Any = None  # ``IsotonicRegression``
    slope: float = 0.0
    constant: float = 0.0

    @classmethod
    def of(cls, scores, linked, weights, method):
        """From the scores (n,) of pairs that were held out, linked or not, and how many each stands for."""
        if not 0 < linked.sum() < len(linked):
            seen = "no links" if not linked.sum() else "links only"
            raise ValueError(f"the pairs that were held out are {seen}, so that there is nothing to calibrate by")
        if method == "auto":
            method = "isotonic" if linked.sum() >= _ISOTONIC else "platt"
        if method == "isotonic":
            return cls(IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(scores, linked, weights))
        mass = np.ones(len(linked)) if weights is None else weights
        links, others = mass @ linked, mass @ (1 - linked)
        # Platt's targets, a little inside: so that scores which tell all links apart have no infinite slope
        high, low = (links + 1) / (links + 2), 1 / (others + 2)
        target = np.where(linked > 0, high, low)
        scale = scores.std() or 1.0
        Z = np.tile(scores / scale, 2)[:, None]
        labels = np.repeat([1, 0], len(scores))
        model = LogisticRegression(C=_WEAK, max_iter=1000)
        model.fit(Z, labels, sample_weight=np.r_[mass * target, mass * (1 - target)])
        return cls(None, max(float(model.coef_[0, 0]) / scale, 0.0), float(model.intercept_[0]))

    def __call__(self, scores):
        if self.steps is None:
            return expit(self.slope * scores + self.constant)
        return self.steps.predict(scores.ravel()).reshape(scores.shape)


@dataclass(frozen=True, eq=False)
class PartnerSets(Sequence):
    """For each of m nodes the names of those that it may be linked to, best first.

    Attributes
    ----------
    nodes : (m,) names of the nodes that were asked for
    sets : list of m arrays of names, best first
    p_values : list of m arrays, of each partner
    sizes : (m,) numbers of partners

    References
    ----------
    - Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic learning in a random world. Springer.
    - Lu, L. and Zhou, T. (2011). Link prediction in complex networks: a survey. Physica A 390(6).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import ConformalPredictor, LinkPredictor
    >>> X = np.linspace(0, 3, 24)[:, None]
    >>> close = (abs(X - X.T) < 0.4).astype(int) - np.eye(24, dtype=int)
    >>> predictor = LinkPredictor(gamma=2.0, alpha=1e-3, similarities=None, cosine=True)
    >>> partners = ConformalPredictor(predictor, level=0.8, random_state=0).fit(X, close).predict_set([[1.0]])
    >>> np.sort(X[partners[0], 0]).round(1).tolist()
    [0.7, 0.8, 0.9, 1.0, 1.2, 1.3, 1.4]
    """

    nodes: np.ndarray  # (m,) names
    sets: list = field(repr=False)  # (m,) arrays of names
    p_values: list = field(repr=False)  # (m,) of each partner: the share of links held out with no better score

    @classmethod
    def of(cls, nodes, others, mass, score, asked, total, level):
        """mass, score, asked : (m, l) how many links have better scores, minus the score, and which pairs count."""
        inside = asked & (mass < rank(level, int(total)) - 0.5)
        sets, p_values = [], []
        for keep, own, values in zip(inside, mass, score, strict=True):
            chosen = np.flatnonzero(keep)
            chosen = chosen[np.argsort(values[chosen], kind="stable")]
            sets.append(others[chosen])
            p_values.append(1 - own[chosen] / (total + 1))
        return cls(nodes, sets, p_values)

    @property
    def sizes(self):
        """Numbers (m,) of partners."""
        return np.array([len(own) for own in self.sets], dtype=int)

    def contains(self, pairs):
        """Which pairs (node, partner), by names, are in the sets, (k,); ``graphs.Pairs`` of nodes of fit will do."""
        names = pairs.names.tolist() if isinstance(pairs, Pairs) else list(pairs)
        places = find_positions(as_names([node for node, _ in names], "pairs"), self.nodes) if names else []
        return np.array(
            [place >= 0 and partner in self.sets[place] for place, (_, partner) in zip(places, names, strict=True)],
            dtype=bool,
        )

    def __len__(self):
        return len(self.sets)

    def __getitem__(self, i):
        return self.sets[i]
