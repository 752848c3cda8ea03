"""Outputs of some samples hidden, for refits by hand of semi-supervised models."""

import numpy as np

from hilbertlearn.data.functions import IrregularFunctions, has_points, read_functions
from hilbertlearn.data.objects import read_outputs, to_array_or_list


def hidden(y, rows):
    """A copy of outputs y, in any container, in which those of some samples are not known."""
    if hasattr(y, "data_matrix"):
        values = np.array(y.data_matrix, dtype=float)
        values[rows] = np.nan
        return y.copy(data_matrix=values)
    if has_points(y):
        curves, _ = read_functions(y)
        gone = np.isin(np.arange(len(curves)), rows)
        left = [np.full_like(v, np.nan) if out else v for v, out in zip(curves.values, gone, strict=True)]
        return IrregularFunctions(curves.points, left, curves.domain)
    y = to_array_or_list(y)
    if isinstance(y, list):
        numbers, _ = read_outputs(y)
        y = numbers if isinstance(numbers, np.ndarray) and numbers.ndim > 1 else y  # a list of rows
    if isinstance(y, np.ndarray) and (y.dtype.kind == "f" or (y.dtype.kind in "biu" and y.ndim > 1)):
        y = y.astype(float)
        y[rows] = np.nan
        return y
    labels: list = list(y)  # they stay labels
    for i in rows:
        labels[i] = None
    return labels
