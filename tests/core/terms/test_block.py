"""The term of an operator-valued kernel against its dense matrix."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn.core.terms import BlockTerm, DenseGram, TrainingOutputs, make_term
from hilbertlearn.kernels import (
    CurlFreeKernel,
    HelmholtzKernel,
    OperatorValuedKernel,
    gram,
    training_gram,
)

GAMMA = 0.4
rng = np.random.default_rng(0)


def flat(blocks):
    """The matrix (n d, m d) of blocks (n, m, d, d)."""
    n, m, d, _ = blocks.shape
    return np.transpose(blocks, (0, 2, 1, 3)).reshape(n * d, m * d)


# ---------------------------------------------------------------- the term


N, D = 12, 3
POINTS, NEW = rng.normal(size=(N, D)), rng.normal(size=(5, D))
MASK = rng.random((N, D)) < 0.7
MASK[2] = True
ROOT = rng.uniform(0.5, 2, N)


def bumpy(X, Z):
    """A kernel that is not a vector field's: sum_l B_l k_l(x, z) B_l', B_l depending on the point, in plain layout."""

    def factors(X):
        return np.sin(np.multiply.outer(X.sum(axis=1), np.arange(1.0, 2 * D * D + 1))).reshape(len(X), D, 2 * D)

    return rbf_kernel(X, Z, gamma=GAMMA)[:, :, None, None] * np.einsum("ial,jbl->ijab", factors(X), factors(Z))


KERNELS = {"field": HelmholtzKernel(0.3, GAMMA), "function": OperatorValuedKernel(bumpy)}


def make(kind, mask=None, weighted=False):
    """The term, its dense matrix (n d, n d), and the kernel."""
    kernel = KERNELS[kind]
    blocks = training_gram(kernel, POINTS)
    term = make_term(kernel, DenseGram(blocks), None, TrainingOutputs(POINTS, np.ones(N), np.zeros(D)))
    dense = flat(blocks)
    if mask is not None:
        term, dense = term.with_mask(mask), dense * np.multiply.outer(mask.ravel(), mask.ravel())
    if weighted:
        root = np.repeat(ROOT, D)
        term, dense = term.scaled(ROOT), dense * np.multiply.outer(root, root)
    return term, dense, kernel


CASES = pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
GAPS = pytest.mark.parametrize("mask", [None, MASK], ids=["", "gaps"])
KINDS = pytest.mark.parametrize("kind", KERNELS)


@CASES
@GAPS
@KINDS
def test_the_map_is_that_of_the_blocks(kind, mask, weighted):
    term, dense, kernel = make(kind, mask, weighted)
    A, Y = rng.normal(size=(2, N, D))
    blocks = dense.reshape(N, D, N, D).transpose(0, 2, 1, 3)
    assert (
        isinstance(term, BlockTerm)
        and term.shape == (N, D)
        and (term.observed_entries is not None) == (mask is not None)
    )
    assert_allclose(term.apply(A), np.einsum("ijab,jb->ia", blocks, A), atol=1e-13)
    assert_allclose(term.margin_gram(Y), np.einsum("ia,ijab,jb->ij", Y, blocks, Y), atol=1e-12)
    assert_allclose(term.norm, np.linalg.norm(dense, 2), rtol=0.05)
    values = gram(kernel, NEW, POINTS)
    assert_allclose(term.predictor(A)(values), np.einsum("ijab,jb->ia", values, A), atol=1e-13)
    rows = np.array([7, 2, 3, 11])
    part = blocks[np.ix_(rows, rows)]
    for some in (rows, np.isin(np.arange(N), rows)):
        chosen = np.arange(N)[some]
        taken, part = term.take(some), blocks[np.ix_(chosen, chosen)]
        assert taken.shape == (4, D) and (taken.observed_entries is None) == (term.observed_entries is None)
        assert_allclose(taken.apply(A[chosen]), np.einsum("ijab,jb->ia", part, A[chosen]), atol=1e-13)


def test_scale_is_the_trace_over_d():
    term, dense, _ = make("function")
    assert_allclose(term.scale, np.trace(dense) / D)
    constant, _, _ = make("field", MASK)
    assert_allclose(constant.scale, N)  # K(x, x) is the identity, whatever was observed
    assert term.with_mask(np.zeros((N, D), dtype=bool)).scale == 0.0


def test_the_gram_matrix_can_be_left_out_and_put_back():
    term, dense, kernel = make("field")
    A = rng.normal(size=(N, D))
    again = pickle.loads(pickle.dumps(term.with_gram(None))).with_gram(DenseGram(kernel(POINTS, POINTS)))
    assert_allclose(again.apply(A), term.apply(A))


@CASES
@GAPS
@KINDS
@pytest.mark.parametrize("use", ["once", "iterations", "path"])
def test_systems_are_solved(kind, mask, weighted, use):
    term, dense, _ = make(kind, mask, weighted)
    factors = term.factor(use)
    assert factors.serves_all_penalties == (use == "path")
    for shift, penalty in [(1.0, 0.3), (1.0, 2.0), (2.5, 2.0), (0.3, 1e-3)]:
        R = rng.normal(size=(N, D))
        expected = np.linalg.solve(shift * np.eye(N * D) + dense / penalty, R.ravel())
        assert_allclose(factors.solve(R, shift, penalty).ravel(), expected, atol=1e-8 * np.abs(expected).max())


def refit_left_out(dense, mask, Y, weights, penalty, center):
    """Residuals (n, d) of each sample under the ridge regression of the others, around their mean; zero for gaps.

    dense : (n d, n d), not scaled by the weights
    """
    residuals = np.zeros(Y.shape)
    for i in range(len(Y)):
        others = np.repeat(np.arange(len(Y)) != i, Y.shape[1]).reshape(Y.shape) & mask
        W = weights[:, None] * others
        constant = (W * Y).sum(axis=0) / W.sum(axis=0) if center else np.zeros(Y.shape[1])
        root = np.sqrt(np.broadcast_to(weights[:, None], Y.shape)[others])
        K = dense[np.ix_(others.ravel(), others.ravel())] * np.multiply.outer(root, root)
        a = root * np.linalg.solve(K + penalty * np.eye(len(K)), root * (Y - constant)[others])
        rows = slice(i * Y.shape[1], (i + 1) * Y.shape[1])
        residuals[i] = (Y[i] - constant - dense[rows][:, others.ravel()] @ a) * mask[i]
    return residuals


@pytest.mark.parametrize("center", [False, True], ids=["", "centred"])
@CASES
@GAPS
@KINDS
def test_samples_left_out_by_block(kind, mask, weighted, center):
    term, _, _ = make(kind, mask, weighted)
    dense = make(kind)[1]
    seen = np.ones((N, D), dtype=bool) if mask is None else mask
    weights = ROOT**2 if weighted else np.ones(N)
    Y = rng.normal(size=(N, D)) + np.array([0, 5, -2])
    W = weights[:, None] * seen
    mean = (W * Y).sum(axis=0) / W.sum(axis=0) if center else np.zeros(D)
    others = (W * Y).sum(axis=0) - W * Y  # of the targets of all but one
    shift = others / (W.sum(axis=0) - W) - mean if center else None
    root = np.sqrt(weights)[:, None]
    penalties = [0.03, 0.5, 20.0]
    expected = [refit_left_out(dense, seen, Y, weights, s, center) for s in penalties]
    for use in ("once", "iterations", "path"):
        found = list(term.factor(use).loo_residuals(np.where(seen, root * (Y - mean), 0.0), shift, root, penalties))
        assert_allclose(found, expected, atol=1e-9)


def test_samples_left_out_of_a_singular_kernel():
    """Copies of points and a rank below n d: what the others determine has no residual, nothing is lost to rounding."""
    X = np.repeat(rng.normal(size=(4, 1)), 3, axis=0) @ np.ones((1, 2))
    blocks = CurlFreeKernel(GAMMA)(X, X)
    term, Y = BlockTerm.from_blocks(blocks), rng.normal(size=(12, 2))
    expected = refit_left_out(flat(blocks), np.ones((12, 2), dtype=bool), Y, np.ones(12), 1e-4, False)
    for use in ("once", "path"):
        (found,) = term.factor(use).loo_residuals(Y, None, np.ones((12, 1)), [1e-4])
        assert_allclose(found, expected, atol=1e-6)


def test_many_penalties_and_samples_share_products():
    n, d = 40, 2
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(n, d))
    term = BlockTerm.from_blocks(CurlFreeKernel(GAMMA)(X, X))
    penalties, root = np.geomspace(1e-3, 1e3, 700), np.ones((n, 1))
    path = list(term.factor("path").loo_residuals(Y, 0.1 * Y, root, penalties))
    once = term.factor().loo_residuals(Y, 0.1 * Y, root, penalties[::99])
    assert len(path) == 700
    assert_allclose(path[::99], list(once), atol=1e-9)


def test_outputs_must_have_as_many_coordinates_as_the_blocks():
    values = DenseGram(training_gram(CurlFreeKernel(GAMMA), POINTS))
    outputs = TrainingOutputs(np.ones((N, 2)), np.ones(N), np.zeros(2))
    with pytest.raises(
        ValueError, match=r"CurlFreeKernel are matrices \(3, 3\), but the outputs have 2 coordinates.*X"
    ):
        make_term(CurlFreeKernel(GAMMA), values, None, outputs)


# ---------------------------------------------------------------- the model


X = rng.normal(size=(25, 2))
V = np.c_[-X[:, 1], X[:, 0]] * np.exp(-0.3 * (X**2).sum(axis=1))[:, None] + 0.05 * rng.normal(size=X.shape) + [3, -1]
V_GAPS = V.copy()
V_GAPS[rng.random(V.shape) < 0.3] = np.nan
V_GAPS[4] = np.nan  # not labelled
