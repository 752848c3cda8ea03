"""Kronecker products, applied axis by axis, against dense matrices."""

import numpy as np
import pytest
from helpers.curves_by_hand import K, N
from numpy.testing import assert_allclose

from hilbertlearn._utils.linalg import Kronecker as Product
from hilbertlearn._utils.linalg import spectrum
from hilbertlearn.core.terms import SeparableTerm
from hilbertlearn.operators import Kronecker

SHAPES = [((3, 4), 2, (5, 3)), (4, (2, 5), (3, 1)), ((3, 3),), (2, 3, 4), ((4, 0), (2, 2)), ((1, 6), 1, (2, 2))]


def factors(shapes, rng):
    return [shape if isinstance(shape, int) else rng.normal(size=shape) for shape in shapes]


def dense(factors):
    out = np.eye(1)
    for f in factors:
        out = np.kron(out, np.eye(f) if isinstance(f, int) else f)
    return out


# ------------------------------------------------------------------ the product itself


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_products_and_transposes(shapes):
    rng = np.random.default_rng(0)
    parts = factors(shapes, rng)
    product, full = Kronecker(parts), dense(parts)
    assert product.shape == full.shape
    assert_allclose(np.asarray(product), full, atol=1e-14)
    A, B = rng.normal(size=(7, full.shape[0])), rng.normal(size=(7, full.shape[1]))
    for M in (A, np.asfortranarray(A), A[:1], A[::2]):
        assert_allclose(M @ product, M @ full, atol=1e-12)
    assert_allclose(B @ product.T, B @ full.T, atol=1e-12)
    assert_allclose(np.asarray(product.T), full.T, atol=1e-14)


def test_spectrum_is_that_of_the_dense_product():
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(3, 3)), rng.normal(size=(4, 2))
    parts = [A @ A.T, 2, B @ B.T]  # the last of rank 2
    values, vectors = spectrum(Kronecker(parts))
    full = dense(parts)
    assert_allclose(np.sort(values), np.linalg.eigvalsh(full)[-len(values) :], rtol=1e-9)
    assert len(values) == 12 and values[-1] == values.max()
    E = np.asarray(vectors)
    assert_allclose(E.T @ E, np.eye(12), atol=1e-12)
    assert_allclose((E * values) @ E.T, full, atol=1e-10)
    term = SeparableTerm(K, Kronecker(parts))
    assert term.operator_norm == pytest.approx(np.linalg.norm(full, 2))
    Z = rng.normal(size=(N, 24))
    assert_allclose(term.apply(Z), (np.kron(K, full) @ Z.ravel()).reshape(Z.shape), rtol=1e-9, atol=1e-10)


def test_products_say_their_shapes():
    assert repr(Product([np.eye(3), 4, np.ones((2, 5))])) == "Kronecker((3, 3), (4, 4), (2, 5))"
