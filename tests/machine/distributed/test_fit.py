"""Settings that blocks of rows can be fitted with."""

import numpy as np
import pytest

from hilbertlearn import OperatorKernelRegressor, losses
from hilbertlearn.machine.distributed.fit import check_settings

X = np.zeros((3, 2))


def check(**settings):
    spec = OperatorKernelRegressor(**{"feature_map": 5, **settings}).spec()
    check_settings(spec.recipe(X), spec.loss, spec.options.solver)


def test_squared_and_robust_losses():
    check()
    check(loss="huber", alpha=0.1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": losses.Ball(1.0)}, "compares all samples"),
        ({"feature_map": None}, "feature_map=None is the exact kernel"),
        ({"manifold": 1.0}, "manifold: a graph"),
        ({"kernel": [("rbf", None), ("linear", None)], "gamma": 0.5}, "list of terms"),
        ({"operator": "learned"}, "operator: Learned"),
        ({"solver": "proximal_newton"}, "needs all samples at once"),
    ],
)
def test_settings_that_need_all_samples(settings, message):
    with pytest.raises(ValueError, match=message):
        check(**settings)
