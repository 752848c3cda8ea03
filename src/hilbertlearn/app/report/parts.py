"""What a section of the page is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .charts import Chart
from .text import number

WORST = 10  # samples in a table of the worst
NOTHING_TRUE = "No outputs were given, so that there is nothing to compare predictions with."


@dataclass(frozen=True)
class Meter:
    """A share of one that a cell of a table shows as a bar."""

    share: float
    text: str


@dataclass(frozen=True)
class Table:
    """Cells are text, or ``Meter``; rows with names are searched by them."""

    title: str
    columns: list[str]
    rows: list[list]
    names: list[str] | None = None  # of the samples that rows are, shown in a first column
    note: str = ""
    first: str = "sample"  # what names are of
    text: tuple[str, ...] = ()  # columns that are words and not numbers
    folded: bool = False  # whether it is opened by a click

    @property
    def narrow(self) -> bool:
        """Whether it takes half of the width."""
        return not self.folded and len(self.columns) + (self.names is not None) <= 4 and len(self.text) < 2


@dataclass(frozen=True)
class Figures:
    """Names and values side by side."""

    rows: list[tuple[str, str]]
    title: str = ""


@dataclass(frozen=True)
class Part:
    """A chapter of a section."""

    title: str
    intro: str = ""
    items: Sequence[Chart | Table | Figures] = ()


@dataclass(frozen=True)
class Tile:
    """A figure at the top of a section."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Judged:
    """What predictions say beside the truth, for one kind of outputs."""

    goal: str  # what is predicted, in words
    tiles: list[Tile]
    part: Part
    errors: Any = None  # (n,) of the samples, NaN where nothing is known of the truth
    error_name: str = ""
    facts: dict = field(default_factory=dict)  # plain numbers
    coverage: Part | None = None
    verb: str = "predict"
    unit: str = "sample"  # what was judged
    outputs: list = field(default_factory=list)  # on ranges and gaps of the outputs


@dataclass(frozen=True)
class Section:
    """One model and the data it was judged on: made by ``section``, shown by ``html`` and ``write``.

    Attributes
    ----------
    name : heading
    task : what is asked, in a sentence
    tiles : figures at the top
    parts : chapters
    facts : dict of the numbers of the section: score, coverage, gap and so on, as they are in the page

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
    parts: list[Part] = field(repr=False)
    facts: dict = field(repr=False)


def worst_table(judged: Judged, names) -> Table | None:
    """The samples with the largest errors; None where there is none."""
    if judged.errors is None or not (np.nan_to_num(judged.errors) > 0).any():
        return None
    known = np.flatnonzero(np.nan_to_num(judged.errors) > 0)
    order = known[np.argsort(-judged.errors[known], kind="stable")][:WORST]
    rows = [[number(judged.errors[i])] for i in order]
    return Table("Largest errors among the samples judged", [judged.error_name], rows, [names[i] for i in order])
