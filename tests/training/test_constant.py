"""The constant of one output."""

import warnings

import numpy as np
import pytest

from hilbertlearn import losses
from hilbertlearn.training import best_constant


@pytest.mark.parametrize("epsilon", [0.056, 0.3])
def test_the_constant_of_one_output_is_always_found(epsilon):
    """The sum of losses has flat stretches, in which iterations may go round in circles."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y, loss = rng.normal(size=(rng.integers(5, 60), 1)), losses.EpsilonSVR(epsilon)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            constant = best_constant(y, np.ones(len(y)), loss)
        grid = np.concatenate([y - epsilon, y + epsilon])  # where slopes change
        values = np.maximum(np.abs(y - grid.T) - epsilon, 0.0).sum(axis=0)
        assert np.maximum(np.abs(y - constant) - epsilon, 0.0).sum() <= values.min() + 1e-6 * np.abs(y).sum()
