"""Decoders: from weights of the training outputs to the output with the smallest weighted loss, for all queries."""

from collections.abc import Callable
from functools import partial

from . import candidates, custom, directions, gaussian, histograms, jaccard, rankings, scalar, sets, simplex, sums

__all__ = ["DECODERS"]

DECODERS: dict[str, Callable] = {
    "classes": candidates.classes,
    "threshold": sets.threshold,
    "sets": sets.f1_sets,
    "jaccard_sets": jaccard.decode,
    "assignment": rankings.assignment,
    "ranking": rankings.feedback_arc_set,
    "mean": histograms.mean,
    "sqrt_mean": histograms.sqrt_mean,
    "chi2_mean": simplex.chi2,
    "distribution_median": simplex.wasserstein1d,
    "scalar": scalar.decode,
    "directions": directions.decode,
}
DECODERS["sum"] = partial(sums.decode, DECODERS)  # which asks the others for proposals
