"""The convex problem of the weights of scores, and a small network with hidden pairs."""

import cvxpy as cp
import numpy as np

from helpers.by_hand import solve


def standardised(scores, weights):
    """Logarithms of the scores, with mean 0 and variance 1."""
    columns = []
    for values in scores.values():
        size = np.average(abs(values), weights=weights)
        columns.append(np.sign(values) * np.log(1 + abs(values) / size))
    Z = np.stack(columns, axis=1)
    Z = Z - np.average(Z, axis=0, weights=weights)
    return Z / np.sqrt(np.average(Z**2, axis=0, weights=weights))


def optimum(scores, linked, weights, prior):
    """Log odds (m,) and weights of standardised scores by a convex solver."""
    Z, centre = standardised(scores, weights), np.array([prior.get(name, 0.0) for name in scores])
    beta, constant = cp.Variable(Z.shape[1]), cp.Variable()
    odds = Z @ beta + constant
    loss = weights @ (cp.logistic(odds) - cp.multiply(linked, odds)) + 5 * cp.sum_squares(beta - centre)
    solve(loss, [beta >= 0])
    return odds.value, beta.value


N, GAMMA, ALPHA = 23, 6.0, 0.02
RNG = np.random.default_rng(4)
X = RNG.uniform(size=(N, 2))
MASK = np.triu(RNG.random((N, N)) < 0.15, 1)
MASK |= MASK.T
