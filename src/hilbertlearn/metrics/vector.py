"""Scores of vectors at the entries that were observed; where none is missing they are scikit-learn's.

They take the outputs and predictions of any estimator, and ``sklearn.metrics.make_scorer`` takes them.
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
        Outputs; NaN, None or pandas's NA where not observed.
    y_pred : array or frame of the same shape
        Predictions, known wherever y_true is observed.
    sample_weight : array of shape (n,), default=None
        Non-negative weights; samples of weight 0 are left out.
    multioutput : str or array of shape (d,), default="uniform_average"
        "raw_values" for the scores (d,) of all outputs, "uniform_average", "variance_weighted", which is the
        score of all observed entries together, each less the mean of its output, or weights (d,) of the outputs.
    force_finite : bool, default=True
        Whether a constant output has the score 1 if it was predicted exactly and 0 else, in place of NaN and
        minus infinity.

    Returns
    -------
    score : float or array of shape (d,)
        The scores of all outputs for "raw_values". Outputs observed less than twice, which is told, have NaN; averages
        leave them out.

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
    seen = Observed.of(y_true, y_pred, sample_weight)
    _check_average(multioutput, seen, (*AVERAGES, "variance_weighted"))
    error, total = seen.sum((seen.true - seen.pred) ** 2), seen.sum((seen.true - seen.mean(seen.true)) ** 2)
    total = np.where(seen.constant(), 0.0, total)  # without the rounding of the mean
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = 1 - error / total
    if force_finite:
        scores = np.where(total > 0, scores, np.where(error > 0, 0.0, 1.0))
    return _over_outputs(scores, seen.at_least(2, "r2_score"), multioutput, total)


def mean_squared_error(y_true, y_pred, sample_weight=None, *, multioutput="uniform_average"):
    """Mean squared error of each output at the observed entries of y_true, averaged over outputs.

    Parameters
    ----------
    y_true : array or frame of shape (n,) or (n, d)
        Outputs; NaN, None or pandas's NA where not observed.
    y_pred : array or frame of the same shape
        Predictions, known wherever y_true is observed.
    sample_weight : array of shape (n,), default=None
        Non-negative weights; samples of weight 0 are left out.
    multioutput : {"raw_values", "uniform_average"} or array of shape (d,), default="uniform_average"
        "raw_values" for the errors (d,) of all outputs, "uniform_average", or weights (d,) of the outputs.

    Returns
    -------
    error : float or array of shape (d,)
        The errors of all outputs for "raw_values". Outputs never observed, which is told, have NaN; averages leave them
        out.

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
        Outputs; NaN, None or pandas's NA where not observed.
    y_pred : array or frame of the same shape
        Predictions, known wherever y_true is observed.
    sample_weight : array of shape (n,), default=None
        Non-negative weights; samples of weight 0 are left out.
    multioutput : {"raw_values", "uniform_average"} or array of shape (d,), default="uniform_average"
        "raw_values" for the errors (d,) of all outputs, "uniform_average", or weights (d,) of the outputs.

    Returns
    -------
    error : float or array of shape (d,)
        The errors of all outputs for "raw_values". Outputs never observed, which is told, have NaN; averages leave them
        out.

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
        Outputs; NaN, None or pandas's NA where not observed.
    y_pred : array or frame of the same shape
        Predictions, known wherever y_true is observed.
    sample_weight : array of shape (n,), default=None
        Non-negative weights; samples of weight 0 are left out.
    multioutput : {"raw_values", "uniform_average"} or array of shape (d,), default="uniform_average"
        "raw_values" for the errors (d,) of all outputs, "uniform_average", or weights (d,) of the outputs.

    Returns
    -------
    error : float or array of shape (d,)
        The errors of all outputs for "raw_values". Outputs never observed, which is told, have NaN; averages leave them
        out.

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
class Observed:
    """What was observed of outputs, what was predicted there, and the weights: (n, d) each, 0 at all other entries."""

    true: np.ndarray
    pred: np.ndarray
    weights: np.ndarray
    names: list  # what the outputs are called

    @classmethod
    def of(cls, y_true, y_pred, sample_weight=None):
        true, pred = (_columns(y, name) for y, name in ((y_true, "y_true"), (y_pred, "y_pred")))
        if true.shape != pred.shape:
            raise ValueError(
                f"y_true and y_pred must have the same shape, got {true.shape} and {pred.shape}; give a prediction for "
                "each entry of y_true, NaN or not"
            )
        check_order(y_pred, getattr(y_true, "columns", ()), "y_pred", "y_true")
        weights = _check_sample_weight(sample_weight, true, dtype=np.float64, ensure_non_negative=True)
        names = list(getattr(y_true, "columns", range(true.shape[1])))
        seen = ~np.isnan(true) & (weights > 0)[:, None]
        holes = np.argwhere(np.isnan(pred) & seen)
        if len(holes):
            i, j = holes[0]
            raise ValueError(
                f"y_pred is NaN at sample {i}, output {names[j]!r}, which y_true observes ({len(holes)} such entries); "
                "predict there, or make y_true NaN there too"
            )
        return cls(np.where(seen, true, 0.0), np.where(seen, pred, 0.0), seen * weights[:, None], names)

    def sum(self, values):
        """Weighted sum (d,) of values (n, d) over samples."""
        return (self.weights * values).sum(axis=0)

    def mean(self, values):
        """Weighted mean (d,) of values (n, d) over samples, NaN where nothing was observed."""
        total = self.weights.sum(axis=0)
        return np.divide(self.sum(values), total, out=np.full(len(total), np.nan), where=total > 0)

    def constant(self):
        """Which outputs (d,) have no two different values."""
        seen = self.weights > 0
        return np.where(seen, self.true, -np.inf).max(axis=0) <= np.where(seen, self.true, np.inf).min(axis=0)

    def at_least(self, count, metric):
        """Which outputs (d,) have as many observed values; a warning names the others."""
        enough = (self.weights > 0).sum(axis=0) >= count
        if not enough.all():
            which = ", ".join(repr(self.names[j]) for j in np.flatnonzero(~enough))
            lack = "no observed value" if count == 1 else f"fewer than {count} observed values"
            warn(
                f"{metric}: output {which} has {lack}; its score is NaN, and averages leave it out",
                UndefinedMetricWarning,
            )
        return enough


