"""Functional data as they come: arrays on a common grid, curves at points of their own, scikit-fda's containers."""

from __future__ import annotations

import numbers
import reprlib
from dataclasses import dataclass, field

import numpy as np
from sklearn.utils import check_array

from ._validation import check_choice

DEFAULT_POINTS = 101  # of the grid that curves without a common one are put on


class IrregularFunctions:
    """Curves observed at points of their own.

    Has a length, a shape ``(n,)`` and the indexing of arrays, so that scikit-learn can split it.

    Parameters
    ----------
    points : n arrays (m_i,), the points of each curve, in any order
    values : n arrays (m_i,), or (m_i, p) for p curves observed together; NaN where not observed
    domain : (low, high) interval the curves live on; by default from the smallest to the largest point
    """

    def __init__(self, points, values, domain=None):
        if len(points) != len(values):
            raise ValueError(
                f"points and values must have an entry for each curve, got {len(points)} and {len(values)} entries"
            )
        self.points, self.values = [], []
        for i, (p, v) in enumerate(zip(points, values, strict=True)):
            try:
                p, v = np.asarray(p, dtype=float), np.asarray(v, dtype=float)
            except (TypeError, ValueError) as error:
                raise ValueError(f"curve {i}: points and values must be arrays of numbers: {error}") from error
            if p.ndim != 1 or v.ndim not in (1, 2) or len(p) != len(v):
                raise ValueError(
                    f"curve {i}: {p.size} points {p.shape} but values of shape {v.shape}; give one value a point"
                )
            if not np.isfinite(p).all() or np.isinf(v).any():
                raise ValueError(f"curve {i}: points must be finite numbers, and values finite or NaN")
            self.points.append(p)
            self.values.append(v)
        if len({v.shape[1:] for v in self.values}) > 1:
            raise ValueError("values must all be (m_i,) or all be (m_i, p) with the same p")
        if domain is None:
            every = np.concatenate(self.points) if len(self.points) else np.empty(0)
            if not len(every):
                raise ValueError("points: no curve has any point; give at least one, or the domain")
            domain = (every.min(), every.max())
        try:
            low, high = map(float, domain)
        except (TypeError, ValueError):
            low, high = np.nan, np.nan  # refused below
        if not (np.isfinite([low, high]).all() and low <= high):
            raise ValueError(f"domain must be an interval (low, high) of finite numbers, got {domain!r}")
        self.domain = (low, high)
        for i, p in enumerate(self.points):
            check_inside(p, self.domain, f"points of curve {i}")

    @property
    def shape(self):
        return (len(self.points),)

    @property
    def n_curves(self):
        """How many curves are observed together."""
        return self.values[0].shape[1] if len(self) and self.values[0].ndim == 2 else 1

    def __len__(self):
        return len(self.points)

    def __array__(self, dtype=None, copy=None):
        """Single curves as objects, which is how scikit-learn puts the predictions of folds together."""
        out = np.empty(len(self), dtype=object)
        for i in range(len(self)):
            out[i] = self[i]
        return out

    def __getitem__(self, key):
        """Curves by an index, a slice, indices or a mask; the domain stays."""
        if isinstance(key, tuple):  # scikit-learn asks for [rows, ...]
            key = key[0]
        rows = np.atleast_1d(np.arange(len(self))[key])
        return IrregularFunctions([self.points[i] for i in rows], [self.values[i] for i in rows], self.domain)

    def to_array(self):
        """Values (n, m), or (n, m, p), of curves that all have as many points."""
        if len({len(p) for p in self.points}) > 1:
            raise ValueError("the curves have different numbers of points; use points and values, one array a curve")
        return np.array(self.values)

    def __repr__(self):
        sizes = [len(p) for p in self.points]
        span = f"{min(sizes)} to {max(sizes)} points" if sizes else "no points"
        return f"IrregularFunctions({len(self)} curves, {span}, domain={self.domain})"


@dataclass(frozen=True)
class Curves:
    """Functions on one grid: values (n, m_1, ..., m_k, p), NaN where not observed, for p functions of k variables."""

    values: np.ndarray
    axes: tuple[np.ndarray, ...]
    domain: tuple[tuple[float, float], ...]

    def __len__(self):
        return len(self.values)

    def __getitem__(self, rows):
        return Curves(self.values[rows], self.axes, self.domain)


