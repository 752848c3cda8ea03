"""Steps of the fit of objects: when weights are solved for at predict, and errors of folds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import StructuredPredictor
from hilbertlearn.structured.state import LossTrickState

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
MANY, FEW = RNG.permuted(np.tile(np.arange(5), (40, 1)), axis=1), RNG.integers(0, 3, 40)
ALPHA, GAMMA = 0.02, 0.5


@pytest.mark.parametrize(
    ("y", "settings", "expected"),
    [
        (MANY, {}, True),
        (FEW, {}, False),  # few distinct outputs
        (MANY, {"solver": "spectral"}, False),
        (MANY, {"center": True}, False),
        (MANY, {"output_kernel": "rbf"}, False),
    ],
    ids=["many outputs", "few outputs", "solver", "center", "output kernel"],
)
def test_weights_are_solved_for_at_predict(y, settings, expected):
    loss = "kendall" if y is MANY else "zero_one"
    model = StructuredPredictor("rbf", gamma=GAMMA, alpha=ALPHA, output_loss=loss, **settings).fit(X, y)
    assert isinstance(model.state_, LossTrickState) == expected


def test_coefficients_are_those_of_the_linear_system():
    model = StructuredPredictor("rbf", gamma=GAMMA, alpha=ALPHA, output_loss="kendall").fit(X, MANY)
    _, groups = np.unique(MANY, axis=0, return_inverse=True)
    K = rbf_kernel(X, gamma=GAMMA) + len(X) * ALPHA * np.eye(len(X))
    assert_allclose(np.abs(model.dual_coef_).sum(), np.abs(np.linalg.solve(K, np.eye(groups.max() + 1)[groups])).sum())
