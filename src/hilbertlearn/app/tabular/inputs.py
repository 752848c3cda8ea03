"""Input columns of a table as rows of numbers: standardised numbers and dates, categories as zeros and ones."""

from __future__ import annotations

import numpy as np

from ...data.times import as_times, date_text, dates_at, days, first_date
from .columns import as_numbers, listed, looks_like_identifier, number_cells, refuse_mistakes, require, shortened
from .files import TableError, pandas

NUMBER, CATEGORY, DATE = "number", "category", "date"
_DAY_FIRST, _MONTH_FIRST = "%d/%m/%Y", "%m/%d/%Y"
_DATES = ("ISO8601", "%Y/%m/%d", "%d.%m.%Y", _DAY_FIRST, _MONTH_FIRST)  # the first that reads all cells
DAY_FIRST = "{}: read as day/month/year, though all cells may be month/day/year too; write 2001-01-31 if they are"
_LEAST_REPEATED = 2.0  # rows a category on average, below which text is not taken for categories
MISSING = "(missing)"


class InputEncoding:
    """What was learnt of the input columns: their kinds, centres, scales and categories.

    A number, or a date in days since the first of the training table, is centred and divided by its standard deviation,
    unless it is 0 or 1 in all rows;
    where it is missing it is the median.
    A category is a column of zeros and ones for each of its values, missing being one of them, so that two rows that
    differ in it are as far apart as two typical values of a number; a value not seen in training is zeros.
    """

    def __init__(self, names, kinds, details):
        self.names, self.kinds, self.details = list(names), list(kinds), [dict(one) for one in details]

    @classmethod
    def of(cls, frame, names):
        """Learn from the columns ``names`` of a data frame."""
        kinds, details = [], []
        for name in names:
            kind, detail = _learnt(frame[name], name)
            kinds.append(kind)
            details.append(detail)
        return cls(names, kinds, details)

    @property
    def columns(self):
        """A name for each column of the encoded inputs."""
        return [
            column
            for name, kind, detail in zip(self.names, self.kinds, self.details, strict=True)
            for column in ([f"{name}={value}" for value in detail["values"]] if kind == CATEGORY else [name])
        ]

    @property
    def dates(self):
        """Sentences on what dates have become."""
        origins = {name: detail.get("origin") for name, detail in zip(self.names, self.details, strict=True)}
        said = [f"{name}: in days since {date_text(first)}" for name, first in origins.items() if first is not None]
        details = zip(self.names, self.details, strict=True)
        return said + [DAY_FIRST.format(name) for name, detail in details if detail.get("ambiguous")]

    def encode(self, frame):
        """Inputs (n, p), and a list of what is to be said about them."""
        require(frame, self.names, "input columns")
        blocks, said = [], []
        for name, kind, detail in zip(self.names, self.kinds, self.details, strict=True):
            block, note = _categories(frame[name], detail) if kind == CATEGORY else _scaled(frame[name], name, detail)
            blocks.append(block)
            said += [f"{name}: {note}"] if note else []
        return np.column_stack(blocks), shortened(said)


def _learnt(column, name):
    """Kind and details of a column."""
    kind, form = kind_of(column, name)
    if kind == CATEGORY:
        values = sorted({_category(cell) for cell in column[column.notna()]})
        return kind, {"values": values + [MISSING] * bool(column.isna().any())}
    detail = {"form": form} | ({"origin": first_date(times_of(column, name, form))} if kind == DATE else {})
    if is_ambiguous(column, form):
        detail["ambiguous"] = True
    values = _numbers(column, name, detail)
    known = values[np.isfinite(values)]
    mean, scale = (0.0, 1.0) if np.isin(known, (0, 1)).all() else (float(known.mean()), float(known.std()) or 1.0)
    return kind, detail | {"median": float(np.median(known)), "mean": mean, "scale": scale}


def kind_of(column, name):
    """The kind of a column and, of dates and durations, their format as text."""
    if as_times(column) is not None:
        return DATE, _DATES[0]
    _, wrong = as_numbers(column)
    known = ~column.isna().to_numpy()
    if not (known & wrong).any():
        return NUMBER, ""
    cells = column[known].astype(str)
    for form in _DATES:
        if _reads_all(cells, form):
            return DATE, form
    refuse_mistakes(column, name)
    return CATEGORY, ""


