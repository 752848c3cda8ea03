"""The parts of a section: tables, figures, tiles, and the evaluation of one kind of outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .charts import Chart
from .text import format_number

WORST = 10  # samples in a table of largest errors
NO_OUTPUTS = "No outputs were given, so that there is nothing to compare predictions with."


@dataclass(frozen=True)
class Meter:
    """A share between 0 and 1, which a cell of a table shows as a bar."""

    share: float
    text: str


@dataclass(frozen=True)
class ReportTable:
    """A table whose cells are text or ``Meter``; the search field finds rows by their names."""

    title: str
    columns: list[str]
    rows: list[list]
    names: list[str] | None = None  # of rows, in a first column
    note: str = ""
    first: str = "sample"  # heading of the first column
    text: tuple[str, ...] = ()  # columns of text
    folded: bool = False  # whether a click opens it

    @property
    def narrow(self) -> bool:
        """Whether it takes half of the page width."""
        return not self.folded and len(self.columns) + (self.names is not None) <= 4 and len(self.text) < 2


@dataclass(frozen=True)
class Figures:
    """Names and values side by side."""

    rows: list[tuple[str, str]]
    title: str = ""


@dataclass(frozen=True)
class SectionPart:
    """A part of a section, with a heading."""

    title: str
    intro: str = ""
    items: Sequence[Chart | ReportTable | Figures] = ()


@dataclass(frozen=True)
class Tile:
    """A number at the top of a section."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class CoverageSummary:
    """The coverage of prediction sets: a part of the section, plain numbers, and a tile."""

    part: SectionPart
    facts: dict
    tile: Tile


@dataclass(frozen=True)
class ModelEvaluation:
    """The evaluation of predictions, for one kind of outputs."""

    goal: str  # the predicted output in words
    tiles: list[Tile]
    part: SectionPart
    errors: Any = None  # (n,) of the samples, NaN where the truth is unknown
    error_name: str = ""
    facts: dict = field(default_factory=dict)  # plain numbers
    coverage: CoverageSummary | None = None
    verb: str = "predict"
    unit: str = "sample"  # or "pair"
    outputs: list = field(default_factory=list)  # tables on ranges and missing outputs


@dataclass(frozen=True)
class Section:
    """One model and its evaluation, made by ``report.section`` for ``report.html`` and ``report.write``.

    Attributes
    ----------
    name : str
        Heading.
    task : str
        A sentence on the task.
    tiles : list of Tile
        Numbers at the top.
    parts : list of SectionPart
        Tables and charts under headings.
    facts : dict
        Numbers of the section: score, coverage, duality gap and so on.

    References
    ----------
    - Barber, R. F., Candes, E. J., Ramdas, A. and Tibshirani, R. J. (2021). Predictive inference with the jackknife+.
      Annals of Statistics 49(1).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, report
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> model = OperatorKernelRegressor("rbf", gamma=5.0, alpha=1e-4).fit(X, np.sin(6 * X[:, 0]))
    >>> report.section(model, X, np.sin(6 * X[:, 0]), name="A sine")
    Section(name='A sine', task='From 1 column, predict one number.')
    """

    name: str
    task: str
    tiles: list[Tile] = field(repr=False)
    parts: list[SectionPart] = field(repr=False)
    facts: dict = field(repr=False)


def worst_table(evaluation: ModelEvaluation, names) -> ReportTable | None:
    """The samples with the largest errors; None if there are no errors."""
    if evaluation.errors is None or not (np.nan_to_num(evaluation.errors) > 0).any():
        return None
    known = np.flatnonzero(np.nan_to_num(evaluation.errors) > 0)
    order = known[np.argsort(-evaluation.errors[known], kind="stable")][:WORST]
    rows = [[format_number(evaluation.errors[i])] for i in order]
    return ReportTable("Largest errors of the test samples", [evaluation.error_name], rows, [names[i] for i in order])
