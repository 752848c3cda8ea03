"""Combination of several scores of a pair into the log odds of a link.

The weights are learnt by logistic regression from pairs whose links were hidden (see ``folds``). Scores enter as
logarithms: similarities of nodes are skewed, most pairs have nearly none and few have very much. The weights are not
negative, so that no score counts against a link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize
import scipy.special

# Strength of the penalty towards the prior, in pairs: twice the value needs twice as many pairs for the same weights.
_PRIOR_STRENGTH = 10.0
_CONSTANT = 1e-12  # standard deviation, relative to the mean, below which a score is constant
_TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Combination:
    """The log odds ``constant + sum_t weight_t sign(s_t) log(1 + |s_t| / size_t)`` of scores s_t."""

    names: tuple[str, ...]
    sizes: np.ndarray  # (t,) mean absolute values
    weights: np.ndarray  # (t,) at least 0
    constant: float

    @property
    def used(self) -> tuple[str, ...]:
        """Names of the scores with a positive weight, the first name if there is none."""
        positive = tuple(name for name, weight in zip(self.names, self.weights, strict=True) if weight > 0)
        return positive or self.names[:1]

    def weights_by_name(self):
        """Dictionary of the weights."""
        return dict(zip(self.names, self.weights.tolist(), strict=True))

    def __call__(self, scores):
        """Log odds of pairs, from a mapping of names to scores, arrays of one shape."""
        total: Any = None
        used = self.used
        for name, size, weight in zip(self.names, self.sizes, self.weights, strict=True):
            if name in used:
                summand = _compress(scores[name], size)
                summand *= weight
                total = summand if total is None else np.add(total, summand, out=total)
        return np.add(total, self.constant, out=total)


def learn_combination(scores, linked, weights, prior) -> Combination:
    """Logistic regression with non-negative weights, regularised towards a prior.

    Parameters
    ----------
    scores : mapping of names to scores (m,) of hidden pairs
    linked : (m,) whether they are linked
    weights : (m,) number of pairs that each represents
    prior : mapping of names to weights, for scores with variance 1; the result if there are no pairs

    Returns
    -------
    Combination
    """
    names = tuple(scores)
    prior_weights = np.array([prior.get(name, 0.0) for name in names])
    if not len(linked):
        return Combination(names, np.ones(len(names)), prior_weights, 0.0)
    share = weights / weights.sum()
    sizes = np.array([max(share @ np.abs(scores[name]), _TINY) for name in names])
    Z = np.stack([_compress(scores[name], size) for name, size in zip(names, sizes, strict=True)], axis=1)
    means = share @ Z
    deviations = np.sqrt(share @ (Z - means) ** 2)
    deviations[deviations < _CONSTANT * np.maximum(np.abs(means), _CONSTANT)] = np.inf  # constant scores get weight 0
    Z = (Z - means) / deviations
    links = weights @ linked
    start = np.append(prior_weights, np.log((links + 0.5) / (weights.sum() - links + 0.5)))

    def objective(parameters):
        beta, constant = parameters[:-1], parameters[-1]
        odds, difference = Z @ beta + constant, beta - prior_weights
        value = weights @ (np.logaddexp(0.0, odds) - linked * odds) + _PRIOR_STRENGTH / 2 * difference @ difference
        residuals = weights * (scipy.special.expit(odds) - linked)
        return value, np.append(Z.T @ residuals + _PRIOR_STRENGTH * difference, residuals.sum())

    bounds = [(0.0, None)] * len(names) + [(None, None)]
    optimum = scipy.optimize.minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    slopes = optimum[:-1] / deviations
    return Combination(names, sizes, slopes, float(optimum[-1] - means @ slopes))


def _compress(scores, size):
    """``sign(s) log(1 + |s| / size)`` as a new array."""
    out = np.abs(scores)
    out /= size
    np.log1p(out, out=out)
    return np.copysign(out, scores, out=out)
