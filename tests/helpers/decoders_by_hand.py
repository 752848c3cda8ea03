"""Decoders that only tests call: general searches and plain versions, for the weights and the loss of the others."""

from itertools import product

import numpy as np

from hilbertlearn.data.objects import take
from hilbertlearn.decoders.candidates import best_outputs
from hilbertlearn.decoders.gaussian import find_preimage


def decode(W, Y, loss):
    """Of the outputs Y (n,) themselves, those that minimise ``sum_i W[q, i] loss(z, Y[i])``, for all m queries."""
    return take(Y, best_outputs(-W, Y, loss))


def decode_gaussian(W, Y, loss):
    """Vectors (m, d) that minimise ``sum_i W[q, i] loss(z, Y[i])``, loss = `KernelLoss` of the "rbf" kernel."""
    if getattr(loss, "kernel", None) != "rbf":
        raise ValueError(f"decoder 'gaussian' needs output_loss=KernelLoss('rbf'), got {loss!r}; use 'candidates'")
    return find_preimage(W, Y, loss.gamma)


def f1_sets_of_every_size(W, Y):
    """Sets (m, labels) for the F1 loss: of the best set of each size, from 0 to all labels, the best."""
    sizes = Y.sum(axis=1)
    best, sets = W[:, sizes == 0].sum(axis=1), np.zeros((len(W), Y.shape[1]))
    for s in range(1, Y.shape[1] + 1):
        gains = W @ (2 * Y / (s + sizes)[:, None])
        labels = np.argsort(-gains, axis=1)[:, :s]
        value = np.take_along_axis(gains, labels, axis=1).sum(axis=1)
        better = value > best
        best[better], sets[better] = value[better], 0.0
        sets[np.flatnonzero(better)[:, None], labels[better]] = 1.0
    return sets


def signed_weights(rng, m, n):
    """Rows (m, n) of weights: positive, of both signs, all negative, and zero."""
    W = rng.normal(size=(m, n))
    W[::3] = np.abs(W[::3])
    W[1::6] = -np.abs(W[1::6])
    W[-1] = 0
    return W


def subsets(labels):
    return np.array(list(product([0.0, 1.0], repeat=labels)))
