"""Kernels against their definitions, bandwidths against hand-written medians."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel

from hilbertlearn.kernels import OutputBuilt, Pairwise, Tanimoto, check_kernel, gram, resolve_gamma, training_gram

rng = np.random.default_rng(1)
X = rng.uniform(0.1, 2, size=(15, 4))
Z = rng.uniform(0.1, 2, size=(6, 4))


def chi2_distances(X):
    return np.array([((x - z) ** 2 / (x + z)).sum() for i, x in enumerate(X) for z in X[i + 1 :]])


# ---------------------------------------------------------------- gamma


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ("rbf", 1 / (2 * np.median(pdist(X) ** 2))),
        ("laplacian", 1 / np.median(pdist(X, "cityblock"))),
        ("chi2", 1 / np.median(chi2_distances(X))),
    ],
)
def test_median_gamma_by_hand(kernel, expected):
    assert resolve_gamma(kernel, "median", X) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "chi2"])
def test_median_gamma_counts_pairs_of_distinct_samples(kernel):
    counts = rng.integers(1, 4, len(X))
    repeated = resolve_gamma(kernel, "median", np.repeat(X, counts, axis=0))
    assert repeated == pytest.approx(resolve_gamma(kernel, "median", X, counts.astype(float)), rel=1e-9)
    one_far = resolve_gamma(kernel, "median", np.r_[X[:1], X[:1], X[:1], X[1:2]])
    assert one_far == pytest.approx(resolve_gamma(kernel, "median", X[:2]), rel=1e-9)


def test_median_gamma_of_many_samples_is_that_of_some():
    many = np.random.default_rng(0).normal(size=(3000, 5))
    assert resolve_gamma("rbf", "median", many) == pytest.approx(1 / (2 * np.median(pdist(many) ** 2)), rel=0.05)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid"])
def test_scale_gamma_by_hand(kernel):
    assert resolve_gamma(kernel, "scale", X) == pytest.approx(1 / (X.shape[1] * X.var()), rel=1e-9)
    counts = rng.integers(1, 4, len(X))
    repeated = resolve_gamma(kernel, "scale", np.repeat(X, counts, axis=0))
    assert repeated == pytest.approx(resolve_gamma(kernel, "scale", X, counts.astype(float)), rel=1e-9)


def test_median_falls_back_on_scale_for_kernels_without_a_distance():
    assert resolve_gamma("poly", "median", X) == resolve_gamma("poly", "scale", X)


@pytest.mark.parametrize(("kernel", "gamma"), [("rbf", "median"), ("laplacian", "median"), ("rbf", "scale")])
def test_gamma_of_sparse_equals_dense(kernel, gamma):
    thin = np.where(X > 1, X, 0)
    sparse = resolve_gamma(kernel, gamma, scipy.sparse.csr_matrix(thin))
    assert sparse == pytest.approx(resolve_gamma(kernel, gamma, thin), rel=1e-9)


@pytest.mark.parametrize("gamma", ["median", "scale"])
@pytest.mark.parametrize("same", [np.ones((1, 3)), np.ones((5, 3)), np.full((5, 3), 0.1)])
def test_gamma_of_equal_samples_is_one(gamma, same):
    assert resolve_gamma("rbf", gamma, same) == 1.0


def test_gamma_given_or_not_needed():
    assert resolve_gamma("rbf", 0.7, X) == 0.7
    for kernel in ("linear", "cosine", "precomputed", Tanimoto(), RBF()):
        assert resolve_gamma(kernel, "median", X) is None


# ---------------------------------------------------------------- Gram matrices


@pytest.mark.parametrize("matrix", [np.asarray, scipy.sparse.csr_matrix])
def test_rbf_is_that_of_sklearn(matrix):
    assert_allclose(gram("rbf", matrix(X), matrix(Z), gamma=0.3), rbf_kernel(X, Z, gamma=0.3), atol=1e-12)
    assert_allclose(gram("rbf", matrix(X), gamma=0.3), np.exp(-0.3 * cdist(X, X) ** 2), atol=1e-12)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("laplacian", {"gamma": 0.3}),
        ("chi2", {"gamma": 0.3}),
        ("poly", {"gamma": 0.3, "degree": 2, "coef0": 0.5}),
        ("sigmoid", {"gamma": 0.3, "coef0": 0.5}),
        ("linear", {}),
        ("cosine", {}),
        ("additive_chi2", {}),
    ],
)
def test_named_kernels_are_those_of_sklearn(name, params):
    gamma = params.get("gamma")
    rest = {key: value for key, value in params.items() if key != "gamma"}
    assert_allclose(gram(name, X, Z, gamma=gamma, params=rest), pairwise_kernels(X, Z, metric=name, **params))


def test_callables_gaussian_process_kernels_and_precomputed():
    assert_allclose(gram(lambda A, B: A @ B.T, X, Z), X @ Z.T)
    assert_allclose(gram(RBF(0.8) + WhiteKernel(0.1), X, Z), RBF(0.8)(X, Z))
    assert gram("precomputed", X) is X


def test_check_kernel_accepts_what_can_be_called():
    for kernel in ("rbf", "precomputed", Tanimoto(), Pairwise(max), RBF(), lambda X, Z: X @ Z.T):
        check_kernel(kernel)


# ---------------------------------------------------------------- objects


def jaccard(a, b):
    union = set(np.flatnonzero(a)) | set(np.flatnonzero(b))
    return len(set(np.flatnonzero(a)) & set(np.flatnonzero(b))) / len(union) if union else 1.0


@pytest.mark.parametrize("dtype", [bool, np.int8, float])
@pytest.mark.parametrize("matrix", [np.asarray, scipy.sparse.csr_matrix])
def test_tanimoto_of_bits_is_that_of_sets(matrix, dtype):
    A, B = (rng.random((n, 12)) < 0.3 for n in (8, 5))
    A[2] = B[3] = False  # empty sets
    expected = [[jaccard(a, b) for b in B] for a in A]
    assert_allclose(Tanimoto()(matrix(A.astype(dtype)), matrix(B.astype(dtype))), expected, atol=1e-12)


def test_tanimoto_of_many_bits_does_not_overflow():
    bits = np.ones((1, 300), dtype=np.int8)
    assert_allclose(Tanimoto()(bits, np.r_[bits, bits // 2]), [[1, 0]])


def test_tanimoto_of_counts():
    G = Tanimoto()(X, Z)
    x, z = X[3], Z[2]
    assert G[3, 2] == pytest.approx(x @ z / (x @ x + z @ z - x @ z))
    training_gram(Tanimoto(), X)  # positive definite


def test_pairwise_evaluates_one_pair_at_a_time_and_half_of_a_symmetric_matrix():
    calls = []

    def shared(a, b):
        calls.append((a, b))
        return len(set(a) & set(b))

    words, others = ["abc", "bcd", "xyz"], ["a", "cx"]
    kernel = Pairwise(shared)
    assert_allclose(kernel(words, others), [[1, 1], [0, 1], [0, 1]])
    assert len(calls) == 6
    calls.clear()
    assert_allclose(kernel(words, words), [[3, 2, 0], [2, 3, 0], [0, 0, 3]])
    assert len(calls) == 6


def test_kernel_objects_are_settings():
    for kernel in (Tanimoto(), Pairwise(max), OutputBuilt("iii", kernel=Tanimoto())):
        assert clone(kernel).get_params().keys() == kernel.get_params().keys()
    assert OutputBuilt("iii", kernel=RBF(2.0)).get_params()["kernel__length_scale"] == 2.0


# ---------------------------------------------------------------- training Gram


def test_training_gram_lets_rounding_pass_and_symmetrises_it():
    K = X @ X.T  # rank 4 of 15
    K[0, 1] += 1e-13
    checked = training_gram("precomputed", K)
    assert (checked == checked.T).all()
    assert_allclose(checked, K, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_training_gram_judges_relative_to_the_scale(scale):
    K = scale * (X @ X.T)
    training_gram("precomputed", K)
    with pytest.raises(ValueError, match="not positive semi-definite: smallest eigenvalue -"):
        training_gram("precomputed", K - 1e-4 * scale * np.eye(len(K)))
    K[0, 1] += 1e-4 * scale
    with pytest.raises(ValueError, match="not symmetric"):
        training_gram("precomputed", K)


def test_training_gram_of_zeros():
    assert_allclose(training_gram("precomputed", np.zeros((3, 3))), 0)


# ---------------------------------------------------------------- kernels built from outputs


def operator_kernel(form, k_st, k_s, k_t, Y, mu):
    """The (d, d) matrix of the kernel at (s, t): its definition, term by term; k_s holds the values k(s, x_i)."""
    n, d = Y.shape
    total = np.zeros((d, d))
    for i in range(n):
        if form in ("i", "ii", "iii"):
            scalar = {"i": k_st * k_s[i] * k_t[i], "ii": k_st, "iii": k_s[i] * k_t[i]}[form]
            total += mu[i] * scalar * np.outer(Y[i], Y[i])
            continue
        for j in range(n):
            local = k_s[i] * k_s[j] * k_t[i] * k_t[j]
            scalar = {"iv": k_st * local, "v": k_st, "vi": local}[form]
            total += mu[i, j] * scalar * np.outer(Y[i] + Y[j], Y[i] + Y[j])
    return total


@pytest.mark.parametrize("uniform", [True, False])
@pytest.mark.parametrize("form", ["i", "ii", "iii", "iv", "v", "vi"])
def test_output_built_kernels_by_definition(form, uniform):
    n, d, m = 5, 2, 3
    P, T = X[:n], Z[:m]
    Y, A = rng.normal(size=(n, d)), rng.normal(size=(n, d))
    pairwise = form in ("iv", "v", "vi")
    shape = (n, n) if pairwise else (n,)
    mu = np.full(shape, n ** -len(shape)) if uniform else rng.random(shape)
    G, H = rbf_kernel(P), rbf_kernel(T, P)
    kernel = OutputBuilt(form, weights=None if uniform else lambda outputs: mu)
    blocks = [[operator_kernel(form, G[s, t], G[s], G[t], Y, mu) for t in range(n)] for s in range(n)]
    at_new = [[operator_kernel(form, H[s, t], H[s], G[t], Y, mu) for t in range(n)] for s in range(m)]
    if form in ("ii", "v"):
        M = kernel.operator(Y, np.ones(n))
        assert_allclose(np.einsum("st,de->stde", G, M), blocks)
        return
    assert kernel.operator(Y, np.ones(n)) is None
    root = rng.uniform(0.5, 2, n)
    term = kernel.term(G, Y, np.ones(n))
    assert_allclose(term.apply(A), np.einsum("stde,te->sd", blocks, A))
    assert_allclose(term.predictor(A)(H), np.einsum("stde,te->sd", at_new, A))
    assert_allclose(term.scaled(root).apply(A), np.einsum("s,stde,t,te->sd", root, blocks, root, A))
    B = rng.normal(size=(n, d))
    assert_allclose(term.margin_gram(B), np.einsum("sd,stde,te->st", B, blocks, B))
    dense = np.array(blocks).transpose(0, 2, 1, 3).reshape(n * d, n * d)
    assert term.norm == pytest.approx(np.linalg.norm(dense, 2), rel=0.15)
    assert_allclose(dense, dense.T)
    assert np.linalg.eigvalsh(dense)[0] > -1e-9
