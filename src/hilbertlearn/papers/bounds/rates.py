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
from ...training import SCHEDULES, check_alpha, scheduled
from .comparison import ComparisonConstant, comparison_constant
from .fitted import Fitted
from .report import Report, check_delta, check_samples


@dataclass(frozen=True, repr=False)
class ExcessRiskBound(Report):
    """A bound on the excess risk that holds with probability 1 - delta.

    Attributes
    ----------
    value : estimation + approximation
    estimation : the part that falls with n and alpha
    approximation : the part that grows with alpha
    n, alpha, norm, kernel_bound, delta : what it was computed from
    constant : ComparisonConstant of the output loss
    assumed : what was taken from the samples where the theorem wants it fixed

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

    value: float  # estimation + approximation
    estimation: float  # falls with n and alpha
    approximation: float  # grows with alpha
    n: int
    alpha: float
    norm: float  # of the best function g*
    kernel_bound: float
    delta: float
    constant: ComparisonConstant
    assumed: tuple[str, ...] = ()


def schedule(n, rate="n^-1/2") -> float:
    """alpha for n samples: "n^-1/2" of theorem 5, or "n^-1/4", universally consistent by theorem 4.

    Estimators take the names themselves, ``StructuredPredictor(alpha="n^-1/2")``, n being the samples given to fit.

    Parameters
    ----------
    n : number of samples
    rate : "n^-1/2" or "n^-1/4"

    Returns
    -------
    float

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
    return scheduled(check_choice(rate, "rate", tuple(SCHEDULES)), check_samples(n))


def excess_risk_bound(constant, *, n, norm, alpha="n^-1/2", kernel_bound=1.0, delta=0.05) -> ExcessRiskBound:
    """Bound on the excess risk of the loss trick (Ciliberto et al. 2016, lemma 18 and theorem 5).

    Parameters
    ----------
    constant : ComparisonConstant of the output loss
    n : number of samples
    norm : of the best function of the surrogate, in the constant's features; a property of what is to be learnt
    alpha : regularisation, a number or a schedule
    kernel_bound : bound on ``k(x, x)``, kappa^2
    delta : probability that the bound fails, in (0, 1)

    Returns
    -------
    ExcessRiskBound

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
    alpha = float(scheduled(check_alpha(alpha, automatic=False), n))
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


def excess_risk_bound_of(
    estimator, X, y, *, norm, constant=None, kernel_bound=None, delta=0.05, sharp=False
) -> ExcessRiskBound:
    """Bound on the excess risk of a fitted ``StructuredPredictor(output_loss=...)``, from its training samples.

    Parameters
    ----------
    estimator : fitted, with an output loss and no output kernel
    X, y : the training samples
    norm : of the best function of the surrogate, which samples do not tell
    constant : ComparisonConstant; None for that of the estimator's loss on its training outputs
    kernel_bound : bound on ``k(x, x)``; None for the largest of the samples
    delta : probability that the bound fails, in (0, 1)
    sharp : as for ``comparison_constant``

    Returns
    -------
    ExcessRiskBound

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
    >>> bounds.excess_risk_bound_of(model, X, labels, norm=1.0).n
    40
    """
    delta, fitted = check_delta(delta), Fitted.of(estimator, X, y)
    model = fitted.model
    if not isinstance(model, StructuredPredictor) or model.output_kernel_ is not None:
        raise ValueError(
            "estimator: this bound is for the loss trick, StructuredPredictor(output_loss=...) without output_kernel"
        )
    notes = fitted.assumed(kernel_bound=kernel_bound)
    if constant is None:
        constant = comparison_constant(model.output_loss_, model.outputs_, sharp=sharp)
        notes = (*notes, "outputs are those of the samples")
    bound = fitted.kernel_bound(kernel_bound)
    found = excess_risk_bound(
        constant, n=fitted.n, norm=norm, alpha=fitted.state.alpha, kernel_bound=bound, delta=delta
    )
    return replace(found, assumed=notes)
