"""Averages over settings: weights by hand, continuity, and what they gain with few samples."""

import numpy as np
import pytest
from helpers.averages import alpha_by_refits
from numpy.testing import assert_allclose
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, QuantileRegressor, StructuredPredictor
from hilbertlearn.kernels import AverageKernel, CurlFreeKernel, InputKernel, KernelSearch, MetricKernel
from hilbertlearn.selection.averaging import (
    Candidate,
    alpha_log_weights,
    average_kernel,
    effective_number,
    limited_squares,
    mean_alpha,
    rate_log_weight,
    shape_log_weight,
    shares_of,
    sharpness,
    unscaled_log_weight,
)


def test_alpha_is_the_weighted_mean_of_refits():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(25, 1))
    y = np.sin(6 * X[:, 0]) + 0.3 * rng.normal(size=25)
    model = OperatorKernelRegressor(kernel="rbf", gamma=5.0).fit(X, y)
    alphas = np.unique(model.search_results_["alpha"])
    assert_allclose(np.log(model.alpha_), np.log(alpha_by_refits(rbf_kernel(X, gamma=5.0), y, alphas)), rtol=1e-8)


def test_shares_are_normalised_weights_above_a_threshold():
    kernel = (InputKernel("rbf", 1.0),)
    logs = np.log([0.5, 0.3, 0.19, 0.01])
    candidates = tuple(Candidate("rbf", kernel, 1.0, 7.0 + log, 0.0, 1.0) for log in logs)
    shares = shares_of(candidates)
    expected = np.array([0.48, 0.28, 0.17, 0.0])
    assert_allclose(shares, expected / expected.sum())


def test_kernels_of_any_scale_count_by_their_shares():
    kernels = InputKernel("linear"), InputKernel("rbf", 1.0)
    X = 100 * np.random.default_rng(0).normal(size=(20, 2))
    scales = [np.diag(kernel(X)).mean() for kernel in kernels]
    candidates = tuple(
        Candidate(kernel.kernel, (kernel,), 1.0, 0.0, 0.0, scale) for kernel, scale in zip(kernels, scales, strict=True)
    )
    average, kernel = average_kernel(candidates, normalizes=True)
    values = [weight * np.diag(part(X)).mean() for weight, part in zip(average.weights, average.parts)]
    assert_allclose(values[0], values[1])
    assert kernel.kernel is average
    assert average_kernel(candidates, normalizes=False)[0].weights == (0.5, 0.5)


def test_a_kernel_with_all_the_weight_is_the_average():
    kernel = InputKernel("rbf", 1.0)
    light = Candidate("linear", (InputKernel("linear"),), 1.0, -20.0, 0.0, 1.0)
    heavy = Candidate("rbf", (kernel,), 1.0, 0.0, 0.0, 1.0)
    for candidates in ((light, heavy), (heavy, light), (heavy,)):
        assert average_kernel(candidates, normalizes=True) == ("rbf", kernel)


def test_a_finer_grid_of_alphas_changes_little():
    def mean(spacing):
        logs = np.arange(-8, 1 + 1e-9, spacing)
        errors = 1 + 0.1 * (logs + 2.3) ** 2
        return np.log10(mean_alpha(10**logs, alpha_log_weights(10**logs, np.log(errors), 40, 10.0)))

    assert abs(mean(0.25) - mean(0.05)) < 0.01
    assert abs(mean(0.5) - mean(0.25)) < 0.03


def test_weights_concentrate_with_the_number_of_samples():
    assert sharpness(2000) / sharpness(200) == pytest.approx(100)
    assert sharpness(50) / sharpness(25) == pytest.approx(2)
    assert rate_log_weight(1.0) < rate_log_weight(0.25) < rate_log_weight(1 / 64) == 0


@pytest.mark.parametrize("first", [True, False])
def test_the_weight_of_a_shape_does_not_depend_on_the_grid_of_its_rates(first):
    """Of rates between 1/256 and 256 times the median rule's; the first shape has four times that of another one."""
    totals = [16 / np.log2(step) * np.exp(shape_log_weight(first, step)) for step in (2.0, 4.0, 16.0, 256.0)]
    assert_allclose(totals, 16 if first else 4)