@dataclass(frozen=True)
class Layout:
    """How functions were handed over, so that predictions come back in the same form."""

    kind: str  # "array", "FDataGrid", "FDataIrregular" or "IrregularFunctions"
    ndim: int = 2  # of the array
    names: dict = field(default_factory=dict)  # of scikit-fda's containers

    def wrap(self, values, axes, domain):
        """Values (n, m_1, ..., m_k, p) on the product grid of axes, in the form of the training outputs."""
        if self.kind == "array":
            if self.ndim == 1:
                return values[:, 0, 0] if values.shape[1] == 1 else values[..., 0]
            return values[..., 0] if self.ndim == len(axes) + 1 else values
        if self.kind == "FDataGrid":
            from skfda import FDataGrid

            return FDataGrid(values, grid_points=list(axes), domain_range=list(domain), **self.names)
        return self.wrap_irregular([axes[0]] * len(values), list(values), domain)

    def wrap_irregular(self, points, values, domain):
        """Values [(m_i, p), ...] at points [(m_i,), ...]."""
        if self.kind.startswith("FData"):
            from skfda import FDataIrregular

            starts = np.cumsum([0, *(len(p) for p in points[:-1])])
            return FDataIrregular(
                start_indices=starts,
                points=np.concatenate(points)[:, None],
                values=np.concatenate(values),
                domain_range=list(domain),
                **self.names,
            )
        if all(v.shape[1] == 1 for v in values):
            values = [v[:, 0] for v in values]
        return IrregularFunctions(points, values, domain[0])


@dataclass(frozen=True)
class Functions:
    """Functions as they were read, with how they were handed over: reading them again costs nothing."""

    data: Curves | IrregularFunctions
    layout: Layout

    def __len__(self):
        return len(self.data)

    def __getitem__(self, rows):
        return Functions(self.data[rows], self.layout)


def brings_points(Y):
    """Whether Y is a container of functions that knows their points: ours, or one of scikit-fda's."""
    return isinstance(Y, IrregularFunctions) or hasattr(Y, "data_matrix") or hasattr(Y, "start_indices")


def rows_of_none(Y):
    """A list of rows in which None stands for a whole row, with rows of NaN in its place; anything else as it is."""
    if not isinstance(Y, (list, tuple)) or not any(row is None for row in Y):
        return Y
    shape = next((np.shape(row) for row in Y if row is not None), ())
    return [np.full(shape, np.nan) if row is None else row for row in Y] if shape else Y


def read_functions(Y, grid=None, name="y"):
    """``Curves`` or ``IrregularFunctions`` from any of the containers, and their ``Layout``.

    grid : None, an increasing array (m,), or a tuple of such arrays for functions of several variables; scikit-fda's
        objects bring their own
    """
    if isinstance(Y, Functions):
        return Y.data, Y.layout
    if isinstance(Y, IrregularFunctions):
        return Y, Layout("IrregularFunctions")
    if hasattr(Y, "data_matrix"):
        axes: tuple = tuple(np.asarray(axis, dtype=float) for axis in Y.grid_points)
        domain = tuple((float(low), float(high)) for low, high in Y.domain_range)
        matrix = np.array(Y.data_matrix, dtype=float)
        check_grids(axes, matrix.shape[1:-1], name)
        given = axes if grid is None else as_axes(grid)
        if len(given) != len(axes) or not all(map(same_points, given, axes)):
            raise ValueError(f"grid must be None or equal to the grid_points that {name} brings along")
        if np.isinf(matrix).any():
            raise ValueError(f"{name} contains infinity; use NaN for points that were not observed")
        return Curves(matrix, axes, domain), Layout("FDataGrid", names=_names(Y))
    if hasattr(Y, "start_indices"):
        if Y.dim_domain != 1:
            raise ValueError(f"{name}: irregular functions must have one variable, got {Y.dim_domain}; use a FDataGrid")
        cuts = np.asarray(Y.start_indices)[1:]
        points, values = (np.split(np.asarray(a, dtype=float), cuts) for a in (Y.points[:, 0], Y.values))
        return IrregularFunctions(points, values, Y.domain_range[0]), Layout("FDataIrregular", names=_names(Y))
    if hasattr(Y, "to_grid"):
        raise TypeError(f"{name} is a {type(Y).__name__}; give its values at points, {name}.to_grid(points)")
    try:
        array = check_array(
            rows_of_none(Y),
            dtype=np.float64,
            ensure_2d=False,
            allow_nd=True,
            ensure_all_finite="allow-nan",
            input_name=name,
        )
    except ValueError as error:
        raise ValueError(
            f"{name} must be numbers of shape (n, m) or (n, m, p), IrregularFunctions or scikit-fda's: {error}"
        ) from error
    axes = _axes_of(grid, array, name)
    values = array.reshape(len(array), *(len(axis) for axis in axes), -1)
    domain = tuple((axis[0], axis[-1]) for axis in axes)
    return Curves(values, axes, domain), Layout("array", ndim=array.ndim)


