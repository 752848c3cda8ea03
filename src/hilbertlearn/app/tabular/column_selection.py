"""Selection of the task, the targets, the inputs and the identifiers of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._utils.validation import check_choice
from ...data.times import date_text
from .columns import check_table, looks_like_identifier, match_columns, require_columns
from .files import TableError
from .inputs import DAY_FIRST, is_ambiguous, usable_columns
from .long_form import LongTable
from .task_inference import are_curves, infer_task, points_in_names
from .tasks import TASKS, TableTask

_MIN_ROWS = 10  # rows with targets; the automatic selection of settings is unreliable with fewer


@dataclass(frozen=True)
class ColumnSelection:
    """The task and the columns of a table, and its rows with known targets.

    Attributes
    ----------
    task : TableTask
        The task, with the names of the targets and the grid of curves.
    features : list of str
        Input columns.
    id : str or None
        Column that names the rows.
    point_kind : tuple or None
        In long form, the kind of the points and the format of dates.
    table : pandas.DataFrame
        The rows with known targets; in long form one row for each curve.
    outputs : array-like
        Their outputs in the form of the estimator.
    notes : list of str
        Sentences on what was chosen and left out.
    """

    task: TableTask
    features: list
    id: Any
    point_kind: Any
    table: Any
    outputs: Any
    notes: list


def select_columns(model, frame, inputs=None) -> ColumnSelection:
    """Select by the settings of a ``TabularModel``; frame, inputs : as in its ``fit``."""
    _check_settings(model)
    check_table(frame)
    notes: list = []
    point_kind = None
    if model.long is None:
        task = _select_targets(model, frame, inputs, notes)
        table, (outputs, known) = frame, task.read(frame)
    else:
        task = TASKS["functional"]([model.long[2]])
        table, outputs, point_kind = _read_long(model, frame, inputs, notes)
        known = np.array([np.isfinite(values).any() for values in outputs.values])
    task.conformal_estimator(model.loss, model.levels, model.level, model.verbose)  # checks its settings
    if known.sum() < _MIN_ROWS:
        raise TableError(f"rows with known targets: {known.sum()}; give at least {_MIN_ROWS}")
    if not known.all():
        notes.append(f"{(~known).sum()} rows without known targets are left out of the fit")
    rows = np.flatnonzero(known)
    table = table.iloc[rows]
    columns = [name for name in table.columns if name not in task.names]
    id_ = _select_identifier(model, table, columns, notes)
    features = _select_features(model, table, task.names, [name for name in columns if name != id_], notes)
    return ColumnSelection(task, features, id_, point_kind, table, outputs[rows], notes)


def _check_settings(model):
    check_choice(model.task, "task", ("auto", *TASKS))
    if (model.targets is None) == (model.long is None):
        raise TableError("give either targets, or long, the columns of curve, point and value")
    if model.long is not None and (len(model.long) != 3 or model.task not in ("auto", "functional")):
        raise TableError("long is of curves, the task functional, and names three columns: curve, point, value")
    if model.levels is not None and model.task not in ("auto", "quantiles"):
        raise TableError(f"levels are of quantiles, and the task is {model.task}; leave one of them out")
    if model.level is not None and not 0 < model.level < 1:
        raise TableError(f"level must be between 0 and 1, as 0.9, got {model.level:g}")


# ---------------------------------------------------------------- targets


def _select_targets(model, frame, inputs, notes) -> TableTask:
    if inputs is not None:
        raise TableError("separate inputs are for curves in long form; give long, or join the tables first")
    names = match_columns(frame.columns, model.targets, "targets")
    task = _select_task(model, frame, names, notes)
    if model.id in names:
        raise TableError(f"{model.id!r} is a target, and so it cannot name the rows too; give another id")
    empty = [name for name in names if frame[name].isna().all()]
    if empty and task != "functional":
        raise TableError(f"target {empty[0]!r} has no known cell; leave it out")
    if task == "functional" or (task == "quantiles" and are_curves(frame, names)):
        return TASKS[task](*_sort_by_points(names, notes))
    return TASKS[task](names)


def _select_task(model, frame, names, notes) -> str:
    if model.task != "auto":
        return model.task
    if model.levels is not None:
        return "quantiles"
    task, reason = infer_task(frame, names)
    notes.append(f"task {task}: {reason}")
    return task


def _sort_by_points(names, notes):
    """Targets in the order of their points, and these points."""
    points, origin = points_in_names(names)
    if points is None:
        notes.append(f"no points in the names of the {len(names)} targets: even steps from 0 to 1")
        return names, np.linspace(0, 1, len(names))
    if origin is not None:
        notes.append(f"points of the targets are in days since {date_text(origin)}")
    order = np.argsort(points)
    return [names[j] for j in order], points[order]


def _read_long(model, frame, inputs, notes):
    """The inputs of a table in long form, one row for each curve, the curves, and the kind of their points."""
    table = LongTable(frame, model.long, inputs)
    outputs = table.functions()
    if is_ambiguous(frame[table.point], table.point_kind[1]):
        notes.append(DAY_FIRST.format(table.point))
    rows, input_notes = table.inputs()
    notes += input_notes
    return rows, outputs, table.point_kind


# ---------------------------------------------------------------- inputs


def _select_identifier(model, table, columns, notes):
    if model.long is not None:
        return model.long[0]
    if model.id is not None:
        require_columns(table, [model.id], "the column of identifiers is")
        return model.id
    identifiers = [name for name in columns if looks_like_identifier(name, table[name])]
    if not identifiers:
        return None
    notes.append(f"{identifiers[0]!r} is taken to name the rows, not as an input")
    return identifiers[0]


def _select_features(model, table, targets, columns, notes):
    if model.features is not None:
        return _match_features(model, table, targets)
    features, usable_notes = usable_columns(table, columns)
    notes += usable_notes
    if not features:
        raise TableError("no column is left to predict from; name some in features")
    return features


def _match_features(model, table, targets):
    features = match_columns(table.columns, model.features, "features")
    overlap = [name for name in features if name in targets]
    if overlap:
        raise TableError(f"{overlap[0]!r} is a target and a feature; leave it out of one of them")
    empty = [name for name in features if table[name].isna().all()]
    if empty:
        raise TableError(f"feature {empty[0]!r} has no known cell; leave it out")
    return features
