"""Split conformal prediction bands for functions, with the modulations of their papers."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ShuffleSplit
from sklearn.utils import _safe_indexing, check_array, check_consistent_length, get_tags
from sklearn.utils.validation import check_is_fitted

from ..._utils.fitting import store, transactional
from ..._utils.validation import check_choice, check_number
from ...data.functions import quadrature

MODULATIONS = ("trimmed", "deviation", "constant")
_ROUNDING = 1e-12  # of a modulation relative to the largest, at and below which it is none
_SLACK = 1e-9  # by which a level times a number of curves may miss an integer and meet it


class SplitConformalBand(MetaEstimatorMixin, BaseEstimator):
    """Bands ``prediction +- radius * modulation`` that hold a whole curve with probability at least ``level``.

    Some samples train the model, and the others calibrate it: the score of a calibration curve is the largest of its
    absolute residuals over the modulation s(t), and the radius is the ceil((l + 1) level)-th smallest of the l scores.
    Modulations come from residuals r_i of the samples that the model was fitted to:

    - "trimmed", the papers' own: ``s(t)`` is the largest ``|r_i(t)|`` of the m curves but the most extreme ones, those
      whose largest residual is beyond the ceil((m + 1) level)-th smallest of them;
    - "deviation": their standard deviation at t;
    - "constant": one.

    Each is divided by its integral, so that it has mean one over the domain and the band's mean width is 2 radius. Of a
    curve with gaps, which the papers do not have, the points observed count.

    Parameters
    ----------
    estimator : regressor
        Of curves (n, m), on even steps unless it has a setting ``grid``.
    level : float, default=0.9
        Between 0 and 1.
    modulation : {"trimmed", "deviation", "constant"}, default="trimmed"
        As above.
    calibration : float, default=0.5
        Share of the samples that calibrate, half of them in the papers.
    random_state : int, RandomState instance or None, default=None
        Of the split, as elsewhere in scikit-learn.

    Attributes
    ----------
    estimator_ : regressor
        The model of the training part.
    modulation_ : array of shape (m,)
        Its modulation.
    radius_ : float
        The quantile of scores, infinite where the calibration part is too small for the level.
    columns_ : slice or integer array
        Of samples given to fit, those of the training part, for kernel="precomputed".

    References
    ----------
    - Diquigiovanni, Fontana and Vantini (2022). The importance of being a band: finite-sample exact distribution-free
      prediction sets for functional data. Statistica Sinica.
    - Diquigiovanni, Fontana and Vantini (2022). Conformal prediction bands for multivariate functional data. Journal of
      Multivariate Analysis 189.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import FunctionalRegressor, baselines
    >>> rng, t = np.random.default_rng(0), np.linspace(0, 1, 20)
    >>> X = rng.uniform(1, 2, size=(160, 1))
    >>> Y = np.exp(-X * t) + 0.1 * rng.normal(size=(160, 1))
    >>> model = baselines.SplitConformalBand(FunctionalRegressor(gamma=1.0, alpha=1e-3), level=0.9, random_state=0)
    >>> lower, upper = model.fit(X[:60], Y[:60]).predict_band(X[60:])
    >>> round(float(((lower <= Y[60:]) & (Y[60:] <= upper)).all(axis=1).mean()), 2)
    0.93
    """

    def __init__(self, estimator, level=0.9, *, modulation="trimmed", calibration=0.5, random_state=None):
        store(self, locals())

    @transactional
    def fit(self, X, y):
        """Fit and calibrate; y : (n, m), NaN where not observed."""
        check_choice(self.modulation, "modulation", MODULATIONS)
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit"):
            raise TypeError(f"estimator must be a regressor such as FunctionalRegressor(), got {self.estimator!r}")
        level = check_number(self.level, "level")
        if level >= 1:
            raise ValueError(f"level must be a number between 0 and 1, got {level:g}")
        Y = check_array(y, dtype=float, ensure_all_finite="allow-nan", input_name="y")
        check_consistent_length(X, Y)
        splitter = ShuffleSplit(1, test_size=self.calibration, random_state=self.random_state)
        ((train, rest),) = splitter.split(np.zeros(len(Y)))
        self.columns_ = train if get_tags(self.estimator).input_tags.pairwise else slice(None)
        own = self._inputs(_safe_indexing(X, train))
        self.estimator_ = clone(self.estimator).fit(own, Y[train])
        residuals = np.abs(Y[train] - self.estimator_.predict(own))
        grid = getattr(self.estimator, "grid", None)
        weights = quadrature(np.arange(Y.shape[1]) if grid is None else np.asarray(grid, dtype=float))
        self.modulation_ = _modulation(self.modulation, residuals, level, weights)
        left = np.abs(Y[rest] - self.predict(_safe_indexing(X, rest)))
        scores = np.nanmax(left / self.modulation_, axis=1)
        self.radius_ = _smallest(scores, _rank(level, len(scores)))

    def predict(self, X):
        """Curves (n, m) in the middle of the bands."""
        check_is_fitted(self)
        return self.estimator_.predict(self._inputs(X))

    def _inputs(self, X):
        """Of values with all samples those with the training part."""
        return X if isinstance(self.columns_, slice) else X[:, self.columns_]

    def predict_band(self, X):
        """Lower and upper ends (n, m)."""
        middle, half = self.predict(X), self.radius_ * self.modulation_
        return middle - half, middle + half


def _modulation(name, residuals, level, weights):
    """Modulation (m,) of mean one from absolute residuals (n, m); where it is zero it takes its smallest value."""
    if name == "constant":
        return np.ones(residuals.shape[1])
    if name == "deviation":
        found = np.sqrt(np.nanmean(residuals**2, axis=0))
    else:
        largest = np.nanmax(residuals, axis=1)
        bound = _smallest(largest, _rank(level, len(largest)))  # infinite for few curves, of which none is left out
        found = np.nanmax(residuals[largest <= bound], axis=0)
    if not found.any():
        return np.ones(residuals.shape[1])
    real = found > _ROUNDING * found.max()  # where all curves are the same, rounding is no size of residuals
    found = np.where(real, found, found[real].min())
    return found / (weights @ found)


def _rank(level, number):
    return int(np.ceil(level * (number + 1) - _SLACK))


def _smallest(values, k):
    """The k-th smallest value, infinite where there are not so many."""
    return float(np.sort(values)[k - 1]) if k <= len(values) else np.inf
