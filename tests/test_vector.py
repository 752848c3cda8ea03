"""OperatorKernelRegressor: what it computes, checked by hand."""

import re
import warnings

import numpy as np
import pytest
from helpers.small_data import ALPHA, GAMMA, NEW, WEIGHTS, D, M, N, X, Y, model, with_gaps
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score as sklearn_r2
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import OperatorKernelRegressor, kernels, losses, operators
from hilbertlearn.metrics import r2_score

rng = np.random.default_rng(4)

# ---------------------------------------------------------------- the squared loss


@pytest.mark.parametrize("operator", [None, M, np.diag([1.0, 0.5, 0.0])], ids=["identity", "full", "rank 2"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@pytest.mark.parametrize("center", [True, False], ids=["centred", ""])
def test_squared_loss_equals_a_dense_solve(operator, weights, center):
    """Stationarity: ``s c_i = w_i (y_i - h(x_i))`` with ``h = sum_j k(., x_j) M c_j``."""
    w = np.ones(N) if weights is None else weights
    P = np.eye(D) if operator is None else operator
    mean = w @ Y / w.sum() if center else np.zeros(D)
    K = rbf_kernel(X, gamma=GAMMA)
    system = ALPHA * w.sum() * np.eye(N * D) + np.kron(w[:, None] * K, P)
    C = np.linalg.solve(system, (w[:, None] * (Y - mean)).ravel()).reshape(N, D)
    fitted = model(operator=operator, center=center).fit(X, Y, weights)
    assert_allclose(fitted.dual_coef_, C, atol=1e-9)
    assert_allclose(fitted.predict(NEW), rbf_kernel(NEW, X, gamma=GAMMA) @ C @ P + mean, atol=1e-9)
    assert_allclose(fitted.center_, mean)


@pytest.mark.parametrize("operator", [None, M], ids=["identity", "full"])
@pytest.mark.parametrize("weights", [None, WEIGHTS[:10]], ids=["", "weighted"])
@pytest.mark.parametrize("solver", ["auto", "splitting", "proximal_gradient"])
def test_missing_outputs_equal_a_dense_solve_on_the_observed(operator, weights, solver):
    n = 10
    T = with_gaps(Y[:n])
    seen = np.isfinite(T)
    assert not seen.all() and seen.any(axis=1).all() and seen.any(axis=0).all()
    w = np.ones(n) if weights is None else weights
    P = np.eye(D) if operator is None else operator
    mean = (w[:, None] * np.where(seen, T, 0)).sum(axis=0) / (w[:, None] * seen).sum(axis=0)
    big = np.kron(rbf_kernel(X[:n], gamma=GAMMA), P)[np.ix_(seen.ravel(), seen.ravel())]
    each = np.repeat(w, D)[seen.ravel()]
    C = np.zeros((n, D))
    C[seen] = np.linalg.solve(ALPHA * w.sum() * np.eye(len(big)) + each[:, None] * big, each * (T - mean)[seen])
    fitted = model(operator=operator, solver=solver, tol=1e-14, max_iter=20_000).fit(X[:n], T, weights)
    assert_allclose(fitted.center_, mean)
    assert_allclose(fitted.dual_coef_, C, atol=1e-6)
    assert_allclose(fitted.predict(NEW), rbf_kernel(NEW, X[:n], gamma=GAMMA) @ C @ P + mean, atol=1e-6)


# ---------------------------------------------------------------- samples that do not count

LOSSES = {
    "squared": losses.Squared(),
    "huber": losses.Huber(0.5),
    "huber, points": losses.Huber(0.3, p=1),
    "insensitive": losses.EpsilonInsensitive(0.3),
    "svr": losses.EpsilonSVR(0.2),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("operator", [None, "covariance"])
@pytest.mark.parametrize("gamma", [GAMMA, "median"])
def test_rows_not_observed_and_weights_of_zero_equal_dropping(loss, operator, gamma):
    out, kept = [1, 4], np.delete(np.arange(N), [1, 4])
    fitted = model(loss=LOSSES[loss], operator=operator, gamma=gamma, tol=1e-11)
    expected = fitted.fit(X[kept], Y[kept], WEIGHTS[kept])
    predictions, coefficients, support = expected.predict(NEW), expected.dual_coef_, expected.support_
    T, w = Y.copy(), WEIGHTS.copy()
    T[out] = np.nan
    fitted.fit(X, T, WEIGHTS)
    assert_allclose(fitted.predict(NEW), predictions, atol=1e-9)
    w[out] = 0
    fitted.fit(X, Y, w)
    assert_allclose(fitted.predict(NEW), predictions, atol=1e-9)
    assert fitted.dual_coef_.shape == (N, D)
    assert_allclose(fitted.dual_coef_[kept], coefficients, atol=1e-8)
    assert not fitted.dual_coef_[out].any() and not fitted.saturated_[out].any()
    assert_array_equal(fitted.support_, kept[support])


@pytest.mark.parametrize("loss", LOSSES)
def test_precomputed_kernel_with_samples_that_do_not_count(loss):
    w = np.r_[0, WEIGHTS[1:]]
    named = model(loss=LOSSES[loss]).fit(X, Y, w).predict(NEW)
    given = model(loss=LOSSES[loss], kernel="precomputed").fit(rbf_kernel(X, gamma=GAMMA), Y, w)
    assert_allclose(given.predict(rbf_kernel(NEW, X, gamma=GAMMA)), named, atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_integer_weights_equal_copies(loss):
    counts = rng.integers(1, 4, N)
    fitted = model(loss=LOSSES[loss], tol=1e-12, max_iter=10_000)
    copies = fitted.fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0)).predict(NEW)
    assert_allclose(fitted.fit(X, Y, counts).predict(NEW), copies, atol=1e-4)


@pytest.mark.parametrize("loss", [losses.Huber(), losses.Huber(p=1), losses.EpsilonInsensitive(), losses.EpsilonSVR()])
def test_integer_weights_equal_copies_in_automatic_settings(loss):
    counts = rng.integers(1, 4, N)
    fitted = model(loss=loss)
    copies = fitted.fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0)).loss_.get_params()
    assert fitted.fit(X, Y, counts).loss_.get_params() == pytest.approx(copies, rel=1e-6)


