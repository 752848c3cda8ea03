"""Weighted sums of kernels."""

import copy

import numpy as np
import pytest
from helpers.machines import prepare
from numpy.testing import assert_allclose

from hilbertlearn import OperatorKernelRegressor, QuantileRegressor, load, save
from hilbertlearn.kernels import AverageKernel, InputKernel, InputScaling, KernelSearch, Matern, SharedDistances
from hilbertlearn.selection.levels import with_rate


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(25, 3)) * [1.0, 10.0, 0.1]


@pytest.fixture
def kernel(X):
    scaling = InputScaling.from_samples(X)
    parts = (
        InputKernel("rbf", 0.3, scaling=scaling),
        InputKernel("matern12", 0.01, scaling=scaling),
        InputKernel("laplacian", 0.2, scaling=scaling),
        InputKernel("linear", origin=scaling(X).mean(axis=0), scaling=scaling),
        InputKernel("rbf", 0.01),
    )
    return AverageKernel(parts, (0.5, 0.1, 0.3, 0.05, 0.2), (0.5, 0.1, 0.1, 0.1, 0.2))


def test_values_are_the_weighted_sum_of_the_parts(X, kernel):
    expected = sum(w * part(X, X[:7].copy()) for w, part in zip(kernel.weights, kernel.parts))
    assert_allclose(kernel(X, X[:7]), expected, atol=1e-12)
    gram = sum(w * part.training_gram(X) for w, part in zip(kernel.weights, kernel.parts))
    assert_allclose(kernel(X, X), gram, atol=1e-12)
    assert_allclose(SharedDistances(X).gram(InputKernel(kernel)), gram, atol=1e-12)
    assert_allclose(kernel.diagonal(X), np.diag(gram), atol=1e-12)
    assert np.linalg.eigvalsh(gram)[0] > -1e-10


def test_bounds_of_all_parts_are_dropped(X, kernel):
    far = X + 1e3 * X.std(axis=0)
    assert_allclose(kernel.without_bounds()(X, X), kernel(X, X), atol=1e-12)
    assert np.abs(kernel.without_bounds()(far, X)).max() > 10 * np.abs(kernel(far, X)).max()


def test_the_kernel_of_a_model_can_be_given_again(X, tmp_path):
    y = np.sin(X[:, 0]) + 0.3 * np.random.default_rng(1).normal(size=25)
    model = OperatorKernelRegressor().fit(X, y)
    assert isinstance(model.kernel_, AverageKernel)
    assert model.dual_gap_ <= 1e-6
    again = OperatorKernelRegressor(kernel=model.kernel_, alpha=model.alpha_).fit(X, y)
    assert_allclose(again.predict(X[:5] + 0.1), model.predict(X[:5] + 0.1), rtol=1e-9)
    save(model, tmp_path / "model.hl")
    assert np.array_equal(load(tmp_path / "model.hl").predict(X + 0.1), model.predict(X + 0.1))


def test_the_representation_adds_up_shares_by_name(kernel):
    assert repr(kernel) == "average of 70% rbf, 10% matern12, 10% laplacian, 10% linear"
    assert InputKernel(kernel).scaled_share == pytest.approx(0.8)


def test_an_average_of_averages_has_the_parts_of_both(X, kernel):
    single = InputKernel("linear")
    assert single.parts == (single,) and single.scaled_share == 0
    nested = InputKernel(AverageKernel((InputKernel(kernel), single), (0.25, 0.75), (0.25, 0.75)))
    assert nested.parts == (*kernel.parts, single)
    assert nested.scaled_share == pytest.approx(0.25 * 0.8)


def test_distances_are_shared_among_equal_scalings_only(X):
    scalings = [None, *(InputScaling.from_samples(X * unit) for unit in ([1.0, 1.0, 1.0], [3.0, 0.1, 1.0]))]
    several = [InputKernel(name, 0.3, scaling=scaling) for name in ("rbf", "laplacian") for scaling in scalings]
    shared, cross = SharedDistances(X), SharedDistances(X, X[:7] + 0.1)
    for _ in range(2):
        for kernel, K, values in zip(several, shared(several), cross(several), strict=True):
            assert_allclose(K, kernel.training_gram(X), atol=1e-12)
            assert_allclose(values, kernel(X, X[:7] + 0.1), atol=1e-12)


def test_errors_do_not_depend_on_the_order_of_candidates(X):
    rng = np.random.default_rng(1)
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=25)
    A, B = (OperatorKernelRegressor(alpha=1e-3).fit(X * unit, y).kernel_ for unit in (1.0, [10.0, 0.1, 3.0]))
    errors = []
    for order in ([A, B], [B, A]):
        model = OperatorKernelRegressor(KernelSearch(order), alpha=1e-3).fit(X, y)
        errors.append(np.sort(model.search_results_["error"][:2]))
    assert_allclose(*errors, rtol=1e-9)


def test_rates_of_all_parts_are_multiplied(X, kernel):
    factors = [32.0, 32.0, 32.0, 1.0, 32.0]
    faster = InputKernel(kernel).with_rate(32.0)
    rates = [None if rate is None else rate * factor for rate, factor in zip(kernel.gamma, factors, strict=True)]
    assert faster.rate == rates
    parts = [InputKernel(part.kernel, rate, None, part.origin, part.scaling) for part, rate in zip(kernel.parts, rates)]
    expected = sum(w * part(X, X[:7].copy()) for w, part in zip(kernel.weights, parts))
    assert_allclose(faster(X, X[:7]), expected, atol=1e-12)
    with pytest.raises(ValueError, match="factor must be a finite number > 0"):
        kernel.with_rate(0.0)


def test_single_precision_is_summed_in_double_precision(X, kernel):
    rows = X.astype(np.float32)
    linear_first = AverageKernel(kernel.parts[::-1][1:], kernel.weights[::-1][1:], kernel.shares[::-1][1:])
    for values in (linear_first(rows, rows[:7].copy()), SharedDistances(rows).gram(InputKernel(linear_first))):
        assert values.dtype == np.float64


def test_equal_kernels(X, kernel, tmp_path):
    y = np.sin(X[:, 0]) + 0.3 * np.random.default_rng(1).normal(size=25)
    model = OperatorKernelRegressor(KernelSearch(["rbf", Matern(), "linear"])).fit(X, y)
    for one in (kernel, model.kernel_):
        other = load(save(one, tmp_path / "kernel.hl"))
        for copied in (copy.deepcopy(one), other):
            assert one == copied and hash(one) == hash(copied)
    assert kernel != kernel.with_rate(2.0) and kernel != model.kernel_ and kernel != "rbf"
    assert len({kernel, copy.deepcopy(kernel), model.kernel_}) == 2


def test_a_copy_of_the_kernel_can_be_given_to_the_next_batch(X, kernel):
    model = OperatorKernelRegressor(kernel, alpha=1e-2, feature_map=10).partial_fit(X, X[:, 0])
    model.set_params(kernel=copy.deepcopy(kernel)).partial_fit(X + 0.1, X[:, 0])
    with pytest.raises(ValueError, match="kernel: the batches before"):
        model.set_params(kernel=kernel.with_rate(2.0)).partial_fit(X, X[:, 0])


def test_quantiles_are_searched_at_other_rates_of_an_average(X, kernel):
    training = prepare(QuantileRegressor((0.2, 0.8), kernel=kernel, alpha=1e-2), X, X[:, 0])
    expected = sum(w * part.with_rate(32.0).training_gram(X) for w, part in zip(kernel.weights, kernel.parts))
    assert_allclose(with_rate(training, 32.0).grams[0].dense(), expected, atol=1e-12)