def sampled(X, grid=None, name="X") -> Curves:
    """Input curves of one variable on a common grid, values (n, m, channels), for kernels.

    Curves with points of their own are interpolated linearly on 101 points of their domain.
    """
    curves, _ = read_functions(X, grid, name)
    if isinstance(curves, IrregularFunctions):
        return resampled(curves, grid, name)
    if len(curves.axes) != 1:
        raise ValueError(f"{name} must be functions of one variable for this kernel, got {len(curves.axes)}")
    return curves


def resampled(curves: IrregularFunctions, grid, name) -> Curves:
    """Irregular curves interpolated on a grid (m,), by default on 101 points of their domain."""
    low, high = curves.domain
    axes = (np.linspace(low, high, DEFAULT_POINTS if low < high else 1),) if grid is None else as_axes(grid)
    if len(axes) != 1:
        raise ValueError(f"grid must be one increasing array of points for irregular curves, got {len(axes)}")
    check_grids(axes, [axes[0].size], name)
    return Curves(interpolated(curves, axes[0]), axes, (curves.domain,))


def interpolated(curves: IrregularFunctions, axis):
    """Linear interpolation (n, m, p) of irregular curves at the points of axis; constant beyond their ends."""
    out = np.empty((len(curves), len(axis), curves.n_curves))
    for rows, points, values in zip(out, curves.points, curves.values, strict=True):
        order = np.argsort(points)
        for column, value in zip(rows.T, values.reshape(len(points), curves.n_curves)[order].T, strict=True):
            column[:] = _through(points[order], value, axis)
    return out


def _through(points, values, at):
    """Linear interpolation through the finite values at increasing points; NaN if there is none."""
    seen = np.isfinite(values)
    return np.interp(at, points[seen], values[seen]) if seen.any() else np.full(len(at), np.nan)


def interpolate_rows(axis, rows, points):
    """Values (n, p) at points of functions with values rows (n, m) on the axis: linear, constant beyond its ends."""
    return np.array([np.interp(points, axis, row) for row in rows]).reshape(len(rows), len(points))


def fill_gaps(values, axes):
    """Values (n, m_1, ..., m_k, p) with NaN replaced by linear interpolation, constant beyond the ends.

    It runs along the first axis where that has values, then along the next. Functions without any value stay NaN.
    """
    values = np.array(values, dtype=float)
    for k, axis in enumerate(axes, start=1):
        if not np.isnan(values).any():
            break
        lines = np.moveaxis(values, k, -1)
        for index in np.argwhere(np.isnan(lines).any(axis=-1)):
            line = lines[tuple(index)]
            gaps = np.isnan(line)
            line[gaps] = _through(axis, line, axis[gaps])
    return values


def to_unit(points, domain):
    """Points of an interval mapped to [0, 1]; the only point of a degenerate interval to 0."""
    low, high = domain
    return np.clip((np.asarray(points, dtype=float) - low) / (high - low if high > low else 1.0), 0.0, 1.0)


