"""Fitted models of every kind with small test data, for the tests of the report."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import (
    ConformalPredictor,
    FunctionalRegressor,
    IrregularFunctions,
    KernelAutoencoder,
    LinkPredictor,
    OperatorKernelRegressor,
    QuantileRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    losses,
)
from hilbertlearn.graphs import Pairs

GAMMA, ALPHA = 1.0, 1e-3
N = 40  # the first half is for fit
RBF = {"kernel": "rbf", "gamma": GAMMA, "alpha": ALPHA}
GRID = np.linspace(0, 2, 15)
_SQUARE = (np.linspace(0, 1, 4), np.linspace(0, 1, 5))


def _inputs():
    rng = np.random.default_rng(0)
    return rng, rng.uniform(-1, 1, size=(N, 2))


def _halves(model, X, y, **more):
    train, test = slice(None, N // 2), slice(N // 2, None)

    def cut(values, rows):
        return values.iloc[rows] if hasattr(values, "iloc") else values[rows]

    return model.fit(cut(X, train), cut(y, train)), cut(X, test), cut(y, test), more


def vectors():
    rng, X = _inputs()
    Y = np.c_[np.sin(3 * X[:, 0]), X[:, 1] ** 2, X.sum(axis=1)] + 0.1 * rng.normal(size=(N, 3))
    Y[rng.random(Y.shape) < 0.15] = np.nan
    index = [f"mix {i}" for i in range(N)]
    return pd.DataFrame(X, index, ["water", "sand"]), pd.DataFrame(Y, index, ["slump", "flow", "strength"])


def curves():
    rng, X = _inputs()
    Y = np.sin(2 * GRID + 3 * X[:, :1]) + X[:, 1:] * GRID + 0.05 * rng.normal(size=(N, len(GRID)))
    Y[rng.random(Y.shape) < 0.1] = np.nan
    return X, Y


def irregular():
    X, Y = curves()
    rng = np.random.default_rng(1)
    points = [np.sort(rng.uniform(0, 2, size=rng.integers(4, 9))) for _ in range(N)]
    values = [np.interp(t, GRID, np.nan_to_num(y)) for t, y in zip(points, Y)]
    return X, IrregularFunctions(points, values, domain=(0, 2))


def labels():
    _, X = _inputs()
    return X, np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.3, 0.3])]


def rankings():
    rng, X = _inputs()
    return X, (-X @ [[2, 0, -2], [0, 1, 0]] + 0.1 * rng.normal(size=(N, 3))).argsort(axis=1).argsort(axis=1) + 1


def label_sets():
    _, X = _inputs()
    return X, np.c_[X[:, 0] > 0, X[:, 1] > 0, X.sum(axis=1) > 0.5].astype(int)


def graph():
    rng, X = _inputs()
    near = np.linalg.norm(X[:, None] - X, axis=2) < 0.6
    return X, np.triu(near, 1) + np.triu(near, 1).T.astype(int)


def _pairs():
    pairs = Pairs(graph()[1])
    rows = np.random.default_rng(0).permutation(len(pairs))
    return pairs[rows[:600]], pairs[rows[600:]]


def _conformal(model, **settings):
    return ConformalPredictor(model, **{"level": 0.8, "random_state": 0, **settings})


def _fda():
    from skfda import FDataGrid

    X, Y = curves()
    return X, FDataGrid(np.nan_to_num(Y), GRID)


def _two_variables():
    _, X = _inputs()
    s, t = _SQUARE
    return X, np.sin(X[:, 0])[:, None, None] * s[:, None] + X[:, 1][:, None, None] * t


CASES = {
    "vectors": lambda: _halves(OperatorKernelRegressor(**RBF), *vectors()),
    "one number": lambda: _halves(OperatorKernelRegressor(**RBF), *_number()),
    "robust": lambda: _halves(OperatorKernelRegressor("rbf", gamma=GAMMA, loss="huber"), *vectors()),
    "related": lambda: _halves(OperatorKernelRegressor(operator="covariance", **RBF), *vectors()),
    "chosen": lambda: _halves(OperatorKernelRegressor(operator=None), *vectors()),
    "intervals": lambda: _halves(_conformal(OperatorKernelRegressor(**RBF)), *vectors()),
    "ellipsoids": lambda: _halves(_conformal(OperatorKernelRegressor(**RBF), score="mahalanobis"), *_whole()),
    "path": lambda: _halves(RegularizationPathCV(OperatorKernelRegressor("rbf", gamma=GAMMA)), *vectors()),
    "two-way path": lambda: _halves(
        RegularizationPathCV(
            OperatorKernelRegressor("rbf", gamma=GAMMA, loss=losses.Huber()),
            [1e-4, 1e-2],
            loss_params={"kappa": [0.1, 1.0]},
        ),
        *vectors(),
    ),
    "search": lambda: _halves(
        GridSearchCV(
            make_pipeline(StandardScaler(), OperatorKernelRegressor("rbf", alpha=ALPHA)),
            {"operatorkernelregressor__gamma": [0.1, 1.0]},
            cv=3,
        ),
        *vectors(),
    ),
    "another's": lambda: _halves(_conformal(make_pipeline(StandardScaler(), Ridge()), cv=4), *_whole()),
    "curves": lambda: _halves(FunctionalRegressor(grid=GRID, **RBF), *curves()),
    "bands": lambda: _halves(
        _conformal(FunctionalRegressor(grid=GRID, operator=None, **RBF)), *curves(), ids=[f"run {i}" for i in range(20)]
    ),
    "any regressor": lambda: _halves(FunctionalRegressor(grid=GRID, regressor=Ridge()), *curves()),
    "irregular": lambda: _halves(_conformal(FunctionalRegressor(grid=GRID, **RBF), method="split"), *irregular()),
    "fda": lambda: _halves(FunctionalRegressor(**RBF), *_fda()),
    "several curves": lambda: _halves(FunctionalRegressor(**RBF), *_several()),
    "two variables": lambda: _halves(FunctionalRegressor(grid=_SQUARE, **RBF), *_two_variables()),
    "quantiles": lambda: _halves(QuantileRegressor((0.1, 0.5, 0.9), coupling=1.0, **RBF), *_number()),
    "quantiles of vectors": lambda: _halves(QuantileRegressor((0.2, 0.8), coupling=1.0, **RBF), *vectors()),
    "quantiles of curves": lambda: _halves(
        QuantileRegressor((0.1, 0.5, 0.9), coupling=1.0, grid=GRID, operator=None, **{**RBF, "alpha": 0.3}), *curves()
    ),
    "conformal quantiles": lambda: _halves(
        _conformal(QuantileRegressor((0.1, 0.5, 0.9), coupling=1.0, **RBF), method="split"), *_number()
    ),
    "labels": lambda: _halves(StructuredPredictor(**RBF), *labels()),
    "sets of labels to choose": lambda: _halves(_conformal(StructuredPredictor(**RBF)), *labels()),
    "rankings": lambda: _halves(
        _conformal(StructuredPredictor(output_loss="kendall", **RBF)), *rankings(), targets=["a", "b", "c"]
    ),
    "label sets": lambda: _halves(StructuredPredictor(output_loss="hamming", **RBF), *label_sets()),
    "sets": lambda: _halves(StructuredPredictor(**RBF), *_sets()),
    "texts": lambda: _halves(StructuredPredictor(output_loss="edit", **RBF), *_texts()),
    "links": lambda: _links(LinkPredictor()),
    "partners": lambda: _links(_conformal(LinkPredictor())),
    "nodes": lambda: _nodes(),
    "codes": lambda: (KernelAutoencoder(2, alpha=1e-3).fit(_inputs()[1][: N // 2]), _inputs()[1][N // 2 :], None, {}),
}


def _number():
    X, Y = vectors()
    return X, Y["strength"].fillna(0.0)


def _whole():
    X, Y = vectors()
    return X, Y.fillna(0.0)


def _several():
    X, Y = curves()
    return X, np.stack([Y, -Y], axis=2)


def _sets():
    X, Y = label_sets()
    return X, np.array([frozenset(f"tag {j}" for j in np.flatnonzero(row)) for row in Y], dtype=object)


def _texts():
    X, words = labels()
    return X, np.array([word + "er" * (i % 2) for i, word in enumerate(words)])


def _links(model):
    some, rest = _pairs()
    return model.fit(some, some.linked), rest, rest.linked, {}


def _nodes():
    X, links = graph()
    half = N // 2
    return LinkPredictor(alpha=1e-2).fit(X[:half], links[:half, :half]), X[half:], links[half:, half:], {}


@cache
def case(name):
    """Model, X, y and arguments of ``report.section``."""
    return CASES[name]()
