"""The space of functions, created from a setting and the training outputs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from .._utils.statistics import mean_rows
from .._utils.validation import check_choice, join_items
from ..data.frames import points_of
from ..data.functions import (
    GridFunctions,
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

_ROUNDING = 1e-12  # squared norms below this share of the whole are rounding errors
AVERAGES = ("projected", "projected_trapezoid")  # inner products as plain means over points, or by quadrature


@dataclass(frozen=True)
class FunctionSpace(Space):
    """Coordinates of functions: a tensor product over the variables and the curves of a sample.

    Coordinates (n, d) run over the axes in order, the curves last. In a basis, functions that are not observed on the
    whole grid have no coordinates: ``encode`` then returns the observed values, and ``sampling`` the map from
    coordinates to them. The squared loss is then exactly ``1/M_i sum_m (y_im - f(t_im))^2``.
    """

    axes: tuple  # a GridAxis or BasisAxis for each variable
    grids: tuple[np.ndarray, ...]  # in units of the domain
    domain: tuple[tuple[float, float], ...]
    n_curves: int
    layout: Layout
    grid: object = None  # the setting of the user
    irregular: str = "exact"  # or one of AVERAGES: treatment of functions with gaps or irregular points
    sampled: bool = False  # whether ``encode`` returns observed values
    has_user_grid: bool = False  # whether the grids are a setting of the user
    mean: np.ndarray | None = None  # (m_1, ..., m_k, p) mean of the observed training values
    origin: np.ndarray | None = None  # (m_1, ..., m_k, p) function to which combinations of the basis are added
    roughness: float = 0.0  # penalty of the spline that smooths means of point values

    @property
    def projected(self):
        """Whether coordinates are averaged projections."""
        return self.irregular in AVERAGES

    @property
    def sizes(self):
        return (*(axis.size for axis in self.axes), self.n_curves)

    @property
    def is_grid(self):
        """Whether coordinates are point values on every axis."""
        return all(axis.pointwise for axis in self.axes)

    @property
    def pointwise(self):
        return self.is_grid and not self.sampled

    @property
    def measure(self):
        """Quadrature weights (d,) of point values, repeated for each curve of a sample; None in a basis."""
        if not self.pointwise:
            return None
        return np.repeat(self._point_weights, self.n_curves)

    @property
    def _point_weights(self):
        """Quadrature weights of the points of the grid."""
        return reduce(np.multiply.outer, (axis.quadrature for axis in self.axes)).ravel()

    # ---------------------------------------------------------------- outputs to coordinates

    def encode(self, y):
        """Coordinates (n, d), or observed values (n, m) where ``sampled``; NaN where not observed."""
        data = self.read(y)
        if self.projected and not self.is_grid:
            return self._average_projections(data)
        if not self._is_partial(data) and not self.sampled:
            return self._coordinates(data.values)
        return _pad_rows([values for _, values in self._observed_values(data)])

    def _average_projections(self, data):
        """Averages (n, d) of values times basis functions over the observed points: Bouche et al. 2021, equation 13."""
        if isinstance(data, IrregularFunctions):
            out = np.empty((len(data), self._d))
            for row, (B, values) in zip(out, self._observed_values(data), strict=True):
                is_observed = B.reshape(len(values), self._d // self.n_curves, self.n_curves).any(axis=(0, 1))
                row[:] = B.T @ values
                row.reshape(-1, self.n_curves)[:, ~is_observed] = np.nan
            return out
        weights = self._point_weights if self.irregular == "projected_trapezoid" else self._point_weights > 0
        values, points = data.values - self._origin, tuple(range(1, data.values.ndim - 1))
        share = weights.reshape(*values.shape[1:-1], 1) * np.isfinite(values)
        total = share.sum(axis=points, keepdims=True)
        share = share / np.where(total > 0, total, np.nan)  # an unobserved curve has no coordinates
        sums = [lambda rows, axis=axis: rows @ axis.grid_values.T for axis in self.axes]
        return _map_axes(np.nan_to_num(values) * share, sums).reshape(len(values), self._d)

    def sampling(self, y) -> Sampling | None:
        if not self.sampled:
            return None
        return block_sampling([B for B, _ in self._observed_values(self.read(y))], self._d)

    def outside_norms(self, y):
        """Norms (n,) of the parts of curves outside the basis, which losses of the norm include.

        None on a grid, for projected residuals, and where the loss takes observed values.
        """
        if self.projected or self.sampled or self.is_grid:
            return None
        data = self.read(y)
        return None if self._is_partial(data) else self._outside(data.values)

    def outside_values(self, y):
        """Values (n, m_1, ..., m_k, p) on the grid of the parts of curves outside the basis; None on a grid."""
        if self.sampled or self.is_grid:
            return None
        data = self.read(y)
        return None if self._is_partial(data) else data.values - self._origin - self.evaluate_on_grid(self.encode(y))

    def filled_share(self, y):
        data = self.read(y)
        return 1.0 if isinstance(data, IrregularFunctions) else float(np.isnan(data.values).mean())

    def filled_outside_norms(self, y):
        if self.projected or self.is_grid:
            return None
        return self._outside(self._filled_values(y))

    def _outside(self, values):
        """Norms (n,) of the parts of values (n, m_1, ..., m_k, p) outside the basis; None if all are zero."""
        values = values - self._origin
        inside = self._coordinates(values)
        squares = (values**2).reshape(len(values), -1, self.n_curves).sum(axis=2) @ self._point_weights
        squares_outside = squares - np.einsum("ij,ij->i", inside, inside)
        outside = np.sqrt(np.where(squares_outside > _ROUNDING * squares, squares_outside, 0.0))
        return outside if np.nansum(outside) > 0 else None

    def residuals(self, y, coordinates):
        data = self.read(y)
        if self.projected or not (self.sampled or self._is_partial(data)):
            return self.encode(y) - coordinates
        observed = zip(self._observed_values(data), coordinates, strict=True)
        return _pad_rows([values - _combine(B, row) for (B, values), row in observed])

    def encode_filled(self, y):
        """Coordinates (n, d) with gaps filled by linear interpolation along each curve; NaN for unobserved curves."""
        return self._coordinates(self._filled_values(y))

    def _filled_values(self, y):
        """Values (n, m_1, ..., m_k, p) on the training grid with gaps filled."""
        data = self.read(y)
        if isinstance(data, IrregularFunctions):
            return interpolate_curves(data, self.grids[0])
        return fill_gaps(data.values, data.axes)

    def smooth_means(self, means):
        """Means (n, d) on a grid as splines, interpolated where no curve is observed; unchanged in a basis."""
        if not self.is_grid or not (self.roughness or np.isnan(means).any()):
            return means
        interpolated = self._interpolate_means(self.evaluate_on_grid(means))
        return self._coordinates(_splines(interpolated, self.axes, self.roughness))

    def _interpolate_means(self, means):
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
        if self.is_grid:
            return mask
        points = tuple(range(mask.ndim - 1))
        return np.broadcast_to(mask.all(axis=points), (*map(len, self.grids), self.n_curves))

    def unobserved_message(self, mask, names, center):
        unobserved_curves, parts = mask.all(axis=tuple(range(mask.ndim - 1))), []
        if unobserved_curves.any():
            curves = join_items(np.flatnonzero(unobserved_curves))
            parts.append(f"curve {curves} has no observed value, {unobserved_remedy(center)}")
        points = [self._point_name(index, names) for index in np.argwhere(mask & ~unobserved_curves)]
        if points:
            text = f"deviations by the operator from {'an interpolated mean curve' if center else '0 (center=False)'}"
            if self.projected and not self.is_grid:
                text = f"of averages that have no part of them; set irregular='exact' in place of {self.irregular!r}"
            parts.append(f"no curve was observed at {join_items(points)}, predictions there are {text}")
        return "; ".join(parts)

    def _point_name(self, index, names):
        """Name of a grid value in a message: its column in a data frame or its point, and its curve."""
        *at, curve = index
        points = [f"{grid[i]:g}" for grid, i in zip(self.grids, at, strict=True)]
        if names is not None and len(at) == 1 and len(names) == len(self.grids[0]):
            points = [repr(names[at[0]])]
        point = points[0] if len(points) == 1 else f"({', '.join(points)})"
        return point if self.n_curves == 1 else f"{point} of curve {curve}"

    def read(self, y):
        """The functions in y, checked to have the domain, grid and number of curves of the training outputs."""
        has_points = isinstance(y, IrregularFunctions) or (self.layout.named_points and points_of(y) is not None)
        data, _ = read_functions(y, None if has_points else self.grid, origins=self.layout.origins)
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

    def _is_partial(self, data):
        """Whether some functions are not observed on the whole grid of a basis."""
        if isinstance(data, IrregularFunctions):
            return True
        if self.is_grid:
            return False
        missing = np.isnan(data.values).reshape(len(data), -1)
        return bool((missing.any(axis=1) & ~missing.all(axis=1)).any())  # samples without any value are dropped

    @property
    def _d(self):
        return math.prod(self.sizes)

    @property
    def _origin(self):
        return 0.0 if self.origin is None else self.origin

    def _coordinates(self, values):
        """Coordinates (n, d) of values (n, m_1, ..., m_k, p)."""
        return _map_axes(values, [axis.encode for axis in self.axes]).reshape(len(values), self._d)

    def _observed_values(self, data):
        """For each sample the map (m_i, d) from coordinates to its observed values, and these values (m_i,).

        Both are scaled such that sums of squares are means over the points of each curve; on a common grid, means with
        quadrature weights.
        """
        if not isinstance(data, IrregularFunctions):
            on_grid = np.asarray(Kronecker(axis.basis(axis.points) for axis in self.axes)).T
            curves = (data.values - self._origin).reshape(len(data), -1, self.n_curves)
            return [self._scale_observed(on_grid, values, self._point_weights) for values in curves]
        cuts = np.cumsum([len(points) for points in data.points])[:-1]
        units = to_unit(np.concatenate(data.points) if len(data) else np.empty(0), self.domain[0])
        origin = np.broadcast_to(self.evaluate_origin((units,)), (len(units), self.n_curves))
        parts = zip(np.split(self.axes[0].basis(units).T, cuts), data.values, np.split(origin, cuts), strict=True)
        weights = [self._weights_at(points) for points in data.points]
        return [
            self._scale_observed(B, values.reshape(part.shape) - part, w)
            for (B, values, part), w in zip(parts, weights, strict=True)
        ]

    def _weights_at(self, points):
        """Weights (m,) of irregular points (m,) of one curve."""
        return scattered_quadrature(points) if self.irregular == "projected_trapezoid" else np.ones_like(points)

    def observation_points(self, y):
        """For each sample the points (m_i, k) of its observed values, k variables, and the roots (m_i,) of the weights
        by which ``encode`` multiplies them."""
        data = self.read(y)
        if isinstance(data, IrregularFunctions):
            curves = zip(data.points, data.values, strict=True)
            curves_with_weights = [(p[:, None], v.reshape(len(p), -1), self._weights_at(p)) for p, v in curves]
        else:
            points = np.stack(np.meshgrid(*self.grids, indexing="ij"), axis=-1).reshape(-1, len(self.grids))
            curves = data.values.reshape(len(data), -1, self.n_curves)
            curves_with_weights = [(points, values, self._point_weights) for values in curves]
        result = []
        for points, values, weights in curves_with_weights:
            rows, _, root = _observed_entries(values, weights)
            result.append((points[rows], root))
        return result

    def _scale_observed(self, B, values, weights):
        """Map and values at the observed entries of values (m, p), scaled by the roots of their weights."""
        rows, curves, root = _observed_entries(values, weights)
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
        return _map_axes(coordinates.reshape(len(coordinates), *self.sizes), [axis.decode for axis in self.axes])

    def evaluate_origin(self, units):
        """Values of the origin on a product of unit grids; 0 without an origin."""
        return 0.0 if self.origin is None else self._interpolate(self.origin, units)

    def evaluate_mean(self, units):
        """Values (p_1, ..., p_k, p) of the mean training function on a product of unit grids."""
        return self._interpolate(self.mean, units)

    def _interpolate(self, values, units):
        """Values (m_1, ..., m_k, p) on the training grid, interpolated linearly on a product of unit grids."""
        for k, (axis, points) in enumerate(zip(self.axes, units, strict=True)):
            lines = np.moveaxis(values, k, -1).reshape(-1, len(axis.points))
            at = interpolate_rows(axis.points, lines, points)
            values = np.moveaxis(at.reshape(*np.delete(values.shape, k), len(points)), -1, k)
        return values

    def to_unit_cube(self, grids):
        """Grids in units of the domain mapped to the unit cube, axis by axis."""
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
        """As ``basis``, for integrals of functions against the kernel of an integral operator."""
        factors = (axis.evaluate_integral(operator.gram, u) for axis, u in zip(self.axes, units, strict=True))
        return Kronecker([*factors, self.n_curves])

    # ---------------------------------------------------------------- axis by axis

    def unfold(self, Y, k):
        """Coordinates Y (n, d) as a matrix whose columns are axis k."""
        return np.moveaxis(Y.reshape(len(Y), *self.sizes), k + 1, -1).reshape(-1, self.sizes[k])

    def restrict_to_axis(self, k):
        """The space of one curve of variable k."""
        return replace(self, axes=(self.axes[k],), grids=(self.grids[k],), domain=(self.domain[k],), n_curves=1)


def _observed_entries(values, weights):
    """Rows and columns of the finite entries of values (m, p) with positive weight, and roots of relative weights."""
    rows, curves = np.nonzero(np.isfinite(values) & (weights > 0)[:, None])
    return rows, curves, np.sqrt(weights[rows] / np.bincount(curves, weights[rows])[curves])


def _combine(B, coordinates):
    """``B @ coordinates``, NaN where B uses a coordinate that is NaN."""
    unknown = np.isnan(coordinates)
    values = B @ np.where(unknown, 0.0, coordinates)
    return np.where((B[:, unknown] != 0).any(axis=1), np.nan, values)


def _map_axes(values, maps):
    """Values (n, m_1, ..., m_k, p) after a linear map along each of the axes m_1 ... m_k."""
    for k, change in enumerate(maps, start=1):
        values = np.moveaxis(change(np.moveaxis(values, k, -1)), -1, k)
    return values


def _splines(values, axes, penalty):
    """Values (n, m_1, ..., m_k, p) smoothed along each axis."""
    return _map_axes(values, [lambda rows, a=axis: smooth_rows(rows, a.points, a.quadrature, penalty) for axis in axes])


def _roughness(values, weights, centre, space):
    """Penalty of the spline that smooths the centre (1, m_1, ..., p) of training values (n, m_1, ..., p)."""
    shape = values.shape[1:]
    deviations = values - centre
    lines = [(np.moveaxis(deviations, k, -1), axis.points) for k, axis in enumerate(space.axes, start=1)]
    noise = min(noise_variance(rows, points, weights) for rows, points in lines)

    def splines(rows, penalty):
        return _splines(rows.reshape(-1, *shape), space.axes, penalty).reshape(rows.shape)

    measure = np.repeat(space._point_weights, space.n_curves)
    variances = mean_variances(deviations.reshape(len(values), -1), weights, noise)
    min_penalty = (math.pi * max(shape[:-1])) ** -4.0  # oscillations from point to point pass
    return best_penalty(np.nan_to_num(centre).ravel(), variances, splines, measure, min_penalty)


def _pad_rows(rows):
    """Rows of different lengths as a matrix (n, m), NaN beyond their ends."""
    out = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for line, row in zip(out, rows, strict=True):
        line[: len(row)] = row
    return out


def function_space(
    setting, y, *, grid=None, irregular="exact", sample_weight=None, centre=None, smooth=False
) -> FunctionSpace:
    """The space of a setting for training outputs y with weights (n,).

    centre : function of curves (n, d), weights (n,) and a measure (d,) that returns the curve (d,) around which models
        are fitted. For a basis of deviations, the part of this curve outside the basis is the origin of the space
    smooth : whether the centre of point values is smoothed; needs ``centre``
    """
    has_user_grid = grid is not None
    projected = check_choice(irregular, "irregular", ("exact", *AVERAGES)) in AVERAGES
    outputs = read_training(y, grid)
    data, layout = outputs.data, outputs.layout
    if layout.basis is None:
        setting = as_space(setting)
    else:  # there are no points to average over
        setting, irregular = space_of_basis(setting, layout.basis), AVERAGES[-1] if projected else irregular
    if not len(data):
        raise ValueError("y has no curve; give at least one")
    curves: GridFunctions
    if isinstance(data, IrregularFunctions):
        curves, grid = resample_curves(data, grid, "the prediction"), None
        check_inside(curves.axes[0], data.domain, "grid")
    else:
        curves = data
    weights = np.ones(len(curves)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    axes = _make_axes(setting, curves, weights)
    space = FunctionSpace(
        axes,
        curves.axes,
        curves.domain,
        curves.values.shape[-1],
        layout,
        curves.axes if layout.named_points else grid,
        irregular=irregular,
        mean=_mean_curve(curves.values, weights, axes),
        has_user_grid=has_user_grid,
    )
    if projected and isinstance(data, IrregularFunctions) and space.pointwise:
        raise ValueError(
            f"irregular={irregular!r} averages over a basis, which space='grid' has not; use spaces.Fourier()"
        )
    if centre is not None:
        space = _around_centre(space, curves.values, weights, centre, smooth)
    return replace(space, sampled=space._is_partial(data) and not projected)


def _make_axes(setting, curves, weights):
    """The axis of each variable; settings may learn from the curves along it."""
    axes = []
    for k, (points, domain) in enumerate(zip(curves.axes, curves.domain, strict=True), start=1):
        lines = np.moveaxis(curves.values, k, -1).reshape(-1, curves.values.shape[k])
        axes.append(setting.axis(to_unit(points, domain), lines, np.repeat(weights, len(lines) // len(curves))))
    return tuple(axes)


def _mean_curve(values, weights, axes):
    """Mean (m_1, ..., m_k, p) of observed values (n, m_1, ..., m_k, p), interpolated where there are none."""
    flat = values.reshape(len(values), -1)
    observed = weights @ np.isfinite(flat) > 0
    mean = np.where(observed, mean_rows(flat, weights), np.nan).reshape(1, *values.shape[1:])
    return interpolate_mean(mean, [axis.points for axis in axes])[0]


def _around_centre(space, values, weights, centre, smooth):
    """The space with the penalty that smooths the centre of training values, and with its origin."""
    around_mean = any(axis.around_mean for axis in space.axes)
    smooth = smooth and (around_mean or space.pointwise)
    if not around_mean and not smooth:
        return space
    measure = np.repeat(space._point_weights, space.n_curves)
    flat = values.reshape(len(values), -1)
    curve = space._interpolate_means(centre(flat, weights, measure).reshape(1, *values.shape[1:]))
    if smooth:
        space = replace(space, roughness=_roughness(values, weights, curve, space))
    if not around_mean:
        return space
    curve = _splines(curve, space.axes, space.roughness)
    outside = curve - space.evaluate_on_grid(space._coordinates(curve))
    outside = np.nan_to_num(outside)[0]  # a curve that is never observed is NaN
    if np.abs(outside).max(initial=0.0) > _ROUNDING * np.nanmax(np.abs(curve), initial=0.0):
        space = replace(space, origin=outside)
    return space
