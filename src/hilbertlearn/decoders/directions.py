"""Directions: minimise a weighted sum of squared diffusion distances on the circle or on the sphere.

As ``k(z, z)`` is constant, this maximises ``sum_i w_i k(z, y_i)``. Weights may be negative.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import chebyshev

from .._utils.blocks import slices
from .candidates import best_of_starts, block_size, select_spread
from .scalar import find_basins

_BLOCK = 2**21  # objectives of a block of queries, 16 MB
_STARTS = 3  # starts of the search on the sphere, outputs or antipodes, besides the mean direction


def decode_directions(W, Y, loss):
    """Angles (m,) from weights W (m, n) of angles Y (n,), or unit vectors (m, d) from unit vectors (n, d)."""
    return decode_circle(W, Y, loss) if np.ndim(Y) == 1 else decode_sphere(W, Y, loss)


def decode_circle(W, Y, loss):
    """Angles (m,) in [-pi, pi) under ``loss.fourier()``: global maxima of trigonometric polynomials.

    The objective is ``sum_l p_l cos(l z) + q_l sin(l z)``. A fast Fourier transform computes it on a grid that is finer
    than its shortest wave. Newton's method refines every maximum that may be the highest.
    """
    W, Y = np.asarray(W, dtype=float), np.asarray(Y, dtype=float)
    a = loss.fourier()
    degrees = np.arange(len(a))
    waves = np.exp(-1j * np.outer(Y, degrees)) * a
    size = 2 ** int(np.ceil(np.log2(4 * len(a))))
    grid = 2 * np.pi / size * np.arange(-1, size + 1)  # closed by one point on either side
    out = np.empty(len(W))
    for rows in slices(len(W), block_size(_BLOCK) // size):
        spectrum = W[rows] @ waves.real + 1j * (W[rows] @ waves.imag)
        spectrum[:, 1:] /= 2
        values = np.fft.irfft(spectrum, n=size, axis=1) * size
        query, _, z = find_basins(-np.concatenate([values[:, -1:], values, values[:, :1]], axis=1), grid)
        z, height = _refine_angles(spectrum[query], z, degrees, 2 * np.pi / size)
        order = np.lexsort((-height, query))
        out[rows] = z[order[np.flatnonzero(np.diff(query[order], prepend=-1))]]
    return np.remainder(out + np.pi, 2 * np.pi) - np.pi


def _refine_angles(spectrum, z, degrees, spacing):
    """Newton's method on the trigonometric polynomials spectrum (p, l) from z (p,): angles and objectives.

    Steps are confined to the grid's spacing and go uphill also where the polynomial is convex.
    """
    for step_number in range(9):
        terms = spectrum * np.exp(1j * np.outer(z, degrees))
        if step_number == 8:
            break
        slope, curvature = -2 * (terms.imag @ degrees), -2 * (terms.real @ degrees**2)
        size = np.abs(curvature)
        step = np.where(size > 0, slope / np.where(size > 0, size, 1.0), 0.0)
        z = z + np.clip(step, -spacing / 2, spacing / 2)
    return z, 2 * terms.real.sum(axis=1) - terms[:, 0].real


def decode_sphere(W, Y, loss):
    """Unit vectors (m, d) under ``loss.zonal(d)``: the best of several Riemannian Newton ascents for each query.

    Starts are the mean direction, and good training outputs or their antipodes that are far from each other.
    """
    W, Y = np.asarray(W, dtype=float), np.asarray(Y, dtype=float)
    kernel_series = loss.zonal(Y.shape[1])
    series = [chebyshev.chebder(kernel_series, order) for order in range(3)]
    anchors = Y[:: -(-len(Y) // 1000)]  # at most about 1000 outputs, evenly spaced
    anchors = np.concatenate([anchors, -anchors])
    close = anchors @ anchors.T > np.cos(min(2 * np.sqrt(loss.t), np.pi / 2))
    kernel = chebyshev.chebval(np.clip(anchors @ Y.T, -1, 1), series[0])
    out = np.empty((len(W), Y.shape[1]))
    for rows in slices(len(W), block_size(_BLOCK) // (8 * max(len(Y), len(anchors)))):
        starts = anchors[select_spread(W[rows] @ kernel.T, close, _STARTS)]
        mean = _unit(W[rows] @ Y, default=starts[:, 0])
        starts = np.concatenate([starts, mean[:, None]], axis=1)
        out[rows] = best_of_starts(W[rows], starts, lambda W, Z: _ascend(W, Z, Y, series))
    return out


def _ascend(W, Z, Y, series):
    """Local maxima on the sphere from Z (p, d), one for each row of W (p, n), and their objectives (p,).

    Newton steps in the tangent space with the absolute values of the Hessian's eigenvalues, so that they go uphill, and
    in a radius that shrinks when a step fails.
    """
    Z = Z.copy()
    value, step = _newton_step(W, Z, Y, series)
    radius = np.full(len(Z), 0.5)
    active = np.arange(len(Z))
    for _ in range(100):
        length = np.linalg.norm(step[active], axis=1)
        unfinished = np.minimum(length, radius[active]) > 1e-10
        active, length = active[unfinished], length[unfinished]
        if not len(active):
            break
        factor = np.minimum(1.0, radius[active] / length)
        trial = _unit(Z[active] + step[active] * factor[:, None], default=Z[active])
        new_value, new_step = _newton_step(W[active], trial, Y, series)
        better = new_value > value[active]
        radius[active] *= np.where(better, 1.5, 0.25)
        improved = active[better]
        Z[improved], value[improved], step[improved] = trial[better], new_value[better], new_step[better]
    return Z, value


def _newton_step(W, Z, Y, series):
    """Objectives (p,) at Z (p, d), and tangent steps (p, d) uphill."""
    d = Y.shape[1]
    cosines = np.clip(Z @ Y.T, -1, 1)
    value, first, second = (W * chebyshev.chebval(cosines, c) for c in series)
    gradient = first @ Y
    along = np.einsum("ij,ij->i", gradient, Z)
    tangent = gradient - along[:, None] * Z
    hessian = (second @ (Y[:, :, None] * Y[:, None, :]).reshape(len(Y), -1)).reshape(-1, d, d)
    project = np.eye(d) - Z[:, :, None] * Z[:, None, :]
    values, vectors = np.linalg.eigh(project @ hessian @ project - along[:, None, None] * np.eye(d))
    size = np.maximum(np.abs(values), 1e-10 * np.abs(values).max(axis=1, keepdims=True) + np.finfo(float).tiny)
    step = np.einsum("pij,pj->pi", vectors, np.einsum("pij,pi->pj", vectors, tangent) / size)
    return value.sum(axis=1), step - np.einsum("ij,ij->i", step, Z)[:, None] * Z


def _unit(vectors, default):
    """Rows of vectors (p, d) divided by their norms; rows of `default` where the norm vanishes."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(norms > 1e-12, vectors / np.where(norms > 1e-12, norms, 1.0), default)
