"""Losses between two outputs; predictions minimise their weighted sum over the training outputs.

Decisions
---------
- A loss computes the matrix of losses of two lists of outputs. ``check`` turns outputs into a canonical form once;
  the loss and its decoder work on canonical outputs only, and ``restore`` converts them back.
- A loss names its decoder (``decoder``). Losses without one decode over candidates.
- Squares are whole here (``SquaredError``) and half in `losses`, as in the papers.
- A sum of losses keeps outputs as users give them, because its parts may have different canonical forms.
- Costs of classes (``CostMatrix``, ``Hierarchy``) are decoded over all labels, seen in training or not.
"""

from __future__ import annotations

from .._utils.validation import check_choice
from .base import LossMultiple, LossSum, OutputLoss
from .costs import CostMatrix, Hierarchy
from .directions import Diffusion
from .histograms import Chi2, Hellinger, Wasserstein1d
from .margins import Hinge, Logistic
from .objects import CustomLoss, Edit, KernelLoss, ZeroOne
from .rankings import Kendall, Rank, Spearman
from .robust import L2L1, Cauchy, Fair, GemanMcClure
from .scalars import Absolute, EpsilonAbsolute, Huber, Pinball, SquaredError
from .sets import F1, Hamming, Jaccard

__all__ = [
    "Absolute",
    "Cauchy",
    "Chi2",
    "CostMatrix",
    "CustomLoss",
    "Diffusion",
    "Edit",
    "EpsilonAbsolute",
    "F1",
    "Fair",
    "GemanMcClure",
    "Hamming",
    "Hellinger",
    "Hierarchy",
    "Hinge",
    "Huber",
    "Jaccard",
    "Kendall",
    "KernelLoss",
    "L2L1",
    "Logistic",
    "LossMultiple",
    "LossSum",
    "OutputLoss",
    "Pinball",
    "Rank",
    "Spearman",
    "SquaredError",
    "Wasserstein1d",
    "ZeroOne",
]


_NAMES = {
    "zero_one": ZeroOne,
    "hamming": Hamming,
    "f1": F1,
    "jaccard": Jaccard,
    "rank": Rank,
    "kendall": Kendall,
    "spearman": Spearman,
    "hellinger": Hellinger,
    "chi2": Chi2,
    "wasserstein1d": Wasserstein1d,
    "squared_error": SquaredError,
    "absolute": Absolute,
    "huber": Huber,
    "cauchy": Cauchy,
    "geman_mcclure": GemanMcClure,
    "fair": Fair,
    "l2_l1": L2L1,
    "hinge": Hinge,
    "logistic": Logistic,
    "pinball": Pinball,
    "epsilon_absolute": EpsilonAbsolute,
    "edit": Edit,
    "diffusion": Diffusion,
    # names of two losses in `losses`
    "squared": SquaredError,
    "epsilon_insensitive": EpsilonAbsolute,
}


def as_output_loss(loss) -> OutputLoss:
    """Return the loss of a name, a loss object itself, or a ``CustomLoss`` of a callable ``(Z, Y) -> matrix``."""
    if isinstance(loss, str):
        others = ", an object such as CostMatrix(C) or KernelLoss(kernel), or a callable (Z, Y) -> matrix"
        return _NAMES[check_choice(loss, "output_loss", tuple(_NAMES), others)]()
    if isinstance(loss, OutputLoss):
        return loss
    if isinstance(loss, type) or not callable(loss):
        raise TypeError(
            f"output_loss must be a name, an object of output_losses or a callable (Z, Y) -> matrix, got {loss!r}"
        )
    return CustomLoss(loss)
