"""Losses on labels, on strings, and on objects with a kernel or a custom loss."""

from __future__ import annotations

import numpy as np

from .._utils.validation import check_number
from ..data.objects import distinct
from ..kernels import check_kernel, diagonal, gram
from ..kernels.gram import PRECOMPUTED
from .base import OutputLoss, as_matrix
from .costs import find_positions, sorted_labels


class ZeroOne(OutputLoss):
    """1 where the outputs differ, 0 where they are equal: labels, strings, rows of numbers, sets, hashable objects.

    Parameters
    ----------
    labels : list, default=None
        All possible outputs, seen in training or not; None for the training outputs.

    References
    ----------
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      example 1.

    Examples
    --------
    >>> from hilbertlearn import StructuredPredictor, output_losses
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["cat", "cat", "dog", "dog"]
    >>> model = StructuredPredictor(output_loss=output_losses.ZeroOne(), gamma=1.0, alpha=0.01).fit(X, y)
    >>> list(model.predict([[0.2], [2.8]]))
    ['cat', 'dog']
    """

    decoder = "classes"

    def __init__(self, labels=None):
        self.labels = labels

    def check(self, outputs):
        if isinstance(outputs, np.ndarray) and outputs.dtype.kind == "f" and np.isnan(outputs).any():
            raise ValueError("y has rows with some NaN; give complete rows, or rows of NaN for unknown outputs")
        if self.labels is not None:
            find_positions(outputs, list(self.labels), "the labels of ZeroOne")
        return outputs

    def all_outputs(self, outputs):
        return outputs if self.labels is None else list(self.labels)

    def classes(self, outputs):
        if self.labels is not None:
            return list(self.labels)
        return sorted_labels(outputs) if all(np.isscalar(item) for item in outputs) else None

    def __call__(self, Z, Y):
        items = [outputs + 0.0 if isinstance(outputs, np.ndarray) else outputs for outputs in (Z, Y)]  # -0.0 is 0.0
        _, group = distinct([*items[0], *items[1]])
        return (group[: len(Z), None] != group[len(Z) :]).astype(float)


class KernelLoss(OutputLoss):
    """``k(z, z) - 2 k(z, y) + k(y, y)``, the squared distance in the feature space of a kernel on the outputs.

    This is the loss of kernel dependency estimation. The kernel need not be normalised.

    Parameters
    ----------
    kernel : str, kernel object or callable, default="rbf"
        A name of scikit-learn's ``pairwise_kernels``, an object of ``kernels``, or a callable on two lists of outputs
        that returns a matrix. A precomputed matrix of losses is a ``CostMatrix``.
    gamma : float, default=1.0
        A number > 0, for the named kernels that have one.

    References
    ----------
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      equation 3.
    - Weston, Chapelle, Elisseeff, Schölkopf and Vapnik (2003). Kernel dependency estimation. NIPS 15.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import kernels, output_losses
    >>> output_losses.KernelLoss("linear")(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[25.]])
    >>> output_losses.KernelLoss(kernels.NGrams(2))(["abc"], ["abd", "xyz"]).round(2)
    array([[0.57, 1.71]])
    """

    def __init__(self, kernel="rbf", gamma=1.0):
        self.kernel, self.gamma = kernel, gamma

    def check(self, outputs):
        check_kernel(self.kernel)
        check_number(self.gamma, "gamma")
        if isinstance(self.kernel, str):
            if self.kernel == PRECOMPUTED:
                raise ValueError(
                    "kernel='precomputed' is no kernel of a loss; with losses D = diag(K) - 2 K + diag(K)' between "
                    "numbered outputs, use CostMatrix(D)"
                )
            outputs = as_matrix(
                outputs, f"a matrix of numbers for the kernel {self.kernel!r}; give a kernel on objects"
            )
        return outputs

    def __call__(self, Z, Y):
        cross = gram(self.kernel, Z, Y, gamma=self.gamma)
        z_squares, y_squares = (diagonal(self.kernel, outputs, gamma=self.gamma) for outputs in (Z, Y))
        return np.maximum(z_squares[:, None] - 2 * cross + y_squares, 0.0)


class Edit(OutputLoss):
    """Levenshtein's distance of strings: the least number of characters to insert, delete or replace.

    References
    ----------
    - Levenshtein (1966). Binary codes capable of correcting deletions, insertions, and reversals. Soviet Physics
      Doklady 10.

    Examples
    --------
    >>> from hilbertlearn import output_losses
    >>> output_losses.Edit()(["kitten"], ["kitten", "mitten", "sitting"])
    array([[0., 1., 3.]])
    """

    def check(self, outputs):
        others = [item for item in outputs if not isinstance(item, str)]
        if others:
            raise ValueError(
                f"y must be strings for the edit loss, got {type(others[0]).__name__}; give strings, or a callable "
                "(Z, Y) -> matrix for other sequences"
            )
        return list(outputs)

    def __call__(self, Z, Y):
        lengths = np.array([len(y) for y in Y], dtype=int)
        padded = np.zeros((len(Y), max(lengths, default=0)), dtype=np.uint32)
        for row, y in zip(padded, Y):
            row[: len(y)] = _codes(y)
        return np.array([_edit_distances(_codes(z), padded, lengths) for z in Z], dtype=float).reshape(len(Z), len(Y))


class CustomLoss(OutputLoss):
    """A loss given by a function of two lists of outputs.

    Parameters
    ----------
    function : callable
        ``function(Z, Y)`` returns the losses (len(Z), len(Y)) of predicting each of Z where each of Y is true.

    References
    ----------
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import StructuredPredictor, output_losses
    >>> def hours(Z, Y):  # around the clock
    ...     return np.abs((np.subtract.outer(Z, Y) + 12) % 24 - 12)
    >>> X, y = np.zeros((4, 1)), np.array([22, 23, 1, 0])
    >>> loss = output_losses.CustomLoss(hours)
    >>> StructuredPredictor(output_loss=loss, gamma=1.0, alpha=1e-6).fit(X, y).predict([[0.0]])
    array([23])
    """

    def __init__(self, function):
        self.function = function

    def __call__(self, Z, Y):
        losses = np.asarray(self.function(Z, Y), dtype=float)
        if losses.shape != (len(Z), len(Y)):
            raise ValueError(
                f"output_loss must return a matrix of shape {(len(Z), len(Y))} for so many outputs, got "
                f"{losses.shape}; it is called with two lists of outputs"
            )
        if not np.isfinite(losses).all():
            raise ValueError("output_loss returned NaN or infinity; check the outputs it was given")
        return losses


def _codes(text):
    """Code points of a string."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _edit_distances(z, padded, lengths):
    """Edit distances (n,) of the codes z from the rows of padded, whose lengths are given.

    The rows of Wagner and Fischer's table are computed for all strings at once. Insertions run along a row,
    ``d[j] = min(d[j], d[j - 1] + 1)``, which is a running minimum of ``d[j] - j``.
    """
    columns = np.arange(padded.shape[1] + 1)
    row = np.tile(columns, (len(padded), 1))
    for i, code in enumerate(z, start=1):
        new = row + 1
        np.minimum(new[:, 1:], row[:, :-1] + (padded != code), out=new[:, 1:])
        new[:, 0] = i
        row = np.minimum.accumulate(new - columns, axis=1) + columns
    return row[np.arange(len(padded)), lengths]
