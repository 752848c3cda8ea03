"""Generators of curves follow their laws."""

import math

import numpy as np
import pytest
from scipy import stats

from hilbertlearn import datasets

rng = np.random.default_rng(5)
Y = rng.normal(size=(100, 40))


def assert_uniform(values, low, high):
    assert low <= values.min() and values.max() <= high
    assert stats.kstest(values, "uniform", (low, high - low)).pvalue > 1e-3


def gaussian_covariance(grid, width):
    return np.array([[math.exp(-((s - t) ** 2) / (2 * width**2)) for t in grid] for s in grid])


def test_gaussian_processes_have_their_covariance():
    r, n = 2000, 2000  # over many functions and samples, cov(x) is r var(u) times the covariance of the functions
    X, Y, grid_in, grid_out = datasets.make_gaussian_process_curves(
        n, n_points_in=5, n_points_out=4, widths_in=(0.3,) * r, widths_out=(0.8,) * r, random_state=0
    )
    np.testing.assert_array_equal(grid_in, [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(X.T @ X / n / (r / 12), gaussian_covariance(grid_in, 0.3), atol=0.13)
    np.testing.assert_allclose(Y.T @ Y / n / (r / 12), gaussian_covariance(grid_out, 0.8), atol=0.13)
    np.testing.assert_allclose(X.T @ Y / n / (r / 12), 0, atol=0.13)  # functions of inputs and outputs are independent


def test_inputs_and_outputs_share_coefficients():
    X, Y, *_ = datasets.make_gaussian_process_curves(50, random_state=1)
    assert X.shape == Y.shape == (50, 100)
    for A in (X, Y, np.c_[X, Y]):  # with coefficients of their own both together would have rank 8
        values = np.linalg.svd(A, compute_uv=False)
        assert values[3] > 1e-3 * values[0] and values[4] < 1e-10 * values[0]


def test_coefficients_are_uniform():
    X, *_ = datasets.make_gaussian_process_curves(3000, widths_in=(0.5,), widths_out=(0.5,), random_state=2)
    u = X[:, 0] / np.abs(X[:, 0]).max()
    assert_uniform(u, -1, 1)
    np.testing.assert_allclose(X, np.outer(u, X[0] / u[0]), atol=1e-12)  # all multiples of one function


def test_narrow_processes_wiggle_more():
    def crossings(width):
        X, *_ = datasets.make_gaussian_process_curves(1, widths_in=(width,), widths_out=(width,), random_state=3)
        return (np.diff(np.sign(X[0])) != 0).sum()

    assert crossings(0.02) > crossings(0.2) >= crossings(4.0)


def test_noise_comes_last():
    clean = datasets.make_gaussian_process_curves(300, random_state=4)
    noisy = datasets.make_gaussian_process_curves(300, noise_out=0.5, random_state=4)
    np.testing.assert_array_equal(clean[0], noisy[0])
    noise = (noisy[1] - clean[1]).ravel()
    assert stats.kstest(noise, "norm", (0, 0.5)).pvalue > 1e-3
    clean = datasets.make_frequency_curves(300, noise_in=0, noise_out=0, random_state=4)
    noisy = datasets.make_frequency_curves(300, random_state=4)
    assert stats.kstest((noisy[0] - clean[0]).ravel(), "norm", (0, 0.07)).pvalue > 1e-3
    assert stats.kstest((noisy[1] - clean[1]).ravel(), "norm", (0, 0.02)).pvalue > 1e-3


def cubic_spline(x, width):
    """By truncated powers, with five knots from -width/2 to width/2."""
    x = x / (width / 4)
    return sum((-1) ** k * math.comb(4, k) * np.maximum(x + 2 - k, 0) ** 3 for k in range(5)) / 6


@pytest.mark.parametrize("width", [2.0, 3.0])
def test_frequency_curves_are_sums_of_cosines_and_splines(width):
    n = 1000
    X, Y, grid_in, grid_out = datasets.make_frequency_curves(
        n, width=width, noise_in=0, noise_out=0, amplitude=1.5, n_points_in=150, random_state=0
    )
    assert X.shape == (n, 150) and Y.shape == (n, 200)
    np.testing.assert_allclose(grid_in, np.linspace(0, 2 * np.pi, 150))
    np.testing.assert_allclose(grid_out, np.linspace(1 - width / 2, 10 + width / 2, 200))

    atoms = np.array([cubic_spline(w - grid_out, width) for w in range(1, 11)])
    np.testing.assert_allclose(datasets.frequency_atoms(grid_out, width=width), atoms, atol=1e-10)
    coefficients = np.linalg.lstsq(atoms.T, Y.T, rcond=None)[0].T
    used = np.abs(coefficients) > 1e-9
    assert (used.sum(axis=1) == 4).all()
    assert stats.chisquare(used.sum(axis=0)).pvalue > 1e-3  # each frequency as often as the others
    assert_uniform(coefficients[used], -1.5, 1.5)
    cosines = np.array([np.cos(w * grid_in) for w in range(1, 11)])
    np.testing.assert_allclose(X, coefficients @ cosines, atol=1e-9)