@pytest.mark.parametrize("operator", [operators.Covariance(), operators.TaskGraph()])
def test_integer_weights_equal_copies_in_the_operator(operator):
    counts = rng.integers(1, 4, N)
    fitted = model(operator=operator)
    copies = fitted.fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0)).operator_
    assert_allclose(fitted.fit(X, Y, counts).operator_, copies, rtol=1e-9)


# ---------------------------------------------------------------- scores


def test_score_is_that_of_sklearn_and_leaves_out_gaps():
    P = Y + rng.normal(size=Y.shape)
    assert r2_score(Y, P) == pytest.approx(sklearn_r2(Y, P))
    assert r2_score(Y[:, 0], P[:, 0], WEIGHTS) == pytest.approx(sklearn_r2(Y[:, 0], P[:, 0], sample_weight=WEIGHTS))
    T = with_gaps(Y)
    by_column = [sklearn_r2(t[np.isfinite(t)], p[np.isfinite(t)]) for t, p in zip(T.T, P.T, strict=True)]
    assert r2_score(T, P) == pytest.approx(np.mean(by_column))
    T[0, 2], T[1:, 2] = 1.0, np.nan  # a column seen once has no variance to explain
    assert r2_score(T, P) == pytest.approx(np.mean(by_column[:2]))
    assert np.isnan(r2_score(Y, P, np.eye(N)[0]))  # nor has one with a single sample of positive weight
    assert np.isnan(r2_score(np.full_like(T, np.nan), P))
    assert r2_score(np.ones(3), np.ones(3)) == 1 and r2_score(np.ones(3), np.zeros(3)) == 0


def test_model_scores_observed_outputs():
    fitted, T = model().fit(X, Y), with_gaps(Y)
    assert fitted.score(X, Y, WEIGHTS) == pytest.approx(sklearn_r2(Y, fitted.predict(X), sample_weight=WEIGHTS))
    assert fitted.score(X, T) == pytest.approx(r2_score(T, fitted.predict(X)))


# ---------------------------------------------------------------- robust and sparse losses


