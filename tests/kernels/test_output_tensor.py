"""Operator-valued kernels built from training outputs, against sums over samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.core.terms import DenseGram, TrainingOutputs, make_gram, make_term
from hilbertlearn.kernels import (
    InputKernel,
    OutputTensorKernel,
    gram,
    training_gram,
)

rng = np.random.default_rng(1)
X = rng.uniform(0.1, 2, size=(15, 4))
Z = rng.uniform(0.1, 2, size=(6, 4))


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
def test_output_tensor_kernels_by_definition(form, uniform):
    n, d, m = 5, 2, 3
    P, T = X[:n], Z[:m]
    Y, A = rng.normal(size=(n, d)), rng.normal(size=(n, d))
    pairwise = form in ("iv", "v", "vi")
    shape = (n, n) if pairwise else (n,)
    mu = np.full(shape, n ** -len(shape)) if uniform else rng.random(shape)
    G, H = rbf_kernel(P), rbf_kernel(T, P)
    kernel = OutputTensorKernel(form, weights=None if uniform else lambda outputs: mu)
    blocks = [[operator_kernel(form, G[s, t], G[s], G[t], Y, mu) for t in range(n)] for s in range(n)]
    at_new = [[operator_kernel(form, H[s, t], H[s], G[t], Y, mu) for t in range(n)] for s in range(m)]
    if form in ("ii", "v"):
        M = kernel.operator(Y, np.ones(n))
        assert_allclose(np.einsum("st,de->stde", G, M), blocks)
        return
    assert kernel.operator(Y, np.ones(n)) is None
    root = rng.uniform(0.5, 2, n)
    term = make_term(kernel, DenseGram(G), None, TrainingOutputs(Y, np.ones(n), np.zeros(d)))
    check_term(term, blocks, at_new, H, A, root)


def check_term(term, blocks, at_new, values, A, root):
    """The term against its blocks (n, n, d, d), and those at new points, where the kernel has these values."""
    blocks = np.array(blocks)
    n, d = A.shape
    assert_allclose(term.apply(A), np.einsum("stde,te->sd", blocks, A))
    assert_allclose(term.predictor(A)(values), np.einsum("stde,te->sd", at_new, A))
    assert_allclose(term.scaled(root).apply(A), np.einsum("s,stde,t,te->sd", root, blocks, root, A))
    B = rng.normal(size=(n, d))
    assert_allclose(term.margin_gram(B), np.einsum("sd,stde,te->st", B, blocks, B))
    of_scaled = np.einsum("s,sd,stde,te,t->st", root, B, blocks, B, root)
    assert_allclose(term.scaled(root).margin_gram(B), of_scaled)
    dense = blocks.transpose(0, 2, 1, 3).reshape(n * d, n * d)
    assert term.norm == pytest.approx(np.linalg.norm(dense, 2), rel=0.15)
    assert_allclose(dense, dense.T)
    assert np.linalg.eigvalsh(dense)[0] > -1e-9


@pytest.mark.parametrize("form", ["iv", "v", "vi"])
def test_pairs_of_weighted_outputs_by_definition(form):
    n, d, m = 5, 2, 3
    Y, A, mu, nu = rng.normal(size=(n, d)), rng.normal(size=(n, d)), rng.random((n, n)), rng.random(n)
    G, H = rbf_kernel(X[:n]), rbf_kernel(Z[:m], X[:n])
    seen = []
    kernel = OutputTensorKernel(form, weights=lambda outputs: mu, nu=lambda outputs: (seen.append(outputs), nu)[1])
    parts = nu[:, None] * Y  # z_ij = nu_i y_i + nu_j y_j
    blocks = [[operator_kernel(form, G[s, t], G[s], G[t], parts, mu) for t in range(n)] for s in range(n)]
    at_new = [[operator_kernel(form, H[s, t], H[s], G[t], parts, mu) for t in range(n)] for s in range(m)]
    center = rng.normal(size=d)
    term = make_term(kernel, DenseGram(G), None, TrainingOutputs(Y + center, np.ones(n), center))
    check_term(term, blocks, at_new, H, A, rng.uniform(0.5, 2, n))
    assert_allclose(seen[-1], Y)


def bandwidths(S, X):
    """k_i(s, x_t) at [s, t, i]: Gaussian kernels, sharper for training inputs x_i that are larger."""
    return np.stack([rbf_kernel(S, X, gamma=np.sum(x**2) / 9) for x in X], axis=2)


def waves(S, X):
    """k(s, x_i) at [s, i]: any function, neither symmetric nor positive."""
    return np.sin(3 * S @ X.T) - (X**2).sum(axis=1)


def pairs_of_bandwidths(S, X):
    """k_ij(s, x_t) at [s, t, i, j]; k_ij is not k_ji."""
    grams = [[rbf_kernel(S, X, gamma=np.sum(x**2) / 9 + z[0]) for z in X] for x in X]
    return np.moveaxis(np.array(grams), (0, 1), (2, 3))


def midpoints(S, X):
    """k(s, x_i, x_j) at [s, i, j], not the same for (j, i)."""
    middles = (2 * X[:, None] + X[None]) / 3
    return np.cos(((S[:, None, None] - middles) ** 2).sum(axis=3))


FAMILIES = {"i": bandwidths, "iii": waves, "iv": pairs_of_bandwidths, "vi": midpoints}


def family_kernel(form, families, S, T, centres, Y, mu, nu):
    """Blocks (len(S), len(T), d, d) of proposition 2 with families, term by term; values at T from families, too."""
    at_S, at_T = families(S, centres), families(T, centres)
    column = {tuple(x): t for t, x in enumerate(centres)}
    blocks = np.zeros((len(S), len(T), Y.shape[1], Y.shape[1]))
    for s, t, i, j in np.ndindex(len(S), len(T), len(Y), len(Y)):
        if form in ("i", "iii") and j > 0:
            continue
        one = {"i": (i,), "iii": (i,)}.get(form, (i, j))
        z = Y[i] if form in ("i", "iii") else nu[i] * Y[i] + nu[j] * Y[j]
        if form in ("i", "iv"):
            scalar = at_S[(s, column[tuple(T[t])], *one)]
        else:
            scalar = at_S[(s, *one)] * at_T[(t, *one)]
        blocks[s, t] += mu[one] * scalar * np.outer(z, z)
    return blocks


@pytest.mark.parametrize("form", FAMILIES)
def test_families_of_the_user_by_definition(form):
    n, d, m = 5, 2, 3
    P, T = X[:n], Z[:m]
    pairwise = form in ("iv", "vi")
    Y, A, nu = rng.normal(size=(n, d)), rng.normal(size=(n, d)), rng.random(n)
    mu = rng.random((n, n) if pairwise else n)
    families = FAMILIES[form]
    kernel = OutputTensorKernel(form, weights=lambda outputs: mu, nu=(lambda outputs: nu) if pairwise else None)
    kernel.set_params(families=families).validate()
    inputs = InputKernel.from_settings(kernel.scalar_kernel, "median", None, P)
    values = make_gram(inputs.kernel, inputs.training_gram(P))
    blocks, at_new = (family_kernel(form, families, S, P, P, Y, mu, nu) for S in (P, T))
    term = make_term(kernel, values, None, TrainingOutputs(Y, np.ones(n), np.zeros(d)))
    check_term(term, blocks, at_new, inputs(T, P), A, rng.uniform(0.5, 2, n))
    rows = np.array([3, 0, 2])  # the values between some of the samples are those of the kernel built from them
    assert_allclose(values.take(rows).dense(), inputs.training_gram(P[rows]))
    assert_allclose(values.cross([1, 4], rows), inputs(P[[1, 4]], P[rows]))


@pytest.mark.parametrize("form", FAMILIES)
def test_families_equal_to_the_default_ones(form):
    """k localised at the samples, written as families."""

    def localised(S, X):
        G, K = rbf_kernel(S, X), rbf_kernel(X)
        local, own = G[:, :, None] * G[:, None, :], K[:, :, None] * K[:, None, :]
        return {
            "i": lambda: G[:, :, None] * G[:, None, :] * K[None],
            "iii": lambda: G,
            "iv": lambda: G[:, :, None, None] * local[:, None] * own[None],
            "vi": lambda: local,
        }[form]()

    n = 6
    P, Y, A = X[:n], rng.normal(size=(n, 2)), rng.normal(size=(n, 2))
    outputs = TrainingOutputs(Y, rng.uniform(0.5, 2, n), np.zeros(2))
    kernel = OutputTensorKernel(form)
    expected = make_term(kernel, DenseGram(rbf_kernel(P)), None, outputs)
    kernel = OutputTensorKernel(form, families=localised)
    term = make_term(kernel, DenseGram(training_gram(kernel.scalar_kernel, P)), None, outputs)
    assert_allclose(term.apply(A), expected.apply(A))
    assert_allclose(term.margin_gram(Y), expected.margin_gram(Y))
    assert_allclose(term.predictor(A)(gram(kernel.scalar_kernel, Z, P)), expected.predictor(A)(rbf_kernel(Z, P)))


def test_kernels_built_from_outputs_refuse():
    with pytest.raises(ValueError, match="nu is for the pairwise forms iv, v, vi, not 'i'"):
        OutputTensorKernel("i", nu=lambda Y: np.ones(len(Y))).validate()
    with pytest.raises(ValueError, match="form 'ii' has one kernel and no families; give it as kernel"):
        OutputTensorKernel("ii", families=bandwidths).validate()
    for nu in (lambda Y: 2 * np.ones(len(Y)), lambda Y: np.ones(3)):
        with pytest.raises(ValueError, match=r"nu must return numbers in \[0, 1\] of shape \(15,\)"):
            OutputTensorKernel("v", nu=nu).operator(np.ones((15, 2)), np.ones(15))
    with pytest.raises(ValueError, match=r"families must return shape \(15, 15, 15\) for form 'i', got \(15, 15\)"):
        training_gram(OutputTensorKernel("i", families=waves).scalar_kernel, X)
    kernel = OutputTensorKernel("i", families=lambda S, X: -bandwidths(S, X))
    values = make_gram(kernel.scalar_kernel, training_gram(kernel.scalar_kernel, X))
    with pytest.raises(ValueError, match="families: kernel number 0 is not positive semi-definite"):
        make_term(kernel, values, None, TrainingOutputs(X, np.ones(15), np.zeros(4)))


@pytest.mark.parametrize("form", FAMILIES)
def test_models_with_families(form):
    n, s = 12, 0.6
    P, Y = X[:n], X[:n, :2] ** 2 - 1
    kernel = OutputTensorKernel(form, families=FAMILIES[form])
    share = np.full(n, 1 / n)
    mu = np.multiply.outer(share, share) if form in ("iv", "vi") else share
    K, at_new = (family_kernel(form, FAMILIES[form], S, P, P, Y, mu, np.ones(n)) for S in (P, Z))
    dense = K.transpose(0, 2, 1, 3).reshape(2 * n, 2 * n)
    dual = np.linalg.solve(dense + s * np.eye(2 * n), Y.ravel()).reshape(n, 2)
    model = OperatorKernelRegressor(kernel, alpha=s / n, center=False, tol=1e-12).fit(P, Y)
    assert_allclose(model.predict(Z), np.einsum("stde,te->sd", at_new, dual), atol=1e-5)
    chosen = OperatorKernelRegressor(kernel).fit(P, Y)  # by folds, whose families are those of their samples
    assert chosen.alpha_ > 0
    assert_allclose(OperatorKernelRegressor(kernel, alpha=chosen.alpha_).fit(P, Y).predict(Z), chosen.predict(Z))
