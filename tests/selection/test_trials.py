"""Rules that select among errors."""

import numpy as np
import pytest

from hilbertlearn.selection import best_index

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def same_draws():
    """Each test draws the same whatever ran before it."""
    global rng
    rng = np.random.default_rng(0)


def test_best_index():
    assert best_index([3.0, 1.0, 1.0, 2.0]) == 2
    assert best_index([np.inf, 1.0, np.nan]) == 1
    with pytest.raises(ValueError, match="too large"):
        best_index([np.inf, np.nan])
