"""Algorithmic stability, and the bound on the risk that follows from it (Laforgue et al. 2020, theorems 8 to 10).

Let ``phi(||r||)`` be the loss of a residual r, phi convex, increasing and 0 at 0. Outputs have ``||y|| <= b`` and the
kernel ``||K(x, x)|| <= g^2``; h minimises ``1/n sum_i phi(||y_i - h(x_i)||) + alpha/2 ||h||^2``.

- The zero function is a candidate, so ``alpha/2 ||h||^2 <= phi(b)``, and values of h are at most
  ``B = g sqrt(2 phi(b) / alpha)`` (the norm bound, times g).
- So residuals are at most ``R = b + B``: losses are at most ``M = phi(R)`` and, phi being convex, have slopes of at
  most ``C = phi'(R)``.
- Replacing one sample changes the objective by a function with slope 2 C g / n in h, and the objective is
  alpha-strongly convex: h moves by at most ``2 C g / (alpha n)``, its values by g times that, losses by at most
  ``2 beta``, ``beta = C^2 g^2 / (alpha n)``. Leaving the sample out, alpha n held fixed, moves them by at most half of
  that, which is the stability of Bousquet and Elisseeff 2002.

With probability 1 - delta the risk is then at most the training loss plus
``2 beta + (4 n beta + M) sqrt(log(1 / delta) / (2 n))``.

These are the constants of the paper's figure 1 for the epsilon-SVR, for the Huber loss where ``b >= kappa``, and, with
``half=False``, for the epsilon-ridge loss ``max(||r|| - epsilon, 0)^2``. For the halved loss of its problem P1, which
is ``losses.EpsilonInsensitive`` here, ``phi(b) = (b - epsilon)^2 / 2`` gives

    M = (b - epsilon)^2 / 2 (1 + g / sqrt(alpha))^2        C = (b - epsilon) (1 + g / sqrt(alpha))

The same follows from figure 1: twice P1's objective is that of the loss without the half with Lambda = 2 alpha, and
half of its M, C and beta there are these. With the Lambda of P1, figure 1 is larger than necessary. For ``b < kappa``
figure 1's constants of the Huber loss are too small, and for ``b < kappa / 2`` not real numbers: phi(b) is b^2 / 2
there, not ``kappa (b - kappa / 2)``.

``sharp=True`` uses that h is optimal: ``alpha ||h||^2`` is the mean of ``phi'(r_i) <e_i, h(x_i)>``, with e_i the
direction of the residual and r_i its norm, and each is at most ``phi'(r) (b - r)`` for some r in [0, b]: for the
squared loss b^2 / 4, where the paper has b^2. Since phi is convex it is never more than phi(b). And a loss of slope at
most c has ``alpha ||h|| <= g c``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._utils.validation import check_number
from ...losses import EpsilonSVR, ExpNorm, Loss, Norm, PowerNorm, as_loss
from .fitted_model import FittedModel
from .results import BoundResult, check_delta, check_samples

_SLOPES = {
    EpsilonSVR: lambda loss, r: np.where(np.asarray(r) > loss.epsilon, 1.0, 0.0),
    Norm: lambda loss, r: np.full_like(r, loss.scale, dtype=float),
    PowerNorm: lambda loss, r: loss.scale * r ** (loss.eta - 1),
    ExpNorm: lambda loss, r: loss.scale * np.exp(r),
}
# Cells of the grid of ``_largest_slope_product``. The bound is too large by at most b / 10 000 times the largest slope.
_CELLS = 10_000


@dataclass(frozen=True, repr=False)
class StabilityConstants(BoundResult):
    """The constants M, C and beta of a loss, and the numbers they are computed from.

    Attributes
    ----------
    M : float
        Largest loss.
    C : float
        Lipschitz constant of the loss on the possible residuals.
    beta : float
        Stability: losses change by at most beta if a sample is removed, by at most 2 beta if it is replaced.
    norm_bound : float
        Bound on the norm of the fitted function.
    residual_bound : float
        Bound on the norm of residuals.
    n : int
        Number of samples.
    alpha : float
        Regularisation.
    output_bound : float
        Bound on the norm of outputs.
    kernel_bound : float
        Bound on ``||K(x, x)||``.
    loss : str
        The loss.
    sharp : bool
        Whether these are the smaller constants.

    References
    ----------
    - Laforgue, P., Lambert, A., Brogat-Motte, L. and d'Alche-Buc, F. (2020). Duality in RKHSs with infinite dimensional
      outputs: application to robust losses. ICML.
    - Bousquet, O. and Elisseeff, A. (2002). Stability and generalization. JMLR 2.

    Examples
    --------
    >>> from hilbertlearn import bounds, losses
    >>> constants = bounds.stability_constants(losses.Huber(0.5), n=1000, alpha=0.1, output_bound=1.0)
    >>> bool(abs(constants.beta - constants.C**2 / (0.1 * 1000)) < 1e-12)
    True
    """

    M: float
    C: float
    beta: float
    norm_bound: float
    residual_bound: float
    n: int
    alpha: float
    output_bound: float
    kernel_bound: float
    loss: str
    sharp: bool = False


@dataclass(frozen=True, repr=False)
class StabilityBound(BoundResult):
    """A bound on the risk that holds with probability 1 - delta.

    Attributes
    ----------
    value : float
        Bound on the risk if the training loss is known, else on the gap.
    gap : float
        Bound on the risk minus the training loss, ``bias + deviation``.
    bias : float
        ``2 beta``.
    deviation : float
        ``(4 n beta + M) sqrt(log(1 / delta) / 2 n)``.
    risk : float or None
        Training loss.
    delta : float
        Probability that the bound fails.
    constants : StabilityConstants
        The constants of the loss.
    assumptions : tuple of str
        Settings that were estimated from the samples although the theorem needs them fixed.

    References
    ----------
    - Laforgue, P., Lambert, A., Brogat-Motte, L. and d'Alche-Buc, F. (2020). Duality in RKHSs with infinite dimensional
      outputs: application to robust losses. ICML.
    - Bousquet, O. and Elisseeff, A. (2002). Stability and generalization. JMLR 2.

    Examples
    --------
    >>> from hilbertlearn import bounds, losses
    >>> bound = bounds.stability_bound(losses.Huber(0.5), n=1000, alpha=0.1, output_bound=1.0)
    >>> bool(abs(bound.gap - bound.bias - bound.deviation) < 1e-12)
    True
    """

    value: float
    gap: float
    bias: float
    deviation: float
    risk: float | None
    delta: float
    constants: StabilityConstants
    assumptions: tuple[str, ...] = ()


def stability_constants(loss, *, n, alpha, output_bound, kernel_bound=1.0, half=True, sharp=False):
    """Compute M, C and beta of a loss of the residual's norm (Laforgue et al. 2020, figure 1 and theorem 9).

    Parameters
    ----------
    loss : str or Loss
        Name or object of ``hilbertlearn.losses`` with numbers as settings: "squared", ``Huber(kappa)``,
        ``EpsilonInsensitive(epsilon)``, ``EpsilonSVR(epsilon)``, ``Norm``, ``PowerNorm``, ``ExpNorm`` or their
        convolutions.
    n : int
        Number of samples.
    alpha : float
        Regularisation.
    output_bound : float
        Largest norm of an output less the constant of the model.
    kernel_bound : float, default=1.0
        Bound on ``||K(x, x)||``, gamma^2 in the paper; 1 for the Gaussian kernel without an operator.
    half : bool, default=True
        False for twice the loss: its epsilon-ridge loss is that of figure 1, and `alpha` is Lambda of the paper.
    sharp : bool, default=False
        Whether to bound the norm of the function by strong convexity as well: see the docstring of the module.

    Returns
    -------
    constants : StabilityConstants
        The constants, and the numbers they are computed from.

    References
    ----------
    - Laforgue, P., Lambert, A., Brogat-Motte, L. and d'Alche-Buc, F. (2020). Duality in RKHSs with infinite dimensional
      outputs: application to robust losses. ICML.
    - Bousquet, O. and Elisseeff, A. (2002). Stability and generalization. JMLR 2.

    Examples
    --------
    >>> from hilbertlearn import bounds, losses
    >>> constants = bounds.stability_constants(losses.Huber(0.5), n=1000, alpha=0.1, output_bound=1.0)
    >>> round(constants.beta, 6), constants.C
    (0.0025, 0.5)
    """
    loss = check_loss(loss)
    n, b = check_samples(n), float(check_number(output_bound, "output_bound", strict=False))
    alpha, g = float(check_number(alpha, "alpha")), float(np.sqrt(check_number(kernel_bound, "kernel_bound")))
    factor = 1.0 if half else 2.0
    if sharp:
        norm = min(float(np.sqrt(factor * _largest_slope_product(loss, b) / alpha)), factor * g * loss.bound / alpha)
    else:
        norm = float(np.sqrt(2 * factor * value(loss, b) / alpha))
    R = b + g * norm
    M, C = factor * value(loss, R), factor * float(slope(loss, R))
    return StabilityConstants(
        M=M,
        C=C,
        beta=C**2 * g**2 / (alpha * n),
        norm_bound=norm,
        residual_bound=R,
        n=n,
        alpha=alpha,
        output_bound=b,
        kernel_bound=g**2,
        loss=str(loss) if half else f"2 {loss}",
        sharp=bool(sharp),
    )


def stability_bound(
    loss, *, n, alpha, output_bound, kernel_bound=1.0, delta=0.05, risk=None, half=True, sharp=False
) -> StabilityBound:
    """Bound the risk, or the difference of risk and training loss (Laforgue et al. 2020, theorem 8).

    Parameters
    ----------
    loss : str or Loss
        As in ``stability_constants``.
    n : int
        Number of samples.
    alpha : float
        Regularisation.
    output_bound : float
        Largest norm of an output less the constant of the model.
    kernel_bound : float, default=1.0
        Bound on ``||K(x, x)||``.
    delta : float, default=0.05
        Probability that the bound fails, in (0, 1).
    risk : float, default=None
        Mean training loss; None for a bound on the difference.
    half : bool, default=True
        As in ``stability_constants``.
    sharp : bool, default=False
        As in ``stability_constants``.

    Returns
    -------
    bound : StabilityBound
        The bound with its parts.

    References
    ----------
    - Laforgue, P., Lambert, A., Brogat-Motte, L. and d'Alche-Buc, F. (2020). Duality in RKHSs with infinite dimensional
      outputs: application to robust losses. ICML.

    Examples
    --------
    >>> from hilbertlearn import bounds, losses
    >>> given = {"n": 1000, "alpha": 0.1, "output_bound": 1.0}
    >>> robust, squared = (bounds.stability_bound(loss, **given).gap for loss in (losses.Huber(0.5), "squared"))
    >>> robust < squared
    True
    """
    constants = stability_constants(
        loss, n=n, alpha=alpha, output_bound=output_bound, kernel_bound=kernel_bound, half=half, sharp=sharp
    )
    return _bound(constants, check_delta(delta), risk)


def stability_bound_from_estimator(
    estimator, X, y, *, delta=0.05, output_bound=None, kernel_bound=None, sharp=False
) -> StabilityBound:
    """Bound the risk of a fitted estimator from its training samples (Laforgue et al. 2020, theorem 8).

    The loss and the risk are those of coordinates in the output space: after ``scale``, in the metric or kernel of the
    outputs, and over observed entries. Fits with sample weights have no such bound.

    Parameters
    ----------
    estimator : OperatorKernelRegressor, FunctionalRegressor, StructuredPredictor or RegularizationPathCV
        Fitted.
    X : array of shape (n, p)
        Training inputs.
    y : array of shape (n, d) or sequence of length n
        Training outputs.
    delta : float, default=0.05
        Probability that the bound fails, in (0, 1).
    output_bound : float, default=None
        As in ``stability_constants``; None for the largest of the samples.
    kernel_bound : float, default=None
        As in ``stability_constants``; None for the largest of the samples.
    sharp : bool, default=False
        As in ``stability_constants``.

    Returns
    -------
    bound : StabilityBound
        The bound with its parts.

    References
    ----------
    - Laforgue, P., Lambert, A., Brogat-Motte, L. and d'Alche-Buc, F. (2020). Duality in RKHSs with infinite dimensional
      outputs: application to robust losses. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, bounds
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> model = OperatorKernelRegressor("rbf", gamma=10.0, alpha=0.1).fit(X, np.sin(6 * X))
    >>> bound = bounds.stability_bound_from_estimator(model, X, np.sin(6 * X))
    >>> bound.risk < bound.value
    True
    """
    delta, fitted = check_delta(delta), FittedModel.from_estimator(estimator, X, y)
    constants = stability_constants(
        fitted.state.loss,
        n=fitted.n,
        alpha=fitted.state.alpha,
        output_bound=fitted.output_bound(output_bound),
        kernel_bound=fitted.kernel_bound(kernel_bound),
        sharp=sharp,
    )
    notes = fitted.list_assumptions(output_bound=output_bound, kernel_bound=kernel_bound)
    return _bound(constants, delta, fitted.risk, notes)


def _bound(constants: StabilityConstants, delta, risk, assumptions=()):
    n, beta = constants.n, constants.beta
    bias = 2 * beta
    deviation = float((4 * n * beta + constants.M) * np.sqrt(np.log(1 / delta) / (2 * n)))
    if risk is not None:
        risk = float(check_number(risk, "risk", strict=False))
    gap = bias + deviation
    value = gap if risk is None else risk + gap
    return StabilityBound(value, gap, bias, deviation, risk, delta, constants, assumptions)


def check_loss(loss) -> Loss:
    """Check that a loss is a function of the residual's norm with a known slope, and return the loss object."""
    loss = as_loss(loss)
    if loss.needs_residuals:
        raise ValueError(f"loss={loss!r}: give numbers for its settings, or a fitted estimator's loss_")
    smooth = loss.curvature > 0 or type(loss) in _SLOPES
    if loss.on_margins or not loss.by_row or not smooth or np.isfinite(loss.largest_residual):
        raise ValueError(
            f"loss={loss!r} has no stability constants here; they are for losses of the residual's norm: 'squared', "
            "Huber(p=2), EpsilonInsensitive(p=2), EpsilonSVR, Norm, PowerNorm, ExpNorm"
        )
    return loss


def value(loss: Loss, r: float) -> float:
    """The loss of a residual of norm r."""
    return float(loss.value(np.array([r]))[0])


def slope(loss: Loss, r):
    """The derivative of the loss at r, a number or an array: the dual variable of such a residual."""
    if loss.curvature > 0:
        r = np.asarray(r, dtype=float)
        return loss.prox_conjugate(r / loss.curvature, 1 / loss.curvature)
    return _SLOPES[type(loss)](loss, r)


def _largest_slope_product(loss: Loss, b: float) -> float:
    """Upper bound on ``phi'(r) (b - r)`` for r in [0, b], from a grid: the slope is increasing on each cell."""
    r = np.linspace(0.0, b, _CELLS + 1)
    return float(min(np.max(slope(loss, r[1:]) * (b - r[:-1])), value(loss, b)))
