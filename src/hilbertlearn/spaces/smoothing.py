"""Smoothing splines of noisy mean curves on a grid, and interpolation of means where no curve is observed."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

from .._utils.statistics import weighted_quantile
from ..data.functions import quadrature

_PER_DECADE = 4  # penalties evaluated in each power of ten; twice as many take twice the time
_MAX_PENALTY = 1.0  # largest penalty on the unit interval; larger ones give straight lines
_MIN_WEIGHT = 1e-6  # smallest weight of a point, relative to the mean weight; 0 would divide by zero
_PROBES = 200  # random sign vectors that estimate the diagonal of a smoother; fewer points are computed exactly
_NEIGHBOURS = 5  # points of a fourth difference
_MEDIAN_SQUARE = 0.4549  # median of the square of a standard normal variable
_TENSION = 10.0  # inverse length on the unit interval: longer gaps become straight lines; gamma of operators.Integral()


def smooth_rows(values, points, weights, penalty):
    """Splines g: ``min sum_j w_j (values_j - g(t_j))^2 + penalty int g''^2`` for values (..., m) at points t (m,).

    Reinsch's algorithm (Green & Silverman 1994, section 2.3.3): a system with five diagonals in the second derivatives.
    """
    m = len(points)
    if not penalty or m < 3:
        return values
    h, rows = np.diff(points), values.reshape(-1, m)
    inverse = 1 / np.maximum(weights, _MIN_WEIGHT * np.mean(weights))
    # second differences: row i of Q' has entries q[:, i] at points i, i + 1, i + 2
    q = np.stack([1 / h[:-1], -1 / h[:-1] - 1 / h[1:], 1 / h[1:]])
    w = np.stack([inverse[:-2], inverse[1:-1], inverse[2:]])
    bands = np.zeros((3, m - 2))  # the upper ones of R + penalty Q' W^-1 Q
    bands[2] = (h[:-1] + h[1:]) / 3 + penalty * (q**2 * w).sum(axis=0)
    bands[1, 1:] = h[1:-1] / 6 + penalty * (q[1:, :-1] * w[1:, :-1] * q[:-1, 1:]).sum(axis=0)
    bands[0, 2:] = penalty * q[2, :-2] * w[2, :-2] * q[0, 2:]
    curvatures = rows[:, :-2] * q[0] + rows[:, 1:-1] * q[1] + rows[:, 2:] * q[2]
    curvatures = scipy.linalg.solveh_banded(
        bands, curvatures.T, overwrite_ab=True, overwrite_b=True, check_finite=False
    ).T
    changes = np.zeros_like(rows)
    changes[:, :-2] += curvatures * q[0]
    changes[:, 1:-1] += curvatures * q[1]
    changes[:, 2:] += curvatures * q[2]
    return (rows - penalty * inverse * changes).reshape(values.shape)


def interpolate_mean(values, axes):
    """Values (n, m_1, ..., m_k, p) with NaN, at the same points in all rows, interpolated; functions of NaN alone stay.

    A spline in tension minimises ``int g''^2 + tension^2 int g'^2``, summed over the axes, each (m_k,) points of the
    unit interval. It bridges short gaps as a cubic spline and long gaps as a line. Beyond the last value its slope
    decays over the length 1 / tension, so it is bounded; a single value gives a constant. It is linear in the values.
    """
    missing = np.isnan(values).any(axis=0)
    if not missing.any():
        return values
    out, energy = values.copy(), _energy_matrix(axes)
    lines, gaps = out.reshape(len(out), -1, out.shape[-1]), missing.reshape(-1, out.shape[-1])
    for curve, missing_points in enumerate(gaps.T):
        if not missing_points.any() or missing_points.all():
            continue
        unknown, known = np.flatnonzero(missing_points), np.flatnonzero(~missing_points)
        right_side = energy[unknown][:, known] @ lines[:, known, curve].T
        filled = scipy.sparse.linalg.splu(energy[unknown][:, unknown].tocsc()).solve(-np.asarray(right_side))
        lines[:, unknown, curve] = filled.T
    return out


def _energy_matrix(axes):
    """Sparse matrix of the energy of ``interpolate_mean`` over the points of a product grid."""
    masses = [scipy.sparse.diags(quadrature(points)) for points in axes]
    total = None
    for k, points in enumerate(axes):
        parts = [*masses[:k], _energy_along(points), *masses[k + 1 :]]
        axis_energy = parts[0]
        for part in parts[1:]:
            axis_energy = scipy.sparse.kron(axis_energy, part)
        total = axis_energy if total is None else total + axis_energy
    return scipy.sparse.csr_matrix(total)


def _energy_along(points):
    """Sparse matrix (m, m) of the energy of functions at points (m,), by divided differences."""
    m, h = len(points), np.diff(points)
    slopes = scipy.sparse.diags([-1 / h, 1 / h], offsets=[0, 1], shape=(m - 1, m))
    energy = slopes.T @ scipy.sparse.diags(_TENSION**2 * h) @ slopes
    if m > 2:
        bends = slopes.tocsr()[1:] - slopes.tocsr()[:-1]
        energy = energy + bends.T @ scipy.sparse.diags(2 / (h[:-1] + h[1:])) @ bends
    return energy


def best_penalty(mean, variances, smooth, quadrature, min_penalty):
    """The penalty with the smallest unbiased estimate of the error of a smoothed mean; 0 for no smoothing.

    With the smoother S and independent errors of given variances v, ``||mean - S mean||^2 + 2 sum_j q_j S_jj v_j`` is
    the squared error of ``S mean`` up to a constant (Mallows 1973). Smoothing changes the mean within the noise only.

    Parameters
    ----------
    mean, variances, quadrature : arrays of shape (d,)
        The mean, the variances of its errors, and the quadrature weights of the norm.
    smooth : callable
        Linear function of rows (k, d) and a penalty.
    min_penalty : float
        The smallest penalty.
    """
    if not variances.any():
        return 0.0
    d = len(mean)
    probes = np.eye(d) if d <= _PROBES else np.random.default_rng(0).choice([-1.0, 1.0], size=(_PROBES, d))
    share = 1.0 if d <= _PROBES else 1 / _PROBES  # the mean of z_j (S z)_j over random signs z is S_jj
    penalties = np.geomspace(min_penalty, _MAX_PENALTY, round(_PER_DECADE * np.log10(_MAX_PENALTY / min_penalty)) + 1)
    errors = [2 * quadrature @ variances]
    for penalty in penalties:
        rows = smooth(np.vstack([probes, mean]), penalty)
        diagonal = share * np.sum(probes * rows[:-1], axis=0)
        residual = mean - rows[-1]
        errors.append(quadrature @ residual**2 + 2 * quadrature @ (diagonal * variances))
    return float([0.0, *penalties][int(np.argmin(errors))])


def noise_variance(values, points, weights):
    """Variance of independent errors of values (n, ..., m) at points (m,), NaN where not observed; 0 if unknown.

    Computed from fourth divided differences, which are small for smooth curves. They are scaled to be sums of
    values whose squared coefficients sum to one (Gasser, Sroka & Jennen-Steinmetz 1986, with more neighbours). Their
    median is used for every loss: it ignores gross errors, and a robust loss is continuous in its limit, the squared
    loss.

    weights : (n,) of samples
    """
    m = len(points)
    if m < _NEIGHBOURS:
        return 0.0
    index = np.arange(m - _NEIGHBOURS + 1)[:, None] + np.arange(_NEIGHBOURS)
    neighbours = points[index]  # (m - 4, 5)
    distances = neighbours[:, :, None] - neighbours[:, None, :] + np.eye(_NEIGHBOURS)
    coefficients = 1 / distances.prod(axis=2)  # of divided differences
    coefficients /= np.linalg.norm(coefficients, axis=1, keepdims=True)
    squares = np.einsum("...jk,jk->...j", values[..., index], coefficients) ** 2
    mass = np.broadcast_to(weights.reshape(-1, *[1] * (squares.ndim - 1)), squares.shape)
    is_observed = np.isfinite(squares) & (mass > 0)
    if not is_observed.any():
        return 0.0
    return weighted_quantile(squares[is_observed], 0.5, mass[is_observed]) / _MEDIAN_SQUARE


def mean_variances(deviations, weights, noise):
    """Variances (d,) of independent errors in the mean of the observed ones of n curves, from deviations (n, d).

    An error has variance `noise` at each point. Where some curves are not observed, the mean also differs from its
    neighbours because other curves contribute to it. Repeated curves count as one curve with the sum of their weights.
    """
    used = np.flatnonzero((weights > 0) & np.isfinite(deviations).any(axis=1))
    if not len(used):
        return np.zeros(deviations.shape[1])
    filled = np.nan_to_num(deviations[used], nan=np.inf)  # NaN is not equal to itself
    _, first, number = np.unique(filled, axis=0, return_index=True, return_inverse=True)
    totals, rows = np.bincount(number.ravel(), weights[used]), deviations[used[first]]
    observed = np.isfinite(rows)
    mass = totals @ observed
    is_observed = mass > 0
    # variance of the mean over variance of one curve: 1 / n for n equal weights
    share = np.divide(totals**2 @ observed, mass**2, out=np.zeros_like(mass), where=is_observed)
    between = np.divide(totals @ np.where(observed, rows, 0.0) ** 2, mass, out=np.zeros_like(mass), where=is_observed)
    return share * noise + np.maximum(share - totals @ totals / totals.sum() ** 2, 0.0) * between
