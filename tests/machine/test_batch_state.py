"""Settings that hold for all batches, and states without samples."""

import numpy as np
import pytest

from hilbertlearn import OperatorKernelRegressor, features, losses
from hilbertlearn.machine.batch_state import FixedSettings

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(60, 2)), rng.normal(size=60)


def settings(**changed):
    given = {"gamma": 0.5, "kernel": "rbf", "operator": np.eye(2), "loss": losses.Huber(0.5), "feature_map": 5}
    return OperatorKernelRegressor(**{**given, **changed})


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({}, []),
        ({"alpha": 3.0, "tol": 1e-3, "verbose": 1, "max_iter": 5, "solver": "spectral"}, []),
        ({"gamma": 0.6}, ["gamma"]),
        ({"gamma": np.float64(0.5)}, []),
        ({"operator": 2 * np.eye(2)}, ["operator"]),
        ({"loss": losses.Huber(0.4)}, ["loss"]),
        ({"loss": losses.Squared()}, ["loss"]),
        ({"feature_map": features.Landmarks(5)}, ["feature_map"]),
        ({"kernel_params": {"degree": 2}}, ["kernel_params"]),
    ],
)
def test_changed_settings_are_named(changed, names):
    assert FixedSettings.from_estimator(settings()).changed(settings(**changed)) == names


def test_later_changes_of_objects_are_seen():
    model = settings()
    fixed = FixedSettings.from_estimator(model)
    model.loss.kappa = 7.0
    assert fixed.changed(model) == ["loss"]


def test_attributes_of_samples_say_why_they_are_missing():
    model = OperatorKernelRegressor("rbf", gamma=0.5, feature_map=5, alpha=0.1).partial_fit(X, Y)
    for name in ("dual_coef_", "support_", "saturated_", "outlier_scores_"):
        with pytest.raises(AttributeError, match="not kept of rows that come in batches"):
            getattr(model, name)
    with pytest.raises(ValueError, match="fit in memory"):
        model.loo_residuals()
