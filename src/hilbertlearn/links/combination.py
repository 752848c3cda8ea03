"""Several scores of a pair made one: the log odds of a link, learnt from pairs whose links were held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize
import scipy.special

_STRENGTH = 10.0  # of the penalty, in held-out pairs
_TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Combination:
    """``constant + sum_t weight_t sign(s_t) log(1 + |s_t| / size_t)`` of scores s_t; none counts against a link.

    Logarithms, because similarities of nodes are skewed: most pairs have hardly any, and few have very much.
    """

    names: tuple[str, ...]
    sizes: np.ndarray  # (t,)
    weights: np.ndarray  # (t,) not negative
    constant: float

    @property
    def used(self) -> tuple[str, ...]:
        """Names of the scores that are looked at: those that count, or one if none does."""
        return (
            tuple(name for name, weight in zip(self.names, self.weights, strict=True) if weight > 0) or self.names[:1]
        )

    def by_name(self):
        """The weights."""
        return dict(zip(self.names, self.weights.tolist(), strict=True))

    def __call__(self, scores):
        """The log odds of pairs, from a function or mapping of names to scores, arrays of one shape."""
        total: Any = None
        used = self.used
        for name, size, weight in zip(self.names, self.sizes, self.weights, strict=True):
            if name in used:
                part = _compressed(scores[name], size)
                part *= weight
                total = part if total is None else np.add(total, part, out=total)
        return np.add(total, self.constant, out=total)


def learn_combination(scores, linked, weights, prior) -> Combination:
    """Logistic regression with weights that are not negative, drawn to a prior where pairs are few.

    Parameters
    ----------
    scores : mapping of names to scores (m,) of pairs that were held out
    linked : (m,) whether they are linked
    weights : (m,) how many pairs each stands for
    prior : mapping of names to the weights, of scores with variance 1, that hold when nothing is known
    """
    names = tuple(scores)
    centre = np.array([prior.get(name, 0.0) for name in names])
    if not len(linked):
        return Combination(names, np.ones(len(names)), centre, 0.0)
    share = weights / weights.sum()
    sizes = np.array([max(share @ np.abs(scores[name]), _TINY) for name in names])
    Z = np.stack([_compressed(scores[name], size) for name, size in zip(names, sizes, strict=True)], axis=1)
    means = share @ Z
    spreads = np.sqrt(share @ (Z - means) ** 2)
    spreads[spreads < 1e-12 * np.maximum(np.abs(means), 1e-12)] = np.inf  # a score that says nothing
    Z = (Z - means) / spreads
    links = weights @ linked
    start = np.append(centre, np.log((links + 0.5) / (weights.sum() - links + 0.5)))

    def objective(parameters):
        beta, constant = parameters[:-1], parameters[-1]
        odds, away = Z @ beta + constant, beta - centre
        value = weights @ (np.logaddexp(0.0, odds) - linked * odds) + _STRENGTH / 2 * away @ away
        residuals = weights * (scipy.special.expit(odds) - linked)
        return value, np.append(Z.T @ residuals + _STRENGTH * away, residuals.sum())

    bounds = [(0.0, None)] * len(names) + [(None, None)]
    found = scipy.optimize.minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    slopes = found[:-1] / spreads
    return Combination(names, sizes, slopes, float(found[-1] - means @ slopes))


def _compressed(scores, size):
    """``sign(s) log(1 + |s| / size)``, an array of its own."""
    out = np.abs(scores)
    out /= size
    np.log1p(out, out=out)
    return np.copysign(out, scores, out=out)
