"""Operators on several axes against the dense Kronecker products they represent."""

import cvxpy as cp
import numpy as np
import pytest
from helpers.by_hand import solve
from helpers.curves_by_hand import ALPHA, GAMMA, K_NEW, NEW, SHARED, UNEVEN, K, N, X, gauss, laplace, trapezoid
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import FunctionalRegressor, RegularizationPathCV, operators, spaces
from hilbertlearn.losses import Huber

S = np.linspace(0, 1, 6)
FINE = np.linspace(0, 1, 17)
C = np.array([[1.0, 0.5, 0.0], [0.5, 0.8, 0.1], [0.0, 0.1, 0.3]])


def surfaces(seed=3):
    """Functions (n, 6, 11) of two variables."""
    s, t = S[:, None], UNEVEN
    clean = np.sin(4 * s + t + X[:, :1, None]) + X[:, 1:, None] * s * t
    return clean + 0.2 * np.random.default_rng(seed).normal(size=(N, len(S), len(UNEVEN)))


def several(seed=4):
    """Three curves a sample, (n, 11, 3)."""
    t = UNEVEN[:, None]
    clean = np.sin(4 * t + X[:, None, :1] + [0, 1, 2]) + X[:, None, 1:] * t * [1, 0, -1]
    return clean + 0.2 * np.random.default_rng(seed).normal(size=(N, len(UNEVEN), 3))


def fit(Y, **settings):
    return FunctionalRegressor(**{**SHARED, **settings}).fit(X, Y)


def pairs_ridge(Y, G, q, G_new, K=K, K_new=K_NEW, penalty=N * ALPHA):
    """Ridge regression on all (sample, place) pairs: kernel K (x) G, weights q of the places; Y (n, places)."""
    system = np.kron(K, G) + np.diag(np.tile(penalty / q, len(Y)))
    coef = np.linalg.solve(system, Y.ravel()).reshape(Y.shape)
    return K_new @ coef @ G_new.T


# ------------------------------------------------------------------ several curves a sample


@pytest.mark.parametrize("between_curves", [None, C], ids=["apart", "together"])
def test_several_curves_are_one_kernel_of_points_and_curves(between_curves):
    Y = several()
    operator = operators.Integral("rbf", 6.0)
    if between_curves is not None:
        operator = operators.AxisProduct(operator, between_curves)
    B = np.eye(3) if between_curves is None else between_curves
    model = fit(Y, grid=UNEVEN, operator=operator)
    G, G_new = (np.kron(gauss(6.0)(t, UNEVEN), B) for t in (UNEVEN, FINE))
    q = np.repeat(trapezoid(UNEVEN), 3)
    expected = pairs_ridge(Y.reshape(N, -1), G, q, G_new).reshape(len(NEW), len(FINE), 3)
    assert_allclose(model.predict(NEW, FINE), expected, rtol=1e-7, atol=1e-8)
    assert_allclose(model.predict(NEW), model.predict(NEW, UNEVEN), rtol=1e-9, atol=1e-10)


def test_curves_apart_are_fits_of_their_own():
    Y = several()
    for space in ("grid", spaces.Fourier(5, rate=1.0)):
        together = fit(Y, space=space, grid=UNEVEN).predict(NEW)
        for l in range(3):
            assert_allclose(together[..., l], fit(Y[..., l], space=space, grid=UNEVEN).predict(NEW), rtol=1e-8)


@pytest.mark.parametrize("p", [1, 2])
def test_huber_fit_of_several_curves(p):
    Y = several()
    Y[2] += 3
    Y[5, 3:5, 1] -= 4
    kappa, q = 0.3, np.repeat(trapezoid(UNEVEN), 3)
    gram = np.kron(K, np.kron(laplace(10)(UNEVEN, UNEVEN), C))
    values, vectors = np.linalg.eigh(gram)
    root = vectors * np.sqrt(np.maximum(values, 0))
    u = cp.Variable(len(root))
    R = Y.reshape(N, -1) - cp.reshape(root @ u, (N, len(q)), order="C")
    if p == 1:
        losses = cp.sum(cp.huber(R, kappa) @ q) / 2
    else:
        losses = cp.sum(cp.huber(cp.norm(cp.multiply(R, np.sqrt(q)[None]), axis=1), kappa)) / 2
    solve(losses / N + ALPHA / 2 * cp.sum_squares(u), [])
    model = fit(Y, grid=UNEVEN, operator=operators.AxisProduct(curves=C), loss=Huber(kappa, p), tol=1e-10)
    assert_allclose(model.predict(X).reshape(N, -1), (root @ u.value).reshape(N, -1), atol=2e-4)
    assert model.saturated_.shape == ((N, len(UNEVEN), 3) if p == 1 else (N,))


