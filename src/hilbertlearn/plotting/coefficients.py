"""Dual coefficients of the samples."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._utils.validation import check_choice
from .axes import BLACK, BLUE, GREY, RED, axes_of, colour_bar, tidy

_PALE = "#E4E4E4"  # colour of zero coefficients
_COLOUR_QUANTILE = 0.99  # quantile of absolute coefficients at which the colour scale ends


def plot_coefficients(model, ax=None, *, kind="map"):
    """Dual coefficients: which samples are in use, and which ones the loss holds at its bound, at which outputs.

    Parameters
    ----------
    model : fitted kernel machine
        An estimator with ``dual_coef_`` and ``saturated_``.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure.
    kind : {"map", "samples"}, default="map"
        "map": coefficients of samples (rows) and coordinates (columns), grey where zero, with a mark at each sample or
        entry that the loss holds at its bound. "samples": the norm of each sample's coefficients.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.

    References
    ----------
    - Lambert, Bouche, Szabó and d'Alché-Buc (2022). Functional output regression with infimal convolution: exploring
      the Huber and epsilon-insensitive losses. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, losses, plotting
    >>> X = np.linspace(0, 1, 30)[:, None]
    >>> Y = np.hstack([np.sin(6 * X), np.cos(6 * X)])
    >>> model = OperatorKernelRegressor("rbf", gamma=9.0, alpha=1e-3, loss=losses.EpsilonInsensitive(0.1)).fit(X, Y)
    >>> ax = plotting.plot_coefficients(model, kind="samples")
    >>> ax.get_ylabel()
    'size of the coefficients'
    """
    check_choice(kind, "kind", ("map", "samples"))
    if not hasattr(model, "fit") or not hasattr(type(model), "dual_coef_"):
        raise TypeError(f"model must be a fitted kernel machine of the package, got {type(model).__name__}")
    check_is_fitted(model)
    coefficients, is_saturated = np.asarray(model.dual_coef_), np.asarray(model.saturated_)
    ax = axes_of(ax)
    return (_map if kind == "map" else _samples)(ax, coefficients, is_saturated)


def _map(ax, coefficients, is_saturated):
    import matplotlib as mpl

    nonzero = np.ma.masked_equal(coefficients, 0.0)
    top = np.quantile(np.abs(nonzero.compressed()), _COLOUR_QUANTILE) if nonzero.count() else 1.0
    colours = mpl.colormaps["PuOr"].with_extremes(bad=_PALE)
    n, d = coefficients.shape
    image = ax.imshow(nonzero, cmap=colours, vmin=-top, vmax=top, aspect="auto", interpolation="nearest")
    if is_saturated.ndim == 2:
        rows, columns = np.nonzero(is_saturated)
        ax.plot(columns, rows, ".", color=BLACK, markersize=2.5, label=f"{len(rows)} entries held back")
    else:
        rows = np.flatnonzero(is_saturated)
        ax.plot(np.full(len(rows), 1.015), rows, "<", color=RED, markersize=4, clip_on=False,
                transform=ax.get_yaxis_transform(), label=f"{len(rows)} samples held back")  # fmt: skip
    if len(rows):
        ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)
    colour_bar(ax, image, "coefficient", extend="both")
    return tidy(ax, xlabel="coordinate of the output", ylabel="sample")


def _samples(ax, coefficients, is_saturated):
    sizes = np.linalg.norm(coefficients, axis=1)
    bound = is_saturated.any(axis=1) if is_saturated.ndim == 2 else is_saturated.astype(bool)
    kinds = [
        ("not in use", sizes == 0, GREY),
        ("in use", (sizes > 0) & ~bound, BLUE),
        ("held back", (sizes > 0) & bound, RED),
    ]
    for name, which, color in kinds:
        at = np.flatnonzero(which)
        if len(at):
            ax.vlines(at, 0, sizes[at], color=color, linewidth=1)
            ax.plot(at, sizes[at], "o", color=color, markersize=4, label=f"{len(at)} {name}")
    ax.legend(frameon=False, fontsize="small")
    ax.set_ylim(bottom=0)
    return tidy(ax, xlabel="sample", ylabel="size of the coefficients")
