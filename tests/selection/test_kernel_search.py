"""gamma="auto" and kernel="auto": errors of kernels, the best of many samples, and averages of few."""

import re
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from helpers.averages import alpha_by_refits, log_loss_of_residuals, log_weights_by_hand, loo_residuals_by_refits
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, StructuredPredictor, kernels
from hilbertlearn.model_selection import RegularizationPathCV

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = np.column_stack([np.sin(3 * X[:, 0]) * X[:, 1], 100 * np.cos(X[:, 2])]) + 0.05 * rng.normal(size=(60, 2))
NEW = rng.normal(size=(10, 3))
RATES = 2.0 ** np.arange(-10, 9)  # relative to the median rule, of up to 200 samples


@pytest.fixture(autouse=True)
def same_draws():
    """Each test draws the same whatever ran before it."""
    global rng
    rng = np.random.default_rng(0)


def left_out_error(K, alpha, Y=Y):
    """Mean over outputs of relative root errors, by n refits with alpha n held fixed."""
    return np.mean(np.sqrt(np.mean(loo_residuals_by_refits(K, Y, alpha) ** 2, axis=0)) / Y.std(axis=0))


def gram_of(model, inputs):
    """The Gram matrix of the selected kernel of inputs as given."""
    if isinstance(model.kernel_, kernels.AverageKernel):
        return model.kernel_(inputs, inputs)
    return {"rbf": rbf_kernel, "laplacian": laplacian_kernel}[model.kernel_](inputs, gamma=model.gamma_)


def many_samples(n=220):
    """More samples than kernels are averaged over a fixed grid for, in which the best kernel is clear."""
    r = np.random.default_rng(1)
    inputs = r.normal(size=(n, 3))
    outputs = np.column_stack([np.sin(3 * inputs[:, 0]) * inputs[:, 1], 100 * np.cos(inputs[:, 2])])
    return inputs, outputs + 0.05 * r.normal(size=(n, 2))


def test_the_table_holds_errors_of_refits():
    model = OperatorKernelRegressor("rbf", scale_inputs=False, operator=None).fit(X, Y)
    table = model.search_results_
    columns = {"kernel", "gamma", "alpha", "error", "standard_error", "seconds", "n_samples", "method"}
    assert set(table) == columns and set(table["method"]) == {"leave-one-out"}
    lengths = {len(column) for column in table.values()}
    assert len(lengths) == 1 and lengths.pop() > 50
    for i in rng.choice(np.flatnonzero(table["alpha"] > 1e-6), 8, replace=False):
        is_single = table["kernel"][i] == "rbf"
        assert is_single or (table["kernel"][i] == str(model.kernel_) and table["gamma"][i] is None)
        gram = rbf_kernel(X, gamma=table["gamma"][i]) if is_single else gram_of(model, X)
        assert table["error"][i] == pytest.approx(left_out_error(gram, table["alpha"][i]), rel=1e-6)
    assert (table["standard_error"] >= 0).all() and (table["seconds"] > 0).all() and (table["n_samples"] == 60).all()


def log_weight_by_hand(K, Y, alphas, rate):
    """Logarithm of the weight of a kernel whose rate is a multiple of the median rule's."""
    log_losses = [log_loss_of_residuals(loo_residuals_by_refits(K, Y, alpha), Y) for alpha in alphas]
    return logsumexp(log_weights_by_hand(alphas, log_losses, len(K))) + log_prior(rate)


def log_prior(rate):
    """Logarithm of the prior weight of a rate, up to a constant: half a unit less for each factor of 4 above 1/64."""
    return -0.5 * np.maximum(0, np.log(64 * rate) / np.log(4))


def noisy_samples():
    """Noisy enough for several rates to have a share, and so many that weights grow with their number."""
    return X, Y + rng.normal(size=(60, 2)) * [0.6, 60]


def test_few_samples_average_a_fixed_grid_by_the_errors_of_refits():
    """Each rate of the grid has its weight, and the weights are those of the kernel of the model."""
    X, Y = noisy_samples()
    model = OperatorKernelRegressor("laplacian", scale_inputs=False, operator=None).fit(X, Y)
    table, median = model.search_results_, OperatorKernelRegressor("laplacian", gamma="median").fit(X, Y).gamma_
    single = table["kernel"] == "laplacian"
    assert_allclose(np.unique(table["gamma"][single].astype(float)), median * RATES)
    alphas = np.unique(table["alpha"][single])
    assert len(alphas) == 25 and single.sum() == 25 * len(RATES)
    grams = [laplacian_kernel(X, gamma=median * rate) for rate in RATES]
    log_weights = np.array([log_weight_by_hand(K, Y, alphas, rate) for K, rate in zip(grams, RATES)])
    shares = np.exp(log_weights - logsumexp(log_weights))
    shares = np.maximum(shares - 0.02, 0)
    shares /= shares.sum()
    used = np.flatnonzero(shares)
    assert len(used) > 1
    assert_allclose(model.gamma_, median * RATES[used])
    assert_allclose(model.kernel_.shares, shares[used], rtol=1e-6)
    K = sum(share * gram for share, gram in zip(shares, grams))
    assert_allclose(model.kernel_(X, X), K, atol=1e-8)
    assert model.alpha_ == pytest.approx(alpha_by_refits(K, Y, alphas), rel=1e-6)


