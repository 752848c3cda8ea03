"""Split conformal bands of the papers, against their definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit

from hilbertlearn import ConformalPredictor, FunctionalRegressor
from hilbertlearn.baselines import SplitConformalBand

LEVEL = 0.8
RNG = np.random.default_rng(0)
GRID = np.linspace(0, 1, 9)
X, QUERIES = RNG.uniform(-1, 1, size=(24, 1)), RNG.uniform(-1, 1, size=(5, 1))
U = RNG.normal(size=(24, 2))
Y = np.sin(4 * GRID + 2 * X) + (0.1 + 0.3 * GRID) * (U[:, :1] + U[:, 1:] * np.sin(5 * GRID))
MODEL = FunctionalRegressor("rbf", gamma=1.0, alpha=1e-2)


def smallest(values):
    """The ceil((n + 1) level)-th smallest value."""
    return np.sort(values)[int(np.ceil((len(values) + 1) * LEVEL)) - 1]


@pytest.mark.parametrize("modulation", ["trimmed", "deviation", "constant"])
def test_bands_by_their_definition(modulation):
    grid = np.r_[0, np.sort(np.random.default_rng(0).uniform(0, 1, 7)), 1]
    model = clone(MODEL).set_params(grid=grid)
    bands = SplitConformalBand(model, LEVEL, modulation=modulation, random_state=3).fit(X, Y)
    ((train, rest),) = ShuffleSplit(1, test_size=0.5, random_state=3).split(X)
    reference = clone(model).fit(X[train], Y[train])
    sizes = np.abs(Y[train] - reference.predict(X[train]))
    kept = [row for row in sizes if row.max() <= smallest(sizes.max(axis=1))]
    s = {
        "trimmed": np.max(kept, axis=0),
        "deviation": np.sqrt(np.mean(sizes**2, axis=0)),
        "constant": np.ones(len(grid)),
    }[modulation]
    s = s / np.trapezoid(s, grid)
    assert 0 < len(kept) < len(train)
    assert_allclose(bands.modulation_, s)
    radius = smallest(np.max(np.abs(Y[rest] - reference.predict(X[rest])) / s, axis=1))
    lower, upper = bands.predict_band(QUERIES)
    assert_allclose(upper, reference.predict(QUERIES) + radius * s)
    assert_allclose(lower, reference.predict(QUERIES) - radius * s)
    assert_allclose(np.trapezoid(upper - lower, grid), 2 * bands.radius_)


def test_gaps_gram_matrices_and_few_samples():
    gaps = Y.copy()
    gaps[::3, 2:4] = np.nan
    bands = SplitConformalBand(MODEL, LEVEL, random_state=0).fit(X, gaps)
    assert np.isfinite(bands.modulation_).all() and np.isfinite(bands.radius_)
    few = SplitConformalBand(MODEL, 0.99, random_state=0).fit(X, Y)
    assert few.radius_ == np.inf
    K, cross = np.exp(-((X - X.T) ** 2)), np.exp(-((QUERIES - X.T) ** 2))
    gram = SplitConformalBand(clone(MODEL).set_params(kernel="precomputed"), LEVEL, random_state=0).fit(K, Y)
    plain = SplitConformalBand(MODEL, LEVEL, random_state=0).fit(X, Y)
    assert_allclose(gram.predict_band(cross), plain.predict_band(QUERIES))
    with pytest.raises(ValueError, match="level must be a number between 0 and 1"):
        SplitConformalBand(MODEL, 1.5).fit(X, Y)


def test_a_constant_modulation_is_the_split_method_of_the_library():
    reference = SplitConformalBand(MODEL, LEVEL, modulation="constant", random_state=0).fit(X, Y)
    splits = list(ShuffleSplit(1, test_size=0.5, random_state=0).split(X))
    band = ConformalPredictor(MODEL, "split", LEVEL, "constant", cv=splits).fit(X, Y).predict_band(QUERIES)
    assert_allclose((band.lower, band.upper), reference.predict_band(QUERIES))
