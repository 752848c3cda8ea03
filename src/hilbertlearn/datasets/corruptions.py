"""Corruptions of curves (Lambert et al. 2022, section 5 and appendix B.2; Bouche et al. 2021, figure 2), and gaps."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_array, check_random_state

from .._utils.validation import check_choice, check_number
from ..data import functions
from .synthetic import check_share, gaussian_processes, unit_grid

OUTLIER_WIDTHS = (0.01, 0.05, 1.0, 4.0)  # length scales of the Gaussian processes of outliers, from the paper


def corrupt_labels(Y, fraction, *, random_state=None):
    """Exchange a share of the curves in a cycle and negate them: outliers of type 1.

    The samples ``i_1, ..., i_k``, k = floor(fraction n), are drawn at random; the output of i_j becomes minus that of
    i_(j+1), and the output of i_k minus that of i_1. They resemble the other curves, but do not fit their inputs. If
    k = 1, the curve is only negated.

    Parameters
    ----------
    Y : array of shape (n, m) or (n, m, p)
        Curves, NaN where not observed; gaps move with their curve.
    fraction : float
        Share of the curves, between 0 and 1.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    Y : array of the shape of Y
        A corrupted copy.
    changed : boolean array of shape (n,)
        Mask of the corrupted samples.

    References
    ----------
    - Lambert, Bouche, Szabó and d'Alché-Buc (2022). Functional output regression with infimal convolution: exploring
      the Huber and epsilon-insensitive losses. ICML, section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import datasets
    >>> Y = np.arange(10.0)[:, None] * np.ones(3)
    >>> corrupted, changed = datasets.corrupt_labels(Y, 0.2, random_state=0)
    >>> corrupted[:, 0], int(changed.sum())
    (array([ 0.,  1., -8.,  3.,  4.,  5.,  6.,  7., -2.,  9.]), 2)
    """
    Y = _outputs(Y)
    rows = _draw_indices(len(Y), fraction, "fraction", check_random_state(random_state))
    Y[rows] = -Y[np.roll(rows, -1)]
    return Y, _mask(len(Y), rows)


def corrupt_curves(Y, fraction, *, intensity=2.0, mode="add", widths=OUTLIER_WIDTHS, random_state=None):
    """Add random curves to a share of the curves, or replace these: outliers of type 2.

    One function g_c is drawn for each width as in ``make_gaussian_process_curves``. Each of floor(fraction n) samples
    drawn at random has its own outlier ``sum_c a_c g_c``, with a_c uniform on [-intensity/2, intensity/2].

    Parameters
    ----------
    Y : array of shape (n, m)
        Curves at evenly spaced points, NaN where not observed; gaps stay.
    fraction : float
        Share of the curves, between 0 and 1.
    intensity : float, default=2.0
        The paper's zeta.
    mode : {"add", "replace"}, default="add"
        "add" the outlier to the curve, as in appendix B.2.1 of the paper and in the published code of its authors, or
        "replace" the curve by it, as in section 5.
    widths : sequence of float, default=(0.01, 0.05, 1.0, 4.0)
        Widths of the processes; the domain of Y has length 1.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    Y : array of shape (n, m)
        A corrupted copy.
    changed : boolean array of shape (n,)
        Mask of the corrupted samples.

    References
    ----------
    - Lambert, Bouche, Szabó and d'Alché-Buc (2022). Functional output regression with infimal convolution: exploring
      the Huber and epsilon-insensitive losses. ICML, section 5 and appendix B.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import datasets
    >>> Y = np.zeros((10, 50))
    >>> corrupted, changed = datasets.corrupt_curves(Y, 0.2, random_state=0)
    >>> np.flatnonzero(changed).tolist() == np.flatnonzero(corrupted.any(axis=1)).tolist(), int(changed.sum())
    (True, 2)
    """
    Y = _outputs(Y, ndim=2)
    check_number(intensity, "intensity")
    check_choice(mode, "mode", ("add", "replace"))
    rng = check_random_state(random_state)
    rows = _draw_indices(len(Y), fraction, "fraction", rng)
    processes = gaussian_processes(unit_grid(Y.shape[1], "points of Y"), widths, "widths", rng)
    outliers = rng.uniform(-intensity / 2, intensity / 2, size=(len(rows), len(widths))) @ processes
    Y[rows] = outliers + (Y[rows] if mode == "add" else 0.0 * Y[rows])  # 0, or NaN where not observed
    return Y, _mask(len(Y), rows)


def corrupt_points(Y, fraction, *, points_fraction=0.1, random_state=None):
    """Replace points of a share of the curves by noise: outliers of type 3.

    In each of floor(fraction n) curves drawn at random, floor(points_fraction m_i) of its m_i observed values, drawn
    for each curve anew, are replaced by uniform draws from [-b, b], b the largest absolute value in all of Y.

    Parameters
    ----------
    Y : array of shape (n, m) or (n, m, p)
        Curves, NaN where not observed; gaps stay.
    fraction : float
        Share of the curves, between 0 and 1: the paper's tau.
    points_fraction : float, default=0.1
        Share of their observed values, between 0 and 1: the paper's xi.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    Y : array of the shape of Y
        A corrupted copy.
    changed : boolean array of the shape of Y
        Mask of the replaced values.

    References
    ----------
    - Lambert, Bouche, Szabó and d'Alché-Buc (2022). Functional output regression with infimal convolution: exploring
      the Huber and epsilon-insensitive losses. ICML, section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import datasets
    >>> Y = np.ones((10, 20))
    >>> corrupted, changed = datasets.corrupt_points(Y, 0.5, points_fraction=0.1, random_state=0)
    >>> changed.sum(axis=1).tolist()
    [0, 2, 2, 0, 2, 0, 0, 0, 2, 2]
    """
    Y = _outputs(Y)
    rng = check_random_state(random_state)
    rows = _draw_indices(len(Y), fraction, "fraction", rng)
    changed = _draw_values(Y, rows, points_fraction, "points_fraction", rng)
    bound = np.nanmax(np.abs(Y)) if changed.any() else 0.0
    Y[changed] = rng.uniform(-bound, bound, size=changed.sum())
    return Y, changed


def drop_points(Y, fraction, *, random_state=None):
    """Remove a share of the values of each curve: they become NaN.

    In each curve, floor(fraction m_i) of its m_i observed values become NaN, drawn at random for each curve anew.

    Parameters
    ----------
    Y : array of shape (n, m) or (n, m, p)
        Curves, NaN where not observed.
    fraction : float
        Share of the values of each curve, between 0 and 1.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    Y : array of the shape of Y
        A copy with gaps.
    dropped : boolean array of the shape of Y
        Mask of the removed values.

    References
    ----------
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS, figure 2.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import datasets
    >>> Y, dropped = datasets.drop_points(np.ones((3, 10)), 0.4, random_state=0)
    >>> np.isnan(Y).sum(axis=1).tolist()
    [4, 4, 4]
    """
    Y = _outputs(Y)
    dropped = _draw_values(Y, np.arange(len(Y)), fraction, "fraction", check_random_state(random_state))
    Y[dropped] = np.nan
    return Y, dropped


def fill_gaps(Y, grid=None):
    """Replace NaN by linear interpolation between observed points; constant beyond the ends.

    Parameters
    ----------
    Y : array of shape (n, m)
        Curves; each row has at least one observed value.
    grid : array of shape (m,), default=None
        Increasing points; None for equal steps.

    Returns
    -------
    Y : array of shape (n, m)
        Curves without NaN.

    References
    ----------
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS, appendix C.2.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import datasets
    >>> datasets.fill_gaps([[np.nan, 1.0, np.nan, 3.0, np.nan]])
    array([[1., 1., 2., 3., 3.]])
    """
    Y = check_array(Y, dtype=np.float64, ensure_all_finite="allow-nan", input_name="Y")
    grid = np.arange(Y.shape[1]) if grid is None else np.asarray(grid, dtype=float)
    functions.check_grids((grid,), Y.shape[1:], "Y")
    empty = np.flatnonzero(np.isnan(Y).all(axis=1))
    if len(empty):
        raise ValueError(f"Y: row {empty[0]} has no observed value to interpolate; leave such rows out ({len(empty)})")
    return functions.fill_gaps(Y[:, :, None], (grid,))[:, :, 0]


def _outputs(Y, ndim=None):
    """A copy of Y as floats."""
    Y = check_array(Y, dtype=np.float64, copy=True, allow_nd=True, ensure_all_finite="allow-nan", input_name="Y")
    if ndim is not None and Y.ndim != ndim:
        raise ValueError(f"Y must have shape (n, m), one curve a sample, got {Y.shape}; corrupt the curves one by one")
    return Y


def _draw_indices(total, fraction, name, rng):
    """Indices (floor(fraction total),) drawn at random, in random order."""
    number = int(check_share(fraction, name) * total + 1e-9)  # in floating point, 0.29 * 100 < 29
    return rng.permutation(total)[:number]


def _draw_values(Y, rows, fraction, name, rng):
    """Mask of a random share of the observed values of each of the rows."""
    mask = np.zeros(Y.shape, dtype=bool)
    for row in rows:
        observed = np.flatnonzero(~np.isnan(Y[row]))
        mask[row].flat[observed[_draw_indices(len(observed), fraction, name, rng)]] = True
    return mask


def _mask(total, rows):
    mask = np.zeros(total, dtype=bool)
    mask[rows] = True
    return mask
