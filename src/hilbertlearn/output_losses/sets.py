"""Losses on sets of labels: rows of a 0/1 matrix with a column for each label, or Python sets."""

from __future__ import annotations

from itertools import chain

import numpy as np

from .._utils.naming import unnamed_in_errors
from ..kernels import Tanimoto
from .base import OutputLoss, as_matrix
from .costs import sorted_labels

_EXPECTED = "a 0/1 matrix (n, labels); turn lists of sets into one with sklearn.preprocessing.MultiLabelBinarizer"


@unnamed_in_errors
class _LabelSetLoss(OutputLoss):
    """Losses of sets of labels, given as rows of a 0/1 matrix or as Python sets.

    labels : labels of sets in addition to those of the training outputs, or the names of the columns
    """

    n_labels: int | None = None  # number of labels in training, by which losses are divided; None for all columns

    def __init__(self, labels=None):
        self.labels = labels

    def resolve(self, outputs):
        if not _are_sets(outputs):
            return self
        training_labels = sorted_labels(list(chain.from_iterable(outputs)))
        labels = list(dict.fromkeys([*(() if self.labels is None else self.labels), *training_labels]))
        if not labels:
            raise ValueError(f"y has empty sets only; name the labels there are: {type(self).__name__}(labels=[...])")
        resolved = type(self)(labels=labels)
        resolved.n_labels = self.n_labels or len(labels)
        return resolved

    def check(self, outputs):
        if _are_sets(outputs):
            if self.labels is None:
                name = type(self).__name__
                raise ValueError(
                    f"y is sets, whose labels {name}() does not know; name them, {name}(labels=[...]), take "
                    "loss.resolve(sets), which reads them from all sets together, or give a 0/1 matrix by "
                    "sklearn.preprocessing.MultiLabelBinarizer"
                )
            return _indicators(outputs, list(self.labels))
        indicators = as_matrix(outputs, _EXPECTED)
        others = indicators[(indicators != 0) & (indicators != 1)]
        if others.size:
            raise ValueError(f"y must be {_EXPECTED}; got the entry {others[0]:g}")
        if self.labels is not None and len(self.labels) != indicators.shape[1]:
            raise ValueError(
                f"labels: {len(self.labels)} for {indicators.shape[1]} columns of y; name each column, or none"
            )
        return indicators

    def _rows(self, outputs):
        """Rows (n, labels) of floats, from sets or from rows."""
        return self.check(outputs) if _are_sets(outputs) else np.asarray(outputs, dtype=float)

    def restore(self, outputs, like):
        if not _are_sets(like):
            return outputs
        labels, set_type = list(self.labels), type(like[0])
        return [set_type(labels[k] for k in np.flatnonzero(row)) for row in outputs]


class Hamming(_LabelSetLoss):
    """The number of labels on which the sets differ, divided by the number of labels.

    Outputs are rows of a 0/1 matrix with a column for each label, or Python sets.

    Parameters
    ----------
    labels : list, default=None
        Labels of sets in addition to those of the training outputs, or the names of the columns; None for neither.

    References
    ----------
    - Tsoumakas and Katakis (2007). Multi-label classification: an overview. International Journal of Data Warehousing
      and Mining 3.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import output_losses
    >>> predicted, true = np.array([[1.0, 1.0, 0.0]]), np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> output_losses.Hamming()(predicted, true).round(3)
    array([[0.333, 0.   , 1.   ]])
    """

    decoder = "threshold"

    def __call__(self, Z, Y):
        Z, Y = self._rows(Z), self._rows(Y)
        differ = Z.sum(axis=1)[:, None] + Y.sum(axis=1) - 2 * (Z @ Y.T)
        return differ / (self.n_labels or Z.shape[1])


class F1(_LabelSetLoss):
    """``1 - 2 |z and y| / (|z| + |y|)``, one minus the F1 score of each pair of sets; 0 for two empty sets.

    Outputs are rows of a 0/1 matrix with a column for each label, or Python sets.

    Parameters
    ----------
    labels : list, default=None
        Labels of sets in addition to those of the training outputs, or the names of the columns; None for neither.

    References
    ----------
    - Dembczyński, Waegeman, Cheng and Hüllermeier (2011). An exact algorithm for F-measure maximization. NIPS 24.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import output_losses
    >>> predicted, true = np.array([[1.0, 1.0, 0.0]]), np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> output_losses.F1()(predicted, true).round(3)
    array([[0.333, 0.   , 1.   ]])
    """

    decoder = "sets"

    def __call__(self, Z, Y):
        Z, Y = self._rows(Z), self._rows(Y)
        common, total = Z @ Y.T, Z.sum(axis=1)[:, None] + Y.sum(axis=1)
        return 1 - np.divide(2 * common, total, out=np.ones_like(common), where=total > 0)


class Jaccard(_LabelSetLoss):
    """``1 - |z and y| / |z or y|``; 0 for two empty sets.

    Outputs are rows of a 0/1 matrix with a column for each label, or Python sets.

    Parameters
    ----------
    labels : list, default=None
        Labels of sets in addition to those of the training outputs, or the names of the columns; None for neither.

    References
    ----------
    - Levandowsky and Winter (1971). Distance between sets. Nature 234.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import output_losses
    >>> predicted, true = np.array([[1.0, 1.0, 0.0]]), np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> output_losses.Jaccard()(predicted, true).round(3)
    array([[0.5, 0. , 1. ]])
    """

    decoder = "jaccard_sets"

    def __call__(self, Z, Y):
        return 1 - Tanimoto()(self._rows(Z), self._rows(Y))


def _are_sets(outputs):
    """Whether outputs are a list of Python sets."""
    return isinstance(outputs, list) and len(outputs) > 0 and all(isinstance(y, (set, frozenset)) for y in outputs)


def _indicators(sets, labels):
    """Rows (n, labels) of 0 and 1."""
    column_of = {label: k for k, label in enumerate(labels)}
    out = np.zeros((len(sets), len(labels)))
    for row, members in zip(out, sets):
        unknown = [label for label in members if label not in column_of]
        if unknown:
            raise ValueError(
                f"a set has the label {unknown[0]!r}, which no training output has; name all labels: labels=[...] of "
                "the output loss"
            )
        row[[column_of[label] for label in members]] = 1
    return out
