"""Shared parts of pictures: axes, colours, labels."""

from __future__ import annotations

import numpy as np

# colours of Okabe and Ito, which colour-blind readers can distinguish, also in grey
BLUE, ORANGE, GREEN, RED, GREY, BLACK = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#8C8C8C", "#222222"
CYCLE = (BLUE, ORANGE, GREEN, "#CC79A7", "#56B4E9", RED)

_MIN_LOG_RATIO = 20.0  # ratio of the largest to the smallest error above which a scale is logarithmic


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
    """Set labels that are not set yet, and hide the upper and right spine."""
    for name, text in labels.items():
        if not getattr(ax, f"get_{name}")():
            getattr(ax, f"set_{name}")(text)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def format_number(number):
    """A number with at most three significant digits."""
    return f"{float(number):.3g}"


def scale_for(errors):
    """ "log" for positive errors of very different sizes, "linear" otherwise."""
    errors = np.asarray(errors)
    return "log" if errors.min() > 0 and errors.max() > _MIN_LOG_RATIO * errors.min() else "linear"


def colour_bar(ax, artist, label, **options):
    """Add a colour bar beside the axes."""
    bar = ax.figure.colorbar(artist, ax=ax, **options)
    bar.set_label(label)
    bar.outline.set_visible(False)
    return bar


def select_rows(samples, n_samples, default):
    """Indices of the samples to draw, out of `n_samples`; the first `default` ones if samples is None."""
    return np.arange(min(n_samples, default)) if samples is None else np.atleast_1d(np.arange(n_samples)[samples])
