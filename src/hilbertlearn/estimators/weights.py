"""Weights of the training samples in kernel ridge regression, solved for when they are asked for."""

from __future__ import annotations

import numpy as np
import scipy.linalg


class WeightPredictor:
    """Weights (m, c) of distinct outputs at points with kernel values G (m, n), by a Cholesky factor of ``DKD + s I``.

    root : (n,) square roots of the sample weights, the diagonal of D
    groups : (n,) the number of each sample's output
    """

    def __init__(self, factor, root, groups, n_outputs):
        self.factor, self.root, self.groups, self.n_outputs = factor, root, groups, n_outputs

    def of_samples(self, G):
        """Weights (m, n) of the samples."""
        return (self.root[:, None] * scipy.linalg.cho_solve((self.factor, True), (G * self.root).T)).T

    def __call__(self, G):
        return sum_by_group(self.of_samples(G), self.groups, self.n_outputs)


def sum_by_group(weights, groups, number):
    """Sums (m, number) of the columns of weights (m, n) that belong to each group."""
    if number == len(groups) and (np.diff(groups) == 1).all():
        return weights  # each column is a group of its own, in order
    out = np.zeros((number, len(weights)))
    np.add.at(out, groups, weights.T)
    return out.T
