"""The robustness ratio: the influence of outliers on a loss, without a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._utils.validation import check_number
from ..data.functions import quadrature, read_functions
from ..losses import Huber
from ..losses.balls import dual_exponent, p_norms

QUANTILES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)  # levels of the paper


@dataclass(frozen=True)
class RobustnessRatio:
    """The smallest mean ratio of losses with and without outliers, and its kappa; 1 means no influence.

    ``robustness_ratio`` returns it.

    Parameters
    ----------
    value : float
        The smallest ratio.
    kappa : float
        The constant of the Huber loss with this ratio.
    kappas : tuple of float
        All constants.
    ratios : tuple of float
        The ratio for each constant.

    References
    ----------
    - Lambert, Bouche, Szabó and d'Alché-Buc (2022). Functional output regression with infimal convolution: exploring
      the Huber and epsilon-insensitive losses. ICML, appendix C.1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import metrics
    >>> curves = np.ones((4, 10))
    >>> corrupted = curves.copy()
    >>> corrupted[0] = 9.0
    >>> ratio = metrics.robustness_ratio(curves, corrupted, p=1, kappas=[0.1, 1.0])
    >>> ratio.kappa, ratio.value == min(ratio.ratios)
    (0.1, True)
    """

    value: float
    kappa: float
    kappas: tuple[float, ...]
    ratios: tuple[float, ...]


def robustness_ratio(clean, corrupted, p=2, *, kappas=None, quantiles=QUANTILES, grid=None, weights="trapezoid"):
    """``min over kappa of 1/n sum_i H(corrupted_i) / H(clean_i)``, H the Huber loss of the p-norm with that kappa.

    It measures how much outliers increase the data term at the best kappa, which is unknown in practice. No model is
    fitted.

    Parameters
    ----------
    clean : array of shape (n, m)
        Values of functions, or residuals, on a common grid.
    corrupted : array of shape (n, m)
        The same functions with outliers.
    p : float, default=2
        Exponent of the norm, in [1, inf].
    kappas : sequence of float, default=None
        Candidates >= 0; 0 is the limit, the ratio of p-norms. None for quantiles of the norms, of the dual exponent,
        of the clean functions, as in the paper.
    quantiles : sequence of float, default=(0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
        Levels in (0, 1) of these quantiles.
    grid : array of shape (m,), default=None
        Increasing points; None for equal steps.
    weights : {"trapezoid", "equal"} or array of shape (m,), default="trapezoid"
        Quadrature weights.

    Returns
    -------
    ratio : RobustnessRatio
        The smallest ratio, and the ratios of all constants.

    References
    ----------
    - Lambert, Bouche, Szabó and d'Alché-Buc (2022). Functional output regression with infimal convolution: exploring
      the Huber and epsilon-insensitive losses. ICML, appendix C.1.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import metrics
    >>> curves = np.ones((4, 10))
    >>> corrupted = curves.copy()
    >>> corrupted[:, 5] = 9.0  # one point of each
    >>> for p in (1, 2):
    ...     print(p, round(metrics.robustness_ratio(curves, corrupted, p=p, kappas=[0.1, 1.0]).value, 2))
    1 1.94
    2 3.26
    """
    Huber(1.0, p).validate()
    E, F, measure = _coordinates(clean, corrupted, grid, weights)
    if kappas is None:
        levels = [_check_level(level) for level in np.atleast_1d(quantiles)]
        kappas = np.unique(np.quantile(p_norms(E, dual_exponent(p), measure), levels))
    kappas = [float(check_number(kappa, "kappas", strict=False)) for kappa in np.atleast_1d(kappas).tolist()]
    ratios = [float(np.mean(_values(F, kappa, p, measure) / _values(E, kappa, p, measure))) for kappa in kappas]
    best = int(np.argmin(ratios))
    return RobustnessRatio(ratios[best], kappas[best], tuple(kappas), tuple(ratios))


def _values(R, kappa, p, measure):
    """Losses (n,); divided by kappa in the limit kappa = 0."""
    return Huber(kappa, p).row_value(R, measure) if kappa > 0 else p_norms(R, p, measure)


def _coordinates(clean, corrupted, grid, weights):
    """Both as values times roots of quadrature weights, and the weights."""
    values = []
    for name, curves in (("clean", clean), ("corrupted", corrupted)):
        functions, _ = read_functions(curves, grid, name)
        shape: tuple = getattr(getattr(functions, "values", None), "shape", ())
        if len(shape) != 3 or shape[2] != 1:
            raise ValueError(f"{name} must be functions on a common grid, (n, m), one a sample; got shape {shape}")
        if not np.isfinite(functions.values).all():
            raise ValueError(f"{name} contains NaN or infinity; give functions that are known at all points")
        values.append(functions.values[:, :, 0])
    if values[0].shape != values[1].shape:
        raise ValueError(f"clean and corrupted must be of the same shape, got {values[0].shape} and {values[1].shape}")
    zero = ~values[0].any(axis=1)
    if zero.any():
        raise ValueError(f"clean: function {int(np.argmax(zero))} is zero, and its ratio is not defined; remove it")
    measure = quadrature(functions.axes[0], weights)
    if not measure.all():
        raise ValueError("weights must be > 0; leave out points that do not count")
    root = np.sqrt(measure)
    return values[0] * root, values[1] * root, measure


def _check_level(level):
    if not 0 < check_number(level, "quantiles") < 1:
        raise ValueError(f"quantiles must be between 0 and 1, got {level!r}")
    return level
