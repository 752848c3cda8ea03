"""Cross-validated errors along a path, or over a grid of two settings."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .axes import BLACK, BLUE, GREY, RED, axes_of, colour_bar, format_number, scale_for, tidy


def plot_path(path, ax=None):
    """Cross-validated errors of a fitted ``RegularizationPathCV``, and the selected settings.

    A path over alpha alone is a curve with its standard errors; a line marks one standard error above the smallest
    error. A path over alpha and one constant of the loss is a map; with more constants each combination is a column.

    Parameters
    ----------
    path : fitted RegularizationPathCV
        The path whose errors are drawn.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.

    References
    ----------
    - Hastie, T., Tibshirani, R. and Friedman, J. (2009). The elements of statistical learning. Springer, section 7.10.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, RegularizationPathCV, plotting
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> path = RegularizationPathCV(OperatorKernelRegressor("rbf", gamma=10.0), np.logspace(-6, 0, 7))
    >>> ax = plotting.plot_path(path.fit(X, np.sin(6 * X[:, 0])))
    >>> ax.get_xscale()
    'log'
    """
    if hasattr(path, "fit"):
        check_is_fitted(path)
    if not hasattr(path, "alphas_") or not hasattr(path, "errors_"):
        raise TypeError(f"path must be a fitted RegularizationPathCV, got {type(path).__name__}")
    ax = axes_of(ax)
    return _curve(ax, path) if path.errors_.ndim == 1 else _map(ax, path)


def _curve(ax, path):
    order = np.argsort(path.alphas_)
    alphas, errors, spread = path.alphas_[order], path.errors_[order], path.standard_errors_[order]
    best = int(np.argmin(errors))
    ax.fill_between(alphas, errors - spread, errors + spread, color=BLUE, alpha=0.2, linewidth=0, label="± 1 s.e.")
    ax.plot(alphas, errors, color=BLUE, linewidth=2, label=f"{path.aggregate} cross-validated error")
    ax.axhline(errors[best] + spread[best], color=GREY, linestyle=":", linewidth=1.2, label="smallest + 1 s.e.")
    selected = int(np.argmin(np.abs(np.log(alphas / path.alpha_))))
    ax.plot(alphas[selected], errors[selected], "o", color=RED, markersize=8, zorder=4,
            label=f"selected, alpha = {format_number(path.alpha_)}")  # fmt: skip
    ax.axvline(path.alpha_, color=RED, linewidth=1, alpha=0.6)
    ax.set_xscale("log")
    ax.set_yscale(scale_for(errors))
    ax.margins(x=0)
    ax.legend(frameon=False, fontsize="small")
    return tidy(ax, xlabel="alpha", ylabel=_error_name(path))


def _map(ax, path):
    from matplotlib.colors import LogNorm

    names = list(path.loss_params_)
    order = np.argsort(path.alphas_)
    alphas, errors = path.alphas_[order], path.errors_[order]
    columns = np.arange(errors.shape[1], dtype=float)
    single = len(names) == 1
    if single:
        values = np.array([params[names[0]] for params in path.loss_grid_], dtype=float)
        finite = np.isfinite(values) & (values > 0)
        single = bool(finite.all()) and len(np.unique(values)) == len(values)
    if single:
        column_order = np.argsort(values)
        columns, errors = values[column_order], errors[:, column_order]
    norm = LogNorm(errors.min(), errors.max()) if scale_for(errors) == "log" else None
    image = ax.pcolormesh(
        _edges(columns, single), _edges(alphas, True), errors, cmap="cividis", norm=norm, rasterized=True
    )
    best = np.unravel_index(np.argmin(path.errors_), path.errors_.shape)
    threshold = path.errors_[best] + path.standard_errors_[best]
    if single and min(errors.shape) > 1 and threshold < errors.max():
        ax.contour(columns, alphas, errors, levels=[threshold], colors="white", linewidths=1.5, linestyles="--")
        ax.plot([], [], "--", color="white", linewidth=1.5, label="within 1 s.e. of the smallest")
    column = path.loss_params_[names[0]] if single else float(path.loss_grid_.index(path.loss_params_))
    settings = ", ".join(f"{name} = {format_number(value)}" for name, value in path.loss_params_.items())
    ax.plot(column, path.alpha_, "*", markersize=15, color=RED, markeredgecolor="white", markeredgewidth=1.2,
            label=f"selected: alpha = {format_number(path.alpha_)}, {settings}")  # fmt: skip
    ax.set_yscale("log")
    if single:
        ax.set_xscale("log")
    colour_bar(ax, image, _error_name(path))
    ax.legend(
        loc="upper right", facecolor=BLACK, framealpha=0.6, edgecolor="none", fontsize="small", labelcolor="white"
    )
    return tidy(ax, xlabel=", ".join(names) if single else f"combination of {' and '.join(names)}", ylabel="alpha")


def _edges(values, logarithmic):
    """Edges (n + 1,) of cells around increasing values (n,)."""
    centres = np.log(values) if logarithmic else values
    step = np.diff(centres) / 2 if len(centres) > 1 else np.array([0.5])
    middles = centres[:-1] + step[: len(centres) - 1]
    edges = np.concatenate([[centres[0] - step[0]], middles, [centres[-1] + step[-1]]])
    return np.exp(edges) if logarithmic else edges


def _error_name(path):
    return "cross-validated error" if path.scoring is None or callable(path.scoring) else f"minus {path.scoring}"
