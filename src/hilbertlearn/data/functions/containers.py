"""Containers of functions: arrays on a common grid, irregular curves, and those of scikit-fda."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils import check_array

from ..frames import numbers_of, points_of
from ..items import object_array
from ..times import as_date, as_times, change_origin, date_text, days, first_date, read_points
from .bases import atom_values, check_basis, evaluate_expansion, fit_coefficients, gauss_quadrature, is_expansion
from .points import as_axes, check_grids, check_inside, interpolate_observed, read_axes, same_points

DEFAULT_POINTS = 101  # grid points on which irregular curves are predicted and interpolated: steps of 1 % of the domain


class IrregularFunctions:
    """Curves observed at different points.

    It has a length, a shape ``(n,)`` and the indexing of arrays, so that scikit-learn can split it.

    Parameters
    ----------
    points : sequence of n arrays of shape (m_i,)
        Points of each curve, in any order: numbers, or dates or durations, which become days.
    values : sequence of n arrays of shape (m_i,) or (m_i, p)
        Values at the points; p curves may be observed together. NaN where not observed.
    domain : tuple (low, high), default=None
        Interval of the curves; None for the interval from the smallest to the largest point.
    origin : date, default=None
        Date from which days are counted; None for the first date. Only for points that are dates.

    Attributes
    ----------
    points : list of n arrays of shape (m_i,)
        Numbers; dates are days since the origin.
    values : list of n arrays of shape (m_i,) or (m_i, p)
        Values at the points.
    domain : tuple (low, high)
        Interval of the curves.
    origin : numpy.datetime64 or None
        Date from which days are counted; None where points are not dates.

    References
    ----------
    - Yao, F., Muller, H.-G. and Wang, J.-L. (2005). Functional data analysis for sparse longitudinal data. JASA 100.

    Examples
    --------
    >>> from hilbertlearn import IrregularFunctions
    >>> curves = IrregularFunctions([[0.0, 0.5, 1.0], [0.2, 0.9]], [[1.0, 2.0, 1.0], [1.5, 1.1]])
    >>> len(curves), curves[:1]
    (2, IrregularFunctions(1 curves, 3 to 3 points, domain=(0.0, 1.0)))
    """

    origin: Any = None

    def __init__(self, points, values, domain=None, origin=None):
        if len(points) != len(values):
            raise ValueError(
                f"points and values must have an entry for each curve, got {len(points)} and {len(values)} entries"
            )
        points, self.origin = _in_days(points, origin)
        curves = [_read_curve(i, p, v) for i, (p, v) in enumerate(zip(points, values, strict=True))]
        self.points, self.values = [p for p, _ in curves], [v for _, v in curves]
        if len({v.shape[1:] for v in self.values}) > 1:
            raise ValueError("values must all be (m_i,) or all be (m_i, p) with the same p")
        self.domain = _span(self.points) if domain is None else _read_domain(domain, self.origin)
        for i, p in enumerate(self.points):
            check_inside(p, self.domain, f"points of curve {i}")

    @property
    def shape(self):
        return (len(self.points),)

    @property
    def parts(self):
        """All contents as lists, by which two containers are compared."""
        return [self.domain, self.points, self.values, *([] if self.origin is None else [str(self.origin)])]

    @property
    def n_curves(self):
        """Number of curves that are observed together."""
        return self.values[0].shape[1] if len(self) and self.values[0].ndim == 2 else 1

    def __len__(self):
        return len(self.points)

    def __array__(self, dtype=None, copy=None):
        """Single curves as objects: scikit-learn concatenates predictions of folds in this form."""
        return object_array([self[i] for i in range(len(self))])

    def __getitem__(self, key):
        """Curves by an index, a slice, indices or a mask; the domain stays."""
        if isinstance(key, tuple):  # scikit-learn indexes by [rows, ...]
            key = key[0]
        rows = np.atleast_1d(np.arange(len(self))[key])
        points, values = [self.points[i] for i in rows], [self.values[i] for i in rows]
        return IrregularFunctions(points, values, self.domain, self.origin)

    def with_origin(self, origin):
        """The same curves with dates counted from another origin.

        Parameters
        ----------
        origin : numpy.datetime64 or None
            The new origin.

        Returns
        -------
        curves : IrregularFunctions
            The container itself if points are not dates or the origin is None.
        """
        if self.origin is None or origin is None or self.origin == origin:
            return self
        points = [change_origin(p, self.origin, origin)[0] for p in self.points]
        domain = change_origin(np.array(self.domain), self.origin, origin)[0]
        return IrregularFunctions(points, self.values, domain, origin)

    def to_array(self):
        """Values (n, m) or (n, m, p) of curves with equal numbers of points.

        Returns
        -------
        values : array of shape (n, m) or (n, m, p)
            The values of all curves, in the order of their points.
        """
        if len({len(p) for p in self.points}) > 1:
            raise ValueError("the curves have different numbers of points; use points and values, one array a curve")
        return np.array(self.values)

    def __repr__(self):
        sizes = [len(p) for p in self.points]
        span = f"{min(sizes)} to {max(sizes)} points" if sizes else "no points"
        dates = "" if self.origin is None else f" in days since {date_text(self.origin)}"
        return f"IrregularFunctions({len(self)} curves, {span}, domain={self.domain}{dates})"


def _read_curve(i, points, values):
    """Points (m,) and values (m,) or (m, p) of curve i as floats, checked."""
    try:
        p, v = np.asarray(points, dtype=float), np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"curve {i}: points must be arrays of numbers, dates or durations (pandas.to_datetime converts "
            f"text), and values arrays of numbers: {error}"
        ) from error
    if p.ndim != 1 or v.ndim not in (1, 2) or len(p) != len(v):
        raise ValueError(f"curve {i}: {p.size} points {p.shape} but values of shape {v.shape}; give one value a point")
    if not np.isfinite(p).all() or np.isinf(v).any():
        raise ValueError(f"curve {i}: points must be finite numbers, and values finite or NaN")
    return p, v


def _span(points):
    """The interval from the smallest to the largest point of all curves."""
    all_points = np.concatenate(points) if points else np.empty(0)
    if not len(all_points):
        raise ValueError("points: no curve has any point; give at least one, or the domain")
    return float(all_points.min()), float(all_points.max())


def _read_domain(domain, origin):
    """The interval (low, high) as floats, in days since the origin where its ends are dates."""
    try:
        low, high = map(float, read_points(list(domain), origin)[0])
    except (TypeError, ValueError):
        low, high = np.nan, np.nan  # refused below
    if not (np.isfinite([low, high]).all() and low <= high):
        raise ValueError(f"domain must be an interval (low, high) of finite numbers, got {domain!r}")
    return low, high


def _in_days(points, origin):
    """Points of curves with dates and durations in days, and the origin of dates, None without dates."""
    times = [as_times(p) for p in points]
    dates = [t for t in times if t is not None and t.dtype.kind == "M"]
    if origin is not None:
        origin = as_date(origin, "origin")
    elif dates:
        origin = first_date(np.concatenate(dates))
    _check_same_kind(points, times, dates)
    return [p if t is None else days(t, origin) for p, t in zip(points, times, strict=True)], origin


def _check_same_kind(points, times, dates):
    """Raise unless all points are dates, all are durations, or all are numbers."""
    kinds = {"f" if t is None else t.dtype.kind for t, p in zip(times, points, strict=True) if np.size(p)}
    if dates and (kinds != {"M"} or any(np.isnat(t).any() for t in dates)):
        raise ValueError("points: some are dates and others are none; give dates for all points of all curves")
    if len(kinds) > 1:
        raise ValueError("points: some are durations and others numbers; give durations for all points of all curves")


@dataclass(frozen=True)
class GridFunctions:
    """Functions on one grid: values (n, m_1, ..., m_k, p), NaN where not observed, for p functions of k variables."""

    values: np.ndarray
    axes: tuple[np.ndarray, ...]
    domain: tuple[tuple[float, float], ...]

    def __len__(self):
        return len(self.values)

    def __getitem__(self, rows):
        return GridFunctions(self.values[rows], self.axes, self.domain)


@dataclass(frozen=True)
class Layout:
    """The form of the training functions, in which predictions are returned."""

    kind: str  # "array", "FDataGrid", "FDataIrregular", "FDataBasis" or "IrregularFunctions"
    ndim: int = 2  # of an array
    names: dict = field(default_factory=dict)  # of a scikit-fda container
    named_points: bool = False  # whether column names of a data frame are the grid
    basis: Any = None  # of a FDataBasis
    listed: bool = False  # whether functions came as a list of single ones
    origins: tuple = ()  # for each variable the date from which points are counted, None for numbers; () without dates

    def axes(self, grid):
        """Grids to predict on, from a user's setting."""
        return as_axes(grid, self.origins)

    def wrap_training_grid(self, values, axes, domain):
        """Values on the training grid in the form of the training outputs, also as expansions in a basis."""
        if self.kind != "FDataBasis":
            return self.wrap(values, axes, domain)
        from skfda import FDataBasis

        return self._form(FDataBasis(self.basis, fit_coefficients(self.basis, values[..., 0]), **self.names))

    def wrap(self, values, axes, domain):
        """Values (n, m_1, ..., m_k, p) on the product grid of axes, in the form of the training outputs."""
        if self.kind == "array":
            if self.ndim == 1:
                return values[:, 0, 0] if values.shape[1] == 1 else values[..., 0]
            return values[..., 0] if self.ndim == len(axes) + 1 else values
        if self.kind in ("FDataGrid", "FDataBasis"):
            from skfda import FDataGrid

            return self._form(FDataGrid(values, grid_points=list(axes), domain_range=list(domain), **self.names))
        return self.wrap_irregular([axes[0]] * len(values), list(values), domain)

    def wrap_irregular(self, points, values, domain):
        """Values [(m_i, p), ...] at points [(m_i,), ...]."""
        if self.listed and self.kind in ("FDataGrid", "FDataBasis"):
            pairs = zip(points, values, strict=True)
            return [curve for p, v in pairs for curve in self.wrap(v[None], (p,), domain)]
        if self.kind.startswith("FData"):
            from skfda import FDataIrregular

            starts = np.cumsum([0, *(len(p) for p in points[:-1])])
            curves = FDataIrregular(
                start_indices=starts,
                points=np.concatenate(points)[:, None],
                values=np.concatenate(values),
                domain_range=list(domain),
                **self.names,
            )
            return self._form(curves)
        if all(v.shape[1] == 1 for v in values):
            values = [v[:, 0] for v in values]
        return self._form(IrregularFunctions(points, values, domain[0], *self.origins[:1]))

    def _form(self, functions):
        """The container, or a list of single functions if the training functions were one."""
        return [functions[i : i + 1] for i in range(len(functions))] if self.listed else functions


