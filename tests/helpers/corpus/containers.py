"""Inputs and outputs in containers: pandas, polars, scikit-fda, scipy.sparse, networkx, lists of objects."""

import numpy as np
import scipy.sparse

from hilbertlearn import FunctionalRegressor, LinkPredictor, OperatorKernelRegressor, StructuredPredictor, kernels

from .case import Case
from .data import CURVE_GAPS, CURVES, GAPS, IRREGULAR, LINKS, NEW, VECTORS, WORDS, N, T, X

_RBF = {"kernel": "rbf", "gamma": 0.2, "alpha": 0.02}
VECTOR, OBJECTS = OperatorKernelRegressor(**_RBF), StructuredPredictor(**_RBF)
CURVE = FunctionalRegressor("rbf", gamma=0.2, alpha=1e-3)
_INDEX = [f"row {i}" for i in range(N)]
_SPARSE = scipy.sparse.csr_array(np.where(X > 0.3, X, 0.0))


def _frame(values, columns, rows=slice(None)):
    def make():
        import pandas as pd

        return pd.DataFrame(values, columns=columns, index=_INDEX[: len(values)])[rows]

    return make


def _polars(values, columns):
    def make():
        import polars as pl

        return pl.DataFrame(values, schema=columns)

    return make


def _series():
    import pandas as pd

    return pd.Series(pd.Categorical(WORDS), name="word", index=_INDEX)


def _text_series():
    import polars as pl

    return pl.Series("word", WORDS)


def _fda(values, points=T):
    def make():
        import skfda

        return skfda.FDataGrid(values, points)

    return make


def _fda_basis():
    import skfda

    return skfda.FDataGrid(CURVES, T).to_basis(skfda.representation.basis.BSplineBasis((0, 2), n_basis=5))


def _fda_irregular():
    import skfda

    points, values = zip(*zip(IRREGULAR.points, IRREGULAR.values))
    starts = np.cumsum([0, *map(len, points[:-1])])
    return skfda.FDataIrregular(starts, np.concatenate(points), np.concatenate(values), domain_range=(0, 2))


def _fda_space():
    import skfda

    return FunctionalRegressor(
        "rbf", gamma=0.2, alpha=1e-3, grid=T, space=skfda.representation.basis.FourierBasis((0, 2), n_basis=5)
    )


def _networkx():
    import networkx as nx

    return nx.from_numpy_array(LINKS)


def _edges():
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(LINKS))]


_ABC, _UVW = ["a", "b", "c"], ["u", "v", "w"]
_LINKS = {"asks": ("pair_scores",), "score": False}
_FDA = {"needs": ("skfda",)}
CASES = {
    "pandas, defaults": Case(
        OperatorKernelRegressor(), _frame(X, _ABC), _frame(GAPS, _UVW), _frame(NEW, _ABC), needs=("pandas",)
    ),
    "pandas, categories": Case(OBJECTS, X, _series, NEW, needs=("pandas",)),
    "pandas, curves": Case(CURVE, X, _frame(CURVE_GAPS, T), NEW, needs=("pandas",)),
    "polars": Case(VECTOR, X, _polars(VECTORS, _UVW), NEW, needs=("polars",)),
    "sparse inputs": Case(VECTOR, _SPARSE, VECTORS, _SPARSE[:5]),
    "scikit-fda": Case(CURVE, X, _fda(CURVES), NEW, **_FDA),
    "scikit-fda, basis": Case(CURVE, X, _fda_basis, NEW, **_FDA),
    "scikit-fda, irregular": Case(
        FunctionalRegressor("rbf", gamma=0.2, alpha=1e-3, tol=1e-12), X, _fda_irregular, NEW, **_FDA
    ),
    "scikit-fda, space": Case(_fda_space, X, CURVES, NEW, **_FDA),
    "IrregularFunctions, inputs": Case(
        FunctionalRegressor(kernels.L2(0.3), alpha=1e-3, operator=None, grid=T), IRREGULAR, CURVES
    ),
    "networkx": Case(LinkPredictor(gamma=0.2, alpha=0.01), X, _networkx, NEW, needs=("networkx",), **_LINKS),
    "edge list": Case(LinkPredictor(gamma=0.2, alpha=0.01), X, _edges, NEW, **_LINKS),
}
