"""Charts as data: what the page draws, all in numbers and names."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ...plotting.axes import BLACK, BLUE, CYCLE, GREEN, GREY, ORANGE, RED

# Names of colours on the page, which has a second set for the dark; the first is that of ``plotting``
PALETTE = {"blue": BLUE, "orange": ORANGE, "green": GREEN, "pink": CYCLE[3], "sky": CYCLE[4], "red": RED}
INKS = {"grey": GREY, "ink": BLACK}
ORDER = ("blue", "orange", "green", "pink", "sky", "red")

POINTS = 1200  # in a scatter plot
VIEWS = 60  # to choose from in one chart
NUMBERS = 60_000  # in one chart
_WIDE = 20.0  # times the smallest error from where on an axis is logarithmic, as in ``plotting``
_BINS = 30  # of a histogram


@dataclass(frozen=True)
class Axis:
    label: str
    log: bool = False


@dataclass(frozen=True)
class Series:
    """Something drawn in a chart, and its line in the legend.

    kind : "line", "points" (with lower and upper: and bars), "band" (lower, upper), "bars" (from x to y of ``ends``),
        or "rule" (a line across the chart at x, or at y)
    x : numbers, or the name of numbers that a chart's views share
    names : of the samples that points are, searched for and shown
    """

    name: str
    kind: str
    x: Any = None
    y: Any = None
    lower: Any = None
    upper: Any = None
    ends: Any = None
    names: Any = None
    color: str = "blue"
    dashed: bool = False
    faint: bool = False


@dataclass(frozen=True)
class View:
    """One picture of a chart: of an output, of a curve."""

    label: str
    series: list[Series]
    sample: bool = False  # whether the label is the name of a sample, which can be searched for


@dataclass(frozen=True)
class Chart:
    title: str
    x: Axis
    y: Axis
    views: list[View]
    note: str = ""
    choose: str = ""  # what the views are of, "output" for instance
    shared: dict = field(default_factory=dict)
    diagonal: bool = False  # both axes alike, and a line where they are equal

    def plain(self):
        """Dictionary of lists, numbers and text; what is at its default is left out."""
        return plain(asdict(self))


def plain(value):
    """Lists, numbers of six digits and text; None, False and "" in a dictionary are left out."""
    if isinstance(value, dict):
        pairs = ((key, plain(one)) for key, one in value.items())
        return {key: one for key, one in pairs if one is not None and one is not False and one != ""}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.6g}") if np.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value


def is_wide(values) -> bool:
    """Whether errors span so much that their axis is logarithmic, as in ``plotting.plot_path``."""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    return bool(len(values)) and values.min() > 0 and values.max() > _WIDE * values.min()


def histogram(name, values, edges, color="blue") -> Series:
    """Shares of values between edges, as bars."""
    counts = np.histogram(values, edges)[0]
    return Series(name, "bars", edges[:-1], counts / max(len(values), 1), ends=edges[1:], color=color)


def edges_of(values):
    """Edges of the bins of a histogram: around each value where they are few and at even steps, else even steps."""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    low, high = (values.min(), values.max()) if len(values) else (0.0, 1.0)
    steps = np.diff(np.unique(values.round(12)))
    if len(steps) > 0 and high - low < _BINS * steps.min() and np.allclose(steps / steps.min() % 1, 0, atol=1e-6):
        return np.arange(low - steps.min() / 2, high + steps.min(), steps.min())
    number = int(np.clip(np.sqrt(len(values)), 5, _BINS))
    return np.linspace(low, high if high > low else low + 1, number + 1)


def drawn(errors, most):
    """Positions of samples to draw, in order: all, or of many the tenth with the largest errors and some at random."""
    n = len(errors)
    if n <= most:
        return np.arange(n)
    order = np.argsort(-np.nan_to_num(errors), kind="stable")
    worst, rest = order[: most // 10], order[most // 10 :]
    return np.sort(np.r_[worst, np.random.default_rng(0).choice(rest, most - len(worst), replace=False)])


def spread_out(errors, most):
    """Positions of samples from the largest error to the smallest: all, or of many some at even steps."""
    errors = np.asarray(errors, dtype=float)
    order = np.argsort(-np.where(np.isnan(errors), -np.inf, errors), kind="stable")
    return order if len(order) <= most else order[np.linspace(0, len(order) - 1, most).round().astype(int)]
