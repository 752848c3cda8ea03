"""FunctionalRegressor against dense computations: dictionaries, eigenfunctions, domains, predictions between points."""

import numpy as np
import pytest
from helpers.curves_by_hand import (
    ALPHA,
    K_NEW,
    NEW,
    SHARED,
    UNEVEN,
    K,
    N,
    Observed,
    X,
    curves,
    gauss,
    laplace,
    ridge,
    spanned,
    trapezoid,
)
from numpy.testing import assert_allclose

from hilbertlearn import FunctionalRegressor, kernels, operators, spaces
from hilbertlearn.data.functions import IrregularFunctions
from hilbertlearn.losses import Huber

EVEN = np.linspace(0, 1, 12)
FINE = np.linspace(0, 1, 41)


def fourier(t, pairs=2):
    waves = [f(2 * np.pi * l * t) * np.sqrt(2) for l in range(1, pairs + 1) for f in (np.cos, np.sin)]
    return np.array([np.ones_like(t), *waves])


def redundant(t):
    """Six atoms of rank four, none of them of norm 1."""
    return np.array([np.ones_like(t), t, t**2, np.exp(t), 2 + 3 * t, t - t**2])


def fit(Y, **settings):
    return FunctionalRegressor(**{**SHARED, **settings}).fit(X, Y)


# ------------------------------------------------------------------ projection learning


