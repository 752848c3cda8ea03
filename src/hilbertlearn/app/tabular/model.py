"""The model of a table: the choice of its columns, the encoding of inputs, the estimator of the task."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..._utils.fitting import continued, store, transactional
from ..._utils.validation import check_choice
from ...data.times import date_text
from .columns import check_table, join_names, looks_like_identifier, match_columns, require_columns
from .files import TableError, import_pandas
from .inputs import DAY_FIRST, InputEncoder, is_ambiguous, usable_columns
from .long_form import LongTable
from .task_inference import are_curves, infer_task, points_in_names
from .tasks import TASKS, TableTask

_LEAST = 10  # rows with targets; with fewer the automatic choice of settings is noise


class TabularModel(BaseEstimator):
    """Predict columns of a data frame from others.

    The task, the input columns and the settings of the estimator are chosen from the table unless they are given.

    Parameters
    ----------
    targets : str or list of str, default=None
        Columns to predict: names, a glob ("y_*"), a range ("y_1:y_50"), or several of these with commas or in a list.
        Required unless ``long`` is given.
    task : {"auto", "functional", "vector", "ranking", "multilabel", "structured", "quantiles"}, default="auto"
        Kind of the targets. "auto" infers it from their cells and names. Text, or few whole numbers from 0 or 1 on, are
        classes ("structured"). Columns of 0 and 1 are label sets. Rows that are ranks are rankings. Eight columns or
        more whose names differ by a number, with smooth rows, are curves. Other numbers are vectors. With ``levels``
        the task is "quantiles".
    features : str or list of str, default=None
        Input columns, in the form of ``targets``. None takes all other columns, except for columns that number the
        rows, are constant, or are text with hardly any repeated value.
    id : str, default=None
        Column that names the rows. None takes a column called "id", "index" or nothing whose values are unique.
    long : tuple of three str, default=None
        Names (curve, point, value) of a table in long form: a row is a point of a curve, and inputs are the same in
        all rows of a curve.
    loss : str, default=None
        Name of a loss, of ``hilbertlearn.losses`` for numbers and curves ("huber" for data with outliers), of
        ``hilbertlearn.output_losses`` for rankings, label sets and classes. None takes the default of the task.
    level : float, default=None
        Probability with which prediction sets contain the truth, as 0.9: an interval for each number, a band for a
        whole curve, a set of candidates for the others. None makes no prediction sets.
    levels : sequence of float, default=None
        Levels of quantiles. None takes 0.05, 0.25, 0.5, 0.75 and 0.95, or the two levels around ``level``.
    verbose : int, default=0
        1 shows the progress of the estimator.

    Attributes
    ----------
    task_, targets_, features_, id_ : str, list of str, list of str, str or None
        The chosen task and columns.
    grid_ : ndarray of shape (n_targets,) or None
        For curves and their quantiles, the points of the target columns by their names (numbers, dates in days since
        the first, times of the day in days, ranges), else even steps from 0 to 1. Targets are in this order.
    inputs_ : InputEncoder
        The fitted encoding of the inputs as numbers.
    input_names_ : list of str
        Name of each encoded input column, "name=value" for categories.
    estimator_ : estimator
        The fitted estimator of the task, inside a ``ConformalPredictor`` if there is a level.
    n_samples_ : int
        Number of rows, or curves, of the fit.
    seconds_ : float
        Duration of the fit.
    notes_ : list of str
        Sentences on what was chosen, left out and filled in.

    References
    ----------
    Wickham (2014), "Tidy data", on tables in wide and long form; Barber et al. (2021), "Predictive inference with the
    jackknife+", on the coverage of prediction sets.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from hilbertlearn.tabular import TabularModel
    >>> size = np.linspace(0, 1, 30)
    >>> table = pd.DataFrame({"id": range(30), "size": size, "left": np.sin(6 * size), "right": np.cos(6 * size)})
    >>> model = TabularModel("left,right").fit(table)
    >>> print(*model.notes_, sep="; ")
    task vector: numbers; 'id' is taken to name the rows, not as an input
    >>> model.predict(table[1:3]).round(1)
       id  left  right
    1   1   0.2    1.0
    2   2   0.4    0.9
    """

    def __init__(
        self,
        targets=None,
        task="auto",
        *,
        features=None,
        id=None,
        long=None,
        loss=None,
        level=None,
        levels=None,
        verbose=0,
    ):
        store(self, locals())

    task_: str
    targets_: list
    features_: list
    id_: Any
    grid_: Any
    estimator_: Any
    notes_: list

    # ---------------------------------------------------------------- fit

    @transactional
    def fit(self, frame, inputs=None):
        """Learn from a data frame.

        Parameters
        ----------
        frame : pandas.DataFrame
            The table, with targets and inputs.
        inputs : pandas.DataFrame, default=None
            For ``long``, a table with one row for each curve. None if the inputs are in ``frame``.

        Returns
        -------
        self
        """
        self._fit_samples(*self.choose_columns(frame, inputs))

    @continued
    def fit_samples(self, table, outputs):
        """Learn from the samples that ``choose_columns`` of this model has returned.

        Parameters
        ----------
        table : pandas.DataFrame
            Rows with known targets.
        outputs : array-like
            Their outputs.

        Returns
        -------
        self
        """
        self._fit_samples(table, outputs)

    def _fit_samples(self, table, outputs):
        start = time.perf_counter()
        self.inputs_, X = InputEncoder.fit_encode(table, self.features_)
        self.notes_ = [*self.notes_, *self.inputs_.training_notes(table), *self.inputs_.notes(table)]
        named = import_pandas().DataFrame(X, index=self._ids(table))  # the estimator keeps the names of rows
        self.estimator_ = self._new_estimator().fit(named, outputs)
        self.n_samples_, self.seconds_ = len(X), time.perf_counter() - start

    def _new_estimator(self):
        return self.table_task().conformal_estimator(self.loss, self.levels, self.level, self.verbose)

    def choose_columns(self, frame, inputs=None):
        """Choose the task and the columns of a data frame, without a fit.

        Parameters
        ----------
        frame, inputs : as in ``fit``

        Returns
        -------
        table : pandas.DataFrame
            The rows with known targets; in long form one row for each curve.
        outputs : array-like
            Their outputs in the form of the estimator.
        """
        self._check_settings()
        check_table(frame)
        self.notes_ = []
        read = self._read_wide if self.long is None else self._read_long
        table, outputs, known = read(frame, inputs)
        self._new_estimator()  # checks its settings before any work
        if known.sum() < _LEAST:
            raise TableError(f"rows with known targets: {known.sum()}; give at least {_LEAST}")
        if not known.all():
            self.notes_.append(f"{(~known).sum()} rows without known targets are left out of the fit")
        rows = np.flatnonzero(known)
        table = table.iloc[rows]
        self._choose_features(table)
        return table, outputs[rows]

    def _check_settings(self):
        check_choice(self.task, "task", ("auto", *TASKS))
        if (self.targets is None) == (self.long is None):
            raise TableError("give either targets, or long, the columns of curve, point and value")
        if self.long is not None and (len(self.long) != 3 or self.task not in ("auto", "functional")):
            raise TableError("long is of curves, the task functional, and names three columns: curve, point, value")
        if self.levels is not None and self.task not in ("auto", "quantiles"):
            raise TableError(f"levels are of quantiles, and the task is {self.task}; leave one of them out")
        if self.level is not None and not 0 < self.level < 1:
            raise TableError(f"level must be between 0 and 1, as 0.9, got {self.level:g}")

    def _read_wide(self, frame, inputs):
        if inputs is not None:
            raise TableError("separate inputs are for curves in long form; give long, or join the tables first")
        names = match_columns(frame.columns, self.targets, "targets")
        self.task_ = self._chosen_task(frame, names)
        self._check_targets(frame, names)
        self.targets_, self.grid_ = self._on_grid(frame, names)
        outputs, known = self.table_task().read(frame)
        return frame, outputs, known

    def _check_targets(self, frame, names):
        if self.id in names:
            raise TableError(f"{self.id!r} is a target, and so it cannot name the rows too; give another id")
        empty = [name for name in names if frame[name].isna().all()]
        if empty and self.task_ != "functional":
            raise TableError(f"target {empty[0]!r} has no known cell; leave it out")

    def _chosen_task(self, frame, names):
        if self.task != "auto":
            return self.task
        if self.levels is not None:
            return "quantiles"
        task, why = infer_task(frame, names)
        self.notes_.append(f"task {task}: {why}")
        return task

    def _on_grid(self, frame, names):
        """Targets in the order of their points, and these points; None for targets that are no curves."""
        if self.task_ != "functional" and not (self.task_ == "quantiles" and are_curves(frame, names)):
            return names, None
        points, origin = points_in_names(names)
        if points is None:
            self.notes_.append(f"no points in the names of the {len(names)} targets: even steps from 0 to 1")
            return names, np.linspace(0, 1, len(names))
        if origin is not None:
            self.notes_.append(f"points of the targets are in days since {date_text(origin)}")
        order = np.argsort(points)
        return [names[j] for j in order], points[order]

    def _read_long(self, frame, inputs):
        self.task_, self.targets_, self.grid_ = "functional", [self.long[2]], None
        table = LongTable(frame, self.long, inputs)
        outputs = table.functions()
        self.point_kind_ = table.point_kind
        if is_ambiguous(frame[self.long[1]], self.point_kind_[1]):
            self.notes_.append(DAY_FIRST.format(self.long[1]))
        rows, notes = table.inputs()
        self.notes_ += notes
        return rows, outputs, np.array([np.isfinite(values).any() for values in outputs.values])

    def _choose_features(self, table):
        others = [name for name in table.columns if name not in self.targets_]
        self.id_ = self._identifier(table, others)
        if self.features is not None:
            chosen = match_columns(table.columns, self.features, "features")
            both = [name for name in chosen if name in self.targets_]
            if both:
                raise TableError(f"{both[0]!r} is a target and a feature; leave it out of one of them")
            empty = [name for name in chosen if table[name].isna().all()]
            if empty:
                raise TableError(f"feature {empty[0]!r} has no known cell; leave it out")
            self.features_ = chosen
            return
        self.features_, notes = usable_columns(table, [name for name in others if name != self.id_])
        self.notes_ += notes
        if not self.features_:
            raise TableError("no column is left to predict from; name some in features")

    def _identifier(self, table, others):
        if self.long is not None:
            return self.long[0]
        if self.id is not None:
            require_columns(table, [self.id], "the column of identifiers is")
            return self.id
        named = [name for name in others if looks_like_identifier(name, table[name])]
        if named:
            self.notes_.append(f"{named[0]!r} is taken to name the rows, not as an input")
        return named[0] if named else None

    def table_task(self) -> TableTask:
        """The task with its target columns, once columns are chosen."""
        return TASKS[self.task_](self.targets_, self.grid_)

    # ---------------------------------------------------------------- after the fit

    def encode_inputs(self, frame):
        """Encode the input columns of a data frame.

        Parameters
        ----------
        frame : pandas.DataFrame
            Table with the columns ``features_``, in any order.

        Returns
        -------
        ndarray of shape (n_rows, n_encoded)
        """
        check_is_fitted(self)
        return self.inputs_.encode(frame)

    @property
    def input_names_(self):
        """A name for each column of the encoded inputs."""
        return self.inputs_.columns

    def input_notes(self, frame, inputs=None):
        """Sentences on missing cells of inputs, and on categories that training has not.

        Parameters
        ----------
        frame, inputs : as in ``fit``

        Returns
        -------
        list of str
        """
        check_is_fitted(self)
        rows = self._input_rows(frame, inputs)
        require_columns(rows, self.features_, "input columns")
        return self.inputs_.notes(rows)

    def predict(self, frame, inputs=None):
        """Predict the targets of a data frame.

        Parameters
        ----------
        frame, inputs : as in ``fit``, without targets

        Returns
        -------
        pandas.DataFrame
            One row for each row of ``frame``, with its identifiers if it has them. With a level, each target has
            columns ``_lower`` and ``_upper``, or there are columns ``set_size`` and ``set``. Quantiles are
            ``target_q0.5``. In long form, predictions are at the points of the table, or on the grid of the model if
            the table has no points.
        """
        check_is_fitted(self)
        if self.long is not None:
            table = self._long_table(frame, inputs)
            return table.predictions(self.estimator_, self.encode_inputs(table.inputs()[0]), self.level)
        predictions = self.table_task().table(self.estimator_, self.encode_inputs(frame), self.level)
        predictions.index = frame.index
        if self.id_ in frame.columns:
            predictions.insert(0, self.id_, frame[self.id_])
        return predictions

    def labelled_samples(self, frame, inputs=None):
        """The rows of a data frame whose targets are known, for an evaluation of the model.

        Parameters
        ----------
        frame, inputs : as in ``fit``

        Returns
        -------
        inputs : pandas.DataFrame
            Input columns as they are in the table.
        outputs : array-like
            Outputs in the form of the estimator.
        ids : list of str
            Names of the rows.
        """
        check_is_fitted(self)
        if self.long is not None:
            table = self._long_table(frame, inputs)
            rows, outputs = table.inputs()[0], table.functions()
            known = np.ones(len(rows), dtype=bool)
        else:
            require_columns(frame, self.targets_, "targets are")
            rows, (outputs, known) = frame, self.table_task().read(frame)
        if not known.any():
            raise TableError(f"no row has known targets, {join_names(self.targets_)}")
        require_columns(rows, self.features_, "input columns")
        kept = np.flatnonzero(known)
        return rows[self.features_].iloc[kept], outputs[kept], [str(name) for name in self._ids(rows)[kept]]

    def _ids(self, rows):
        """Names (n,) of samples: their identifiers, or the index of a data frame without any."""
        return import_pandas().Index(rows[self.id_]) if self.id_ in rows.columns else rows.index

    def _long_table(self, frame, inputs):
        """A table in long form; its points are read in the format of training."""
        return LongTable(frame, self.long, inputs, getattr(self, "point_kind_", None))

    def _input_rows(self, frame, inputs):
        """The data frame with one row for each sample."""
        return frame if self.long is None else self._long_table(frame, inputs).inputs()[0]
