"""Losses: value, conjugate and prox of the conjugate, on rows of coordinates."""

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
    "Norm",
    "NonCrossingPinball",
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
    """The loss object behind a name or an object, its settings checked."""
    if isinstance(loss, str):
        loss = _NAMES[check_choice(loss, "loss", tuple(_NAMES), ", or an object of losses")]()
    if not isinstance(loss, Loss):
        raise TypeError(f"loss must be a name or an object of hilbertlearn.losses, got {type(loss).__name__}")
    loss.validate()
    return loss
