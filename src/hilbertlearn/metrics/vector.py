"""Scores of vectors."""

from __future__ import annotations

import numpy as np

from ..frames import numbers_of


def r2_score(Y_true, Y_pred, sample_weight=None):
    """Coefficient of determination, averaged over outputs, at the observed entries of Y_true.

    Without NaN it is scikit-learn's ``r2_score``. Outputs observed less than twice do not count; NaN when none counts.
    """
    Y_true, Y_pred = (np.asarray(numbers_of(Y), dtype=float).reshape(len(Y), -1) for Y in (Y_true, Y_pred))
    if Y_true.shape != Y_pred.shape:
        raise ValueError(f"Y_true and Y_pred must have the same shape, got {Y_true.shape} and {Y_pred.shape}")
    weights = np.ones(len(Y_true)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    scores = []
    for true, pred in zip(Y_true.T, Y_pred.T, strict=True):
        seen = np.isfinite(true) & (weights > 0)
        if seen.sum() < 2:
            continue
        w, y = weights[seen], true[seen]
        total = w @ (y - w @ y / w.sum()) ** 2
        error = w @ (y - pred[seen]) ** 2
        scores.append(1 - error / total if total > 0 else float(error == 0))
    return float(np.mean(scores)) if scores else float("nan")
