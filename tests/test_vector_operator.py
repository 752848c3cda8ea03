"""``operator="auto"`` of OperatorKernelRegressor: the identity or the covariance of the outputs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import OperatorKernelRegressor, losses


def related(seed=0, n=150, share=0.7):
    """Eight outputs that are mixtures of three functions, with gaps; new inputs and true values."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n + 100, 4))
    causes = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1] * X[:, 2], X[:, 3] ** 2])
    truth = causes @ rng.normal(size=(3, 8))
    Y = truth[:n] + 0.3 * rng.normal(size=(n, 8))
    Y[rng.random(Y.shape) < share] = np.nan
    return X[:n], Y, X[n:], truth[n:]


@pytest.mark.parametrize("share", [0.7, 0.0])
def test_related_outputs_share_their_covariance(share):
    X, Y, X_new, truth = related(share=share)
    model = OperatorKernelRegressor().fit(X, Y)
    assert model.operator_.shape == (8, 8)
    independent = OperatorKernelRegressor(operator=None).fit(X, Y)
    assert independent.operator_ is None
    assert 1 - model.score(X_new, truth) < 0.9 * (1 - independent.score(X_new, truth))
    assert model.dual_gap_ <= 1e-6


def test_unrelated_outputs_stay_independent():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(80, 2))
    Y = np.column_stack([np.sin(3 * X[:, 0]), np.cos(5 * X[:, 1]), X[:, 0] * X[:, 1]]) + 0.3 * rng.normal(size=(80, 3))
    model = OperatorKernelRegressor().fit(X, Y)
    assert model.operator_ is None
    plain = OperatorKernelRegressor(operator=None).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), plain.predict(X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "settings",
    [{"kernel": "rbf"}, {"alpha": 1e-3}, {"output_metric": np.eye(8)}, {"alpha_per_output": True}, {"gamma": 0.5}],
    ids=str,
)
def test_nothing_is_compared_where_a_setting_is_given(settings):
    X, Y, _, _ = related(share=0.0)
    model = OperatorKernelRegressor(**settings).fit(X[:40], Y[:40])
    off_diagonal = 0.0 if model.operator_ is None else model.operator_ - np.diag(np.diag(model.operator_))
    assert np.all(off_diagonal == 0)


def test_few_samples_for_many_outputs_stay_independent():
    X, Y, _, _ = related(share=0.0)
    assert OperatorKernelRegressor().fit(X[:31], Y[:31]).operator_ is None


def test_units_of_outputs_do_not_matter():
    X, Y, X_new, _ = related()
    units = 10.0 ** np.arange(-3, 5)
    first, second = OperatorKernelRegressor().fit(X, Y), OperatorKernelRegressor().fit(X, Y * units)
    np.testing.assert_allclose(second.predict(X_new), first.predict(X_new) * units, rtol=1e-3, atol=1e-3 * units.min())


@pytest.mark.parametrize("form", [list, lambda Y: [list(row) for row in Y]], ids=["arrays", "lists"])
def test_the_container_of_the_outputs_does_not_matter(form):
    X, Y, X_new, _ = related(share=0.0)
    expected, model = (OperatorKernelRegressor().fit(X, outputs) for outputs in (Y, form(Y)))
    assert expected.operator_ is not None
    np.testing.assert_allclose(model.predict(X_new), expected.predict(X_new), rtol=1e-6, atol=1e-8)


def test_rows_and_columns_that_do_not_count_do_not_matter():
    """31 distinct samples are too few for eight outputs, with repetitions, with rows of weight zero, without a gap."""
    X, Y, X_new, _ = related(share=0.0)
    expected = OperatorKernelRegressor().fit(X[:31], Y[:31])
    assert expected.operator_ is None
    weights = np.r_[np.ones(31), np.zeros(20)]
    unweighted = OperatorKernelRegressor().fit(X[:51], Y[:51], weights)
    np.testing.assert_allclose(unweighted.predict(X_new), expected.predict(X_new), rtol=1e-6, atol=1e-8)
    twice = OperatorKernelRegressor().fit(np.r_[X[:31], X[:31]], np.r_[Y[:31], Y[:31]])
    assert twice.operator_ is None
    unobserved = np.column_stack([Y[:60, :1], np.full(60, np.nan)])
    assert OperatorKernelRegressor().fit(X[:60], unobserved).operator_ is None


@pytest.mark.parametrize("loss", [losses.Huber(kappa=5.0), losses.EpsilonInsensitive(epsilon=5.0), "norm"])
@pytest.mark.parametrize("n_outputs", [2, 31])
def test_given_constants_of_a_loss_are_in_the_units_of_the_outputs(loss, n_outputs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = np.sin(X @ rng.normal(size=(3, n_outputs))) * np.where(np.arange(n_outputs) % 2, 38.0, 0.7)
    Y += 0.1 * Y.std(axis=0) * rng.normal(size=Y.shape)
    model, plain, scaled = (
        OperatorKernelRegressor(loss=loss, **settings).fit(X, Y)
        for settings in ({}, {"operator": None}, {"scale": True})
    )
    assert_array_equal(model.scale_, 1.0)
    assert_array_equal(model.support_, plain.support_)
    assert_array_equal(model.saturated_, plain.saturated_)
    assert_allclose(model.predict(X), plain.predict(X))
    assert scaled.scale_.max() > 10 * scaled.scale_.min()


@pytest.mark.parametrize("scale", [True, False])
def test_operators_are_compared_for_given_constants_in_given_units(scale):
    X, Y, _, _ = related(share=0.0)
    huber, squared = (
        OperatorKernelRegressor(loss=loss, scale=scale).fit(X, Y) for loss in (losses.Huber(1e6), "squared")
    )
    assert squared.operator_ is not None and huber.operator_ is not None
    assert_allclose(huber.predict(X), squared.predict(X), atol=0.02)  # the scales of Huber are robust ones


@pytest.mark.parametrize("position", [(0, 0), (10, 1), (20, 2), (30, 3)])
def test_one_missing_value_leaves_the_operator_as_it_is(position):
    """With most samples complete these compare the operators, as without gaps."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    Y = np.sin(X[:, :2]) @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(80, 5))
    complete = OperatorKernelRegressor().fit(X, Y)
    Y[position] = np.nan
    model = OperatorKernelRegressor().fit(X, Y)
    assert model.operator_ is None and complete.operator_ is None
    assert np.abs(model.predict(X) - complete.predict(X)).max() < 0.2
