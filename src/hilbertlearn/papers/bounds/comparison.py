"""From the risk of the surrogate to that of the output loss (Ciliberto et al. 2016, theorems 2 and 12).

With ``Delta(z, y) = <psi(z), V psi(y)>`` and d the decoder, ``d(g) = argmin_z <psi(z), V g>``,

    E(d o g) - E(f*) <= 2 c_Delta sqrt(R(g) - R(g*))        c_Delta = ||V|| max_y ||psi(y)||

where ``R(g) = E ||g(x) - psi(y)||^2``, without a half. ``bilinear_forms`` has the parts of each loss.

The features are, with s free,

    psi(y) = (phi(y), u(y) / (s t), s / t)        t^2 = ||T||        V = (T, t^2 [[0, 1], [1, 0]])

so that ``||V|| = ||T||`` and, with the best s, ``max ||psi||^2 = max ||phi||^2 + 2 max |u| / ||T||``; where u and v
differ both are features, and |u| becomes ``sqrt(u^2 + v^2)``.

``sharp=True`` applies the theorem to ``Delta(z, y) - v(y)``: terms that depend on the truth alone change neither the
decoder nor the excess risk. The proof needs the largest norm of the features of predictions, and these may differ from
the features of truths: ``(phi(z), u(z) / (s t))`` and ``(phi(y), s / t)``, with u less the middle of its range. For a
constant minus a kernel only the kernel remains.

Any loss on a finite list has unit vectors as features and its matrix as V. With ``sharp=True`` the features of z are
row z of that matrix, minus a row that all have in common, and V is the identity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._utils.validation import check_number
from ...data.objects import distinct, take
from ...output_losses import OutputLoss, as_output_loss
from .bilinear_forms import BilinearForm, bilinear_form
from .results import BoundResult


@dataclass(frozen=True, repr=False)
class ComparisonConstant(BoundResult):
    """The constant c_Delta of an output loss, with its form.

    Attributes
    ----------
    value : float
        The constant, ``operator_norm * feature_bound``.
    operator_norm : float
        Norm of the bilinear form V.
    feature_bound : float
        Largest norm of the features of predictions.
    target_bound : float
        Largest norm of the features of truths, Q in the paper.
    features : str
        Description of the features.
    loss : str
        The output loss.
    sharp : bool
        Whether this is the smaller constant.

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

    value: float
    operator_norm: float
    feature_bound: float
    target_bound: float
    features: str
    loss: str
    sharp: bool = False


def comparison_constant(output_loss, outputs=None, *, interval=None, finite=False, sharp=False) -> ComparisonConstant:
    """Compute the constant c_Delta of an output loss (Ciliberto et al. 2016, theorem 2).

    Parameters
    ----------
    output_loss : str, OutputLoss or callable
        Name or object of ``hilbertlearn.output_losses``, or a function (Z, Y) -> matrix of losses.
    outputs : sequence, default=None
        All possible outputs and predictions. Needed by losses whose constant depends on them: kernels that are not
        normalised, histograms with ordered bins, ratings, squared errors of vectors. A loss without a bilinear form
        here (edit distance, costs, functions) is taken on this finite list.
    interval : tuple (low, high), default=None
        Range of outputs that are numbers; None for the range of `outputs`.
    finite : bool, default=False
        Whether the features are the unit vectors of `outputs`, for any loss. ``StructuredPredictor(output_loss=...)``
        regresses on these features.
    sharp : bool, default=False
        Whether to compute the smaller constant of the module's docstring. False is theorem 2, with the same features
        for predictions and truths.

    Returns
    -------
    constant : ComparisonConstant
        The constant with its form.

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
    checked = None if outputs is None else loss.check(outputs)
    form = None if finite else bilinear_form(loss, checked, interval)
    name = type(loss).__name__ if len(str(loss)) > 80 else str(loss)
    if form is not None:
        return _constant_from_form(form, name, sharp)
    return _constant_from_matrix(_matrix(loss, checked), name, sharp)


def comparison_bound(constant, excess) -> float:
    """Bound the excess risk of decoded predictions by that of the surrogate, ``2 c_Delta sqrt(excess)``.

    Parameters
    ----------
    constant : ComparisonConstant or float
        The constant of the output loss, or its value.
    excess : float
        Excess risk of the surrogate ``R(g) - R(g*)`` in the features of the constant, not negative.

    Returns
    -------
    bound : float
        Upper bound on the excess risk.

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


def _constant_from_form(form: BilinearForm, name, sharp):
    norm = form.norm
    if sharp:
        square = targets = form.square + (form.half_range / norm if norm else 0.0)
    else:
        features = 2 * form.square if form.asymmetric else form.square
        square = targets = features + (2 * form.largest_offset / norm if norm else 0.0)
    return ComparisonConstant(
        value=norm * float(np.sqrt(square)),
        operator_norm=norm,
        feature_bound=float(np.sqrt(square)),
        target_bound=float(np.sqrt(targets)),
        features=form.features,
        loss=name,
        sharp=bool(sharp),
    )


def _matrix(loss: OutputLoss, outputs):
    """Losses (p, c) on a finite list of outputs; None for all outputs of the loss, if they are finitely many."""
    if outputs is None:
        outputs = loss.all_outputs(None)
        if outputs is None:
            raise ValueError(
                f"output_loss={loss!r} needs the possible outputs for a constant; give outputs=, a list of them"
            )
    outputs = take(outputs, distinct(outputs)[0])
    return np.asarray(loss(loss.all_outputs(outputs), outputs), dtype=float)


def _constant_from_matrix(D, name, sharp):
    if sharp:
        rows = D - (D.min(axis=0) + D.max(axis=0)) / 2
        norm, bound = 1.0, float(np.linalg.norm(rows, axis=1).max())
    else:
        norm, bound = float(np.linalg.norm(D, 2)), 1.0
    features = "rows of the losses" if sharp else "unit vectors"
    return ComparisonConstant(norm * bound, norm, bound, 1.0, features, name, bool(sharp))
