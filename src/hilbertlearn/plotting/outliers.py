"""Pictures of outlier reports."""

from __future__ import annotations

import numpy as np

from .._utils.validation import check_choice, check_number
from ..inspection import outlier_report
from .axes import BLACK, GREY, RED, axes_of, colour_bar, tidy

_MARGIN_ROWS = 0.6  # margin above the first and below the last sample, in rows
_STEP = 14.0  # pixels from a point to the middle of its name
_MIN_NAMED_RESIDUAL = 5.0  # residual, in median residuals, from which samples are named


def plot_outliers(report, ax=None, *, kind="samples", n_named=10):
    """Draw the table of ``outlier_report``.

    Parameters
    ----------
    report : table of ``outlier_report``, or fitted estimator
        The report, or an estimator whose report is computed.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure.
    kind : {"samples", "stretches"}, default="samples"
        "samples": residuals over leverages, coloured by the share of the residual that the loss holds back.
        "stretches": for functions of one variable, the parts of the domain where the first samples deviate.
    n_named : int, default=10
        Number of samples, from the top of the report, that are named or have a line.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.

    References
    ----------
    - Rousseeuw, P. J. and van Zomeren, B. C. (1990). Unmasking multivariate outliers and leverage points. Journal of
      the American Statistical Association 85(411).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, plotting
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> y = np.sin(6 * X[:, 0])
    >>> y[7] += 3
    >>> model = OperatorKernelRegressor("rbf", gamma=10.0, alpha=1e-4, loss="huber").fit(X, y)
    >>> ax = plotting.plot_outliers(model, n_named=1)
    >>> [text.get_text() for text in ax.texts]
    ['7']
    """
    check_choice(kind, "kind", ("samples", "stretches"))
    check_number(n_named, "n_named", low=0, strict=False, integer=True)
    if hasattr(report, "fit"):
        report = outlier_report(report)
    if not hasattr(report, "columns"):
        raise TypeError(
            f"report must be what outlier_report returns, or a fitted estimator, got {type(report).__name__}"
        )
    columns = {name: np.asarray(report[name]) for name in report.columns}
    ax, index = axes_of(ax), np.asarray(report.index)
    draw = _samples if kind == "samples" else _stretches
    return draw(ax, columns, index, int(n_named))


def _samples(ax, columns, index, n_named):
    residuals, leverages = columns["loo_residual"], columns["leverage"]
    has_leverages = bool(np.isfinite(leverages).any())
    if not has_leverages:  # no closed form of leave-one-out: plain residuals, in the order of the report
        residuals, leverages = columns["residual"], np.arange(1, len(index) + 1)
    held_back = columns["held_back"]
    dots = ax.scatter(leverages, residuals, c=held_back, cmap="cividis_r", vmin=0, vmax=1, s=36,
                      edgecolors=BLACK, linewidths=0.5, zorder=3)  # fmt: skip
    if (residuals > 0).all() and residuals.max() > 20 * np.median(residuals):
        ax.set_yscale("log")
    ax.axhline(1.0, color=GREY, linewidth=1, linestyle=":", zorder=1)
    outliers = [i for i in range(min(n_named, len(index))) if residuals[i] >= _MIN_NAMED_RESIDUAL]
    _write_names(ax, [(leverages[i], residuals[i], str(index[i])) for i in outliers])
    if held_back.any():
        colour_bar(ax, dots, "share held back by the loss")
    label = "residual without the sample / median residual" if has_leverages else "residual / median residual"
    return tidy(ax, xlabel="leverage" if has_leverages else "place in the report", ylabel=label)


def _write_names(ax, points):
    """Write names beside points (x, y, name), each on the first side that is still free."""
    ax.autoscale_view()
    occupied: list[np.ndarray] = []
    for x, y, name in points:
        place = ax.transData.transform((x, y))
        left = place[0] > ax.transAxes.transform((0.85, 0))[0]
        sides = [(-1, 1), (-1, -1), (1, 1), (1, -1)] if left else [(1, 1), (1, -1), (-1, 1), (-1, -1)]
        places = [place + _STEP * np.array(side) for side in sides]
        is_free = [all(_is_separate(one, other) for other in occupied) for one in places]
        first = int(np.argmax(is_free))  # the first side if none is free
        across, up = sides[first]
        occupied.append(places[first])
        ax.annotate(name, (x, y), xytext=(4 * across, 3 * up), textcoords="offset points", fontsize="small",
                    color=BLACK, ha="left" if across > 0 else "right", va="bottom" if up > 0 else "top")  # fmt: skip


def _is_separate(one, other):
    return bool((np.abs(one - other) > (2 * _STEP, 0.8 * _STEP)).any())


def _stretches(ax, columns, index, n_named):
    if "start" not in columns:
        raise ValueError("kind='stretches' is for functions of one variable; use kind='samples'")
    number = min(n_named, len(index))
    for i in range(number):
        if columns["n_points"][i]:
            ax.hlines(i, columns["start"][i], columns["end"][i], color=GREY, linewidth=1.5, zorder=2)
            ax.plot(columns["points"][i], np.full(columns["n_points"][i], i), "o", color=RED, markersize=4, zorder=3)
    ax.set_yticks(np.arange(number), [str(name) for name in index[:number]])
    ax.set_ylim(number - 1 + _MARGIN_ROWS, -_MARGIN_ROWS)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", color=GREY, alpha=0.2, linewidth=0.8)
    ax.set_axisbelow(True)
    return tidy(ax, xlabel="where the curve deviates", ylabel="sample")
