"""The setting ``operator`` of estimators: names, objects and matrices become positive semi-definite matrices."""

from __future__ import annotations

import numpy as np

from .._utils.linalg import Kronecker, kronecker
from .._utils.validation import check_choice, check_symmetric_psd
from .settings import Covariance, Decay, Identity, Integral, LearnedOperator, TaskGraph

_NAMES: dict = {
    "identity": Identity,
    "task_graph": TaskGraph,
    "covariance": Covariance,
    "decay": Decay,
    "integral": Integral,
    "learned": LearnedOperator,
}
_IDENTITY_TOLERANCE = 1e-12  # largest deviation of an entry from the identity, for which no spectrum is computed


def as_learned(operator):
    """Return the ``LearnedOperator`` of a setting, None for other operators."""
    if isinstance(operator, str) and operator == "learned":
        return LearnedOperator()
    return operator if isinstance(operator, LearnedOperator) else None


def depends_on_outputs(operator):
    """Whether an operator is computed from the training outputs, so that it depends on their scales."""
    setting = _NAMES.get(operator, Identity)() if isinstance(operator, str) else operator
    return bool(getattr(setting, "depends_on_outputs", False))


def operator_from_name(operator, name="operator", others=()):
    """Return the object of a named operator; `others` are further known names for the error message."""
    known = (*_NAMES, *others)
    return _NAMES[check_choice(operator, name, known, ", a matrix or an object of hilbertlearn.operators")]()


def operator_matrix(operator, Y, weights=None, space=None, name="operator"):
    """Compute the matrix (d, d) of an operator for coordinates Y (n, d), NaN where not observed; None is the identity.

    In a space of functions, "auto" is the default of the space, and an array acts on the atoms of a dictionary.
    """
    if operator is None:
        return None
    M = _unchecked_matrix(operator, Y, weights, space, name)
    if M is None:
        return None
    d = Y.shape[1]
    if M.shape != (d, d):
        raise ValueError(f"{name} must have shape {(d, d)}, one row an output, got {M.shape}")
    if isinstance(M, Kronecker):
        return Kronecker(f if isinstance(f, int) else _check_psd(f, name) for f in M.factors)
    if np.abs(M - np.eye(d)).max() <= _IDENTITY_TOLERANCE:
        return None
    return _check_psd(M, name)


def _unchecked_matrix(operator, Y, weights, space, name):
    """The unchecked matrix (d, d) of a name, an object or an array; None for the identity."""
    if isinstance(operator, str) and operator == "auto" and space is not None:
        return kronecker([*(axis.default_operator for axis in space.axes), None], space.sizes)
    if isinstance(operator, str):
        return operator_from_name(operator, name, () if space is None else ("auto",)).matrix(Y, weights, space)
    if isinstance(operator, type):
        raise TypeError(f"{name} must be an object, got the class {operator.__name__}; pass {operator.__name__}()")
    if hasattr(operator, "matrix"):
        return operator.matrix(Y, weights, space)
    return _matrix_from_array(operator, space, name)


def _matrix_from_array(operator, space, name):
    """A given matrix; on functions of one variable it acts on the atoms."""
    try:
        M = np.asarray(operator, dtype=float)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{name} must be a matrix, a name or an object of hilbertlearn.operators, got {operator!r}"
        ) from error
    if space is None:
        return M
    if len(space.axes) > 1 or space.sizes[-1] > 1:
        raise ValueError(
            "operator: a matrix is for one curve of one variable; for several curves use "
            "operators.AxisProduct(matrix, curves=matrix)"
        )
    axis = space.axes[0]
    shape = (axis.n_atoms, axis.n_atoms)
    if M.shape != shape:
        raise ValueError(f"operator must have shape {shape}, one row an atom or a point of the grid, got {M.shape}")
    return axis.operator_from_atoms(M)


def _check_psd(M, name):
    """Return the matrix; raise an error unless it is positive semi-definite."""
    return check_symmetric_psd(M, name, "pass a positive semi-definite matrix or an object of hilbertlearn.operators")
