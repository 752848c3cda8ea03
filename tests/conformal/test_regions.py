"""Volumes, bands and shapes of regions."""

import numpy as np
import pytest
from helpers.conformal_vectors import LEVEL, METHODS, MODEL, QUERIES, X, Y
from numpy.testing import assert_allclose

from hilbertlearn import ConformalPredictor, FunctionalRegressor
from hilbertlearn.conformal import Band, Box, Ellipsoid


def curves(n, m=12, seed=0):
    rng = np.random.default_rng(seed)
    X, t = rng.uniform(-1, 1, size=(n, 1)), np.linspace(0, 1, m)
    smooth = rng.normal(size=(n, 3)) @ np.sin(np.outer([1, 2, 3], 3 * t)) * (0.1 + 0.3 * t)
    return X, np.sin(5 * t + 2 * X) + smooth


@pytest.mark.parametrize("method", ["cv+", "split"])
def test_volume_of_ellipsoids_by_points(method):
    model = ConformalPredictor(MODEL, method, LEVEL, "mahalanobis", random_state=0).fit(X, Y)
    region = model.predict_region(np.repeat(QUERIES[:1], 5000, axis=0))
    sides = region.upper - region.lower
    hits = region.contains(region.lower + sides * np.random.default_rng(0).uniform(size=sides.shape))
    one = model.predict_region(QUERIES[:1])
    assert isinstance(one, Ellipsoid)
    assert_allclose(one.volume(), hits.mean() * sides[0].prod(), rtol=0.1)


def test_volume_of_boxes():
    region = ConformalPredictor(MODEL, level=LEVEL).fit(X, Y).predict_region(QUERIES)
    assert isinstance(region, Box) and len(region) == 25
    assert_allclose(region.volume(), (region.upper - region.lower).prod(axis=1))


@pytest.mark.parametrize("modulation", ["auto", "constant", "scale", "robust", "trimmed"])
@pytest.mark.parametrize("method", METHODS)
def test_bands_hold_whole_curves(method, modulation):
    X, Y = curves(60)
    Xt, Yt = curves(200, seed=1)
    model = ConformalPredictor(
        FunctionalRegressor("rbf", gamma=1.0, alpha=1e-3), method, score=modulation, random_state=0
    )
    band = model.fit(X, Y).predict_band(Xt)
    assert isinstance(band, Band) and band.lower.shape == Yt.shape == band.width.shape
    assert 0.8 < band.contains(Yt).mean() <= 1
    within = ((band.lower <= Yt) & (band.upper >= Yt)).all(axis=1)
    assert (within | ~band.contains(Yt)).all()
    assert_allclose(band.mean_width(), band.width.mean(axis=1))
    if modulation == "scale":  # residuals grow along the curve
        assert (band.width[:, -1] > 1.5 * band.width[:, 0]).all()


def test_images_keep_their_shape():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=(30, 4, 5))
    band = ConformalPredictor(
        FunctionalRegressor("rbf", gamma=1.0, alpha=0.1, grid=(np.arange(4), np.arange(5.0))), level=0.8
    )
    band.fit(X, y)
    assert band.predict_band(X[:3]).upper.shape == (3, 4, 5)
    assert band.predict_interval(X[:3]).shape == (3, 4, 5, 2)
