"""Tasks: how target columns are read, which estimator learns them and how predictions are written as a table."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ... import losses, output_losses
from ...conformal import Balls, ConformalPredictor
from ...functional import FunctionalRegressor
from ...quantile import QuantileRegressor
from ...structured import StructuredPredictor
from ...vector import OperatorKernelRegressor
from .columns import as_numbers, is_boolean, read_numbers
from .files import TableError, import_pandas

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)  # default levels of quantiles
_MAX_MEMBERS = 100  # members of a set that a cell lists


class TableTask(ABC):
    """One kind of targets, with the names of their columns and, for curves, the points of these columns."""

    name: str
    conformal = "auto"  # method of ``ConformalPredictor``
    ends_last = False  # whether lower and upper ends come after all targets; else each beside its target

    def __init__(self, names, grid=None):
        self.names, self.grid = list(names), grid

    def read(self, frame):
        """Outputs of n rows in the form of the estimator, and a mask (n,) of the rows with known targets."""
        Y = self._numbers(frame)
        return (Y[:, 0] if len(self.names) == 1 else Y), np.isfinite(Y).any(axis=1)

    def _numbers(self, frame):
        return np.column_stack([read_numbers(frame[name], name) for name in self.names])

    @abstractmethod
    def estimator(self, loss, levels, level, verbose):
        """The estimator of the task with its default settings, except for those given."""

    def conformal_estimator(self, loss, levels, level, verbose):
        """The estimator, inside a ``ConformalPredictor`` if there is a level."""
        estimator = self.estimator(loss, levels, level, verbose)
        if level is None:
            return estimator
        return ConformalPredictor(estimator, method=self.conformal, level=level, random_state=0, verbose=verbose)

    def table(self, model, X, level):
        """Predictions for X as a data frame, with lower and upper ends, or sets, if there is a level."""
        frame = import_pandas().DataFrame(self._rows(model.predict(X)), columns=self.names)
        if level is None:
            return frame
        parts = [frame]
        for name, ends in self._ends(model, X).items():
            names = [f"{target}_{name}" for target in self.names]
            parts.append(import_pandas().DataFrame(_matrix(ends), columns=names))
        joined = import_pandas().concat(parts, axis=1)
        return joined if self.ends_last else joined[[name for trio in zip(*parts, strict=True) for name in trio]]

    def _rows(self, predictions):
        return _matrix(predictions)

    def _ends(self, model, X):
        ends = np.asarray(model.predict_interval(X))
        return {"lower": ends[..., 0], "upper": ends[..., 1]}


class VectorTask(TableTask):
    """Numbers, one output or several; empty cells are missing outputs."""

    name = "vector"

    def estimator(self, loss, levels, level, verbose):
        return OperatorKernelRegressor(loss=_check(loss or "squared", losses.as_loss), verbose=verbose)


class FunctionalTask(TableTask):
    """Curves on a common grid, one column for each point; empty cells are missing values."""

    name = "functional"
    ends_last = True

    def estimator(self, loss, levels, level, verbose):
        return FunctionalRegressor(grid=self.grid, loss=_check(loss or "squared", losses.as_loss), verbose=verbose)

    def read(self, frame):
        Y = self._numbers(frame)
        return Y, np.isfinite(Y).any(axis=1)

    def _ends(self, model, X):
        band = model.predict_band(X)
        return {"lower": band.lower, "upper": band.upper}


class QuantileTask(TableTask):
    """Quantiles of numbers at several levels."""

    name = "quantiles"
    conformal = "split"  # one fit, since quantile regression is slow

    def estimator(self, loss, levels, level, verbose):
        if loss is not None:
            raise TableError(f"loss {loss!r} is not for quantiles, which have the pinball loss; leave it out")
        if levels is None:
            levels = LEVELS if level is None else ((1 - level) / 2, 0.5, (1 + level) / 2)
        return QuantileRegressor(tuple(levels), grid=self.grid, verbose=verbose)

    def table(self, model, X, level):
        levels = (model if level is None else model.estimator_).levels_
        values = np.asarray(model.predict(X)).reshape(len(X), len(self.names), len(levels))
        frame = import_pandas().DataFrame(index=range(len(X)))
        ends = {} if level is None else self._ends(model, X)
        for j, name in enumerate(self.names):
            for k, quantile in enumerate(levels):
                frame[f"{name}_q{quantile:g}"] = values[:, j, k]
            for end, column in ends.items():
                frame[f"{name}_{end}"] = _matrix(column)[:, j]
        return frame


class ObjectTask(TableTask):
    """Outputs that are decoded, with sets of candidates instead of intervals; rows with an empty cell are dropped."""

    output_loss: str | None = None

    def estimator(self, loss, levels, level, verbose):
        output_loss = _check(loss or self.output_loss, output_losses.as_output_loss)
        return StructuredPredictor(output_loss=output_loss, verbose=verbose)

    def read(self, frame):
        Y = self._numbers(frame)
        return Y, np.isfinite(Y).all(axis=1)

    def table(self, model, X, level):
        frame = super().table(model, X, None)
        if level is None:
            return frame
        sets = model.predict_set(X)
        frame["set_size"] = sets.sizes
        if isinstance(sets, Balls):
            frame["set_radius"] = sets.radius
        else:
            frame["set"] = [self._set_text(members) for members in sets]
        return frame

    def _set_text(self, members):
        if members is None:
            return "(too many to list)"
        text = " | ".join(self._text(member) for member in members[:_MAX_MEMBERS])
        return text + " | ..." * (len(members) > _MAX_MEMBERS)

    def _text(self, member):
        return str(member)


class RankingTask(ObjectTask):
    """Rankings: a column for each label, cells are ranks, 1 for the first."""

    name = "ranking"
    output_loss = "kendall"

    def read(self, frame):
        Y, known = super().read(frame)
        if len(self.names) < 2:
            raise TableError(f"a ranking has a column for each label, got {self.names[0]!r} alone; name them all")
        for row in np.flatnonzero(known):
            if len(set(Y[row])) < len(self.names):
                cells = ", ".join(f"{rank:g}" for rank in Y[row])
                raise TableError(
                    f"row {row + 1} is no ranking, its ranks are {cells}; give each label a different rank"
                )
        return Y, known

    def _rows(self, predictions):
        return np.asarray(predictions).astype(int)

    def _text(self, member):
        return " > ".join(self.names[j] for j in np.argsort(member))


class MultilabelTask(ObjectTask):
    """Label sets: a column for each label, cells are 0 or 1."""

    name = "multilabel"

    def read(self, frame):
        Y, known = super().read(frame)
        for row, j in zip(*np.nonzero(np.isfinite(Y) & (Y != 0) & (Y != 1)), strict=True):
            raise TableError(f"label {self.names[j]!r} must be 0 or 1, but row {row + 1} has {Y[row, j]:g}; mend it")
        return np.where(known[:, None], Y, 0).astype(int), known

    def _rows(self, predictions):
        return np.asarray(predictions).astype(int)

    def _text(self, member):
        return "{" + ", ".join(name for name, applies in zip(self.names, member, strict=True) if applies) + "}"


class StructuredTask(ObjectTask):
    """Classes, or texts: one column of text or whole numbers."""

    name = "structured"

    def read(self, frame):
        if len(self.names) > 1:
            raise TableError(
                f"structured targets are one column of text or classes, got {len(self.names)}; choose one, or the task "
                "multilabel, ranking or vector"
            )
        column = frame[self.names[0]]
        known = column.notna().to_numpy()
        values, wrong = as_numbers(column)
        if not (wrong.any() or is_boolean(column)) and (values[known] % 1 == 0).all():
            return np.where(known, values, 0).astype(int), known
        out = np.empty(len(column), dtype=object)
        out[:] = [str(cell) if is_known else "" for cell, is_known in zip(column, known, strict=True)]
        return out, known

    def _rows(self, predictions):
        return [[prediction] for prediction in predictions]


TASKS: dict[str, type[TableTask]] = {
    task.name: task for task in (FunctionalTask, VectorTask, RankingTask, MultilabelTask, StructuredTask, QuantileTask)
}


def _check(loss, as_loss):
    """The name of a loss, checked before anything is fitted."""
    if loss is not None:
        as_loss(loss)
    return loss


def _matrix(values):
    """Values (n, d) of outputs (n,) or (n, d)."""
    values = np.asarray(values)
    return values[:, None] if values.ndim == 1 else values
