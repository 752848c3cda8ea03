"""What all pictures share: axes, colours, words."""

from __future__ import annotations

# Okabe and Ito: told apart by all, also in grey
BLUE, ORANGE, GREEN, RED, GREY, BLACK = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#8C8C8C", "#222222"
CYCLE = (BLUE, ORANGE, GREEN, "#CC79A7", "#56B4E9", RED)


def axes_of(ax):
    """The axes given, or those of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plotting needs matplotlib; install it with: pip install 'hilbertlearn[plot]'") from error
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    if not hasattr(ax, "transData"):
        raise TypeError(f"ax must be axes of matplotlib or None, got {type(ax).__name__}; give one of several axes")
    return ax


def tidy(ax, **labels):
    """Labels where there are none yet, and no more lines than are needed."""
    for name, text in labels.items():
        if not getattr(ax, f"get_{name}")():
            getattr(ax, f"set_{name}")(text)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def short(number):
    """A number in three digits at most."""
    return f"{float(number):.3g}"
