"""Samples of weight 0 and missing entries have no effect, for any loss and space."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import (
    FunctionalRegressor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    kernels,
    losses,
    spaces,
)
from hilbertlearn._utils.statistics import weighted_quantile
from hilbertlearn.machine.in_memory import MemorySource
from hilbertlearn.training import best_constant

rng = np.random.default_rng(0)
N = 24
X = rng.normal(size=(N, 2))
CURVES = np.sin(np.linspace(0, 3, 15) + X[:, :1]) + 0.1 * rng.normal(size=(N, 15))
LOSSES = [losses.Huber(0.05), losses.EpsilonInsensitive(0.2), losses.Norm(), losses.PowerNorm(1.5)]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_centre_leaves_out_samples_of_weight_zero(loss):
    Y, w = rng.normal(size=(N, 3)) + 1, np.ones(N)
    Y[0], w[0] = 100, 0
    assert_allclose(best_constant(Y, w, loss), best_constant(Y[1:], w[1:], loss), atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("space", [spaces.PrincipalComponents(2), spaces.Fourier(3), "grid"], ids=str)
def test_curves_of_weight_zero_have_no_effect(loss, space):
    w, rough = np.ones(N), CURVES.copy()
    rough[0], w[0] = 50, 0
    rough[0, 3] = np.nan  # nor does a gap in it matter
    settings = {"space": space, "loss": loss, "alpha": 1e-2, "gamma": 0.3, "tol": 1e-9, "max_iter": 20_000}
    weighted = FunctionalRegressor(**settings).fit(X, rough, w).predict(X)
    without = FunctionalRegressor(**settings).fit(X[1:], rough[1:]).predict(X)
    assert_allclose(weighted, without, atol=1e-4)


def test_a_gap_in_a_curve_of_weight_zero_refuses_nothing():
    w, rough = np.ones(N), CURVES.copy()
    rough[0, 3], w[0] = np.nan, 0
    settings = {"space": spaces.Fourier(5), "loss": losses.Ball(2.0), "alpha": 1e-2, "gamma": 0.3}
    weighted = FunctionalRegressor(**settings).fit(X, rough, w)
    without = FunctionalRegressor(**settings).fit(X[1:], rough[1:])
    assert weighted.dual_gap_ <= 1e-6
    assert_allclose(weighted.predict(X), without.predict(X), atol=1e-3)


def test_margins_with_other_targets_leave_gaps_alone():
    signs = np.where(rng.normal(size=(N, 2)) > 0, 1.0, -1.0)
    signs[::3, 0] = np.nan
    settings = {"alpha": 1e-2, "gamma": 0.3}
    plain = OperatorKernelRegressor(loss=losses.Hinge(), **settings).fit(X, signs)
    of_signs = losses.Hinge(targets=lambda Y: np.where(Y > 0, 1.0, -1.0))
    other = OperatorKernelRegressor(loss=of_signs, **settings).fit(X, signs)
    assert_array_equal(other.dual_coef_[::3, 0], 0)
    assert_allclose(other.predict(X), plain.predict(X), atol=1e-4)


@pytest.mark.parametrize("loss", ["huber", "epsilon_insensitive", "epsilon_svr"])
def test_strings_with_a_loss_left_to_the_data(loss):
    words = ["a" * (1 + int(x > 0)) + "b" * (1 + int(z > 0)) for x, z in X]
    model = StructuredPredictor(alpha=1e-3, loss=loss).fit(X, words)
    assert model.score(X, words) > -0.5 and model.dual_gap_ <= 1e-6


def test_kernels_of_fields_and_kernels_of_outputs_do_not_go_together():
    with pytest.raises(ValueError, match="scalar kernel"):
        StructuredPredictor(kernels.CurlFreeKernel(), output_kernel="linear", alpha=0.1).fit(X, X)


def test_scores_of_labels_by_a_path_are_scores_of_labels():
    labels = (X[:, 0] > 0).astype(int)
    path = RegularizationPathCV(StructuredPredictor(), [1e-3, 1e-1], scoring="accuracy").fit(X, labels)
    assert ((path.errors_ <= 0) & (path.errors_ >= -1)).all() and path.n_splits_ == 5
    with pytest.raises(ValueError, match="cv=5"):
        RegularizationPathCV(StructuredPredictor(), cv="loo", scoring="accuracy").fit(X, labels)


def test_scores_of_curves_in_a_dictionary_are_of_the_curves():
    settings = {"space": spaces.Fourier(3), "gamma": 0.3}
    model = FunctionalRegressor(**settings)
    path = RegularizationPathCV(model, [1e-3, 1e-2], scoring="neg_mean_squared_error").fit(X, CURVES)
    for alpha, error in zip(path.alphas_, path.errors_):
        model = FunctionalRegressor(alpha=alpha, **settings).fit(X, CURVES)
        left = CURVES - model.machine_.decode(model.machine_.encode(CURVES) - model.machine_.loo_residuals())
        assert error == pytest.approx(np.mean([np.mean(part**2) for part in np.array_split(left, path.n_splits_)]))


# ---------------------------------------------------------------- outlier screening


def read(weights):
    return MemorySource(X, CURVES[:, :3], weights).read(OperatorKernelRegressor("rbf").spec(CURVES[:, :3]))


def test_screening_multiplies_weights_and_the_scale_follows():
    weights = rng.integers(0, 3, size=N).astype(float)
    samples = read(weights)
    factors = rng.uniform(size=len(samples.rows))
    screened = samples.screen(factors)
    assert_allclose(screened.weights, weights[weights > 0] * factors)
    assert_allclose(screened.screening_weights[weights > 0], factors)
    assert (screened.screening_weights[weights == 0] == 1).all()
    reduced = np.zeros(N)
    reduced[samples.rows] = screened.weights
    assert_allclose(screened.Y, read(reduced).Y)  # standardised with the reduced weights
    part = screened.subsample(np.arange(3))
    assert_allclose(part.weights, screened.weights[:3])
    assert_allclose(sum(share * kept for share, kept in part.nested_weights) * factors[:3].max(), part.weights)


def test_nested_weights_by_hand():
    samples = read(None).subsample(np.arange(5))
    assert samples.nested_weights == [(1.0, samples.weights)]
    ((share, kept), (last, bulk)) = samples.screen(np.array([1, 0.25, 1, 0.25, 1])).nested_weights
    assert (share, last) == (0.25, 0.75)
    assert_array_equal(kept, np.ones(5))
    assert_array_equal(bulk, [1, 0, 1, 0, 1])


def test_a_median_over_nested_weights_is_continuous():
    values, weights = rng.normal(size=N), rng.integers(1, 4, size=N).astype(float)
    samples, outliers = read(weights), np.arange(N) % 4 == 0

    def median(factor):
        nested = samples.screen(np.where(outliers, factor, 1.0)).nested_weights
        return sum(share * weighted_quantile(values, 0.5, kept) for share, kept in nested)

    regular = weighted_quantile(values[~outliers], 0.5, weights[~outliers])
    assert median(1.0) == weighted_quantile(values, 0.5, weights)
    assert median(1e-9) == pytest.approx(regular, abs=1e-7) and median(1.0) != regular
    path = [median(factor) for factor in np.linspace(1e-6, 1, 101)]
    assert np.abs(np.diff(path)).max() < 0.011 * abs(median(1.0) - regular)