def test_covariance_between_curves():
    """Of all values of two curves at the same points, weighted by the quadrature."""
    Y, q = several(), trapezoid(UNEVEN)
    weight = np.linspace(0.5, 2, N)
    operator = operators.AxisProduct(curves=operators.Covariance(shrinkage=0.2))
    model = FunctionalRegressor(**SHARED, grid=UNEVEN, operator=operator).fit(X, Y, weight)
    rows = (Y * np.sqrt(q)[:, None]).reshape(-1, 3)  # coordinates
    S3 = np.cov(rows.T, aweights=np.repeat(weight, len(q)), bias=True)
    S3 = 0.8 * S3 + 0.2 * np.trace(S3) / 3 * np.eye(3)
    assert_allclose(np.asarray(model.operator_.factors[-1]), S3, rtol=1e-9)
    root = np.sqrt(weight)
    G = np.kron(laplace(10)(UNEVEN, UNEVEN), S3)
    D = np.diag(root)
    expected = pairs_ridge(
        root[:, None] * Y.reshape(N, -1),
        G,
        np.repeat(q, 3),
        G,
        K=D @ K @ D,
        K_new=K_NEW @ D,
        penalty=ALPHA * weight.sum(),
    )
    assert_allclose(model.predict(NEW).reshape(len(NEW), -1), expected, rtol=1e-7, atol=1e-8)


def test_sum_of_terms_on_several_curves():
    Y = several()
    terms = [
        ("rbf", operators.AxisProduct(operators.Integral("rbf", 6.0), C)),
        ("linear", operators.Integral("rbf", 2.0)),
    ]
    model = fit(Y, grid=UNEVEN, kernel=terms, operator=None, tol=1e-10)
    parts = [(K, K_NEW, 6.0, C), (X @ X.T, NEW @ X.T, 2.0, np.eye(3))]
    gram = sum(np.kron(k, np.kron(gauss(g)(UNEVEN, UNEVEN), B)) for k, _, g, B in parts)
    penalties = np.tile(N * ALPHA / np.repeat(trapezoid(UNEVEN), 3), N)
    coef = np.linalg.solve(gram + np.diag(penalties), Y.ravel()).reshape(N, -1)
    expected = sum(k @ coef @ np.kron(gauss(g)(UNEVEN, FINE), B) for _, k, g, B in parts)
    assert_allclose(model.predict(NEW, FINE).reshape(len(NEW), -1), expected, atol=1e-4)


# ------------------------------------------------------------------ two variables


def test_functions_of_two_variables():
    Y = surfaces()
    fine = np.linspace(0, 1, 5)
    q = np.kron(trapezoid(S), trapezoid(UNEVEN))
    for scale in (1.0, 30.0):
        model = fit(Y, grid=(scale * S, UNEVEN), operator=operators.Integral("laplacian", 3.0))
        G = np.kron(laplace(3.0)(S, S), laplace(3.0)(UNEVEN, UNEVEN))
        G_new = np.kron(laplace(3.0)(fine, S), laplace(3.0)(FINE, UNEVEN))
        expected = pairs_ridge(Y.reshape(N, -1), G, q, G_new).reshape(len(NEW), 5, len(FINE))
        assert_allclose(model.predict(NEW, (scale * fine, FINE)), expected, rtol=1e-7, atol=1e-8)
        assert model.predict(NEW).shape == (len(NEW), 6, 11)
    gaps = Y.copy()
    gaps[np.random.default_rng(0).random(Y.shape) < 0.3] = np.nan
    seen = np.isfinite(gaps).ravel()
    full = np.kron(K, G) + np.diag(np.tile(N * ALPHA / q, N))
    coef = np.zeros(len(full))
    coef[seen] = np.linalg.solve(full[np.ix_(seen, seen)], gaps.ravel()[seen])
    model = fit(gaps, grid=(S, UNEVEN), operator=operators.Integral("laplacian", 3.0))
    assert_allclose(model.predict(NEW).reshape(len(NEW), -1), K_NEW @ coef.reshape(N, -1) @ G, rtol=1e-4, atol=1e-5)


