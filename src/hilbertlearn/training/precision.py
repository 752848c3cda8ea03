"""The one place where it is decided in which precision a model is fitted.

Inputs in float32 ask for a fit in single precision: the Gram matrix, its factors and the dual variables take half the
memory and half the time. Outputs, losses, sums and the certificate are double all the same. Settings are chosen in
double precision, on the samples that they are chosen by; what is left is one fit.
"""

from __future__ import annotations

import numpy as np

from .. import kernels, operators
from .._utils.statistics import mean_rows
from .._utils.validation import warn
from .data import Training
from .samples import EncodedOutputs, Recipe

SETTINGS = ("auto", "float32", "float64", "refined")
_SOLVERS = ("auto", "spectral", "columns", "splitting", "active_rows")  # those that know of single precision
# trace(K) ||M|| / (alpha n) up to which "auto" is single, so that gaps of 1e-6 are reached; direct solvers refine
_LARGEST_CONDITION, _LARGEST_OF_ITERATIONS = 3e5, 1e5
_SMALLEST, _LARGEST = 1e-10, 1e10  # deviations of outputs: squares of their rounding must be in range too
_BEYOND = 1e20  # penalties, their inverses and kernel values that would take products out of range
_CONSTANT = 1e-12  # deviations, relative to the mean, that are its rounding
_FAR = 1e4  # times their spread outputs may be away from zero, or float32 has too few digits for predictions


def select_precision(
    setting, single, recipe: Recipe, encoded: EncodedOutputs, weights, loss, solver
) -> tuple[str, bool]:
    """What samples are to be fitted in, of ``SETTINGS``, and whether predictions are float32.

    "auto" then is float32 where conditioning allows.

    setting : the estimator's
    single : whether inputs are in float32
    weights : (n,) of the samples encoded
    """
    asked = setting == "float32" or (setting == "auto" and single)
    scale = getattr(encoded.space, "scale", None)  # of outputs that are fitted in another one
    if asked and not in_range(encoded.coordinates if scale is None else encoded.coordinates * scale, weights):
        warn(
            "y has deviations too large or too small, or too far from zero, for float32; the fit and its predictions "
            "are in float64: centre and scale y, or set precision='float64'"
        )
        return "float64", False
    goes = (asked or setting == "refined") and _goes(recipe, encoded, loss, solver)
    return setting if goes else "float64", asked


def _goes(recipe: Recipe, encoded: EncodedOutputs, loss, solver) -> bool:
    """Whether single precision has its own way with these settings; elsewhere it would only lose digits."""
    several = len(recipe.pairs) > 1 and any(operator is not None for _, operator in recipe.pairs)
    own = any(kernels.provides_operator(kernel) for kernel, _ in recipe.pairs)
    learns = any(operators.as_learned(operator) is not None for _, operator in recipe.pairs)
    odd = loss.on_margins or np.isfinite(loss.largest_residual) or encoded.sampling is not None
    return not (several or own or learns or odd or recipe.manifold) and solver in _SOLVERS


def in_range(Y, weights) -> bool:
    """Whether single precision holds outputs Y (n, d), NaN where not observed, around their means, and predictions."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.nan_to_num(mean_rows(Y, weights), posinf=np.inf, neginf=np.inf)  # NaN of what was never observed
        sizes = np.nanmax(np.abs(Y - mean), axis=0, initial=0.0)
    varied = sizes > _CONSTANT * np.abs(mean)
    held = (sizes < _LARGEST) & (sizes > _SMALLEST) & (np.abs(mean) <= _FAR * sizes)
    return bool(held[varied].all() and (np.abs(mean) < _LARGEST).all())


def for_alpha(training: Training, loss, alpha) -> Training:
    """Training data as they are fitted with that loss and alpha: double where "auto" finds single precision too coarse.

    Rounding errors of single precision grow like ``||K|| ||M|| / (alpha n)``; the trace bounds ||K||.
    """
    if training.recipe.precision not in ("auto", "float32"):
        return training
    root, penalty = np.sqrt(training.weights), alpha * training.weights.sum()
    scale = sum(term.scaled(root).scale for term in training.terms)
    if not (1 / _BEYOND < penalty < _BEYOND and scale < _BEYOND):
        return training.to_float64()
    if training.recipe.precision == "float32":
        return training
    largest = _LARGEST_CONDITION if loss.quadratic and training.closed_form else _LARGEST_OF_ITERATIONS
    return training if scale <= largest * penalty else training.to_float64()


def has_float32_inputs(X) -> bool:
    """Whether inputs, as they were given, are numbers in float32."""
    if hasattr(X, "dtypes") and hasattr(X, "columns"):  # data frames; of polars a list
        kinds = list(X.dtypes)
        return bool(kinds) and all(str(kind).lower() == "float32" for kind in kinds)
    return getattr(X, "dtype", None) == np.float32
