"""Scores: how far an output is from a prediction, in units that a model's own training samples tell.

A score is a setting. Each model that leaves samples out *learns* a scale from residuals of the samples that it was
fitted to, and never from those that it leaves out: then the scores of the samples left out and of a new one are
exchangeable, whatever the scale is. The set of outputs with a score of at most r is symmetric around the prediction;
``extents`` are half the sides of the box around it for r = 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator, clone

from .._utils.statistics import MAD_TO_DEVIATION, weighted_quantile
from .._utils.validation import check_choice, check_number

_ROUNDING = 1e-12  # of a scale relative to the largest, at and below which it is none
_CONSTANT = 64 * np.finfo(float).eps  # range of an output relative to its size, up to which it is constant
_TRIMMED = 0.9  # share of the samples that are not the most extreme
MODULATIONS = ("auto", "constant", "scale", "robust", "trimmed")


class Score(BaseEstimator, ABC):
    """A function of residuals and of a scale that is learnt; subclasses hold settings only.

    References
    ----------
    - Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic learning in a random world. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn.conformal import scores
    >>> class Mean(scores.MaxScaled):
    ...     def sizes(self, residuals, scales):
    ...         return np.nanmean(np.abs(residuals) / scales, axis=-1)
    >>> float(Mean("constant").sizes(np.array([[1.0, -3.0]]), np.ones((1, 2)))[0])
    2.0
    """

    learns = True  # whether residuals of the training samples are needed
    pointwise = False  # whether a score is one of points, so that functions may have points of their own
    smooth = False  # whether scales of functions are to be smoothed along their domain

    @abstractmethod
    def learn(self, residuals, weights, level, robust=False):
        """The scale of one model.

        residuals : (n, d) of its training samples, NaN where not observed; at best each left out
        weights : (n,) of these samples
        level : of the sets to be made
        robust : whether the model is one that resists outliers, so that the scale has to
        """

    def learn_in_units(self, residuals, units, weights, level, robust=False):
        """``learn`` with residuals in units (d,) of the outputs, the scale back in the outputs' own.

        Then outputs of very different sizes count alike. A score whose scale has another form learns as it is.
        """
        return self.learn(residuals, weights, level, robust)

    @abstractmethod
    def sizes(self, residuals, scales):
        """Scores (...,) of residuals (..., k, d) under the scales of k models; over what was observed alone."""

    @abstractmethod
    def extents(self, scales):
        """Half sides (k, d) of the boxes around what has score one."""


class MaxScaled(Score):
    """The largest residual of any output, or at any point of a curve, each relative to a scale: boxes and bands.

    Parameters
    ----------
    modulation : the scale of each output or point
        "constant": one, so that a band has the same width everywhere, and outputs of different units do not go
        together. "scale": the standard deviation of residuals there. "robust": their median absolute deviation.
        "trimmed": the largest residual there of any sample but the most extreme tenth, judged by their largest residual
        in units of the range of outputs (Diquigiovanni, Fontana & Vantini 2022, with the level in place of the share of
        a tenth). "auto": "robust" for models with a loss that resists outliers, "scale" for others; of functions
        smoothed over 2 % of their domain.

    References
    ----------
    - Diquigiovanni, J., Fontana, M. and Vantini, S. (2022). Conformal prediction bands for multivariate functional
      data. Journal of Multivariate Analysis 189.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn.conformal import scores
    >>> score, residuals = scores.MaxScaled("scale"), np.array([[1.0, 20.0], [-1.0, -20.0]])
    >>> scale = score.learn(residuals, np.ones(2), level=0.9)
    >>> scale.round(1), float(score.sizes(np.array([[2.0, 10.0]]), scale)[0])
    (array([ 1., 20.]), 2.0)
    """

    pointwise = True

    def __init__(self, modulation="auto"):
        self.modulation = modulation

    @property
    def learns(self):
        return self.modulation != "constant"

    @property
    def smooth(self):
        return self.modulation == "auto"

    def learn(self, residuals, weights, level, robust=False):
        modulation = check_choice(self.modulation, "modulation", MODULATIONS)
        if modulation == "auto":
            modulation = "robust" if robust else "scale"
        return replace_zeros(_MODULATED[modulation](residuals, weights))

    def learn_in_units(self, residuals, units, weights, level, robust=False):
        return self.learn(residuals / units, weights, level, robust) * units

    def sizes(self, residuals, scales):
        ratios = np.abs(residuals)
        ratios /= scales
        return np.fmax.reduce(ratios, axis=-1)  # NaN only where nothing was observed

    def extents(self, scales):
        return scales


class Mahalanobis(Score):
    """The length of the residual in the metric of the residuals' covariance: ellipsoids.

    Of an output with gaps the score is that of the entries observed, under their part of the covariance: the shadow
    of the ellipsoid. The covariance, of second moments around zero, is drawn to its diagonal by ``shrinkage``.

    Parameters
    ----------
    shrinkage : float from 0 to 1, or "auto" for d / (n + d) with n samples

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
        if robust:  # without the samples that are far out in any output
            scale = replace_zeros(_mad(residuals, weights))
            sizes = np.fmax.reduce(np.abs(residuals) / scale, axis=1)
            weights = weights * (sizes <= weighted_quantile(sizes, _TRIMMED, weights))
        observed = np.isfinite(residuals)
        filled = np.where(observed, residuals, 0.0)
        pairs = (observed.T * weights) @ observed
        S = np.divide((filled.T * weights) @ filled, pairs, out=np.zeros_like(pairs), where=pairs > 0)
        n, d = residuals.shape
        spread = replace_zeros(np.sqrt(np.diagonal(S)))
        mixed = check_number(self.shrinkage, "shrinkage", strict=False, choices=("auto",))
        if mixed == "auto":
            mixed = d / (n + d)
        elif mixed > 1:
            raise ValueError(f"shrinkage must be a number from 0 to 1 or 'auto', got {mixed!r}")
        S = (1 - mixed) * S
        S[np.diag_indices(d)] = spread**2
        return _definite(S / np.multiply.outer(spread, spread)) * np.multiply.outer(spread, spread)

    def learn_in_units(self, residuals, units, weights, level, robust=False):
        return self.learn(residuals / units, weights, level, robust) * np.multiply.outer(units, units)

    def sizes(self, residuals, scales):
        gone, endless = np.isnan(residuals), np.isinf(residuals).any(axis=-1)
        if endless.any():
            return np.where(endless, np.inf, self.sizes(np.where(np.isinf(residuals), 0.0, residuals), scales))
        if not gone.any():
            spread = self.extents(scales)
            correlations = scales / (spread[..., :, None] * spread[..., None, :])
            whitening = np.linalg.inv(np.linalg.cholesky(correlations))
            return np.sqrt((np.matmul(whitening, (residuals / spread)[..., None])[..., 0] ** 2).sum(axis=-1))
        out = np.full(residuals.shape[:-1], np.nan)
        scales = np.broadcast_to(scales, (*out.shape, *scales.shape[-2:]))
        rows = gone.reshape(-1, gone.shape[-1])
        patterns, which = np.unique(rows, axis=0, return_inverse=True)
        flat, flat_scales, sizes = (
            residuals.reshape(rows.shape),
            scales.reshape(-1, *scales.shape[-2:]),
            out.reshape(-1),
        )
        for number, pattern in enumerate(patterns):
            own, here = np.flatnonzero(which.ravel() == number), np.flatnonzero(~pattern)
            if len(here):
                part = flat_scales[np.ix_(own, here, here)]
                sizes[own] = Mahalanobis.sizes(self, flat[np.ix_(own, here)], part)
        return out

    def extents(self, scales):
        return np.sqrt(np.diagonal(scales, axis1=-2, axis2=-1))


