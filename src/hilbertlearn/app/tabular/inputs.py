"""Input columns of a table as rows of numbers, by scikit-learn's ``ColumnTransformer``.

Each column has a kind. Numbers, and dates in days since the first of the training table, are standardised; their
missing cells become the median. Numbers that are all 0 or 1 stay as they are. Categories become zeros and ones: two
rows that differ in a category have the distance of two typical values of a number. Missing is a separate category if
the training table has missing cells. A value that is not in the training table is encoded as zeros.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ...data.times import as_times, date_text, dates_at, days, first_date
from .columns import (
    as_numbers,
    join_names,
    looks_like_identifier,
    read_numbers,
    refuse_mistakes,
    require_columns,
    shorten_notes,
)
from .files import TableError, import_pandas

NUMBER, FLAG, DATE, CATEGORY = "number", "flag", "date", "category"
_DAY_FIRST, _MONTH_FIRST = "%d/%m/%Y", "%m/%d/%Y"
_DATES = ("ISO8601", "%Y/%m/%d", "%d.%m.%Y", _DAY_FIRST, _MONTH_FIRST)  # the first that reads all cells
DAY_FIRST = "{}: read as day/month/year, though all cells may be month/day/year too; write 2001-01-31 if they are"
_ROWS_PER_CATEGORY = 2.0  # smallest mean number of rows of a category; text with fewer is no category
MISSING = "(missing)"


# ---------------------------------------------------------------- cells of each kind


class NumberCells(TransformerMixin, BaseEstimator):
    """Columns of numbers as floats, NaN where missing."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.column_stack([read_numbers(X[name], name) for name in X.columns])


class DateCells(TransformerMixin, BaseEstimator):
    """Columns of dates as days since the first date of training, durations as days; NaN where missing.

    Attributes
    ----------
    formats_ : dict, format of dates as text by column name
    origins_ : dict, first date by column name, None for durations
    """

    def fit(self, X, y=None):
        self.formats_ = {name: column_kind(X[name], name)[1] for name in X.columns}
        self.origins_ = {name: first_date(self._times(X, name)) for name in X.columns}
        return self

    def transform(self, X):
        return np.column_stack([days(self._times(X, name), self.origins_[name]) for name in X.columns])

    def _times(self, X, name):
        return read_times(X[name], name, self.formats_[name])