@pytest.mark.parametrize("grid", [EVEN, UNEVEN], ids=["even", "uneven"])
@pytest.mark.parametrize("decay", [0.0, 1.5], ids=["identity", "decay"])
@pytest.mark.parametrize("phi", [fourier, redundant])
def test_dictionary_is_equation_12_of_projection_learning(phi, decay, grid):
    Y, q, Phi = curves(grid), trapezoid(grid), phi(grid)
    B = np.diag((1.0 + np.arange(len(Phi))) ** -decay)
    G, eta = (Phi * q) @ Phi.T, (Y * q) @ Phi.T
    system = np.kron(K, G @ B) + N * ALPHA * np.eye(N * len(Phi))
    a = np.linalg.solve(system, eta.ravel()).reshape(N, -1)
    model = fit(Y, space=phi, operator=operators.Decay(decay), grid=grid)
    assert_allclose(model.predict(NEW), K_NEW @ a @ B @ Phi, rtol=1e-8, atol=1e-9)
    assert_allclose(model.predict(NEW, FINE), K_NEW @ a @ B @ phi(FINE), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("phi", [fourier, redundant])
def test_dictionary_is_the_problem_on_the_whole_grid(phi):
    """What the atoms do not span of the outputs has no part in the optimum."""
    B = np.diag(np.linspace(1, 0.1, len(phi(EVEN))))
    model = fit(curves(EVEN), space=phi, operator=B)
    assert_allclose(
        model.predict(NEW, FINE),
        ridge(Observed.on_grid(curves(EVEN), EVEN, trapezoid(EVEN)), spanned(phi, B), FINE),
        rtol=1e-7,
        atol=1e-8,
    )
    weighted = fit(curves(EVEN), space=spaces.Dictionary(phi, np.diag(B)))
    assert_allclose(weighted.predict(NEW), model.predict(NEW), rtol=1e-9)


def test_mean_curve_is_fitted_apart():
    Y = curves(EVEN)
    weight = np.linspace(0.3, 2, N)
    model = FunctionalRegressor(**{**SHARED, "center": True}, space="eigen").fit(X, Y, weight)
    q, between = trapezoid(EVEN), laplace(10)
    mean = weight @ Y / weight.sum()
    apart = ridge(Observed.on_grid(Y - mean, EVEN, q), between, EVEN, sample_weight=weight)
    assert_allclose(model.predict(NEW), mean + apart, rtol=1e-8)
    total = ((Y - mean) ** 2 @ q).sum()
    error = ((Y - model.predict(X)) ** 2 @ q).sum()
    assert model.score(X, Y) == pytest.approx(1 - error / total)


# ------------------------------------------------------------------ grid and eigenfunctions


@pytest.mark.parametrize("name, between", [("laplacian", laplace), ("rbf", gauss)])
@pytest.mark.parametrize("grid", [EVEN, UNEVEN], ids=["even", "uneven"])
def test_grid_is_ridge_regression_on_pairs(name, between, grid):
    """Predictions anywhere are sum_i k(x, x_i) sum_j q_j k_out(t, t_j) a_i(t_j)."""
    Y, q = curves(grid), trapezoid(grid)
    model = fit(Y, operator=operators.Integral(name, 7.0), grid=grid)
    expected = ridge(Observed.on_grid(Y, grid, q), between(7.0), FINE)
    assert_allclose(model.predict(NEW, FINE), expected, rtol=1e-8, atol=1e-9)
    assert_allclose(model.predict(NEW), model.predict(NEW, grid), rtol=1e-9, atol=1e-10)
    a = model.dual_coef_ / np.sqrt(q)
    assert_allclose(model.predict(NEW, FINE), K_NEW @ a @ (between(7.0)(FINE, grid) * q).T, rtol=1e-9, atol=1e-10)


def test_equal_weights():
    Y = curves(UNEVEN)
    model = fit(Y, space=spaces.Grid("equal"), grid=UNEVEN)
    expected = ridge(Observed.on_grid(Y, UNEVEN, np.full(len(UNEVEN), 1 / len(UNEVEN))), laplace(10), FINE)
    assert_allclose(model.predict(NEW, FINE), expected, rtol=1e-8)


@pytest.mark.parametrize("loss", ["squared", Huber(0.3)], ids=["squared", "huber"])
def test_eigenfunctions_tend_to_the_grid(loss):
    Y = curves(UNEVEN)
    on_grid = fit(Y, grid=UNEVEN, operator=operators.Integral("laplacian", 4.0), loss=loss)
    errors = []
    for number in (1, 2, 4, 7, len(UNEVEN)):
        model = fit(Y, grid=UNEVEN, space=spaces.Eigen("laplacian", number, 4.0), loss=loss)
        errors.append(np.abs(model.predict(NEW, FINE) - on_grid.predict(NEW, FINE)).max())
    assert (np.diff(errors) < 0).all() and errors[-2] > 1e-3
    assert errors[-1] < (1e-8 if loss == "squared" else 2e-5)


# ------------------------------------------------------------------ domain


@pytest.mark.parametrize("space", ["grid", "eigen", spaces.Fourier(5), spaces.BSpline(6)], ids=str)
def test_units_of_the_domain_do_not_matter(space):
    Y = curves(UNEVEN)
    moved = 10 + 40 * UNEVEN
    for loss in ("squared", Huber(0.3)):
        one, two = (fit(Y, grid=grid, space=space, loss=loss, tol=1e-9) for grid in (UNEVEN, moved))
        assert_allclose(two.predict(NEW), one.predict(NEW), rtol=1e-9)
        assert_allclose(two.predict(NEW, 10 + 40 * FINE), one.predict(NEW, FINE), rtol=1e-9, atol=1e-12)
        assert two.score(X, Y) == pytest.approx(one.score(X, Y))


def test_units_of_irregular_functions_do_not_matter():
    points = [np.sort(np.random.default_rng(i).random(7)) for i in range(N)]
    values = [np.sin(5 * p + x[0]) for p, x in zip(points, X)]
    one, two = (
        fit(IrregularFunctions([a + b * p for p in points], values, (a, a + b)), space=spaces.BSpline(6))
        for a, b in ((0, 1), (10, 40))
    )
    for f, g in zip(one.predict(NEW).values, two.predict(NEW).values):
        assert_allclose(f, g, rtol=1e-7, atol=1e-9)
    lists = [10 + 40 * FINE[:5]] * len(NEW)
    assert_allclose(two.predict(NEW, lists).values, one.predict(NEW, [FINE[:5]] * len(NEW)).values, rtol=1e-7)


# ------------------------------------------------------------------ predictions between the points


SETTINGS = {
    "integral": {"operator": operators.Integral("rbf", 5.0)},
    "identity": {"operator": None},
    "per axis": {"operator": operators.AxisProduct(operators.Integral("laplacian", 3.0))},
    "per axis, no domain": {"operator": operators.AxisProduct(None)},
    "sum": {"kernel": [("rbf", "auto"), ("laplacian", operators.Integral("rbf", 5.0)), ("linear", None)]},
    "eigen": {"space": "eigen"},
    "fourier": {"space": spaces.Fourier(6)},
    "components": {"space": spaces.PrincipalComponents(3)},
    "robust": {"loss": Huber(0.2, p=1)},
    "built from outputs": {"kernel": kernels.OutputTensorKernel("iii")},
    "mixed": {"kernel": [("rbf", "auto"), (kernels.OutputTensorKernel("ii"), None)]},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_finer_grids_agree_with_the_training_grid(name):
    settings = {"operator": "auto", "kernel": "rbf", **SETTINGS[name]}
    finer = np.sort(np.concatenate([UNEVEN, FINE[1::2]]))
    finer = np.unique(finer)
    for center in (True, False):
        model = FunctionalRegressor(**{**SHARED, "tol": 1e-8, **settings, "center": center}, grid=UNEVEN)
        model.fit(X, curves(UNEVEN))
        both = np.searchsorted(finer, UNEVEN)
        assert_allclose(model.predict(NEW, finer)[:, both], model.predict(NEW), rtol=1e-8, atol=1e-9)
        own = model.predict(NEW, [finer[i:] for i in range(len(NEW))])
        assert isinstance(own, IrregularFunctions)
        for i, values in enumerate(own.values):
            assert_allclose(values, model.predict(NEW, finer)[i, i:], rtol=1e-9, atol=1e-10)


def test_without_a_kernel_predictions_are_linear_between_points():
    model = fit(curves(UNEVEN), operator=None, grid=UNEVEN)
    linear = [np.interp(FINE, UNEVEN, row) for row in model.predict(NEW)]
    assert_allclose(model.predict(NEW, FINE), linear, rtol=1e-10)


def test_sum_of_terms_is_the_sum_of_kernels_of_pairs():
    q = trapezoid(UNEVEN)
    terms = [("rbf", operators.Integral("rbf", 5.0)), ("linear", operators.Integral("laplacian", 2.0))]
    model = fit(curves(UNEVEN), kernel=terms, operator=None, grid=UNEVEN)
    parts = [(K, K_NEW, gauss(5.0)), (X @ X.T, NEW @ X.T, laplace(2.0))]
    gram = sum(np.kron(k, between(UNEVEN, UNEVEN)) for k, _, between in parts)
    coef = np.linalg.solve(gram + np.diag(np.tile(N * ALPHA / q, N)), curves(UNEVEN).ravel()).reshape(N, -1)
    expected = sum(k @ coef @ between(UNEVEN, FINE) for _, k, between in parts)
    assert_allclose(model.predict(NEW, FINE), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("gaps", [False, True])
def test_principal_components_are_around_the_mean_curve(gaps):
    """Curves far from zero, in directions that the components do not span."""
    clean = 10 + 5 * UNEVEN**2 + X[:, :1] * np.sin(2 * np.pi * UNEVEN)
    y = clean.copy()
    if gaps:
        y[::3, 1] = np.nan
    model = FunctionalRegressor(
        space=spaces.PrincipalComponents(1), center=True, gamma=1.0, alpha=1e-8, grid=UNEVEN
    ).fit(X, y)
    assert_allclose(model.predict(X), clean, atol=0.3 if gaps else 1e-3)  # gaps make the mean itself uncertain
    assert_allclose(model.predict(X, UNEVEN), model.predict(X), rtol=1e-10)


@pytest.mark.parametrize("space", ["grid", spaces.Fourier(3), spaces.Fourier(4, constant=False)], ids=str)
def test_score_compares_with_the_mean_curve(space):
    y = 10 + 5 * UNEVEN**2 + curves(UNEVEN)
    model = FunctionalRegressor(space=space, gamma=1.0, alpha=1e-3, grid=UNEVEN).fit(X, y)
    error, total = (np.trapezoid((y - f) ** 2, UNEVEN).mean() for f in (model.predict(X), y.mean(axis=0)))
    assert model.score(X, y) == pytest.approx(1 - error / total, rel=1e-10)
