"""Kernels of fingerprints and strings by name, and what objects of the wrong kind are told."""

import numpy as np
import pytest
import scipy.sparse
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import KernelAutoencoder, OperatorKernelRegressor, StructuredPredictor, kernels
from hilbertlearn import output_losses as ol

rng = np.random.default_rng(0)
N = 24
BITS = (rng.random((N, 40)) < 0.3).astype(int)
X = rng.normal(size=(N, 2))
NUMBERS = BITS[:, :5].sum(axis=1) + 0.1 * rng.normal(size=N)
WORDS = ["ab" * (i % 4 + 1) + "c" * (i % 3) for i in range(N)]


def by_hand(A, B):
    return np.array([[(a & b).sum() / max((a | b).sum(), 1) for b in B] for a in A])


def model(**settings):
    return OperatorKernelRegressor(**{"alpha": 1e-2, **settings})


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csr_array, np.ndarray.tolist])
def test_tanimoto_of_inputs(form):
    found = model(kernel="tanimoto").fit(form(BITS), NUMBERS)
    expected = model(kernel="precomputed").fit(by_hand(BITS, BITS), NUMBERS)
    assert_allclose(found.predict(form(BITS[:5])), expected.predict(by_hand(BITS[:5], BITS)))
    assert found.gamma_ is None
    assert_refused(lambda: found.predict(form(BITS[:2, :30])), ["30 features", "40 features"])


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csr_array])
def test_tanimoto_of_outputs(form):
    settings = {"kernel": "rbf", "gamma": 2.0, "alpha": 1e-4}
    found = StructuredPredictor(output_kernel="tanimoto", **settings).fit(X, form(BITS))
    predicted, indices = found.predict(X), found.predict_topk(X, 3, form(BITS[:9]), return_indices=True)[2]
    assert type(predicted) is type(form(BITS)) and predicted.dtype == BITS.dtype
    rows = predicted.toarray() if scipy.sparse.issparse(predicted) else predicted
    kernel = StructuredPredictor(output_kernel=lambda A, B: by_hand(A.astype(int), B.astype(int)), **settings)
    assert_array_equal(rows, kernel.fit(X, BITS).predict(X))
    assert_array_equal(indices, kernel.predict_topk(X, 3, BITS[:9], return_indices=True)[2])
    assert_refused(lambda: found.predict(X, form(BITS[:2, :30])), ["candidates", "(40,)", "(2, 30)"])


def test_tanimoto_in_other_places():
    by_name = StructuredPredictor(output_loss=ol.KernelLoss("tanimoto"), alpha=1e-3).fit(X, BITS)
    by_object = StructuredPredictor(output_loss=ol.KernelLoss(kernels.Tanimoto()), alpha=1e-3).fit(X, BITS)
    assert_array_equal(by_name.predict(X), by_object.predict(X))
    with_auto = OperatorKernelRegressor("tanimoto").fit(BITS, NUMBERS)
    assert with_auto.score(BITS, NUMBERS) > 0.5
    assert_allclose(kernels.diagonal("tanimoto", BITS * 1.0), 1)
    assert KernelAutoencoder(kernel="tanimoto").fit(BITS).transform(BITS).shape[0] == N


def test_bit_vectors_of_rdkit():
    data = pytest.importorskip("rdkit.DataStructs")
    vectors = []
    for row in BITS:
        vectors.append(data.ExplicitBitVect(40))
        vectors[-1].SetBitsFromList(np.flatnonzero(row).tolist())
    kernel = kernels.PairwiseKernel(data.TanimotoSimilarity)
    assert_allclose(kernel(vectors, vectors[:3]), by_hand(BITS, BITS[:3]))
    assert_allclose(kernels.Tanimoto()(vectors, vectors[:3]), by_hand(BITS, BITS[:3]))
    expected = model(kernel="tanimoto").fit(BITS, NUMBERS).predict(BITS[:4])
    assert_allclose(model(kernel=kernel).fit(vectors, NUMBERS).predict(vectors[:4]), expected)
    settings = {"kernel": "rbf", "gamma": 2.0, "alpha": 1e-4}
    found = StructuredPredictor(output_kernel=kernel, **settings).fit(X, vectors).predict(X)
    rows = StructuredPredictor(output_kernel="tanimoto", **settings).fit(X, BITS).predict(X)
    assert_array_equal([list(vector) for vector in found], rows)
    assert_refused(
        lambda: model().fit(vectors, NUMBERS), ["X holds objects", "ExplicitBitVect", "kernels.PairwiseKernel"]
    )


