"""Pictures of predicted and true rankings."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from ..metrics import kendall_tau
from .axes import BLACK, BLUE, GREY, ORANGE, axes_of, format_number

_EDGE = 0.04  # distance between the end of a line and its name, in units of the axes


def plot_rankings(y, predicted, ax=None, *, items=None):
    """Draw two rankings side by side: one line for each item, horizontal where its place is predicted exactly.

    Parameters
    ----------
    y : array of shape (k,)
        Ranks of the items, the smallest on top. Ties share a place; NaN is an item without a rank.
    predicted : array of shape (k,)
        Predicted ranks.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure.
    items : sequence of k str, default=None
        Names of the items; None for 0, 1, ...

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on, with Kendall's tau below.

    References
    ----------
    - Kendall (1938). A new measure of rank correlation. Biometrika 30.

    Examples
    --------
    >>> from hilbertlearn import plotting
    >>> ax = plotting.plot_rankings([0, 1, 2, 3], [0, 2, 1, 3], items=["tea", "milk", "water", "wine"])
    >>> ax.get_xlabel()
    "Kendall's tau 0.667"
    """
    y, predicted = np.asarray(y, dtype=float), np.asarray(predicted, dtype=float)
    if y.ndim != 1 or y.shape != predicted.shape:
        raise ValueError(
            f"y and predicted must be ranks (k,) of one sample, got shapes {y.shape} and {predicted.shape}"
        )
    if np.isnan(predicted).any() or np.isnan(y).all():
        raise ValueError("predicted must have a rank of every item, and y of at least one")
    names = [str(name) for name in (range(len(y)) if items is None else items)]
    if len(names) != len(y):
        raise ValueError(f"items must have a name for each of the {len(y)} ranks, got {len(names)}")
    ranked = np.isfinite(y)
    left, right = np.full(len(y), np.nan), rankdata(predicted)
    left[ranked] = rankdata(y[ranked])
    places = rankdata(predicted[ranked])  # among ranked items: differences of places are computed from these
    moved = np.zeros(len(y))
    moved[ranked] = places - left[ranked]
    ax = axes_of(ax)
    for i, name in enumerate(names):
        color = GREY if moved[i] == 0 else BLUE if moved[i] < 0 else ORANGE
        ax.plot([0, 1], [left[i], right[i]], "o-", color=color, linewidth=2, markersize=6)
        if ranked[i]:
            ax.text(-_EDGE, left[i], name, ha="right", va="center", color=BLACK)
        ax.text(1 + _EDGE, right[i], name, ha="left", va="center", color=BLACK)
    ax.set_xlim(-0.6, 1.6)
    ax.set_ylim(len(y) + 0.6, 0.4)
    ax.set_xticks([0, 1], ["true", "predicted"])
    ax.xaxis.tick_top()
    ax.tick_params(axis="x", length=0)
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    if ranked.sum() > 1 and not ax.get_xlabel():
        ax.set_xlabel(f"Kendall's tau {format_number(kendall_tau(y[ranked][None], places[None]))}")
    return ax
