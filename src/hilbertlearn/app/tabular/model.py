"""A model of a table: which columns are what, the inputs as numbers, the estimator of the task."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..._utils.fitting import store, transactional
from ..._utils.validation import check_choice
from ...data.times import date_text
from .columns import check_table, choose, listed, looks_like_identifier, require
from .files import TableError, pandas
from .guess import are_curves, guess_task, points_of_names
from .inputs import DAY_FIRST, InputEncoding, is_ambiguous, usable
from .long import LongTable
from .tasks import TASKS, Task

_LEAST = 10  # rows with targets


class TabularModel(BaseEstimator):
    """Predict columns of a data frame from others, with everything left to the data that is not given.

    Parameters
    ----------
    targets : names of columns, a glob ("y_*"), a range ("y_1:y_50"), or several with commas or in a list; not for
        ``long``
    task : "auto", "functional", "vector", "ranking", "multilabel", "structured" or "quantiles"
        "auto": told from the targets. Text, or whole numbers from 0 or 1 on of which there are few: classes
        ("structured"). Columns of 0 and 1: label sets. Rows that are ranks: rankings. Eight columns or more whose names
        differ by a number, with smooth rows: curves. Other numbers: vectors. With ``levels``: quantiles.
    features : input columns, given as targets are; None for all others, but for those that number the rows, are
        constant, or are text with hardly a value twice
    id : name of the column that names rows; None for one called "id", "index" or nothing whose values tell rows apart
    long : None, or names (curve, point, value): a row is a point of a curve, and inputs are the same in all its rows
    loss : name of a loss: of ``hilbertlearn.losses`` for numbers and curves ("huber" where some are wrong), of
        ``hilbertlearn.output_losses`` for rankings, label sets and classes
    level : None, or the probability with which prediction sets hold the truth, as 0.9: an interval for each number, a
        band for a whole curve, a set of candidates for the others
    levels : of quantiles, by default 0.05, 0.25, 0.5, 0.75, 0.95, or those around ``level``
    verbose : 1 tells what the estimator does

    Attributes
    ----------
    task_, targets_, features_, id_ : what was chosen
    grid_ : of curves and their quantiles, the points (m,) that columns stand for by their names (numbers, dates in days
        since the first, times of the day in days, ranges), else even steps from 0 to 1; targets are in their order
    inputs_ : how inputs become numbers: ``InputEncoding``
    estimator_ : the fitted estimator of the task, in a ``ConformalPredictor`` if there is a level
    seconds_ : that the fit took
    notes_ : sentences on what was chosen, left out and filled in
    n_samples_ : rows, or curves, that the estimator was fitted to
    input_names_ : a name for each column of the encoded inputs, "name=value" of categories

    References
    ----------
    Wickham (2014), "Tidy data", on tables in wide and long form; Barber et al. (2021), "Predictive inference with the
    jackknife+", on what a level promises.

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

    # ---------------------------------------------------------------- fit

    @transactional
    def fit(self, frame, inputs=None):
        """Learn from a data frame of pandas.

        inputs : for ``long``, a data frame with a row a curve, where the inputs are not in the table itself
        """
        start = time.perf_counter()
        table, outputs = self.choose_columns(frame, inputs)
        self.inputs_ = InputEncoding.of(table, self.features_)
        X, said = self.inputs_.encode(table)
        self.notes_ += self.inputs_.dates + said
        named = pandas().DataFrame(
            X, index=self._names(table)
        )  # so that the estimator names its samples as the table does
        self.estimator_ = self._estimator().fit(named, outputs)
        self.n_samples_, self.seconds_ = len(X), time.perf_counter() - start

    def _estimator(self):
        task = self.targets_as_task()
        return task.around(task.estimator(self.loss, self.levels, self.level, self.verbose), self.level, self.verbose)

    def choose_columns(self, frame, inputs=None):
        """Learn which columns are what, and nothing else.

        Returns the rows that have targets, in long form a row a curve, as a data frame, and their outputs.
        """
        self._check_settings()
        check_table(frame)
        self.notes_: list = []
        read = self._read_wide if self.long is None else self._read_long
        table, outputs, known = read(frame, inputs)
        self._estimator()  # whose settings are checked before anything else
        if known.sum() < _LEAST:
            raise TableError(f"rows with known targets: {known.sum()}; give at least {_LEAST}")
        if not known.all():
            self.notes_.append(f"{(~known).sum()} rows without known targets are left out of the fit")
        kept = np.flatnonzero(known)
        table = table.iloc[kept]
        self._choose_features(table)
        return table, outputs[kept]

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
            raise TableError("inputs of their own are for curves in long form; give long, or join the tables first")
        names = choose(frame.columns, self.targets, "targets")
        self.task_ = self._chosen_task(frame, names)
        self._check_targets(frame, names)
        self.targets_, self.grid_ = self._on_grid(frame, names)
        outputs, known = self.targets_as_task().read(frame)
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
        task, why = guess_task(frame, names)
        self.notes_.append(f"task {task}: {why}")
        return task

    def _on_grid(self, frame, names):
        """Targets in the order of the points that they stand for, and these; None for what is no curve."""
        if self.task_ != "functional" and not (self.task_ == "quantiles" and are_curves(frame, names)):
            return names, None
        points, origin = points_of_names(names)
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
        rows, said = table.inputs()
        self.notes_ += said
        return rows, outputs, np.array([np.isfinite(own).any() for own in outputs.values])

    def _choose_features(self, table):
        others = [name for name in table.columns if name not in self.targets_]
        self.id_ = self._identifier(table, others)
        if self.features is not None:
            chosen = choose(table.columns, self.features, "features")
            both = [name for name in chosen if name in self.targets_]
            if both:
                raise TableError(f"{both[0]!r} is a target and a feature; leave it out of one of them")
            empty = [name for name in chosen if table[name].isna().all()]
            if empty:
                raise TableError(f"feature {empty[0]!r} has no known cell; leave it out")
            self.features_ = chosen
            return
        self.features_, said = usable(table, [name for name in others if name != self.id_])
        self.notes_ += said
        if not self.features_:
            raise TableError("no column is left to predict from; name some in features")

    def _identifier(self, table, others):
        if self.long is not None:
            return self.long[0]
        if self.id is not None:
            require(table, [self.id], "the column of identifiers is")
            return self.id
        named = [name for name in others if looks_like_identifier(name, table[name])]
        if named:
            self.notes_.append(f"{named[0]!r} is taken to name the rows, not as an input")
        return named[0] if named else None

    def targets_as_task(self) -> Task:
        """What is known of the targets, once columns are chosen."""
        return TASKS[self.task_](self.targets_, self.grid_)

    # ---------------------------------------------------------------- after the fit

    def encode_inputs(self, frame):
        """Inputs (n, p) of a data frame in the form that the estimator takes; columns are found by name."""
        check_is_fitted(self)
        return self.inputs_.encode(frame)[0]

    @property
    def input_names_(self):
        """A name for each column of the encoded inputs."""
        return self.inputs_.columns

    def remarks(self, frame, inputs=None):
        """Sentences on what is filled in, or not known, in the inputs of a data frame."""
        return self.inputs_.encode(self._rows(frame, inputs))[1]

    def predict(self, frame, inputs=None):
        """Predictions as a data frame, a row for each of ``frame``, with its identifiers if it has them.

        With a level beside each target its ``_lower`` and ``_upper`` end, or the columns ``set_size`` and ``set``.
        Quantiles are ``target_q0.5``. In long form, predictions are at the points of the table, or where it has none at
        those of the model.
        """
        check_is_fitted(self)
        if self.long is not None:
            table = self._long_table(frame, inputs)
            return table.predicted(self.estimator_, self.encode_inputs(table.inputs()[0]), self.level)
        made = self.targets_as_task().table(self.estimator_, self.encode_inputs(frame), self.level)
        made.index = frame.index
        if self.id_ in frame.columns:
            made.insert(0, self.id_, frame[self.id_])
        return made

    def outputs(self, frame, inputs=None):
        """Inputs as a data frame, outputs as the estimator takes them and names of the rows whose targets are known."""
        check_is_fitted(self)
        rows = self._rows(frame, inputs)
        if self.long is not None:
            outputs = self._long_table(frame, inputs).functions()
            known = np.ones(len(rows), dtype=bool)
        else:
            require(frame, self.targets_, "targets are")
            outputs, known = self.targets_as_task().read(frame)
        kept = np.flatnonzero(known)
        if not len(kept):
            raise TableError(f"no row has known targets, {listed(self.targets_)}")
        require(rows, self.features_, "input columns")
        return rows[self.features_].iloc[kept], outputs[kept], [str(one) for one in self._names(rows)[kept]]

    def _names(self, rows):
        """Names (n,) of samples: their identifiers, or the index of a data frame without any."""
        return pandas().Index(rows[self.id_]) if self.id_ in rows.columns else rows.index

    def _long_table(self, frame, inputs):
        """A table in long form whose points are read as in training."""
        return LongTable(frame, self.long, inputs, getattr(self, "point_kind_", None))

    def _rows(self, frame, inputs):
        """The data frame with a row a sample."""
        return frame if self.long is None else LongTable(frame, self.long, inputs).inputs()[0]
