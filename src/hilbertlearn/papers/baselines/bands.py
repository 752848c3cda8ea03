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
_ROUNDING = 1e-12  # modulations up to this share of the largest are rounding errors of residuals that are zero
_SLACK = 1e-9  # level (n + 1) within this distance above an integer is that integer: 0.9 * 10 is not exact


class SplitConformalBand(MetaEstimatorMixin, BaseEstimator):
    """Bands ``prediction +- radius * modulation`` that contain a whole curve with probability at least ``level``.

    One part of the samples trains the model, the other part calibrates it. The score of a calibration curve is the
    largest ratio of its absolute residuals to the modulation s(t). The radius is the ceil((l + 1) level)-th smallest of
    the l scores. The modulation is computed from the residuals r_i of the m training samples:

    - "trimmed", as in the papers: ``s(t)`` is the largest ``|r_i(t)|`` of all curves but the most extreme ones, whose
      largest residual exceeds the ceil((m + 1) level)-th smallest of the largest residuals;
    - "deviation": the standard deviation of residuals at t;
    - "constant": one.

    Each is divided by its integral, so that its mean over the domain is one and the mean width of the band is 2 radius.
    Curves with gaps, which the papers do not treat, count at their observed points.

    Parameters
    ----------
    estimator : regressor
        A regressor of curves (n, m), at equidistant points unless it has a setting ``grid``.
    level : float, default=0.9
        Probability that a band contains the curve, between 0 and 1.
    modulation : {"trimmed", "deviation", "constant"}, default="trimmed"
        The modulation, as above.
    calibration : float, default=0.5
        Share of the samples in the calibration part; one half in the papers.
    random_state : int, RandomState instance or None, default=None
        Seed of the split.

    Attributes
    ----------
    estimator_ : regressor
        The model of the training part.
    modulation_ : array of shape (m,)
        The modulation.
    radius_ : float
        The quantile of the scores; infinite if the calibration part is too small for the level.
    columns_ : slice or integer array
        Indices of the training part for kernel="precomputed", all samples otherwise.

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
        """Fit the model to one part of the samples and calibrate the bands on the other.

        Parameters
        ----------
        X : array of shape (n, p)
            Inputs, in any form of the estimator.
        y : array of shape (n, m)
            Curves; NaN means not observed.

        Returns
        -------
        self : SplitConformalBand
            The fitted estimator.
        """
        check_choice(self.modulation, "modulation", MODULATIONS)
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit"):
            raise TypeError(f"estimator must be a regressor such as FunctionalRegressor(), got {self.estimator!r}")
        level = check_number(self.level, "level")
        if level >= 1:
            raise ValueError(f"level must be a number between 0 and 1, got {level:g}")
        Y = check_array(y, dtype=float, ensure_all_finite="allow-nan", input_name="y")
        check_consistent_length(X, Y)
        splitter = ShuffleSplit(1, test_size=self.calibration, random_state=self.random_state)
        ((train, calibration),) = splitter.split(np.zeros(len(Y)))
        self.columns_ = train if get_tags(self.estimator).input_tags.pairwise else slice(None)
        X_train = self._inputs(_safe_indexing(X, train))
        self.estimator_ = clone(self.estimator).fit(X_train, Y[train])
        residuals = np.abs(Y[train] - self.estimator_.predict(X_train))
        grid = getattr(self.estimator, "grid", None)
        weights = quadrature(np.arange(Y.shape[1]) if grid is None else np.asarray(grid, dtype=float))
        self.modulation_ = _modulation(self.modulation, residuals, level, weights)
        calibration_residuals = np.abs(Y[calibration] - self.predict(_safe_indexing(X, calibration)))
        scores = np.nanmax(calibration_residuals / self.modulation_, axis=1)
        self.radius_ = _kth_smallest(scores, _rank(level, len(scores)))

    def predict(self, X):
        """Predict the curves in the middle of the bands.

        Parameters
        ----------
        X : array of shape (n, p)
            Inputs.

        Returns
        -------
        curves : array of shape (n, m)
            Predictions.
        """
        check_is_fitted(self)
        return self.estimator_.predict(self._inputs(X))

    def _inputs(self, X):
        """Kernel values with the training part for kernel="precomputed", inputs as they are otherwise."""
        return X if isinstance(self.columns_, slice) else X[:, self.columns_]

    def predict_band(self, X):
        """Predict bands.

        Parameters
        ----------
        X : array of shape (n, p)
            Inputs.

        Returns
        -------
        lower, upper : arrays of shape (n, m)
            Ends of the bands.
        """
        middle, half = self.predict(X), self.radius_ * self.modulation_
        return middle - half, middle + half


def _modulation(name, residuals, level, weights):
    """Modulation (m,) of mean one from absolute residuals (n, m); zeros become the smallest positive value."""
    if name == "constant":
        return np.ones(residuals.shape[1])
    if name == "deviation":
        sizes = np.sqrt(np.nanmean(residuals**2, axis=0))
    else:
        largest = np.nanmax(residuals, axis=1)
        bound = _kth_smallest(largest, _rank(level, len(largest)))  # infinite for few curves: none is left out
        sizes = np.nanmax(residuals[largest <= bound], axis=0)
    if not sizes.any():
        return np.ones(residuals.shape[1])
    positive = sizes > _ROUNDING * sizes.max()
    sizes = np.where(positive, sizes, sizes[positive].min())
    return sizes / (weights @ sizes)


def _rank(level, number):
    """Rank of the quantile among so many scores."""
    return int(np.ceil(level * (number + 1) - _SLACK))


def _kth_smallest(values, k):
    """The k-th smallest value, infinite if there are fewer values."""
    return float(np.sort(values)[k - 1]) if k <= len(values) else np.inf
