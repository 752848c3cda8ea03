"""Bands around curves, and quantiles."""

from __future__ import annotations

import numpy as np

from .axes import BLACK, BLUE, CYCLE, GREY, axes_of, select_rows, tidy

_OPACITY = 0.22  # of a band, so that overlapping ones show
_PALEST, _DARKEST = 0.12, 0.38  # opacity of the outermost and of the innermost pair of quantiles


def plot_band(band, ax=None, *, grid=None, center=None, y=None, samples=None, color=None, label=None):
    """Simultaneous bands of curves: the whole curve is inside with the stated probability.

    Parameters
    ----------
    band : object with ``lower`` and ``upper``, or pair (lower, upper)
        Both are arrays (m,) or (n, m), functions of scikit-fda on a grid, or ``IrregularFunctions``. An object may also
        have ``grid`` and ``center``.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure.
    grid : array of shape (m,), default=None
        Points of the curves; None for ``band.grid``, or 0, 1, ... without one.
    center : same form as ``lower``, default=None
        Predictions; None for ``band.center``, if there is one.
    y : same form as ``lower``, default=None
        Observed curves, NaN where not observed, drawn as dashed lines.
    samples : indices, slice or mask, default=None
        Curves to draw; None for the first three.
    color : matplotlib color, default=None
        Colour of all bands; None gives each its own.
    label : str, default=None
        Name of the first band in ``ax.legend()``.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.

    References
    ----------
    - Diquigiovanni, J., Fontana, M. and Vantini, S. (2022). Conformal prediction bands for multivariate functional
      data. Journal of Multivariate Analysis 189.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import plotting
    >>> t = np.linspace(0, 1, 20)
    >>> ax = plotting.plot_band((np.sin(6 * t) - 0.3, np.sin(6 * t) + 0.3), grid=t, label="90 %")
    >>> len(ax.collections)
    1
    """
    if not hasattr(band, "lower") and not (isinstance(band, (tuple, list)) and len(band) == 2):
        raise TypeError(f"band must have lower and upper, or be a pair of these, got {type(band).__name__}")
    ax = axes_of(ax)
    low, high = (band.lower, band.upper) if hasattr(band, "lower") else band
    center = getattr(band, "center", None) if center is None else center
    lower, upper, middle, observed = (_rows(values) for values in (low, high, center, y))
    grid = None if _is_irregular(lower) else _grid_of(band, low, grid, lower.shape[1])
    _check_shapes(lower, {"upper": upper, "center": middle, "y": observed})
    for place, i in enumerate(select_rows(samples, len(lower), 3)):
        curve_color = color or CYCLE[place % len(CYCLE)]
        _draw_band(ax, _curve(lower, grid, i), _curve(upper, grid, i), curve_color, label if place == 0 else None)
        if middle is not None:
            ax.plot(*_curve(middle, grid, i), color=curve_color, linewidth=1.8)
        if observed is not None:
            at, values = _curve(observed, grid, i)
            marker = "o" if _is_irregular(observed) else _gap_marker(values)
            ax.plot(at, values, color=BLACK, linewidth=1.0, linestyle="--", marker=marker, markersize=2.5)
    ax.margins(x=0)
    return tidy(ax, xlabel="t", ylabel="y(t)")


def _check_shapes(lower, others):
    """Raise unless all curves have the shape of the lower ones; irregular curves only their number."""
    for name, values in others.items():
        shape = lower.shape[:1] if _is_irregular(values) else lower.shape
        if values is not None and values.shape != shape:
            raise ValueError(f"{name} must have the shape {shape} of lower, got {values.shape}")


def _draw_band(ax, lower, upper, color, label):
    """Fill the area between two curves, pairs (points, values), and draw both."""
    (points, below), (_, above) = lower, upper
    ax.fill_between(points, below, above, color=color, alpha=_OPACITY, linewidth=0, label=label)
    for edge in (below, above):
        ax.plot(points, edge, color=color, linewidth=0.7, alpha=0.8)


