"""Charts as data: the numbers and names that the script of the page draws."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ...plotting.axes import BLACK, BLUE, CYCLE, GREEN, GREY, ORANGE, RED

# Names of colours on the page. Light colours are those of ``plotting``; dark.css has the dark ones.
PALETTE = {"blue": BLUE, "orange": ORANGE, "green": GREEN, "pink": CYCLE[3], "sky": CYCLE[4], "red": RED}
INKS = {"grey": GREY, "ink": BLACK}
ORDER = ("blue", "orange", "green", "pink", "sky", "red")

# Limits of one chart, so that a page stays below 2 MB and is drawn without delay
POINTS = 1200  # dots of a scatter plot
VIEWS = 60  # views
NUMBERS = 60_000  # numbers in all views
_WIDE = 20.0  # ratio of the largest error to the smallest beyond which an axis is logarithmic, as in ``plotting``
_BINS = 30  # bins of a histogram at most


@dataclass(frozen=True)
class Axis:
    label: str
    log: bool = False


@dataclass(frozen=True)
class Series:
    """A series of a chart, with its entry in the legend.

    kind : "line", "points" (with lower and upper: and bars), "band" (lower, upper), "bars" (from x to y of ``ends``),
        or "rule" (a line across the chart at x, or at y)
    x : numbers, or a key of ``Chart.shared``
    names : names of the samples of points, for the search field and tooltips
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
    """One of the alternative pictures of a chart: one output, or one curve."""

    label: str
    series: list[Series]
    sample: bool = False  # whether the label is the name of a sample, for the search field


@dataclass(frozen=True)
class Chart:
    title: str
    x: Axis
    y: Axis
    views: list[View]
    note: str = ""
    choose: str = ""  # name of what distinguishes views, as "output"
    shared: dict = field(default_factory=dict)
    diagonal: bool = False  # equal axes, and a line y = x

    def plain(self):
        """Dictionary of lists, numbers and text, without defaults."""
        return plain(asdict(self))


def plain(value):
    """Lists, numbers of six digits and text; dictionaries without values None, False and ""."""
    if isinstance(value, dict):
        pairs = ((key, plain(item)) for key, item in value.items())
        return {key: item for key, item in pairs if item is not None and item is not False and item != ""}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.6g}") if np.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value


def needs_log_axis(values) -> bool:
    """Whether the axis of errors is logarithmic, by the rule of ``plotting.plot_path``."""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    return bool(len(values)) and values.min() > 0 and values.max() > _WIDE * values.min()


def histogram(name, values, edges, color="blue") -> Series:
    """Shares of values between edges, as bars."""
    counts = np.histogram(values, edges)[0]
    return Series(name, "bars", edges[:-1], counts / max(len(values), 1), ends=edges[1:], color=color)


def bin_edges(values):
    """Edges of the bins of a histogram: around each value if there are few at even steps, else even steps."""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    low, high = (values.min(), values.max()) if len(values) else (0.0, 1.0)
    steps = np.diff(np.unique(values.round(12)))
    if len(steps) > 0 and high - low < _BINS * steps.min() and np.allclose(steps / steps.min() % 1, 0, atol=1e-6):
        return np.arange(low - steps.min() / 2, high + steps.min(), steps.min())
    number = int(np.clip(np.sqrt(len(values)), 5, _BINS))
    return np.linspace(low, high if high > low else low + 1, number + 1)


def select_drawn(errors, most):
    """Positions of at most ``most`` samples to draw: a tenth with the largest errors, the others at random."""
    n = len(errors)
    if n <= most:
        return np.arange(n)
    order = np.argsort(-np.nan_to_num(errors), kind="stable")
    worst, remaining = order[: most // 10], order[most // 10 :]
    return np.sort(np.r_[worst, np.random.default_rng(0).choice(remaining, most - len(worst), replace=False)])


def select_evenly(errors, most):
    """Positions of at most ``most`` samples, at even steps from the largest error to the smallest."""
    errors = np.asarray(errors, dtype=float)
    order = np.argsort(-np.where(np.isnan(errors), -np.inf, errors), kind="stable")
    return order if len(order) <= most else order[np.linspace(0, len(order) - 1, most).round().astype(int)]