def is_ambiguous(column, form):
    """Whether days and months of dates as text could be swapped in all cells."""
    return form == _DAY_FIRST and _reads_all(column[column.notna()].astype(str), _MONTH_FIRST)


def _reads_all(cells, form):
    """Whether all texts are dates in a format."""
    return bool(pandas().to_datetime(cells, format=form, errors="coerce", utc=True).notna().all())


def times_of(column, name, form):
    """Dates or durations (n,) of a column, NaT where missing; form : of dates as text."""
    times = as_times(column)
    if times is not None:
        return times
    dates = pandas().to_datetime(column.astype("string"), format=form, errors="coerce", utc=True)
    wrong = np.flatnonzero((dates.isna() & column.notna()).to_numpy())
    if len(wrong):
        row = int(wrong[0])
        format_name = "of ISO 8601, such as 2001-01-31" if form == _DATES[0] else f"{form} of the training table"
        raise TableError(
            f"column {name!r} must hold dates in the format {format_name}, but row {row + 1} has "
            f"{str(column.iloc[row])!r}; mend or empty it"
        )
    return as_times(dates)


def _numbers(column, name, detail):
    """Values (n,) of a column of numbers or, with a format, of dates, in days since their origin."""
    if not detail["form"]:
        return number_cells(column, name)
    return days(times_of(column, name, detail["form"]), detail.get("origin", np.datetime64("1970-01-01", "us")))


def _scaled(column, name, detail):
    values = _numbers(column, name, detail)
    missing = ~np.isfinite(values)
    note = f"{_cells(missing.sum())} filled with the median, {_median(detail)}" if missing.any() else ""
    filled = np.where(missing, detail["median"], values)
    return (filled - detail["mean"]) / detail["scale"], note


def _median(detail):
    """The median of a column in words, of dates a date."""
    if detail.get("origin") is None:
        return f"{detail['median']:.4g}"
    return date_text(dates_at(detail["median"], detail["origin"]))


def _categories(column, detail):
    missing = column.isna().to_numpy()
    cells = [MISSING if gone else _category(cell) for cell, gone in zip(column, missing, strict=True)]
    places = {value: j for j, value in enumerate(detail["values"])}
    block = np.zeros((len(cells), len(places)))
    for i, cell in enumerate(cells):
        if cell in places:
            block[i, places[cell]] = 1.0
    new = sorted({cell for cell in cells if cell not in places} - {MISSING})
    notes = [f"{_cells(missing.sum())} taken as a category of its own"] if missing.any() and MISSING in places else []
    if missing.any() and MISSING not in places:
        notes.append(f"{_cells(missing.sum())}, which training had none of, taken as no category")
    if new:
        notes.append(f"not seen in training: {listed(new)}")
    return block, "; ".join(notes)


def _category(cell):
    """A value of a category as text: 1, 1.0 and "1" are the same."""
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        cell = int(cell)
    return str(cell).strip()


def _cells(count):
    return f"{count} missing cell{'s' if count > 1 else ''}"


def usable(frame, names):
    """Those of the columns that tell something about rows not seen, and a list of why others are left out."""
    kept, said = [], []
    for name in names:
        reason = _useless(frame[name], name)
        kept += [] if reason else [name]
        said += [f"{name}: left out, {reason}"] if reason else []
    return kept, shortened(said)


def _useless(column, name):
    if column.dtype.kind == "O" and column.map(lambda cell: isinstance(cell, (list, dict, np.ndarray))).any():
        return "its cells are lists"
    distinct = column.nunique()
    if distinct == 0:
        return "all cells are missing"
    if distinct == 1 and not (column.isna().any() and column.dtype.kind not in "biuf"):
        return "all cells are the same"
    if looks_like_identifier(name, column):
        return "it numbers the rows"
    kind, _ = kind_of(column, name)
    if kind == CATEGORY and column.notna().sum() < _LEAST_REPEATED * distinct:
        return (
            f"text with {distinct} values in {len(column)} rows; give it as the id to keep it beside predictions, or "
            "name it in features"
        )
    return ""
