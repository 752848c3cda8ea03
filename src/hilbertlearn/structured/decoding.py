"""From weights of the distinct training outputs to outputs, by what an estimator knows of them."""

from __future__ import annotations

import numpy as np

from .. import decoders
from ..data.objects import take
from .state import gaussian_rate


def decoding(rules):
    """The function of weights (m, c) of the distinct training outputs that gives outputs, not yet in their form."""
    if rules.decoder == "candidates":
        losses = rules.losses_of(rules.outputs)[0].T
        return lambda weights: take(rules.outputs, np.argmin(weights @ losses, axis=1))
    if rules.decoder == "gaussian":
        rate = gaussian_rate(rules.loss, rules.kernel)
        return lambda weights: decoders.gaussian.preimage(weights, rules.references, rate)
    if not isinstance(rules.decoder, str):
        return lambda weights: decoders.custom.decode(rules.decoder, weights, rules.outputs, rules.measure)
    decode = decoders.DECODERS[rules.decoder]
    return lambda weights: rules.loss.restore(decode(weights, rules.references, rules.loss), rules.outputs)


def is_discrete(rules):
    """Whether decoded outputs are values that outputs have, so that integers stay integers."""
    if rules.decoder == "gaussian":
        return False
    return not isinstance(rules.decoder, str) or rules.decoder == "candidates" or rules.loss.discrete
