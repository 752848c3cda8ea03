"""Decoders that only tests call: the general searches, for the weights and the loss of the others."""

from hilbertlearn.decoders.candidates import best_outputs
from hilbertlearn.decoders.gaussian import preimage
from hilbertlearn.outputs import take


def decode(W, Y, loss):
    """Of the outputs Y (n,) themselves, those that minimise ``sum_i W[q, i] loss(z, Y[i])``, for all m queries."""
    return take(Y, best_outputs(-W, Y, loss))


def decode_gaussian(W, Y, loss):
    """Vectors (m, d) that minimise ``sum_i W[q, i] loss(z, Y[i])``, loss = `KernelLoss` of the "rbf" kernel."""
    if getattr(loss, "kernel", None) != "rbf":
        raise ValueError(f"decoder 'gaussian' needs output_loss=KernelLoss('rbf'), got {loss!r}; use 'candidates'")
    return preimage(W, Y, loss.gamma)