_BY_NAME = {"auto": MaxScaled, "max": MaxScaled, "mahalanobis": Mahalanobis}


def as_score(score) -> Score:
    """A score from its name, or a copy of an object."""
    if isinstance(score, str):
        if score in MODULATIONS[1:]:
            return MaxScaled(score)
        names = (*_BY_NAME, *MODULATIONS[1:])
        return _BY_NAME[check_choice(score, "score", names, ", or an object of conformal.scores")]()
    if isinstance(score, type) or not isinstance(score, Score):
        remedy = f"pass {score.__name__}()" if isinstance(score, type) else "use 'auto' or scores.MaxScaled()"
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
        seen = np.isfinite(column)
        if seen.any():
            out[j] = MAD_TO_DEVIATION * weighted_quantile(column[seen], 0.5, weights[seen])
    return out


def _trimmed(residuals, weights):
    """The envelope of the samples that are not the most extreme.

    Diquigiovanni et al. 2022, section 3.2, with a share that is the same for every level: sets of a lower level are
    then inside those of a higher one.
    """
    sizes = np.abs(residuals)
    largest = np.fmax.reduce(sizes, axis=1)
    seen = np.isfinite(largest) & (weights > 0)
    if not seen.any():
        return np.zeros(residuals.shape[1])
    kept = seen & (largest <= weighted_quantile(largest[seen], _TRIMMED, weights[seen]))
    return np.nan_to_num(np.fmax.reduce(sizes[kept], axis=0, initial=np.nan))


_MODULATED = {"constant": _ones, "scale": _deviation, "robust": _mad, "trimmed": _trimmed}


def replace_zeros(scale):
    """Scales (d,) with the smallest positive one where residuals are all zero, one if there is none.

    What is below rounding of the largest counts as zero: it says nothing of a new output there.
    """
    real = scale > _ROUNDING * scale.max(initial=0.0)
    smallest = scale[real].min(initial=np.inf)
    return np.where(real, scale, smallest if np.isfinite(smallest) else 1.0)


def output_units(outputs):
    """Units (d,) of outputs (n, d): their range, of constant ones their size, and one where all are zero or unseen."""
    low, high = np.fmin.reduce(outputs, axis=0), np.fmax.reduce(outputs, axis=0)
    size = np.maximum(np.abs(low), np.abs(high))
    units = np.where(high - low > _CONSTANT * size, high - low, size)
    return np.where(units > 0, units, 1.0)


def _definite(S):
    """A correlation matrix without eigenvalues at or below rounding: gaps can make some negative."""
    values, vectors = np.linalg.eigh(S)
    floor = 1e-8 * max(values[-1], 0.0)
    return S if values[0] > floor else (vectors * np.maximum(values, floor)) @ vectors.T
