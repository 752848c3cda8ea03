"""The space of functions that a setting becomes when the training outputs are known."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from .._utils.statistics import mean_rows
from .._utils.validation import check_choice, listed
from ..data.frames import points_of
from ..data.functions import (
    IrregularFunctions,
    Layout,
    check_inside,
    fill_gaps,
    interpolate_curves,
    interpolate_rows,
    read_functions,
    read_training,
    resample_curves,
    same_points,
    scattered_quadrature,
    to_unit,
)
from ..operators import Integral, Kronecker
from .base import Space, unobserved_remedy
from .sampling import Sampling, block_sampling
from .settings import as_space, space_of_basis
from .smoothing import best_penalty, interpolate_mean, mean_variances, noise_variance, smooth_rows

_ROUNDING = 1e-12
AVERAGES = ("projected", "projected_trapezoid")  # inner products by averages over the points, plain or by quadrature


@dataclass(frozen=True)
class FunctionSpace(Space):
    """Coordinates of functions, a tensor product over their variables and the curves of a sample.

    Coordinates (n, d) run over the axes in order, the curves last. Where a basis meets functions that are not known on
    its whole grid, ``encode`` gives the observed values instead and ``sampling`` the map from coordinates to them: that
    is the loss ``1/M_i sum_m (y_im - f(t_im))^2`` itself.
    """

    axes: tuple  # of GridAxis or BasisAxis, one a variable
    grids: tuple[np.ndarray, ...]  # in the units of the domain
    domain: tuple[tuple[float, float], ...]
    n_curves: int
    layout: Layout
    grid: object = None  # as the user gave it
    irregular: str = "exact"  # or one of ``AVERAGES``: what functions that are not known everywhere are
    sampled: bool = False  # trained on observed values
    given_grid: bool = False  # whether the user gave the grids
    mean: np.ndarray | None = None  # (m_1, ..., m_k, p) of the training functions where they were observed
    origin: np.ndarray | None = None  # (m_1, ..., m_k, p) what combinations of the basis are added to
    roughness: float = 0.0  # penalty of the spline that means of point values become

    @property
    def projected(self):
        """Whether functions are known by averaged projections."""
        return self.irregular in AVERAGES

    @property
    def sizes(self):
        return (*(axis.size for axis in self.axes), self.n_curves)

    @property
    def pointwise(self):
        return all(axis.pointwise for axis in self.axes) and not self.sampled

    @property
    def measure(self):
        """Quadrature weights (d,) of point values, one for each curve of a sample."""
        if not self.pointwise:
            return None
        return np.repeat(self._point_weights, self.n_curves)

    @property
    def _point_weights(self):
        """Quadrature weights of the points of the grid."""
        return reduce(np.multiply.outer, (axis.quadrature for axis in self.axes)).ravel()

    # ---------------------------------------------------------------- outputs to coordinates

    def encode(self, y):
        """Coordinates (n, d), or observed values (n, m), NaN where there is none."""
        data = self.read(y)
        if self.projected and not all(axis.pointwise for axis in self.axes):
            return self._averages(data)
        if not self._partial(data) and not self.sampled:
            return self._coordinates(data.values)
        return _padded([values for _, values in self._observed(data)])

    def _averages(self, data):
        """Averages (n, d) of values times basis functions over the observed points: Bouche et al. 2021, equation 13."""
        if isinstance(data, IrregularFunctions):
            out = np.empty((len(data), self._d))
            for row, (B, values) in zip(out, self._observed(data), strict=True):
                seen = B.reshape(len(values), self._d // self.n_curves, self.n_curves).any(axis=(0, 1))
                row[:] = B.T @ values
                row.reshape(-1, self.n_curves)[:, ~seen] = np.nan
            return out
        weights = self._point_weights if self.irregular == "projected_trapezoid" else self._point_weights > 0
        values, points = data.values - self._origin, tuple(range(1, data.values.ndim - 1))
        share = weights.reshape(*values.shape[1:-1], 1) * np.isfinite(values)
        total = share.sum(axis=points, keepdims=True)
        share = share / np.where(total > 0, total, np.nan)  # a curve that is not seen has no coordinates
        sums = [lambda rows, axis=axis: rows @ axis.grid_values.T for axis in self.axes]
        return _mapped(np.nan_to_num(values) * share, sums).reshape(len(values), self._d)

    def sampling(self, y) -> Sampling | None:
        if not self.sampled:
            return None
        return block_sampling([B for B, _ in self._observed(self.read(y))], self._d)

    def outside_norms(self, y):
        """Norms (n,) of what curves have outside the basis, which the loss sees beside their projections.

        None on a grid, for projected residuals, and where values are what the loss is of.
        """
        if self.projected or self.sampled or all(axis.pointwise for axis in self.axes):
            return None
        data = self.read(y)
        return None if self._partial(data) else self._outside(data.values)

    def outside_values(self, y):
        """What curves have outside the basis, values (n, m_1, ..., m_k, p) on the grid; None as for ``outside``."""
        if self.sampled or all(axis.pointwise for axis in self.axes):
            return None
        data = self.read(y)
        return None if self._partial(data) else data.values - self._origin - self.evaluate_on_grid(self.encode(y))

    def filled_share(self, y):
        data = self.read(y)
        return 1.0 if isinstance(data, IrregularFunctions) else float(np.isnan(data.values).mean())

    def filled_outside_norms(self, y):
        if self.projected or all(axis.pointwise for axis in self.axes):
            return None
        return self._outside(self._complete(y))

    def _outside(self, values):
        """Norms (n,) of what values (n, m_1, ..., m_k, p) have outside the basis; None where they have nothing."""
        values = values - self._origin
        inside = self._coordinates(values)
        squares = (values**2).reshape(len(values), -1, self.n_curves).sum(axis=2) @ self._point_weights
        left = squares - np.einsum("ij,ij->i", inside, inside)
        outside = np.sqrt(np.where(left > _ROUNDING * squares, left, 0.0))
        return outside if np.nansum(outside) > 0 else None

    def residuals(self, y, coordinates):
        data = self.read(y)
        if self.projected or not (self.sampled or self._partial(data)):
            return self.encode(y) - coordinates
        observed = zip(self._observed(data), coordinates, strict=True)
        return _padded([values - _combined(B, own) for (B, values), own in observed])

    def encode_filled(self, y):
        """Coordinates (n, d) with gaps filled by linear interpolation along each curve; NaN for curves not seen."""
        return self._coordinates(self._complete(y))

    def _complete(self, y):
        """Values (n, m_1, ..., m_k, p) on the training grid with gaps filled."""
        data = self.read(y)
        if isinstance(data, IrregularFunctions):
            return interpolate_curves(data, self.grids[0])
        return fill_gaps(data.values, data.axes)

    def smooth_means(self, means):
        """Means (n, d) as splines on a grid, also at points without any; in a basis they are as smooth as it is."""
        if not all(axis.pointwise for axis in self.axes) or not (self.roughness or np.isnan(means).any()):
            return means
        whole = self._interpolated(self.evaluate_on_grid(means))
        return self._coordinates(_splines(whole, self.axes, self.roughness))

    def _interpolated(self, means):
        """Means (n, m_1, ..., m_k, p) on the grid, NaN interpolated."""
        return interpolate_mean(means, [axis.points for axis in self.axes])

    def unobserved_mask(self, y):
        data = self.read(y)
        if not isinstance(data, IrregularFunctions):
            return np.isnan(data.values).all(axis=0)
        curves = [np.isfinite(values.reshape(-1, self.n_curves)).any(axis=0) for values in data.values]
        return np.broadcast_to(~np.any(curves, axis=0), (*map(len, self.grids), self.n_curves))

    def unobserved_outputs(self, columns):
        mask = columns.reshape(self.sizes)
        if all(axis.pointwise for axis in self.axes):
            return mask
        points = tuple(range(mask.ndim - 1))
        return np.broadcast_to(mask.all(axis=points), (*map(len, self.grids), self.n_curves))

    def unobserved_message(self, mask, names, center):
        never, said = mask.all(axis=tuple(range(mask.ndim - 1))), []
        if never.any():
            said.append(f"curve {listed(np.flatnonzero(never))} has no observed value, {unobserved_remedy(center)}")
        points = [self._place(index, names) for index in np.argwhere(mask & ~never)]
        if points:
            how = f"deviations by the operator from {'an interpolated mean curve' if center else '0 (center=False)'}"
            if self.projected and not all(axis.pointwise for axis in self.axes):
                how = f"of averages that have no part of them; set irregular='exact' in place of {self.irregular!r}"
            said.append(f"no curve was observed at {listed(points)}, predictions there are {how}")
        return "; ".join(said)

    def _place(self, index, names):
        """What a value of the grid is called: by its column of a data frame, or its point, and by its curve."""
        *at, curve = index
        points = [f"{grid[i]:g}" for grid, i in zip(self.grids, at, strict=True)]
        if names is not None and len(at) == 1 and len(names) == len(self.grids[0]):
            points = [repr(names[at[0]])]
        point = points[0] if len(points) == 1 else f"({', '.join(points)})"
        return point if self.n_curves == 1 else f"{point} of curve {curve}"

    def read(self, y):
        """The functions behind y, checked to live where the training ones do."""
        own = isinstance(y, IrregularFunctions) or (self.layout.named_points and points_of(y) is not None)
        data, _ = read_functions(y, None if own else self.grid, origins=self.layout.origins)
        if isinstance(data, IrregularFunctions):
            curves, low_high = data.n_curves, (data.domain,)
            if len(self.axes) != 1:
                raise ValueError(
                    f"y must be functions of {len(self.axes)} variables, as in training; got irregular ones"
                )
            for points in data.points:
                check_inside(points, self.domain[0], "points of y")
        else:
            curves, low_high = data.values.shape[-1], data.domain
            if len(data.axes) != len(self.axes) or not all(map(same_points, data.axes, self.grids)):
                raise ValueError(
                    "y must be given on the grid of the training outputs; use score or predict(X, grid) for another"
                )
        if curves != self.n_curves:
            raise ValueError(f"y must have {self.n_curves} curves a sample, as in training, got {curves}")
        if not all(map(same_points, low_high, self.domain)):
            raise ValueError(f"y must have the domain {self.domain} of the training outputs, got {low_high}")
        return data

    def _partial(self, data):
        """Whether coordinates are more than was observed."""
        if isinstance(data, IrregularFunctions):
            return True
        if all(axis.pointwise for axis in self.axes):
            return False
        missing = np.isnan(data.values).reshape(len(data), -1)
        return bool((missing.any(axis=1) & ~missing.all(axis=1)).any())  # samples without any value are left out

    @property
    def _d(self):
        return math.prod(self.sizes)

    @property
    def _origin(self):
        return 0.0 if self.origin is None else self.origin

    def _coordinates(self, values):
        """Coordinates (n, d) of values (n, m_1, ..., m_k, p)."""
        return _mapped(values, [axis.encode for axis in self.axes]).reshape(len(values), self._d)

    def _observed(self, data):
        """For each sample the map (m_i, d) from coordinates to its observed values, and these (m_i,).

        Both are scaled so that squares sum to the mean over the points of each curve, weighted by the quadrature on a
        common grid.
        """
        if not isinstance(data, IrregularFunctions):
            on_grid = np.asarray(Kronecker(axis.basis(axis.points) for axis in self.axes)).T
            curves = (data.values - self._origin).reshape(len(data), -1, self.n_curves)
            return [self._seen(on_grid, values, self._point_weights) for values in curves]
        cuts = np.cumsum([len(points) for points in data.points])[:-1]
        units = to_unit(np.concatenate(data.points) if len(data) else np.empty(0), self.domain[0])
        origin = np.broadcast_to(self.evaluate_origin((units,)), (len(units), self.n_curves))
        parts = zip(np.split(self.axes[0].basis(units).T, cuts), data.values, np.split(origin, cuts), strict=True)
        weighed = scattered_quadrature if self.irregular == "projected_trapezoid" else np.ones_like
        weights = [weighed(points) for points in data.points]
        return [
            self._seen(B, values.reshape(part.shape) - part, own)
            for (B, values, part), own in zip(parts, weights, strict=True)
        ]

    def observation_points(self, y):
        """For each sample the points (m_i, k) of its observed values, in the order of ``encode``, and roots (m_i,) of
        the weights that they are multiplied by there; k variables."""
        data = self.read(y)
        if isinstance(data, IrregularFunctions):
            weighed = scattered_quadrature if self.irregular == "projected_trapezoid" else np.ones_like
            given = [(p[:, None], v.reshape(len(p), -1), weighed(p)) for p, v in zip(data.points, data.values)]
        else:
            points = np.stack(np.meshgrid(*self.grids, indexing="ij"), axis=-1).reshape(-1, len(self.grids))
            curves = data.values.reshape(len(data), -1, self.n_curves)
            given = [(points, values, self._point_weights) for values in curves]
        found = []
        for points, values, weights in given:
            rows, root = _counted(values, weights)[::2]
            found.append((points[rows], root))
        return found

    def _seen(self, B, values, weights):
        """Map and values at the finite entries of values (m, p) that count, scaled by the roots of their weights."""
        rows, curves, root = _counted(values, weights)
        block = np.zeros((len(rows), B.shape[1], self.n_curves))
        block[np.arange(len(rows)), :, curves] = B[rows] * root[:, None]
        return block.reshape(len(rows), self._d), values[rows, curves] * root

    # ---------------------------------------------------------------- coordinates to outputs

    def decode(self, coordinates):
        """Functions on the training grid, in the container of the training outputs."""
        return self.layout.wrap_training_grid(
            self.evaluate_on_grid(coordinates) + self._origin, self.grids, self.domain
        )

    def decode_differences(self, coordinates):
        return self.layout.wrap_training_grid(self.evaluate_on_grid(coordinates), self.grids, self.domain)

    def evaluate_on_grid(self, coordinates):
        """Values (n, m_1, ..., m_k, p) of combinations of the basis."""
        return _mapped(coordinates.reshape(len(coordinates), *self.sizes), [axis.decode for axis in self.axes])

    def evaluate_origin(self, units):
        """Values of the origin on a product of unit grids; 0 if there is none."""
        return 0.0 if self.origin is None else self._between(self.origin, units)

    def evaluate_mean(self, units):
        """Values (p_1, ..., p_k, p) of the mean training function on a product of unit grids."""
        return self._between(self.mean, units)

    def _between(self, values, units):
        """Values (m_1, ..., m_k, p) on the training grid, interpolated linearly on a product of unit grids."""
        for k, (axis, points) in enumerate(zip(self.axes, units, strict=True)):
            lines = np.moveaxis(values, k, -1).reshape(-1, len(axis.points))
            at = interpolate_rows(axis.points, lines, points)
            values = np.moveaxis(at.reshape(*np.delete(values.shape, k), len(points)), -1, k)
        return values

    def to_unit_cube(self, grids):
        """Points of the unit cube, axis by axis, for grids in the units of the domain."""
        if len(grids) != len(self.domain):
            number = len(self.domain)
            raise ValueError(
                f"grid must have the points of {number} variable{'s' * (number > 1)}, as in training, got {len(grids)}"
                " arrays"
            )
        for points, domain in zip(grids, self.domain, strict=True):
            if not np.isfinite(points).all():
                raise ValueError(f"grid must be finite numbers, got {points!r}")
            check_inside(points, domain, "grid")
        return tuple(to_unit(points, domain) for points, domain in zip(grids, self.domain, strict=True))

    def basis(self, units):
        """Values of the basis functions on a product of unit grids: a matrix (d, number of points times curves)."""
        return Kronecker([*(axis.basis(u) for axis, u in zip(self.axes, units, strict=True)), self.n_curves])

    def evaluate_integral(self, operator: Integral, units):
        """As ``basis``, for functions in the range of an integral operator, before it is applied."""
        factors = (axis.evaluate_integral(operator.gram, u) for axis, u in zip(self.axes, units, strict=True))
        return Kronecker([*factors, self.n_curves])

    # ---------------------------------------------------------------- axis by axis

    def unfold(self, Y, k):
        """Coordinates Y (n, d) with axis k as columns, everything else as rows."""
        return np.moveaxis(Y.reshape(len(Y), *self.sizes), k + 1, -1).reshape(-1, self.sizes[k])

    def restrict_to_axis(self, k):
        """The space of functions of variable k alone."""
        return replace(self, axes=(self.axes[k],), grids=(self.grids[k],), domain=(self.domain[k],), n_curves=1)


def _counted(values, weights):
    """Rows and columns of the finite entries of values (m, p) that count, and the roots of their weights."""
    rows, curves = np.nonzero(np.isfinite(values) & (weights > 0)[:, None])
    return rows, curves, np.sqrt(weights[rows] / np.bincount(curves, weights[rows])[curves])


def _combined(B, coordinates):
    """``B @ coordinates``, NaN where B takes a coordinate that is."""
    unknown = np.isnan(coordinates)
    values = B @ np.where(unknown, 0.0, coordinates)
    return np.where((B[:, unknown] != 0).any(axis=1), np.nan, values)


def _mapped(values, maps):
    """Values (n, m_1, ..., m_k, p) after maps of the last axis, one for each of the axes m_1 ... m_k."""
    for k, change in enumerate(maps, start=1):
        values = np.moveaxis(change(np.moveaxis(values, k, -1)), -1, k)
    return values


def _splines(values, axes, penalty):
    """Values (n, m_1, ..., m_k, p) smoothed along each axis."""
    return _mapped(values, [lambda rows, a=axis: smooth_rows(rows, a.points, a.quadrature, penalty) for axis in axes])


def _roughness(values, weights, middle, space):
    """The penalty of the spline that the middle (1, m_1, ..., p) of training values (n, m_1, ..., p) is to become."""
    shape = values.shape[1:]
    deviations = values - middle
    lines = [(np.moveaxis(deviations, k, -1), axis.points) for k, axis in enumerate(space.axes, start=1)]
    noise = min(noise_variance(rows, points, weights) for rows, points in lines)

    def splines(rows, penalty):
        return _splines(rows.reshape(-1, *shape), space.axes, penalty).reshape(rows.shape)

    measure = np.repeat(space._point_weights, space.n_curves)
    variances = mean_variances(deviations.reshape(len(values), -1), weights, noise)
    finest = (math.pi * max(shape[:-1])) ** -4.0  # bends from point to point remain
    return best_penalty(np.nan_to_num(middle).ravel(), variances, splines, measure, finest)


def _padded(rows):
    """Rows of different lengths as a matrix (n, m), NaN beyond their ends."""
    out = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for line, row in zip(out, rows, strict=True):
        line[: len(row)] = row
    return out


def function_space(
    setting, y, *, grid=None, irregular="exact", sample_weight=None, centre=None, smooth=False
) -> FunctionSpace:
    """The space that a setting becomes for training outputs y; weights (n,) count where it learns from them.

    centre : function of curves (n, d), weights (n,) and a measure (d,) that gives the one (d,) whose part outside the
        basis is the origin, for a basis of deviations from it
    smooth : whether the centre of point values is to be smoothed; it takes a centre
    """
    given_grid = grid is not None
    projected = check_choice(irregular, "irregular", ("exact", *AVERAGES)) in AVERAGES
    read = read_training(y, grid)
    data, layout = read.data, read.layout
    if layout.basis is None:
        setting = as_space(setting)
    else:  # there are no points to average over
        setting, irregular = space_of_basis(setting, layout.basis), AVERAGES[-1] if projected else irregular
    if not len(data):
        raise ValueError("y has no curve; give at least one")
    if isinstance(data, IrregularFunctions):
        curves, grid = resample_curves(data, grid, "the prediction"), None
        check_inside(curves.axes[0], data.domain, "grid")
    else:
        curves = data
    values, grids, domain = curves.values, curves.axes, curves.domain
    weights = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    axes = []
    for k, (points, low_high) in enumerate(zip(grids, domain, strict=True), start=1):
        along = np.moveaxis(values, k, -1).reshape(-1, values.shape[k])
        axes.append(setting.axis(to_unit(points, low_high), along, np.repeat(weights, len(along) // len(values))))
    flat = values.reshape(len(values), -1)
    observed = weights @ np.isfinite(flat) > 0
    mean = np.where(observed, mean_rows(flat, weights), np.nan).reshape(1, *values.shape[1:])
    space = FunctionSpace(
        tuple(axes),
        grids,
        domain,
        values.shape[-1],
        layout,
        grids if layout.named_points else grid,
        irregular=irregular,
        mean=interpolate_mean(mean, [axis.points for axis in axes])[0],
        given_grid=given_grid,
    )
    if projected and isinstance(data, IrregularFunctions) and space.pointwise:
        raise ValueError(
            f"irregular={irregular!r} averages over a basis, which space='grid' has not; use spaces.Fourier()"
        )
    measure = np.repeat(space._point_weights, space.n_curves)
    around_mean = centre is not None and any(axis.around_mean for axis in axes)
    smooth = smooth and (around_mean or space.pointwise)
    if around_mean or smooth:
        middle = space._interpolated(centre(flat, weights, measure).reshape(1, *values.shape[1:]))
    if smooth:
        space = replace(space, roughness=_roughness(values, weights, middle, space))
    if around_mean:
        whole = _splines(middle, axes, space.roughness)
        outside = np.nan_to_num(whole - space.evaluate_on_grid(space._coordinates(whole)))[
            0
        ]  # NaN of a curve that is never seen
        if np.abs(outside).max(initial=0.0) > _ROUNDING * np.nanmax(np.abs(whole), initial=0.0):
            space = replace(space, origin=outside)
    return replace(space, sampled=space._partial(data) and not projected)
