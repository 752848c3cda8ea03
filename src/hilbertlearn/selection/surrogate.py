"""The samples that settings are selected on: subsamples, and surrogates with closed-form leave-one-out errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import kernels, operators
from .._utils.statistics import mean_rows
from ..training import EncodedOutputs, Samples, Training, build
from .draws import draw_subsample

# Up to 2000 samples are used as a whole, of more 1500. An eigendecomposition of 2000 takes about a second, and twice
# as many eight times as long.
_COMPLETE, _SUBSAMPLE = 2000, 1500
_FEWEST = 50  # samples at least, however large the outputs are
_ENTRIES = 2e9  # products of samples, samples and coordinates that a step of a search may take: about a second
_PATTERNS = 8  # patterns of missing values beyond which fewer samples are used, each pattern costs a factorisation
# Share of the values of curves that may be filled in where leave-one-out errors of the completed curves select alpha.
_MOST_FILLED = 0.25


def subsample_size(samples: Samples) -> int:
    """The number of samples that settings are selected on: up to 2000 all, of more 1500.

    Fewer where products with many coordinates, or many patterns of missing values, would take long.
    """
    n = len(samples.rows)
    most = float(n if n <= _COMPLETE else _SUBSAMPLE)
    if samples.mask is not None and samples.encoded.sampling is None:
        most /= max(1.0, len(np.unique(samples.mask, axis=1).T) / _PATTERNS) ** (1 / 3)
    return int(min(n, max(_FEWEST, min(most, largest_subsample(samples)))))


def largest_subsample(samples: Samples) -> int:
    """The number of samples from which a product with all coordinates takes more than a second."""
    return int(np.sqrt(_ENTRIES / max(samples.encoded.coordinates.shape[1], 1)))


def selection_subsample(training: Training) -> Training:
    """Training data of the samples that settings are selected on, duplicates merged, in double precision."""
    data = training.merge_duplicates()
    number = subsample_size(data)
    return (data if number == len(data.rows) else data.take(draw_subsample(data, number))).to_float64()


def make_surrogate(samples: Samples) -> Samples:
    """Samples close to those given whose leave-one-out errors have a closed form; the same ones where they have.

    Functions at irregular points, and curves with missing values, are interpolated. Operators that differ between
    terms, or mix missing values, are dropped. Outputs have as few coordinates as their errors need.
    """
    recipe, encoded = samples.recipe, samples.encoded
    has_gaps = samples.mask is not None and encoded.sampling is None and samples.measure is not None
    if encoded.sampling is not None or has_gaps:
        Y = samples.space.encode_filled(samples.y[samples.rows])
        Y = np.where(np.isfinite(Y), Y, mean_rows(Y, samples.weights))
        encoded = replace(encoded, Y=Y, sampling=None, coordinates=Y)
    compressed = encoded.space.compress()
    if compressed is not encoded.space:
        encoded = EncodedOutputs.from_outputs(compressed, samples.y[samples.rows])
    pairs = recipe.pairs
    if _mixes_outputs(samples, is_encoded=encoded is samples.encoded):
        pairs = [(kernels.scalar_kernel(kernel), None) for kernel, _ in pairs]
    if pairs is recipe.pairs and encoded is samples.encoded:
        return samples
    return replace(samples, recipe=replace(recipe, pairs=pairs), encoded=encoded)


def _mixes_outputs(samples: Samples, is_encoded) -> bool:
    """Whether operators of the terms keep leave-one-out errors from having a closed form."""
    pairs = samples.recipe.pairs
    settings = [operator for _, operator in pairs if operator is not None]
    if any(kernels.provides_operator(kernel) and not kernels.is_operator_valued(kernel) for kernel, _ in pairs):
        return True
    has_gaps = samples.mask is not None and is_encoded
    return bool(settings) and (len(pairs) > 1 or has_gaps or any(map(operators.as_learned, settings)))


def is_nearly_complete(surrogate: Samples, samples: Samples) -> bool:
    """Whether curves lack so few values that leave-one-out errors of the completed curves select alpha.

    Folds, which select it where more is missing, are another criterion: one missing value would change alpha.
    """
    is_completed = surrogate.mask is None and samples.mask is not None and samples.graph is None
    has_same_terms = surrogate.recipe.pairs is samples.recipe.pairs
    return is_completed and has_same_terms and samples.space.filled_share(samples.y[samples.rows]) <= _MOST_FILLED


def fill_missing_values(training: Training) -> Training:
    """Nearly complete curves with missing values filled in, which have leave-one-out errors; other data unchanged."""
    if training.closed_form:
        return training
    samples = training.samples
    surrogate = make_surrogate(samples)
    if not is_nearly_complete(surrogate, samples):
        return training
    return build(surrogate, training.kernels, [gram.dense() for gram in training.grams])
