"""Scores and errors of vectors at their observed entries; without missing entries they equal those of scikit-learn.

They can be given to ``sklearn.metrics.make_scorer``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import _check_sample_weight

from .._utils.validation import check_choice, warn
from ..data.frames import check_order
from ..spaces import read_vectors

AVERAGES = ("raw_values", "uniform_average")


def r2_score(y_true, y_pred, sample_weight=None, *, multioutput="uniform_average", force_finite=True):
    """Coefficient of determination at the observed entries of y_true; 1 is perfect, 0 is the mean of each output.

    Parameters
    ----------
    y_true : array or frame of shape (n,) or (n, d)
        Outputs; NaN, None or pandas.NA where not observed.
    y_pred : array or frame of the same shape
        Predictions; NaN only where y_true is not observed.
    sample_weight : array of shape (n,), default=None
        Non-negative weights of the samples; None for ones. Samples of weight 0 are ignored.
    multioutput : str or array of shape (d,), default="uniform_average"
        "raw_values" for the scores (d,) of all outputs; "uniform_average" for their mean; "variance_weighted" for the
        score of all observed entries together, each centred by the mean of its output; or weights (d,) of the outputs.
    force_finite : bool, default=True
        Whether the score of a constant output is 1 for exact predictions and 0 otherwise, in place of NaN and minus
        infinity.

    Returns
    -------
    score : float or array of shape (d,)
        The scores of all outputs for "raw_values". Outputs with fewer than two observed values have NaN and are not in
        averages; a warning names them.

    References
    ----------
    - Hastie, Tibshirani and Friedman (2009). The Elements of Statistical Learning, second edition. Springer, chapter 7.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import metrics
    >>> y_true = np.array([[0.0, 1.0], [2.0, np.nan], [4.0, 2.0]])
    >>> y_pred = np.array([[1.0, 1.0], [2.0, 5.0], [4.0, 4.0]])
    >>> round(metrics.r2_score(y_true, y_pred), 3)
    -3.062
    >>> metrics.r2_score(y_true, y_pred, multioutput="raw_values").round(3)
    array([ 0.875, -7.   ])
    """
    entries = ObservedEntries.from_outputs(y_true, y_pred, sample_weight)
    _check_average(multioutput, entries, (*AVERAGES, "variance_weighted"))
    error = entries.sum((entries.true - entries.pred) ** 2)
    total = entries.sum((entries.true - entries.mean(entries.true)) ** 2)
    total = np.where(entries.constant_mask(), 0.0, total)  # exactly 0 in spite of rounding of the mean
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = 1 - error / total
    if force_finite:
        scores = np.where(total > 0, scores, np.where(error > 0, 0.0, 1.0))
    return _over_outputs(scores, entries.enough_mask(2, "r2_score"), multioutput, total)


def mean_squared_error(y_true, y_pred, sample_weight=None, *, multioutput="uniform_average"):
    """Mean squared error of each output at the observed entries of y_true, averaged over outputs.

    Parameters
    ----------
    y_true : array or frame of shape (n,) or (n, d)
        Outputs; NaN, None or pandas.NA where not observed.
    y_pred : array or frame of the same shape
        Predictions; NaN only where y_true is not observed.
    sample_weight : array of shape (n,), default=None
        Non-negative weights of the samples; None for ones. Samples of weight 0 are ignored.
    multioutput : {"raw_values", "uniform_average"} or array of shape (d,), default="uniform_average"
        "raw_values" for the errors (d,) of all outputs, "uniform_average", or weights (d,) of the outputs.

    Returns
    -------
    error : float or array of shape (d,)
        The errors of all outputs for "raw_values". Outputs without an observed value have NaN and are not in averages;
        a warning names them.

    References
    ----------
    - Hastie, Tibshirani and Friedman (2009). The Elements of Statistical Learning, second edition. Springer, chapter 7.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import metrics
    >>> y_true = np.array([[0.0, 1.0], [2.0, np.nan], [4.0, 2.0]])
    >>> y_pred = np.array([[1.0, 1.0], [2.0, 5.0], [4.0, 4.0]])
    >>> round(metrics.mean_squared_error(y_true, y_pred), 3)
    1.167
    >>> metrics.mean_squared_error(y_true, y_pred, multioutput="raw_values").round(3)
    array([0.333, 2.   ])
    """
    return _mean_error("mean_squared_error", np.square, y_true, y_pred, sample_weight, multioutput)


def root_mean_squared_error(y_true, y_pred, sample_weight=None, *, multioutput="uniform_average"):
    """Root of the mean squared error of each output, averaged over outputs.

    Parameters
    ----------
    y_true : array or frame of shape (n,) or (n, d)
        Outputs; NaN, None or pandas.NA where not observed.
    y_pred : array or frame of the same shape
        Predictions; NaN only where y_true is not observed.
    sample_weight : array of shape (n,), default=None
        Non-negative weights of the samples; None for ones. Samples of weight 0 are ignored.
    multioutput : {"raw_values", "uniform_average"} or array of shape (d,), default="uniform_average"
        "raw_values" for the errors (d,) of all outputs, "uniform_average", or weights (d,) of the outputs.

    Returns
    -------
    error : float or array of shape (d,)
        The errors of all outputs for "raw_values". Outputs without an observed value have NaN and are not in averages;
        a warning names them.

    References
    ----------
    - Hastie, Tibshirani and Friedman (2009). The Elements of Statistical Learning, second edition. Springer, chapter 7.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import metrics
    >>> y_true = np.array([[0.0, 1.0], [2.0, np.nan], [4.0, 2.0]])
    >>> y_pred = np.array([[1.0, 1.0], [2.0, 5.0], [4.0, 4.0]])
    >>> round(metrics.root_mean_squared_error(y_true, y_pred), 3)
    0.996
    >>> metrics.root_mean_squared_error(y_true, y_pred, multioutput="raw_values").round(3)
    array([0.577, 1.414])
    """
    return _mean_error("root_mean_squared_error", np.square, y_true, y_pred, sample_weight, multioutput, np.sqrt)


def mean_absolute_error(y_true, y_pred, sample_weight=None, *, multioutput="uniform_average"):
    """Mean absolute error of each output at the observed entries of y_true, averaged over outputs.

    Parameters
    ----------
    y_true : array or frame of shape (n,) or (n, d)
        Outputs; NaN, None or pandas.NA where not observed.
    y_pred : array or frame of the same shape
        Predictions; NaN only where y_true is not observed.
    sample_weight : array of shape (n,), default=None
        Non-negative weights of the samples; None for ones. Samples of weight 0 are ignored.
    multioutput : {"raw_values", "uniform_average"} or array of shape (d,), default="uniform_average"
        "raw_values" for the errors (d,) of all outputs, "uniform_average", or weights (d,) of the outputs.

    Returns
    -------
    error : float or array of shape (d,)
        The errors of all outputs for "raw_values". Outputs without an observed value have NaN and are not in averages;
        a warning names them.

    References
    ----------
    - Hastie, Tibshirani and Friedman (2009). The Elements of Statistical Learning, second edition. Springer, chapter 7.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import metrics
    >>> y_true = np.array([[0.0, 1.0], [2.0, np.nan], [4.0, 2.0]])
    >>> y_pred = np.array([[1.0, 1.0], [2.0, 5.0], [4.0, 4.0]])
    >>> round(metrics.mean_absolute_error(y_true, y_pred), 3)
    0.667
    >>> metrics.mean_absolute_error(y_true, y_pred, multioutput="raw_values").round(3)
    array([0.333, 1.   ])
    """
    return _mean_error("mean_absolute_error", np.abs, y_true, y_pred, sample_weight, multioutput)


@dataclass(frozen=True)
class ObservedEntries:
    """True and predicted values and weights (n, d) at the observed entries; 0 at all others."""

    true: np.ndarray
    pred: np.ndarray
    weights: np.ndarray
    names: list  # of the outputs

    @classmethod
    def from_outputs(cls, y_true, y_pred, sample_weight=None):
        """Read and check outputs and predictions in any form."""
        true, pred = (_columns(y, name) for y, name in ((y_true, "y_true"), (y_pred, "y_pred")))
        if true.shape != pred.shape:
            raise ValueError(
                f"y_true and y_pred must have the same shape, got {true.shape} and {pred.shape}; give a prediction for "
                "each entry of y_true, NaN or not"
            )
        check_order(y_pred, getattr(y_true, "columns", ()), "y_pred", "y_true")
        weights = _check_sample_weight(sample_weight, true, dtype=np.float64, ensure_non_negative=True)
        names = list(getattr(y_true, "columns", range(true.shape[1])))
        is_observed = ~np.isnan(true) & (weights > 0)[:, None]
        missing = np.argwhere(np.isnan(pred) & is_observed)
        if len(missing):
            i, j = missing[0]
            raise ValueError(
                f"y_pred is NaN at sample {i}, output {names[j]!r}, which y_true observes "
                f"({len(missing)} such entries); predict there, or make y_true NaN there too"
            )
        true, pred = (np.where(is_observed, values, 0.0) for values in (true, pred))
        return cls(true, pred, is_observed * weights[:, None], names)

    def sum(self, values):
        """Weighted sum (d,) of values (n, d) over samples."""
        return (self.weights * values).sum(axis=0)

    def mean(self, values):
        """Weighted mean (d,) of values (n, d) over samples, NaN where nothing was observed."""
        total = self.weights.sum(axis=0)
        return np.divide(self.sum(values), total, out=np.full(len(total), np.nan), where=total > 0)

    def constant_mask(self):
        """Mask (d,) of outputs without two different values."""
        is_observed = self.weights > 0
        largest = np.where(is_observed, self.true, -np.inf).max(axis=0)
        return largest <= np.where(is_observed, self.true, np.inf).min(axis=0)

    def enough_mask(self, count, metric):
        """Mask (d,) of outputs with at least `count` observed values; a warning names the others."""
        enough = (self.weights > 0).sum(axis=0) >= count
        if not enough.all():
            outputs = ", ".join(repr(self.names[j]) for j in np.flatnonzero(~enough))
            reason = "no observed value" if count == 1 else f"fewer than {count} observed values"
            warn(
                f"{metric}: output {outputs} has {reason}; its score is NaN, and averages leave it out",
                UndefinedMetricWarning,
            )
        return enough


def _mean_error(name, magnitude, y_true, y_pred, sample_weight, multioutput, transform=np.asarray):
    """``transform`` of the mean of ``magnitude(error)`` of each output, averaged over outputs."""
    entries = ObservedEntries.from_outputs(y_true, y_pred, sample_weight)
    _check_average(multioutput, entries, AVERAGES)
    errors = transform(entries.mean(magnitude(entries.true - entries.pred)))
    return _over_outputs(errors, entries.enough_mask(1, name), multioutput)


def _columns(y, name):
    """Outputs as columns (n, d)."""
    values = read_vectors(y, name)
    return values[:, None] if values.ndim == 1 else values


def _check_average(multioutput, entries, names):
    """Raise unless multioutput is None, one of the names, or weights (d,)."""
    if multioutput is None:
        return
    if isinstance(multioutput, str):
        check_choice(multioutput, "multioutput", names)
        return
    d = len(entries.names)
    weights = np.asarray(multioutput, dtype=float)
    if weights.shape != (d,) or not np.isfinite(weights).all() or weights.sum() == 0:
        raise ValueError(
            f"multioutput must be {', '.join(map(repr, names))} or {d} weights, one an output, whose sum is not 0; got "
            f"{multioutput!r}"
        )


def _over_outputs(scores, is_scored, multioutput, variation=None):
    """The scores (d,), or their mean over the mask `is_scored`, weighted by `multioutput` or the variation (d,)."""
    if isinstance(multioutput, str) and multioutput == "raw_values":
        return np.where(is_scored, scores, np.nan)
    if multioutput is None or isinstance(multioutput, str):
        varies = variation is not None and multioutput == "variance_weighted" and variation.any()
        weights = variation if varies else np.ones(len(scores))
    else:
        weights = np.asarray(multioutput, dtype=float)
    total = weights[is_scored].sum()
    with np.errstate(invalid="ignore"):  # a constant output may have the score minus infinity, with weight 0
        return float(weights[is_scored] @ scores[is_scored] / total) if total else float("nan")
