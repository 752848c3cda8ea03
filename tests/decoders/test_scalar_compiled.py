"""Compiled loops of the scalar decoder."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import decoders
from hilbertlearn.decoders import scalar
from hilbertlearn.output_losses import (
    Huber,
)

rng = np.random.default_rng(0)


@pytest.mark.parametrize("m, n, g", [(1, 1, 1), (3, 513, 2), (4, 5, 3), (9, 1030, 7), (0, 3, 4)])
def test_compiled_product(m, n, g):
    pytest.importorskip("numba")
    from hilbertlearn.decoders.scalar_compiled import product

    W, G = rng.normal(size=(m, n)), rng.normal(size=(g, n))
    assert_allclose(product(W, G), W @ G.T, atol=1e-12)


def test_few_weights_do_not_load_numba(monkeypatch):
    for name in ("numba", "hilbertlearn.decoders.scalar_compiled"):  # as if no other test had loaded them
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delattr(decoders, "scalar_compiled", raising=False)
    scalar.decode_scalar(np.ones((9, 3)), np.arange(3.0), Huber())
    assert not {"numba", "hilbertlearn.decoders.scalar_compiled"} & sys.modules.keys()