def _mean_error(name, size, y_true, y_pred, sample_weight, multioutput, of_mean=np.asarray):
    """``of_mean`` of the mean size of each output's errors."""
    seen = Observed.of(y_true, y_pred, sample_weight)
    _check_average(multioutput, seen, AVERAGES)
    errors = of_mean(seen.mean(size(seen.true - seen.pred)))
    return _over_outputs(errors, seen.at_least(1, name), multioutput)


def _columns(y, name):
    values = read_vectors(y, name)
    return values[:, None] if values.ndim == 1 else values


def _check_average(multioutput, seen, known):
    """Raise unless multioutput is None, a known name, or weights (d,)."""
    if multioutput is None:
        return
    if isinstance(multioutput, str):
        check_choice(multioutput, "multioutput", known)
        return
    d = len(seen.names)
    weights = np.asarray(multioutput, dtype=float)
    if weights.shape != (d,) or not np.isfinite(weights).all() or weights.sum() == 0:
        raise ValueError(
            f"multioutput must be {', '.join(map(repr, known))} or {d} weights, one an output, whose sum is not 0; got "
            f"{multioutput!r}"
        )


def _over_outputs(scores, counted, multioutput, variation=None):
    """The scores (d,), or their mean over outputs that count, weighted by ``multioutput`` or their variation (d,)."""
    if isinstance(multioutput, str) and multioutput == "raw_values":
        return np.where(counted, scores, np.nan)
    if multioutput is None or isinstance(multioutput, str):
        varies = variation is not None and multioutput == "variance_weighted" and variation.any()
        weights = variation if varies else np.ones(len(scores))
    else:
        weights = np.asarray(multioutput, dtype=float)
    total = weights[counted].sum()
    with np.errstate(invalid="ignore"):  # minus infinity has weight 0 where an output does not vary
        return float(weights[counted] @ scores[counted] / total) if total else float("nan")
