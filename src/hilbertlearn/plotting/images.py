"""Images side by side."""

from __future__ import annotations

import numpy as np

from .._utils.validation import check_number
from .axes import BLACK, axes_of

_MISSING_COLOUR = "#9ECAE1"  # colour of pixels that were not observed
_GAP = 1  # pixels between images


def plot_images(images, ax=None, *, shape=None, n_shown=10, limits=None):
    """Draw rows of images, one below the other, for example given, predicted and true images.

    Parameters
    ----------
    images : array of shape (n, height, width) or (n, height * width), or dict of such arrays
        One row for each name of a dict. NaN are pixels that were not observed, drawn in pale blue.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure.
    shape : tuple (height, width), default=None
        Shape of images that are given as rows of pixels.
    n_shown : int, default=10
        Number of images in a row, from the first.
    limits : tuple (low, high), default=None
        Values drawn white and black; None for the smallest and the largest value of all images.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.

    References
    ----------
    - Weston, J., Chapelle, O., Elisseeff, A., Schölkopf, B. and Vapnik, V. (2002). Kernel dependency estimation. NIPS
      15, which completes images.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import plotting
    >>> truth = np.random.default_rng(0).uniform(size=(5, 64))
    >>> given = np.where(np.arange(64) < 32, truth, np.nan)
    >>> ax = plotting.plot_images({"given": given, "truth": truth}, shape=(8, 8))
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['given', 'truth']
    """
    check_number(n_shown, "n_shown", integer=True)
    rows = images if isinstance(images, dict) else {"": images}
    pictures = {str(name): _pictures(values, shape, name) for name, values in rows.items()}
    sizes = {values.shape for values in pictures.values()}
    if len(sizes) != 1:
        raise ValueError(f"images must have the same number and size in each row, got {sorted(sizes)}")
    ((n, height, width),) = sizes
    n = min(n, int(n_shown))
    ax = axes_of(ax)
    mosaic = np.full((len(pictures) * (height + _GAP) - _GAP, n * (width + _GAP) - _GAP), -np.inf)
    for i, values in enumerate(pictures.values()):
        for j in range(n):
            top, left = i * (height + _GAP), j * (width + _GAP)
            mosaic[top : top + height, left : left + width] = values[j]
    _show(ax, mosaic, limits)
    ax.set_xticks([])
    ax.set_yticks(np.arange(len(pictures)) * (height + _GAP) + (height - 1) / 2, list(pictures))
    ax.tick_params(axis="y", length=0, labelcolor=BLACK)
    ax.spines[:].set_visible(False)
    return ax


def _pictures(values, shape, name):
    values = np.asarray(values, dtype=float)
    if shape is not None and values.ndim == 2 and len(shape) == 2 and values.shape[1] == np.prod(shape):
        values = values.reshape(len(values), *shape)
    if values.ndim != 3 or not len(values):
        raise ValueError(
            f"images {name!r} must be (n, height, width), or (n, height * width) with shape=(height, width), "
            f"got {values.shape} and shape={shape!r}"
        )
    return values


def _show(ax, mosaic, limits):
    """Draw pixels in grey, NaN in blue; -inf, which separates images, is transparent."""
    import matplotlib as mpl

    observed = mosaic[np.isfinite(mosaic)]
    low, high = limits if limits is not None else (observed.min(), observed.max()) if len(observed) else (0.0, 1.0)
    is_separator, is_missing = np.isneginf(mosaic), np.isnan(mosaic)
    colours = mpl.colormaps["gray_r"](
        mpl.colors.Normalize(low, high, clip=True)(np.where(is_separator | is_missing, low, mosaic))
    )
    colours[is_separator] = (1.0, 1.0, 1.0, 0.0)
    colours[is_missing] = mpl.colors.to_rgba(_MISSING_COLOUR)
    ax.imshow(colours, interpolation="nearest")
