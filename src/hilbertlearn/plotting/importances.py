"""Importances of inputs under a learnt metric."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._utils.validation import check_number
from .axes import BLUE, GREY, axes_of, colour_bar, tidy


def plot_importances(model, ax=None, *, names=None, shape=None, n_shown=20):
    """Importances of inputs under the metric of ``kernels.MetricKernel``: bars, or an image where inputs are pixels.

    An importance is the mean squared derivative of the model with respect to an input, divided by the average over all
    inputs: all are 1 if inputs matter equally. Inputs should have the same scale.

    Parameters
    ----------
    model : fitted estimator, or array of shape (p, p) or (p,)
        An estimator that has learnt a metric, a metric (p, p), or importances (p,).
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure.
    names : sequence of p str, default=None
        Names of the inputs; None for the columns of the training data frame, or 0, 1, ...
    shape : tuple (height, width), default=None
        Draw an image whose pixels are the inputs, row by row; None draws bars.
    n_shown : int, default=20
        Number of bars, from the most important input.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.

    References
    ----------
    - Radhakrishnan, Beaglehole, Pandit and Belkin (2024). Mechanism for feature learning in neural networks and
      backpropagation-free machine learning models. Science 383.

    Examples
    --------
    >>> from hilbertlearn import plotting
    >>> ax = plotting.plot_importances([0.2, 2.5, 0.3], names=["age", "dose", "weight"])
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['dose', 'weight', 'age']
    """
    check_number(n_shown, "n_shown", integer=True)
    values, default_names = _importances(model)
    names = [str(name) for name in (default_names if names is None else names)]
    if len(names) != len(values):
        raise ValueError(f"names must have one for each of the {len(values)} inputs, got {len(names)}")
    if shape is not None and (len(shape) != 2 or np.prod(shape) != len(values)):
        raise ValueError(f"shape must be (height, width) of {len(values)} pixels, got {shape!r}")
    ax = axes_of(ax)
    return _bars(ax, values, names, int(n_shown)) if shape is None else _image(ax, values, shape)


def _importances(model):
    """Importances (p,) and names of inputs."""
    if hasattr(model, "fit"):
        check_is_fitted(model)
        metric = getattr(model, "metric_", None)
        if metric is None:
            raise TypeError(
                f"model: {type(model).__name__} has learnt no metric; fit it with kernel=kernels.MetricKernel()"
            )
    else:
        metric = np.asarray(model, dtype=float)
    if metric.ndim not in (1, 2) or metric.shape[0] != metric.shape[-1]:
        raise ValueError(f"model: a metric must be (p, p), or its diagonal (p,), got shape {metric.shape}")
    values = metric if metric.ndim == 1 else np.diag(metric)
    return values, getattr(model, "feature_names_in_", range(len(values)))


def _bars(ax, values, names, n_shown):
    order = np.argsort(-values, kind="stable")[:n_shown]
    places = np.arange(len(order))
    ax.barh(places, values[order], color=BLUE, height=0.7)
    ax.axvline(1.0, color=GREY, linewidth=1, linestyle=":")
    ax.set_yticks(places, [names[i] for i in order])
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    return tidy(ax, xlabel="importance (average of all inputs: 1)", ylabel="input")


def _image(ax, values, shape):
    image = ax.imshow(values.reshape(shape), cmap="cividis", vmin=0)
    ax.set(xticks=[], yticks=[])
    colour_bar(ax, image, "importance (average: 1)")
    return ax
