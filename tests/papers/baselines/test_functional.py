"""The compared methods against their formulas, written out."""

import numpy as np
import pytest
from helpers.estimator_checks import assert_checks_pass, in_one_line
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

from hilbertlearn import FunctionalRegressor, IrregularFunctions, RegularizationPathCV, kernels, spaces
from hilbertlearn.baselines import (
    FunctionalKernelRidge,
    FunctionalNadarayaWatson,
    KernelAdditiveRegressor,
    TripleBasisRegressor,
)

RNG = np.random.default_rng(0)
S, T = np.linspace(0, 1, 25), np.linspace(0, 1, 21)
U = RNG.uniform(-1, 1, size=(20, 2))
X = U[:, :1] * np.sin(2 * np.pi * S) + U[:, 1:] * np.cos(2 * np.pi * S)
Y = U[:, :1] ** 2 * T + np.sin(4 * T + U[:, 1:])
NEW = X[:4] * 0.9 + 0.05
WEIGHTS = RNG.integers(0, 4, size=20).astype(float)
GAPS = np.where(RNG.random(Y.shape) < 0.3, np.nan, Y)
ALPHA = 1e-3
TOL = 1e-13  # gap at which predictions have 6 digits

MODELS = {
    "nadaraya-watson": FunctionalNadarayaWatson(kernels.L2(5.0)),
    "kernel ridge": FunctionalKernelRidge(kernels.L2(5.0), alpha=ALPHA),
    "additive": KernelAdditiveRegressor(bandwidth_values=0.5, n_components=4, alpha=ALPHA),
    "triple basis": TripleBasisRegressor(
        input_basis=spaces.Fourier(5), output_basis=spaces.Fourier(7), gamma=0.5, alpha=ALPHA, random_state=0
    ),
}


def trapezoid(points):
    """Quadrature weights by definition: the integral of each hat function."""
    return np.array([np.trapezoid(hat, points) for hat in np.eye(len(points))])


@pytest.mark.parametrize(
    "estimator",
    [
        FunctionalNadarayaWatson(),
        FunctionalKernelRidge(),
        KernelAdditiveRegressor(),
        TripleBasisRegressor(random_state=0),
    ],
    ids=in_one_line,
)
def test_estimator_checks(estimator):
    assert_checks_pass(estimator)


# ---------------------------------------------------------------- Nadaraya-Watson


def local_mean(new, curves, gamma, weights):
    """The estimator with its sums written as loops."""
    out = np.empty((len(new), curves.shape[1]))
    for a, x in enumerate(new):
        for j in range(curves.shape[1]):
            above = below = 0.0
            for i, curve in enumerate(curves):
                if np.isfinite(curve[j]):
                    k = weights[i] * np.exp(-gamma * np.trapezoid((x - X[i]) ** 2, S))
                    above, below = above + k * curve[j], below + k
            out[a, j] = above / below
    return out


def test_nadaraya_watson_is_a_weighted_mean_over_observed_points():
    model = FunctionalNadarayaWatson(kernels.L2(5.0)).fit(X, GAPS, WEIGHTS)
    expected = local_mean(NEW, GAPS, 5.0, WEIGHTS)
    assert_allclose(model.predict(NEW), expected)
    fine = np.linspace(0, 1, 50)
    assert_allclose(model.predict(NEW, grid=fine), [np.interp(fine, T, row) for row in expected])


def test_nadaraya_watson_far_from_all_samples_is_the_mean():
    model = FunctionalNadarayaWatson("rbf", gamma=1.0).fit(X, GAPS)
    assert_allclose(model.predict(X[:1] + 1e3)[0], np.nanmean(GAPS, axis=0))


def test_nadaraya_watson_with_weights_near_underflow_is_the_nearest_sample():
    model = FunctionalNadarayaWatson("rbf", gamma=1.0).fit([[0.0], [10.0]], [[1.0, 2.0], [5.0, 6.0]])
    assert_allclose(model.predict([[10.0 + np.sqrt(740)]]), [[5.0, 6.0]])  # exp(-740) is subnormal