def test_dictionary_of_two_variables():
    """Products of atoms, the operator B (x) B on their coefficients; with gaps, the observed points alone."""

    def phi(t):
        return np.array([np.ones_like(t), t, t**2])

    B = np.diag([1.0, 0.25, 1 / 9])
    Y, q = surfaces(), np.kron(trapezoid(S), trapezoid(UNEVEN))
    atoms = np.kron(phi(S), phi(UNEVEN))
    G = atoms.T @ np.kron(B, B) @ atoms
    model = fit(Y, grid=(S, UNEVEN), space=phi, operator=operators.Decay(2.0))
    expected = pairs_ridge(Y.reshape(N, -1), G, q, G).reshape(len(NEW), 6, 11)
    assert_allclose(model.predict(NEW), expected, rtol=1e-6, atol=1e-8)
    gaps = Y.copy()
    gaps[np.random.default_rng(0).random(Y.shape) < 0.3] = np.nan
    seen = np.isfinite(gaps).reshape(N, -1)
    weights = seen * q / (seen @ q)[:, None]
    full = np.kron(K, G)[np.ix_(seen.ravel(), seen.ravel())] + np.diag(N * ALPHA / weights[seen])
    coef = np.zeros(seen.shape)
    coef[seen] = np.linalg.solve(full, gaps.reshape(N, -1)[seen])
    model = fit(gaps, grid=(S, UNEVEN), space=phi, operator=operators.Decay(2.0))
    assert_allclose(model.predict(NEW).reshape(len(NEW), -1), K_NEW @ coef @ G, rtol=1e-4, atol=1e-5)


def test_operator_on_each_axis_of_two_variables():
    Y = surfaces()
    model = fit(Y, grid=(S, UNEVEN), operator=operators.AxisProduct(operators.Covariance(0.3)))
    roots = np.sqrt(np.outer(trapezoid(S), trapezoid(UNEVEN)))
    Z = Y * roots
    parts = []
    for rows in (np.moveaxis(Z, 1, 2).reshape(-1, 6), Z.reshape(-1, 11)):
        cov = np.cov(rows.T, bias=True)
        parts.append(0.7 * cov + 0.3 * np.trace(cov) / len(cov) * np.eye(len(cov)))
    M = np.kron(*parts)
    A = np.linalg.solve(np.kron(K, M) + N * ALPHA * np.eye(N * 66), Z.ravel()).reshape(N, -1)
    assert_allclose(model.predict(NEW), (K_NEW @ A @ M).reshape(-1, 6, 11) / roots, rtol=1e-7, atol=1e-8)


# ------------------------------------------------------------------ leave-one-out


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("space", ["grid", "dictionary"])
def test_leave_one_out_with_several_curves(space, center):
    """alpha times the number of samples is held fixed when one is left out."""
    Y = several()
    settings = {"grid": UNEVEN, "operator": operators.AxisProduct(curves=C), "center": center}
    settings["space"] = "grid" if space == "grid" else spaces.Fourier(5, rate=2.0)
    residuals = fit(Y, **settings).loo_residuals()
    assert residuals.shape == Y.shape
    for i in (0, 7):
        rest = np.delete(np.arange(N), i)
        model = FunctionalRegressor(**{**SHARED, **settings, "alpha": ALPHA * N / (N - 1)}).fit(X[rest], Y[rest])
        true = Y[i]
        if space != "grid":  # what the dictionary can say of it
            Phi, q = np.array([f(UNEVEN) for f in _waves()]), trapezoid(UNEVEN)
            true = Phi.T @ np.linalg.solve((Phi * q) @ Phi.T, (Phi * q) @ Y[i])
        assert_allclose(residuals[i], true - model.predict(X[[i]])[0], rtol=1e-6, atol=1e-8)


def _waves():
    yield np.ones_like
    for l in (1, 2):
        yield lambda t, l=l: np.cos(2 * np.pi * l * t)
        yield lambda t, l=l: np.sin(2 * np.pi * l * t)


def test_path_chooses_alpha_by_leaving_out_whole_samples():
    Y, alphas = several(), np.geomspace(1e-5, 1, 6)
    q = np.repeat(trapezoid(UNEVEN), 3)
    operator = operators.AxisProduct(curves=C)
    search = RegularizationPathCV(
        FunctionalRegressor(gamma=GAMMA, grid=UNEVEN, operator=operator, center=False), alphas=alphas
    ).fit(X, Y)
    G = np.kron(laplace(10)(UNEVEN, UNEVEN), C)
    errors = np.zeros(len(alphas))
    for k, alpha in enumerate(alphas):
        for i in range(N):
            rest = np.delete(np.arange(N), i)
            flat = Y[rest].reshape(N - 1, -1)
            here, new = rbf_kernel(X[rest], gamma=GAMMA), rbf_kernel(X[[i]], X[rest], gamma=GAMMA)
            guess = pairs_ridge(flat, G, q, G, here, new, alpha * N)[0]
            errors[k] += q @ (Y[i].ravel() - guess) ** 2 / N
    assert_allclose(search.errors_, errors, rtol=1e-6)
    assert search.alpha_ == alphas[np.argmin(errors)]
