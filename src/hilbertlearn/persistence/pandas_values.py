"""Indices, dtypes and scalars of pandas as parts: see ``kinds``.

Models keep the index, the columns and the dtypes of the training outputs, and no frames.
"""

from __future__ import annotations

import numpy as np
import pandas

from .kinds import Kind, require

_NULLABLE = tuple(f"{sign}Int{bits}Dtype" for sign in ("", "U") for bits in (8, 16, 32, 64))
_NULLABLE += ("Float32Dtype", "Float64Dtype", "BooleanDtype")


def _require_array(values):
    """Refuse ranges and other values that are short in a file and long as an index."""
    require(isinstance(values, np.ndarray) and values.ndim == 1, "no values of an index")


def _index_parts(index):
    """Values, the dtype where the values have another one, and the name."""
    values = np.asarray(index.to_numpy())
    return [values, None if values.dtype == index.dtype else index.dtype, index.name]


def _index(values, dtype, name):
    _require_array(values)
    return pandas.Index(values, dtype=dtype, name=name)


def _range_parts(index):
    return [index.start, index.stop, index.step, index.name]


def _range(start, stop, step, name):
    return pandas.RangeIndex(start, stop, step, name=name)


def _datetime_parts(index):
    naive = index if index.tz is None else index.tz_convert("UTC").tz_localize(None)
    return [naive.to_numpy(), index.tz, index.freqstr, index.name]


def _datetime(values, zone, frequency, name):
    _require_array(values)
    index = pandas.DatetimeIndex(values, name=name)
    if zone is not None:
        require(not isinstance(zone, str), "time zones are objects")
        index = index.tz_localize("UTC").tz_convert(zone)
    index.freq = frequency
    return index


def _period_parts(index):
    return [index.asi8, index.freqstr, index.name]


def _period(ordinals, frequency, name):
    _require_array(ordinals)
    require(isinstance(frequency, str), "no periods")
    return pandas.PeriodIndex.from_ordinals(ordinals, freq=frequency, name=name)


def _categorical_parts(index):
    return [index.codes, index.dtype, index.name]


def _categorical(codes, dtype, name):
    _require_array(codes)
    return pandas.CategoricalIndex(pandas.Categorical.from_codes(codes, dtype=dtype), name=name)


def _multi_parts(index):
    return [tuple(index.levels), tuple(np.asarray(codes) for codes in index.codes), tuple(index.names)]


def _multi(levels, codes, names):
    require(isinstance(codes, tuple), "no index of several levels")
    for level_codes in codes:
        _require_array(level_codes)
    return pandas.MultiIndex(levels, codes, names=names)


def _nullable_dtype(name):
    require(name in _NULLABLE, f"no dtype of {_NULLABLE}")
    return getattr(pandas, name)()


def _string_dtype_parts(dtype):
    return [dtype.storage, isinstance(dtype.na_value, float)]


def _string_dtype(storage, missing_is_nan):
    return pandas.StringDtype(storage, na_value=np.nan if missing_is_nan else pandas.NA)


def _zoned_dtype(unit, zone):
    require(not isinstance(zone, str), "time zones are objects")
    return pandas.DatetimeTZDtype(unit, zone)


def _timestamp_parts(timestamp):
    return [timestamp.asm8, timestamp.tzinfo]


def _timestamp(value, zone):
    timestamp = pandas.Timestamp(value)
    return timestamp if zone is None else timestamp.tz_localize("UTC").tz_convert(zone)


def _missing_parts(value):
    return ["NA" if value is pandas.NA else "NaT"]


def _missing(name):
    require(name in ("NA", "NaT"), "neither NA nor NaT")
    return getattr(pandas, name)


KINDS = (
    Kind("pandas.Index", ("pandas.Index", "pandas.TimedeltaIndex"), _index_parts, _index),
    Kind("pandas.RangeIndex", ("pandas.RangeIndex",), _range_parts, _range),
    Kind("pandas.DatetimeIndex", ("pandas.DatetimeIndex",), _datetime_parts, _datetime),
    Kind("pandas.PeriodIndex", ("pandas.PeriodIndex",), _period_parts, _period),
    Kind("pandas.CategoricalIndex", ("pandas.CategoricalIndex",), _categorical_parts, _categorical),
    Kind("pandas.MultiIndex", ("pandas.MultiIndex",), _multi_parts, _multi),
    Kind(
        "pandas.dtype",
        tuple(f"pandas.{name}" for name in _NULLABLE),
        lambda dtype: [type(dtype).__name__],
        _nullable_dtype,
    ),
    Kind("pandas.StringDtype", ("pandas.StringDtype",), _string_dtype_parts, _string_dtype),
    Kind(
        "pandas.CategoricalDtype",
        ("pandas.CategoricalDtype",),
        lambda dtype: [dtype.categories, dtype.ordered],
        pandas.CategoricalDtype,
    ),
    Kind("pandas.DatetimeTZDtype", ("pandas.DatetimeTZDtype",), lambda dtype: [dtype.unit, dtype.tz], _zoned_dtype),
    Kind("pandas.Timestamp", ("pandas.Timestamp",), _timestamp_parts, _timestamp),
    Kind("pandas.Timedelta", ("pandas.Timedelta",), lambda delta: [delta.asm8], pandas.Timedelta),
    Kind("pandas.missing", ("pandas.NAType", "pandas.NaTType"), _missing_parts, _missing),
)
