"""The hinge and its variants: definitions, targets other than the outputs."""

import numpy as np
import pytest
from helpers.by_hand import LOSSES, Data, check, fit, make, reference
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.losses import (
    Hinge,
)

INF = np.inf


# ------------------------------------------------------------------ functions of the margin


def test_hinge_is_its_definition():
    t = np.linspace(-2, 3, 51)
    loss = Hinge()
    assert_allclose(loss.row_value(-t[:, None]), np.maximum(0, 1 - t))
    grid = np.linspace(-1, 2, 300_001)
    feasible = grid[(grid >= 0) & (grid <= 1)]
    wide = np.linspace(-50, 50, 200_001)
    for b in (0.0, 0.3, 1.0):  # f*(-b) = sup over t of -b t - f(t)
        assert loss.row_conjugate(np.array([[b]]))[0] == pytest.approx(np.max(-b * wide - np.maximum(0, 1 - wide)))
    assert_array_equal(loss.row_conjugate(np.array([[-0.1], [1.1]])), INF)
    for step in (0.1, 1, 7):
        for b in np.linspace(-9, 3, 25):
            best = feasible[np.argmin((feasible - b) ** 2 / 2 - step * feasible)]
            assert abs(loss.row_prox(np.array([[b]]), step)[0, 0] - best) < 1.1e-5
    assert loss.on_margins and loss.bound == 1


# ---------------------------------------------------------------- margins with targets of their own


def mixed(Y):
    """No multiple of the outputs, and no linear map of them either."""
    return np.sign(Y) + 0.3 * Y[:, ::-1]


@pytest.mark.parametrize("structured", [False, True], ids=["identity", "operator"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("many", [False, True], ids=["one", "terms"])
@pytest.mark.parametrize("name", ["hinge", "squared-hinge"])
def test_the_hinge_of_other_targets_is_that_of_clarabel(name, many, weighted, structured):
    data, hand = make(many=many, weighted=weighted, structured=structured), LOSSES[name]
    model = fit(data, Hinge(hand.loss.margin, targets=mixed))
    assert model.dual_gap_ <= 1e-9
    z = Data(data.X, mixed(data.Y), data.weights, data.terms, data.settings)  # the same problem for outputs z
    check(z, hand, model)
    assert reference(data, hand) != pytest.approx(reference(z, hand), rel=1e-3)  # and another one than without


def test_targets_are_functions_of_coordinates_before_weights():
    seen = []

    def remember(Y):
        seen.append(Y.copy())
        return Y

    data = make(weighted=True)
    fit(data, Hinge(targets=remember))
    assert seen and all(np.allclose(Y, data.Y) for Y in seen)


@pytest.mark.parametrize(
    "targets", [lambda Y: Y[:, :1], lambda Y: np.full_like(Y, np.nan), lambda Y: Y[1:]], ids=["narrow", "nan", "short"]
)
def test_targets_of_another_shape_are_refused(targets):
    with pytest.raises(ValueError, match="targets must return finite numbers of shape"):
        fit(make(), Hinge(targets=targets))
