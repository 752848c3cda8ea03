"""The settings of a fit: checked before data are read, and frozen."""

import dataclasses

import numpy as np
import pytest

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, QuantileRegressor, features, losses


def test_settings_are_frozen_and_copied():
    model = OperatorKernelRegressor(loss=losses.Huber(0.5))
    spec = model.spec()
    model.loss.kappa = 9.0
    assert spec.loss.kappa == 0.5 and spec.name == "OperatorKernelRegressor"
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.alpha = 1.0


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"alpha": -1.0}, "alpha"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": 1.5}, "max_iter"),
        ({"solver": "newtonn"}, "solver"),
        ({"precision": "half"}, "precision"),
        ({"center": "auto"}, "center"),
        ({"alpha_per_output": "yes"}, "alpha_per_output"),
        ({"manifold": -0.1}, "manifold"),
        ({"feature_map": "landmarks"}, "feature_map"),
        ({"loss": "hubber"}, "loss"),
    ],
)
def test_plain_settings_are_checked(settings, named):
    with pytest.raises((ValueError, TypeError), match=named):
        OperatorKernelRegressor(**settings).spec()


def test_center_may_be_automatic_for_curves():
    assert FunctionalRegressor(center="auto").spec().center == "auto"


def test_kernels_to_select_from():
    X = np.zeros((5, 2))
    automatic = OperatorKernelRegressor().spec().candidate_kernels(X)
    assert "rbf" in automatic and "linear" in automatic
    assert OperatorKernelRegressor("rbf").spec().candidate_kernels(X) == ["rbf"]
    assert "linear" in QuantileRegressor().spec().candidate_kernels(X)  # its quantiles are moved by constants
    assert "linear" not in QuantileRegressor(calibrate=False).spec().candidate_kernels(X)


def test_recipe_has_candidates_only_where_there_are_several():
    X = np.zeros((5, 2))
    assert OperatorKernelRegressor("rbf").spec().recipe(X).kernel_candidates == ()
    assert len(OperatorKernelRegressor().spec().recipe(X).kernel_candidates) > 1
    assert len(FunctionalRegressor().spec().recipe(X).operator_candidates) == 2
    assert FunctionalRegressor("rbf").spec().recipe(X).operator_candidates == ()


def test_margins_have_no_features():
    assert OperatorKernelRegressor(loss="hinge").spec().feature_map is None
    assert OperatorKernelRegressor().spec().feature_map == "auto"
    assert isinstance(OperatorKernelRegressor(feature_map=7).spec().feature_map, features.Landmarks)


def test_a_transformer_takes_the_place_of_the_kernel():
    from sklearn.kernel_approximation import RBFSampler

    (kernel,) = OperatorKernelRegressor(feature_map=RBFSampler()).spec().candidate_kernels(np.zeros((5, 2)))
    assert isinstance(kernel.transformer, RBFSampler)
    with pytest.raises(ValueError, match="feature_map: a transformer"):
        OperatorKernelRegressor("precomputed", feature_map=RBFSampler()).spec().candidate_kernels(np.eye(5))
