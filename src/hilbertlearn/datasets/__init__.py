"""Data sets: real curves that come with the package, synthetic data of the papers, and corruptions of curves.

Readers of the papers' data files are in ``hilbertlearn.readers``.
"""

from .corruptions import corrupt_curves, corrupt_labels, corrupt_points, drop_points, fill_gaps
from .fertility import load_fertility
from .graphs import kernel_pca_inputs, make_erdos_renyi, make_mixture_network
from .structured import digits_halves, make_label_rankings, make_movie_ratings, make_robust_regression
from .synthetic import frequency_atoms, make_frequency_curves, make_gaussian_process_curves

__all__ = [
    "corrupt_curves",
    "corrupt_labels",
    "corrupt_points",
    "digits_halves",
    "drop_points",
    "fill_gaps",
    "frequency_atoms",
    "kernel_pca_inputs",
    "load_fertility",
    "make_erdos_renyi",
    "make_frequency_curves",
    "make_gaussian_process_curves",
    "make_label_rankings",
    "make_mixture_network",
    "make_movie_ratings",
    "make_robust_regression",
]
