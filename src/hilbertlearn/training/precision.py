"""The precision in which a model is fitted; no other module decides it.

In float32 the Gram matrix, its factors and the dual variables take half the memory and half the time. Outputs, losses,
sums and the certificate are always float64, and settings are selected in float64.
"""

from __future__ import annotations

import numpy as np

from .. import kernels, operators
from .._utils.statistics import mean_rows
from .._utils.validation import warn
from .data import Training
from .samples import EncodedOutputs, Recipe

SETTINGS = ("auto", "float32", "float64", "refined")
_SOLVERS = ("auto", "spectral", "columns", "splitting", "active_rows")  # solvers that work in float32
# trace(K) ||M|| / (alpha n) up to which "auto" is float32, such that gaps of 1e-6 are reached. Direct solvers refine
# their solutions, so that their limit is higher.
_LARGEST_CONDITION, _LARGEST_ITERATIVE_CONDITION = 3e5, 1e5
_SMALLEST, _LARGEST = 1e-10, 1e10  # deviations of outputs: float32 must hold the squares of their rounding errors
_OVERFLOW = 1e20  # penalties, their inverses and kernel values whose products overflow float32
_CONSTANT = 1e-12  # deviations, relative to the mean, below which they are rounding errors
_FAR = 1e4  # largest mean of an output, relative to its deviations: beyond, float32 has too few digits


def select_precision(
    setting, single, recipe: Recipe, encoded: EncodedOutputs, weights, loss, solver
) -> tuple[str, bool]:
    """The precision of the fit, one of ``SETTINGS``, and whether predictions are float32.

    "auto" as a result is float32 where the condition number allows it, see ``for_alpha``.

    setting : of the estimator
    single : whether inputs are in float32
    weights : (n,) of the encoded samples
    """
    is_requested = setting == "float32" or (setting == "auto" and single)
    scale = getattr(encoded.space, "scale", None)  # of outputs that are scaled
    if is_requested and not in_range(encoded.coordinates if scale is None else encoded.coordinates * scale, weights):
        warn(
            "y has deviations too large or too small, or too far from zero, for float32; the fit and its predictions "
            "are in float64: centre and scale y, or set precision='float64'"
        )
        return "float64", False
    is_supported = _supports_float32(recipe, encoded, loss, solver)
    return setting if is_supported and (is_requested or setting == "refined") else "float64", is_requested


def _supports_float32(recipe: Recipe, encoded: EncodedOutputs, loss, solver) -> bool:
    """Whether the solvers for these settings work in float32; others would lose digits and gain nothing."""
    if recipe.manifold or encoded.sampling is not None or loss.on_margins or np.isfinite(loss.largest_residual):
        return False
    for kernel, operator in recipe.pairs:
        if kernels.provides_operator(kernel) or operators.as_learned(operator) is not None:
            return False
        if len(recipe.pairs) > 1 and operator is not None:
            return False
    return solver in _SOLVERS


def in_range(Y, weights) -> bool:
    """Whether float32 holds outputs Y (n, d), NaN where not observed, around their means, and predictions."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.nan_to_num(mean_rows(Y, weights), posinf=np.inf, neginf=np.inf)  # NaN where nothing is observed
        sizes = np.nanmax(np.abs(Y - mean), axis=0, initial=0.0)
    varies = sizes > _CONSTANT * np.abs(mean)
    fits = (sizes < _LARGEST) & (sizes > _SMALLEST) & (np.abs(mean) <= _FAR * sizes)
    return bool(fits[varies].all() and (np.abs(mean) < _LARGEST).all())


def for_alpha(training: Training, loss, alpha) -> Training:
    """Training data in the precision of the fit with this loss and alpha: float64 where float32 is too coarse.

    Rounding errors of float32 grow like ``||K|| ||M|| / (alpha n)``; the trace bounds ||K||.
    """
    if training.recipe.precision not in ("auto", "float32"):
        return training
    root, penalty = np.sqrt(training.weights), alpha * training.weights.sum()
    scale = sum(term.scaled(root).scale for term in training.terms)
    if not (1 / _OVERFLOW < penalty < _OVERFLOW and scale < _OVERFLOW):
        return training.to_float64()
    if training.recipe.precision == "float32":
        return training
    largest = _LARGEST_CONDITION if loss.quadratic and training.closed_form else _LARGEST_ITERATIVE_CONDITION
    return training if scale <= largest * penalty else training.to_float64()


def has_float32_inputs(X) -> bool:
    """Whether inputs, as they were given, are numbers in float32."""
    if hasattr(X, "dtypes") and hasattr(X, "columns"):  # data frames; of polars a list
        kinds = list(X.dtypes)
        return bool(kinds) and all(str(kind).lower() == "float32" for kind in kinds)
    return getattr(X, "dtype", None) == np.float32
