"""Generators of structured outputs follow their laws."""

import numpy as np
import pytest
from helpers.refusals import assert_refused
from scipy import stats
from sklearn.datasets import load_digits

from hilbertlearn import datasets
from hilbertlearn.metrics import kendall_tau, normalized_rank_loss

rng = np.random.default_rng(8)


def assert_uniform(values, low, high):
    assert low <= values.min() and values.max() <= high
    assert stats.kstest(values, "uniform", (low, high - low)).pvalue > 1e-3


def test_robust_regression_follows_its_law():
    X, y, clean, outlier = datasets.make_robust_regression(20_000, random_state=0)
    assert X.shape == (20_000, 1) and y.shape == clean.shape == outlier.shape == (20_000,)
    assert_uniform(X[:, 0], -1, 1)
    np.testing.assert_allclose(clean, np.sin(6 * np.pi * X[:, 0]))
    assert stats.binomtest(int(outlier.sum()), 20_000, 0.1).pvalue > 1e-3
    error = y - clean
    assert stats.kstest(error[~outlier], "norm", (0, np.sqrt(0.1))).pvalue > 1e-3
    assert error[outlier].var() == pytest.approx(0.1 + 3**2 / 3, rel=0.1)
    without_noise, errors = (
        datasets.make_robust_regression(20_000, noise_variance=0, outlier_probability=p, random_state=0) for p in (0, 1)
    )
    np.testing.assert_array_equal(without_noise[1], clean)  # what is drawn last changes nothing before
    assert errors[3].all()
    assert_uniform(errors[1] - clean, -3, 3)


def test_digits_halves():
    data, whole = datasets.digits_halves(), load_digits()
    assert data.X.shape == data.Y.shape == (1797, 32)
    np.testing.assert_allclose(data.X, whole.data[:, :32] / 16)
    np.testing.assert_allclose(data.Y.sum(axis=1), 1)
    for i in (0, 500, 1796):
        np.testing.assert_allclose(data.Y[i], whole.images[i, 4:].ravel() / whole.images[i, 4:].sum())
    np.testing.assert_array_equal(data.target, whole.target)
    np.testing.assert_allclose(data.images, whole.images / 16)


@pytest.fixture(scope="module")
def movies():
    return datasets.make_movie_ratings(random_state=0)


def test_ratings_have_the_shape_of_movielens(movies):
    assert movies.Y.shape == (943, 1682) and movies.X.shape == (943, 23) and movies.genres.shape == (1682, 19)
    rated = ~np.isnan(movies.Y)
    assert rated.sum() == pytest.approx(100_000, rel=0.03)
    counts = rated.sum(axis=1)
    assert counts.min() >= 20 and counts.max() <= 841
    assert 50 < np.median(counts) < 90 and np.median(rated.sum(axis=0)) < 50 < 300 < rated.sum(axis=0).max()
    values, numbers = np.unique(movies.Y[rated], return_counts=True)
    np.testing.assert_array_equal(values, [1, 2, 3, 4, 5])
    np.testing.assert_allclose(numbers / rated.sum(), [0.06, 0.11, 0.27, 0.35, 0.21], atol=1e-3)
    assert (movies.genres.sum(axis=1) >= 1).all() and set(np.unique(movies.genres)) == {0, 1}


def test_features_of_users(movies):
    np.testing.assert_allclose(movies.X[:, 0], stats.zscore(movies.age))
    np.testing.assert_array_equal(movies.X[:, 1], movies.gender == "F")
    assert (movies.X[:, 2:].sum(axis=1) == 1).all()
    for user in (0, 400, 942):
        assert movies.feature_names[2:][movies.X[user, 2:] == 1] == movies.occupation[user]


def test_ratings_can_be_learnt(movies):
    train, test = slice(0, 643), slice(643, None)
    R = movies.Y[train] - np.nanmean(movies.Y[train], axis=1, keepdims=True)
    B = ~np.isnan(R)
    mean = np.where(B, R, 0).sum(axis=0) / (5 + B.sum(axis=0))
    residual, X = np.where(B, R - mean, 0), movies.X
    W = np.linalg.solve(X[train].T @ X[train] + 10 * np.eye(23), X[train].T @ residual)
    truth, n = movies.Y[test], 300
    chance = normalized_rank_loss(truth, rng.normal(size=truth.shape))
    same = normalized_rank_loss(truth, np.tile(mean, (n, 1)))
    own = normalized_rank_loss(truth, mean + X[test] @ W)
    others = normalized_rank_loss(truth, mean + X[test][rng.permutation(n)] @ W)  # features of somebody else
    assert own < same - 0.01 and same < chance - 0.1 and own < others - 0.01


def test_popular_and_appealing_movies_are_rated_more(movies):
    rated = ~np.isnan(movies.Y)
    known = rated.sum(axis=0) > 5
    mean = np.nanmean(movies.Y[:, known], axis=0)
    assert stats.spearmanr(mean, rated.sum(axis=0)[known]).statistic > 0.2


def test_small_ratings():
    data = datasets.make_movie_ratings(10, 100, 240, random_state=1)
    assert data.Y.shape == (10, 100) and (~np.isnan(data.Y)).sum() == 240
    np.testing.assert_array_equal(data.Y, datasets.make_movie_ratings(10, 100, 240, random_state=1).Y)
    assert_refused(lambda: datasets.make_movie_ratings(10, 100, 199), ["n_ratings", "200 and 250", "199"])
    assert_refused(lambda: datasets.make_movie_ratings(10, 100, 251), ["n_ratings", "200 and 250", "251"])


def test_label_rankings():
    X, Y = datasets.make_label_rankings(300, n_features=4, n_labels=5, noise=0, random_state=0)
    assert X.shape == (300, 4)
    np.testing.assert_array_equal(np.sort(Y, axis=1), np.tile(np.arange(1, 6), (300, 1)))
    _, noisy = datasets.make_label_rankings(300, n_features=4, n_labels=5, noise=0.3, random_state=0)
    _, noisier = datasets.make_label_rankings(300, n_features=4, n_labels=5, noise=1e6, random_state=0)
    assert 0.5 < kendall_tau(Y, noisy) < 0.95 and abs(kendall_tau(Y, noisier)) < 0.1
    # neighbours rank alike
    distances = np.linalg.norm(X[:, None] - X, axis=2) + 100 * np.eye(300)
    assert kendall_tau(Y, Y[distances.argmin(axis=1)]) > kendall_tau(Y, Y[rng.permutation(300)]) + 0.3
    twice = [datasets.make_label_rankings(20, random_state=3)[1] for _ in range(2)]
    np.testing.assert_array_equal(*twice)


@pytest.mark.parametrize(
    ("make", "settings", "words"),
    [
        (datasets.make_robust_regression, {"n_samples": 0}, ["n_samples", "0"]),
        (datasets.make_robust_regression, {"noise_variance": -1}, ["noise_variance", "-1"]),
        (datasets.make_robust_regression, {"outlier_probability": 1.5}, ["outlier_probability", "0 and 1", "1.5"]),
        (datasets.make_robust_regression, {"outlier_size": np.inf}, ["outlier_size", "inf"]),
        (datasets.make_movie_ratings, {"n_users": 2.5}, ["n_users", "2.5"]),
        (datasets.make_label_rankings, {"n_labels": 0}, ["n_labels", "0"]),
        (datasets.make_label_rankings, {"noise": -0.1}, ["noise", "-0.1"]),
    ],
)
def test_generators_refuse(make, settings, words):
    assert_refused(lambda: make(**settings), words)