def test_an_average_is_as_good_as_its_best_kernel():
    """By refits on samples of the same kind, over the whole grid of rates and alphas."""
    X, Y = noisy_samples()
    model = OperatorKernelRegressor("laplacian", scale_inputs=False, operator=None).fit(X, Y)
    assert isinstance(model.kernel_, kernels.AverageKernel)
    averaged = left_out_error(gram_of(model, X), model.alpha_, Y)
    median = OperatorKernelRegressor("laplacian", gamma="median").fit(X, Y).gamma_
    grams = [laplacian_kernel(X, gamma=median * rate) for rate in RATES]
    best = min(left_out_error(K, alpha, Y) for K in grams for alpha in np.geomspace(1e-6, 1, 13))
    assert averaged <= best * 1.02


def test_the_selected_setting_of_many_samples_is_near_the_smallest_error_of_the_table():
    inputs, outputs = many_samples(450)
    model = OperatorKernelRegressor(kernels.KernelSearch(), scale_inputs=False).fit(inputs, outputs)
    table = model.search_results_
    names = {str(kernel) for kernel in table["kernel"] if isinstance(kernel, str)}
    assert names == {"rbf", "matern32", "matern12", "laplacian", "linear"}
    best = np.argmin(table["error"])
    assert table["kernel"][best] == model.kernel_ == "rbf" and table["gamma"][best] == model.gamma_
    assert 0.5 < model.alpha_ / table["alpha"][best] < 2
    residuals = model.loo_residuals()
    error = np.mean(np.sqrt(np.mean(residuals**2, axis=0)) / outputs.std(axis=0))
    assert error <= table["error"].min() * 1.01


def test_a_grid_by_hand_does_no_better():
    """Over the whole grid of rates and alphas, by refits."""
    inputs, outputs = many_samples()
    model = OperatorKernelRegressor("laplacian", scale_inputs=False, operator=None).fit(inputs, outputs)
    selected = left_out_error(gram_of(model, inputs), model.alpha_, outputs)
    median = OperatorKernelRegressor("laplacian", gamma="median").fit(inputs, outputs)
    for rate in RATES:
        K = laplacian_kernel(inputs, gamma=median.gamma_ * rate)
        errors = [left_out_error(K, alpha, outputs) for alpha in np.geomspace(1e-8, 1e-2, 7)]
        assert selected <= min(errors) * 1.002


def test_the_kernel_that_is_left_in_the_average_is_that_of_the_model():
    """Here it is not that of the smallest error, in which a large residual decides."""
    r = np.random.default_rng(150)
    n = int(r.choice([150, 210, 400]))
    scales = np.array([1, r.choice([1.52, 1.6, 2])])
    inputs = r.normal(size=(n, 2)) * scales
    y = np.sin(1.5 * inputs[:, 0]) * np.cos(inputs[:, 1]) + r.choice([0.05, 0.2]) * r.normal(size=n)
    new = r.normal(size=(500, 2)) * scales
    model = OperatorKernelRegressor("rbf").fit(inputs, y)
    assert model.kernel_ == "rbf"
    errors = model.predict(new) - np.sin(1.5 * new[:, 0]) * np.cos(new[:, 1])
    assert np.mean(errors**2) < 0.02
    given = OperatorKernelRegressor("rbf", gamma=model.gamma_, scale_inputs=True).fit(inputs, y)
    assert model.alpha_ == pytest.approx(given.alpha_, rel=1e-6)


