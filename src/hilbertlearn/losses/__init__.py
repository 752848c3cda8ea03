"""Losses: value, conjugate and prox of the conjugate, on rows of coordinates.

Decisions
---------
- The three functions of a loss act on norms of rows (``by_row``), on single entries (``by_entry``), or on both. An
  infimal convolution needs two losses of the same kind.
- The hinge needs no problem of its own: with ``a_i = b_i z_i`` it is the same dual problem in b, with one column, the
  kernel ``<z_i, K(x_i, x_j) z_j>`` and zero targets.
- The squared loss is half of the square here, and the whole square in `output_losses` (``SquaredError``), as in the
  papers.
- The pinball loss is not symmetric: squared errors select its kernel, folds of the loss itself select alpha.
- Quantiles that do not cross are the loss ``NonCrossingPinball``: residuals of an output must fall along its levels, a
  cone whose polar is added to the dual box. Its prox is isotonic regression and then soft thresholding. Where only the
  order matters (missing outputs, other points), the box is the point zero.
- ``violation`` measures hard constraints, for ``Ball`` and ``NonCrossingPinball``. Solvers move their solution to a
  feasible function (`core.solvers.feasibility`).
"""

from __future__ import annotations

from .._utils.validation import check_choice
from .base import Loss
from .convolution import InfConv
from .margin import Hinge
from .pinball import NonCrossingPinball, Pinball, check_levels
from .pnorm import EpsilonInsensitive, Huber
from .radial import Ball, EpsilonSVR, ExpNorm, LogNorm, Norm, PowerNorm, Squared

__all__ = [
    "Ball",
    "EpsilonInsensitive",
    "EpsilonSVR",
    "ExpNorm",
    "Hinge",
    "Huber",
    "InfConv",
    "LogNorm",
    "Loss",
    "NonCrossingPinball",
    "Norm",
    "Pinball",
    "PowerNorm",
    "Squared",
]


_NAMES = {
    "squared": Squared,
    "huber": Huber,
    "epsilon_insensitive": EpsilonInsensitive,
    "epsilon_svr": EpsilonSVR,
    "hinge": Hinge,
    "norm": Norm,
    "power": PowerNorm,
    "log": LogNorm,
    "exp": ExpNorm,
    "ball": Ball,
    "pinball": Pinball,
}


def as_loss(loss) -> Loss:
    """Return the loss of a name, or the loss object itself; raise an error if a setting is out of range."""
    if isinstance(loss, str):
        loss = _NAMES[check_choice(loss, "loss", tuple(_NAMES), ", or an object of losses")]()
    if not isinstance(loss, Loss):
        raise TypeError(f"loss must be a name or an object of hilbertlearn.losses, got {type(loss).__name__}")
    loss.validate()
    return loss
