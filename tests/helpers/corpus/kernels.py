"""Kernels: names, objects, lists of terms, vector fields, of the outputs, of objects."""

import numpy as np
import scipy.sparse
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import FunctionalRegressor, LinkPredictor, OperatorKernelRegressor, kernels, operators

from .case import Case
from .data import (
    CHANNELS,
    COUNTS,
    CURVES,
    INPUT_CURVES,
    LINKS,
    NEW,
    NEW_CURVES,
    OPERATOR,
    VECTORS,
    WORDS,
    T,
    X,
)

_POSITIVE, _NEW_POSITIVE = np.exp(X / 2), np.exp(NEW / 2)
_GRAM = rbf_kernel(X, gamma=0.2)


def vector(kernel, **settings):
    return OperatorKernelRegressor(**{"kernel": kernel, "gamma": 0.2, "alpha": 0.02, **settings})


def products(model, new):
    """Inner products of predictions, the same in any basis of the embedding."""
    predicted = model.predict(new)
    return predicted @ predicted.T


def case(kernel, **settings):
    return Case(vector(kernel, **settings), X, VECTORS, NEW)


def positive(kernel, **settings):
    return Case(vector(kernel, **settings), _POSITIVE, VECTORS, _NEW_POSITIVE)


def chosen(kernel, **settings):
    """gamma and alpha left to the data."""
    return case(kernel, gamma="auto", alpha="auto", **settings)


def curves(kernel, inputs=INPUT_CURVES, new=NEW_CURVES):
    return Case(FunctionalRegressor(kernel, alpha=1e-3, grid=T, operator=None), inputs, CURVES, new)


def built(form, **settings):
    return Case(vector(kernels.OutputTensorKernel(form, **settings)), X[:12], VECTORS[:12], NEW)


def overlap(A, B):
    """A kernel of sets, a function of the user's."""
    return np.array([[len(a & b) + 1.0 for b in B] for a in A])


def one_slope(A, B):
    """An operator-valued kernel: constants of their own and one slope."""
    return np.eye(3) + (A @ B.T)[:, :, None, None] * np.ones((3, 3))


def equal_letters(a, b):
    return float(sum(p == q for p, q in zip(a, b)))


def _frame():
    import pandas as pd

    table = pd.DataFrame(X, columns=["a", "b", "c"])
    return table.assign(word=WORDS)


def _columns(combine):
    return kernels.Columns(
        [("rbf", ["a", "b"]), ("matern52", "c"), (kernels.CategoricalKernel(), "word")], combine=combine
    )


CASES = {
    "poly": case("poly", kernel_params={"degree": 2, "coef0": 1.0}),
    "cosine": case("cosine"),
    "chi2": positive("chi2"),
    "tanimoto": Case(vector("tanimoto"), COUNTS, VECTORS, COUNTS[:5]),
    "precomputed": Case(vector("precomputed"), _GRAM, VECTORS, rbf_kernel(NEW, X, gamma=0.2)),
    "PrecomputedKernel": Case(vector(kernels.PrecomputedKernel(_GRAM)), np.arange(24), VECTORS, np.arange(5)),
    "Gaussian process": case(ConstantKernel(2.0) * RBF(1.5)),
    "Matern, chosen": chosen(kernels.Matern(2.0)),
    "KernelSearch": chosen(kernels.KernelSearch(["rbf", "matern12", "laplacian", "linear"])),
    "MetricKernel": chosen(kernels.MetricKernel(n_rounds=2)),
    "two terms": case([("rbf", None), ("linear", operators.Decay())]),
    "two terms, alpha auto": case([("rbf", OPERATOR), ("polynomial", None)], alpha="auto"),
    "CurlFreeKernel": case(kernels.CurlFreeKernel(0.2)),
    "DivergenceFreeKernel": case(kernels.DivergenceFreeKernel(0.2)),
    "HelmholtzKernel": case(kernels.HelmholtzKernel(0.3)),
    "OperatorValuedKernel": case(kernels.OperatorValuedKernel(one_slope)),
    **{f"OutputTensorKernel {form}": built(form) for form in ("i", "ii", "iii", "vi")},
    "Columns, product, chosen": Case(
        lambda: vector(_columns("product"), alpha="auto"), _frame, VECTORS, _frame, needs=("pandas",)
    ),
    "CategoricalKernel": Case(
        vector(kernels.CategoricalKernel()), np.array(WORDS)[:, None], VECTORS, np.array(WORDS[:5])[:, None]
    ),
    "NGrams": Case(vector(kernels.NGrams(2)), WORDS, VECTORS, ["abc", "bcd", "xyz"]),
    "PairwiseKernel": Case(vector(kernels.PairwiseKernel(equal_letters)), WORDS, VECTORS, ["abc", "bbd", "xyz"]),
    "Tanimoto, sparse": Case(
        vector(kernels.Tanimoto()), scipy.sparse.csr_array(COUNTS), VECTORS, scipy.sparse.csr_array(COUNTS[:5])
    ),
    "TanimotoGaussian": Case(vector(kernels.TanimotoGaussian(0.7)), COUNTS, VECTORS, COUNTS[:5]),
    "L2 by name": curves("l2"),
    "curves auto": Case(FunctionalRegressor(grid=T), CHANNELS, CURVES, CHANNELS[:5]),
    "IntegratedKernel": curves(kernels.IntegratedKernel("rbf")),
    "AdditiveKernel": curves(kernels.AdditiveKernel(0.3)),
    "ChannelSum": curves(kernels.ChannelSum(), CHANNELS, CHANNELS[:5]),
    "node_kernel": Case(
        LinkPredictor(gamma=0.2, alpha=0.01, output_kernel=kernels.node_kernel("normalized_laplacian", LINKS, 0.5)),
        X,
        LINKS,
        NEW,
        asks=("pair_scores",),
        uses=("kernels.node_kernel",),
    ),
    "node_embedding": Case(
        vector("rbf"),
        X,
        kernels.node_embedding("diffusion", LINKS, 0.5),
        NEW,
        asks=(products,),
        score=False,
        uses=("kernels.node_embedding",),
    ),
}