def test_an_alpha_that_is_given_stays():
    """Kernels are then compared, and added, as they are."""
    model = OperatorKernelRegressor("rbf", alpha=1e-3, scale_inputs=False).fit(X, Y)
    table = model.search_results_
    assert model.alpha_ == 1e-3 and set(table["alpha"]) == {1e-3}
    single = table["kernel"] == "rbf"
    rates = table["gamma"][single].astype(float)
    errors = np.array([left_out_error(rbf_kernel(X, gamma=rate), 1e-3) for rate in rates])
    assert_allclose(table["error"][single].astype(float), errors, rtol=1e-6)
    best = rates[np.argmin(errors)]
    assert best in model.gamma_ and model.gamma_[np.argmax(model.kernel_.shares)] <= best
    assert model.kernel_.weights == model.kernel_.shares


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
    assert np.max(chosen.gamma_) < by_rule.gamma_ / 16


def test_ties_go_to_the_smoother_model():
    inputs, _ = many_samples()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # at the edge of the grid, but no better there than elsewhere
        model = OperatorKernelRegressor("rbf", scale_inputs=False).fit(inputs, np.ones(len(inputs)))
    single = model.search_results_["kernel"] == "rbf"
    assert np.min(model.gamma_) == min(model.search_results_["gamma"][single])


def test_kernels_that_no_sample_tells_apart_have_the_shares_of_their_prior():
    model = OperatorKernelRegressor("rbf", scale_inputs=False).fit(X, np.ones(60))
    assert_allclose(model.kernel_.shares, shares_by_hand(np.exp(log_prior(RATES))), rtol=1e-6)


def shares_by_hand(weights):
    """Shares of kernels with these weights that are not 0: of each, 0.02 are subtracted."""
    shares = np.maximum(weights / weights.sum() - 0.02, 0)
    return shares[shares > 0] / shares.sum()


@pytest.mark.parametrize(("ratio", "share"), [(1.4, 0), (1.6, 1 / 15), (2.25, 0.5), (3, 1), (30, 1)])
def test_inputs_as_given_count_where_columns_have_different_units(ratio, share):
    """A quarter of the rates; exp(-2) of the prior weight of scaled inputs, and none where units hardly differ."""
    inputs = X / X.std(axis=0) * [1, ratio, 1]
    model = OperatorKernelRegressor("rbf").fit(inputs, np.ones(60))
    assert np.sum(model.search_results_["kernel"] == "rbf") == 25 * (24 if share else 19)
    weights = np.exp(log_prior(RATES))
    expected = shares_by_hand(np.concatenate([weights, share * np.exp(-2) * weights[2::4]]))
    assert_allclose(model.kernel_.shares, expected, rtol=1e-6)


@pytest.mark.parametrize(("n", "warns"), [(90, False), (210, True)])
def test_the_end_of_the_grid_causes_a_warning(n, warns):
    """Of a linear function the flattest Gaussian kernel is the best, and flatter ones would be better.

    An average of few samples has no best rate.
    """
    wide = 10 ** rng.normal(size=(n, 40))  # a few samples far out: the median distance says little
    model, y = OperatorKernelRegressor("rbf", scale_inputs=False), wide @ rng.normal(size=40)
    if warns:
        with pytest.warns(UserWarning, match="smoothest kernel that was tried.*kernel='linear'.*gamma as a number"):
            model.fit(wide, y)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(wide, y)


def test_candidate_kernels():
    best = kernels.KernelSearch(["linear", kernels.Matern(2.5), "poly"])
    model = OperatorKernelRegressor(best).fit(*noisy_samples())
    tried = {str(kernel).split("(")[0] for kernel in model.search_results_["kernel"]}
    assert {name for name in tried if not name.startswith("average of ")} == {"linear", "Matern", "poly"}
    assert any(isinstance(part.kernel, kernels.Matern) for part in model.kernel_.parts)
    assert any(part.kernel == "poly" for part in model.kernel_.parts)
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
    name, average = kernel.rate_setting[0], model.kernel_
    parts = average.parts if isinstance(average, kernels.AverageKernel) else [average]
    rates, weights = (model.gamma_, average.weights) if len(parts) > 1 else ([model.gamma_], [1.0])
    K = 0.0
    for rate, weight in zip(rates, weights, strict=True):
        fixed = type(kernel)(**{**kernel.get_params(), name: rate})
        same = FunctionalRegressor(fixed, alpha=model.alpha_).fit(curves, out)
        K = K + weight * same.kernel_(same.X_fit_, same.X_fit_)
    assert_allclose(average(model.X_fit_, model.X_fit_), K, rtol=1e-8, atol=1e-8)
    if len(parts) == 1:
        assert_allclose(model.predict(curves[:5]), same.predict(curves[:5]), rtol=1e-8, atol=1e-8)
    assert getattr(kernel, name) == "auto"  # settings stay as they were given


