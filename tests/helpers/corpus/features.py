"""Features in place of the kernel matrix; rows in batches, streams and files."""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.kernel_approximation import Nystroem

from hilbertlearn import OperatorKernelRegressor, StructuredPredictor, features, kernels, losses, spaces, streams

from .case import ITERATED, Case
from .data import NEW, OUTLIERS, VECTORS, WORDS, X


def vector(feature_map, **settings):
    return OperatorKernelRegressor(
        **{"kernel": "rbf", "gamma": 0.2, "alpha": 0.02, "feature_map": feature_map, **settings}
    )


def case(feature_map, y=VECTORS, options=None, **settings):
    return Case(vector(feature_map, **settings), X, y, NEW, options or {})


def in_parts(model, X, y):
    """Three calls of ``partial_fit``."""
    for start in (0, 12, 18):
        rows = slice(start, {0: 12, 12: 18, 18: 24}[start])
        model.partial_fit(X[rows], y[rows])
    return model


def from_arrays(model, X, y):
    return model.fit(streams.from_arrays(X, y, batch_size=10))


def from_batches(model, X, y):
    return model.fit(streams.from_batches([streams.Batch(X[:15], y[:15]), streams.Batch(X[15:], y[15:])]))


def from_npy(model, X, y):
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder) / "X.npy", Path(folder) / "y.npy"
        for path, array in zip(paths, (X, y)):
            np.save(path, array)
        return model.fit(streams.from_npy(*paths, batch_size=10))


def from_parquet(model, X, y):
    import pandas as pd

    table = pd.DataFrame(np.hstack([X, y]), columns=[*"abc", "u", "v", "w"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        table.to_parquet(path)
        return model.fit(streams.from_parquet(path, targets=["u", "v", "w"], batch_size=10))


def batches(fit, y=VECTORS, uses=(), needs=(), **settings):
    uses = tuple(f"streams.{name}" for name in uses)
    loose = ITERATED if "loss" in settings else {}
    return Case(vector(8, **settings), X, y, NEW, fit=fit, uses=uses, needs=needs, **loose)


_ROBUST = {"loss": losses.Huber(0.3), "tol": 1e-12}
CASES = {
    "landmarks, defaults": Case(OperatorKernelRegressor(feature_map=8), X, VECTORS, NEW),
    "landmarks, pivoted": case(features.Landmarks(8, method="pivoted")),
    "landmarks, given": case(features.Landmarks(points=X[:6])),
    "random features": case(features.RandomFeatures(20), kernel="matern"),
    "TransformerFeatures": case(features.TransformerFeatures(Nystroem(gamma=0.2, n_components=10, random_state=0))),
    "partial_fit, alpha auto": batches(in_parts, alpha="auto"),
    "partial_fit, words": Case(
        StructuredPredictor(
            "rbf",
            gamma=0.2,
            alpha=0.01,
            feature_map=8,
            output_kernel=spaces.OutputKernel(kernels.NGrams(2), landmarks=["abc", "abd", "xyz"]),
        ),
        X,
        WORDS,
        NEW,
        fit=in_parts,
    ),
    "from_arrays, defaults": Case(
        OperatorKernelRegressor(), X, VECTORS, NEW, fit=from_arrays, uses=("streams.from_arrays",)
    ),
    "from_arrays, huber": batches(from_arrays, OUTLIERS, **_ROBUST),
    "from_batches": batches(from_batches, uses=("from_batches", "Batch", "Source")),
    "from_npy": batches(from_npy, uses=("from_npy",)),
    "from_parquet": batches(from_parquet, uses=("from_parquet",), needs=("pandas", "pyarrow")),
}
