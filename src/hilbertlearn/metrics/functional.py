"""Errors of functions at their observed points."""

from __future__ import annotations

from functools import reduce

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from ..data.functions import IrregularFunctions, quadrature, read_functions, same_points, scattered_quadrature


def functional_mse(Y_true, Y_pred, grid=None, sample_weight=None):
    """Squared error summed over the observed points of each curve, averaged over curves.

    The "MSE" of Lambert et al. 2022, section 5. The errors in the tables of Bouche et al. 2021 are of this size too,
    although its section 5 prints the definition of ``functional_nmse``.

    Parameters
    ----------
    Y_true : array of shape (n, m) or (n, m, p), scikit-fda container or IrregularFunctions
        Observed curves; the errors of p functions a sample add up. NaN points, and samples without any observed point,
        are ignored.
    Y_pred : same form as Y_true
        Predicted curves at the same points.
    grid : array of shape (m,) or tuple of arrays, default=None
        Increasing points of arrays, or a tuple of arrays for functions of several variables; None for equal steps.
    sample_weight : array of shape (n,), default=None
        Non-negative weights of the samples; None for ones.

    Returns
    -------
    error : float
        The error; NaN if no sample of positive weight is observed.

    References
    ----------
    - Lambert, Bouche, Szabó and d'Alché-Buc (2022). Functional output regression with infimal convolution: exploring
      the Huber and epsilon-insensitive losses. ICML, section 5.
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS, section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import metrics
    >>> true = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, np.nan]])
    >>> metrics.functional_mse(true, np.array([[1.0, 1.0, 1.0], [1.0, 3.0, 9.0]]))
    3.5
    """
    return _mean_error(Y_true, Y_pred, grid, sample_weight, lambda axes, observed: np.ones(observed.sum()))


def functional_nmse(Y_true, Y_pred, grid=None, sample_weight=None):
    """Squared error averaged over the observed points of each curve, then over curves.

    The "NMSE" of Lambert et al. 2022, where all curves have the same number m of points and it is ``functional_mse /
    m``; the "MSE" of Bouche et al. 2021.

    Parameters
    ----------
    Y_true : array of shape (n, m) or (n, m, p), scikit-fda container or IrregularFunctions
        Observed curves; the errors of p functions a sample add up. NaN points, and samples without any observed point,
        are ignored.
    Y_pred : same form as Y_true
        Predicted curves at the same points.
    grid : array of shape (m,) or tuple of arrays, default=None
        Increasing points of arrays, or a tuple of arrays for functions of several variables; None for equal steps.
    sample_weight : array of shape (n,), default=None
        Non-negative weights of the samples; None for ones.

    Returns
    -------
    error : float
        The error; NaN if no sample of positive weight is observed.

    References
    ----------
    - Lambert, Bouche, Szabó and d'Alché-Buc (2022). Functional output regression with infimal convolution: exploring
      the Huber and epsilon-insensitive losses. ICML, section 5.
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS, section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import metrics
    >>> true = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, np.nan]])
    >>> metrics.functional_nmse(true, np.array([[1.0, 1.0, 1.0], [1.0, 3.0, 9.0]]))
    1.5
    """
    return _mean_error(Y_true, Y_pred, grid, sample_weight, _equal_weights)


