"""gamma="auto" and kernel="auto": the settings with the smallest leave-one-out error."""

import re
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, StructuredPredictor, kernels
from hilbertlearn.model_selection import RegularizationPathCV

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = np.column_stack([np.sin(3 * X[:, 0]) * X[:, 1], 100 * np.cos(X[:, 2])]) + 0.05 * rng.normal(size=(60, 2))
NEW = rng.normal(size=(10, 3))


@pytest.fixture(autouse=True)
def same_draws():
    """Each test draws the same whatever ran before it."""
    global rng
    rng = np.random.default_rng(0)


def left_out_error(K, alpha, Y=Y):
    """Mean over outputs of relative root errors, by n refits with alpha n held fixed."""
    n, residuals = len(K), np.empty_like(Y)
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        mean = Y[rest].mean(axis=0)
        C = np.linalg.solve(K[np.ix_(rest, rest)] + alpha * n * np.eye(n - 1), Y[rest] - mean)
        residuals[i] = Y[i] - mean - K[i, rest] @ C
    return np.mean(np.sqrt(np.mean(residuals**2, axis=0)) / Y.std(axis=0))


def test_the_table_holds_errors_of_refits():
    model = OperatorKernelRegressor("rbf").fit(X, Y)
    table = model.search_results_
    columns = {"kernel", "gamma", "alpha", "error", "standard_error", "seconds", "n_samples", "method"}
    assert set(table) == columns and set(table["method"]) == {"leave-one-out"}
    lengths = {len(column) for column in table.values()}
    assert len(lengths) == 1 and lengths.pop() > 50
    for i in rng.choice(np.flatnonzero(table["alpha"] > 1e-6), 5, replace=False):
        K = rbf_kernel(X, gamma=table["gamma"][i])
        assert table["error"][i] == pytest.approx(left_out_error(K, table["alpha"][i]), rel=1e-6)
    assert (table["standard_error"] >= 0).all() and (table["seconds"] > 0).all() and (table["n_samples"] == 60).all()


def test_the_selected_setting_has_the_smallest_error_of_the_table():
    model = OperatorKernelRegressor().fit(X, Y)
    table = model.search_results_
    assert set(table["kernel"]) == {"rbf", "matern32", "matern12", "laplacian", "linear"}
    best = np.argmin(table["error"])
    assert table["error"][best] <= table["error"].min()
    assert model.kernel_ in set(table["kernel"][table["error"] <= table["error"].min() * (1 + 2e-4)])
    used = (table["kernel"] == model.kernel_) & (table["alpha"] == model.alpha_)
    used &= np.array([gamma == model.gamma_ for gamma in table["gamma"]])
    assert used.any() and table["error"][used].min() <= table["error"].min() * (1 + 2e-4)


def test_a_grid_by_hand_does_no_better():
    """Over the whole grid of rates and alphas, by refits: what was chosen is within the ties of its best."""
    model = OperatorKernelRegressor("laplacian").fit(X, Y)
    chosen = left_out_error(laplacian_kernel(X, gamma=model.gamma_), model.alpha_)
    median = OperatorKernelRegressor("laplacian", gamma="median").fit(X, Y)
    assert chosen <= left_out_error(laplacian_kernel(X, gamma=median.gamma_), median.alpha_) * (1 + 1e-3)
    for rate in 2.0 ** np.arange(-10, 5, 2):
        K = laplacian_kernel(X, gamma=median.gamma_ * rate)
        assert chosen <= min(left_out_error(K, alpha) for alpha in np.geomspace(1e-8, 1, 9)) * (1 + 1e-3)


def test_an_alpha_that_is_given_stays():
    model = OperatorKernelRegressor("rbf", alpha=1e-3).fit(X, Y)
    assert model.alpha_ == 1e-3 and set(model.search_results_["alpha"]) == {1e-3}
    errors = {rate: left_out_error(rbf_kernel(X, gamma=rate), 1e-3) for rate in model.search_results_["gamma"]}
    assert errors[model.gamma_] <= min(errors.values()) * (1 + 2e-4)


def test_a_gamma_that_is_given_is_the_gaussian_kernels():
    assert OperatorKernelRegressor(gamma=0.3).fit(X, Y).kernel_ == "rbf"
    model = OperatorKernelRegressor(gamma="median").fit(X, Y)
    assert model.kernel_ == "rbf" and len(set(model.search_results_["gamma"])) == 1
    assert not len(OperatorKernelRegressor(gamma=0.3, alpha=0.1).fit(X, Y).search_results_["error"])


