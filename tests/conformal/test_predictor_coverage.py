"""Coverage over draws of samples and queries together, of the problems of experiments/conformal_coverage.py."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

KINDS = ("normal", "heavy tails", "unequal noise", "gaps")


@pytest.fixture(scope="module")
def problems():
    folder = str(Path(__file__).parents[2] / "experiments")
    sys.path.insert(0, folder)
    try:
        yield importlib.import_module("conformal_coverage")
    finally:
        sys.path.remove(folder)


def mean_coverage(problems, outputs, kind, method, draws):
    """Mean shares of queries inside, all outputs at once and each by itself."""
    own = getattr(problems, outputs)
    return np.mean([problems.coverage(own, kind, method, seed) for seed in range(draws)], axis=0)


@pytest.mark.parametrize(("kind", "method"), [("normal", "jackknife+"), ("heavy tails", "split"), ("gaps", "split")])
def test_coverage_of_curves(problems, kind, method):
    """A few draws: the mean over them has a standard error of 0.02."""
    joint, each = mean_coverage(problems, "curves", kind, method, 12)
    assert 0.83 < joint <= 0.99
    assert 0.83 < each <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("method", ["split", "cv+", "jackknife+"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("outputs", ["vectors", "curves"])
def test_coverage_of_200_draws(problems, outputs, kind, method):
    joint, each = mean_coverage(problems, outputs, kind, method, 200)
    lowest, highest = (0.87, 0.97) if method == "jackknife+" else (0.88, 0.96)
    assert lowest <= joint <= highest
    assert lowest <= each <= highest


@pytest.mark.slow
def test_bands_of_a_robust_fit_are_narrow_under_wrong_curves(problems):
    found = np.mean([problems.robustness(seed) for seed in range(12)], axis=0)
    (ridge, wide), (robust, narrow) = found[:2], found[2:]
    assert narrow <= 0.8 * wide
    assert min(ridge, robust) >= 0.88
