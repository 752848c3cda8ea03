"""A case of the regression corpus: a model, its data, and the numbers that are recorded of the fit."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import clone

from hilbertlearn import IrregularFunctions

# Learnt attributes that are recorded where a model has them.
SETTINGS = (
    "task_",
    "method_",
    "closed_form_",
    "kernel_",
    "gamma_",
    "alpha_",
    "coupling_",
    "loss_",
    "loss_params_",
    "metric_",
    "operator_",
    "scale_",
    "center_",
    "output_loss_",
    "decoder_",
    "feature_map_",
    "solver_",
    "precision_",
    "screened_",
    "weights_",
    "thresholds_",
    "cv_score_",
    "reconstruction_error_",
    "sparsity_",
    "errors_",
    "standard_errors_",
    "n_calibration_",
)
# For losses that are minimised by iterations to a gap of 1e-12.
ITERATED = {"rtol": 1e-6, "reason": "a gap of 1e-12 leaves predictions known to its root"}
# Attributes under which a wrapper keeps the fitted estimator.
INNER = ("best_estimator_", "estimator_", "regressor_", "model_")


@dataclass(frozen=True)
class Case:
    """One fit. The model, X, y and new may be functions without arguments, called when the case runs.

    Parameters
    ----------
    model : estimator, not fitted
    X, y : samples; y=None for estimators that take none
    new : inputs of the recorded predictions, default: X
    options : dict, further arguments of ``fit``
    fit : function (model, X, y) -> fitted model, default: ``model.fit(X, y, **options)``
    asks : names of methods whose answers at ``new`` are recorded, or functions (model, new) -> answer
    score : whether ``model.score(X, y)`` is recorded
    rtol : relative tolerance of all numbers
    reason : why rtol is larger than 1e-8
    uses : components the case runs that cannot be read off the model's settings, as ``kernels.node_kernel``
    needs : optional packages that the case imports
    """

    model: Any
    X: Any = None
    y: Any = None
    new: Any = None
    options: dict = field(default_factory=dict)
    fit: Callable | None = None
    asks: tuple = ("predict",)
    score: bool = True
    rtol: float = 1e-8
    reason: str = ""
    uses: tuple = ()
    needs: tuple = ()

    def __post_init__(self):
        if self.rtol > 1e-8 and not self.reason:
            raise ValueError("a tolerance above 1e-8 needs its reason")

    def run(self, change=lambda data: data) -> dict[str, Any]:
        """{field: recorded value} of the fit; ``change`` is applied to X and y first."""
        model, X, y, new = (called(part) for part in (self.model, self.X, self.y, self.new))
        X, y = change(X), change(y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # fits that stop early, guesses of tasks
            model = clone(model) if hasattr(model, "get_params") else model
            if self.fit is not None:
                model = self.fit(model, X, y)
            else:
                model = model.fit(X, **self.options) if y is None else model.fit(X, y, **self.options)
            recorded = settings_of(model)
            for ask in self.asks:
                answer = getattr(model, ask)(X if new is None else new) if isinstance(ask, str) else ask(model, new)
                recorded.update(numbers_of(answer, ask if isinstance(ask, str) else ask.__name__.lstrip("_")))
            if self.score and hasattr(type(model), "score"):
                recorded["score"] = float(model.score(X) if y is None else model.score(X, y))
        return {name: plain(value) for name, value in recorded.items()}


def called(part):
    """The part itself, or what the function that stands for it returns."""
    return part() if inspect.isfunction(part) else part


def plain(value):
    """Numbers and lists as JSON has them."""
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    return value


# ---------------------------------------------------------------- settings


def settings_of(model, prefix="") -> dict[str, Any]:
    """Learnt settings of a model, of the last step of a pipeline, and of the estimator inside a wrapper."""
    if hasattr(model, "steps"):
        model = model.steps[-1][1]
    found: dict[str, Any] = {}
    for name in SETTINGS:
        value = getattr(model, name, None)
        if value is not None:
            found.update(described(value, prefix + name.rstrip("_")))
    if hasattr(model, "dual_gap_"):
        found[prefix + "converged"] = bool(model.dual_gap_ <= model.tol)
    for name in INNER:
        inner = getattr(model, name, None)
        if hasattr(inner, "get_params"):
            found.update(settings_of(inner, prefix + name.rstrip("_") + "."))
    return found


def described(value, name) -> dict[str, Any]:
    """A setting as fields: its class and its parameters, or its values, or the norm of a large array."""
    if isinstance(value, (str, bool, int, float, np.generic)) or value is None:
        return {name: value}
    if isinstance(value, dict):
        parts = (described(item, f"{name}.{key}") for key, item in value.items())
        return {key: item for part in parts for key, item in part.items()}
    if isinstance(value, (list, tuple)):
        return described(dict(enumerate(value)), name)
    if inspect.isroutine(value):
        return {name: getattr(value, "__name__", type(value).__name__)}
    if hasattr(value, "get_params") and not isinstance(value, type):
        return {name: type(value).__name__, **described(value.get_params(deep=False), name)}
    if not hasattr(value, "shape"):
        return {name: type(value).__name__}
    array = np.asarray(value)
    if array.dtype.kind not in "bif":
        return {name: str(array.dtype)}
    if array.size <= 4:
        return {name: array.ravel()}
    return {f"{name}.norm": norm(array)}


# ---------------------------------------------------------------- answers


def numbers_of(answer, name) -> dict[str, Any]:
    """An answer as fields: its form, four values of each of its first three rows, and the norm of all."""
    if isinstance(answer, tuple):
        parts = (numbers_of(part, f"{name}.{i}") for i, part in enumerate(answer))
        return {key: item for part in parts for key, item in part.items()}
    if hasattr(answer, "lower") and hasattr(answer, "upper") and not isinstance(answer, str):
        return {**numbers_of(answer.lower, f"{name}.lower"), **numbers_of(answer.upper, f"{name}.upper")}
    if hasattr(answer, "p_values"):  # sets
        sets = {f"{name}.sizes": answer.sizes, f"{name}.first": written(answer[0])}
        return {**sets, **numbers_of(np.concatenate(answer.p_values), f"{name}.p_values")}
    array = values_of(answer)
    form = type(answer).__name__ if not isinstance(answer, np.ndarray) else str(answer.dtype)
    if array.dtype.kind not in "bif":
        return {f"{name}.form": f"{form} {array.shape}", f"{name}.values": [written(item) for item in answer][:6]}
    rows = array.reshape(len(array), -1) if array.ndim else array.reshape(1, 1)
    columns = np.unique(np.linspace(0, rows.shape[1] - 1, 4).round().astype(int)) if rows.size else []
    return {
        f"{name}.form": f"{form} {array.shape}",
        f"{name}.values": rows[:3][:, columns],
        f"{name}.norm": norm(array),
    }


def values_of(answer) -> np.ndarray:
    """The array behind an answer, whatever its container."""
    if isinstance(answer, IrregularFunctions):
        return np.concatenate([np.ravel(values) for values in answer.values])
    for attribute in ("data_matrix", "coefficients"):  # of scikit-fda
        if hasattr(answer, attribute):
            return np.asarray(getattr(answer, attribute))
    if hasattr(answer, "to_numpy"):
        return answer.to_numpy()
    if scipy.sparse.issparse(answer):
        return answer.toarray()
    try:
        return np.asarray(answer)
    except ValueError:  # a list of objects of different lengths
        return np.array(["objects"] * len(answer))


def norm(array) -> float:
    """The Euclidean norm, without NaN."""
    return float(np.sqrt(np.nansum(np.square(np.asarray(array, dtype=float)))))


def written(item) -> str:
    """An object as text, sets in order."""
    if isinstance(item, (set, frozenset)):
        return "{" + ", ".join(sorted(written(part) for part in item)) + "}"
    return str(item)
