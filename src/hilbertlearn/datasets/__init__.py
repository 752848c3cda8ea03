"""Synthetic data of the papers, their corruptions, and readers of real data from files of the user."""

from .readers import fill_gaps, load_dti, load_lip_emg, load_speech, prepare_speech
from .structured import digits_halves, make_label_rankings, make_movie_ratings, make_robust_regression
from .structured_readers import (
    load_label_rankings,
    load_metabolite_candidates,
    load_metabolite_fingerprints,
    load_movielens,
    load_usps,
    load_yeast,
)
from .synthetic import (
    corrupt_curves,
    corrupt_labels,
    corrupt_points,
    drop_points,
    frequency_atoms,
    make_frequency_curves,
    make_gaussian_process_curves,
)

__all__ = [
    "make_gaussian_process_curves",
    "make_frequency_curves",
    "frequency_atoms",
    "corrupt_labels",
    "corrupt_curves",
    "corrupt_points",
    "drop_points",
    "load_dti",
    "load_lip_emg",
    "load_speech",
    "prepare_speech",
    "fill_gaps",
    "make_robust_regression",
    "digits_halves",
    "make_movie_ratings",
    "make_label_rankings",
    "load_yeast",
    "load_usps",
    "load_metabolite_candidates",
    "load_metabolite_fingerprints",
    "load_movielens",
    "load_label_rankings",
]
