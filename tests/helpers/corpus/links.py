"""LinkPredictor: defaults, similarities, output kernels, losses, hidden pairs, new nodes."""

import numpy as np

from hilbertlearn import LinkPredictor
from hilbertlearn.graphs import Pairs
from hilbertlearn.model_selection import EdgeSplit

from .case import ITERATED, Case
from .data import LINKS, NEW, N, X

_ALONE = {"similarities": None, "cosine": False, "gamma": 0.2, "alpha": 0.01}
_HIDDEN = LINKS.copy()
_HIDDEN[2, 7] = _HIDDEN[7, 2] = _HIDDEN[1, 9] = _HIDDEN[9, 1] = np.nan
_PAIRS = Pairs(LINKS, X)
_FIRST = next(EdgeSplit(3, random_state=0).split(_PAIRS))


def pairs_known(model, new):
    return model.pair_scores()


def top_links(model, new):
    return [f"{u}-{v}" for u, v, *_ in np.asarray(model.predict_links(top_k=3))[:3]]


_ASKS = ("pair_scores", pairs_known)


def case(y=LINKS, asks=_ASKS, **settings):
    return Case(LinkPredictor(**{"gamma": 0.2, "alpha": 0.01, **settings}), X, y, NEW, asks=asks)


def alone(**settings):
    """Scores of the learnt function alone."""
    return case(**{**_ALONE, **settings})


CASES = {
    "defaults": Case(LinkPredictor(), X, LINKS, NEW, asks=_ASKS),
    "defaults, hidden pairs": Case(LinkPredictor(), X, _HIDDEN, NEW, asks=_ASKS),
    "defaults, some nodes": Case(LinkPredictor(), X, LINKS[:18, :18], NEW, asks=_ASKS, score=False),
    "pairs": Case(
        LinkPredictor(gamma=0.2, alpha=0.01),
        _PAIRS[_FIRST[0]],
        None,
        _PAIRS[_FIRST[1]],
        asks=("predict", "decision_function"),
        score=False,
        uses=("model_selection.EdgeSplit",),
    ),
    "alone, cosine": alone(cosine=True),
    "alone, hinge": Case(LinkPredictor(**_ALONE, loss="hinge", tol=1e-12), X, LINKS, NEW, asks=_ASKS, **ITERATED),
    "alone, nodes left out": alone(alpha="auto", criterion="nodes", scoring="average_precision"),
    "some similarities": case(similarities=("adamic_adar", "attributes", "learnt")),
    "unlabelled nodes": Case(
        LinkPredictor(**_ALONE, manifold=0.1), X, LINKS[:18, :18], NEW, asks=("pair_scores",), score=False
    ),
    "weights of links": case(LINKS * (1 + np.add.outer(np.arange(N), np.arange(N)) % 3)),
}
