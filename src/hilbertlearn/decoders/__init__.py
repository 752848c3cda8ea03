"""Decoders: from weights of the training outputs to the output with the smallest weighted loss, for all queries."""

from . import candidates, directions, gaussian, histograms, rankings, scalar, sets

DECODERS = {
    "threshold": sets.threshold,
    "sets": sets.f1_sets,
    "assignment": rankings.assignment,
    "ranking": rankings.feedback_arc_set,
    "mean": histograms.mean,
    "sqrt_mean": histograms.sqrt_mean,
    "scalar": scalar.decode,
    "directions": directions.decode,
}
