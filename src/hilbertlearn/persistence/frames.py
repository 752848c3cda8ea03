"""Data frames, series, indices and dtypes of pandas and polars as parts: see ``kinds``."""

from __future__ import annotations

import numpy as np

from .kinds import Kind, require

_NULLABLE = tuple(f"{sign}Int{bits}Dtype" for sign in ("", "U") for bits in (8, 16, 32, 64))
_NULLABLE += ("Float32Dtype", "Float64Dtype", "BooleanDtype")
POLARS = tuple(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64))
POLARS += ("Float32", "Float64", "Boolean", "String", "Binary", "Date", "Time", "Null", "Object", "Categorical")


def _are_values(values, dimensions=1) -> bool:
    """Whether values are those of an array: whatever else frames are made of may be short here and long there."""
    return isinstance(values, np.ndarray) and values.ndim == dimensions


def _values(column):
    """Values of a column, and its dtype where these do not have it."""
    values = np.asarray(column.to_numpy())
    return [values, None if values.dtype == column.dtype else column.dtype]


def _index_parts(index):
    return [*_values(index), index.name]


def _index(values, dtype, name):
    import pandas

    require(_are_values(values), "no index")
    return pandas.Index(values, dtype=dtype, name=name)


def _range_index(start, stop, step, name):
    import pandas

    return pandas.RangeIndex(start, stop, step, name=name)


def _moments_parts(index):
    naive = index if index.tz is None else index.tz_convert("UTC").tz_localize(None)
    return [naive.to_numpy(), index.tz, index.freqstr, index.name]


def _moments(values, zone, frequency, name):
    import pandas

    require(_are_values(values), "no times")
    index = pandas.DatetimeIndex(values, name=name)
    if zone is not None:
        require(not isinstance(zone, str), "time zones are objects")
        index = index.tz_localize("UTC").tz_convert(zone)
    index.freq = frequency
    return index


def _periods(ordinals, frequency, name):
    import pandas

    require(_are_values(ordinals) and isinstance(frequency, str), "no periods")
    return pandas.PeriodIndex.from_ordinals(ordinals, freq=frequency, name=name)


def _categories_index_parts(index):
    return [index.codes, index.dtype, index.name]


def _categories_index(codes, dtype, name):
    import pandas

    require(_are_values(codes), "no categories")
    return pandas.CategoricalIndex(pandas.Categorical.from_codes(codes, dtype=dtype), name=name)


def _multi_index_parts(index):
    return [tuple(index.levels), tuple(np.asarray(codes) for codes in index.codes), tuple(index.names)]


def _multi_index(levels, codes, names):
    import pandas

    require(isinstance(codes, tuple) and all(map(_are_values, codes)), "no index of several levels")
    return pandas.MultiIndex(levels, codes, names=names)


def _column_parts(column):
    if hasattr(column.dtype, "categories"):
        return [np.asarray(column.cat.codes), column.dtype]
    if hasattr(column.dtype, "tz"):
        return [column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(), column.dtype]
    return _values(column)


def _column(values, dtype, index):
    import pandas

    require(_are_values(values) and len(values) == len(index), "no column")
    if hasattr(dtype, "categories"):
        return pandas.Series(pandas.Categorical.from_codes(values, dtype=dtype), index=index)
    if hasattr(dtype, "tz"):
        return pandas.Series(values, index=index).dt.tz_localize("UTC").astype(dtype)
    return pandas.Series(values, index=index, dtype=dtype)


def _series_parts(series):
    return [series.index, series.name, *_column_parts(series)]


def _series(index, name, values, dtype):
    return _column(values, dtype, index).rename(name)


def _frame_parts(frame):
    columns = (_column_parts(frame.iloc[:, j]) for j in range(frame.shape[1]))
    return [frame.index, frame.columns, *(part for column in columns for part in column)]


def _frame(index, names, *parts):
    import pandas

    columns = [_column(values, dtype, index) for values, dtype in zip(parts[::2], parts[1::2], strict=True)]
    frame = pandas.DataFrame(dict(enumerate(columns)), index=index)
    frame.columns = names
    return frame


def _nullable(name):
    import pandas

    require(name in _NULLABLE, f"no dtype of {_NULLABLE}")
    return getattr(pandas, name)()


def _text_dtype(storage, nan):
    import pandas

    return pandas.StringDtype(storage, na_value=np.nan if nan else pandas.NA)


def _categorical_dtype(categories, ordered):
    import pandas

    return pandas.CategoricalDtype(categories, ordered)


def _zoned_dtype(unit, zone):
    import pandas

    require(not isinstance(zone, str), "time zones are objects")
    return pandas.DatetimeTZDtype(unit, zone)


def _moment_parts(moment):
    return [moment.asm8, moment.tzinfo]