@pytest.mark.parametrize("container", [list, np.array, lambda words: np.array(words, dtype=object)])
def test_ngrams_by_name(container):
    by_name = model(kernel="ngrams").fit(container(WORDS), NUMBERS)
    by_object = model(kernel=kernels.NGrams()).fit(container(WORDS), NUMBERS)
    assert_allclose(by_name.predict(container(WORDS[:4])), by_object.predict(container(WORDS[:4])))
    terms = model(kernel=[("ngrams", None)]).fit(container(WORDS), NUMBERS)
    assert_allclose(terms.predict(container(WORDS[:4])), by_object.predict(container(WORDS[:4])))
    best = model(kernel=kernels.KernelSearch(["ngrams", kernels.NGrams(1)])).fit(container(WORDS), NUMBERS)
    assert all(isinstance(one.kernel, kernels.NGrams) for one in kernels.InputKernel(best.kernel_).parts)


def test_ngrams_of_outputs_by_name():
    found = StructuredPredictor(output_kernel="ngrams", alpha=1e-3).fit(X, WORDS)
    assert found.predict(X) == StructuredPredictor(output_kernel=kernels.NGrams(), alpha=1e-3).fit(X, WORDS).predict(X)


def strings_in_a_series():
    return pytest.importorskip("pandas").Series(WORDS)


@pytest.mark.parametrize("make", [lambda: WORDS, lambda: tuple(WORDS), lambda: np.array(WORDS),
                                  lambda: np.array(WORDS, dtype=object), strings_in_a_series])  # fmt: skip
@pytest.mark.parametrize("settings", [{}, {"kernel": "rbf"}, {"kernel": "tanimoto"}])
def test_strings_for_a_kernel_of_numbers(make, settings):
    for estimator in (OperatorKernelRegressor(**settings), StructuredPredictor(**settings)):
        assert_refused(lambda estimator=estimator: estimator.fit(make(), NUMBERS), ["X", "strings", "kernels.NGrams()"])
    fitted = OperatorKernelRegressor(**settings).fit(BITS, NUMBERS)
    assert_refused(lambda: fitted.predict(make()), ["X", "strings", "kernels.NGrams()"])


class Thing:
    """Anything."""


@pytest.mark.parametrize(
    ("settings", "y", "words"),
    [
        ({}, ["a", 1] * (N // 2), ["y", "mix of str and int", "output_kernel or output_loss"]),
        ({}, [(1, 2)] * N, ["y", "of tuple", "np.array(y)"]),
        ({"output_kernel": "ngrams"}, ["a", 1] * (N // 2), ["NGrams", "strings", "int"]),
        ({"output_kernel": "rbf"}, [[1.0], "a"] * (N // 2), ["output_kernel", "mix of list and str", "NGrams"]),
        ({"output_kernel": "rbf"}, [Thing(), Thing()] * (N // 2), ["output_kernel", "Thing", "kernels.PairwiseKernel"]),
        ({"output_kernel": "rbf"}, [[1.0], [1.0, 2.0]] * (N // 2), ["output_kernel", "several lengths"]),
        ({"output_kernel": "tanimoto"}, [[1, 0], [1, 0, 1]] * (N // 2), ["Tanimoto", "bits", "2 and 3"]),
        ({"output_kernel": "tanimoto"}, [Thing(), Thing()] * (N // 2), ["Tanimoto", "Thing", "kernels.PairwiseKernel"]),
        ({"output_kernel": "tanimoto"}, np.arange(N), ["Tanimoto", "rows of bits", "(24,)"]),
        ({"output_loss": "edit"}, ["a", 1] * (N // 2), ["strings", "int"]),
    ],
)
def test_outputs_of_mixed_or_wrong_kinds(settings, y, words):
    assert_refused(lambda: StructuredPredictor(alpha=1e-2, **settings).fit(X, y).predict(X), words)


def test_numbers_of_bits_of_two_lists():
    assert_refused(lambda: kernels.Tanimoto()(BITS, BITS[:, :30]), ["Tanimoto", "bits", "40 and 30"])


def test_inputs_that_are_objects():
    networkx = pytest.importorskip("networkx")
    graphs = [networkx.path_graph(3) for _ in range(N)]
    for things in (graphs, [Thing() for _ in range(N)], [{1, 2}] * N, [{"a": 1}] * N):
        assert_refused(
            lambda things=things: model().fit(things, NUMBERS), ["X", type(things[0]).__name__, "PairwiseKernel"]
        )


@pytest.mark.parametrize(
    "kernel",
    [
        *(
            kernels.NamedKernel(name, 0.5)
            for name in ("rbf", "laplacian", "matern32", "linear", "poly", "cosine", "sigmoid")
        ),
        kernels.Matern(0.7, 0.5),
        kernels.TanimotoGaussian(0.7),
        kernels.Tanimoto(),
        kernels.PrecomputedKernel(np.arange(900.0).reshape(30, 30)),
    ],
    ids=str,
)
def test_values_at_the_samples_themselves(kernel):
    X = np.abs(np.random.default_rng(0).normal(size=(30, 4))).round(1)
    X[3] = 0.0
    X = np.arange(30)[::-1] if isinstance(kernel, kernels.PrecomputedKernel) else X
    assert_allclose(kernels.diagonal(kernel, X), np.diag(kernel(X, X)), rtol=1e-12)