def plot_quantiles(x, quantiles, levels, ax=None, *, y=None, color=BLUE):
    """Quantiles over a single input, or of one curve over its grid.

    Pairs of levels that lie symmetrically around the middle one enclose shaded bands, darker towards the middle.

    Parameters
    ----------
    x : array of shape (n,) or (n, 1)
        Inputs in any order, or points of a grid.
    quantiles : array of shape (n, n_levels)
        Predicted quantiles at x.
    levels : array of shape (n_levels,)
        Increasing numbers in (0, 1).
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure.
    y : array of shape (n,), default=None
        Observed outputs at x, drawn as dots.
    color : matplotlib color, default="#0072B2"
        Colour of bands and lines.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.

    References
    ----------
    - Sangnier, M., Fercoq, O. and d'Alché-Buc, F. (2016). Joint quantile regression in vector-valued RKHSs. NIPS 29.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import plotting
    >>> x = np.linspace(0, 1, 20)
    >>> ax = plotting.plot_quantiles(x, np.column_stack([x - 1, x, x + 1]), (0.1, 0.5, 0.9))
    >>> len(ax.collections), len(ax.lines)
    (1, 1)
    """
    ax = axes_of(ax)
    x, quantiles, levels = (np.asarray(values, dtype=float) for values in (x, quantiles, levels))
    x = x[:, 0] if x.ndim == 2 and x.shape[1] == 1 else x
    if x.ndim != 1 or quantiles.shape != (len(x), levels.size):
        raise ValueError(
            f"x must be (n,) and quantiles (n, n_levels), got {x.shape} and {quantiles.shape} for {levels.size} levels"
        )
    if not ((levels > 0) & (levels < 1)).all() or not (np.diff(levels) > 0).all():
        raise ValueError(f"levels must be increasing numbers in (0, 1), got {levels!r}")
    order, number = np.argsort(x, kind="stable"), levels.size
    at, pairs = x[order], number // 2
    for k in range(pairs):
        low, high = levels[k], levels[number - 1 - k]
        alpha = _PALEST + (_DARKEST - _PALEST) * (k + 1) / pairs
        ax.fill_between(at, quantiles[order, k], quantiles[order, number - 1 - k], color=color, alpha=alpha,
                        linewidth=0, label=f"{_per_cent(low)} to {_per_cent(high)}")  # fmt: skip
    if number % 2:
        ax.plot(at, quantiles[order, pairs], color=color, linewidth=2, label=_per_cent(levels[pairs]))
    if y is not None:
        ax.plot(x, np.asarray(y, dtype=float).ravel(), ".", color=GREY, markersize=3, zorder=1)
    ax.legend(frameon=False, fontsize="small", title="quantiles", title_fontsize="small")
    ax.margins(x=0)
    return tidy(ax, xlabel="x", ylabel="y")


def _is_irregular(values):
    """Whether each curve has its own points."""
    return hasattr(values, "points")


def _curve(values, grid, i):
    """Points (m,), in order, and values (m,) of one curve."""
    if not _is_irregular(values):
        return grid, values[i]
    points, curve = (np.asarray(part[i], dtype=float) for part in (values.points, values.values))
    curve = curve[:, 0] if curve.ndim == 2 and curve.shape[1] == 1 else curve
    if curve.ndim != 1:
        raise ValueError(f"plot_band draws single curves over one variable, got {curve.shape[1]} curves a sample")
    order = np.argsort(points, kind="stable")
    return points[order], curve[order]


def _rows(values):
    """Arrays (n, m) of curves in any form; None and irregular curves are returned unchanged."""
    if values is None or _is_irregular(values):
        return values
    if hasattr(values, "data_matrix"):  # of scikit-fda
        values = values.data_matrix[..., 0]
    values = np.asarray(values, dtype=float)
    values = values[None] if values.ndim == 1 else values
    values = values[..., 0] if values.ndim == 3 and values.shape[2] == 1 else values
    if values.ndim != 2:
        raise ValueError(f"plot_band draws single curves (n, m) over one variable, got shape {values.shape}")
    return values


def _grid_of(band, lower, grid, m):
    """Points (m,): the given ones, those of the band, those of its container, or 0, 1, ..."""
    sources = [grid, getattr(band, "grid", None), getattr(getattr(band, "form", None), "axes", None)]
    sources.append(getattr(lower, "grid_points", None))
    points = next((points for points in sources if points is not None), np.arange(m))
    points = np.asarray(points[0] if isinstance(points, tuple) else points, dtype=float)
    if points.shape != (m,):
        raise ValueError(f"grid must have the {m} points of the band, got shape {points.shape}")
    return points


def _gap_marker(values):
    """Marker of curves with gaps: a point between two gaps has no line."""
    return "o" if np.isnan(values).any() else None


def _per_cent(level):
    return f"{100 * level:.3g} %"
