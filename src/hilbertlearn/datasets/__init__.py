"""Real curves that come with the package, synthetic data of the papers, and readers of files of the user."""

from .corruptions import corrupt_curves, corrupt_labels, corrupt_points, drop_points
from .fertility import load_fertility
from .graph_readers import (
    load_cora,
    load_facebook_ego,
    load_nci60_drugs,
    load_nips_coauthorship,
    load_yeast_ppi,
    separate_papers,
    words_of_own_papers,
)
from .graphs import kernel_pca_inputs, make_erdos_renyi, make_mixture_network
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
    "load_cora",
    "load_dti",
    "load_facebook_ego",
    "load_fertility",
    "load_label_rankings",
    "load_lip_emg",
    "load_metabolite_candidates",
    "load_metabolite_fingerprints",
    "load_movielens",
    "load_nci60_drugs",
    "load_nips_coauthorship",
    "load_speech",
    "load_usps",
    "load_yeast",
    "load_yeast_ppi",
    "make_erdos_renyi",
    "make_frequency_curves",
    "make_gaussian_process_curves",
    "make_label_rankings",
    "make_mixture_network",
    "make_movie_ratings",
    "make_robust_regression",
    "prepare_speech",
    "separate_papers",
    "words_of_own_papers",
]
