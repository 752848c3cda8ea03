"""Dates and times as numbers of days, and the points that names of columns stand for.

Dates are days since an origin, by default the first of them; time zones are converted to UTC, and dates without one
are taken as UTC. Periods are their beginnings. Durations and times of the day are days too, without an origin.
"""

from __future__ import annotations

import datetime
import re

import numpy as np

_DAY = np.timedelta64(1, "D")
_EPOCH = np.datetime64("1970-01-01", "us")  # origin of dates that are all missing
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
    """Dates (n,), datetime64 in UTC, or durations (n,), timedelta64, NaT where missing; None for any other values.

    values : series or index of pandas, series of polars, array or list
    """
    if getattr(getattr(values, "dtype", None), "tz", None) is not None:  # of pandas
        values = getattr(values, "dt", values).tz_convert(None)
    if not hasattr(values, "__len__"):
        return None
    array = np.asarray(values) if hasattr(values, "dtype") else _objects(values)
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


def _objects(values):
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def _as_time(item):
    """A date or a duration as a scalar of numpy, ``_MISSING`` where there is none; None for other objects."""
    if item is None or type(item).__name__ in ("NAType", "NaTType") or (isinstance(item, float) and np.isnan(item)):
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
    """The origin of times: the first date, 1970 where all are missing; None for durations."""
    if times.dtype.kind == "m":
        return None
    known = times[~np.isnat(times)]
    return known.min().astype("M8[us]") if len(known) else _EPOCH


def as_date(value, name):
    """A date, an object or text in the format of ISO 8601, as datetime64 in UTC."""
    times = as_times([value])
    if isinstance(value, str):
        found = points_in([value])
        times = None if found is None or found[1] is None else np.array(found[1:])
    if times is None or times.dtype.kind != "M" or np.isnat(times[0]):
        raise ValueError(f"{name} must be a date, such as numpy.datetime64('2001-01-31'), got {value!r}")
    return times[0].astype("M8[us]")


def days(times, origin):
    """Days (n,) from the origin to dates, or of durations; NaN where missing."""
    if times.dtype.kind == "m":
        return times / _DAY
    whole = times.astype("M8[us]")
    return (whole - origin) / _DAY + (times - whole) / _DAY  # units finer than a microsecond may have a later origin


def dates_at(points, origin):
    """Dates (m,), to the second, that are as many days after an origin as points (m,) say."""
    seconds = np.round(np.asarray(points, dtype=float) * 86400).astype("m8[s]")
    return (origin + seconds).astype("M8[s]")


def date_text(origin) -> str:
    """A date without the time of the day where that is midnight."""
    midnight = origin == origin.astype("M8[D]")
    return str(origin.astype("M8[D]" if midnight else "M8[s]"))


def read_points(points, origin=None):
    """Points (m,) as floats, and the origin where they are dates, else None.

    points : numbers, dates, durations, or text that names of columns could be
    origin : of the dates, None for the first of them
    """
    text = len(points) and all(isinstance(point, str) for point in points)
    found = points_in(points) if text else None
    if found is None:
        times = as_times(points)
        if times is None:
            return np.asarray(points, dtype=float), None
        found = days(times, first_date(times)), first_date(times)
    own, first = found
    return change_origin(own, first, origin)


def change_origin(points, first, origin):
    """Points in days since one origin as points since another, and this; unchanged where either is None."""
    if first is None or origin is None:
        return points, first
    return points + float((first - origin) / _DAY), origin


# ---------------------------------------------------------------- names of columns


def points_in(names):
    """The points (m,) that names stand for, and their origin, None but for dates; None where names are no points.

    - numbers, and text that is a number: 2001, "0.5";
    - dates, periods, durations, and text in the format of ISO 8601: "2001-01", "2001-01-31 06:30", "2001Q1";
    - times of the day: "00:30", "6h15", "1:30 pm";
    - a number in text that is the same otherwise: "m1", "load_00.5h"; after a letter and a hyphen it is negative
      where numbers would decrease: "t-2", "t-1";
    - ranges, by their middle: "0-4", "5-9", "85+".

    Text may be around dates, times and ranges too, the same in all names.
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
    dates = _matched(_DATE, names) or _matched(_QUARTER, names)
    if dates:
        try:
            times = as_times([_date(match) for match in dates])
        except ValueError:  # as of 2001-13
            times = None
        if times is not None:
            return days(times, first_date(times)), first_date(times)
    clock = _matched(_CLOCK, names)
    if clock:
        return np.array([_time_of_day(match) for match in clock]), None
    if len(names) == 1:  # text beside the number may be a part of it
        return None
    points = _numbers(names)
    points = _middles(names) if points is None else points
    return None if points is None else (points, None)


def _matched(pattern, names):
    """The last match of a pattern in each name; empty if one has none, or names differ in the rest."""
    matches = [list(pattern.finditer(name)) for name in names]
    if not all(matches):
        return []
    last = [found[-1] for found in matches]
    rest = {(match.string[: match.start()], match.string[match.end() :]) for match in last}
    return last if len(rest) == 1 else []


def _date(match):
    parts = match.groupdict()
    if "quarter" in parts:
        return datetime.datetime(int(parts["year"]), 3 * int(parts["quarter"]) - 2, 1)
    day = (parts["month"] + (parts["day"] or "-01")).replace("/", "-")
    return datetime.datetime.fromisoformat(day + (parts["time"] or ""))


def _time_of_day(match):
    texts = match.groupdict()
    half = (texts.pop("half") or "").lower()
    parts = {name: float(part or 0) for name, part in texts.items()}
    hours = parts["hours"] % 12 + 12 * (half == "p") if half else parts["hours"]
    return parts["days"] + (hours + parts["minutes"] / 60 + parts["seconds"] / 3600) / 24


def _numbers(names):
    matches = _matched(_NUMBER, names)
    points = np.array([float(match.group().replace(",", ".")) for match in matches])
    if not len(points) or len(set(points)) < len(points) or not np.isfinite(points).all():
        return None
    lags = all(re.search("[A-Za-z]-$", match.string[: match.start()]) for match in matches)
    return -points if lags and (np.diff(points) < 0).all() else points  # t-3, t-2, t-1


def _middles(names):
    """Middles of ranges, at least one of them with two ends; a range without an end is as wide as the last with one."""
    ends = [(float(m["low"]), float(m["high"] or m["low"]), bool(m["open"])) for m in _matched(_RANGE, names)]
    closed = [(low, high) for low, high, _ in ends if high > low]
    if not closed or any(high < low for low, high, _ in ends):
        return None
    half = np.diff(max(closed))[0] / 2
    return np.array([low + half if is_open else (low + high) / 2 for low, high, is_open in ends])
