"""Losses on sets of labels: outputs are rows of a 0/1 matrix, a column for each label."""

from __future__ import annotations

import numpy as np

from ..kernels import Tanimoto
from .base import OutputLoss
from .objects import as_matrix

_WANTED = "a 0/1 matrix (n, labels); turn lists of sets into one with sklearn.preprocessing.MultiLabelBinarizer"


class _LabelSets(OutputLoss):
    def check(self, outputs):
        indicators = as_matrix(outputs, _WANTED)
        wrong = indicators[(indicators != 0) & (indicators != 1)]
        if wrong.size:
            raise ValueError(f"y must be {_WANTED}; got the entry {wrong[0]:g}")
        return indicators


class Hamming(_LabelSets):
    """The share of labels on which the sets differ."""

    decoder = "threshold"

    def __call__(self, Z, Y):
        differ = Z.sum(axis=1)[:, None] + Y.sum(axis=1) - 2 * (Z @ Y.T)
        return differ / Z.shape[1]


class F1(_LabelSets):
    """``1 - 2 |z and y| / (|z| + |y|)``, one minus the F1 score of each pair of sets; 0 for two empty sets."""

    decoder = "sets"

    def __call__(self, Z, Y):
        common, total = Z @ Y.T, Z.sum(axis=1)[:, None] + Y.sum(axis=1)
        return 1 - np.divide(2 * common, total, out=np.ones_like(common), where=total > 0)


class Jaccard(_LabelSets):
    """``1 - |z and y| / |z or y|``; 0 for two empty sets."""

    def __call__(self, Z, Y):
        return 1 - Tanimoto()(Z, Y)
