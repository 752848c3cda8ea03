"""Decoding of weights of the distinct training outputs."""

from __future__ import annotations

import numpy as np

from .. import decoders
from ..data.objects import take
from .state import gaussian_rate


def make_decoder(rules):
    """The function of weights (m, c) of the distinct training outputs that gives m outputs, before ``restore_form``."""
    if rules.decoder == "candidates":
        losses = rules.loss_features(rules.outputs)[0].T
        return lambda weights: take(rules.outputs, np.argmin(weights @ losses, axis=1))
    if rules.decoder == "gaussian":
        rate = gaussian_rate(rules.loss, rules.kernel)
        return lambda weights: decoders.gaussian.find_preimage(weights, rules.references, rate)
    if not isinstance(rules.decoder, str):
        return lambda weights: decoders.custom.decode_custom(
            rules.decoder, weights, rules.outputs, rules.evaluation_loss
        )
    decode = decoders.DECODERS[rules.decoder]
    return lambda weights: rules.loss.restore(decode(weights, rules.references, rules.loss), rules.outputs)


def is_discrete(rules):
    """Whether the decoder returns values of the kind of the training outputs, so that integers stay integers."""
    if rules.decoder == "gaussian":
        return False
    return not isinstance(rules.decoder, str) or rules.decoder == "candidates" or rules.loss.discrete
