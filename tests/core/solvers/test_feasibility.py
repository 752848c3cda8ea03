"""A ball loss admits no residual beyond its radius."""

import numpy as np
import pytest
from helpers.by_hand import (
    fit,
    make,
    norms,
)

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.losses import (
    Ball,
)

# ---------------------------------------------------------------- hard constraints


@pytest.mark.parametrize("structured", [False, True], ids=["identity", "operator"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("missing", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize("many", [False, True], ids=["one", "terms"])
@pytest.mark.parametrize("tol", [1e-4, 1e-8])
def test_a_ball_admits_no_larger_residual(tol, many, missing, weighted, structured):
    data = make(many=many, structured=structured, weighted=weighted, missing=missing)
    scale = 0.5
    model = fit(data, Ball(scale), tol=tol, max_iter=100_000)
    F = model.predict(data.inputs)[data.labelled]
    sizes = norms(np.where(data.mask, data.targets - F, 0.0))
    assert sizes.max() <= scale * (1 + 1e-9)
    assert model.dual_gap_ <= tol
    assert sizes.max() >= 0.99 * scale  # the smoothest function makes use of what is admitted


def test_a_ball_around_the_centre_and_along_a_path():
    data = make()
    base = OperatorKernelRegressor(loss=Ball(0.4), gamma=0.4, alpha=0.1)
    for model in base.fit_path(data.X, data.Y, [1.0, 1e-2, 1e-4]):
        assert norms(data.Y - model.predict(data.X)).max() <= 0.4 * (1 + 1e-9)
        assert model.dual_gap_ <= model.tol
