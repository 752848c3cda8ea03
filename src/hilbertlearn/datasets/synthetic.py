"""Curves to learn from and ways to spoil them (Lambert et al. 2022, section 5 and appendix B.2; Bouche et al. 2021,
appendix C.1)."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline
from sklearn.utils import check_array, check_random_state

from .._validation import check_choice, check_number

WIDTHS = (0.05, 0.1, 0.5, 0.7)  # of the Gaussian processes
OUTLIER_WIDTHS = (0.01, 0.05, 1.0, 4.0)  # of those that outliers are made of


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
    ``y_i = sum_c u_ic g_c_out`` with u_ic uniform on [-0.5, 0.5] (Lambert et al. 2022, appendix B.2.1).

    Each call draws new functions: make training and test samples in one call and split them.

    Parameters
    ----------
    n_samples : number of curves; the paper trains on 100 and tests on 100
    n_points_in, n_points_out : number of points of the evenly spaced grids; 100 in the authors' published code, the
        paper does not say
    widths_in, widths_out : widths of the processes, as many of one as of the other
    noise_out : standard deviation of Gaussian noise on the outputs (0.5 in the paper's figure 1). It is drawn last: the
        same random_state without noise gives the same curves.
    random_state : None, a seed or a RandomState

    Returns
    -------
    X (n_samples, n_points_in), Y (n_samples, n_points_out), grid_in (n_points_in,), grid_out (n_points_out,)
    """
    check_number(n_samples, "n_samples", integer=True)
    check_number(noise_out, "noise_out", strict=False)
    if len(widths_in) != len(widths_out):
        raise ValueError(
            f"widths_in and widths_out must have the same length, for inputs and outputs share their coefficients; "
            f"got {len(widths_in)} and {len(widths_out)}"
        )
    grid_in = _unit_grid(n_points_in, "n_points_in")
    grid_out = _unit_grid(n_points_out, "n_points_out")
    rng = check_random_state(random_state)
    processes_in = _gaussian_processes(grid_in, widths_in, "widths_in", rng)
    processes_out = _gaussian_processes(grid_out, widths_out, "widths_out", rng)
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

    Of the frequencies 1, ..., max_frequency each sample has n_frequencies different ones, w_p, with coefficients a_p
    uniform on [-amplitude, amplitude]. The input is ``x(t) = sum_p a_p cos(w_p t)`` on [0, 2 pi], the output
    ``y(t) = sum_p a_p B(w_p - t)`` on [1 - width/2, max_frequency + width/2], B the cubic B-spline of
    ``frequency_atoms`` (Bouche et al. 2021, appendix C.1.1).

    Parameters
    ----------
    n_samples : number of curves; the paper trains on 500 and tests on 300
    n_frequencies, max_frequency, amplitude, width : as above
    n_points_in, n_points_out : number of points of the evenly spaced grids
    noise_in, noise_out : standard deviations of Gaussian noise on the observations. The paper varies noise_out from 0
        to 1.5; with missing values it is 0.02 in appendix C.1.2 and 0.07 in section 5.1. Noise is drawn last: the same
        random_state without noise gives the same curves.
    random_state : None, a seed or a RandomState

    Returns
    -------
    X (n_samples, n_points_in), Y (n_samples, n_points_out), grid_in (n_points_in,), grid_out (n_points_out,)
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
    grid_in = 2 * np.pi * _unit_grid(n_points_in, "n_points_in")
    grid_out = 1 - width / 2 + (max_frequency - 1 + width) * _unit_grid(n_points_out, "n_points_out")
    rng = check_random_state(random_state)
    # the n_frequencies smallest of random numbers are a random subset
    chosen = rng.uniform(size=(n_samples, max_frequency)).argsort(axis=1)[:, :n_frequencies]
    coefficients = np.zeros((n_samples, max_frequency))
    np.put_along_axis(coefficients, chosen, rng.uniform(-amplitude, amplitude, size=chosen.shape), axis=1)
    X = coefficients @ np.cos(np.multiply.outer(np.arange(1, max_frequency + 1), grid_in))
    Y = coefficients @ frequency_atoms(grid_out, max_frequency=max_frequency, width=width)
    X += noise_in * rng.normal(size=X.shape)
    return X, Y + noise_out * rng.normal(size=Y.shape), grid_in, grid_out


def frequency_atoms(points, *, max_frequency=10, width=2.0):
    """Values (max_frequency, n_points) of the functions that outputs of ``make_frequency_curves`` are sums of.

    Atom j is the cubic B-spline with the five knots ``j - width/2, j - width/4, ..., j + width/2`` and highest value
    2/3 at the frequency j, for j = 1, ..., max_frequency.
    """
    spline = BSpline.basis_element(width * np.linspace(-0.5, 0.5, 5), extrapolate=False)
    distances = np.subtract.outer(np.arange(1, max_frequency + 1), np.asarray(points, dtype=float))
    return np.nan_to_num(spline(distances), nan=0.0)  # NaN is scipy's word for outside of the knots


def corrupt_labels(Y, fraction, *, random_state=None):
    """Outputs in which some curves are exchanged in a cycle and negated: outliers of type 1 of Lambert et al. 2022.

    The samples ``i_1, ..., i_k``, k = floor(fraction n), are drawn at random; the output of i_j becomes minus that of
    i_(j+1), and the output of i_k minus that of i_1. They look like the other curves, but do not fit their inputs. A
    curve that is alone is only negated.

    Parameters
    ----------
    Y : (n, m) or (n, m, p), NaN where not observed (gaps move with their curve)
    fraction : share of the curves, between 0 and 1
    random_state : None, a seed or a RandomState

    Returns
    -------
    Y : a corrupted copy
    changed : mask (n,) of the corrupted samples
    """
    Y = _outputs(Y)
    rows = _some(len(Y), fraction, "fraction", check_random_state(random_state))
    Y[rows] = -Y[np.roll(rows, -1)]
    return Y, _mask(len(Y), rows)