def _moment(value, zone):
    import pandas

    moment = pandas.Timestamp(value)
    return moment if zone is None else moment.tz_localize("UTC").tz_convert(zone)


def _span(value):
    import pandas

    return pandas.Timedelta(value)


def _missing(name):
    import pandas

    require(name in ("NA", "NaT"), "neither NA nor NaT")
    return getattr(pandas, name)


def _polars_dtype(name):
    import polars

    require(name in POLARS, f"no dtype of {POLARS}")
    return getattr(polars, name)()


def _polars_times(name, unit, zone):
    import polars

    return polars.Datetime(unit, zone) if name == "Datetime" else polars.Duration(unit)


def _polars_enum(*categories):
    import polars

    return polars.Enum(list(categories))


def _polars_list(inner):
    import polars

    return polars.List(inner)


def _tuples(values):
    """Lists, also inside lists, as tuples, which are complete when a series is made of them."""
    return tuple(map(_tuples, values)) if isinstance(values, list) else values


def _lists(values):
    return list(map(_lists, values)) if isinstance(values, tuple) else values


def _polars_series_parts(series):
    plain = series.dtype.is_numeric() and not series.null_count()
    return [series.name, series.dtype, series.to_numpy() if plain else _tuples(series.to_list())]


def _polars_series(name, dtype, values):
    import polars

    require(isinstance(name, str) and (_are_values(values) or isinstance(values, tuple)), "no column")
    return polars.Series(name, _lists(values), dtype=dtype)


def _polars_frame_parts(frame):
    return [part for series in frame.get_columns() for part in _polars_series_parts(series)]


def _polars_frame(*parts):
    import polars

    return polars.DataFrame([_polars_series(*parts[i : i + 3]) for i in range(0, len(parts), 3)])


FRAMES = (
    Kind("pandas.Index", ("pandas.Index", "pandas.TimedeltaIndex"), _index_parts, _index),
    Kind(
        "pandas.RangeIndex",
        ("pandas.RangeIndex",),
        lambda index: [index.start, index.stop, index.step, index.name],
        _range_index,
    ),
    Kind("pandas.DatetimeIndex", ("pandas.DatetimeIndex",), _moments_parts, _moments),
    Kind(
        "pandas.PeriodIndex",
        ("pandas.PeriodIndex",),
        lambda index: [index.asi8, index.freqstr, index.name],
        _periods,
    ),
    Kind("pandas.CategoricalIndex", ("pandas.CategoricalIndex",), _categories_index_parts, _categories_index),
    Kind("pandas.MultiIndex", ("pandas.MultiIndex",), _multi_index_parts, _multi_index),
    Kind("pandas.Series", ("pandas.Series",), _series_parts, _series),
    Kind("pandas.DataFrame", ("pandas.DataFrame",), _frame_parts, _frame),
    Kind(
        "pandas.dtype",
        tuple(f"pandas.{name}" for name in _NULLABLE),
        lambda dtype: [type(dtype).__name__],
        _nullable,
    ),
    Kind(
        "pandas.StringDtype",
        ("pandas.StringDtype",),
        lambda dtype: [dtype.storage, isinstance(dtype.na_value, float)],
        _text_dtype,
    ),
    Kind(
        "pandas.CategoricalDtype",
        ("pandas.CategoricalDtype",),
        lambda dtype: [dtype.categories, dtype.ordered],
        _categorical_dtype,
    ),
    Kind("pandas.DatetimeTZDtype", ("pandas.DatetimeTZDtype",), lambda dtype: [dtype.unit, dtype.tz], _zoned_dtype),
    Kind("pandas.Timestamp", ("pandas.Timestamp",), _moment_parts, _moment),
    Kind("pandas.Timedelta", ("pandas.Timedelta",), lambda span: [span.asm8], _span),
    Kind(
        "pandas.missing",
        ("pandas.NAType", "pandas.NaTType"),
        lambda value: ["NA" if type(value).__name__ == "NAType" else "NaT"],
        _missing,
    ),
    Kind("polars.dtype", tuple(f"polars.{name}" for name in POLARS), lambda dtype: [str(dtype)], _polars_dtype),
    Kind(
        "polars.times",
        ("polars.Datetime", "polars.Duration"),
        lambda dtype: [type(dtype).__name__, dtype.time_unit, getattr(dtype, "time_zone", None)],
        _polars_times,
    ),
    Kind("polars.Enum", ("polars.Enum",), lambda dtype: dtype.categories.to_list(), _polars_enum),
    Kind("polars.List", ("polars.List",), lambda dtype: [dtype.inner], _polars_list),
    Kind("polars.Series", ("polars.Series",), _polars_series_parts, _polars_series),
    Kind("polars.DataFrame", ("polars.DataFrame",), _polars_frame_parts, _polars_frame),
)