@dataclass(frozen=True)
class FunctionOutputs:
    """Functions that are already read and checked, with their layout; reading them again returns them unchanged."""

    data: GridFunctions | IrregularFunctions
    layout: Layout

    def __len__(self):
        return len(self.data)

    def __getitem__(self, rows):
        return FunctionOutputs(self.data[rows], self.layout)


def has_points(Y):
    """Whether Y is a container of functions with their points, ours or scikit-fda's, or a list of single functions."""
    return _is_container(Y) or _singles(Y) is not None


def _is_container(Y):
    is_fdata = hasattr(Y, "data_matrix") or hasattr(Y, "start_indices")
    return isinstance(Y, IrregularFunctions) or is_fdata or is_expansion(Y)


def _singles(Y):
    """The containers in a list, or in an array of objects as scikit-learn creates it; None for other data."""
    if isinstance(Y, np.ndarray) and Y.dtype == object:
        Y = list(Y.ravel()) if Y.size == len(Y) else None
    return list(Y) if isinstance(Y, (list, tuple)) and len(Y) and all(map(_is_container, Y)) else None


def merge_containers(Y, name="y"):
    """One container from a list of single functions, irregular if their grids differ; other data unchanged."""
    singles = _singles(Y)
    if singles is None:
        return Y
    entry = next((i for i, y in enumerate(singles) if len(y) != 1), None)
    if entry is not None:
        raise ValueError(
            f"{name}: a list must have one function an entry, entry {entry} has {len(singles[entry])}; "
            "give one container, or single functions, a[0], a[1], ..."
        )
    first = singles[0]
    if not isinstance(first, IrregularFunctions) and all(_can_merge(first, y) for y in singles[1:]):
        return first.concatenate(*singles[1:]) if len(singles) > 1 else first
    curves = [_read_single(y, name) for y in singles]
    curves = [curve.with_origin(curves[0].origin) for curve in curves]
    ends = np.array([curve.domain for curve in curves])
    points, values = [curve.points[0] for curve in curves], [curve.values[0] for curve in curves]
    return IrregularFunctions(points, values, (ends[:, 0].min(), ends[:, 1].max()), curves[0].origin)


