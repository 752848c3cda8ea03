"""Functional data as people have them: one value missing, scikit-fda's containers, scikit-learn's tools."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from hilbertlearn import (
    FunctionalRegressor,
    IrregularFunctions,
    OperatorKernelRegressor,
    RegularizationPathCV,
    kernels,
    losses,
    metrics,
    spaces,
)
from hilbertlearn.core.terms.deformed import group_eigenspaces

N, M = 20, 30
GRID = np.linspace(0.0, 1.0, M)
UNEVEN = np.linspace(0.0, 1.0, M) ** 2


def data(noise=0.02, grid=GRID, seed=0):
    """Curves with a jump, which no small dictionary expresses, one of them far from the others."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(N, 1))
    Y = np.sin(6 * (grid + X)) + 0.5 * np.sign(np.sin(9 * grid)) * X + noise * rng.normal(size=(N, len(grid)))
    Y[3] += 4
    return X, Y


def one_gap(Y, where=(5, 7)):
    Y = Y.copy()
    Y[where] = np.nan
    return Y


def atoms(t):
    return np.array([np.ones(len(t)), *(np.sqrt(2) * f(2 * np.pi * k * t) for k in (1, 2) for f in (np.cos, np.sin))])


def trapezoid(t):
    steps = np.diff(t)
    q = np.zeros(len(t))
    q[:-1] += steps / 2
    q[1:] += steps / 2
    return q


def model(**settings):
    return FunctionalRegressor(**{"kernel": "rbf", "gamma": 5.0, "alpha": 1e-2, **settings})


# ------------------------------------------------------------------ one value of 600


LOSSES = [
    losses.Squared(),
    *(losses.Huber(kappa) for kappa in (0.02, 0.05, 0.2, 0.5, 2.0)),
    *(losses.EpsilonInsensitive(epsilon) for epsilon in (0.05, 0.1, 0.2)),
]


