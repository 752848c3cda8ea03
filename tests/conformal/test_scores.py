"""Scales and scores against their definitions."""

import numpy as np
import pytest
from helpers.conformal_vectors import LEVEL, SCORES
from numpy.testing import assert_allclose

from hilbertlearn.conformal import scores


def test_scales_by_definition():
    residuals, weights = np.random.default_rng(0).normal(size=(40, 3)) * [1, 2, 3], np.ones(40)
    residuals[::5, 1] = np.nan
    learn = {name: scores.ScaledMaximum(name).learn(residuals, weights, LEVEL) for name in SCORES[:4]}
    assert_allclose(learn["constant"], 1)
    assert_allclose(learn["scale"], np.sqrt(np.nanmean(residuals**2, axis=0)))
    assert_allclose(learn["robust"], 1.4826 * np.nanmedian(np.abs(residuals), axis=0))
    largest = np.nanmax(np.abs(residuals), axis=1)
    kept = residuals[largest <= np.quantile(largest, 0.9, method="averaged_inverted_cdf")]  # whatever the level is
    assert_allclose(learn["trimmed"], np.nanmax(np.abs(kept), axis=0))


def test_mahalanobis_of_gaps_is_the_shadow():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    S, score = root @ root.T, scores.Mahalanobis()
    r = np.array([0.5, np.nan, -1.0])
    others = np.linspace(-20, 20, 40001)
    whole = score.sizes(np.c_[np.full_like(others, r[0]), others, np.full_like(others, r[2])][:, None], S[None])
    assert score.sizes(r[None, None], S[None])[0, 0] == pytest.approx(whole.min(), rel=1e-5)


def test_scale_of_outputs_without_residuals():
    residuals = np.zeros((10, 2))
    assert_allclose(scores.ScaledMaximum("scale").learn(residuals, np.ones(10), LEVEL), 1)
    residuals[:, 0] = 3
    assert_allclose(scores.ScaledMaximum("scale").learn(residuals, np.ones(10), LEVEL), 3)
    assert np.isfinite(np.linalg.cholesky(scores.Mahalanobis().learn(residuals, np.ones(10), LEVEL))).all()


def test_points_without_any_residual_do_not_decide():
    """Rounding at a point where all curves are the same must not be a scale."""
    residuals = np.random.default_rng(0).normal(size=(20, 4))
    residuals[:, 1] *= 1e-16
    learnt = scores.ScaledMaximum("scale").learn(residuals, np.ones(20), LEVEL)
    assert learnt[1] == min(np.delete(learnt, 1))
    small = residuals * [1, 0, 1e-9, 1]  # another unit is no rounding
    assert_allclose(scores.ScaledMaximum("scale").learn(small, np.ones(20), LEVEL)[2], 1e-9 * learnt[2])


# one contract for every score: a new one is listed here

CONTRACT = {
    "constant": scores.ScaledMaximum("constant"),
    "scale": scores.ScaledMaximum("scale"),
    "robust": scores.ScaledMaximum("robust"),
    "trimmed": scores.ScaledMaximum("trimmed"),
    "auto": scores.ScaledMaximum(),
    "novelty": scores.NoveltyScaled(),
    "mahalanobis": scores.Mahalanobis(),
    "no shrinkage": scores.Mahalanobis(0.0),
}


@pytest.fixture(params=CONTRACT, ids=str)
def learnt(request):
    """A score, its scale, and residuals of other samples."""
    rng = np.random.default_rng(0)
    score, mixing = CONTRACT[request.param], np.array([[1.0, 0.5, 0.0], [0.0, 2.0, 0.3], [0.0, 0.0, 5.0]])
    scale = score.learn(rng.normal(size=(50, 3)) @ mixing, np.ones(50), LEVEL)
    return score, scale, rng.normal(size=(200, 3)) @ mixing


def test_scores_are_homogeneous_and_symmetric(learnt):
    score, scale, residuals = learnt
    sizes = score.sizes(residuals[:, None], scale[None])[:, 0]
    assert (sizes > 0).all()
    assert_allclose(score.sizes(-2.5 * residuals[:, None], scale[None])[:, 0], 2.5 * sizes)
    assert score.sizes(np.zeros((1, 3)), scale[None])[0] == 0


def test_extents_are_the_box_around_score_one(learnt):
    score, scale, residuals = learnt
    unit = residuals / score.sizes(residuals[:, None], scale[None])
    extents = score.extents(scale[None])[0]
    assert (np.abs(unit) <= extents * (1 + 1e-12)).all()
    for j in range(3):  # some output with score one reaches each side
        direction = scale[:, j] if scale.ndim == 2 else np.eye(3)[j]
        reached = direction / score.sizes(direction[None], scale[None])[0]
        assert_allclose(reached[j], extents[j])


def test_missing_entries_never_raise_a_score(learnt):
    score, scale, residuals = learnt
    gaps = residuals.copy()
    gaps[:, 1] = np.nan
    sizes = score.sizes(residuals[:, None], scale[None])
    assert (score.sizes(gaps[:, None], scale[None]) <= sizes * (1 + 1e-9)).all()
    assert np.isnan(score.sizes(np.full((1, 3), np.nan), scale[None])[0])


@pytest.mark.parametrize("name", [name for name in CONTRACT if name != "constant"])
def test_scales_follow_the_units_of_outputs(name):
    score, units = CONTRACT[name], np.array([1e-3, 1.0, 1e4])
    residuals, weights = np.random.default_rng(0).normal(size=(40, 3)), np.ones(40)
    plain, scaled = (score.learn_in_units(residuals * u, u, weights, LEVEL) for u in (np.ones(3), units))
    expected = plain * (np.multiply.outer(units, units) if plain.ndim == 2 else units)
    assert_allclose(scaled, expected, rtol=1e-9)


def test_every_score_is_in_the_contract():
    kinds = {kind for kind in vars(scores).values() if isinstance(kind, type) and issubclass(kind, scores.Score)}
    assert kinds - {scores.Score} == {type(score) for score in CONTRACT.values()}