def _can_merge(first, other):
    """Whether two scikit-fda containers can be merged: same kind, and same grid or basis."""
    if type(first) is not type(other) or first.dim_codomain != other.dim_codomain:
        return False
    if is_expansion(first):
        return first.basis == other.basis
    pairs = [(first.domain_range, other.domain_range)]
    if hasattr(first, "data_matrix"):
        pairs.append((first.grid_points, other.grid_points))
    return all(len(a) == len(b) and all(map(same_points, a, b)) for a, b in pairs)


def _read_single(Y, name) -> IrregularFunctions:
    """A container of one function as ``IrregularFunctions``."""
    data, _ = read_functions(Y, None, name)
    if isinstance(data, IrregularFunctions):
        return data
    if is_expansion(Y) or len(data.axes) != 1:
        raise ValueError(f"{name}: functions of a list must be in one basis, or values on one grid if of two variables")
    values = data.values[0]
    return IrregularFunctions([data.axes[0]], [values[:, 0] if values.shape[1] == 1 else values], data.domain[0])


def as_curves(X, name="X"):
    """Inputs as one container of point values; lists are merged, expansions in a basis evaluated at equal steps."""
    return evaluate_expansion(merge_containers(X, name), name)


def read_training(Y, grid) -> FunctionOutputs:
    """Training outputs, read; for irregular functions the grid only says where to predict."""
    if isinstance(Y, FunctionOutputs):
        return Y
    merged = merge_containers(Y)
    if is_expansion(merged) and grid is not None:
        raise ValueError("grid must be None for functions in a basis; or give their values there, y.to_grid(grid)")
    irregular = isinstance(merged, IrregularFunctions) or hasattr(merged, "start_indices")
    return FunctionOutputs(*read_functions(Y, None if irregular else grid))