def quadrature(points, weights="trapezoid", name="weights"):
    """Weights (m,), of sum 1, of increasing points (m,): what integrals over the unit interval are computed with.

    weights : "trapezoid" for the trapezoid rule, "equal", or non-negative numbers (m,) of any positive sum
    """
    m = len(points)
    if isinstance(weights, str):
        check_choice(weights, name, ("trapezoid", "equal"))
        steps = np.diff(points, prepend=points[0], append=points[-1])
        weights = np.ones(m) if weights == "equal" or m == 1 else steps[:-1] + steps[1:]
    else:
        wanted = f"{name} must be 'trapezoid', 'equal' or {m} non-negative numbers, one for each point of the grid"
        weights = non_negative(weights, m, wanted)
        if not weights.any():
            raise ValueError(f"{wanted}, got zeros only")
        weights = weights / weights.max()  # so that the sum is finite
    return weights / weights.sum()


def own_quadrature(points):
    """Weights (m,), of sum 1, of the trapezoid rule at points (m,) in any order, from the first to the last.

    Points that are all the same count equally.
    """
    order = np.argsort(points)
    if not len(points) or points[order[0]] == points[order[-1]]:
        return np.full(len(points), 1 / max(len(points), 1))
    weights = np.empty(len(points))
    weights[order] = quadrature(points[order])
    return weights


def non_negative(values, number, wanted):
    """Values as an array of so many finite floats >= 0, or a ValueError that says what is wanted and what was seen."""
    try:
        given = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        given = np.array(np.nan)  # refused below
    fine = np.isfinite(given) & (given >= 0)
    if given.shape != (number,):
        raise ValueError(f"{wanted}, got {reprlib.repr(values)} of shape {given.shape}")
    if not fine.all():
        raise ValueError(f"{wanted}, got {given[~fine][0]:g} at index {np.argmin(fine)}")
    return given


def check_inside(points, domain, name):
    """Raise unless all points lie in the interval."""
    low, high = domain
    slack = 1e-9 * max(high - low, abs(low), abs(high))
    outside = (points < low - slack) | (points > high + slack)
    if outside.any():
        raise ValueError(
            f"{name} must lie in the domain [{low:g}, {high:g}], got {points[outside][0]:g}; "
            "give points inside it, or the wider domain when the functions are made"
        )


def check_grids(axes, sizes, name):
    """Raise unless each grid increases and has as many points as its axis of the values."""
    for axis, size in zip(axes, sizes, strict=True):
        if axis.ndim != 1 or len(axis) != size:
            raise ValueError(
                f"grid must have one point for each value on its axis: {name} has {size}, got {axis.shape} points"
            )
        if not np.isfinite(axis).all():
            raise ValueError(f"grid must be finite numbers, got {axis!r}; leave such points out, and {name} there")
        if (np.diff(axis) <= 0).any():
            raise ValueError(f"grid must increase from point to point, got {axis!r}; sort it, and {name} with it")


def as_axes(grid):
    """The tuple of grids behind the setting: one array, or a tuple of arrays for several variables."""
    several = isinstance(grid, tuple) and len(grid) > 0 and not isinstance(grid[0], numbers.Number)
    try:
        return tuple(np.atleast_1d(np.asarray(axis, dtype=float)) for axis in (grid if several else (grid,)))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"grid must be an array of points, or a tuple of them for several variables, got {grid!r}"
        ) from error


def same_points(a, b):
    """Whether two arrays of points are equal to rounding, in whatever units."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    slack = 1e-9 * max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    return a.shape == b.shape and bool((np.abs(a - b) <= slack).all())


def _axes_of(grid, array, name):
    """Grids of an array (n, m_1, ..., m_k) or (n, m_1, ..., m_k, p); evenly spaced on [0, 1] when not given."""
    shape = array.shape[1:] or (1,)
    if grid is None:
        if len(shape) > 2:
            raise ValueError(
                f"{name} has shape {array.shape}: give grid as a tuple with the points of each variable, "
                "or an array (n, m) or (n, m, p)"
            )
        return (np.linspace(0.0, 1.0, shape[0]),)
    axes = as_axes(grid)
    if len(shape) not in (len(axes), len(axes) + 1):
        raise ValueError(
            f"grid has {len(axes)} axes, so {name} must have {len(axes) + 1} dimensions (or one more, for several "
            f"functions a sample), got shape {array.shape}"
        )
    check_grids(axes, shape[: len(axes)], name)
    return axes


def _names(Y):
    return {key: getattr(Y, key) for key in ("dataset_name", "argument_names", "coordinate_names")}
