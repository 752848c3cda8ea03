"""Dates and times as numbers of days, and points from column names.

Dates are days since an origin, by default the first date. Time zones are converted to UTC; dates without a time zone
are in UTC. A period is its beginning. Durations and times of the day are days without an origin.
"""

from __future__ import annotations

import datetime
import re

import numpy as np

from .items import is_missing, object_array

_DAY = np.timedelta64(1, "D")
_EPOCH = np.datetime64("1970-01-01", "us")  # origin where all dates are missing
_NUMBER = re.compile(r"(?:(?<![A-Za-z0-9.])-)?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")
_DATE = re.compile(
    r"(?<!\d)(?P<month>\d{4}[-/]\d{2})(?P<day>[-/]\d{2})?(?![\d/-])"
    r"(?P<time>[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{3,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_QUARTER = re.compile(r"(?<!\d)(?P<year>\d{4})[ -]?Q(?P<quarter>[1-4])(?!\d)")
_CLOCK = re.compile(
    r"(?:(?P<days>-?\d+) days? )?(?<![\d:])(?P<hours>\d{1,3})[:h](?P<minutes>[0-5]\d)"
    r"(?::(?P<seconds>[0-5]\d(?:\.\d+)?))?(?![\d:])(?: ?(?P<half>[AaPp])\.?[Mm]\b\.?)?"
)
_RANGE = re.compile(r"(?<![\d.])(?P<low>\d+(?:\.\d+)?)(?:\s*(?:-|\u2013|to)\s*(?P<high>\d+(?:\.\d+)?)|(?P<open>\+))?")


def as_times(values):
    """Dates (n,) as datetime64 in UTC, or durations (n,) as timedelta64, NaT where missing; None for other values.

    values : series or index of pandas, series of polars, array or list
    """
    if getattr(getattr(values, "dtype", None), "tz", None) is not None:  # of pandas
        values = getattr(values, "dt", values).tz_convert(None)
    if not hasattr(values, "__len__"):
        return None
    array = np.asarray(values) if hasattr(values, "dtype") else object_array(values)
    if array.dtype.kind in "mM":
        return array
    if array.dtype.kind != "O" or array.ndim != 1:
        return None
    times = []
    for item in array:
        time = _as_time(item)
        if time is None:
            return None
        times.append(time)
    kinds = {time.dtype.kind for time in times if time is not _MISSING}
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    return np.array([np.datetime64("NaT") if time is _MISSING else time for time in times]).astype(f"{kind}8[us]")


_MISSING = np.datetime64("NaT")


def _as_time(item):
    """A date or a duration as a numpy scalar, ``_MISSING`` for a missing one; None for other objects."""
    if is_missing(item):
        return _MISSING
    if isinstance(item, (np.datetime64, np.timedelta64)):
        return _MISSING if np.isnat(item) else item
    if type(item).__name__ == "Period":
        item = item.start_time
    if isinstance(item, datetime.datetime):
        naive = item if item.tzinfo is None else item.astimezone(datetime.UTC).replace(tzinfo=None)
        return np.datetime64(naive, "us")
    if isinstance(item, datetime.date):
        return np.datetime64(item, "us")
    return np.timedelta64(item, "us") if isinstance(item, datetime.timedelta) else None


def first_date(times):
    """The origin of times: the first date, 1970 if all are missing; None for durations."""
    if times.dtype.kind == "m":
        return None
    known = times[~np.isnat(times)]
    return known.min().astype("M8[us]") if len(known) else _EPOCH


def as_date(value, name):
    """A date object, or text in ISO 8601 format, as datetime64 in UTC."""
    times = as_times([value])
    if isinstance(value, str):
        parsed = points_in([value])
        times = None if parsed is None or parsed[1] is None else np.array(parsed[1:])
    if times is None or times.dtype.kind != "M" or np.isnat(times[0]):
        raise ValueError(f"{name} must be a date, such as numpy.datetime64('2001-01-31'), got {value!r}")
    return times[0].astype("M8[us]")


def days(times, origin):
    """Days (n,) from the origin to dates, or of durations; NaN where missing."""
    if times.dtype.kind == "m":
        return times / _DAY
    rounded = times.astype("M8[us]")
    return (rounded - origin) / _DAY + (times - rounded) / _DAY  # keeps units finer than a microsecond


def dates_at(points, origin):
    """Dates (m,), rounded to seconds, of points (m,) in days since an origin."""
    seconds = np.round(np.asarray(points, dtype=float) * 86400).astype("m8[s]")
    return (origin + seconds).astype("M8[s]")


def date_text(origin) -> str:
    """A date as text, without the time of the day if it is midnight."""
    midnight = origin == origin.astype("M8[D]")
    return str(origin.astype("M8[D]" if midnight else "M8[s]"))


def read_points(points, origin=None):
    """Points (m,) as floats, and the origin of dates, None for other points.

    points : numbers, dates, durations, or text that ``points_in`` reads
    origin : of dates, None for the first date
    """
    text = len(points) and all(isinstance(point, str) for point in points)
    parsed = points_in(points) if text else None
    if parsed is None:
        times = as_times(points)
        if times is None:
            return np.asarray(points, dtype=float), None
        parsed = days(times, first_date(times)), first_date(times)
    values, first = parsed
    return change_origin(values, first, origin)


def change_origin(points, first, origin):
    """Points in days since `first` as days since `origin`, and the origin; unchanged where either is None."""
    if first is None or origin is None:
        return points, first
    return points + float((first - origin) / _DAY), origin


# ---------------------------------------------------------------- names of columns


def points_in(names):
    """Points (m,) from names, and the origin of dates, None for other points; None if names are not points.

    - numbers, and text that is a number: 2001, "0.5";
    - dates, periods, durations, and text in the format of ISO 8601: "2001-01", "2001-01-31 06:30", "2001Q1";
    - times of the day: "00:30", "6h15", "1:30 pm";
    - a number in otherwise equal text: "m1", "load_00.5h". After a letter and a hyphen it is negative if the numbers
      decrease: "t-2", "t-1";
    - ranges, by their middle: "0-4", "5-9", "85+".

    Text around dates, times and ranges is allowed if it is the same in all names.
    """
    names = list(names)
    times = as_times(names)
    if times is not None and not np.isnat(times).any():
        origin = first_date(times)
        return days(times, origin), origin
    try:
        numbers = np.array([float(name) for name in names])
    except (TypeError, ValueError):
        return _points_in_text(names) if all(isinstance(name, str) for name in names) else None
    return (numbers, None) if len(numbers) and np.isfinite(numbers).all() else None


def _points_in_text(names):
    """``points_in`` of names that are text."""
    dates = _matched(_DATE, names) or _matched(_QUARTER, names)
    if dates:
        try:
            times = as_times([_date(match) for match in dates])
        except ValueError:  # such as 2001-13
            times = None
        if times is not None:
            return days(times, first_date(times)), first_date(times)
    clock = _matched(_CLOCK, names)
    if clock:
        return np.array([_time_of_day(match) for match in clock]), None
    if len(names) == 1:  # a single name has no common text to compare with
        return None
    points = _numbers(names)
    points = _middles(names) if points is None else points
    return None if points is None else (points, None)


def _matched(pattern, names):
    """The last match of a pattern in each name; empty if a name has no match or the remaining text differs."""
    matches = [list(pattern.finditer(name)) for name in names]
    if not all(matches):
        return []
    last = [match[-1] for match in matches]
    rest = {(match.string[: match.start()], match.string[match.end() :]) for match in last}
    return last if len(rest) == 1 else []


def _date(match):
    """The date of a match of ``_DATE`` or ``_QUARTER``."""
    parts = match.groupdict()
    if "quarter" in parts:
        return datetime.datetime(int(parts["year"]), 3 * int(parts["quarter"]) - 2, 1)
    day = (parts["month"] + (parts["day"] or "-01")).replace("/", "-")
    return datetime.datetime.fromisoformat(day + (parts["time"] or ""))


def _time_of_day(match):
    """Days of a match of ``_CLOCK``."""
    texts = match.groupdict()
    half = (texts.pop("half") or "").lower()
    parts = {name: float(part or 0) for name, part in texts.items()}
    hours = parts["hours"] % 12 + 12 * (half == "p") if half else parts["hours"]
    return parts["days"] + (hours + parts["minutes"] / 60 + parts["seconds"] / 3600) / 24


def _numbers(names):
    """Distinct numbers in otherwise equal names; None without them."""
    matches = _matched(_NUMBER, names)
    points = np.array([float(match.group().replace(",", ".")) for match in matches])
    if not len(points) or len(set(points)) < len(points) or not np.isfinite(points).all():
        return None
    lags = all(re.search("[A-Za-z]-$", match.string[: match.start()]) for match in matches)
    return -points if lags and (np.diff(points) < 0).all() else points  # t-3, t-2, t-1


def _middles(names):
    """Middles of ranges, at least one with two ends; an open range is as wide as the last closed one."""
    ends = [(float(m["low"]), float(m["high"] or m["low"]), bool(m["open"])) for m in _matched(_RANGE, names)]
    closed = [(low, high) for low, high, _ in ends if high > low]
    if not closed or any(high < low for low, high, _ in ends):
        return None
    half = np.diff(max(closed))[0] / 2
    return np.array([low + half if is_open else (low + high) / 2 for low, high, is_open in ends])