def test_the_median_rule_is_far_off_where_few_directions_count():
    """A survey's features: many, and the answer is nearly linear in them."""
    wide = rng.normal(size=(120, 80))
    linear = wide @ rng.normal(size=(80, 2)) + 0.1 * rng.normal(size=(120, 2))
    by_rule, chosen = (OperatorKernelRegressor("rbf", gamma=gamma).fit(wide, linear) for gamma in ("median", "auto"))
    new = rng.normal(size=(200, 80))
    truth = new @ np.linalg.lstsq(wide, linear, rcond=None)[0]
    assert chosen.score(new, truth) > by_rule.score(new, truth) + 0.1
    assert chosen.gamma_ < by_rule.gamma_ / 16


def test_ties_go_to_the_smoother_model():
    flat = np.zeros((30, 1)) + 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # at the edge of the grid, but no better there than elsewhere
        model = OperatorKernelRegressor("rbf").fit(X[:30], flat)
    assert model.gamma_ == min(model.search_results_["gamma"])


def test_the_end_of_the_grid_causes_a_warning():
    """Of a linear function the flattest Gaussian kernel is the best, and flatter ones would be better."""
    wide = 10 ** rng.normal(size=(90, 40))  # a few samples far out: the median distance says little
    with pytest.warns(UserWarning, match="smoothest kernel that was tried.*kernel='linear'.*gamma as a number"):
        OperatorKernelRegressor("rbf").fit(wide, wide @ rng.normal(size=40))


def test_candidate_kernels():
    best = kernels.KernelSearch(["linear", kernels.Matern(2.5), "poly"])
    model = OperatorKernelRegressor(best).fit(X, Y)
    assert {str(kernel).split("(")[0] for kernel in model.search_results_["kernel"]} == {"linear", "Matern", "poly"}
    with pytest.raises(ValueError, match=r"KernelSearch: kernels is empty"):
        OperatorKernelRegressor(kernels.KernelSearch([])).fit(X, Y)
    with pytest.raises(ValueError, match="unknown name 'gaussian'"):
        OperatorKernelRegressor(kernels.KernelSearch(["gaussian"])).fit(X, Y)


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.L2(),
        kernels.IntegratedKernel(),
        kernels.ChannelSum("auto"),
        kernels.AdditiveKernel(),
        kernels.L2(shape="matern12"),
    ],
    ids=str,
)
def test_bandwidths_of_kernel_objects(kernel):
    t = np.linspace(0, 1, 20)
    phase = rng.uniform(size=(40, 1))
    curves, out = np.sin(6 * (t + phase)), np.cos(9 * (t + phase))
    model = FunctionalRegressor(kernel).fit(curves, out)
    assert len(set(map(str, model.search_results_["gamma"]))) > 5
    name = kernel.rate_setting[0]
    fixed = type(kernel)(**{**kernel.get_params(), name: model.gamma_})
    same = FunctionalRegressor(fixed, alpha=model.alpha_).fit(curves, out)
    assert_allclose(model.predict(curves[:5]), same.predict(curves[:5]), rtol=1e-8, atol=1e-8)
    assert getattr(kernel, name) == "auto"  # settings stay as they were given


def test_curves_have_the_shapes_of_l2():
    t = np.linspace(0, 1, 15)
    curves = np.sin(6 * (t + rng.uniform(size=(30, 1))))[:, :, None]
    model = FunctionalRegressor().fit(curves, curves[:, :, 0])
    assert isinstance(model.kernel_, kernels.L2)
    assert {kernel.shape for kernel in model.search_results_["kernel"]} == {"rbf", "matern32", "matern12", "linear"}
    assert FunctionalRegressor(gamma="median").fit(curves, curves[:, :, 0]).kernel_ == "rbf"