def test_inputs_as_given_enter_continuously():
    """Columns in one unit are the same scaled or not, apart from the unit."""
    assert unscaled_log_weight(1.5) == -np.inf
    assert unscaled_log_weight(1.51) < -6
    assert unscaled_log_weight(3.0) == unscaled_log_weight(1e9) == -2


def table(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=n), rng.normal(size=(15, 3))


def test_predictions_are_continuous_in_an_output():
    X, y, X_test = table()
    path = []
    for shift in np.linspace(0, 3, 31):
        moved = y.copy()
        moved[3] += shift
        path.append(OperatorKernelRegressor().fit(X, moved).predict(X_test))
    steps = np.abs(np.diff(path, axis=0)).max(axis=1)
    assert steps.max() < 4 * np.median(steps)  # selecting the smallest error has steps of 30 times the median
    assert steps.max() < 0.15 * y.std()


def test_a_repeated_sample_is_a_sample_with_two_weights():
    X, y, X_test = table()
    repeated = OperatorKernelRegressor().fit(np.vstack([X, X[:1]]), np.append(y, y[0]))
    weights = np.ones(len(y))
    weights[0] = 2
    weighted = OperatorKernelRegressor().fit(X, y, sample_weight=weights)
    assert_allclose(repeated.predict(X_test), weighted.predict(X_test), atol=1e-6)
    single = OperatorKernelRegressor().fit(X, y)
    assert np.abs(weighted.predict(X_test) - single.predict(X_test)).max() < 0.3 * y.std()


def test_predictions_do_not_depend_on_units_and_order():
    X, y, X_test = table()
    expected = OperatorKernelRegressor(scale_inputs=True).fit(X, y).predict(X_test)
    units = np.array([1e-4, 1e5, 3.0])
    assert_allclose(OperatorKernelRegressor(scale_inputs=True).fit(X * units, y).predict(X_test * units), expected)
    order = np.random.default_rng(0).permutation(len(y))
    assert_allclose(OperatorKernelRegressor().fit(X[order], y[order]).predict(X_test),
                    OperatorKernelRegressor().fit(X, y).predict(X_test), rtol=1e-8)  # fmt: skip
    assert_allclose(OperatorKernelRegressor().fit(X, 1e4 * y + 7).predict(X_test),
                    1e4 * OperatorKernelRegressor().fit(X, y).predict(X_test) + 7, rtol=1e-6)  # fmt: skip


@pytest.mark.parametrize("kernel", ["auto", "rbf"])
def test_a_column_of_noise_in_other_units_costs_nothing(kernel):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(150, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    noisy = X * [1.0, 1.0, 1000.0]
    train, test = slice(0, 100), slice(100, None)
    model = OperatorKernelRegressor(kernel=kernel).fit(noisy[train], y[train])
    plain = OperatorKernelRegressor(kernel=kernel).fit(X[train], y[train])
    assert model.score(noisy[test], y[test]) > plain.score(X[test], y[test]) - 0.01
    raw = OperatorKernelRegressor(kernel=kernel, scale_inputs=False).fit(noisy[train], y[train])
    assert raw.score(noisy[test], y[test]) < model.score(noisy[test], y[test]) - 0.1


def test_few_samples_of_a_linear_function_are_predicted_as_by_ridge_regression():
    rng = np.random.default_rng(1)
    scores = []
    for _ in range(8):
        X = rng.normal(size=(25, 5)) * [1.0, 10.0, 100.0, 0.1, 1.0]
        y = X @ [1.0, 0.1, 0.01, 10.0, 0.0] + 1.5 * rng.normal(size=25)
        ridge = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-4, 4, 25)))
        scores.append(
            [r2_score(y, cross_val_predict(model, X, y, cv=8)) for model in (OperatorKernelRegressor(), ridge)]
        )
    ours, theirs = np.mean(scores, axis=0)
    assert ours > theirs - 0.05


