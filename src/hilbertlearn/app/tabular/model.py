"""The model of a table: selected columns, the encoding of inputs, the estimator of the task."""

from __future__ import annotations

import time

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..._utils.fitting import store, transactional
from .column_selection import ColumnSelection, select_columns
from .columns import join_names, require_columns
from .files import TableError, import_pandas
from .inputs import InputEncoder
from .long_form import LongTable
from .tasks import TASKS, TableTask


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
        self._fit(self.select_columns(frame, inputs))

    def select_columns(self, frame, inputs=None) -> ColumnSelection:
        """Select the task and the columns of a data frame, without a fit.

        Parameters
        ----------
        frame, inputs : as in ``fit``

        Returns
        -------
        ColumnSelection
            For ``fit_selection``, with notes on what was chosen and left out.
        """
        return select_columns(self, frame, inputs)

    @transactional
    def fit_selection(self, selection):
        """Learn from the selected columns of a data frame.

        Parameters
        ----------
        selection : ColumnSelection
            Result of ``select_columns``.

        Returns
        -------
        self
        """
        self._fit(selection)

    def _fit(self, selection):
        start = time.perf_counter()
        task, table = selection.task, selection.table
        self.task_, self.targets_, self.grid_ = task.name, task.names, task.grid
        self.features_, self.id_, self.point_kind_ = selection.features, selection.id, selection.point_kind
        self.inputs_, X = InputEncoder.fit_encode(table, selection.features)
        self.notes_ = [*selection.notes, *self.inputs_.training_notes(table), *self.inputs_.notes(table)]
        X_named = import_pandas().DataFrame(X, index=self._ids(table))  # the estimator keeps the names of rows
        estimator = task.conformal_estimator(self.loss, self.levels, self.level, self.verbose)
        self.estimator_ = estimator.fit(X_named, selection.outputs)
        self.n_samples_, self.seconds_ = len(X), time.perf_counter() - start

    def table_task(self) -> TableTask:
        """The task with its target columns."""
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

    @property
    def has_novelty(self) -> bool:
        """Whether the kernel of the model provides ``novelty``."""
        check_is_fitted(self)
        return self._kernel_machine.machine_.posterior_size is not None

    def novelty(self, frame, inputs=None):
        """How far the inputs of rows are from those of training, from 0 to 1, see ``novelty`` of the estimators.

        Parameters
        ----------
        frame, inputs : as in ``fit``, without targets

        Returns
        -------
        pandas.Series
            One number for each row of ``frame``, with its index; in long form for each curve, by its name.
        """
        check_is_fitted(self)
        rows = self._input_rows(frame, inputs)
        index = rows.index if self.long is None else rows[self.long[0]]
        values = self._kernel_machine.novelty(self.encode_inputs(rows))
        return import_pandas().Series(values, index=index, name="novelty")

    @property
    def _kernel_machine(self):
        """The estimator inside ``ConformalPredictor``, if there is a level."""
        return self.estimator_ if self.level is None else self.estimator_.estimator_

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
        labelled = np.flatnonzero(known)
        return rows[self.features_].iloc[labelled], outputs[labelled], [str(name) for name in self._ids(rows)[labelled]]

    def _ids(self, rows):
        """Names (n,) of samples: their identifiers, or the index of a data frame without any."""
        return import_pandas().Index(rows[self.id_]) if self.id_ in rows.columns else rows.index

    def _long_table(self, frame, inputs):
        """A table in long form; its points are read in the format of training."""
        return LongTable(frame, self.long, inputs, self.point_kind_)

    def _input_rows(self, frame, inputs):
        """The data frame with one row for each sample."""
        return frame if self.long is None else self._long_table(frame, inputs).inputs()[0]