class CategoryCells(TransformerMixin, BaseEstimator):
    """Columns of categories as text, None where missing."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        cells = np.full(X.shape, None, dtype=object)
        for j, name in enumerate(X.columns):
            known = X[name].notna().to_numpy()
            cells[known, j] = [_category(cell) for cell in X[name][known]]
        return cells


def _category(cell):
    """A value of a category as text: 1, 1.0 and "1" are the same."""
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        cell = int(cell)
    return str(cell).strip()


def _pipeline(kind):
    if kind == CATEGORY:
        return make_pipeline(CategoryCells(), OneHotEncoder(handle_unknown="ignore", sparse_output=False))
    cells = DateCells() if kind == DATE else NumberCells()
    scaler = "passthrough" if kind == FLAG else StandardScaler()
    return make_pipeline(cells, scaler, SimpleImputer(strategy="median", keep_empty_features=True))


# ---------------------------------------------------------------- all columns


class InputEncoder:
    """The input columns of a training table: their names, kinds, and the fitted transformer that encodes them.

    Encoded columns are ordered by kind (numbers, flags, dates, categories), and within a kind as in the table.
    """

    def __init__(self, kinds, transformer):
        self.kinds, self.transformer = kinds, transformer

    @classmethod
    def fit_encode(cls, frame, names):
        """Learn from the columns ``names`` of a data frame; returns the encoder and the encoded inputs (n, p)."""
        kinds = {name: _kind_or_flag(frame[name], name) for name in names}
        groups = {kind: [str(name) for name in names if kinds[name] == kind] for kind in (NUMBER, FLAG, DATE, CATEGORY)}
        steps = [(kind, _pipeline(kind), columns) for kind, columns in groups.items() if columns]
        encoder = cls(kinds, ColumnTransformer(steps, sparse_threshold=0.0))
        return encoder, encoder.transformer.fit_transform(encoder._columns(frame))

    def encode(self, frame):
        """Inputs (n, p) of a data frame, whose columns are found by name."""
        require_columns(frame, self.kinds, "input columns")
        return self.transformer.transform(self._columns(frame))

    def _columns(self, frame):
        return frame[list(self.kinds)].set_axis([str(name) for name in self.kinds], axis=1)

    @property
    def columns(self):
        """A name for each encoded column, "name=value" for categories."""
        names = [name for _, _, group in self.transformer.transformers for name in group]
        return [encoded for name in names for encoded in self._encoded_names(name)]

    def _encoded_names(self, name):
        pipeline, j = self._fitted(name)
        if not isinstance(pipeline[-1], OneHotEncoder):
            return [name]
        return [f"{name}={MISSING if value is None else value}" for value in pipeline[-1].categories_[j]]

    def training_notes(self, frame):
        """Sentences on how dates of the training table are read."""
        notes = []
        for name in (name for name, kind in self.kinds.items() if kind == DATE):
            cells = self._fitted(str(name))[0][0]
            origin = cells.origins_[str(name)]
            notes += [] if origin is None else [f"{name}: in days since {date_text(origin)}"]
            notes += [DAY_FIRST.format(name)] * is_ambiguous(frame[name], cells.formats_[str(name)])
        return notes

    def notes(self, frame):
        """Sentences on missing cells, and on categories that training has not."""
        notes = [(name, self._column_notes(frame[name], name)) for name in self.kinds]
        return shorten_notes([f"{name}: {'; '.join(parts)}" for name, parts in notes if parts])

    def _column_notes(self, column, name):
        missing = int(column.isna().sum())
        cells = f"{missing} missing cell{'s' if missing > 1 else ''}"
        if self.kinds[name] != CATEGORY:
            return [f"{cells} filled with the median, {self._median(str(name))}"] if missing else []
        pipeline, j = self._fitted(str(name))
        values = set(pipeline[-1].categories_[j])
        treatment = ", which training had none of, taken as no category"
        if None in values:
            treatment = " taken as a category of its own"
        unknown = sorted({_category(cell) for cell in column[column.notna()]} - values)
        return [f"{cells}{treatment}"] * bool(missing) + [f"not seen in training: {join_names(unknown)}"] * bool(
            unknown
        )

    def _fitted(self, name):
        """The fitted pipeline of a column, and its position there."""
        kind, _, names = next(step for step in self.transformer.transformers if name in step[2])
        return self.transformer.named_transformers_[kind], names.index(name)

    def _median(self, name):
        """The median of a column as text, of dates a date."""
        pipeline, j = self._fitted(name)
        median = pipeline[1:-1].inverse_transform(pipeline[-1].statistics_[None])[0, j]
        origin = pipeline[0].origins_[name] if isinstance(pipeline[0], DateCells) else None
        return f"{median:.4g}" if origin is None else date_text(dates_at(median, origin))


# ---------------------------------------------------------------- kinds


def _kind_or_flag(column, name):
    kind, _ = column_kind(column, name)
    if kind == NUMBER:
        values = read_numbers(column, name)
        kind = FLAG if np.isin(values[np.isfinite(values)], (0, 1)).all() else NUMBER
    return kind


def column_kind(column, name):
    """The kind of a column, numbers and flags alike, and the format of dates as text."""
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
    return bool(import_pandas().to_datetime(cells, format=form, errors="coerce", utc=True).notna().all())


def read_times(column, name, form):
    """Dates or durations (n,) of a column, NaT where missing; form : of dates as text."""
    times = as_times(column)
    if times is not None:
        return times
    dates = import_pandas().to_datetime(column.astype("string"), format=form, errors="coerce", utc=True)
    wrong = np.flatnonzero((dates.isna() & column.notna()).to_numpy())
    if len(wrong):
        row = int(wrong[0])
        format_name = "of ISO 8601, such as 2001-01-31" if form == _DATES[0] else f"{form} of the training table"
        raise TableError(
            f"column {name!r} must hold dates in the format {format_name}, but row {row + 1} has "
            f"{str(column.iloc[row])!r}; mend or empty it"
        )
    return as_times(dates)


# ---------------------------------------------------------------- columns that are no inputs


def usable_columns(frame, names):
    """The columns that can help to predict new rows, and sentences on why others are left out."""
    reasons = {name: _reason_to_leave_out(frame[name], name) for name in names}
    notes = [f"{name}: left out, {reason}" for name, reason in reasons.items() if reason]
    return [name for name in names if not reasons[name]], shorten_notes(notes)


def _reason_to_leave_out(column, name):
    if column.dtype.kind == "O" and column.map(lambda cell: isinstance(cell, (list, dict, np.ndarray))).any():
        return "its cells are lists"
    distinct = column.nunique()
    if distinct == 0:
        return "all cells are missing"
    if distinct == 1 and not (column.isna().any() and column.dtype.kind not in "biuf"):
        return "all cells are the same"
    if looks_like_identifier(name, column):
        return "it numbers the rows"
    kind, _ = column_kind(column, name)
    if kind == CATEGORY and column.notna().sum() < _ROWS_PER_CATEGORY * distinct:
        return (
            f"text with {distinct} values in {len(column)} rows; give it as the id to keep it beside predictions, or "
            "name it in features"
        )
    return ""
