"""Sets of rows of numbers, one for each query: boxes, bands, ellipsoids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import gammaln
from sklearn.utils.validation import _num_samples

from .._utils.naming import unnamed_in_errors
from .calibration import Calibration
from .levels import conforms, rank
from .output_form import OutputForm

_DRAWS = 400  # random points per query for the volume of an ellipsoid; its standard error falls with their root


@unnamed_in_errors
@dataclass(frozen=True, eq=False, repr=False)
class Region:
    """Sets of outputs for m queries. ``contains`` tests the set itself, ``lower`` and ``upper`` are the box around it.

    With one model (split) and a ``ScaledMaximum`` score the box is the set. With several models (cv+, jackknife+) the
    set is a little smaller than its box, which therefore has at least its coverage.
    """

    calibration: Calibration = field(repr=False)
    X: Any = field(repr=False)
    form: OutputForm = field(repr=False)
    ends: tuple = field(repr=False)  # lower and upper (m, d)
    query_weights: Any = field(default=None, repr=False)  # (m,)

    @classmethod
    def from_calibration(cls, calibration: Calibration, X, form: OutputForm, query_weights=None):
        """Compute the sets of queries.

        Parameters
        ----------
        calibration : Calibration
        X : array-like of length m
            Inputs of the queries.
        form : OutputForm
        query_weights : (m,) array, default=None

        Returns
        -------
        sets : Region
        """
        return cls(calibration, X, form, calibration.hull(X, query_weights), query_weights)

    def __len__(self):
        return _num_samples(self.X)

    def __repr__(self):
        lower, upper = self.ends
        width = f", mean width {np.mean(upper - lower):.3g}" if np.size(lower) else ""
        return f"{type(self).__name__}({len(self)} {'query' if len(self) == 1 else 'queries'}{width})"

    @property
    def lower(self):
        """Lower ends, in the form of the outputs."""
        return self.form.wrap(self.ends[0], self.X)

    @property
    def upper(self):
        """Upper ends, in the form of the outputs."""
        return self.form.wrap(self.ends[1], self.X)

    def contains(self, y):
        """Test which outputs are in their sets.

        Parameters
        ----------
        y : array-like of length m
            Outputs, one for each query, in the form of the training outputs; entries that are NaN do not matter.

        Returns
        -------
        inside : (m,) array of bool
        """
        outputs = self._observations(y)
        if len(outputs) != len(self):
            raise ValueError(f"y must have an output for each of the {len(self)} queries, got {len(outputs)}")
        return self.calibration.contains(self.X, outputs, self.query_weights)

    def _observations(self, y):
        return self.form.observations(y)


class Box(Region):
    """Sets of vectors within a distance of the prediction, simultaneously in all outputs.

    Attributes
    ----------
    lower, upper : array of shape (m, d) or (m, n_points), or the container of the training outputs
        Ends of the box around the set.

    References
    ----------
    - Barber, R. F., Candes, E. J., Ramdas, A. and Tibshirani, R. J. (2021). Predictive inference with the jackknife+.
      Annals of Statistics 49(1).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import ConformalPredictor, OperatorKernelRegressor
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> Y = np.hstack([np.sin(6 * X), np.cos(6 * X)]) + 0.1 * np.random.default_rng(0).normal(size=(40, 2))
    >>> model = ConformalPredictor(OperatorKernelRegressor("rbf", gamma=10.0, alpha=1e-3), level=0.8).fit(X, Y)
    >>> box = model.predict_region([[0.5]])
    >>> type(box).__name__, box.lower.shape, box.contains([[0.1, -1.0]]), bool(box.volume()[0] < 0.5)
    ('Box', (1, 2), array([ True]), True)
    """

    def volume(self):
        """Volumes of the boxes from ``lower`` to ``upper``.

        Returns
        -------
        volumes : (m,) array
        """
        lower, upper = self.ends
        return np.prod(np.maximum(upper - lower, 0.0), axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class Band(Region):
    """Sets of functions within a distance of the prediction, simultaneously at all points.

    ``contains`` takes functions on the training grid, on that of the band, or in a container that knows their points.

    Attributes
    ----------
    lower, upper : array of shape (m, d) or (m, n_points), or the container of the training outputs
        Ends of the box around the set.
    width : array of shape (m, n_points)
        ``upper - lower`` at each point.

    References
    ----------
    - Diquigiovanni, J., Fontana, M. and Vantini, S. (2022). Conformal prediction bands for multivariate functional
      data. Journal of Multivariate Analysis 189.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import ConformalPredictor, FunctionalRegressor
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> Y = np.sin(6 * (X + np.linspace(0, 1, 30))) + 0.1 * np.random.default_rng(0).normal(size=(40, 1))
    >>> model = ConformalPredictor(FunctionalRegressor("rbf", gamma=10.0, alpha=1e-3), level=0.8).fit(X, Y)
    >>> band = model.predict_band([[0.5]])
    >>> band.lower.shape, band.contains(np.sin(6 * (0.5 + np.linspace(0, 1, 30)))[None])
    ((1, 30), array([ True]))
    >>> bool(0.1 < band.mean_width()[0] < 0.6)
    True
    """

    training_form: Any = field(default=None, repr=False)  # of the training outputs, where the band has another grid

    @classmethod
    def from_calibration(cls, calibration: Calibration, X, form: OutputForm, query_weights=None, grid=None):
        """Compute the bands of queries.

        Parameters
        ----------
        calibration : Calibration
        X : array-like of length m
            Inputs of the queries.
        form : OutputForm
        query_weights : (m,) array, default=None
        grid : (n_points,) array or tuple of arrays, default=None
            Points of the bands; None is the training grid.

        Returns
        -------
        bands : Band
        """
        if grid is None:
            return super().from_calibration(calibration, X, form, query_weights)
        band_form, interpolate = form.on_grid(grid)
        ends = calibration.hull(X, query_weights, interpolate)
        return cls(calibration, X, band_form, ends, query_weights, form)

    def _observations(self, y):
        if self.training_form is None:
            return self.form.observations(y)
        return self.training_form.observations_on(y, self.form.axes)

    @property
    def width(self):
        """``upper - lower`` at each point, in the shape of the outputs as an array."""
        lower, upper = self.ends
        return self.form.array(upper - lower)

    def mean_width(self):
        """Mean width over the domain: by the trapezoidal rule where the grid is known, else over the columns.

        Returns
        -------
        widths : (m,) array
        """
        lower, upper = self.ends
        return self.form.mean(upper - lower)


class Ellipsoid(Region):
    """Sets of vectors within a Mahalanobis distance of the prediction.

    Attributes
    ----------
    lower, upper : array of shape (m, d) or (m, n_points), or the container of the training outputs
        Ends of the box around the set.

    References
    ----------
    - Johnstone, C. and Cox, B. (2021). Conformal uncertainty sets for robust optimization. COPA.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import ConformalPredictor, OperatorKernelRegressor
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> noise = np.random.default_rng(0).normal(size=(40, 1))
    >>> Y = np.hstack([np.sin(6 * X), np.cos(6 * X)]) + 0.1 * noise  # both outputs err together
    >>> regressor = OperatorKernelRegressor("rbf", gamma=10.0, alpha=1e-3)
    >>> ellipsoid = ConformalPredictor(regressor, level=0.8, score="mahalanobis").fit(X, Y).predict_region([[0.5]])
    >>> box = ConformalPredictor(regressor, level=0.8).fit(X, Y).predict_region([[0.5]])
    >>> bool(ellipsoid.volume()[0] < box.volume()[0])
    True
    """

    def volume(self):
        """Volumes of the sets: exact with one model; a Monte Carlo estimate with several, the same in every call.

        Any point of the set lies in the ellipsoid of at least one calibration sample. Points are drawn from these
        ellipsoids in proportion to their volumes, clipped above, and weighted by the inverse of their density.

        Returns
        -------
        volumes : (m,) array
        """
        calibration, out = self.calibration, np.empty(len(self))
        scales, scores = calibration.scales_by_sample, calibration.scores
        if calibration.models.n_models == 1:
            lower, upper = self.ends
            radii = (upper - lower).max(axis=1) / 2 / calibration.score.extents(scales[:1]).max()
            return np.exp(_log_volumes(scales[:1], radii))
        logs, weights = _log_volumes(scales, scores), None if self.query_weights is None else calibration.weights
        for rows, centres, _ in calibration.centres(self.X):
            for m, q in enumerate(range(*rows.indices(len(self)))):
                query_weight = None if self.query_weights is None else self.query_weights[q : q + 1]
                is_finite = np.isfinite(self.ends[1][q]).all()
                out[q] = (
                    self._volume(centres[m], scales, scores, logs, (weights, query_weight)) if is_finite else np.inf
                )
        return out

    def _volume(self, centres, scales, radii_by_sample, logs, weights):
        """Volume of the set of one query, from centres, scales, radii and log volumes (n, ...) of the ellipsoids."""
        level, score = self.calibration.level, self.calibration.score
        d, rng = centres.shape[1], np.random.default_rng(0)
        unit = np.sort(logs)[min(rank(level, len(logs)), len(logs)) - 1]  # log of a typical volume
        shares = np.exp(np.minimum(logs - unit, 0.0))
        samples = rng.choice(len(logs), _DRAWS, p=shares / shares.sum())
        directions = rng.normal(size=(_DRAWS, d))
        radii = rng.uniform(size=_DRAWS) ** (1 / d) / np.linalg.norm(directions, axis=1)
        factors = np.linalg.cholesky(scales)[samples]
        points = centres[samples] + radii_by_sample[samples, None] * np.einsum(
            "ijk,ik->ij", factors, directions * radii[:, None]
        )
        scores = score.sizes(points[:, None] - centres, scales)  # (draws, n)
        inside = conforms(scores, radii_by_sample, level, *weights)
        density = (scores <= radii_by_sample * (1 + 1e-9)) @ np.exp(np.minimum(unit - logs, 0.0)) / shares.sum()
        return float(np.exp(unit) * np.mean(inside / density))


def _log_volumes(scales, radii):
    """Logarithms (n,) of the volumes of ellipsoids with these matrices and radii; minus infinity for points."""
    d = scales.shape[-1]
    unit = d / 2 * np.log(np.pi) - gammaln(d / 2 + 1)
    with np.errstate(divide="ignore"):
        return unit + np.linalg.slogdet(scales)[1] / 2 + d * np.log(radii)