def rows_of_none(Y):
    """A list of rows with None replaced by rows of NaN; other data unchanged."""
    if not isinstance(Y, (list, tuple)) or not any(row is None for row in Y):
        return Y
    shape = next((np.shape(row) for row in Y if row is not None), ())
    return [np.full(shape, np.nan) if row is None else row for row in Y] if shape else Y


def read_functions(Y, grid=None, name="y", origins=None):
    """``GridFunctions`` or ``IrregularFunctions`` from any container, and their ``Layout``.

    grid : None, an increasing array (m,), or a tuple of such arrays for functions of several variables. With None,
        scikit-fda's objects have their own grid, and so do data frames whose column names are points
    origins : tuple with the origin of dates of each variable in the training outputs; None for the first date
    """
    if isinstance(Y, FunctionOutputs):
        return Y.data, Y.layout
    singles = _singles(Y)
    if singles is not None:
        return _read_singles(singles, grid, name, origins)
    if isinstance(Y, IrregularFunctions):
        Y = Y.with_origin(origins[0] if origins else None)
        return Y, Layout("IrregularFunctions", origins=() if Y.origin is None else (Y.origin,))
    if is_expansion(Y):
        return _read_basis(Y, grid, name)
    if hasattr(Y, "data_matrix"):
        return _read_fdata_grid(Y, grid, name)
    if hasattr(Y, "start_indices"):
        return _read_fdata_irregular(Y, name)
    if hasattr(Y, "to_grid"):
        raise TypeError(f"{name} is a {type(Y).__name__}; give its values at points, {name}.to_grid(points)")
    return _read_array(Y, grid, name, origins)


