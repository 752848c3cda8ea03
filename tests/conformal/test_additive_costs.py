"""Outputs within a bound against enumeration."""

from itertools import permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import output_losses
from hilbertlearn.conformal.additive_costs import WeightedLoss


@pytest.mark.parametrize("loss", ["kendall", "hamming"])
def test_near_best_against_enumeration(loss):
    rng, delta = np.random.default_rng(0), output_losses.as_output_loss(loss)
    every = np.array(list(permutations(range(1, 6)) if loss == "kendall" else product((0, 1), repeat=5)), dtype=float)
    for _ in range(10):
        references, weights = every[rng.choice(len(every), 7)], rng.normal(size=7) + 0.3
        values = delta(every, references) @ weights
        for bound in np.quantile(values, [0.0, 0.1, 0.5, 1.0]):
            found = WeightedLoss.from_weights(delta, weights, references).outputs_within(bound, 1000)
            assert {tuple(z) for z in found} == {tuple(z) for z in every[values <= bound + 1e-9]}
            assert len(found) == (values <= bound + 1e-9).sum()
        weighted = WeightedLoss.from_weights(delta, weights, references)
        assert_allclose(weighted(every), values, atol=1e-12)
        assert weighted.outputs_within(values.max(), len(every) - 1) is None
        assert len(weighted.outputs_within(values.min() - 1e-3, 10)) == 0
