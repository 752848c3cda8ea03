"""Scores: the distance of an output from a prediction, relative to a scale.

A score is a setting. Each model *learns* a scale from residuals of its training samples only. So the scores of a
calibration sample and of a new one are exchangeable for any scale. The set of outputs with a score of at most r is
symmetric around the prediction; ``extents`` are half the sides of the box around it for r = 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator, clone

from .._utils.statistics import MAD_TO_DEVIATION, weighted_quantile
from .._utils.validation import check_choice, check_number

_ROUNDING = 1e-12  # scales up to this share of the largest one count as zero
_CONSTANT = 64 * np.finfo(float).eps  # an output whose range is up to this share of its size is constant
_TRIMMED = 0.9  # share of the samples that remain after trimming the most extreme ones
MODULATIONS = ("auto", "constant", "scale", "robust", "trimmed")


class Score(BaseEstimator, ABC):
    """A function of residuals and of a learnt scale; subclasses hold settings only.

    References
    ----------
    - Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic learning in a random world. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn.conformal import scores
    >>> class Mean(scores.ScaledMaximum):
    ...     def sizes(self, residuals, scales):
    ...         return np.nanmean(np.abs(residuals) / scales, axis=-1)
    >>> float(Mean("constant").sizes(np.array([[1.0, -3.0]]), np.ones((1, 2)))[0])
    2.0
    """

    learns = True  # whether the score has a scale, learnt from residuals of the training samples
    pointwise = False  # whether the score is a maximum over points, so that functions may be irregular
    smooth = False  # whether scales of functions are smoothed along their domain
    follows_inputs = False  # whether sizes are relative to the spread of the kernel's posterior at the input

    @abstractmethod
    def learn(self, residuals, weights, level, robust=False):
        """Learn the scale of one model.

        Parameters
        ----------
        residuals : (n, d) array
            Residuals of its training samples, leave-one-out where possible, NaN where not observed.
        weights : (n,) array
            Weights of these samples.
        level : float
            Level of the sets.
        robust : bool, default=False
            Whether the loss of the model is robust; then the scale has to be robust too.

        Returns
        -------
        scale : array
            In the form that ``sizes`` and ``extents`` take.
        """

    def learn_in_units(self, residuals, units, weights, level, robust=False):
        """``learn`` from residuals divided by units (d,) of the outputs; the scale is in the units of the outputs.

        So outputs of very different sizes have the same influence. By default units are ignored.

        Parameters
        ----------
        residuals : (n, d) array
        units : (d,) array
            See ``output_units``.
        weights : (n,) array
        level : float
        robust : bool, default=False
            As in ``learn``.

        Returns
        -------
        scale : array
            As of ``learn``.
        """
        return self.learn(residuals, weights, level, robust)

    @abstractmethod
    def sizes(self, residuals, scales):
        """Compute scores of residuals.

        Parameters
        ----------
        residuals : (..., k, d) array
            Entries that are NaN do not matter.
        scales : (k, ...) array
            Scales of k models.

        Returns
        -------
        sizes : (..., k) array
            NaN where all entries are NaN.
        """

    @abstractmethod
    def extents(self, scales):
        """Compute half the sides of the boxes around the sets of score one.

        Parameters
        ----------
        scales : (k, ...) array
            Scales of k models.

        Returns
        -------
        extents : (k, d) array
        """


class ScaledMaximum(Score):
    """The largest residual over all outputs, or all points of a curve, relative to a scale: boxes and bands.

    Parameters
    ----------
    modulation : {"auto", "constant", "scale", "robust", "trimmed"}, default="auto"
        The scale of each output or point.

        - "constant": one. A band has the same width everywhere; outputs should have the same unit.
        - "scale": the root mean square of residuals.
        - "robust": their median absolute deviation.
        - "trimmed": the largest residual, without the tenth of the samples whose largest residual, in units of the
          range of outputs, is most extreme (Diquigiovanni, Fontana & Vantini 2022, who trim by the level).
        - "auto": "robust" for models with a robust loss, "scale" for others; scales of functions are smoothed over 2 %
          of their domain.

    References
    ----------
    - Diquigiovanni, J., Fontana, M. and Vantini, S. (2022). Conformal prediction bands for multivariate functional
      data. Journal of Multivariate Analysis 189.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn.conformal import scores
    >>> score, residuals = scores.ScaledMaximum("scale"), np.array([[1.0, 20.0], [-1.0, -20.0]])
    >>> scale = score.learn(residuals, np.ones(2), level=0.9)
    >>> scale.round(1), float(score.sizes(np.array([[2.0, 10.0]]), scale)[0])
    (array([ 1., 20.]), 2.0)
    """

    pointwise = True

    def __init__(self, modulation="auto"):
        self.modulation = modulation

    @property
    def learns(self):
        """Whether there is a scale to learn: not for "constant"."""
        return self.modulation != "constant"

    @property
    def smooth(self):
        """Whether scales of functions are smoothed: for "auto"."""
        return self.modulation == "auto"

    def learn(self, residuals, weights, level, robust=False):
        modulation = check_choice(self.modulation, "modulation", MODULATIONS)
        if modulation == "auto":
            modulation = "robust" if robust else "scale"
        return replace_zeros(_MODULATIONS[modulation](residuals, weights))

    def learn_in_units(self, residuals, units, weights, level, robust=False):
        return self.learn(residuals / units, weights, level, robust) * units

    def sizes(self, residuals, scales):
        ratios = np.abs(residuals)
        ratios /= scales
        return np.fmax.reduce(ratios, axis=-1)  # NaN only where no entry was observed

    def extents(self, scales):
        return scales


class NoveltyScaled(ScaledMaximum):
    """The largest residual relative to a scale and to the spread of the kernel's posterior: widths grow with novelty.

    The spread at an input is ``sqrt(s / w + v(x))`` with the posterior variance v of the kernel, s = alpha * sum(w) and
    the mean weight w: the standard deviation of a new output of the Gaussian process whose posterior mean is the fit,
    up to a factor that cancels. The spread at a calibration sample is that of the model without it, so that the
    guarantee holds. The estimator has to be a kernel machine, perhaps after the transformers of a pipeline. Far from
    all samples, intervals of a stationary kernel are ``sqrt(s / w + k(x, x))`` wide in this unit; of a linear one they
    grow without bound.

    Parameters
    ----------
    modulation : {"auto", "constant", "scale", "robust", "trimmed"}, default="auto"
        The scale of each output or point, as in ``ScaledMaximum``.

    References
    ----------
    - Rasmussen, C. E. and Williams, C. K. I. (2006). Gaussian processes for machine learning. MIT Press.
    - Papadopoulos, H. (2024). Guaranteed coverage prediction intervals with Gaussian process regression. IEEE
      Transactions on Pattern Analysis and Machine Intelligence 46(12).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import ConformalPredictor, OperatorKernelRegressor
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> y = np.sin(6 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
    >>> model = ConformalPredictor(OperatorKernelRegressor("rbf", gamma=10.0, alpha=1e-3), score="novelty").fit(X, y)
    >>> near, far = np.diff(model.predict_interval([[0.5], [1.2]]))[:, 0]
    >>> bool(far > 2 * near)
    True
    """

    follows_inputs = True

    def __init__(self, modulation="auto"):
        super().__init__(modulation)


class Mahalanobis(Score):
    """The Mahalanobis length of the residual: ellipsoids.

    The score of an output with gaps uses the observed entries and their block of the covariance: the projection of the
    ellipsoid. The covariance consists of second moments around zero.

    Parameters
    ----------
    shrinkage : float from 0 to 1 or "auto", default="auto"
        Weight of the diagonal in the covariance. "auto" is d / (n + d) for n samples and d outputs.

    References
    ----------
    - Johnstone, C. and Cox, B. (2021). Conformal uncertainty sets for robust optimization. COPA.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn.conformal import scores
    >>> score, residuals = scores.Mahalanobis(shrinkage=0.0), np.array([[1.0, 1.0], [2.0, -2.0]])
    >>> scale = score.learn(residuals, np.ones(2), level=0.9)
    >>> along, across = score.sizes(np.array([[[1.0, -1.0]], [[1.0, 1.0]]]), scale[None])
    >>> bool(along < across)
    True
    """

    def __init__(self, shrinkage="auto"):
        self.shrinkage = shrinkage

    def learn(self, residuals, weights, level, robust=False):
        if robust:  # drop the samples that are extreme in any output
            scale = replace_zeros(_mad(residuals, weights))
            sizes = np.fmax.reduce(np.abs(residuals) / scale, axis=1)
            weights = weights * (sizes <= weighted_quantile(sizes, _TRIMMED, weights))
        observed = np.isfinite(residuals)
        filled = np.where(observed, residuals, 0.0)
        pairs = (observed.T * weights) @ observed
        S = np.divide((filled.T * weights) @ filled, pairs, out=np.zeros_like(pairs), where=pairs > 0)
        n, d = residuals.shape
        spread = replace_zeros(np.sqrt(np.diagonal(S)))
        shrinkage = check_number(self.shrinkage, "shrinkage", strict=False, choices=("auto",))
        if shrinkage == "auto":
            shrinkage = d / (n + d)
        elif shrinkage > 1:
            raise ValueError(f"shrinkage must be a number from 0 to 1 or 'auto', got {shrinkage!r}")
        S = (1 - shrinkage) * S
        S[np.diag_indices(d)] = spread**2
        return _definite(S / np.multiply.outer(spread, spread)) * np.multiply.outer(spread, spread)

    def learn_in_units(self, residuals, units, weights, level, robust=False):
        return self.learn(residuals / units, weights, level, robust) * np.multiply.outer(units, units)

    def sizes(self, residuals, scales):
        missing, is_infinite = np.isnan(residuals), np.isinf(residuals).any(axis=-1)
        if is_infinite.any():
            return np.where(is_infinite, np.inf, self.sizes(np.where(np.isinf(residuals), 0.0, residuals), scales))
        if not missing.any():
            spread = self.extents(scales)
            correlations = scales / (spread[..., :, None] * spread[..., None, :])
            whitening = np.linalg.inv(np.linalg.cholesky(correlations))
            return np.sqrt((np.matmul(whitening, (residuals / spread)[..., None])[..., 0] ** 2).sum(axis=-1))
        out = np.full(residuals.shape[:-1], np.nan)
        scales = np.broadcast_to(scales, (*out.shape, *scales.shape[-2:]))
        rows = missing.reshape(-1, missing.shape[-1])
        patterns, pattern_index = np.unique(rows, axis=0, return_inverse=True)
        flat, flat_scales, sizes = (
            residuals.reshape(rows.shape),
            scales.reshape(-1, *scales.shape[-2:]),
            out.reshape(-1),
        )
        for number, pattern in enumerate(patterns):
            samples, columns = np.flatnonzero(pattern_index.ravel() == number), np.flatnonzero(~pattern)
            if len(columns):
                blocks = flat_scales[np.ix_(samples, columns, columns)]
                sizes[samples] = Mahalanobis.sizes(self, flat[np.ix_(samples, columns)], blocks)
        return out

    def extents(self, scales):
        return np.sqrt(np.diagonal(scales, axis1=-2, axis2=-1))


_BY_NAME = {"auto": ScaledMaximum, "max": ScaledMaximum, "mahalanobis": Mahalanobis, "novelty": NoveltyScaled}


def as_score(score) -> Score:
    """A score from its name, or a copy of an object."""
    if isinstance(score, str):
        if score in MODULATIONS[1:]:
            return ScaledMaximum(score)
        names = (*_BY_NAME, *MODULATIONS[1:])
        return _BY_NAME[check_choice(score, "score", names, ", or an object of conformal.scores")]()
    if isinstance(score, type) or not isinstance(score, Score):
        remedy = f"pass {score.__name__}()" if isinstance(score, type) else "use 'auto' or scores.ScaledMaximum()"
        raise TypeError(f"score must be a name or an object of conformal.scores, got {score!r}; {remedy}")
    return clone(score)


# ---------------------------------------------------------------- scales (d,) of residuals (n, d)


def _ones(residuals, weights):
    return np.ones(residuals.shape[1])


def _deviation(residuals, weights):
    """Root mean square: a bias is part of what the band has to cover."""
    observed = np.isfinite(residuals)
    mass = weights @ observed
    squares = weights @ np.where(observed, residuals, 0.0) ** 2
    return np.sqrt(np.divide(squares, mass, out=np.zeros_like(squares), where=mass > 0))


def _mad(residuals, weights):
    sizes = np.abs(residuals)
    if (weights == weights[:1]).all() and np.isfinite(sizes).all():
        return MAD_TO_DEVIATION * np.median(sizes, axis=0)
    out = np.zeros(residuals.shape[1])
    for j, column in enumerate(sizes.T):
        observed = np.isfinite(column)
        if observed.any():
            out[j] = MAD_TO_DEVIATION * weighted_quantile(column[observed], 0.5, weights[observed])
    return out


def _trimmed(residuals, weights):
    """The envelope of all samples but the most extreme ones.

    Diquigiovanni et al. 2022, section 3.2, with the same share for every level, so that sets are nested in the level.
    """
    sizes = np.abs(residuals)
    largest = np.fmax.reduce(sizes, axis=1)
    in_use = np.isfinite(largest) & (weights > 0)
    if not in_use.any():
        return np.zeros(residuals.shape[1])
    remaining = in_use & (largest <= weighted_quantile(largest[in_use], _TRIMMED, weights[in_use]))
    return np.nan_to_num(np.fmax.reduce(sizes[remaining], axis=0, initial=np.nan))


_MODULATIONS = {"constant": _ones, "scale": _deviation, "robust": _mad, "trimmed": _trimmed}


def replace_zeros(scale):
    """Scales (d,) with the smallest positive one in place of zeros, or one if all are zero.

    Scales below the rounding error of the largest count as zero.
    """
    is_positive = scale > _ROUNDING * scale.max(initial=0.0)
    smallest = scale[is_positive].min(initial=np.inf)
    return np.where(is_positive, scale, smallest if np.isfinite(smallest) else 1.0)


def output_units(outputs):
    """Units (d,) of outputs (n, d): their range; the size of constant ones; one where all are zero or not observed."""
    low, high = np.fmin.reduce(outputs, axis=0), np.fmax.reduce(outputs, axis=0)
    size = np.maximum(np.abs(low), np.abs(high))
    units = np.where(high - low > _CONSTANT * size, high - low, size)
    return np.where(units > 0, units, 1.0)


def _definite(S):
    """A correlation matrix whose eigenvalues are bounded from below: gaps can make some negative."""
    values, vectors = np.linalg.eigh(S)
    floor = 1e-8 * max(values[-1], 0.0)
    return S if values[0] > floor else (vectors * np.maximum(values, floor)) @ vectors.T