@pytest.mark.parametrize("center", ["auto", True, False])
@pytest.mark.parametrize("space", [spaces.Fourier(5), spaces.BSpline(6)], ids=["fourier", "bspline"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_one_missing_value_makes_no_jump(loss, space, center):
    """Residuals are whole with a gap and without, those that the constant comes from too."""
    X, Y = data()
    settings = {"loss": loss, "space": space, "center": center, "tol": 1e-7, "max_iter": 10_000}
    whole, gap = (model(**settings).fit(X, y).predict(X) for y in (Y, one_gap(Y)))
    assert np.abs(whole - gap).max() < 0.01


@pytest.mark.parametrize("loss", [losses.Squared(), losses.Huber(0.3), losses.Huber(0.1)], ids=str)
@pytest.mark.parametrize("where", [(5, 7), (12, 20), (12, 19), (8, 29)], ids=str)
def test_a_missing_value_is_as_one_that_is_predicted(loss, where):
    """Whatever a value has to say, without it the fit is that of a value which the model expects; beside a jump too."""
    rng = np.random.default_rng(0)
    points, X = np.linspace(0, 1, 30), rng.uniform(-1, 1, size=(20, 2))
    Y = np.sin(6 * points + X[:, :1]) + X[:, 1:] * (points > 0.65) + 0.1 * rng.normal(size=(20, 30))
    settings = {"gamma": 0.5, "space": spaces.Fourier(5), "loss": loss, "alpha": 1e-3, "tol": 1e-9}
    without = FunctionalRegressor("rbf", **settings).fit(X, one_gap(Y, where)).predict(X)
    for _ in range(4):
        Y[where] = FunctionalRegressor("rbf", **settings).fit(X, Y).predict(X)[where]
    assert_allclose(without, FunctionalRegressor("rbf", **settings).fit(X, Y).predict(X), atol=2e-3)


@pytest.mark.parametrize("space", [spaces.Fourier(5), spaces.BSpline(6)], ids=["fourier", "bspline"])
@pytest.mark.parametrize("seed", range(4))
def test_one_missing_value_changes_no_choice(space, seed):
    """Neither alpha nor kappa, left to the data, is another one."""
    X, Y = data(seed=seed)
    whole, gap = (model(loss="huber", space=space, alpha="auto").fit(X, y) for y in (Y, one_gap(Y)))
    assert_allclose(gap.loss_.kappa, whole.loss_.kappa, rtol=0.05)
    assert_allclose(gap.alpha_, whole.alpha_, rtol=0.15)  # a mean of a grid whose steps are a factor of 3
    assert np.abs(whole.predict(X) - gap.predict(X)).max() < 0.01


@pytest.mark.parametrize("y", ["whole", "gap"])
def test_the_loss_is_of_the_whole_residual(y):
    """Equation 8 of Bouche et al. 2021: the primal value at the observed points, by hand, is least for the model."""
    X, Y = data()
    Y = Y if y == "whole" else one_gap(Y)
    kappa, alpha = 0.3, 1e-2
    found = model(
        space=spaces.Fourier(5), loss=losses.Huber(kappa), alpha=alpha, center=False, tol=1e-9, max_iter=10_000
    )
    found.fit(X, Y)
    q, Phi = trapezoid(GRID), atoms(GRID)
    weights = q * np.isfinite(Y)
    weights /= weights.sum(axis=1, keepdims=True)
    K = np.exp(-5.0 * (X - X.T) ** 2)

    def primal(A):
        """Coefficients of atoms are K A; their norm is that of the operator I on atoms."""
        squares = (weights * (np.nan_to_num(Y) - K @ A @ Phi) ** 2).sum(axis=1)
        r = np.sqrt(squares)
        return np.mean(np.where(r <= kappa, r**2 / 2, kappa * (r - kappa / 2))) + alpha / 2 * np.sum(A * (K @ A))

    A = np.linalg.lstsq(K, np.linalg.lstsq(Phi.T, found.predict(X).T, rcond=None)[0].T, rcond=1e-13)[0]
    best = primal(A)
    rng = np.random.default_rng(1)
    assert all(
        primal(A + size * rng.normal(size=A.shape)) >= best - 1e-7 for size in (1e-3, 1e-2, 0.1) for _ in range(20)
    )


# ------------------------------------------------------------------ equation 13, as printed and by quadrature


@pytest.mark.parametrize("irregular", ["projected", "projected_trapezoid"])
@pytest.mark.parametrize("gaps", [0, 1, 200])
def test_averages_over_observed_points(irregular, gaps):
    """Equation 13 by hand on an uneven grid, then the linear system of equation 12."""
    X, Y = data(grid=UNEVEN)
    hidden = np.random.default_rng(2).permutation(N * M)[:gaps]
    Y.ravel()[hidden] = np.nan
    q, Phi, K = trapezoid(UNEVEN), atoms(UNEVEN), np.exp(-5.0 * (X - X.T) ** 2)
    eta = np.zeros((N, 5))
    for i, row in enumerate(Y):
        total = 0.0
        for j in range(M):
            if np.isfinite(row[j]):
                weight = 1.0 if irregular == "projected" else q[j]
                eta[i] += weight * row[j] * Phi[:, j]
                total += weight
        eta[i] /= total
    G, alpha = (Phi * q) @ Phi.T, 1e-2
    A = np.linalg.solve(np.kron(K, G) + N * alpha * np.eye(5 * N), eta.ravel()).reshape(N, -1)
    found = model(space=spaces.Fourier(5), grid=UNEVEN, irregular=irregular, alpha=alpha, center=False).fit(X, Y)
    assert_allclose(found.predict(X), K @ A @ Phi, atol=1e-8)


@pytest.mark.parametrize("irregular", ["projected", "projected_trapezoid"])
def test_averages_over_points_of_their_own(irregular):
    rng = np.random.default_rng(3)
    points = [rng.uniform(size=m) for m in rng.integers(5, 12, size=N)]
    values = [np.cos(3 * p) for p in points]
    X = rng.uniform(size=(N, 1))
    y = IrregularFunctions(points, values, (0.0, 1.0))
    found = model(space=spaces.Fourier(5), irregular=irregular, center=False).fit(X, y)
    for p, v, coordinates in zip(points, values, found.machine_.encode(y), strict=True):
        order = np.argsort(p)
        w = np.ones(len(p)) if irregular == "projected" else trapezoid(p[order])
        assert_allclose(coordinates, atoms(p[order]) @ (w * v[order]) / w.sum(), atol=1e-9)
    assert irregular == "projected" or np.ptp([w.sum() for w in map(trapezoid, map(np.sort, points))]) > 0


def test_projected_by_quadrature_is_exact_without_gaps():
    X, Y = data(grid=UNEVEN)
    settings = {"space": spaces.BSpline(6), "grid": UNEVEN}
    exact, plain, trapezoids = (
        model(irregular=how, **settings).fit(X, Y).predict(X) for how in ("exact", "projected", "projected_trapezoid")
    )
    assert_allclose(trapezoids, exact, atol=1e-9)
    assert np.abs(plain - exact).max() > 0.05


# ------------------------------------------------------------------ scikit-fda's containers


def fda_bases():
    basis = pytest.importorskip("skfda.representation.basis")
    return {
        "bspline": basis.BSplineBasis(domain_range=(0, 3), n_basis=7),
        "uneven knots": basis.BSplineBasis(domain_range=(0, 3), knots=[0, 0.2, 0.5, 2.0, 3.0], order=3),
        "fourier": basis.FourierBasis(domain_range=(0, 3), n_basis=7),
        "monomial": basis.MonomialBasis(domain_range=(0, 300), n_basis=4),
        "constant": basis.ConstantBasis(domain_range=(-1, 1)),
    }


NAMES = ["bspline", "uneven knots", "fourier", "monomial", "constant"]


def in_basis(basis, seed=0):
    """Inputs, and functions in the basis whose terms are of like size."""
    skfda = pytest.importorskip("skfda")
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(N, 1))
    frequencies = np.arange(1, basis.n_basis + 1)
    sizes = np.sqrt(np.diag(basis.gram_matrix()))
    return X, skfda.FDataBasis(basis, np.sin(frequencies * (X + 0.3)) / sizes)


@pytest.mark.parametrize("name", NAMES)
def test_functions_in_a_basis_by_hand(name):
    """With scikit-fda's own Gram matrix, and the linear system of Bouche et al. 2021, equation 12."""
    basis = fda_bases()[name]
    X, y = in_basis(basis)
    G = basis.gram_matrix() / np.ptp(basis.domain_range[0])
    sizes = np.sqrt(np.diag(G))
    C, normed = y.coefficients * sizes, G / sizes / sizes[:, None]
    K, alpha = np.exp(-5.0 * (X - X.T) ** 2), 1e-2
    A = np.linalg.solve(np.kron(K, normed) + N * alpha * np.eye(C.size), (C @ normed).ravel()).reshape(C.shape)
    found = model(center=False, alpha=alpha).fit(X, y)
    predicted = found.predict(X)
    assert type(predicted) is type(y) and predicted.basis == basis
    assert_allclose(predicted.coefficients * sizes, K @ A, atol=1e-7)
    norms = np.einsum("ij,jk,ik->i", y.coefficients, G, y.coefficients)
    assert_allclose((found.machine_.encode(y) ** 2).sum(axis=1), norms, rtol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_functions_in_a_basis_come_back_whole(name):
    """What is learnt without a penalty to speak of are the functions themselves, at any point too."""
    basis = fda_bases()[name]
    X, y = in_basis(basis)
    found = model(alpha=1e-11, gamma=50.0).fit(X, y)
    predicted, scale = found.predict(X), np.abs(y.coefficients).max(axis=0)
    assert_allclose(predicted.coefficients / scale, y.coefficients / scale, atol=1e-3)
    points = np.linspace(*basis.domain_range[0], 11)
    on_points = found.predict(X, grid=points)
    assert type(on_points).__name__ == "FDataGrid"
    assert_allclose(on_points.data_matrix, predicted(points), atol=1e-7)
    assert found.score(X, y) > 0.999


@pytest.mark.parametrize("space", [spaces.Fourier(5), spaces.Grid(), "eigen"], ids=repr)
@pytest.mark.parametrize("irregular", ["exact", "projected"])
def test_functions_in_a_basis_in_another_space(space, irregular):
    """Predictions are what the space has of them, as near as the basis comes."""
    basis = fda_bases()["bspline"]
    X, y = in_basis(basis)
    found = model(space=space, irregular=irregular, alpha=1e-4).fit(X, y)
    predicted = found.predict(X)
    points = np.linspace(0, 3, 3001)
    on_points = found.predict(X, points).data_matrix[..., 0]
    Phi = basis(points)[..., 0]
    q = trapezoid(points)
    nearest = np.linalg.solve((Phi * q) @ Phi.T, (Phi * q) @ on_points.T).T
    assert_allclose(predicted.coefficients, nearest, atol=0.1)
    if isinstance(space, spaces.Fourier):
        assert_allclose(predicted.coefficients, nearest, atol=1e-4)


def test_functions_in_a_basis_that_are_not_known():
    basis = fda_bases()["bspline"]
    X, y = in_basis(basis)
    hidden = y.copy()
    hidden.coefficients[::4] = np.nan
    known = np.arange(N) % 4 > 0
    some, less = model().fit(X, hidden), model().fit(X[known], y[known])
    assert_allclose(some.predict(X).coefficients, less.predict(X).coefficients, atol=1e-8)


def test_a_basis_with_several_values_is_refused():
    basis = pytest.importorskip("skfda.representation.basis")
    skfda = pytest.importorskip("skfda")
    pair = basis.VectorValuedBasis([basis.BSplineBasis(n_basis=4), basis.FourierBasis(n_basis=3)])
    y = skfda.FDataBasis(pair, np.random.default_rng(0).normal(size=(N, 7)))
    with pytest.raises(ValueError, match=r"2 values.*to_grid"):
        model().fit(data()[0], y)
    with pytest.raises(ValueError, match=r"grid must be None.*to_grid"):
        model(grid=GRID).fit(*in_basis(fda_bases()["bspline"]))


@pytest.mark.parametrize("shape", ["linear", "rbf"])
def test_inputs_in_a_basis_have_the_distances_of_its_gram_matrix(shape):

    basis = fda_bases()["bspline"]
    _, x = in_basis(basis)
    G, C = basis.gram_matrix() / 3.0, x.coefficients
    inner = C @ G @ C.T
    squares = np.add.outer(np.diag(inner), np.diag(inner)) - 2 * inner
    expected = inner if shape == "linear" else np.exp(-0.7 * squares)
    assert_allclose(kernels.L2(0.7, shape=shape)(x, x), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kernel", ["auto", "rbf"])
def test_inputs_in_a_basis_are_curves(kernel):
    basis = fda_bases()["fourier"]
    X, x = in_basis(basis)
    Y = np.sin(6 * (GRID + X))
    found = FunctionalRegressor(kernel).fit(x, Y)
    points = np.linspace(0, 3, 201)
    same = FunctionalRegressor(kernel).fit(x.to_grid(points), Y)
    assert_allclose(found.predict(x[:5]), same.predict(x.to_grid(points)[:5]), atol=1e-9)
    assert found.score(x, Y) > 0.95


def list_of_curves(X, grids, domain=(0.0, 1.0)):
    skfda = pytest.importorskip("skfda")
    return [
        skfda.FDataGrid(np.sin(6 * (grid + x))[None], grid, domain_range=domain)
        for x, grid in zip(X, grids, strict=True)
    ]


def test_list_of_curves_on_one_grid():
    X, _ = data()
    y = list_of_curves(X, [UNEVEN] * N)
    found = model().fit(X, y)
    predicted = found.predict(X)
    expected = model(grid=UNEVEN).fit(X, np.sin(6 * (UNEVEN + X))).predict(X)
    assert isinstance(predicted, list) and all(type(p) is type(y[0]) for p in predicted)
    assert_allclose(np.concatenate([p.data_matrix[..., 0] for p in predicted]), expected, atol=1e-9)
    assert_allclose(found.score(X, y), found.score(X, np.sin(6 * (UNEVEN + X))))


def test_list_of_curves_on_grids_of_their_own():
    X, _ = data()
    rng = np.random.default_rng(4)
    grids = [np.sort(rng.uniform(size=m)) for m in rng.integers(5, 12, size=N)]
    y = list_of_curves(X, grids)
    space = spaces.BSpline(6)
    found = model(space=space).fit(X, y)
    same = model(space=space).fit(X, IrregularFunctions(grids, [np.sin(6 * (g + x)) for g, x in zip(grids, X)], (0, 1)))
    at = found.predict(X, grid=grids)
    expected = same.predict(X, grid=grids)
    assert all(type(p) is type(y[0]) for p in [*at, *found.predict(X)])
    for p, values, grid in zip(at, expected.values, grids, strict=True):
        assert_allclose(p.data_matrix[0, :, 0], values, atol=1e-9)
        assert_allclose(p.grid_points[0], grid)
    assert_allclose(
        found.score(X, y), same.score(X, IrregularFunctions(grids, [v.data_matrix[0, :, 0] for v in y], (0, 1)))
    )


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("kernel", ["auto", "rbf"])
def test_list_of_curves_as_inputs(own, kernel):
    X, Y = data()
    rng = np.random.default_rng(5)
    grids = [np.sort(rng.uniform(size=9)) if own else UNEVEN for _ in range(N)]
    x = list_of_curves(X, grids)
    joined = IrregularFunctions(grids, [v.data_matrix[0, :, 0] for v in x], (0, 1)) if own else x[0].concatenate(*x[1:])
    found, same = (FunctionalRegressor(kernel).fit(inputs, Y) for inputs in (x, joined))
    assert_allclose(found.predict(x[:4]), same.predict(joined[:4]), atol=1e-9)


def test_entries_of_a_list_are_single_curves():
    X, _ = data()
    y = list_of_curves(X, [GRID] * N)
    y[3] = y[3].concatenate(y[4])
    with pytest.raises(ValueError, match="entry 3 has 2"):
        model().fit(X, y)


def test_a_basis_of_scikit_fda_is_a_dictionary():
    """Fourier's is ours; splines' by hand, scaled to norm 1, on a domain other than the basis's."""
    basis = pytest.importorskip("skfda.representation.basis")
    X, Y = data(grid=UNEVEN)
    ours = model(space=spaces.Fourier(5), grid=UNEVEN).fit(X, Y).predict(X)
    theirs = model(space=basis.FourierBasis(domain_range=(0, 1), n_basis=5), grid=UNEVEN).fit(X, Y).predict(X)
    normed = np.sqrt((atoms(UNEVEN) ** 2) @ trapezoid(UNEVEN))
    scaled = model(space=lambda t: atoms(t) / normed[:, None], grid=UNEVEN).fit(X, Y).predict(X)
    assert_allclose(theirs, scaled, atol=1e-8)
    assert np.abs(ours - theirs).max() < 0.05
    splines = basis.BSplineBasis(domain_range=(0, 10), n_basis=6)
    Phi, q, K = splines(10 * UNEVEN)[..., 0], trapezoid(UNEVEN), np.exp(-5.0 * (X - X.T) ** 2)
    Phi = Phi / np.sqrt(Phi**2 @ q)[:, None]
    G = (Phi * q) @ Phi.T
    A = np.linalg.solve(np.kron(K, G) + N * 1e-2 * np.eye(6 * N), (Y @ (Phi * q).T).ravel()).reshape(N, -1)
    found = model(space=splines, grid=UNEVEN, center=False).fit(X, Y)
    assert_allclose(found.predict(X), K @ A @ Phi, atol=1e-8)
    both = model(space=spaces.Dictionary([splines, "fourier"]), grid=UNEVEN).fit(X, one_gap(Y))
    assert both.dual_gap_ <= 1e-6


# ------------------------------------------------------------------ scikit-learn's tools


def containers(X):
    """The same curves, in every container that has a grid."""
    skfda = pytest.importorskip("skfda")
    Y = np.sin(6 * (GRID + X))
    curves = skfda.FDataGrid(Y, GRID)
    return {"array": Y, "FDataGrid": curves, "list": [curves[i] for i in range(len(X))]}


@pytest.mark.parametrize("kind", ["array", "FDataGrid", "list"])
@pytest.mark.parametrize("scoring", ["r2", "neg_mean_squared_error", "neg_root_mean_squared_error"])
def test_scorers_of_scikit_learn(kind, scoring):
    """What scikit-learn gives for the array of values, whatever they come in."""
    X = np.random.default_rng(0).uniform(size=(N, 1))
    y = containers(X)
    by_name = cross_val_score(model(), X, y["array"], cv=4, scoring=scoring)
    scorer = metrics.FunctionalScorer(scoring)
    assert_allclose(cross_val_score(model(), X, y[kind], cv=4, scoring=scorer, error_score="raise"), by_name)
    search = GridSearchCV(model(), {"alpha": [1e-4, 1e-1]}, scoring=scorer, cv=3, error_score="raise").fit(X, y[kind])
    assert search.best_params_ == {"alpha": 1e-4}


@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize("kind", ["array", "FDataGrid", "list"])
@pytest.mark.parametrize("scoring", [None, "r2", "neg_mean_squared_error"])
def test_paths_with_scorers(kind, cv, scoring):
    X = np.random.default_rng(0).uniform(size=(N, 1))
    y, alphas = containers(X), np.logspace(-6, 0, 5)
    path = RegularizationPathCV(model(), alphas, cv=cv, scoring=scoring).fit(X, y[kind])
    assert_allclose(
        path.errors_, RegularizationPathCV(model(), alphas, cv=cv, scoring=scoring).fit(X, y["array"]).errors_
    )
    if cv and scoring:
        by_hand = [-cross_val_score(model(alpha=a), X, y["array"], cv=cv, scoring=scoring).mean() for a in alphas]
        assert_allclose(path.errors_, by_hand, rtol=1e-6)
    assert type(path.predict(X)) is type(y[kind])
    held_out = cross_val_predict(RegularizationPathCV(model(), alphas), X, y[kind], cv=4)
    assert metrics.integrated_squared_error(y[kind], held_out) < 0.05


@pytest.mark.parametrize("kind", ["array", "FDataGrid", "list"])
def test_predictions_across_folds(kind):
    """Each sample's is that of the model fitted without its fold, and metrics and fits take them as they come."""
    X = np.random.default_rng(0).uniform(size=(N, 1))
    y = containers(X)
    expected = np.vstack([
        model().fit(np.delete(X, test, 0), np.delete(y["array"], test, 0)).predict(X[test])
        for test in np.array_split(np.arange(N), 4)
    ])  # fmt: skip
    found = cross_val_predict(model(), X, y[kind], cv=4)
    error = metrics.integrated_squared_error(y[kind], found)
    assert_allclose(error, metrics.integrated_squared_error(y["array"], expected))
    assert_allclose(model().fit(X, found).score(X, y[kind]), model().fit(X, expected).score(X, y["array"]))


def test_functions_in_a_basis_across_folds():
    X, y = in_basis(fda_bases()["bspline"])
    found = cross_val_predict(model(), X, y, cv=4)
    train, test = np.arange(5, N), np.arange(5)
    assert_allclose(found[2].coefficients, model().fit(X[train], y[train]).predict(X[test]).coefficients[2:3])
    gauss = metrics.integrated_squared_error(y, found)
    points = np.linspace(0, 3, 2001)
    squares = np.array([(p(points) - q(points))[0, :, 0] ** 2 for p, q in zip(y, found, strict=True)])
    assert_allclose(gauss, np.mean(squares @ trapezoid(points) / 3), rtol=0.05)
    scores = cross_val_score(model(), X, y, cv=4, scoring=metrics.FunctionalScorer("r2"), error_score="raise")
    assert (scores > 0.5).all()


def test_scores_leave_out_gaps():
    """By hand, point by point; without gaps it is scikit-learn's."""
    X, Y = data()
    Y[np.random.default_rng(6).random(Y.shape) < 0.3] = np.nan
    found = model().fit(X, Y)
    P = found.predict(X)
    expected = []
    for true, predicted in zip(Y.T, P.T, strict=True):
        seen = np.isfinite(true)
        left = true[seen] - predicted[seen]
        expected.append(1 - left @ left / np.sum((true[seen] - true[seen].mean()) ** 2))
    assert_allclose(metrics.FunctionalScorer("r2")(found, X, Y), np.mean(expected))
    several = np.stack([Y, Y**2], axis=2)
    assert np.isfinite(metrics.FunctionalScorer("r2")(model().fit(X, several), X, several))


def test_scores_need_a_common_grid():
    X, _ = data()
    y = IrregularFunctions([GRID] * N, list(np.sin(6 * (GRID + X))))
    scorer = metrics.FunctionalScorer("r2")
    with pytest.raises(ValueError, match=r"common grid.*scoring=None.*integrated_squared_error"):
        cross_val_score(model(), X, y, scoring=scorer, error_score="raise")
    with pytest.raises(ValueError, match=r"common grid.*scoring=None"):
        RegularizationPathCV(model(), scoring="r2", cv=3).fit(X, y)
    with pytest.raises(ValueError, match=r"same points"):
        scorer(model().fit(X, np.sin(6 * (GRID + X))), X, np.zeros((N, 7)))
    assert cross_val_score(model(), X, y, error_score="raise").mean() > 0.5


# ------------------------------------------------------------------ a graph's penalty on a fine grid


def by_dense_system(X, Y, known, L, t, alpha, manifold):
    """Predictions at X (N, 1) from the normal equations in all coefficients: function ``sum_j k(x, x_j) M c_j``.

    Minimises ``1/(2n) sum_known ||y_i - h(x_i)||^2 + alpha/2 ||h||^2 + manifold/2 sum_ij L_ij <h(x_i), h(x_j)>``.
    """
    K, root = np.exp(-5.0 * (X - X.T) ** 2), np.sqrt(trapezoid(t))
    M = root[:, None] * np.exp(-10 * np.abs(t[:, None] - t)) * root
    J, n = np.diag(known.astype(float)), known.sum()
    targets = np.where(known[:, None], np.nan_to_num(Y), 0.0) * root
    # gradient over K M: (J/n K C M - J/n Y) + alpha C + manifold L K C M = 0
    values, E = np.linalg.eigh(M)
    T, C = targets @ E, np.zeros((len(X), len(t)))
    for j, m in enumerate(values):
        C[:, j] = np.linalg.solve(m * (J / n + manifold * L) @ K + alpha * np.eye(len(X)), T[:, j] / n)
    return K @ C * values @ E.T / root


@pytest.mark.parametrize("points", [30, 60, 120])
def test_manifold_on_a_grid_is_the_dense_system(points):
    rng = np.random.default_rng(7)
    X, t = np.sort(rng.uniform(size=(24, 1)), axis=0), np.linspace(0, 1, points)
    Y = np.sin(6 * (t + X)) + 0.3 * np.sign(t - X)
    known = rng.random(24) < 0.5
    Y[~known] = np.nan
    W = np.exp(-50 * (X - X.T) ** 2)
    np.fill_diagonal(W, 0.0)
    settings = {"graph": W, "manifold": 0.05, "alpha": 1e-3, "center": False}
    found = model(**settings).fit(X, Y)
    expected = by_dense_system(X, Y, known, np.diag(W.sum(axis=1)) - W, t, 1e-3, 0.05)
    without = model(alpha=1e-3, center=False).fit(X, Y).predict(X)
    assert np.abs(without - expected).max() > 0.1  # the graph has its part
    assert found.dual_gap_ <= 1e-6
    assert found.manifold_error_ == 0
    assert_allclose(found.predict(X), expected, atol=1e-7)
    assert model(loss=losses.Huber(0.1), **settings).fit(X, Y).dual_gap_ <= 1e-6


@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0, 1e8])
def test_groups_of_eigenvalues_keep_to_their_bound(scale):
    values, eye = np.geomspace(1e-6, 1.0, 90), np.eye(90)
    spaces_ = [(value, eye[:, [j]]) for j, value in enumerate(values)]
    groups, error = group_eigenspaces(spaces_, scale, max_groups=50)
    assert len(groups) <= 50
    assert_allclose(np.hstack([E for _, _, E in groups]), eye)
    assert_allclose(np.concatenate([np.atleast_1d(own) for _, own, _ in groups]), values)
    for m0, own, _ in groups:
        for s in (0.0, 0.01, 0.5, 1.0):
            ratio = (1 + scale * s * m0) / (1 + scale * s * np.atleast_1d(own))
            assert (np.maximum(ratio, 1 / ratio) - 1 <= error + 1e-12).all()
    assert error <= 0.2
    exact, none = group_eigenspaces(spaces_[:50], scale, max_groups=50)
    assert none == 0.0 and [m for m, _, _ in exact] == list(values[:50])


def test_manifold_on_a_fine_grid_chooses_its_alpha():
    rng = np.random.default_rng(8)
    X, t = rng.uniform(size=(30, 1)), np.linspace(0, 1, 80)
    Y = np.sin(6 * (t + X))
    hidden = Y.copy()
    hidden[::3] = np.nan
    found = model(manifold=1e-4, alpha="auto").fit(X, hidden)
    assert found.score(X, Y) > 0.9
    assert_allclose(found.predict(X, t), found.predict(X), atol=1e-6)


# ------------------------------------------------------------------ names of kernels


@pytest.mark.parametrize("gamma", [0.7, "median", "auto"])
@pytest.mark.parametrize("estimator", [FunctionalRegressor, OperatorKernelRegressor])
def test_matern_is_that_of_three_halves(estimator, gamma):
    X, Y = data()
    found, same = (estimator(name, gamma=gamma, alpha=1e-3).fit(X, Y) for name in ("matern", "matern32"))
    assert_allclose(found.predict(X[:5]), same.predict(X[:5]), atol=1e-10)
    if gamma == 0.7:
        r = np.sqrt(3) * np.abs(X - X.T) * np.sqrt(2 * 0.7)
        assert_allclose(kernels.gram("matern", X, gamma=0.7), (1 + r) * np.exp(-r), atol=1e-12)


@pytest.mark.parametrize("gamma", [0.7, "auto"])
@pytest.mark.parametrize("name, kernel", [("l2", kernels.L2), ("integrated", kernels.IntegratedKernel)])
def test_kernels_of_curves_by_name(name, kernel, gamma):
    X, Y = data()
    x = np.stack([np.cos(3 * (GRID + X)), GRID * X], axis=2)
    expected = model(kernel=kernel(gamma=gamma)).fit(x, Y).predict(x)
    assert_allclose(model(kernel=name, gamma=gamma).fit(x, Y).predict(x), expected, atol=1e-10)
    terms = model(kernel=[(name, None), (name, "integral")], gamma=gamma).fit(x, Y)
    objects = model(kernel=[(kernel(gamma=gamma), None), (kernel(gamma=gamma), "integral")]).fit(x, Y)
    assert_allclose(terms.predict(x), objects.predict(x), atol=1e-6)
    best = FunctionalRegressor(kernels.KernelSearch([name, kernels.L2(shape="linear")]), alpha=1e-3).fit(x, Y)
    assert np.isfinite(best.predict(x)).all()


@pytest.mark.parametrize(
    "wrong, near",
    [("gaussian", "'rbf'"),
     ("Matern", "'matern'"), ("matern 3/2", "'matern32'"), ("rfb", "'rbf'"), ("lapacian", "'laplacian'"),
     ("L2", "'l2'"), ("integral", "'integrated'"), ("Polynomal", "'polynomial'")],
)  # fmt: skip
def test_wrong_names_have_near_ones(wrong, near):
    X, Y = data()
    with pytest.raises(ValueError, match=rf"unknown name '{wrong}', did you mean {near}\?; known: .*rbf"):
        model(kernel=wrong).fit(X, Y)
    with pytest.raises(ValueError, match=r"unknown name 'qqq'; known: [^?]*$"):
        model(kernel="qqq").fit(X, Y)
    with pytest.raises(ValueError, match=r"irregular: unknown name 'projekted'.*did you mean 'projected'.*\?"):
        model(irregular="projekted").fit(X, Y)
