"""The excess risk of the loss trick with n samples (Ciliberto et al. 2016, lemma 18 and theorem 5).

For a surrogate whose best function g* is in the space of the kernel, with norm G, ``k(x, x) <= kappa^2``, features of
truths of norm at most Q and any ``alpha <= kappa^2``, with probability 1 - delta

    E(f) - E(f*) <= 8 kappa c (Q + kappa G) / sqrt(alpha n) (1 + sqrt(4 kappa^2 / (alpha sqrt(n)))) log^2(8 / delta)
                    + 2 c sqrt(alpha) G

c being c_Delta: lemma 18 with ``B(alpha) <= kappa G`` and ``A(alpha) <= sqrt(alpha) G``. At ``alpha = kappa^2 n^-1/2``
it is ``c (24 (Q + kappa G) log^2(8 / delta) + 2 kappa G) n^-1/4``, which is theorem 5. The end of the paper's proof has
``n^-1/4`` for that alpha and leaves the factor G out of the last term, so that its constant
``24 c (Q + kappa G + kappa)`` does not cover it where ``G > 12 log^2(8 / delta)``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._utils.validation import check_choice, check_number
from ...structured import StructuredPredictor
from ...training import SCHEDULES, check_alpha, resolve_schedule
from .comparison import ComparisonConstant, comparison_constant
from .fitted_model import FittedModel
from .results import BoundResult, check_delta, check_samples


@dataclass(frozen=True, repr=False)
class ExcessRiskBound(BoundResult):
    """A bound on the excess risk that holds with probability 1 - delta.

    Attributes
    ----------
    value : float
        The bound, ``estimation + approximation``.
    estimation : float
        The part that decreases with n and alpha.
    approximation : float
        The part that increases with alpha.
    n : int
        Number of samples.
    alpha : float
        Regularisation.
    norm : float
        Norm of the best function of the surrogate.
    kernel_bound : float
        Bound on ``k(x, x)``.
    delta : float
        Probability that the bound fails.
    constant : ComparisonConstant
        The constant of the output loss.
    assumptions : tuple of str
        Settings that were estimated from the samples although the theorem needs them fixed.

    References
    ----------
    - Ciliberto, C., Rosasco, L. and Rudi, A. (2016). A consistent regularization approach for structured prediction.
      NIPS.

    Examples
    --------
    >>> from hilbertlearn import bounds
    >>> bound = bounds.excess_risk_bound(bounds.comparison_constant("hellinger"), n=10_000, norm=1.0)
    >>> abs(bound.value - bound.estimation - bound.approximation) < 1e-12
    True
    """

    value: float
    estimation: float
    approximation: float
    n: int
    alpha: float
    norm: float
    kernel_bound: float
    delta: float
    constant: ComparisonConstant
    assumptions: tuple[str, ...] = ()


def schedule(n, rate="n^-1/2") -> float:
    """Compute alpha for n samples (Ciliberto et al. 2016, theorems 4 and 5).

    Estimators take the name of a schedule as well, ``StructuredPredictor(alpha="n^-1/2")``, where n is the number of
    samples given to ``fit``.

    Parameters
    ----------
    n : int
        Number of samples.
    rate : {"n^-1/2", "n^-1/4"}, default="n^-1/2"
        "n^-1/2" is the schedule of theorem 5; "n^-1/4" is universally consistent by theorem 4.

    Returns
    -------
    alpha : float
        Regularisation.

    References
    ----------
    - Ciliberto, C., Rosasco, L. and Rudi, A. (2016). A consistent regularization approach for structured prediction.
      NIPS.

    Examples
    --------
    >>> from hilbertlearn import bounds
    >>> bounds.schedule(10_000, "n^-1/4")
    0.1
    """
    return resolve_schedule(check_choice(rate, "rate", tuple(SCHEDULES)), check_samples(n))


def excess_risk_bound(constant, *, n, norm, alpha="n^-1/2", kernel_bound=1.0, delta=0.05) -> ExcessRiskBound:
    """Bound the excess risk of the loss trick (Ciliberto et al. 2016, lemma 18 and theorem 5).

    Parameters
    ----------
    constant : ComparisonConstant
        The constant of the output loss.
    n : int
        Number of samples.
    norm : float
        Norm of the best function of the surrogate, in the features of the constant. It is a property of the true
        distribution.
    alpha : float or str, default="n^-1/2"
        Regularisation, or the name of a schedule.
    kernel_bound : float, default=1.0
        Bound on ``k(x, x)``, kappa^2 in the paper.
    delta : float, default=0.05
        Probability that the bound fails, in (0, 1).

    Returns
    -------
    bound : ExcessRiskBound
        The bound with its parts.

    References
    ----------
    - Ciliberto, C., Rosasco, L. and Rudi, A. (2016). A consistent regularization approach for structured prediction.
      NIPS.

    Examples
    --------
    >>> from hilbertlearn import bounds
    >>> constant = bounds.comparison_constant("hellinger")
    >>> few, many = (bounds.excess_risk_bound(constant, n=n, norm=1.0).value for n in (1000, 100_000))
    >>> few > many
    True
    """
    if not isinstance(constant, ComparisonConstant):
        raise TypeError(f"constant must be that of comparison_constant(output_loss), got {constant!r}")
    n, delta = check_samples(n), check_delta(delta)
    alpha = float(resolve_schedule(check_alpha(alpha, automatic=False), n))
    G, kappa = float(check_number(norm, "norm", strict=False)), np.sqrt(check_number(kernel_bound, "kernel_bound"))
    if alpha > kappa**2:
        raise ValueError(f"alpha must be at most kernel_bound, {kappa**2:g}, for this bound, got {alpha:g}; lower it")
    c, Q = constant.value, constant.target_bound
    draws = 1 + np.sqrt(4 * kappa**2 / (alpha * np.sqrt(n)))
    estimation = 8 * kappa * c * (Q + kappa * G) / np.sqrt(alpha * n) * draws * np.log(8 / delta) ** 2
    approximation = 2 * c * np.sqrt(alpha) * G
    return ExcessRiskBound(
        value=float(estimation + approximation),
        estimation=float(estimation),
        approximation=float(approximation),
        n=n,
        alpha=alpha,
        norm=G,
        kernel_bound=float(kappa**2),
        delta=delta,
        constant=constant,
    )


def excess_risk_bound_from_estimator(
    estimator, X, y, *, norm, constant=None, kernel_bound=None, delta=0.05, sharp=False
) -> ExcessRiskBound:
    """Bound the excess risk of a fitted ``StructuredPredictor(output_loss=...)`` from its training samples.

    Parameters
    ----------
    estimator : StructuredPredictor
        Fitted, with an output loss and without an output kernel.
    X : array of shape (n, p)
        Training inputs.
    y : sequence of length n
        Training outputs.
    norm : float
        Norm of the best function of the surrogate; it cannot be computed from samples.
    constant : ComparisonConstant, default=None
        The constant of the output loss; None for that of the estimator's loss on its training outputs.
    kernel_bound : float, default=None
        Bound on ``k(x, x)``; None for the largest of the samples.
    delta : float, default=0.05
        Probability that the bound fails, in (0, 1).
    sharp : bool, default=False
        Whether the default `constant` is the smaller one, as in ``comparison_constant``.

    Returns
    -------
    bound : ExcessRiskBound
        The bound with its parts.

    References
    ----------
    - Ciliberto, C., Rosasco, L. and Rudi, A. (2016). A consistent regularization approach for structured prediction.
      NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import StructuredPredictor, bounds
    >>> X, labels = np.linspace(0, 1, 40)[:, None], ["a"] * 20 + ["b"] * 20
    >>> model = StructuredPredictor("rbf", gamma=10.0, alpha=0.1, output_loss="zero_one").fit(X, labels)
    >>> bounds.excess_risk_bound_from_estimator(model, X, labels, norm=1.0).n
    40
    """
    delta, fitted = check_delta(delta), FittedModel.from_estimator(estimator, X, y)
    model = fitted.model
    if not isinstance(model, StructuredPredictor) or model.output_kernel_ is not None:
        raise ValueError(
            "estimator: this bound is for the loss trick, StructuredPredictor(output_loss=...) without output_kernel"
        )
    notes = fitted.list_assumptions(kernel_bound=kernel_bound)
    if constant is None:
        constant = comparison_constant(model.output_loss_, model.outputs_, sharp=sharp)
        notes = (*notes, "outputs are those of the samples")
    bound = fitted.kernel_bound(kernel_bound)
    result = excess_risk_bound(
        constant, n=fitted.n, norm=norm, alpha=fitted.state.alpha, kernel_bound=bound, delta=delta
    )
    return replace(result, assumptions=notes)