def integrated_squared_error(Y_true, Y_pred, grid=None, sample_weight=None):
    """Integral of the squared error of each curve, averaged over curves; the domain has measure 1.

    The integral is that of the trapezoid rule on the observed points of the curve, with weights of sum 1. Functions of
    several variables have the product rule of their grid, with the weights of the observed points scaled to sum 1.

    Parameters
    ----------
    Y_true : array of shape (n, m) or (n, m, p), scikit-fda container or IrregularFunctions
        Observed curves; the errors of p functions a sample add up. NaN points, and samples without any observed point,
        are ignored.
    Y_pred : same form as Y_true
        Predicted curves at the same points.
    grid : array of shape (m,) or tuple of arrays, default=None
        Increasing points of arrays, or a tuple of arrays for functions of several variables; None for equal steps.
    sample_weight : array of shape (n,), default=None
        Non-negative weights of the samples; None for ones.

    Returns
    -------
    error : float
        The error; NaN if no sample of positive weight is observed.

    References
    ----------
    - Ramsay and Silverman (2005). Functional Data Analysis, second edition. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import metrics
    >>> true = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, np.nan]])
    >>> metrics.integrated_squared_error(true, np.array([[1.0, 1.0, 1.0], [1.0, 3.0, 9.0]]))
    1.5
    """
    return _mean_error(Y_true, Y_pred, grid, sample_weight, _integral_weights)


def _mean_error(Y_true, Y_pred, grid, sample_weight, weigh):
    """Mean over samples of squared errors with weights ``weigh(axes, observed)`` (k,) of the k observed points."""
    pairs = _pair_samples(Y_true, Y_pred, grid)
    weights = _check_sample_weight(sample_weight, pairs, dtype=np.float64, ensure_non_negative=True)
    total = count = 0.0
    for i, ((axes, true, pred), weight) in enumerate(zip(pairs, weights, strict=True)):
        if weight == 0 or np.isnan(true).all():
            continue
        count += weight
        for y, z in zip(true.T, pred.T, strict=True):
            observed = ~np.isnan(y)
            if np.isnan(z[observed]).any():
                raise ValueError(f"Y_pred is NaN at a point of sample {i} that Y_true observes; predict there")
            if observed.any():
                total += weight * (weigh(axes, observed) @ (y[observed] - z[observed]) ** 2)
    return float(total / count) if count > 0 else float("nan")


def _pair_samples(Y_true, Y_pred, grid):
    """For each sample its axes, true values (m, p) and predicted values (m, p) at the m points of the product grid."""
    if grid is None and hasattr(Y_pred, "grid_points"):
        grid = tuple(Y_pred.grid_points)
    true, layout = read_functions(Y_true, grid, "Y_true")
    irregular = isinstance(true, IrregularFunctions)
    pred, _ = read_functions(Y_pred, None if irregular else true.axes, "Y_pred", layout.origins)
    if irregular != isinstance(pred, IrregularFunctions) or len(true) != len(pred):
        raise ValueError(
            "Y_true and Y_pred must be as many functions, at the same points; "
            f"got {len(true)} in {type(Y_true).__name__} and {len(pred)} in {type(Y_pred).__name__}"
        )
    axes = [(points,) for points in true.points] if irregular else [true.axes] * len(true)
    if irregular:
        for i, (a, b) in enumerate(zip(true.points, pred.points, strict=True)):
            if not same_points(a, b):
                where = "Y_true.points" if true.origin is None else "the dates of Y_true, as dates"
                raise ValueError(
                    f"Y_true and Y_pred must have the same points, those of curve {i} differ; predict at {where}"
                )
    pairs = [(a, _columns(y), _columns(z)) for a, y, z in zip(axes, true.values, pred.values, strict=True)]
    p, q = pairs[0][1].shape[1], pairs[0][2].shape[1]
    if p != q:
        raise ValueError(f"Y_true and Y_pred must have the same number of functions a sample, got {p} and {q}")
    return pairs


def _columns(values):
    """Values (m_1, ..., m_k, p) or (m,) as (m, p)."""
    return values[:, None] if values.ndim == 1 else values.reshape(-1, values.shape[-1])


def _equal_weights(axes, observed):
    """Equal weights (k,) of sum 1 of the observed points."""
    return np.full(observed.sum(), 1 / observed.sum())


def _integral_weights(axes, observed):
    """Quadrature weights (k,) of sum 1 of the observed points."""
    if len(axes) > 1:
        weights = reduce(np.multiply.outer, map(quadrature, axes)).ravel()[observed]
        return weights / weights.sum()
    return scattered_quadrature(axes[0][observed])
