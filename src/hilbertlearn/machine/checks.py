"""Errors and warnings of fits from all sources of data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.base import is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _num_samples

from .._utils.validation import warn
from .forms import DataForm

if TYPE_CHECKING:
    from .spec import Spec


def require_outputs(spec: Spec, y):
    """Raise if there are no outputs."""
    if y is None:
        raise ValueError(f"This {spec.name} estimator requires y to be passed, but the target y is None.")


def check_lengths(X, y) -> int:
    """The number of samples; raise if inputs and outputs have different numbers."""
    n = _num_samples(X)
    if _num_samples(y) != n:
        raise ValueError(f"X and y must have as many samples, got inconsistent numbers {n} and {_num_samples(y)}")
    return n


def warn_unobserved(spec: Spec, space, mask, form: DataForm):
    """Warn of outputs that no sample has observed; mask : of these outputs, or None."""
    if mask is not None and mask.any():
        centred = spec.regressor is not None or (bool(spec.center) and not spec.loss.on_margins)
        warn(f"y: {space.unobserved_message(mask, getattr(form.frame, 'names', None), centred)}")


def gap_message(spec: Spec, gap, n_iter, remedy) -> str:
    """The message that a duality gap is larger than the tolerance."""
    return f"gap {gap:.1e} > tol {spec.options.tol:.1e} after {n_iter} iterations; {remedy} or tol"


def warn_not_converged(spec: Spec, message):
    """Warn that a fit is not solved to its tolerance."""
    warn(f"{spec.name}: {message}", ConvergenceWarning)


def check_regressor(regressor):
    """Raise unless it is a regressor of scikit-learn, an object and not a class."""
    if isinstance(regressor, type) or not hasattr(regressor, "fit") or not is_regressor(regressor):
        remedy = f"; pass {regressor.__name__}()" if isinstance(regressor, type) else ""
        raise TypeError(f"regressor must be a regressor of scikit-learn or None, got {regressor!r}{remedy}")
