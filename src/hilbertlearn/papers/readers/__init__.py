"""Readers of the data files that the papers use; each takes the path of files that the user has."""

from .curves import load_dti, load_lip_emg, load_speech, prepare_speech
from .graphs import (
    load_cora,
    load_facebook_ego,
    load_nci60_drugs,
    load_nips_coauthorship,
    load_yeast_ppi,
    separate_papers,
    words_of_own_papers,
)
from .structured import (
    load_label_rankings,
    load_metabolite_candidates,
    load_metabolite_fingerprints,
    load_movielens,
    load_usps,
    load_yeast,
)

__all__ = [
    "load_cora",
    "load_dti",
    "load_facebook_ego",
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
    "prepare_speech",
    "separate_papers",
    "words_of_own_papers",
]
