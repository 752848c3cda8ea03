"""Margin problems of random outputs."""

import numpy as np

from hilbertlearn.core.problem import Problem
from hilbertlearn.core.terms import SeparableTerm
from hilbertlearn.losses import Hinge


def margin_problem(n, alpha, *, n_features=5, d=4, gamma=0.1, weights=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    Y = np.sin(X @ rng.normal(size=(n_features, d))) + 0.3 * rng.normal(size=(n, d))
    K = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=-1))
    if weights is None:
        return Problem((SeparableTerm(K),), Y, Hinge(), alpha * n).margin_problem()
    root = np.sqrt(weights)
    term = SeparableTerm(K).scaled(root)
    return Problem((term,), Y * root[:, None], Hinge(), alpha * weights.sum(), None, root).margin_problem()