def test_nadaraya_watson_where_no_curve_was_observed():
    holes = GAPS.copy()
    holes[:, 7] = np.nan
    model = FunctionalNadarayaWatson(kernels.L2(5.0)).fit(X, holes)
    filled = np.column_stack([np.interp(T[7], T[np.isfinite(row)], row[np.isfinite(row)]) for row in holes])[0]
    assert_allclose(model.predict(NEW)[:, 7], local_mean(NEW, filled[:, None], 5.0, np.ones(20))[:, 0])
    assert_allclose(
        np.delete(model.predict(NEW), 7, axis=1),
        local_mean(NEW, np.delete(holes, 7, axis=1), 5.0, np.ones(20)),
    )


def test_nadaraya_watson_with_a_gram_matrix():
    named = FunctionalNadarayaWatson(gamma=0.1).fit(X, GAPS, WEIGHTS)
    given = FunctionalNadarayaWatson("precomputed").fit(rbf_kernel(X, gamma=0.1), GAPS, WEIGHTS)
    assert_allclose(given.predict(rbf_kernel(NEW, X, gamma=0.1)), named.predict(NEW))


def test_nadaraya_watson_interpolates_curves_with_points_of_their_own():
    points = [np.sort(RNG.uniform(size=9)) for _ in X]
    curves = IrregularFunctions(points, [np.interp(p, T, y) for p, y in zip(points, Y, strict=True)], (0.0, 1.0))
    model = FunctionalNadarayaWatson(kernels.L2(5.0), grid=T).fit(X, curves)
    on_grid = np.array([np.interp(T, p, v) for p, v in zip(curves.points, curves.values, strict=True)])
    predicted = model.predict(NEW)
    assert isinstance(predicted, IrregularFunctions)
    assert_allclose(np.array(predicted.values), local_mean(NEW, on_grid, 5.0, np.ones(20)))


def test_nadaraya_watson_refuses_negative_weights_and_paths():
    model = FunctionalNadarayaWatson("linear").fit(X, Y)
    with pytest.raises(ValueError, match="kernel must not be negative"):
        model.predict(-X)
    with pytest.raises(TypeError, match="FunctionalNadarayaWatson"):
        RegularizationPathCV(FunctionalNadarayaWatson()).fit(X, Y)


# ---------------------------------------------------------------- settings of FunctionalRegressor


def test_kernel_ridge_solves_the_dense_system():
    points = np.linspace(2, 6, 21)  # counts as [0, 1]
    model = FunctionalKernelRidge(kernels.L2(5.0), output_gamma=3.0, grid=points, alpha=ALPHA)
    model = model.build().set_params(tol=TOL).fit(X, Y)
    q = trapezoid(T)
    K = np.exp(-5.0 * ((X[:, None] - X) ** 2 @ trapezoid(S)))
    kappa = np.exp(-3.0 * np.abs(T[:, None] - T))
    system = np.kron(K, kappa * q) + ALPHA * len(X) * np.eye(Y.size)  # h(x_i)(t_j) + lambda c_ij = y_ij
    c = np.linalg.solve(system, (Y - Y.mean(axis=0)).ravel()).reshape(Y.shape)
    k_new = np.exp(-5.0 * ((NEW[:, None] - X) ** 2 @ trapezoid(S)))
    fine = np.linspace(0, 1, 40)
    at_fine = np.exp(-3.0 * np.abs(fine[:, None] - T)) * q
    mean = np.interp(fine, T, Y.mean(axis=0))
    assert_allclose(model.predict(NEW), k_new @ c @ (kappa * q).T + Y.mean(axis=0), atol=1e-8)
    assert_allclose(model.predict(NEW, grid=2 + 4 * fine), k_new @ c @ at_fine.T + mean, atol=1e-8)


def additive_gram(A, B, along, across):
    """The double integral as a sum over all pairs of points."""
    q = trapezoid(S)
    out = np.zeros((len(A), len(B)))
    for s, ws in zip(range(len(S)), q, strict=True):
        for t, wt in zip(range(len(S)), q, strict=True):
            values = np.exp(-((A[:, s, None] - B[:, t]) ** 2) / across**2)
            out += ws * wt * np.exp(-((S[s] - S[t]) ** 2) / along**2) * values
    return out