def test_the_average_is_one_certified_model_with_leave_one_out():
    X, y, _ = table(n=20)
    model = OperatorKernelRegressor().fit(X, y)
    kernel = model.kernel_
    assert isinstance(kernel, AverageKernel)
    assert sum(kernel.shares) == pytest.approx(1)
    K, s, n = kernel(X, X), model.alpha_ * 20, 20
    A = np.linalg.solve(K + s * np.eye(n), y - y.mean())
    assert_allclose(model.predict(X), K @ A + y.mean(), atol=1e-8)
    residuals = model.loo_residuals()
    for i in (0, 7):
        others = np.delete(np.arange(n), i)
        mean = y[others].mean()
        A = np.linalg.solve(K[np.ix_(others, others)] + s * np.eye(n - 1), y[others] - mean)
        assert_allclose(residuals[i], y[i] - mean - K[i, others] @ A, atol=1e-8)


def test_thousands_of_samples_have_one_kernel():
    X, y, _ = table(n=1300)
    assert isinstance(OperatorKernelRegressor(KernelSearch()).fit(X, y).kernel_, str)


@pytest.mark.parametrize("setting", [True, False, "auto"])
def test_all_estimators_of_rows_scale_them(setting):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [1.0, 1e4, 1e-3]
    t = np.linspace(0, 1, 12)
    curves = np.sin(3 * t + X[:, :1]) + 1e3 * X[:, 2:] * t
    classes = np.where(X[:, 2] > 0, "up", "down")
    for model, y in (
        (FunctionalRegressor(scale_inputs=setting), curves),
        (StructuredPredictor(scale_inputs=setting), classes),
        (QuantileRegressor([0.5], scale_inputs=setting), curves[:, -1]),
    ):
        units = np.array([7.0, 1e-5, 1e3])
        first, second = model.fit(X, y).predict(X[:9]), model.fit(X * units, y).predict(X[:9] * units)
        if setting is True and y.dtype.kind == "f":
            assert_allclose(second, first, atol=1e-4 * np.abs(first).max())
    with pytest.raises(ValueError, match="scale_inputs"):
        OperatorKernelRegressor(scale_inputs="yes").fit(X, X)


def test_kernels_with_operators_among_the_candidates_are_compared_but_not_averaged():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    Y = np.column_stack([np.sin(X[:, 1]), X[:, 0]]) + 0.1 * rng.normal(size=(40, 2))
    for candidates in (["rbf", CurlFreeKernel()], [CurlFreeKernel(), "rbf"], ["rbf", MetricKernel()]):
        model = OperatorKernelRegressor(KernelSearch(candidates), operator=None).fit(X, Y)
        assert not isinstance(model.kernel_, AverageKernel)


def test_more_samples_leave_the_prior_weight_as_it_is():
    candidate = Candidate("rbf", (InputKernel("rbf", 1.0),), 1.0, -7.0, -2.0, 1.0)
    assert candidate.with_more_samples(3.0).log_weight == -2.0 + 3 * -5.0


def test_large_residuals_of_few_samples_are_limited():
    squares = np.array([1e-6, 0.1, 1.0, 100.0])
    assert_allclose(limited_squares(squares, 20), np.log1p(squares))
    assert_allclose(limited_squares(squares[:1], 20), squares[:1], rtol=1e-6)
    assert_allclose(limited_squares(squares, 150), squares, rtol=0.2)
    assert_allclose(limited_squares(squares, 1000), squares, rtol=1e-4)
    assert_allclose(limited_squares(squares, 50.001), limited_squares(squares, 50), rtol=1e-3)


def test_the_effective_number_of_samples():
    assert effective_number(np.full(7, 3.0)) == pytest.approx(7)
    assert effective_number(np.r_[np.ones(7), 0.0, 0.0]) == pytest.approx(7)
    assert 7 < effective_number(np.r_[np.ones(7), 1e-3]) < 7.1
    assert effective_number(np.array([1.0, 1e9])) == pytest.approx(1)


def test_one_outlying_output_does_not_decide():
    """A linear function of 30 samples with one gross error: kernel and alpha stay near those without it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = X @ [1.0, 2.0] + 0.3 * rng.normal(size=30)
    wrong = y.copy()
    wrong[3] += 8.0
    new = rng.normal(size=(200, 2))
    scores = [r2_score(new @ [1.0, 2.0], OperatorKernelRegressor().fit(X, one).predict(new)) for one in (y, wrong)]
    assert scores[0] > 0.98 and scores[1] > 0.9
