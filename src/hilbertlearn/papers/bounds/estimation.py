"""The estimation error of projection learning on a dictionary (Bouche et al. 2021, proposition 3.3).

Atoms phi_1, ..., phi_D are a Riesz family with constants ``c_phi ||w|| <= ||sum_d w_d phi_d|| <= C_phi ||w||``: the
roots of the extreme eigenvalues of their Gram matrix. Outputs have ``||y|| <= b``, the kernel of the coefficients
``||K(x, x)|| <= k``, and functions norm at most a. With ``q = a C_phi sqrt(k)``, the largest norm of a prediction, the
risk of the empirical minimiser exceeds the smallest, with probability 1 - delta, by at most

    8 sqrt(2) q (b + q) sqrt(D / n)  +  6 sqrt(2) (b + q)^2 sqrt(log(4 / delta) / n)

for the loss ``||y - f||^2``, and by half of it for that of this package. It depends on C_phi only, and atoms need
not have norm one. In whitened coordinates a dictionary is orthonormal and C_phi = 1, while the operator has the
eigenvalues of the Gram matrix: the same theorem there is never worse, since ``||G^1/2 B G^1/2|| <= C_phi^2 ||B||``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ..._utils.validation import check_number, check_symmetric_psd
from ...data.functions import quadrature
from ...spaces import FunctionSpace, as_space
from .fitted_model import FittedModel, operator_norm
from .results import BoundResult, check_delta, check_samples

_POINTS = 1001  # points of the trapezoid rule on the unit interval, if there is no grid


@dataclass(frozen=True, repr=False)
class RieszConstants(BoundResult):
    """Riesz constants of a dictionary: roots of the extreme eigenvalues of its Gram matrix.

    Attributes
    ----------
    lower : float
        Root of the smallest eigenvalue; 0 for atoms that are linearly dependent.
    upper : float
        Root of the largest eigenvalue.
    n_atoms : int
        Number of atoms.
    normed : bool
        Whether all atoms have norm one.

    References
    ----------
    - Bouche, D., Clausel, M., Roueff, F. and d'Alche-Buc, F. (2021). Nonlinear functional output regression: a
      dictionary approach. AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import bounds
    >>> constants = bounds.riesz_constants(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> round(constants.lower**2, 6), round(constants.upper**2, 6), constants.n_atoms
    (0.5, 1.5, 2)
    """

    lower: float
    upper: float
    n_atoms: int
    normed: bool


@dataclass(frozen=True, repr=False)
class EstimationBound(BoundResult):
    """A bound on the estimation error that holds with probability 1 - delta.

    Attributes
    ----------
    value : float
        The bound, ``complexity + deviation``.
    complexity : float
        The part that grows as the root of ``n_atoms / n``.
    deviation : float
        The part that grows as the root of ``log(4 / delta) / n``.
    n : int
        Number of samples.
    n_atoms : int
        Number of atoms.
    radius : float
        Bound on the norm of the functions.
    output_bound : float
        Bound on the norm of outputs.
    kernel_bound : float
        Bound on ``||K(x, x)||``.
    riesz_upper : float
        Upper Riesz constant of the dictionary.
    delta : float
        Probability that the bound fails.
    riesz : RieszConstants or None
        Constants of the dictionary, where it is known.
    assumptions : tuple of str
        Settings that were estimated from the samples although the theorem needs them fixed.

    References
    ----------
    - Bouche, D., Clausel, M., Roueff, F. and d'Alche-Buc, F. (2021). Nonlinear functional output regression: a
      dictionary approach. AISTATS.

    Examples
    --------
    >>> from hilbertlearn import bounds
    >>> bound = bounds.estimation_bound(n=10_000, n_atoms=10, radius=1.0, output_bound=1.0)
    >>> abs(bound.value - bound.complexity - bound.deviation) < 1e-12
    True
    """

    value: float
    complexity: float
    deviation: float
    n: int
    n_atoms: int
    radius: float
    output_bound: float
    kernel_bound: float
    riesz_upper: float
    delta: float
    riesz: RieszConstants | None = None
    assumptions: tuple[str, ...] = ()


def riesz_constants(dictionary, grid=None, weights="trapezoid") -> RieszConstants:
    """Compute the Riesz constants of a dictionary (Bouche et al. 2021, definition 2.1).

    Parameters
    ----------
    dictionary : array of shape (D, D), str, basis, space, callable or FunctionalRegressor
        The Gram matrix of the atoms; a basis or a space of ``hilbertlearn.spaces``, or its name; a function of points
        (p,) in [0, 1] that returns the atoms (D, p); or a fitted ``FunctionalRegressor``, for its grid.
    grid : array of shape (p,), default=None
        Points in [0, 1] for the inner products of a basis; None for 1001 equidistant points.
    weights : str or array of shape (p,), default="trapezoid"
        Quadrature rule, or quadrature weights of `grid`.

    Returns
    -------
    constants : RieszConstants
        The constants.

    References
    ----------
    - Bouche, D., Clausel, M., Roueff, F. and d'Alche-Buc, F. (2021). Nonlinear functional output regression: a
      dictionary approach. AISTATS.

    Examples
    --------
    >>> from hilbertlearn import bounds, spaces
    >>> constants = bounds.riesz_constants(spaces.Fourier(5))
    >>> round(constants.lower, 6), round(constants.upper, 6)
    (1.0, 1.0)
    """
    if hasattr(dictionary, "state_"):
        return _riesz_of_space(dictionary.state_.space)
    if isinstance(dictionary, FunctionSpace):
        return _riesz_of_space(dictionary)
    if isinstance(dictionary, np.ndarray):
        remedy = "give inner products of atoms, (D, D)"
        return _riesz_of_gram(check_symmetric_psd(np.asarray(dictionary, dtype=float), "dictionary", remedy))
    points = np.linspace(0.0, 1.0, _POINTS) if grid is None else np.asarray(grid, dtype=float)
    axis = as_space(dictionary).axis(points)
    if axis.pointwise:
        raise ValueError("dictionary: a grid of point values has no atoms; give a basis, such as spaces.Fourier(10)")
    return _riesz_of_gram(_gram(axis.atoms, points, axis.quadrature if grid is None else quadrature(points, weights)))


def _gram(atoms, points, weights):
    values = atoms(points)
    return (values * weights) @ values.T


def _riesz_of_gram(G) -> RieszConstants:
    values = np.linalg.eigvalsh(G)
    rounding = len(values) * np.finfo(float).eps * max(values[-1], 0.0)
    smallest = values[0] if values[0] > rounding else 0.0
    normed = bool(np.allclose(np.diag(G), 1.0, rtol=0, atol=1e-6))
    return RieszConstants(float(np.sqrt(smallest)), float(np.sqrt(max(values[-1], 0.0))), len(G), normed)


def _riesz_of_space(space) -> RieszConstants:
    """Constants of a product of axes and curves: their Gram matrices multiply."""
    if not isinstance(space, FunctionSpace):
        raise TypeError(f"dictionary: outputs of the estimator are no functions but in {type(space).__name__}")
    parts = [
        RieszConstants(1.0, 1.0, axis.n_atoms, True)
        if axis.pointwise
        else _riesz_of_gram(_gram(axis.atoms, axis.points, axis.quadrature))
        for axis in space.axes
    ]
    return RieszConstants(
        lower=prod(part.lower for part in parts),
        upper=prod(part.upper for part in parts),
        n_atoms=prod(part.n_atoms for part in parts) * space.n_curves,
        normed=all(part.normed for part in parts),
    )


def estimation_bound(
    *, n, n_atoms, radius, output_bound, kernel_bound=1.0, riesz_upper=1.0, delta=0.05, half=True
) -> EstimationBound:
    """Bound the estimation error of projection learning with the squared loss (Bouche et al. 2021, prop. 3.3).

    Parameters
    ----------
    n : int
        Number of samples.
    n_atoms : int
        Number of atoms D.
    radius : float
        Bound a on the norm of the functions among which the empirical risk is minimised.
    output_bound : float
        Largest norm b of an output less the constant of the model.
    kernel_bound : float, default=1.0
        Bound on ``||K(x, x)||`` of the kernel of coefficients.
    riesz_upper : float, default=1.0
        C_phi of the dictionary, ``riesz_constants(dictionary).upper``.
    delta : float, default=0.05
        Probability that the bound fails, in (0, 1).
    half : bool, default=True
        True for the loss ``||y - f||^2 / 2`` of this package, False for ``||y - f||^2`` of the paper.

    Returns
    -------
    bound : EstimationBound
        The bound with its parts.

    References
    ----------
    - Bouche, D., Clausel, M., Roueff, F. and d'Alche-Buc, F. (2021). Nonlinear functional output regression: a
      dictionary approach. AISTATS.

    Examples
    --------
    >>> from hilbertlearn import bounds
    >>> few, many = (bounds.estimation_bound(n=n, n_atoms=10, radius=1.0, output_bound=1.0) for n in (100, 10_000))
    >>> round(few.value / many.value, 6)  # as the root of the number of samples
    10.0
    """
    n, delta = check_samples(n), check_delta(delta)
    D = check_number(n_atoms, "n_atoms", integer=True)
    a, b = (
        float(check_number(value, name, strict=False))
        for value, name in ((radius, "radius"), (output_bound, "output_bound"))
    )
    k, C = float(check_number(kernel_bound, "kernel_bound")), float(check_number(riesz_upper, "riesz_upper"))
    q, factor = a * C * np.sqrt(k), 0.5 if half else 1.0
    complexity = factor * 8 * np.sqrt(2) * q * (b + q) * np.sqrt(D / n)
    deviation = factor * 6 * np.sqrt(2) * (b + q) ** 2 * np.sqrt(np.log(4 / delta) / n)
    return EstimationBound(
        value=float(complexity + deviation),
        complexity=float(complexity),
        deviation=float(deviation),
        n=n,
        n_atoms=int(D),
        radius=a,
        output_bound=b,
        kernel_bound=k,
        riesz_upper=C,
        delta=delta,
    )


def estimation_bound_from_estimator(
    estimator, X, y, *, delta=0.05, radius=None, output_bound=None, whitened=False
) -> EstimationBound:
    """Bound the estimation error of a fitted ``FunctionalRegressor`` with the squared loss from its training samples.

    A ridge fit minimises the training loss among functions whose norm is at most that of the fitted function.

    Parameters
    ----------
    estimator : FunctionalRegressor
        Fitted, with a dictionary as ``space``.
    X : array of shape (n, p)
        Training inputs.
    y : array of shape (n, m)
        Training outputs.
    delta : float, default=0.05
        Probability that the bound fails, in (0, 1).
    radius : float, default=None
        As in ``estimation_bound``; None for the norm of the fitted function.
    output_bound : float, default=None
        As in ``estimation_bound``; None for the largest of the samples.
    whitened : bool, default=False
        Whether to apply the theorem in orthonormal coordinates, which is never worse, or in those of the dictionary.

    Returns
    -------
    bound : EstimationBound
        The bound with its parts.

    References
    ----------
    - Bouche, D., Clausel, M., Roueff, F. and d'Alche-Buc, F. (2021). Nonlinear functional output regression: a
      dictionary approach. AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import FunctionalRegressor, bounds, spaces
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> Y = np.sin(6 * (X + np.linspace(0, 1, 30)))
    >>> model = FunctionalRegressor("rbf", gamma=10.0, alpha=1e-2, space=spaces.Fourier(5)).fit(X, Y)
    >>> bounds.estimation_bound_from_estimator(model, X, Y).n_atoms
    5
    """
    delta, fitted = check_delta(delta), FittedModel.from_estimator(estimator, X, y)
    space, state = fitted.state.space, fitted.state
    riesz = _riesz_of_space(space)
    fitted.check_common_points()
    if not state.loss.quadratic:
        raise ValueError(f"estimator: this bound is for the squared loss, got loss={state.loss!r}; set loss='squared'")
    M = np.eye(len(state.center)) if state.operator is None else state.operator
    norm = operator_norm(M) if whitened else operator_norm(_operator_on_atoms(M, space))
    result = estimation_bound(
        n=fitted.n,
        n_atoms=len(state.center) if whitened else riesz.n_atoms,
        radius=fitted.norm if radius is None else radius,
        output_bound=fitted.output_bound(output_bound),
        kernel_bound=fitted.input_bound() * norm,
        riesz_upper=1.0 if whitened else riesz.upper,
        delta=delta,
    )
    notes = [] if radius is not None else ["radius is the norm of the fitted function"]
    notes += fitted.list_assumptions(output_bound=output_bound, kernel_bound=None)
    return replace(result, riesz=riesz, assumptions=tuple(notes))


def _operator_on_atoms(M, space):
    """The operator on coefficients of atoms, ``F^+ M F^+'``, from that on whitened coordinates."""
    axes = [axis for axis in space.axes if not axis.pointwise and axis.from_atoms is not None]
    if not axes:
        return M
    if len(space.axes) > 1 or space.n_curves > 1:
        raise ValueError(
            "estimator: functions of several variables, or several curves, have the bound in orthonormal coordinates "
            "only; set whitened=True"
        )
    F = np.linalg.pinv(axes[0].from_atoms)  # (k, d)
    return F @ np.asarray(M, dtype=float) @ F.T
