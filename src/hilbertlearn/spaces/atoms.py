"""Functions on the unit interval: objects that hold numbers and are called with points (p,)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.interpolate

from ..data.functions import atom_values, interpolate_rows

_DIGITS = 40  # binary digits of points at which wavelets are evaluated: a resolution of 1e-12; cost is linear in it


@dataclass(frozen=True)
class Atoms:
    """Functions on [0, 1]: a call with points (p,) returns values (n_atoms, p).

    ``scale_weights`` (n_atoms,) are the positive diagonal entries of the output operator B (Bouche et al. 2021, section
    3.4). ``around_mean`` means that the atoms span deviations from the mean curve, not the curves themselves.
    """

    function: Callable
    scale_weights: np.ndarray
    around_mean: bool = False

    def __call__(self, points):
        return self.function(np.clip(np.asarray(points, dtype=float), 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class TrigonometricFunctions:
    """Trigonometric functions by number: 0 is the constant, 2l - 1 the cosine and 2l the sine of frequency l."""

    order: np.ndarray

    def __call__(self, points):
        order = self.order[:, None]
        angles = 2 * np.pi * ((order + 1) // 2) * points
        return np.where(order == 0, 1.0, np.sqrt(2) * np.where(order % 2, np.cos(angles), np.sin(angles)))


@dataclass(frozen=True, eq=False)
class Splines:
    """All B-splines on the knots."""

    knots: np.ndarray
    degree: int

    def __call__(self, points):
        number = len(self.knots) - self.degree - 1
        return scipy.interpolate.BSpline(self.knots, np.eye(number), self.degree)(points).T


@dataclass(frozen=True, eq=False)
class Bumps:
    """B-splines on degree + 2 evenly spaced knots from start to start + width, zero outside."""

    starts: np.ndarray
    width: float
    degree: int

    def __call__(self, points):
        knots = np.linspace(0.0, 1.0, self.degree + 2)
        bump = scipy.interpolate.BSpline.basis_element(knots, extrapolate=False)
        return np.nan_to_num(bump((points - self.starts[:, None]) / self.width))


@dataclass(frozen=True, eq=False)
class Wavelets:
    """Scaling functions of scale 0, then wavelets of scales 0 ... level - 1, by the refinement equations

    ``φ_jk = Σ_l low[l - 2k] φ_(j+1)l`` and ``ψ_jk = Σ_l high[l - 2k] φ_(j+1)l`` from the finest scaling functions.
    """

    low: np.ndarray
    high: np.ndarray
    level: int

    def __call__(self, points):
        scaling = _scaling_functions(self.low, self.level, points)
        wavelets = []
        for j in reversed(range(self.level)):
            shift = translates(self.low, j + 1) - 2 * translates(self.low, j)[:, None]
            wavelets.append(_taps(self.high, shift) @ scaling)
            scaling = _taps(self.low, shift) @ scaling
        return np.concatenate([scaling, *reversed(wavelets)])


@dataclass(frozen=True, eq=False)
class LinearInterpolants:
    """Functions with values (n_atoms, m) on a grid (m,): linear between its points, constant beyond its ends."""

    grid: np.ndarray
    values: np.ndarray

    def __call__(self, points):
        return interpolate_rows(self.grid, self.values, points)


@dataclass(frozen=True, eq=False)
class Eigenfunctions:
    """``sum_m k(t, t_m) coef_mj`` at points t: Nystroem's extension of eigenvectors on a grid."""

    operator: Any  # with ``gram(points, others)``
    grid: np.ndarray
    coefficients: np.ndarray  # (m, n_atoms)

    def __call__(self, points):
        return self.coefficients.T @ self.operator.gram(self.grid, points)


@dataclass(frozen=True, eq=False)
class RescaledBasis:
    """The functions of a scikit-fda basis, its domain mapped to [0, 1], divided by sizes (n_atoms, 1)."""

    basis: Any
    sizes: Any

    def __call__(self, points):
        low, high = map(float, self.basis.domain_range[0])
        return atom_values(self.basis, np.clip(low + points * (high - low), low, high)) / self.sizes


@dataclass(frozen=True, eq=False)
class AtomUnion:
    """The atoms of several parts, one after the other."""

    parts: list

    def __call__(self, points):
        return np.concatenate([part(points) for part in self.parts])


@dataclass(frozen=True, eq=False)
class CallableAtoms:
    """A user's function ``points (p,) -> (n_atoms, p)`` with a check of its values."""

    function: Callable

    def __call__(self, points):
        values = np.asarray(self.function(points), dtype=float)
        if values.ndim != 2 or values.shape[1] != len(points):
            raise ValueError(
                f"basis: the callable must return one row an atom, at {len(points)} points values of shape "
                f"(n_atoms, {len(points)}), got shape {values.shape}"
            )
        if not np.isfinite(values).all():
            raise ValueError("basis: the callable returned NaN or infinity; atoms must be finite on all of [0, 1]")
        return values


def translates(low, j):
    """Integers k such that ``f(2^j t - k)``, f supported on [0, len(low) - 1], is not zero on [0, 1)."""
    return np.arange(2 - len(low), 2**j)


def _taps(taps, index):
    """Filter coefficients at any indices: 0 outside the filter."""
    inside = (index >= 0) & (index < len(taps))
    return np.where(inside, taps[np.where(inside, index, 0)], 0.0)


def _scaling_functions(low, j, points):
    """``2^(j/2) φ(2^j t - k)`` at points t for all translates k, by the algorithm of Daubechies and Lagarias.

    The vector ``v(x) = (φ(x), φ(x + 1), ...)``, x in [0, 1), obeys ``v(x) = T_b v(2x - b)`` with b the first binary
    digit of x, so it is a product of matrices applied to ``v(0)``, which is exact for dyadic x.
    """
    size = len(low) - 1
    i, k = np.indices((size, size))
    zero, one = (np.sqrt(2) * _taps(low, 2 * i - k + b) for b in (0, 1))
    start = np.linalg.lstsq(np.vstack([zero - np.eye(size), np.ones(size)]), np.eye(size + 1)[-1], rcond=None)[0]

    cell, x = np.divmod(2.0**j * np.minimum(points, np.nextafter(1.0, 0.0)), 1.0)  # at 1, the limit from the left
    digits = (x * 2.0**_DIGITS).astype(np.int64)
    values = np.tile(start, (len(points), 1))
    for position in range(_DIGITS):
        last = (digits >> position & 1).astype(bool)[:, None]
        values = np.where(last, values @ one.T, values @ zero.T)

    out = np.zeros((2**j + size - 1, len(points)))
    rows = cell.astype(int)[:, None] + np.arange(size)[::-1]
    out[rows, np.arange(len(points))[:, None]] = 2 ** (j / 2) * values
    return out
