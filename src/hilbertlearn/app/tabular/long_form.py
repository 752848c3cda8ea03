"""Tables in long form: a row is a point of a curve, with columns for the curve, the point and the value."""

from __future__ import annotations

import numpy as np

from ...data.functions import IrregularFunctions
from ...data.times import dates_at
from .columns import read_numbers, require_columns, shorten_notes
from .files import TableError, import_pandas
from .inputs import DATE, column_kind, read_times


class LongTable:
    """A table in long form, with the rows of each curve, in the order in which curves appear.

    columns : names (curve, point, value)
    inputs : a data frame with one row for each curve; None if the inputs are in the table, equal in all rows of a curve
    point_kind : result of ``column_kind`` for the points of the training table, for dates in the same format; None in
        training
    """

    def __init__(self, frame, columns, inputs=None, point_kind=None):
        self.curve, self.point, self.value = columns
        require_columns(frame, [self.curve], "the column of the curves is")
        if frame[self.curve].isna().any():
            row = int(np.flatnonzero(frame[self.curve].isna())[0])
            raise TableError(f"column {self.curve!r}: row {row + 1} has no curve; fill the cell, or drop the row")
        self.frame, self.separate_inputs, self.known_kind = frame, inputs, point_kind
        codes, ids = import_pandas().factorize(frame[self.curve])
        self.codes, self.ids = codes, list(ids)
        self.rows = [np.flatnonzero(codes == i) for i in range(len(self.ids))]

    def inputs(self):
        """A data frame with one row for each curve, and sentences on columns that were left out."""
        if self.separate_inputs is None:
            return self._inputs_in_table()
        require_columns(self.separate_inputs, [self.curve], "in the inputs the column of the curves is")
        if not self.separate_inputs[self.curve].is_unique:
            twice = self.separate_inputs[self.curve][self.separate_inputs[self.curve].duplicated()].iloc[0]
            raise TableError(f"inputs: curve {twice!r} has several rows; give one row a curve")
        table = self.separate_inputs.set_index(self.curve)
        missing = [name for name in self.ids if name not in table.index]
        if missing:
            raise TableError(f"inputs: no row for curve {missing[0]!r} and {len(missing) - 1} others; add them")
        return table.loc[self.ids].reset_index(), []

    def _inputs_in_table(self):
        columns = [name for name in self.frame.columns if name not in (self.point, self.value)]
        groups = self.frame[columns].groupby(self.codes)
        changing = [name for name in columns if groups[name].nunique(dropna=False).max() > 1]
        notes = [f"{name}: left out, it changes within a curve" for name in changing]
        first = self.frame.iloc[[rows[0] for rows in self.rows]]
        return first[[name for name in columns if name not in changing]].reset_index(drop=True), shorten_notes(notes)

    @property
    def point_kind(self):
        """Kind of the points, and the format of dates as text."""
        return self.known_kind or column_kind(self.frame[self.point], self.point)

    def points(self):
        """The points of each curve, n arrays of numbers, dates or durations."""
        column = self.frame[self.point]
        kind, form = self.point_kind
        values = read_times(column, self.point, form) if kind == DATE else read_numbers(column, self.point)
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise TableError(f"column {self.point!r}: row {row + 1} is empty; give the point of each value")
        return [values[rows] for rows in self.rows]

    def functions(self, domain=None):
        """The observed curves."""
        require_columns(self.frame, [self.point, self.value], "columns of curves are")
        values = read_numbers(self.frame[self.value], self.value)
        return IrregularFunctions(self.points(), [values[rows] for rows in self.rows], domain)

    def predictions(self, model, X, level):
        """Predictions at the points of the table, in its form and order; on the model's grid if it has no points.

        Columns are the curve, the point, the value and, with a level, the lower and upper end of its band.
        """
        if self.point not in self.frame.columns:
            return self._as_frame(model.predict(X), model, X, level)
        predictions = self._as_frame(model.predict(X, grid=self.points()), model, X, level)
        order = np.argsort(np.concatenate(self.rows))
        return predictions.iloc[order].reset_index(drop=True)

    def _as_frame(self, curves, model, X, level):
        all_points = np.concatenate(curves.points)
        columns = {
            self.curve: np.repeat(np.asarray(self.ids, dtype=object), [len(points) for points in curves.points]),
            self.point: all_points if curves.origin is None else dates_at(all_points, curves.origin),
            self.value: np.concatenate(curves.values),
        }
        if level is not None:
            band = model.predict_band(X)
            for name, ends in (("lower", band.lower), ("upper", band.upper)):
                parts = zip(curves.points, ends.points, ends.values, strict=True)  # bands are on the model's grid
                columns[f"{self.value}_{name}"] = np.concatenate(
                    [np.interp(points, grid, end) for points, grid, end in parts]
                )
        return import_pandas().DataFrame(columns)
