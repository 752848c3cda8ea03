"""ConformalPredictor: methods, scores, intervals, regions, bands, sets, partners; sets of given scores."""

import numpy as np

from hilbertlearn import (
    ConformalPredictor,
    FunctionalRegressor,
    LinkPredictor,
    OperatorKernelRegressor,
    QuantileRegressor,
    StructuredPredictor,
    conformal,
    losses,
)

from .case import ITERATED, Case
from .data import CLASSES, CURVES, GAPS, IRREGULAR, LINKS, NEW, NUMBERS, RANKINGS, VECTORS, T, X

_RBF = {"kernel": "rbf", "gamma": 0.2, "alpha": 0.02}
VECTOR = OperatorKernelRegressor(**_RBF)
ROBUST = OperatorKernelRegressor(**_RBF, loss=losses.Huber(0.3), tol=1e-12)
CURVE = FunctionalRegressor(**_RBF, grid=T)
OBJECTS = StructuredPredictor(**_RBF)
QUANTILES = QuantileRegressor((0.1, 0.5, 0.9), **_RBF, coupling=1.0, tol=1e-10)


def wrapped(estimator=VECTOR, method="auto", score="auto", **settings):
    return ConformalPredictor(estimator, method, score=score, **{"level": 0.8, "random_state": 0, **settings})


def case(y=VECTORS, asks=("predict", "predict_interval"), estimator=VECTOR, options=None, **settings):
    return Case(wrapped(estimator, **settings), X, y, NEW, options or {}, asks=asks)


def region(score, **settings):
    return case(asks=("predict_region",), score=score, **settings)


def sets(y, score="auto", estimator=OBJECTS, **settings):
    return case(y, ("predict_set",), estimator, score=score, **settings)


def partners(model, new):
    return model.predict_set()


def probabilities(model, new):
    return model.predict_probability([(0, 1), (2, 5), (7, 11), (3, 4)])


def novelty(model, new):
    return model.estimator_.novelty(new)


def radius(model, new):
    return model.predict_set(new).radius


def given_scores(model, new):
    """Sets of scores of a model of somebody else's."""
    rng = np.random.default_rng(0)
    held_out, scores = rng.normal(size=(20, 5)), rng.normal(size=(3, 5))
    return conformal.sets_of_scores(held_out, rng.integers(0, 5, 20), scores, level=0.7)


CASES = {
    "defaults": Case(ConformalPredictor(), X, VECTORS, NEW, asks=("predict", "predict_interval", "predict_region")),
    "defaults, functions": Case(ConformalPredictor(FunctionalRegressor()), X, CURVES, NEW, asks=("predict_band",)),
    "defaults, classes": Case(ConformalPredictor(StructuredPredictor()), X, CLASSES, NEW, asks=("predict_set",)),
    "jackknife+, gaps": case(GAPS, ("predict_interval", "predict_region")),
    "robust": Case(wrapped(ROBUST), X, VECTORS, NEW, asks=("predict_region",), **ITERATED),
    "MaxScaled": region(conformal.scores.ScaledMaximum("scale")),
    "Mahalanobis": region(conformal.scores.Mahalanobis(0.5), method="split"),
    "NoveltyScaled": region(conformal.scores.NoveltyScaled()),
    "novelty": case(asks=(novelty, "predict_interval"), score="novelty", method="cv+"),
    "bands, irregular": case(IRREGULAR, ("predict_band",), CURVE, method="split"),
    "quantiles": Case(
        wrapped(QUANTILES, "split"),
        X,
        NUMBERS,
        NEW,
        asks=("predict_interval",),
        rtol=1e-5,
        reason="a loss without curvature: predictions are known to the root of the gap",
    ),
    "sets, Gap": sets(CLASSES, conformal.candidate_scores.Gap(relative=True)),
    "sets, Objective": sets(CLASSES, conformal.candidate_scores.Objective()),
    "sets, Rank": sets(CLASSES, conformal.candidate_scores.ObjectiveRank()),
    "sets, Likelihood": sets(CLASSES, conformal.candidate_scores.Likelihood(0.3)),
    "sets, Cumulative": sets(CLASSES, conformal.candidate_scores.CumulativeMass(0.3, 0.1)),
    "sets, Loss": sets(CLASSES, conformal.candidate_scores.PredictionLoss()),
    "sets of rankings": sets(RANKINGS, estimator=StructuredPredictor(**_RBF, output_loss="kendall")),
    "balls": case(NUMBERS, (radius,), StructuredPredictor(**_RBF, output_loss="absolute"), score="loss"),
    "partners": Case(wrapped(LinkPredictor(gamma=0.2, alpha=0.01)), X, LINKS, None, asks=(partners, probabilities)),
    "given scores": Case(wrapped(), X, VECTORS, NEW, asks=(given_scores,), uses=("conformal.sets_of_scores",)),
}