def _read_singles(singles, grid, name, origins):
    """A list of single functions."""
    data, layout = read_functions(merge_containers(singles, name), grid, name, origins)
    if hasattr(singles[0], "data_matrix"):  # also if their grids differ
        layout = Layout("FDataGrid", names=_names(singles[0]))
    return data, replace(layout, listed=True)


def _read_fdata_grid(Y, grid, name):
    """A FDataGrid of scikit-fda."""
    axes: tuple = tuple(np.asarray(axis, dtype=float) for axis in Y.grid_points)
    domain = tuple((float(low), float(high)) for low, high in Y.domain_range)
    matrix = np.array(Y.data_matrix, dtype=float)
    check_grids(axes, matrix.shape[1:-1], name)
    user_axes = axes if grid is None else as_axes(grid)
    if len(user_axes) != len(axes) or not all(map(same_points, user_axes, axes)):
        raise ValueError(f"grid must be None or equal to the grid_points that {name} brings along")
    if np.isinf(matrix).any():
        raise ValueError(f"{name} contains infinity; use NaN for points that were not observed")
    return GridFunctions(matrix, axes, domain), Layout("FDataGrid", names=_names(Y))


def _read_fdata_irregular(Y, name):
    """A FDataIrregular of scikit-fda."""
    if Y.dim_domain != 1:
        raise ValueError(f"{name}: irregular functions must have one variable, got {Y.dim_domain}; use a FDataGrid")
    cuts = np.asarray(Y.start_indices)[1:]
    points, values = (np.split(np.asarray(a, dtype=float), cuts) for a in (Y.points[:, 0], Y.values))
    return IrregularFunctions(points, values, Y.domain_range[0]), Layout("FDataIrregular", names=_names(Y))


