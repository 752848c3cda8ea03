"""Generators of curves (Lambert et al. 2022, appendix B.2; Bouche et al. 2021, appendix C.1)."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline
from sklearn.utils import check_random_state

from .._utils.validation import check_number

WIDTHS = (0.05, 0.1, 0.5, 0.7)  # length scales of the Gaussian processes, from the paper


def make_gaussian_process_curves(
    n_samples=200,
    *,
    n_points_in=100,
    n_points_out=100,
    widths_in=WIDTHS,
    widths_out=WIDTHS,
    noise_out=0.0,
    random_state=None,
):
    """Input and output curves that mix a few random functions with the same coefficients.

    For each width a function g_c of the inputs and one of the outputs are drawn once, from Gaussian processes with mean
    zero and covariance ``exp(-(s - t)^2 / (2 width^2))`` on [0, 1]. Sample i is ``x_i = sum_c u_ic g_c_in`` and
    ``y_i = sum_c u_ic g_c_out`` with u_ic uniform on [-0.5, 0.5].

    Each call draws new functions: make training and test samples in one call and split them.

    Parameters
    ----------
    n_samples : int, default=200
        Number of curves; the paper trains on 100 and tests on 100.
    n_points_in : int, default=100
        Number of points of the evenly spaced grid of the inputs; 100 in the authors' published code, the paper does not
        say.
    n_points_out : int, default=100
        Number of points of the evenly spaced grid of the outputs.
    widths_in : sequence of float, default=(0.05, 0.1, 0.5, 0.7)
        Widths of the processes of the inputs.
    widths_out : sequence of float, default=(0.05, 0.1, 0.5, 0.7)
        Widths of the processes of the outputs, as many as ``widths_in``.
    noise_out : float, default=0.0
        Standard deviation of Gaussian noise on the outputs (0.5 in the paper's figure 1). It is drawn last: the
        same random_state without noise gives the same curves.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    X : array of shape (n_samples, n_points_in)
        Input curves.
    Y : array of shape (n_samples, n_points_out)
        Output curves.
    grid_in : array of shape (n_points_in,)
        Points of the inputs.
    grid_out : array of shape (n_points_out,)
        Points of the outputs.

    References
    ----------
    - Lambert, Bouche, Szabó and d'Alché-Buc (2022). Functional output regression with infimal convolution: exploring
      the Huber and epsilon-insensitive losses. ICML, appendix B.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import datasets
    >>> X, Y, grid_in, grid_out = datasets.make_gaussian_process_curves(20, random_state=0)
    >>> X.shape, int(np.linalg.matrix_rank(Y, tol=1e-6))  # mixtures of four functions
    ((20, 100), 4)
    """
    check_number(n_samples, "n_samples", integer=True)
    check_number(noise_out, "noise_out", strict=False)
    if len(widths_in) != len(widths_out):
        raise ValueError(
            f"widths_in and widths_out must have the same length, for inputs and outputs share their coefficients; "
            f"got {len(widths_in)} and {len(widths_out)}"
        )
    grid_in = unit_grid(n_points_in, "n_points_in")
    grid_out = unit_grid(n_points_out, "n_points_out")
    rng = check_random_state(random_state)
    processes_in = gaussian_processes(grid_in, widths_in, "widths_in", rng)
    processes_out = gaussian_processes(grid_out, widths_out, "widths_out", rng)
    coefficients = rng.uniform(-0.5, 0.5, size=(n_samples, len(widths_in)))
    X, Y = coefficients @ processes_in, coefficients @ processes_out
    return X, Y + noise_out * rng.normal(size=Y.shape), grid_in, grid_out


def make_frequency_curves(
    n_samples=800,
    *,
    n_frequencies=4,
    max_frequency=10,
    amplitude=1.0,
    width=2.0,
    n_points_in=200,
    n_points_out=200,
    noise_in=0.07,
    noise_out=0.02,
    random_state=None,
):
    """Sums of cosines, and outputs with a bump at each of their frequencies.

    Each sample has n_frequencies different frequencies w_p among 1, ..., max_frequency. Coefficients a_p are uniform on
    [-amplitude, amplitude]. The input is ``x(t) = sum_p a_p cos(w_p t)`` on [0, 2 pi], the output
    ``y(t) = sum_p a_p B(w_p - t)`` on [1 - width/2, max_frequency + width/2], B the cubic B-spline of
    ``frequency_atoms``.

    Parameters
    ----------
    n_samples : int, default=800
        Number of curves; the paper trains on 500 and tests on 300.
    n_frequencies : int, default=4
        Number of frequencies of each sample.
    max_frequency : int, default=10
        The highest frequency.
    amplitude : float, default=1.0
        Largest coefficient.
    width : float, default=2.0
        Width of the bumps.
    n_points_in : int, default=200
        Number of points of the evenly spaced grid of the inputs.
    n_points_out : int, default=200
        Number of points of the evenly spaced grid of the outputs.
    noise_in : float, default=0.07
        Standard deviation of Gaussian noise on the inputs.
    noise_out : float, default=0.02
        Standard deviation of Gaussian noise on the outputs. The paper varies it from 0 to 1.5; with missing values it
        is 0.02 in appendix C.1.2 and 0.07 in section 5.1. Noise is drawn last: the same random_state without noise
        gives the same curves.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    X : array of shape (n_samples, n_points_in)
        Input curves.
    Y : array of shape (n_samples, n_points_out)
        Output curves.
    grid_in : array of shape (n_points_in,)
        Points of the inputs.
    grid_out : array of shape (n_points_out,)
        Points of the outputs.

    References
    ----------
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS, appendix C.1.1.

    Examples
    --------
    >>> from hilbertlearn import datasets
    >>> X, Y, grid_in, grid_out = datasets.make_frequency_curves(5, random_state=0)
    >>> X.shape, Y.shape, grid_out[[0, -1]].tolist()
    ((5, 200), (5, 200), [0.0, 11.0])
    """
    for name, value in (("n_samples", n_samples), ("n_frequencies", n_frequencies), ("max_frequency", max_frequency)):
        check_number(value, name, integer=True)
    for name, value in (("amplitude", amplitude), ("noise_in", noise_in), ("noise_out", noise_out)):
        check_number(value, name, strict=False)
    check_number(width, "width")
    if n_frequencies > max_frequency:
        raise ValueError(
            f"n_frequencies must be at most max_frequency, for a sample's frequencies differ; "
            f"got {n_frequencies} and {max_frequency}"
        )
    grid_in = 2 * np.pi * unit_grid(n_points_in, "n_points_in")
    grid_out = 1 - width / 2 + (max_frequency - 1 + width) * unit_grid(n_points_out, "n_points_out")
    rng = check_random_state(random_state)
    # the n_frequencies smallest of random numbers are a random subset
    frequencies = rng.uniform(size=(n_samples, max_frequency)).argsort(axis=1)[:, :n_frequencies]
    coefficients = np.zeros((n_samples, max_frequency))
    np.put_along_axis(coefficients, frequencies, rng.uniform(-amplitude, amplitude, size=frequencies.shape), axis=1)
    X = coefficients @ np.cos(np.multiply.outer(np.arange(1, max_frequency + 1), grid_in))
    Y = coefficients @ frequency_atoms(grid_out, max_frequency=max_frequency, width=width)
    X += noise_in * rng.normal(size=X.shape)
    return X, Y + noise_out * rng.normal(size=Y.shape), grid_in, grid_out


def frequency_atoms(points, *, max_frequency=10, width=2.0):
    """Values of the atoms whose sums are the outputs of ``make_frequency_curves``.

    Atom j is the cubic B-spline with the five knots ``j - width/2, j - width/4, ..., j + width/2`` and highest value
    2/3 at the frequency j, for j = 1, ..., max_frequency.

    Parameters
    ----------
    points : array of shape (n_points,)
        Points at which the atoms are evaluated.
    max_frequency : int, default=10
        Number of atoms.
    width : float, default=2.0
        Width of the atoms.

    Returns
    -------
    atoms : array of shape (max_frequency, n_points)
        Values of the atoms.

    References
    ----------
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS, appendix C.1.1.

    Examples
    --------
    >>> from hilbertlearn import datasets
    >>> datasets.frequency_atoms([0.0, 1.0, 1.5, 2.0], max_frequency=2).round(3)
    array([[0.   , 0.667, 0.167, 0.   ],
           [0.   , 0.   , 0.167, 0.667]])
    """
    spline = BSpline.basis_element(width * np.linspace(-0.5, 0.5, 5), extrapolate=False)
    distances = np.subtract.outer(np.arange(1, max_frequency + 1), np.asarray(points, dtype=float))
    return np.nan_to_num(spline(distances), nan=0.0)  # scipy returns NaN outside the knots


def check_share(value, name):
    """The value, checked to be a number between 0 and 1."""
    if check_number(value, name, strict=False) > 1:
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    return value


def gaussian_processes(grid, widths, name, rng):
    """Draws (r, m) of Gaussian processes, one for each width. The covariance is ``exp(-(s - t)^2 / (2 width^2))``."""
    draws = np.empty((len(widths), len(grid)))
    for draw, width in zip(draws, widths):
        check_number(width, name)
        values, vectors = np.linalg.eigh(np.exp(-(np.subtract.outer(grid, grid) ** 2) / (2 * width**2)))
        # The symmetric root does not depend on signs of eigenvectors, so a seed gives the same curves on every machine.
        root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
        draw[:] = root @ rng.normal(size=len(grid))
    return draws


def unit_grid(n_points, name):
    return np.linspace(0.0, 1.0, check_number(n_points, name, integer=True))
