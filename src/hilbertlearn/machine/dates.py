"""Dates and durations among inputs: numbers of days, dates since the first one of the training inputs."""

from __future__ import annotations

import numpy as np

from .._utils.summary import SummaryItems
from ..data.frames import column_values, columns_of, is_frame, with_columns
from ..data.functions import IrregularFunctions, has_points
from ..data.times import as_times, date_text, days, first_date

_N_NAMES = 3  # names of columns in an item of the summary


def with_days(estimator, X, reset, single=False):
    """Inputs with days in place of dates and durations; anything else as it is.

    With reset the estimator remembers the first date of each column in ``X_origins_``: an origin by the name, or the
    position, of a column, None for durations; "X" for curves. Else days are counted from there.

    single : whether dates (n,), in a list, an array or a series, become days too, or are objects
    """
    origins: dict = {} if reset else dict(getattr(estimator, "X_origins_", {}))
    if isinstance(X, IrregularFunctions):
        X = _convert_curves(X, origins, reset)
    elif is_frame(X):
        X = _convert_frame(X, origins, reset)
    elif not hasattr(X, "data_matrix"):
        X = _convert_rows(X, origins, reset, single, getattr(estimator, "feature_names_in_", None))
    if reset and (origins or hasattr(estimator, "X_origins_")):
        estimator.X_origins_ = origins
    return X


def date_items(estimator) -> SummaryItems:
    """The units and origins of dates among inputs and points of outputs, for ``summary()``."""
    items: SummaryItems = []
    by_origin: dict = {}
    for name, origin in getattr(estimator, "X_origins_", {}).items():
        by_origin.setdefault(origin, []).append(str(name))
    if by_origin:
        items.append(
            (
                "dates",
                "; ".join(f"{list_names(names, _N_NAMES)} {_unit(origin)}" for origin, names in by_origin.items()),
            )
        )
    grids = getattr(estimator, "grid_origin_", None)
    dated = [origin for origin in (grids if isinstance(grids, tuple) else (grids,)) if origin is not None]
    return items + [("grid", "; ".join(map(_unit, dated)))] * bool(dated)


def _unit(origin):
    return "in days" if origin is None else f"in days since {date_text(origin)}"


def list_names(names, number) -> str:
    """The first names, so many at most, and the number of further ones."""
    return ", ".join(names[:number]) + f" and {len(names) - number} more" * (len(names) > number)


def _convert_curves(X, origins, reset):
    if reset and X.origin is not None:
        origins["X"] = X.origin
    return X.with_origin(origins.get("X"))


def _convert_frame(X, origins, reset):
    converted = {}
    for j, (name, column) in enumerate(zip(X.columns, columns_of(X), strict=True)):
        times = _times(column)
        if times is not None:
            converted[j] = _count_days(times, name, origins, reset)
        else:
            _refuse_numbers(column, name, origins)
    return with_columns(X, converted) if converted else X


def _convert_rows(X, origins, reset, single, names):
    """Days in an array, a series or a list; columns have the names of the training inputs where these are known."""
    if _are_rows_of_dates(X):
        X = np.array([list(row) for row in X], dtype=object)
    if getattr(X, "ndim", 1) == 1 and single:
        times = _times(X)
        return X if times is None else _count_days(times, 0 if names is None else names[0], origins, reset)
    if getattr(X, "ndim", 1) != 2 or getattr(X.dtype, "kind", "") not in ("O", "m", "M"):
        return X
    return _convert_matrix(X, origins, reset, names)


def _are_rows_of_dates(X) -> bool:
    """Whether X is a list of rows with dates in the first."""
    in_rows = isinstance(X, (list, tuple)) and len(X) and isinstance(X[0], (list, tuple, np.ndarray))
    return bool(in_rows) and as_times(X[0]) is not None


def _convert_matrix(X, origins, reset, names):
    """Days in the columns of dates of a two-dimensional array."""
    columns, times = list(X.T), [_times(column) for column in X.T]
    if all(column is None for column in times):
        return X
    names = range(len(times)) if names is None or len(names) != len(times) else names
    for j, (name, column) in enumerate(zip(names, times, strict=True)):
        columns[j] = columns[j] if column is None else _count_days(column, name, origins, reset)
    return np.column_stack(columns)


def _times(column):
    """Dates or durations (n,) of a column, None for others."""
    is_numeric = getattr(getattr(column, "dtype", None), "kind", "") in ("b", "i", "u", "f")
    return None if is_numeric or has_points(getattr(column, "array", None)) else as_times(column)


def _refuse_numbers(column, name, origins):
    """Raise if a column has numbers where the training inputs had dates: their unit and origin are unknown."""
    if name not in origins:
        return
    values = column_values(column)
    if values.dtype.kind in "iuf" and not np.isnan(values).all():
        what = "durations" if origins[name] is None else "dates"
        raise ValueError(f"X: column {name!r} has numbers, and the training inputs had {what} there; give {what}")


def _count_days(times, name, origins, reset):
    if reset:
        origins[name] = first_date(times)
    dated = times.dtype.kind == "M"
    if name not in origins or (origins[name] is not None) != dated:
        what = "numbers" if name not in origins else "dates" if not dated else "durations"
        raise ValueError(
            f"X: column {name!r} has {'dates' if dated else 'durations'}, and the training inputs had {what} there; "
            f"give {what}"
        )
    return days(times, origins[name])
