"""Single precision: against double with tolerances from the certificate, what is certified, and what is refused."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, StructuredPredictor, losses
from hilbertlearn._utils.linalg import (
    cholesky,
    cholesky_solve,
    full_spectrum,
    low_rank_spectrum,
    product,
    shifted_inverse,
)
from hilbertlearn._utils.pivoted_cholesky import pivoted_cholesky
from hilbertlearn.kernels.gram import gram

EPS = float(np.finfo(np.float32).eps)
rng = np.random.default_rng(0)
N, P, D, GAMMA = 150, 3, 4, 0.3
X = rng.normal(size=(N, P)).astype(np.float32)
NEW = rng.normal(size=(40, P)).astype(np.float32)
Y = np.sin(X @ rng.normal(size=(P, D))) + 0.2 * rng.normal(size=(N, D))
M = 0.6 * np.eye(D) + 0.4
WEIGHTS = rng.uniform(0.2, 3, N)
GAPS = np.where(rng.random((N, D)) < 0.2, np.nan, Y)
KAPPA, EPSILON = 0.3, 0.2


def regressor(**settings):
    return OperatorKernelRegressor("rbf", **{"gamma": GAMMA, "center": False, **settings})


# ---------------------------------------------------------------- the certificate, by hand and in double


def value(name, r):
    """The loss at norms of residuals."""
    if name == "huber":
        return np.where(r <= KAPPA, r**2 / 2, KAPPA * r - KAPPA**2 / 2)
    return np.maximum(r - EPSILON, 0) ** 2 / 2 if name == "epsilon" else r**2 / 2


def conjugate(name, a):
    if name == "huber":
        assert (a <= KAPPA * (1 + 4 * EPS)).all()
    return a**2 / 2 + (EPSILON * a if name == "epsilon" else 0.0)


def certificate(model, name, outputs, weights, operator, alpha):
    """Relative gap, and the bound on errors of h(x) that follows: ``s/2 ||h - h*||^2`` is at most the gap."""
    exact, weights = X.astype(float), np.ones(N) if weights is None else weights
    K, C, s = rbf_kernel(exact, gamma=GAMMA), model.dual_coef_.astype(float), alpha * weights.sum()
    operator = np.eye(D) if operator is None else operator
    F = K @ C @ operator
    norm, seen = s * np.vdot(C, F) / 2, np.isfinite(outputs)
    primal = weights @ value(name, np.linalg.norm(np.where(seen, outputs - F, 0), axis=1)) + norm
    duals = weights @ conjugate(name, np.linalg.norm(s * C / weights[:, None], axis=1))
    dual = duals - s * np.vdot(C, np.nan_to_num(outputs)) + norm
    gap = max(primal + dual, 0.0)
    bound = np.sqrt(2 * gap / s * np.linalg.norm(operator, 2))
    return gap / primal, bound, np.linalg.norm(K, 2) * np.linalg.norm(operator, 2) / s


LOSSES = {"squared": "squared", "huber": losses.Huber(KAPPA), "epsilon": losses.EpsilonInsensitive(EPSILON)}
CASES = {
    "plain": (Y, None, None),
    "operator": (Y, None, M),
    "gaps": (GAPS, None, None),
    "gaps, operator": (GAPS, None, M),
    "weights": (Y, WEIGHTS, None),
    "weights, operator": (Y, WEIGHTS, M),
}


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("alpha", [1e-1, 1e-3, 1e-4])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", LOSSES)
def test_fit_is_as_near_to_the_optimum_as_its_certificate_says(name, case, alpha):
    """The gap is recomputed with a kernel matrix in double; optima differ by no more than the two gaps allow."""
    outputs, weights, operator = CASES[case]
    settings = {"loss": LOSSES[name], "alpha": alpha, "operator": operator}
    single = regressor(**settings).fit(X, outputs, weights)
    double = regressor(**settings, tol=1e-12).fit(X.astype(float), outputs, weights)
    assert single.precision_ == "float32" and double.precision_ == "float64"
    gap, bound, condition = certificate(single, name, outputs, weights, operator, alpha)
    rounding = (2 * EPS * condition) ** 2 + 2 * EPS
    assert single.dual_gap_ <= 1e-6
    assert abs(gap - single.dual_gap_) <= rounding + 0.05 * single.dual_gap_
    left = certificate(double, name, outputs, weights, operator, alpha)[1]
    # and what rounding does to sums of kernel values times coefficients
    C = np.abs(single.dual_coef_.astype(float) @ (np.eye(D) if operator is None else operator))
    summed = 4 * EPS * (rbf_kernel(NEW.astype(float), X.astype(float), gamma=GAMMA) @ C).max()
    difference = np.abs(single.predict(NEW) - double.predict(NEW.astype(float))).max()
    assert difference <= bound + left + summed


@pytest.mark.parametrize("solver", ["columns", "spectral", "splitting"])
def test_solvers_agree(solver):
    found = regressor(operator=M, alpha=1e-3, solver=solver).fit(X, Y)
    assert found.precision_ == "float32" and found.solver_ == solver and found.dual_gap_ <= 1e-6
    gap, *_ = certificate(found, "squared", Y, None, M, 1e-3)
    assert gap <= 1.1e-6


@pytest.mark.parametrize("loss", ["squared", losses.Huber(KAPPA), losses.EpsilonInsensitive(EPSILON)], ids=str)
@pytest.mark.parametrize("operator", [None, M], ids=["identity", "operator"])
def test_stops_at_what_float32_reaches_and_says_so(loss, operator):
    model = regressor(loss=loss, alpha=1e-3, operator=operator, tol=1e-15)
    with pytest.warns(ConvergenceWarning, match="precision='refined'") as told:
        model.fit(X, Y)
    assert len(told) == 1 and model.n_iter_ < 150
    K = rbf_kernel(X.astype(float), gamma=GAMMA)
    condition = np.trace(K) * np.linalg.norm(np.eye(D) if operator is None else M, 2) / (1e-3 * N)
    assert model.dual_gap_ <= (EPS * condition) ** 2 + 2 * EPS


def test_auto_is_double_where_single_would_not_reach_the_tolerance():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for loss, alpha in (("squared", 1e-8), (losses.Huber(KAPPA), 1e-6)):
            model = regressor(alpha=alpha, loss=loss).fit(X, Y)
            assert model.precision_ == "float64" and model.dual_gap_ <= 1e-6
            assert model.predict(X).dtype == model.dual_coef_.dtype == np.float32
    forced = regressor(alpha=1e-8, precision="float32")
    with pytest.warns(ConvergenceWarning):
        forced.fit(X, Y)
    assert forced.precision_ == "float32"


# ---------------------------------------------------------------- refinement


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", LOSSES)
def test_refined_is_double(name, case):
    outputs, weights, operator = CASES[case]
    settings = {"loss": LOSSES[name], "alpha": 1e-4, "operator": operator, "tol": 1e-12, "max_iter": 5000}
    refined = regressor(**settings, precision="refined").fit(X, outputs, weights)
    double = regressor(**settings, precision="float64").fit(X, outputs, weights)
    assert refined.precision_ == "refined" and refined.dual_gap_ <= 1e-12
    assert refined.predict(NEW).dtype == np.float64
    gap, *_ = certificate(refined, name, outputs, weights, operator, 1e-4)
    assert gap <= 2e-12
    size = np.abs(double.predict(NEW)).max()
    # two optima to a gap of 1e-12 differ by its root; solutions of a linear system have no such slack
    allowed = 1e-5 if "splitting" in (refined.solver_, double.solver_) or name != "squared" else 1e-8
    assert_allclose(refined.predict(NEW), double.predict(NEW), atol=allowed * size)


@pytest.mark.parametrize("alpha", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("operator", [None, M], ids=["identity", "operator"])
def test_refined_where_single_precision_does_not_contract(alpha, operator):
    """Factors in double take over: the gap is that of double precision for every alpha."""
    settings = {"alpha": alpha, "operator": operator, "solver": "spectral", "tol": 1e-10}
    gaps = [regressor(**settings, precision=kind).fit(X, Y).dual_gap_ for kind in ("refined", "float64")]
    assert gaps[0] <= max(1e-10, 10 * gaps[1])


# ---------------------------------------------------------------- types


def test_types_of_what_comes_back():
    model = regressor(alpha=1e-2).fit(X, Y)
    for values in (model.predict(NEW), model.predict(NEW.astype(float)), model.dual_coef_, model.center_, model.X_fit_):
        assert values.dtype == np.float32
    assert_array_equal(model.predict(NEW), model.predict(NEW.astype(float)))
    assert regressor(alpha=1e-2, operator=M).fit(X, Y).operator_.dtype == np.float32
    for kind in ("float64", "refined"):
        model = regressor(alpha=1e-2, precision=kind).fit(X, Y)
        assert model.predict(NEW).dtype == model.dual_coef_.dtype == np.float64
    asked = regressor(alpha=1e-2, precision="float32").fit(X.astype(float), Y)
    assert asked.precision_ == "float32" and asked.predict(NEW.astype(float)).dtype == np.float32
    default = OperatorKernelRegressor().fit(X[:40], Y[:40])
    assert default.predict(NEW).dtype == default.dual_coef_.dtype == np.float32


def test_float64_is_what_it_was():
    settings = {"alpha": 1e-3, "loss": losses.Huber(KAPPA)}
    expected = regressor(**settings).fit(X.astype(float), Y)
    found = regressor(**settings, precision="float64").fit(X, Y)
    assert_array_equal(found.predict(NEW), expected.predict(NEW.astype(float)))


def test_unknown_precision():
    with pytest.raises(ValueError, match="precision: unknown name 'double'"):
        regressor(precision="double").fit(X, Y)


@pytest.mark.parametrize("wrapped", ["pandas", "polars"])
def test_data_frames_of_float32(wrapped):
    library = pytest.importorskip(wrapped)
    frame = (
        library.DataFrame(X, schema=list("abc")) if wrapped == "polars" else library.DataFrame(X, columns=list("abc"))
    )
    model = regressor(alpha=1e-2).fit(frame, Y)
    assert model.precision_ == "float32"
    assert_allclose(model.predict(frame), regressor(alpha=1e-2).fit(X, Y).predict(X), atol=1e-5)


def test_kernels_that_are_objects_and_precomputed_values():
    for settings, inputs in (({}, X), ({"kernel": lambda A, B: rbf_kernel(A, B, gamma=GAMMA)}, X)):
        model = regressor(alpha=1e-2).set_params(**settings).fit(inputs, Y)
        assert model.precision_ == "float32"
        assert_allclose(model.predict(X), regressor(alpha=1e-2).fit(X, Y).predict(X), atol=1e-5)
    K = rbf_kernel(X, gamma=GAMMA).astype(np.float32)
    given = OperatorKernelRegressor("precomputed", alpha=1e-2, center=False).fit(K, Y)
    assert given.precision_ == "float32"
    assert_allclose(given.predict(K), regressor(alpha=1e-2).fit(X, Y).predict(X), atol=1e-5)


def test_gram_matrices_have_the_rounding_of_their_type():
    noise = 1e-7 * rng.normal(size=(N, N))
    K = rbf_kernel(X.astype(float), gamma=GAMMA) + noise
    model = OperatorKernelRegressor("precomputed", alpha=1e-2, center=False)
    with pytest.raises(ValueError, match="not symmetric"):
        model.fit(K, Y)
    assert_allclose(
        model.fit(K.astype(np.float32), Y).predict(K), regressor(alpha=1e-2).fit(X, Y).predict(X), atol=1e-4
    )


@pytest.mark.parametrize(
    "settings", [{"loss": "hinge"}, {"loss": losses.Ball(3.0)}, {"operator": "learned"}, {"manifold": 0.1},
                 {"solver": "proximal_gradient"}, {"alpha_per_output": True}], ids=str
)  # fmt: skip
def test_what_stays_double(settings):
    target = np.sign(Y) if settings.get("loss") == "hinge" else Y
    model = regressor(alpha=1e-1, center=settings.get("loss") != "hinge").set_params(**settings).fit(X, target)
    assert model.precision_ == "float64" and model.predict(X).dtype == np.float32


# ---------------------------------------------------------------- numbers out of range


@pytest.mark.parametrize("scale", [1e30, 1e-30, 1e40])
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_outputs_beyond_float32_are_fitted_in_double(scale, loss):
    expected = regressor(alpha=1e-2, loss=loss).fit(X.astype(float), Y)
    model = regressor(alpha=1e-2, loss=loss)
    with pytest.warns(UserWarning, match="float64: centre and scale y"):
        model.fit(X, scale * Y)
    assert model.precision_ == "float64" and model.predict(NEW).dtype == np.float64
    assert_allclose(model.predict(NEW) / scale, expected.predict(NEW), atol=1e-3)


@pytest.mark.parametrize("scale", [2.0**30, 2.0**-30])
@pytest.mark.parametrize("loss", [None, losses.Huber, losses.EpsilonInsensitive])
def test_scale_of_outputs_changes_nothing(scale, loss):
    once, scaled = (
        regressor(alpha=1e-2, loss="squared" if loss is None else loss(0.2 * factor)).fit(X, factor * Y)
        for factor in (1.0, scale)
    )
    assert scaled.precision_ == "float32" and scaled.n_iter_ <= 2 * once.n_iter_
    assert_allclose(scaled.predict(NEW) / scale, once.predict(NEW), atol=2e-2)  # sqrt(2 gap / alpha)


def test_constant_outputs_and_such_that_were_never_observed():
    outputs = np.column_stack([Y[:, 0], np.full(N, 0.1), np.zeros(N), np.full(N, np.nan)])
    with pytest.warns(UserWarning, match="output 3 has no observed value") as told:
        model = OperatorKernelRegressor("rbf", gamma=GAMMA, alpha=1e-2).fit(X, outputs)
    assert len(told) == 1 and model.precision_ == "float32"
    assert_allclose(model.predict(NEW)[:, 1:], np.broadcast_to([0.1, 0.0, np.nan], (len(NEW), 3)), atol=1e-7)


@pytest.mark.parametrize("alpha", [1e-30, 1e30])
def test_penalties_beyond_float32(alpha):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = regressor(alpha=alpha, precision="float32").fit(X, Y)
    assert model.precision_ == "float64" and np.isfinite(model.predict(NEW)).all()


def test_outputs_far_from_zero_are_predicted_in_double():
    model = OperatorKernelRegressor("rbf", gamma=GAMMA, alpha=1e-2)
    with pytest.warns(UserWarning, match="too far from zero"):
        model.fit(X, Y + 1e7)
    expected = OperatorKernelRegressor("rbf", gamma=GAMMA, alpha=1e-2).fit(X.astype(float), Y)
    assert_allclose(model.predict(NEW) - 1e7, expected.predict(NEW.astype(float)), atol=1e-6)


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("name", ["rbf", "matern12", "matern32", "matern52", "laplacian", "linear", "poly", "cosine"])
def test_kernel_values_have_all_digits_wherever_inputs_are(name, offset):
    A, B = ((one + np.float32(offset)).astype(np.float32) for one in (X, NEW))
    for left, right in ((A, None), (B, A)):
        found = gram(name, left, right, gamma=GAMMA)
        expected = gram(name, left.astype(float), None if right is None else right.astype(float), gamma=GAMMA)
        assert found.dtype == np.float32
        assert_allclose(found, expected, atol=2 * EPS * np.abs(expected).max())


# ---------------------------------------------------------------- choices and left-out samples


def test_leave_one_out_against_refits():
    model = regressor(alpha=1e-2, operator=M).fit(X, Y)
    found = model.loo_residuals()
    for i in (0, 7, 149):
        kept = np.arange(N) != i
        alpha = 1e-2 * N / (N - 1)  # alpha n is held fixed
        refit = regressor(alpha=alpha, operator=M, precision="float64", tol=1e-12).fit(X[kept], Y[kept])
        assert_allclose(found[i], Y[i] - refit.predict(X[i : i + 1])[0], atol=1e-5)


def test_choices_are_those_of_double():
    A, b = load_diabetes(return_X_y=True)
    A = (A / A.std(axis=0)).astype(np.float32)
    errors = []
    for kind in (np.float64, np.float32):
        model = OperatorKernelRegressor().fit(A[:300].astype(kind), b[:300])
        errors.append(np.mean((model.predict(A[300:].astype(kind)) - b[300:]) ** 2))
    assert abs(errors[1] / errors[0] - 1) < 0.01


def test_constants_of_a_loss_are_those_of_double():
    single, double = (regressor(alpha=1e-2, loss="huber").fit(X.astype(kind), Y) for kind in (np.float32, np.float64))
    assert single.precision_ == "float32"
    assert_allclose(single.loss_.kappa, double.loss_.kappa, rtol=1e-6)


# ---------------------------------------------------------------- other outputs


@pytest.mark.parametrize("space", ["grid", "fourier"])
@pytest.mark.parametrize("loss", ["squared", losses.Huber(0.1)], ids=str)
def test_functions(space, loss):
    t = np.linspace(0, 1, 25)
    curves = np.sin(6 * t + X[:, :1]) + 0.1 * X[:, 1:2] * t
    single, double = (
        FunctionalRegressor("rbf", gamma=GAMMA, alpha=1e-3, space=space, loss=loss, tol=1e-8 if kind is float else 1e-6)
        .fit(X.astype(kind), curves)
        for kind in (np.float32, float)
    )  # fmt: skip
    assert single.precision_ == "float32" and single.dual_gap_ <= 1e-6
    for grid in (None, np.linspace(0, 1, 11)):
        found, expected = single.predict(NEW, grid), double.predict(NEW.astype(float), grid)
        assert found.dtype == np.float32
        assert_allclose(found, expected, atol=5e-3)  # sqrt(2 gap / alpha), curves of size 1
    assert abs(single.score(X, curves) - double.score(X.astype(float), curves)) < 1e-3


@pytest.mark.parametrize("settings", [{}, {"output_kernel": "rbf"}, {"output_kernel": "rbf", "loss": "huber"}], ids=str)
def test_structured_outputs(settings):
    labels = np.argmax(np.nan_to_num(Y), axis=1)
    outputs = np.eye(D)[labels] if settings else labels
    single, double = (
        StructuredPredictor("rbf", gamma=GAMMA, alpha=1e-3, **settings).fit(X.astype(kind), outputs)
        for kind in (np.float32, float)
    )
    assert single.precision_ == "float32"
    found, expected = single.predict(NEW), double.predict(NEW.astype(float))
    assert np.mean(np.all(np.reshape(found, (len(NEW), -1)) == np.reshape(expected, (len(NEW), -1)), axis=1)) > 0.95
    assert_allclose(single.weights(NEW), double.weights(NEW.astype(float)), atol=5e-3)


# ---------------------------------------------------------------- linear algebra


def test_linear_algebra_in_single_precision():
    K = gram("rbf", X, gamma=GAMMA)
    S = K.astype(float) + 0.1 * np.eye(N)
    size = np.linalg.norm(S, 2)
    R = rng.normal(size=(N, 3))
    factor = cholesky(K, 0.1)
    assert factor.dtype == np.float32
    solved = cholesky_solve(factor, R.astype(np.float32))
    assert np.linalg.norm(S @ solved - R) <= N * EPS * size / 0.1 * np.linalg.norm(R)
    inverse = shifted_inverse(K, 0.1)
    assert inverse.dtype == np.float32
    assert np.linalg.norm(S @ inverse - np.eye(N), 2) <= N * EPS * size / 0.1
    values, vectors = full_spectrum(K)
    assert values.dtype == vectors.dtype == np.float32
    assert_allclose((vectors * values) @ vectors.T, K, atol=20 * EPS * size)
    L, pivots = pivoted_cholesky(K, 1e-4)
    assert L.dtype == np.float32 and len(pivots) == L.shape[1]
    assert_allclose(L @ L.T, K, atol=2e-4)
    assert_array_equal(product(K, R), K.astype(float) @ R)


def test_low_rank_in_single_precision():
    Z = rng.uniform(size=(600, 1)).astype(np.float32)
    K = gram("rbf", Z, gamma=3.0)
    values, vectors = low_rank_spectrum(K, 1 / 2)
    assert values.dtype == np.float32 and len(values) < 130
    assert np.linalg.norm((vectors * values).astype(float) @ vectors.T - K, 2) <= 8 * EPS * 600