def _read_array(Y, grid, name, origins):
    """An array, a list of rows, or a data frame, whose column names may be the grid."""
    try:
        array = check_array(
            rows_of_none(numbers_of(Y)),
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
    column_points = points_of(Y) if grid is None else None
    if column_points is not None:
        points, origin = column_points
        _check_increase(Y, points, name)
        points, origin = change_origin(points, origin, origins[0] if origins else None)
        axes, origins = (points,), (origin,)
    else:
        axes, origins = _array_axes(grid, array, name, origins)
    values = array.reshape(len(array), *(len(axis) for axis in axes), -1)
    domain = tuple((axis[0], axis[-1]) for axis in axes)
    origins = origins if any(origin is not None for origin in origins) else ()
    layout = Layout("array", ndim=array.ndim, named_points=column_points is not None, origins=origins)
    return GridFunctions(values, axes, domain), layout


def _check_increase(Y, points, name):
    """Raise unless the points in the column names of a data frame increase."""
    if (np.diff(points) > 0).all():
        return
    names = list(Y.columns)
    if len(set(points)) < len(points):
        remedy = "leave out columns of equal points, or set grid= to other points"
    else:
        sorted_names = _abbreviate([names[j] for j in np.argsort(points)])
        remedy = f"give {name}[names] with names = {sorted_names}, or set grid= to other points"
    raise ValueError(
        f"{name}: the names of its columns are the points of the grid, which must increase from column to column, got "
        f"{_abbreviate(names)}; {remedy}"
    )


def _abbreviate(names):
    """Text of the first names of a list, with dates unabridged."""
    abbreviation = reprlib.Repr()
    abbreviation.maxother = 50
    return abbreviation.repr(names)


def _read_basis(Y, grid, name):
    """Functions in a basis at the points of a grid, by default at points whose quadrature is exact for the basis."""
    check_basis(Y.basis, name)
    (points,) = (gauss_quadrature(Y.basis)[0],) if grid is None else as_axes(grid)
    check_inside(points, Y.basis.domain_range[0], "grid")
    coefficients = np.asarray(Y.coefficients, dtype=float)
    if np.isinf(coefficients).any():
        raise ValueError(f"{name} contains infinity; use NaN for functions that were not observed")
    values = coefficients @ atom_values(Y.basis, points)
    domain = tuple((float(low), float(high)) for low, high in Y.basis.domain_range)
    return GridFunctions(values[..., None], (points,), domain), Layout("FDataBasis", names=_names(Y), basis=Y.basis)


def curves_on_grid(X, grid=None, name="X") -> GridFunctions:
    """Input curves of one variable on a common grid, values (n, m, channels), for kernels.

    Irregular curves are interpolated linearly on 101 points of their domain.
    """
    curves, _ = read_functions(evaluate_expansion(X, name), grid, name)
    if isinstance(curves, IrregularFunctions):
        return resample_curves(curves, grid, name)
    if len(curves.axes) != 1:
        raise ValueError(f"{name} must be functions of one variable for this kernel, got {len(curves.axes)}")
    return curves


def resample_curves(curves: IrregularFunctions, grid, name) -> GridFunctions:
    """Irregular curves interpolated on a grid (m,), by default on 101 points of their domain."""
    low, high = curves.domain
    equal_steps = (np.linspace(low, high, DEFAULT_POINTS if low < high else 1),)
    axes = equal_steps if grid is None else as_axes(grid, (curves.origin,))
    if len(axes) != 1:
        raise ValueError(f"grid must be one increasing array of points for irregular curves, got {len(axes)}")
    check_grids(axes, [axes[0].size], name)
    return GridFunctions(interpolate_curves(curves, axes[0]), axes, (curves.domain,))


def interpolate_curves(curves: IrregularFunctions, axis):
    """Linear interpolation (n, m, p) of irregular curves at the points of axis; constant beyond their ends."""
    out = np.empty((len(curves), len(axis), curves.n_curves))
    for rows, points, values in zip(out, curves.points, curves.values, strict=True):
        order = np.argsort(points)
        for column, value in zip(rows.T, values.reshape(len(points), curves.n_curves)[order].T, strict=True):
            column[:] = interpolate_observed(points[order], value, axis)
    return out


def _array_axes(grid, array, name, origins=None):
    """Grids of an array (n, m_1, ..., m_k) or (n, m_1, ..., m_k, p), equal steps on [0, 1] by default, and origins."""
    shape = array.shape[1:] or (1,)
    if grid is None:
        if len(shape) > 2:
            raise ValueError(
                f"{name} has shape {array.shape}: give grid as a tuple with the points of each variable, "
                "or an array (n, m) or (n, m, p)"
            )
        return (np.linspace(0.0, 1.0, shape[0]),), ()
    axes, origins = read_axes(grid, origins)
    if len(shape) not in (len(axes), len(axes) + 1):
        raise ValueError(
            f"grid has {len(axes)} axes, so {name} must have {len(axes) + 1} dimensions (or one more, for several "
            f"functions a sample), got shape {array.shape}"
        )
    check_grids(axes, shape[: len(axes)], name)
    return axes, origins


def _names(Y):
    return {key: getattr(Y, key) for key in ("dataset_name", "argument_names", "coordinate_names")}
