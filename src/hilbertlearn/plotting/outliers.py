"""Training samples that do not go with the others."""

from __future__ import annotations

import numpy as np

from .._validation import check_choice, check_number
from ..inspection import outlier_report
from .axes import BLACK, GREY, RED, axes_of, tidy

_LINE = 0.35  # half the height of a sample among stretches, and what labels are moved by in points
_FAR = 5.0  # times the median residual from where on samples are named


def plot_outliers(report, ax=None, *, kind="samples", n_named=10):
    """The table of ``outlier_report`` as a picture.

    Parameters
    ----------
    report : what ``outlier_report`` returns, or a fitted estimator to ask for it
    ax : axes of matplotlib; None for new ones
    kind : "samples", residuals over leverages, coloured by how much the loss held them back; or "stretches", for
        functions of one variable: where along the domain the first samples of the report deviate
    n_named : how many samples of the report, from the top, are named, or have a line

    Returns
    -------
    ax
    """
    check_choice(kind, "kind", ("samples", "stretches"))
    check_number(n_named, "n_named", low=0, strict=False, integer=True)
    if hasattr(report, "fit"):
        report = outlier_report(report)
    columns = {name: np.asarray(report[name]) for name in report.columns}
    ax, index = axes_of(ax), np.asarray(report.index)
    draw = _samples if kind == "samples" else _stretches
    return draw(ax, columns, index, int(n_named))


def _samples(ax, columns, index, n_named):
    residuals, leverages = columns["loo_residual"], columns["leverage"]
    known = bool(np.isfinite(leverages).any())
    if not known:  # no formula: what there is, in the order of the report
        residuals, leverages = columns["residual"], np.arange(1, len(index) + 1)
    held = columns["held_back"]
    dots = ax.scatter(
        leverages, residuals, c=held, cmap="cividis_r", vmin=0, vmax=1, s=36, edgecolors=BLACK, linewidths=0.5, zorder=3
    )
    if (residuals > 0).all() and residuals.max() > 20 * np.median(residuals):
        ax.set_yscale("log")
    ax.axhline(1.0, color=GREY, linewidth=1, linestyle=":", zorder=1)
    ax.annotate("median residual", (1, 1), xycoords=("axes fraction", "data"), color=GREY, fontsize="small",
                ha="right", va="bottom", xytext=(0, 2), textcoords="offset points")  # fmt: skip
    middle = (np.nanmin(leverages) + np.nanmax(leverages)) / 2
    for i in range(min(n_named, len(index))):
        if residuals[i] >= _FAR:
            side = 1 if leverages[i] <= middle else -1  # labels point inwards
            ax.annotate(str(index[i]), (leverages[i], residuals[i]), xytext=(5 * side, 3), textcoords="offset points",
                        ha="left" if side > 0 else "right", fontsize="small", color=BLACK)  # fmt: skip
    if held.any():
        bar = ax.figure.colorbar(dots, ax=ax)
        bar.set_label("share held back by the loss")
        bar.outline.set_visible(False)
    what = "residual without the sample / median residual" if known else "residual / median residual"
    return tidy(ax, xlabel="leverage" if known else "place in the report", ylabel=what)


def _stretches(ax, columns, index, n_named):
    if "start" not in columns:
        raise ValueError("kind='stretches' is for functions of one variable; use kind='samples'")
    number = min(n_named, len(index))
    for i in range(number):
        if columns["n_points"][i]:
            ax.hlines(i, columns["start"][i], columns["end"][i], color=GREY, linewidth=1.5, zorder=2)
            ax.plot(columns["points"][i], np.full(columns["n_points"][i], i), "o", color=RED, markersize=4, zorder=3)
    ax.set_yticks(np.arange(number), [str(name) for name in index[:number]])
    ax.set_ylim(number - 1 + _LINE, -_LINE)
    return tidy(ax, xlabel="where the curve deviates", ylabel="sample")