def contaminated(n=80):
    r = np.random.default_rng(5)
    Z = r.uniform(-2, 2, size=(n, 1))
    T = np.c_[np.sin(2 * Z[:, 0]), np.cos(2 * Z[:, 0])] + 0.05 * r.normal(size=(n, 2))
    return Z, T, r.choice(n, n // 8, replace=False)


def test_huber_finds_outlying_rows():
    Z, T, planted = contaminated()
    clean = T.copy()
    T[planted] += 20
    fitted = OperatorKernelRegressor(loss=losses.Huber(0.5), alpha=1e-3).fit(Z, T)
    assert fitted.saturated_.shape == (len(Z),) and fitted.saturated_.dtype == bool
    assert_array_equal(np.flatnonzero(fitted.saturated_), np.sort(planted))
    norms = np.linalg.norm(fitted.dual_coef_, axis=1) * fitted.alpha_ * len(Z)
    assert_allclose(norms[planted], 0.5, rtol=1e-5)  # held at the bound
    squared = OperatorKernelRegressor(alpha=1e-3).fit(Z, T)
    assert not squared.saturated_.any()
    assert fitted.score(Z, clean) > 0.95 > squared.score(Z, clean)


def test_huber_finds_outlying_points():
    Z, T, planted = contaminated()
    T[planted, 1] += 20
    fitted = OperatorKernelRegressor(loss=losses.Huber(0.5, p=1), alpha=1e-3).fit(Z, T)
    expected = np.zeros(T.shape, dtype=bool)
    expected[planted, 1] = True
    assert_array_equal(fitted.saturated_, expected)


def test_robust_losses_find_outliers_without_tuning():
    Z, T, planted = contaminated()
    clean = T.copy()
    T[planted] += 20
    fitted = OperatorKernelRegressor(loss="huber").fit(Z, T)
    assert fitted.saturated_[planted].all()
    assert fitted.score(Z, clean) > OperatorKernelRegressor().fit(Z, T).score(Z, clean)


@pytest.mark.parametrize("loss", [losses.EpsilonInsensitive(0.5), losses.EpsilonSVR(0.5), losses.Ball(0.5)])
@pytest.mark.parametrize("operator", [None, M], ids=["identity", "full"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
def test_support_of_sparse_losses(loss, operator, weights):
    fitted = model(loss=loss, operator=operator).fit(X, Y, weights)
    assert 0 < len(fitted.support_) < N
    assert_array_equal(fitted.support_, np.flatnonzero(fitted.dual_coef_.any(axis=1)))
    inside = np.linalg.norm(Y - fitted.predict(X), axis=1) < 0.5 * (1 - 1e-2)
    assert not fitted.dual_coef_[inside].any()
    assert len(fitted.X_fit_) == len(fitted.support_)  # only these are needed
    G = rbf_kernel(NEW, X, gamma=GAMMA)
    P = np.eye(D) if operator is None else operator
    assert_allclose(fitted.predict(NEW), G @ fitted.dual_coef_ @ P + fitted.center_, atol=1e-12)


@pytest.mark.parametrize("epsilon", [100.0, 1e6])
def test_no_support_predicts_the_centre(epsilon):
    fitted = model(loss=losses.EpsilonInsensitive(epsilon)).fit(X, Y)
    assert len(fitted.support_) == 0
    assert_allclose(fitted.predict(NEW), np.tile(Y.mean(axis=0), (len(NEW), 1)))
    assert "0 of 21 samples" in fitted.summary()


@pytest.mark.parametrize("loss", LOSSES)
def test_predictions_follow_from_the_coefficients(loss):
    fitted = model(loss=LOSSES[loss], operator=M).fit(X, Y, WEIGHTS)
    G = rbf_kernel(NEW, X, gamma=fitted.gamma_)
    assert_allclose(fitted.predict(NEW), G @ fitted.dual_coef_ @ fitted.operator_ + fitted.center_, atol=1e-12)


def test_predictions_in_blocks(monkeypatch):
    fitted = model().fit(X, Y)
    together = fitted.predict(NEW)
    monkeypatch.setattr("hilbertlearn._utils.blocks._PREDICT_BYTES", 8 * N * 3)
    assert_allclose(fitted.predict(NEW), together, atol=1e-12)


def test_terms_add_up():
    terms = [("rbf", None), ("linear", M)]
    fitted = OperatorKernelRegressor(terms, gamma=GAMMA, alpha=ALPHA, tol=1e-14).fit(X, Y)
    inner = X - X.mean(axis=0)  # linear kernels see centred inputs
    big = np.kron(rbf_kernel(X, gamma=GAMMA), np.eye(D)) + np.kron(inner @ inner.T, M)
    C = np.linalg.solve(big + ALPHA * N * np.eye(N * D), (Y - Y.mean(axis=0)).ravel()).reshape(N, D)
    assert_allclose(fitted.dual_coef_, C, atol=1e-6)
    by_hand = rbf_kernel(NEW, X, gamma=GAMMA) @ C + (NEW - X.mean(axis=0)) @ inner.T @ C @ M + Y.mean(axis=0)
    assert_allclose(fitted.predict(NEW), by_hand, atol=1e-6)
    assert fitted.gamma_ == [GAMMA, None]


@pytest.mark.parametrize("form", ["i", "ii", "iii", "iv", "v", "vi"])
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_kernels_built_from_outputs(form, loss):
    fitted = OperatorKernelRegressor(kernels.OutputTensorKernel(form), gamma="median", loss=loss, alpha=1e-4).fit(X, Y)
    assert fitted.dual_gap_ <= fitted.tol
    assert fitted.score(X, Y) > 0.3
    assert fitted.predict(NEW).shape == (len(NEW), D)


# ---------------------------------------------------------------- centring


def sum_of_losses(c, Y, weights, loss):
    return weights @ loss.row_value(np.nan_to_num(Y - c))


CENTRED = [
    *(losses.Huber(0.5), losses.Huber(0.5, p=1), losses.Huber(0.7, p=1.3), losses.EpsilonSVR(0.1), losses.Norm()),
    *(losses.EpsilonInsensitive(0.1), losses.EpsilonInsensitive(0.2, p=np.inf), losses.PowerNorm(1.5)),
    *(losses.PowerNorm(1.01), losses.LogNorm(), losses.InfConv(losses.Squared(), losses.EpsilonSVR(0.2))),
]


@pytest.mark.parametrize("outputs", [Y, with_gaps(Y, 1)], ids=["complete", "gaps"])
@pytest.mark.parametrize("loss", CENTRED, ids=repr)
def test_a_model_is_fitted_around_the_constant_of_least_loss(loss, outputs):
    rough = outputs.copy()
    rough[:3] += 50
    center = model(loss=loss).fit(X, rough, WEIGHTS).center_
    options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 8000, "maxfev": 8000}
    best = min(
        (minimize(sum_of_losses, start, (rough, WEIGHTS, loss), method="Nelder-Mead", options=options)
         for start in (np.nanmedian(rough, axis=0), center)), key=lambda found: found.fun)  # fmt: skip
    assert sum_of_losses(center, rough, WEIGHTS, loss) <= best.fun * (1 + 1e-9)
    assert_allclose(center, best.x, atol=1e-4)


def test_losses_that_resist_outliers_centre_by_the_geometric_median():
    rough = Y.copy()
    rough[:3] += 50
    options = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000}
    best = minimize(sum_of_losses, np.median(rough, axis=0), (rough, WEIGHTS, losses.Norm()), method="Nelder-Mead",
                    options=options).x  # fmt: skip
    for loss in (losses.Norm(), losses.Norm(3.0), losses.EpsilonSVR(0.0), losses.Huber(1e-4)):
        assert_allclose(model(loss=loss).fit(X, rough, WEIGHTS).center_, best, atol=1e-5)


def test_pointwise_huber_centres_by_the_median_of_each_column():
    rough = with_gaps(Y, 1)
    rough[:3] += 50
    seen = np.sort(rough, axis=0)
    low, high = (np.array([column[np.isfinite(column)][k] for column, k in zip(seen.T, index)]) for index in
                 [(np.isfinite(seen).sum(axis=0) - 1) // 2, np.isfinite(seen).sum(axis=0) // 2])  # fmt: skip
    center = model(loss=losses.Huber(1e-4, p=1)).fit(X, rough).center_
    assert (center >= low - 1e-3).all() and (center <= high + 1e-3).all()


def test_the_centre_is_continuous_in_the_loss():
    """kappa to infinity, p to 1, the power to 1: an outlier must not tell the limit from what is next to it."""
    skewed = np.random.default_rng(1).standard_gamma(1.0, size=Y.shape)
    skewed[:2] += 100

    def fitted(loss):
        return model(loss=loss, tol=1e-9, max_iter=20_000).fit(X, skewed).predict(NEW)

    assert_allclose(model(loss=losses.Huber(1e9)).fit(X, skewed).center_, skewed.mean(axis=0))
    assert_allclose(fitted(losses.Huber(1e9)), fitted("squared"), atol=2e-3)  # the solver's tolerance
    assert_allclose(fitted(losses.Huber(0.5, p=1.0001)), fitted(losses.Huber(0.5, p=1)), atol=0.01)
    assert_allclose(fitted(losses.PowerNorm(1.0001)), fitted(losses.Norm()), atol=0.01)
    assert_allclose(fitted(losses.EpsilonInsensitive(1e-9)), fitted("squared"), atol=2e-3)
    assert np.median(np.abs(fitted(losses.LogNorm()) - fitted(losses.Norm()))) < 1


@pytest.mark.parametrize(
    "loss", ["squared", losses.EpsilonInsensitive(0.0), losses.PowerNorm(2.0), losses.Huber(np.inf)]
)
def test_other_losses_centre_by_the_mean(loss):
    T = with_gaps(Y, 1)
    assert_allclose(model(loss=loss).fit(X, T).center_, np.nanmean(T, axis=0))
    assert_allclose(model(loss=loss, center=False).fit(X, T).center_, 0)


def test_the_hinge_is_not_centred():
    signs = np.sign(Y[:, :1] - 0.1)
    fitted = model(loss="hinge", alpha=1e-4).fit(X, signs)
    assert_allclose(fitted.center_, 0)
    assert np.mean(np.sign(fitted.predict(X)) == signs) > 0.9


def test_a_shift_of_the_outputs_shifts_the_predictions():
    for loss in LOSSES.values():
        fitted = model(loss=loss, tol=1e-10)
        before = fitted.fit(X, Y).predict(NEW)
        assert_allclose(fitted.fit(X, Y + 1e3).predict(NEW), before + 1e3, atol=1e-4)


# ---------------------------------------------------------------- output


def test_verbose_prints_to_stderr(capsys):
    model(loss=losses.Huber(0.1), verbose=1).fit(X, Y)
    out, err = capsys.readouterr()
    assert out == ""
    pattern = r"\[OperatorKernelRegressor\] solve, alpha 0\.02: gap \d\.\de[+-]\d\d, \d+ iterations in \d\.\d s"
    assert all(re.fullmatch(pattern, line) for line in err.splitlines()) and err
    model(loss=losses.Huber(0.1)).fit(X, Y)
    assert capsys.readouterr() == ("", "")


def test_convergence_warning_has_the_numbers():
    hasty = model(loss=losses.Huber(0.1), alpha=1e-6, max_iter=2, tol=1e-9)
    with pytest.warns(ConvergenceWarning) as record:
        hasty.fit(X, Y)
    (message,) = [str(r.message) for r in record]
    assert re.search(r"gap \d\.\de[+-]\d\d > tol 1\.0e-09 after 2 iterations; raise max_iter or tol", message)
    assert record[0].filename == __file__
    assert hasty.dual_gap_ > hasty.tol and hasty.n_iter_ == 2


@pytest.mark.parametrize("loss", LOSSES)
def test_the_gap_is_within_the_tolerance(loss):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for tol in (1e-3, 1e-9):
            fitted = model(loss=LOSSES[loss], tol=tol).fit(X, Y)
            assert 0 <= fitted.dual_gap_ <= tol and fitted.n_iter_ >= 1


def test_summary():
    Z, T, planted = contaminated()
    T[planted] += 20
    fitted = OperatorKernelRegressor(loss=losses.Huber(0.5), alpha=1e-3).fit(Z, T)
    lines = fitted.summary().splitlines()
    assert lines[0] == "OperatorKernelRegressor: 80 samples, 2 coordinates"
    for words in (
        "Huber(kappa=0.5)",
        "0.001",
        "kernel average of",
        "80 of 80",
        "10 held",
        f"{fitted.dual_gap_:.1e}",
    ):
        assert words in fitted.summary()


# ---------------------------------------------------------------- paths


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("operator", [None, M], ids=["identity", "full"])
def test_fit_path_equals_separate_fits(loss, operator):
    settings = {"loss": LOSSES[loss], "operator": operator, "tol": 1e-9}
    alphas = [1.0, 0.1, 1e-2, 1e-3]
    path = list(model(**settings).fit_path(X, Y, alphas, WEIGHTS))
    assert [m.alpha_ for m in path] == alphas
    for alpha, on_path in zip(alphas, path, strict=True):
        alone = model(alpha=alpha, **settings).fit(X, Y, WEIGHTS)
        assert_allclose(on_path.predict(NEW), alone.predict(NEW), atol=5e-4)
        assert on_path.dual_gap_ <= 1e-9


def test_fit_path_starts_warm():
    alphas = np.geomspace(1e-3, 0.9e-3, 6)
    path = list(model(loss=losses.Huber(0.1), tol=1e-9).fit_path(X, Y, alphas))
    cold = [model(loss=losses.Huber(0.1), tol=1e-9, alpha=alpha).fit(X, Y).n_iter_ for alpha in alphas]
    assert sum(m.n_iter_ for m in path[1:]) < sum(cold[1:])