def test_additive_model_solves_the_dense_system():
    outputs = Y + 3 * np.exp(T)  # the mean is not in the span of the principal components
    model = KernelAdditiveRegressor(
        bandwidth_points=0.2, bandwidth_values=0.5, bandwidth_out=0.3, n_components=5, alpha=ALPHA
    )
    model = model.build().set_params(tol=TOL).fit(X, outputs)
    q = trapezoid(T)
    mean = outputs.mean(axis=0)
    psi = np.linalg.svd((outputs - mean) * np.sqrt(q), full_matrices=False)[2][:3] / np.sqrt(q)  # rank 3
    operator = (psi * q) @ np.exp(-((T[:, None] - T) ** 2) / 0.3**2) @ (psi * q).T
    lam = ALPHA * len(X)  # of the papers
    system = np.kron(additive_gram(X, X, 0.2, 0.5), operator) + lam * np.eye(3 * len(X))
    c = np.linalg.solve(system, ((outputs - mean) @ (psi * q).T).ravel()).reshape(-1, 3)
    expected = additive_gram(NEW, X, 0.2, 0.5) @ c @ operator @ psi + mean
    assert_allclose(model.predict(NEW), expected, atol=1e-8)


def fourier(n, points):
    """1, then cosines and sines."""
    rows = [np.ones_like(points)]
    for l in range(1, n // 2 + 1):
        rows += [np.sqrt(2) * np.cos(2 * np.pi * l * points), np.sqrt(2) * np.sin(2 * np.pi * l * points)]
    return np.array(rows[:n])


def test_triple_basis_is_ridge_regression_on_cosines():
    model = clone(MODELS["triple basis"]).fit(X, Y, WEIGHTS)
    sampler = model.model_.regressor_.sampler_
    W, shift = sampler.random_weights_, sampler.random_offset_
    assert_allclose(W.var(), 2 * 0.5, rtol=0.1)  # the spectral density of exp(-gamma d^2) is N(0, 2 gamma)

    def features(A):
        return np.sqrt(2 / 300) * np.cos((A * trapezoid(S)) @ fourier(5, S).T @ W + shift)

    atoms = fourier(7, T)
    targets = (Y * trapezoid(T)) @ atoms.T
    centre = WEIGHTS @ targets / WEIGHTS.sum()
    Z, D = features(X), np.diag(WEIGHTS)
    ridge = np.linalg.solve(Z.T @ D @ Z + ALPHA * WEIGHTS.sum() * np.eye(300), Z.T @ D @ (targets - centre))
    fine = np.linspace(0, 1, 33)
    assert_allclose(model.predict(NEW), (features(NEW) @ ridge + centre) @ atoms, atol=1e-8)
    assert_allclose(model.predict(NEW, grid=fine), (features(NEW) @ ridge + centre) @ fourier(7, fine), atol=1e-8)


def test_triple_basis_approaches_kernel_ridge():
    model = clone(MODELS["triple basis"]).set_params(n_features=20000).fit(X, Y)
    B, B_new = ((A * trapezoid(S)) @ fourier(5, S).T for A in (X, NEW))
    targets = (Y * trapezoid(T)) @ fourier(7, T).T
    dual = np.linalg.solve(rbf_kernel(B, gamma=0.5) + ALPHA * 20 * np.eye(20), targets - targets.mean(axis=0))
    exact = rbf_kernel(B_new, B, gamma=0.5) @ dual + targets.mean(axis=0)
    assert_allclose(model.predict(NEW), exact @ fourier(7, T), atol=0.02)


def test_triple_basis_features_follow_random_state():
    one, same = (clone(MODELS["triple basis"]).fit(X, Y).predict(NEW) for _ in range(2))
    other = clone(MODELS["triple basis"]).set_params(random_state=1).fit(X, Y).predict(NEW)
    assert_allclose(one, same, rtol=0)
    assert np.abs(one - other).max() > 1e-6


# ---------------------------------------------------------------- what all share


@pytest.mark.parametrize("name", MODELS)
def test_weights_are_repetitions(name):
    repeated = np.repeat(np.arange(20), WEIGHTS.astype(int))
    weighted = clone(MODELS[name]).fit(X, Y, WEIGHTS)
    assert_allclose(weighted.predict(NEW), clone(MODELS[name]).fit(X[repeated], Y[repeated]).predict(NEW), atol=1e-3)


@pytest.mark.parametrize("name", MODELS)
def test_gaps_in_inputs_and_outputs(name):
    holes = X.copy()
    holes[::5, 3] = np.nan
    model = clone(MODELS[name]).fit(holes, GAPS)
    predicted = model.predict(holes)
    assert predicted.shape == Y.shape and np.isfinite(predicted).all()
    error, total = (np.trapezoid(e**2, T).mean() for e in (Y - predicted, Y - np.nanmean(GAPS, axis=0)))
    assert model.score(holes, Y) == pytest.approx(1 - error / total, abs=1e-10)
    assert model.score(holes, Y) > 0.5


@pytest.mark.parametrize("name", MODELS)
def test_several_curves_and_several_channels(name):
    both = np.stack([Y, -2 * Y], axis=2)
    model = clone(MODELS[name]).fit(X[:, :, None], both)
    one = clone(MODELS[name]).fit(X, Y).predict(NEW)
    assert model.predict(NEW[:, :, None]).shape == (4, 21, 2)
    assert_allclose(model.predict(NEW[:, :, None]), np.stack([one, -2 * one], axis=2), atol=1e-3)


@pytest.mark.parametrize("name", MODELS)
def test_containers(name):
    skfda = pytest.importorskip("skfda")
    model = clone(MODELS[name]).fit(skfda.FDataGrid(X, S), skfda.FDataGrid(Y, T))
    predicted = model.predict(skfda.FDataGrid(NEW, S))
    assert_allclose(predicted.data_matrix[..., 0], clone(MODELS[name]).fit(X, Y).predict(NEW), atol=1e-6)
    dense = IrregularFunctions([T] * 20, list(Y))
    own = clone(MODELS[name]).fit(X, dense).predict(NEW, grid=[T[: i + 2] for i in range(4)])
    assert [len(values) for values in own.values] == [2, 3, 4, 5]


@pytest.mark.parametrize("name", ["kernel ridge", "additive"])
def test_build_serves_paths_over_alpha(name):
    path = RegularizationPathCV(MODELS[name].build(), [1e-6, 1e-3, 1.0]).fit(X, Y)
    assert isinstance(path.best_estimator_, FunctionalRegressor)
    fitted = clone(MODELS[name]).set_params(alpha=path.alpha_).fit(X, Y)
    assert_allclose(path.predict(NEW), fitted.predict(NEW), atol=1e-3)


@pytest.mark.parametrize(
    ("name", "grid"),
    [
        ("nadaraya-watson", {"kernel__gamma": [0.1, 10.0]}),
        ("kernel ridge", {"output_gamma": [1.0, 30.0]}),
        ("additive", {"bandwidth_out": [0.05, 0.5]}),
        ("triple basis", {"output_basis__n_components": [1, 7]}),
    ],
)
def test_settings_can_be_searched(name, grid):
    search = GridSearchCV(clone(MODELS[name]), grid, cv=3, error_score="raise").fit(X, Y)
    assert np.ptp(search.cv_results_["mean_test_score"]) > 1e-6
    assert search.predict(NEW).shape == (4, 21)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelAdditiveRegressor(bandwidth_out=0), "bandwidth_out"),
        (TripleBasisRegressor(alpha=-1), "alpha"),
        (TripleBasisRegressor(n_features=0), "n_features"),
        (FunctionalKernelRidge(output_gamma=-1), "gamma"),
        (FunctionalNadarayaWatson("gauss"), "kernel"),
    ],
)
def test_bad_settings(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)


def test_attributes_that_local_means_do_not_have():
    model = FunctionalNadarayaWatson(kernels.L2(5.0)).fit(X, Y)
    for name in ("alpha_", "dual_coef_", "loss_", "objectives_", "operator_", "support_", "saturated_"):
        with pytest.raises(AttributeError, match=f"FunctionalNadarayaWatson does not estimate {name}"):
            getattr(model, name)


def test_nadaraya_watson_predicts_curves_of_vectors():
    vectors = np.random.default_rng(1).normal(size=(30, 3))
    curves = np.sin(vectors[:, :1] + np.linspace(0, 3, 9))
    assert FunctionalNadarayaWatson().fit(vectors, curves).predict(vectors).shape == (30, 9)
