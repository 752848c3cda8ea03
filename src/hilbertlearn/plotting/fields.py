"""Vector fields in the plane."""

from __future__ import annotations

import numpy as np

from .._utils.validation import check_choice
from .axes import BLUE, axes_of, colour_bar, tidy

_SHADES = ("speed", "divergence", "curl")


def plot_field(points, vectors, ax=None, *, kind="arrows", shade=None, color=BLUE, label=None, scale=None):
    """Vectors at points of the plane, as arrows or stream lines, over a map of their divergence, curl or speed.

    Parameters
    ----------
    points : array of shape (n, 2)
        Any points for arrows. Stream lines and maps need the points of a grid, in any order, at least two by two.
    vectors : array of shape (n, 2)
        Observed or predicted vectors at the points.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure.
    kind : {"arrows", "streams"}, default="arrows"
        Arrows at the points, or stream lines.
    shade : {"speed", "divergence", "curl"} or None, default=None
        Quantity that colours the background, by differences between neighbours on the grid; None for nothing.
    color : matplotlib color, default="#0072B2"
        Colour of the arrows or lines.
    label : str, default=None
        Name of the arrows in ``ax.legend()``.
    scale : float, default=None
        Length of a vector that is drawn with the length of one unit of the axes; None for matplotlib's choice.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.

    References
    ----------
    - Macêdo and Castro (2008). Learning divergence-free and curl-free vector fields with matrix-valued kernels. IMPA.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import plotting
    >>> axis = np.linspace(-1, 1, 9)
    >>> points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    >>> ax = plotting.plot_field(points, np.column_stack([-points[:, 1], points[:, 0]]), shade="curl")
    >>> bool(np.allclose(ax.collections[0].get_array(), 2))  # a rotation
    True
    """
    check_choice(kind, "kind", ("arrows", "streams"))
    check_choice(shade, "shade", (*_SHADES, None))
    points, vectors = np.asarray(points, dtype=float), np.asarray(vectors, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2 or vectors.shape != points.shape:
        raise ValueError(f"points and vectors must be (n, 2), got shapes {points.shape} and {vectors.shape}")
    grid = _grid(points, vectors) if kind == "streams" or shade is not None else ()
    ax = axes_of(ax)
    if shade is not None:
        _map(ax, shade, *grid)
    if kind == "streams":
        ax.streamplot(*grid, color=color, linewidth=0.9, arrowsize=0.9)
    else:
        ax.quiver(*points.T, *vectors.T, color=color, angles="xy", scale_units="xy" if scale else None, scale=scale,
                  width=0.005, zorder=3, label=label)  # fmt: skip
    ax.set_aspect("equal")
    return tidy(ax, xlabel="x", ylabel="y")


def _grid(points, vectors):
    """Axes (w,) and (h,), and both components (h, w), of points that are a grid."""
    x, y = np.unique(points[:, 0]), np.unique(points[:, 1])
    if len(x) * len(y) != len(points) or min(len(x), len(y)) < 2 or len(np.unique(points, axis=0)) < len(points):
        raise ValueError(
            f"points must be a grid for stream lines and maps: {len(points)} of them have {len(x)} and {len(y)} "
            "different coordinates; give np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2), or "
            "kind='arrows' and shade=None"
        )
    order = np.lexsort((points[:, 0], points[:, 1]))
    U, V = vectors[order].T.reshape(2, len(y), len(x))
    return x, y, U, V


def _map(ax, shade, x, y, U, V):
    if shade == "speed":
        values = np.hypot(U, V)
        colours, low, high = "cividis", 0.0, values.max()
    else:
        (first, across), (second, along) = ((U, x), (V, y)) if shade == "divergence" else ((V, x), (-U, y))
        values = np.gradient(first, across, axis=1) + np.gradient(second, along, axis=0)
        high = np.abs(values).max()
        colours, low = "PuOr", -high
    mesh = ax.pcolormesh(x, y, values, cmap=colours, vmin=low, vmax=high, shading="nearest", alpha=0.75)
    colour_bar(ax, mesh, shade)
