"""Feature maps in blocks of rows, and the precision of their values."""

import numpy as np
from scipy.linalg import pinvh

from hilbertlearn import features, kernels
from hilbertlearn.features.landmark_selection import METHODS

RBF = kernels.InputKernel("rbf", gamma=0.15)


def rows(n=120, p=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def nystroem(K, L):
    """``K_nL K_LL^+ K_Ln`` by eigenvalues."""
    return K[:, L] @ pinvh(K[np.ix_(L, L)], rtol=1e-13) @ K[L]


def test_blocks_cover_all_rows_and_agree(monkeypatch):
    X = rows(n=103)
    fitted = features.Landmarks(12).fit(RBF, X)
    Z = fitted(X)
    parts = list(fitted.blocks(X, 10))
    assert [(s.start, s.stop) for s, _ in parts][-1] == (100, 103)
    assert np.allclose(np.vstack([block for _, block in parts]), Z, atol=1e-12)
    monkeypatch.setattr("hilbertlearn.features.base._BLOCK_ENTRIES", 100)
    assert np.allclose(fitted(X), Z, atol=1e-12)
    assert np.allclose(fitted.extend(X, Z[:, :5]), Z, atol=1e-9)


def test_single_precision_stays():
    X = rows(200, 5).astype(np.float32)
    for method in METHODS:
        fitted = features.Landmarks(60, method).fit(RBF, X)
        Z = fitted(X)
        assert Z.dtype == np.float32 and fitted.head(20)(X).dtype == np.float32
        L = fitted.columns
        assert np.abs(Z @ Z.T - nystroem(RBF(X.astype(float)), L)).max() < 1e-4
        assert fitted.extend(X, Z[:, :20]).dtype == np.float32
    whole = features.Landmarks(200).fit(RBF, X)
    assert np.abs(whole(X) @ whole(X).T - RBF(X.astype(float))).max() < 1e-4
    assert features.Landmarks(20).fit(kernels.InputKernel("matern32", 0.1), X)(X).dtype == np.float32
