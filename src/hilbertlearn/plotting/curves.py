"""Pictures of curves: predictions, observations with gaps, bands, several curves a sample."""

from __future__ import annotations

from itertools import cycle

import numpy as np

from ..data.functions import IrregularFunctions, has_points, read_functions
from .axes import BLACK, CYCLE, axes_of, select_rows, tidy
from .bands import plot_band

_STYLES = ("-", "--", ":", "-.")  # line styles of the curves of one sample, in order


def plot_curves(
    curves, ax=None, *, grid=None, y=None, band=None, samples=None, color=None, label=None, y_label=None, linewidth=1.8
):
    """Draw curves, one colour a sample, optionally with observations and bands.

    Parameters
    ----------
    curves : array of shape (m,), (n, m) or (n, m, p), data frame, IrregularFunctions or scikit-fda functions
        Usually predictions. NaN interrupts the line. Of p curves a sample the first is solid, the second dashed.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure.
    grid : array of shape (m,), default=None
        Points of arrays; None for equal steps on [0, 1], as in the estimators. Containers have their own points.
    y : same form as ``curves``, default=None
        Observations: dots for curves with gaps or irregular points, thin dashed lines for others.
    band : pair (lower, upper) or object with ``lower`` and ``upper``, default=None
        As for ``plot_band``; for one curve a sample.
    samples : indices, slice or mask, default=None
        Samples to draw; None for the first six.
    color : matplotlib color, default=None
        Colour of all samples; None gives each its own.
    label : str, default=None
        Name of the first curve in ``ax.legend()``.
    y_label : str, default=None
        Name of the observations of the first curve in ``ax.legend()``.
    linewidth : float, default=1.8
        Width of the lines of ``curves``, in points.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.

    References
    ----------
    - Ramsay, J. O. and Silverman, B. W. (2005). Functional data analysis. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import plotting
    >>> grid = np.linspace(0, 1, 30)
    >>> curves = np.sin(6 * grid + np.arange(4)[:, None])
    >>> seen = curves + 0.1
    >>> seen[:, 10:15] = np.nan
    >>> ax = plotting.plot_curves(curves, grid=grid, y=seen, samples=[0, 2], label="predicted", y_label="observed")
    >>> len(ax.lines)
    4
    """
    drawn = _read(curves, grid, "curves")
    observed = None if y is None else _read(y, grid, "y")
    if observed is not None and len(observed) != len(drawn):
        raise ValueError(f"y must have the {len(drawn)} samples of curves, got {len(observed)}")
    rows = select_rows(samples, len(drawn), len(CYCLE))
    ax = axes_of(ax)
    if band is not None:
        ends = (band.lower, band.upper) if hasattr(band, "lower") else band
        points = getattr(band, "grid", None) if isinstance(drawn, IrregularFunctions) else drawn.axes[0]
        plot_band(ends, ax, grid=points, samples=rows, color=color)
    for place, i in enumerate(rows):
        names = (label, y_label) if place == 0 else (None, None)
        _draw_sample(ax, drawn, observed, i, color or CYCLE[place % len(CYCLE)], names, linewidth)
    ax.margins(x=0)
    return tidy(ax, xlabel="t", ylabel="y(t)")


def _draw_sample(ax, drawn, observed, i, color, names, linewidth):
    """Draw the curves and the observations of sample i; names : of its first curve and observation, or None."""
    for k, ((points, values), style) in enumerate(zip(_lines(drawn, i), cycle(_STYLES))):
        ax.plot(points, values, style, color=color, linewidth=linewidth, label=names[0] if k == 0 else None)
    for k, (points, values) in enumerate(_lines(observed, i) if observed is not None else ()):
        ax.plot(points, values, **_line_style(observed, values, color), label=names[1] if k == 0 else None)


def _read(curves, grid, name):
    """``GridFunctions`` of one variable, or ``IrregularFunctions``."""
    if isinstance(curves, (list, tuple, np.ndarray)) and np.ndim(curves) == 1 and not has_points(curves):
        curves = np.asarray(curves)[None]
    data, _ = read_functions(curves, None if has_points(curves) else grid, name)
    if not isinstance(data, IrregularFunctions) and len(data.axes) != 1:
        raise ValueError(f"{name} must be functions of one variable, got {len(data.axes)}; draw slices of them")
    return data


def _lines(data, i):
    """Pairs (points (m,), values (m,)) in increasing order of points, one for each of the curves of sample i."""
    points, values = (data.points if isinstance(data, IrregularFunctions) else data.axes * len(data))[i], data.values[i]
    order = np.argsort(points, kind="stable")
    return [(points[order], column[order]) for column in values.reshape(len(points), -1).T]


def _line_style(observed, values, color):
    """Dots for irregular points and gaps, which lines would hide; thin lines for others."""
    if isinstance(observed, IrregularFunctions) or np.isnan(values).any():
        return {"linestyle": "none", "marker": "o", "markersize": 3.5, "color": color, "markeredgewidth": 0}
    return {"linestyle": "--", "linewidth": 1.0, "color": BLACK}