def test_curves_have_the_shapes_of_l2():
    t = np.linspace(0, 1, 15)
    curves = np.sin(6 * (t + rng.uniform(size=(30, 1))))[:, :, None]
    model = FunctionalRegressor().fit(curves, curves[:, :, 0])
    used = [part.kernel for part in kernels.InputKernel(model.kernel_).parts]
    tried = [kernel for kernel in model.search_results_["kernel"] if not str(kernel).startswith("average of ")]
    assert all(isinstance(kernel, kernels.L2) for kernel in used)
    assert {kernel.shape for kernel in tried} == {"rbf", "matern32", "matern12", "linear"}
    assert FunctionalRegressor(gamma="median").fit(curves, curves[:, :, 0]).kernel_ == "rbf"


def test_structured_outputs_and_sums():
    labels = (X[:, 0] > 0).astype(int)
    model = StructuredPredictor().fit(X, labels)
    assert np.mean(model.predict(X) == labels) > 0.9 and len(model.search_results_["error"])
    terms = [("rbf", None), ("linear", None)]
    both = OperatorKernelRegressor(terms, scale_inputs=False, operator=None).fit(X, Y)
    table = both.search_results_
    rates = np.array([gamma[0] for gamma in table["gamma"]])
    assert len(set(rates)) > 5 and both.gamma_[1] is None and both.solver_ == "spectral"
    K = rbf_kernel(X, gamma=both.gamma_[0]) + (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
    best = np.argmin(table["error"])
    assert table["error"][best] == pytest.approx(left_out_error(K, table["alpha"][best]), rel=1e-6)
    assert both.alpha_ == pytest.approx(
        alpha_by_refits(K, Y, np.unique(table["alpha"][rates == rates[best]])), rel=1e-6
    )


@pytest.mark.parametrize("units", [(1, 1, 1), (1, 10, 100)], ids=str)
@pytest.mark.parametrize("scale_inputs", [True, False, "auto"])
def test_candidates_without_a_rate_are_evaluated_once(scale_inputs, units):
    """Whether inputs are scaled or not: a linear function of scaled inputs is one of the inputs."""
    search = kernels.KernelSearch(["rbf", "linear"])
    model = OperatorKernelRegressor(search, scale_inputs=scale_inputs, operator=None).fit(X * units, Y)
    table, is_both = model.search_results_, scale_inputs == "auto" and units != (1, 1, 1)
    assert np.sum(table["kernel"] == "linear") == 25
    assert np.sum(table["kernel"] == "rbf") == 25 * (24 if is_both else 19)


def test_a_kernel_object_leaves_the_scaling_of_other_candidates_as_it_is():
    """A kernel without any weight changes nothing, although its own inputs are not scaled."""
    inputs, new = X * [1, 1000, 1], NEW * [1, 1000, 1]
    alone = OperatorKernelRegressor("rbf").fit(inputs, Y).predict(new)
    hopeless = kernels.Matern(0.5, gamma=1e6)
    for candidates in (["rbf", hopeless], [hopeless, "rbf"]):
        model = OperatorKernelRegressor(kernels.KernelSearch(candidates)).fit(inputs, Y)
        assert_allclose(model.predict(new), alone, rtol=1e-6, atol=1e-6)
        assert np.sum([isinstance(kernel, kernels.Matern) for kernel in model.search_results_["kernel"]]) == 25


@pytest.mark.parametrize("loss", ["squared", "huber"])
@pytest.mark.parametrize("others", [[], ["matern12"]], ids=str)
def test_a_candidate_without_a_rate_may_stand_anywhere(loss, others):
    """The first kernel whose rate is searched has the fine grid, and finds the outliers."""
    inputs = rng.uniform(-2, 2, size=(60, 1))
    y = 3 * np.cos(3 * inputs[:, 0]) + 0.1 * rng.normal(size=60)
    y[:6] += rng.choice([-3, 3], size=6)
    predictions = [
        OperatorKernelRegressor(kernels.KernelSearch(names), loss=loss).fit(inputs, y).predict(NEW[:, :1])
        for names in (["rbf", "linear", *others], ["rbf", *others, "linear"], ["linear", "rbf", *others])
    ]
    assert_allclose(predictions[1:], [predictions[0]] * 2, rtol=1e-4, atol=1e-4)


def test_the_path_over_alpha_has_the_selected_kernel():
    path = RegularizationPathCV(OperatorKernelRegressor(), np.geomspace(1e-6, 1, 7)).fit(X, Y)
    alone = OperatorKernelRegressor().fit(X, Y)
    assert_allclose(path.best_estimator_.kernel_(NEW, X), alone.kernel_(NEW, X), rtol=1e-12)
    assert path.best_estimator_.gamma_ == alone.gamma_


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
