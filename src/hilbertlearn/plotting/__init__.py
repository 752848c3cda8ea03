"""Pictures of what was learnt, by matplotlib: each function takes an ``ax``, draws on it and returns it."""

from .bands import plot_band, plot_quantiles
from .outliers import plot_outliers
from .paths import plot_path

__all__ = ["plot_band", "plot_outliers", "plot_path", "plot_quantiles"]
