"""Predictions hold no more than scikit-learn's working memory beside their result, and do not depend on it."""

import tracemalloc

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

from hilbertlearn import (
    FunctionalRegressor,
    KernelAutoencoder,
    LinkPredictor,
    OperatorKernelRegressor,
    StructuredPredictor,
    losses,
)
from hilbertlearn._utils.blocks import row_blocks

MEMORY = 4  # MiB
rng = np.random.default_rng(0)
N, M, LINKED = 300, 6000, 900
X, NEW = rng.normal(size=(N, 3)), rng.normal(size=(M, 3))
VECTORS = np.c_[X[:, 0], np.sin(X[:, 1])] + 0.1 * rng.normal(size=(N, 2))
CURVES = np.sin(np.multiply.outer(X[:, 0], np.linspace(0, 3, 20))) + X[:, 1:2]
BITS = (X @ rng.normal(size=(3, 12)) + 0.5 * rng.normal(size=(N, 12)) > 1).astype(int)
RANKS = np.argsort(np.argsort(X @ rng.normal(size=(3, 5)), axis=1), axis=1) + 1
GRAPH = (lambda A: (A + A.T) > 0)(np.triu(rng.random((N, N)) < 0.02, 1)).astype(float)


def structured(y, **settings):
    return StructuredPredictor("rbf", gamma=0.3, alpha=1e-2, **settings).fit(X, y)


def functional(**settings):
    return FunctionalRegressor("rbf", gamma=0.3, alpha=1e-2, **settings).fit(X, CURVES)


def links(**settings):
    return LinkPredictor("rbf", gamma=0.3, alpha=1e-2, similarities=None, **settings).fit(X, GRAPH)


CASES = {
    "vectors": lambda: OperatorKernelRegressor("rbf", gamma=0.3, alpha=1e-2).fit(X, VECTORS).predict,
    "terms": lambda: (
        OperatorKernelRegressor([("rbf", None), ("linear", np.eye(2))], alpha=1e-2).fit(X, VECTORS).predict
    ),
    "laplacian": lambda: OperatorKernelRegressor("laplacian", gamma=0.3, alpha=1e-2).fit(X, VECTORS).predict,
    "matern": lambda: OperatorKernelRegressor("matern32", gamma=0.3, alpha=1e-2).fit(X, VECTORS).predict,
    "robust": lambda: OperatorKernelRegressor("rbf", gamma=0.3, alpha=1e-2, loss="huber").fit(X, VECTORS).predict,
    "functions": lambda: functional().predict,
    "functions elsewhere": lambda: lambda new: functional().predict(new, grid=[0.1, 0.7]),
    "functions at points of their own": lambda: (
        lambda new: list(functional().predict(new[:600], grid=[np.array([0.1, 0.7])] * len(new[:600])).values)
    ),
    "loss trick": lambda: structured(BITS, output_loss="f1").predict,
    "loss trick of classes": lambda: structured(BITS[:, 0] + 2 * BITS[:, 1]).predict,
    "loss trick of candidates": lambda: structured(BITS, output_loss="jaccard", decoder="candidates").predict,
    "rankings": lambda: structured(RANKS, output_loss="kendall").predict,
    "all outputs differ": lambda: structured(VECTORS, output_loss="squared").predict,
    "output kernel": lambda: structured(VECTORS, output_kernel="rbf").predict,
    "output kernel of landmarks": lambda: structured(VECTORS, output_kernel="rbf", rank=20).predict,
    "preimage": lambda: lambda new: structured(VECTORS, output_kernel="rbf", decoder="gaussian").predict(new[:400]),
    "kernel and loss": lambda: structured(BITS, output_kernel="tanimoto", output_loss="hamming").predict,
    "robust, kernel and loss": lambda: (
        structured(BITS, output_kernel="tanimoto", output_loss="hamming", loss=losses.Huber(0.5)).predict
    ),
    "regressor": lambda: StructuredPredictor(regressor=Ridge(), output_kernel="rbf").fit(X, VECTORS).predict,
    "best candidates": lambda: (
        lambda new: np.array(
            structured(VECTORS, output_kernel="rbf").predict_topk(new, 3, VECTORS + 0.1, return_indices=True)[2]
        )
    ),
    "candidates of each": lambda: (
        lambda new: structured(VECTORS, output_kernel="rbf").predict(
            new[:2000], candidates_per_query=[VECTORS[i % 50 :][:5] for i in range(len(new[:2000]))]
        )
    ),
    "scores": lambda: lambda new: structured(VECTORS, output_kernel="rbf", rank=5).predict_scores(new, VECTORS[:30]),
    "weights": lambda: structured(VECTORS, output_kernel="rbf").weights,
    "robust weights": lambda: structured(VECTORS, output_kernel="rbf", loss=losses.Huber(0.5)).weights,
    "weights of outputs": lambda: structured(BITS, output_loss="f1").predict_weights,
    "codes": lambda: KernelAutoencoder(2, kernel="rbf", gamma=0.3, alpha=1e-2, max_iter=3).fit(X).transform,
    "links": lambda: links().decision_function,
    "neighbours": lambda: links().predict,
    "centred links": lambda: links(center=True).predict,
    "pairs": lambda: lambda new: links().pair_scores(new[:LINKED]),
    "best pairs": lambda: lambda new: np.array([s for *_, s in links().predict_links(new[:LINKED], top_k=50)]),
}


def peak(function, new):
    tracemalloc.start()
    try:
        found = function(new)
        return found, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", CASES)
def test_peak_memory(case, monkeypatch):
    fits = {}
    for kind in (OperatorKernelRegressor, FunctionalRegressor, StructuredPredictor, LinkPredictor):
        plain = kind.fit

        def once(self, *args, plain=plain, kind=kind):  # of lambdas that fit at each call
            return fits[kind] if kind in fits else fits.setdefault(kind, plain(self, *args))

        monkeypatch.setattr(kind, "fit", once)
    predict = CASES[case]()
    whole = predict(NEW)
    with sklearn.config_context(working_memory=MEMORY):
        predict(NEW[:50])  # whatever loads on first use
        found, used = peak(predict, NEW)
    if isinstance(whole, np.ndarray) and whole.dtype.kind in "iu":
        assert_array_equal(found, whole)
    else:
        # a pre-image is searched for until steps are below 1e-8
        assert_allclose(found, whole, rtol=1e-10, atol=1e-6 if case == "preimage" else 1e-12)
    result = sum(np.asarray(part).nbytes for part in (found if isinstance(found, list) else [found]))
    result += 600 * M if case == "best candidates" else 0  # three small arrays a query, and their headers
    embedded = 3 * 8 * N * LINKED if case in ("pairs", "best pairs") else 0  # of nodes, which all pairs are made of
    assert used < 1.5 * result + embedded + (MEMORY + 1) * 2**20, (used / 2**20, result / 2**20)


def test_blocks_cover_the_rows():
    with sklearn.config_context(working_memory=1):
        for n, width, copies in [(0, 5, 1), (1, 1, 1), (1000, 2**10, 4), (7, 2**30, 1), (5000, 0, 1)]:
            rows = row_blocks(n, width, copies)
            assert [i for block in rows for i in range(n)[block]] == list(range(n))
            assert all(8 * width * copies * (b.stop - b.start) <= 2**20 or b.stop - b.start == 1 for b in rows)
        assert max(b.stop - b.start for b in row_blocks(1000, 10, most=50)) == 5