def test_structured_outputs_and_sums():
    labels = (X[:, 0] > 0).astype(int)
    model = StructuredPredictor().fit(X, labels)
    assert np.mean(model.predict(X) == labels) > 0.9 and len(model.search_results_["error"])
    both = OperatorKernelRegressor([("rbf", None), ("linear", None)]).fit(X, Y)
    rates = [gamma[0] for gamma in both.search_results_["gamma"]]
    assert len(set(rates)) > 5 and both.gamma_[1] is None and both.solver_ == "spectral"
    K = rbf_kernel(X, gamma=both.gamma_[0]) + (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
    assert min(both.search_results_["error"]) == pytest.approx(left_out_error(K, both.alpha_), rel=1e-3)


def test_the_path_over_alpha_has_the_selected_kernel():
    path = RegularizationPathCV(OperatorKernelRegressor(), np.geomspace(1e-6, 1, 7)).fit(X, Y)
    assert path.best_estimator_.kernel_ == OperatorKernelRegressor().fit(X, Y).kernel_


def test_many_samples_are_searched_on_a_subsample():
    many = rng.normal(size=(2300, 2))
    truth = np.sin(2 * many[:, 0]) + many[:, 1]
    noisy = truth + 0.3 * rng.normal(size=2300)
    model = OperatorKernelRegressor().fit(many, noisy)
    assert set(model.search_results_["n_samples"]) == {400, 1000, 1500}
    # the penalty of 1500 samples is kept
    last = model.search_results_["n_samples"] == 1500
    best = np.argmin(np.where(last, model.search_results_["error"], np.inf))
    assert model.alpha_ * 2300 == pytest.approx(model.search_results_["alpha"][best] * 1500, rel=1.0)
    tried = (
        OperatorKernelRegressor(model.kernel_, gamma=gamma, alpha=alpha).fit(many, noisy).predict(many)
        for gamma in (model.gamma_ or 1.0,)
        for alpha in np.geomspace(1e-6, 1e-1, 6)
    )
    fine = min(np.mean((predicted - truth) ** 2) for predicted in tried)
    assert np.mean((model.predict(many) - truth) ** 2) <= 1.5 * fine


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_moving_the_inputs_changes_nothing(kernel):
    model, moved = (OperatorKernelRegressor(kernel).fit(X + shift, Y) for shift in (0.0, 100.0))
    assert_allclose(moved.predict(NEW + 100.0), model.predict(NEW), rtol=1e-5, atol=1e-5)


def test_without_centring_linear_kernels_go_through_the_origin():
    model = OperatorKernelRegressor("linear", center=False, alpha=1e-3).fit(X, Y)
    assert_allclose(model.predict(np.zeros((1, 3))), 0.0, atol=1e-12)


def test_odd_samples():
    one = OperatorKernelRegressor().fit(X[:1], Y[:1])
    assert_allclose(one.predict(X[:1]), Y[:1])
    constant = OperatorKernelRegressor().fit(np.ones((20, 3)), Y[:20])
    assert_allclose(constant.predict(np.ones((1, 3)))[0], Y[:20].mean(axis=0), rtol=1e-6)
    twice = OperatorKernelRegressor("rbf").fit(np.vstack([X, X]), np.vstack([Y, Y]))
    once = OperatorKernelRegressor("rbf").fit(X, Y, np.full(60, 2.0))
    assert twice.gamma_ == pytest.approx(once.gamma_) and twice.alpha_ == pytest.approx(once.alpha_)
    assert_allclose(twice.predict(NEW), once.predict(NEW), rtol=1e-6, atol=1e-8)


def test_an_output_that_was_never_observed_causes_a_warning():
    gone = np.column_stack([Y, np.full(60, np.nan)])
    with pytest.warns(UserWarning, match="output 2 has no observed value"):
        model = OperatorKernelRegressor(alpha=1e-3, gamma=0.3).fit(X, gone)
    assert np.isnan(model.predict(NEW)[:, 2]).all() and np.isfinite(model.predict(NEW)[:, :2]).all()


def test_progress_is_displayed(capsys):
    OperatorKernelRegressor(verbose=1).fit(X, Y)
    said = capsys.readouterr().err
    assert re.search(r"search of the kernel, 60 samples: best [\d.]+ for \w+.*, \d+ kernels in [\d.]+ s\n", said)
    OperatorKernelRegressor([("rbf", None), ("linear", np.diag([1.0, 2.0]))], verbose=1).fit(X, Y)
    assert re.search(r"search of alpha, 5 folds: best [\d.]+ at [\d.e-]+, \d+ alphas in", capsys.readouterr().err)
    OperatorKernelRegressor().fit(X, Y)
    assert capsys.readouterr().err == ""


@pytest.fixture
def interrupts():
    """Python's own answer to Ctrl-C: processes that a shell starts in the background are told to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_leaves_the_estimator_as_it_was(interrupts):
    model = OperatorKernelRegressor("rbf", gamma=0.3, alpha=1e-3).fit(X, Y)
    before = model.predict(NEW)
    model.set_params(kernel="auto", gamma="auto", alpha="auto")
    many = rng.normal(size=(1500, 5))
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    begun = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(many, np.sin(many))
    timer.join()
    assert time.perf_counter() - begun < 20  # of a choice that takes longer
    assert_array_equal(model.predict(NEW), before)


def test_diabetes_out_of_the_box():
    Z, t = load_diabetes(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(Z))
    train, test = order[:300], order[300:]
    model = OperatorKernelRegressor().fit(Z[train], t[train])
    linear = RidgeCV(np.logspace(-4, 2, 13)).fit(Z[train], t[train])
    assert model.score(Z[test], t[test]) > linear.score(Z[test], t[test]) - 0.02
