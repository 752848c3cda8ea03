"""Pictures by matplotlib: each function takes an ``ax``, draws on it and returns it.

matplotlib is imported when a picture is drawn, not with the package.
"""

from .bands import plot_band, plot_quantiles
from .coefficients import plot_coefficients
from .curves import plot_curves
from .fields import plot_field
from .images import plot_images
from .importances import plot_importances
from .links import node_positions, plot_links
from .outliers import plot_outliers
from .paths import plot_path
from .rankings import plot_rankings
from .search_results import plot_search_results

__all__ = [
    "node_positions",
    "plot_band",
    "plot_search_results",
    "plot_coefficients",
    "plot_curves",
    "plot_field",
    "plot_images",
    "plot_importances",
    "plot_links",
    "plot_outliers",
    "plot_path",
    "plot_quantiles",
    "plot_rankings",
]