def corrupt_curves(Y, fraction, *, intensity=2.0, mode="add", widths=OUTLIER_WIDTHS, random_state=None):
    """Outputs in which some curves are unlike the others: outliers of type 2 of Lambert et al. 2022.

    One function g_c is drawn for each width as in ``make_gaussian_process_curves``. Each of floor(fraction n) samples
    drawn at random has an outlier ``sum_c a_c g_c``, with a_c uniform on [-intensity/2, intensity/2] and its own.

    Parameters
    ----------
    Y : (n, m) at evenly spaced points, NaN where not observed (and not observed it stays)
    fraction, random_state : as for ``corrupt_labels``, and so is what is returned
    intensity : the paper's zeta
    mode : "add" the outlier to the curve, as the paper's appendix B.2.1 says and its authors' published code does, or
        "replace" the curve by it, as section 5 says
    widths : widths of the processes, the domain of Y having length 1
    """
    Y = _outputs(Y, ndim=2)
    check_number(intensity, "intensity")
    check_choice(mode, "mode", ("add", "replace"))
    rng = check_random_state(random_state)
    rows = _some(len(Y), fraction, "fraction", rng)
    processes = _gaussian_processes(_unit_grid(Y.shape[1], "points of Y"), widths, "widths", rng)
    outliers = rng.uniform(-intensity / 2, intensity / 2, size=(len(rows), len(widths))) @ processes
    Y[rows] = outliers + (Y[rows] if mode == "add" else 0.0 * Y[rows])  # which is zero, but NaN where not observed
    return Y, _mask(len(Y), rows)


def corrupt_points(Y, fraction, *, points_fraction=0.1, random_state=None):
    """Outputs in which some points of some curves are noise: outliers of type 3 of Lambert et al. 2022.

    In each of floor(fraction n) curves drawn at random, floor(points_fraction m_i) of its m_i observed values, drawn
    for each curve anew, are replaced by uniform draws from [-b, b], b the largest absolute value in all of Y.

    Parameters
    ----------
    Y, fraction, random_state : as for ``corrupt_labels``; fraction is the paper's tau, and gaps stay where they are
    points_fraction : share of their observed values, between 0 and 1: the paper's xi

    Returns
    -------
    Y : a corrupted copy
    changed : mask of the shape of Y of the replaced values
    """
    Y = _outputs(Y)
    rng = check_random_state(random_state)
    rows = _some(len(Y), fraction, "fraction", rng)
    changed = _some_values(Y, rows, points_fraction, "points_fraction", rng)
    bound = np.nanmax(np.abs(Y)) if changed.any() else 0.0
    Y[changed] = rng.uniform(-bound, bound, size=changed.sum())
    return Y, changed


def drop_points(Y, fraction, *, random_state=None):
    """Outputs with values that are no longer observed (Bouche et al. 2021, figure 2).

    In each curve of Y (n, m) or (n, m, p), floor(fraction m_i) of its m_i observed values become NaN, drawn at random
    for each curve anew; fraction is between 0 and 1. random_state is None, a seed or a RandomState. Returns a copy of Y
    with gaps and the mask, of its shape, of the values removed.
    """
    Y = _outputs(Y)
    dropped = _some_values(Y, np.arange(len(Y)), fraction, "fraction", check_random_state(random_state))
    Y[dropped] = np.nan
    return Y, dropped


def check_share(value, name):
    """value if it is a number between 0 and 1."""
    if check_number(value, name, strict=False) > 1:
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    return value


def _gaussian_processes(grid, widths, name, rng):
    """One draw (m,) for each width: (r, m). The covariance is ``exp(-(s - t)^2 / (2 width^2))``."""
    draws = np.empty((len(widths), len(grid)))
    for draw, width in zip(draws, widths):
        check_number(width, name)
        values, vectors = np.linalg.eigh(np.exp(-(np.subtract.outer(grid, grid) ** 2) / (2 * width**2)))
        # The symmetric root does not depend on the signs of the eigenvectors: a seed gives the same curves everywhere.
        root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
        draw[:] = root @ rng.normal(size=len(grid))
    return draws


def _unit_grid(n_points, name):
    return np.linspace(0.0, 1.0, check_number(n_points, name, integer=True))


def _outputs(Y, ndim=None):
    """A copy of Y as floats."""
    Y = check_array(Y, dtype=np.float64, copy=True, allow_nd=True, ensure_all_finite="allow-nan", input_name="Y")
    if ndim is not None and Y.ndim != ndim:
        raise ValueError(f"Y must have shape (n, m), one curve a sample, got {Y.shape}; corrupt the curves one by one")
    return Y


def _some(total, fraction, name, rng):
    """Indices (floor(fraction total),) drawn at random, in random order."""
    return rng.permutation(total)[
        : int(check_share(fraction, name) * total + 1e-9)
    ]  # 0.29 * 100 is a little less than 29


def _some_values(Y, rows, fraction, name, rng):
    """Mask of a random share of the observed values of each of the rows."""
    mask = np.zeros(Y.shape, dtype=bool)
    for row in rows:
        observed = np.flatnonzero(~np.isnan(Y[row]))
        mask[row].flat[observed[_some(len(observed), fraction, name, rng)]] = True
    return mask


def _mask(total, rows):
    mask = np.zeros(total, dtype=bool)
    mask[rows] = True
    return mask
