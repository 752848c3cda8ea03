"""From the risk of the surrogate to that of the output loss (Ciliberto et al. 2016, theorems 2 and 12).

With ``Delta(z, y) = <psi(z), V psi(y)>`` and d the decoder, ``d(g) = argmin_z <psi(z), V g>``,

    E(d o g) - E(f*) <= 2 c_Delta sqrt(R(g) - R(g*))        c_Delta = ||V|| max_y ||psi(y)||

where ``R(g) = E ||g(x) - psi(y)||^2``, without a half. ``representations`` has the parts of each loss.

The features are, with s free,

    psi(y) = (phi(y), u(y) / (s t), s / t)        t^2 = ||T||        V = (T, t^2 [[0, 1], [1, 0]])

so that ``||V|| = ||T||`` and, with the best s, ``max ||psi||^2 = max ||phi||^2 + 2 max |u| / ||T||``; where u and v
differ both are features, and |u| becomes ``sqrt(u^2 + v^2)``.

``sharp=True`` applies the theorem to ``Delta(z, y) - v(y)``: neither the decoder nor the excess risk sees what depends
on the truth alone. The proof takes the largest norm of predictions' features, and these need not be those of truths:
``(phi(z), u(z) / (s t))`` and ``(phi(y), s / t)``, u around the middle of its range. For a constant less a kernel only
the kernel is left.

Any loss on a finite list has unit vectors as features and its own matrix as V. Sharp: the features of z are row z of
that matrix, less a row that all have in common, and V is the identity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._utils.validation import check_number
from ...data.objects import distinct, take
from ...output_losses import OutputLoss, as_output_loss
from .report import Report
from .representations import Bilinear, bilinear


@dataclass(frozen=True, repr=False)
class ComparisonConstant(Report):
    """c_Delta of an output loss, and what it is made of.

    Attributes
    ----------
    value : operator_norm times feature_bound
    operator_norm : norm of the bilinear form that the loss is
    feature_bound, target_bound : largest norms of the features of predictions and of truths
    features, loss : what they are, in words
    sharp : whether the smaller constant was asked for

    References
    ----------
    - Ciliberto, C., Rosasco, L. and Rudi, A. (2016). A consistent regularization approach for structured prediction.
      NIPS.

    Examples
    --------
    >>> from hilbertlearn import bounds
    >>> constant = bounds.comparison_constant("hellinger")
    >>> round(constant.operator_norm * constant.feature_bound, 3), round(constant.value, 3)
    (2.0, 2.0)
    """

    value: float  # operator_norm times feature_bound
    operator_norm: float  # ||V||
    feature_bound: float  # largest norm of a prediction's features
    target_bound: float  # and of a truth's: Q of the paper, where the two are the same
    features: str
    loss: str
    sharp: bool = False


def comparison_constant(output_loss, outputs=None, *, interval=None, finite=False, sharp=False) -> ComparisonConstant:
    """c_Delta of an output loss (Ciliberto et al. 2016, theorem 2).

    Parameters
    ----------
    output_loss : name, object of ``hilbertlearn.output_losses``, or a callable (Z, Y) -> matrix
    outputs : all that outputs and predictions may be, for losses that depend on it: kernels that are not normalised,
        histograms with ordered bins, ratings, squared errors of vectors; losses without a representation of their own
        (edit distance, costs, callables) are taken on this finite list
    interval : (low, high) of numbers, for losses of numbers; those of `outputs` if None
    finite : whether to take unit vectors of `outputs` as features, whatever the loss; these are the features that
        ``StructuredPredictor(output_loss=...)`` regresses on
    sharp : a smaller constant, see the module; False is theorem 2 with one feature map for predictions and truths

    Returns
    -------
    ComparisonConstant

    References
    ----------
    - Ciliberto, C., Rosasco, L. and Rudi, A. (2016). A consistent regularization approach for structured prediction.
      NIPS.

    Examples
    --------
    >>> from hilbertlearn import bounds
    >>> round(bounds.comparison_constant("hellinger").value, 3)
    2.0
    >>> round(bounds.comparison_constant("zero_one", list("abcd"), finite=True).value, 9)
    3.0
    """
    loss = as_output_loss(output_loss)
    if outputs is not None:
        loss = loss.resolve(outputs)
    given = None if outputs is None else loss.check(outputs)
    found = None if finite else bilinear(loss, given, interval)
    name = type(loss).__name__ if len(str(loss)) > 80 else str(loss)
    if found is not None:
        return _from_features(found, name, sharp)
    return _from_matrix(_matrix(loss, given), name, sharp)


def comparison_bound(constant, excess) -> float:
    """Bound on the excess risk of decoded predictions from that of the surrogate, ``2 c_Delta sqrt(excess)``.

    Parameters
    ----------
    constant : ComparisonConstant, or its value
    excess : ``R(g) - R(g*)`` in the constant's features, a number >= 0

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
    >>> round(bounds.comparison_bound(bounds.comparison_constant("hellinger"), 0.01), 3)
    0.4
    """
    c = constant.value if isinstance(constant, ComparisonConstant) else check_number(constant, "constant", strict=False)
    return float(2 * c * np.sqrt(check_number(excess, "excess", strict=False)))


def _from_features(parts: Bilinear, name, sharp):
    norm = parts.norm
    if sharp:
        square = targets = parts.square + (parts.half_range / norm if norm else 0.0)
    else:
        own = 2 * parts.square if parts.apart else parts.square
        square = targets = own + (2 * parts.largest_offset / norm if norm else 0.0)
    return ComparisonConstant(
        value=norm * float(np.sqrt(square)),
        operator_norm=norm,
        feature_bound=float(np.sqrt(square)),
        target_bound=float(np.sqrt(targets)),
        features=parts.features,
        loss=name,
        sharp=bool(sharp),
    )


def _matrix(loss: OutputLoss, given):
    """Losses (p, c) on a finite list of outputs."""
    if given is None:
        every = loss.all_outputs(None)
        if every is None:
            raise ValueError(
                f"output_loss={loss!r} has no constant without the outputs there may be; give outputs=, a list of them"
            )
        given = every
    given = take(given, distinct(given)[0])
    return np.asarray(loss(loss.all_outputs(given), given), dtype=float)


def _from_matrix(D, name, sharp):
    if sharp:
        rows = D - (D.min(axis=0) + D.max(axis=0)) / 2
        norm, bound = 1.0, float(np.linalg.norm(rows, axis=1).max())
    else:
        norm, bound = float(np.linalg.norm(D, 2)), 1.0
    features = "rows of the losses" if sharp else "unit vectors"
    return ComparisonConstant(norm * bound, norm, bound, 1.0, features, name, bool(sharp))
