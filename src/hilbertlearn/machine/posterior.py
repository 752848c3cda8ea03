"""The posterior variance of the kernel: how far inputs are from the samples of a fit.

The fitted function is the posterior mean of a Gaussian process with covariance k, where sample i with weight w_i is
observed with noise of variance ``s / w_i``, s = alpha * sum(w) (Rasmussen and Williams 2006, chapter 2). Its variance
at an input depends on the inputs alone: with D = diag(sqrt(w)),

    v(x) = k(x, x) - k_x' D (D K D + s I)^-1 D k_x.

An operator counts as its mean positive eigenvalue, a factor of the kernel, and a sum of terms as the sum of these
kernels. A graph penalty over labelled and unlabelled samples adds its matrix to the precision. Features z have
``v(x) = s z' (Z' D^2 Z + s I)^-1 z``, and landmarks also ``k(x, x) - |z|^2``, which they do not explain.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.utils.validation import _num_samples

from .. import kernels
from .._utils.blocks import blocks_of
from .._utils.linalg import psd_root
from ..core.terms import SeparableTerm
from ..selection import SCREENED
from ..training import Fit, has_float32_inputs

_ROUNDING = 1e-10  # differences of variances up to this share of k(x, x) are rounding
_LARGE_NOISE = 100.0  # noise relative to k(x, x) beyond which variances from leverages lose digits
_SMALLEST_SHARE = np.finfo(float).eps  # of a leave-one-out residual that the fit leaves


@dataclass(frozen=True, eq=False, kw_only=True)
class PosteriorData:
    """What the posterior variance is computed from.

    The first use of ``posterior`` computes factors of the size of the kernel matrix, or of Z'Z, which neither pickles
    nor model files store.
    """

    X: Any  # the N samples, also those without outputs
    kernels: tuple  # InputKernel each, or FeatureKernel
    operators: tuple  # of each kernel, None for the identity
    positions: np.ndarray  # (n,) of the samples with outputs among the N, without screened ones
    weights: np.ndarray  # (n,) of these
    penalty: float  # alpha times the sum of weights
    graph_penalty: Any = None  # (N, N)
    ratio: float = 0.0  # factor of the graph penalty over alpha

    @classmethod
    def from_fit(cls, fit: Fit) -> PosteriorData | None:
        """None where samples are not kept, and for kernels that are no numbers or are known at the samples only."""
        training = fit.training
        terms = [term.unsampled.as_separable() for term in training.terms]
        if training.X is None or None in terms or any(is_precomputed(kernel) for kernel in training.kernels):
            return None
        observed = np.isfinite(training.encoded.coordinates).any(axis=1)  # without the rows that order quantiles
        if training.screening_weights is not None:
            observed &= training.screening_weights[training.rows] >= SCREENED
        gram = training.grams[0]
        graph = {}
        if gram.depends_on_alpha:
            graph = {"graph_penalty": gram.kernel.S, "ratio": float(training.recipe.manifold) / fit.alpha}
        return cls(
            X=training.X,
            kernels=tuple(kernel.without_bounds() for kernel in training.kernels),
            operators=tuple(term.M for term in terms),
            positions=training.labelled_indices[observed],
            weights=training.weights[observed],
            penalty=fit.problem.penalty,
            **graph,
        )

    @property
    def on_features(self) -> bool:
        """Whether features replace kernel values."""
        return self.kernels[0].on_features

    @property
    def size(self) -> int:
        """Number of rows of the factor: of features, or of samples."""
        return sum(kernel.n_components for kernel in self.kernels) if self.on_features else _num_samples(self.X)

    @cached_property
    def posterior(self) -> Posterior:
        """The posterior variance, with its factors."""
        return (FeaturePosterior if self.on_features else GramPosterior)(self)

    def __getstate__(self):
        return {field.name: getattr(self, field.name) for field in fields(self)}


def is_precomputed(kernel) -> bool:
    """Whether values of an ``InputKernel``, or of the kernel behind features, are known at the samples only."""
    return kernels.is_precomputed(kernel.kernel)


class InputNovelty(ABC):
    """How far inputs are from the samples of a fit."""

    @abstractmethod
    def novelty(self, X):
        """Novelty (m,) of checked inputs, from 0 to 1."""

    @property
    @abstractmethod
    def threshold(self) -> float:
        """Novelty above which a prediction is an extrapolation."""


class Posterior(InputNovelty):
    """The posterior variance v(x) of one fit, and of the fits without one of its samples.

    Leave-one-out holds alpha times the sum of weights fixed, as everywhere in the package.
    """

    def __init__(self, data: PosteriorData):
        self.data = data
        self.factors = _mean_eigenvalues(data.operators)
        self.X = _in_float64(data.X)
        root = np.zeros(_num_samples(self.X))
        root[data.positions] = np.sqrt(data.weights / data.penalty)
        self.root = root  # (N,) square roots of the precisions of the observations
        self.precision = None  # (N, N) with a graph penalty
        if data.graph_penalty is not None:
            S = data.graph_penalty
            self.precision = data.ratio * np.asarray(S.toarray() if hasattr(S, "toarray") else S, dtype=float)
            self.precision.flat[:: len(root) + 1] += root**2

    # ---------------------------------------------------------------- one block of inputs

    @abstractmethod
    def _evaluate(self, X):
        """k(x, x) (m,) and v(x) (m,)."""

    @abstractmethod
    def _influences(self, X):
        """Posterior covariances (m, n) of inputs and samples, times the root precisions of the observations."""

    @property
    @abstractmethod
    def shares(self):
        """Share (n,) of each leave-one-out residual that the fit leaves: one minus the leverage, for one output."""

    # ---------------------------------------------------------------- variances

    @property
    def noise(self) -> float:
        """Variance of the noise of a sample with the mean weight, in the unit of the variances."""
        return self.data.penalty / float(self.data.weights.mean())

    @property
    def loo_noises(self):
        """Variances (n,) of the noise in the models without each sample; their mean weight is that of the others."""
        weights = self.data.weights
        return self.data.penalty * (len(weights) - 1) / (weights.sum() - weights)

    def variances(self, X):
        """v (m,) at checked inputs, from 0 to k(x, x)."""
        return self._both(X)[1]

    def _both(self, X):
        X = _in_float64(X)
        prior, variance = np.empty((2, _num_samples(X)))
        with np.errstate(over="ignore", invalid="ignore"):
            for rows, part in blocks_of(X, 2 * self.data.size):
                prior[rows], variance[rows] = self._evaluate(part)
        is_finite = np.isfinite(prior) & np.isfinite(variance)
        return prior, np.where(is_finite, np.clip(variance, 0.0, prior), np.inf)

    @property
    @abstractmethod
    def _at_samples(self):
        """k(x, x) (n,) and v(x) (n,) at the samples with outputs."""

    def _at_samples_by_solves(self):
        prior, variance = self._both(self.X)
        return prior[self.data.positions], variance[self.data.positions]

    @property
    def _root_precisions(self):
        """(n,) of the observations of the samples."""
        return self.root[self.data.positions]

    @property
    @abstractmethod
    def loo_variances(self):
        """v (n,) at each sample without its own observation.

        An observation of precision p changes a variance v to ``v / (1 + p v)``.
        """

    def loo_variances_at(self, X):
        """v (m, n) at the inputs of one block, without the observation of each sample."""
        X = _in_float64(X)
        prior, variance = self._both(X)
        return np.minimum(variance[:, None] + self._influences(X) ** 2 / self.shares, prior[:, None])

    # ---------------------------------------------------------------- spreads of new outputs, up to a common factor

    def spreads(self, X):
        """Standard deviations (m,) of new outputs at checked inputs."""
        return np.sqrt(self.noise + self.variances(X))

    @property
    def loo_spreads(self):
        """Spread (n,) at each sample by the model without it."""
        return np.sqrt(self.loo_noises + self.loo_variances)

    def loo_spreads_at(self, X):
        """Spreads (m, n) at the inputs of one block by the models without each sample."""
        return np.sqrt(self.loo_noises + self.loo_variances_at(X))

    # ---------------------------------------------------------------- novelty

    @cached_property
    def _range(self):
        """The variances that count as 0 and 1: the largest v(x), and the largest k(x, x), of a sample."""
        prior, variance = self._at_samples
        return float(variance.max()), float(prior.max())

    def novelty(self, X):
        """Share (m,) of the prior variance that the samples leave open, 0 where no more than at a sample.

        It is ``(v(x) - v_0) / (k_0 - v_0)``, clipped to [0, 1], with the largest v(x) and k(x, x) of a sample.
        """
        return self._relative(self.variances(X))

    def _relative(self, variances):
        lowest, highest = self._range
        rounding = _ROUNDING * highest
        excess = variances - lowest
        if highest - lowest <= rounding:  # the samples say nothing of the function
            return (excess > rounding).astype(float)
        return np.where(excess > rounding, np.minimum(excess / (highest - lowest), 1.0), 0.0)

    @cached_property
    def loo_novelty(self):
        """Novelty (n,) of each sample without its own observation."""
        return self._relative(self.loo_variances)

    @property
    def threshold(self) -> float:
        """Novelty above which a prediction is an extrapolation.

        It is half way from the most isolated sample, seen from the others, to inputs of which the samples say nothing.
        """
        return (1.0 + float(self.loo_novelty.max())) / 2


class GramPosterior(Posterior):
    """From the Cholesky factor of ``I + F' K F``, F F' the precision of the observations and of the graph penalty."""

    def __init__(self, data):
        super().__init__(data)
        self.precision_root = None if self.precision is None else psd_root(self.precision)
        self.factor = _root(self._times_root(self._times_root(self._values(self.X)).T))

    def _values(self, X):
        """Kernel values (m, N) with the samples, a new array."""
        pairs = zip(self.factors, self.data.kernels, strict=True)
        samples = None if X is self.X else self.X
        return sum(factor * np.asarray(kernel(X, samples), dtype=float) for factor, kernel in pairs)

    def _prior(self, X):
        """k(x, x) (m,)."""
        pairs = zip(self.factors, self.data.kernels, strict=True)
        return sum(factor * np.asarray(kernel.diagonal(X), dtype=float) for factor, kernel in pairs)

    def _times_root(self, G):
        """``G F``; G may be overwritten."""
        if self.precision_root is not None:
            return G @ self.precision_root
        G *= self.root
        return G

    def _whitened(self, X):
        """(N, m) with squared column norms ``k(x, x) - v(x)``."""
        return _solve(self.factor, self._times_root(self._values(X)).T)

    def _evaluate(self, X):
        prior, whitened = self._prior(X), self._whitened(X)
        return prior, prior - np.einsum("ij,ij->j", whitened, whitened)

    def _influences(self, X):
        if self.precision is None:
            return _solve(self.factor, self._whitened(X), transpose=True).T[:, self.data.positions]
        samples = self._whitened(self.X)[:, self.data.positions]
        return (self._values(X)[:, self.data.positions] - self._whitened(X).T @ samples) * self._root_precisions

    @cached_property
    def _at_samples(self):
        """Without a graph from the shares, where that keeps the digits: it takes a third of the time."""
        noises = self._root_precisions**-2.0
        prior = self._prior(self.X)[self.data.positions]
        if self.precision is not None or noises.max() > _LARGE_NOISE * prior.max():
            return self._at_samples_by_solves()
        return prior, np.clip((1 - self.shares) * noises, 0.0, prior)

    @cached_property
    def shares(self):
        if self.precision is None:
            inverse = scipy.linalg.lapack.dtrtri(self.factor, lower=1)[0]
            shares = np.einsum("ij,ij->j", inverse, inverse)[self.data.positions]
        else:
            shares = 1 - self._root_precisions**2 * self._at_samples[1]
        return np.clip(shares, _SMALLEST_SHARE, 1.0)

    @cached_property
    def loo_variances(self):
        prior, variance = self._at_samples
        return np.minimum(variance / self.shares, prior)


class FeaturePosterior(Posterior):
    """From the Cholesky factor of ``I + Z' P Z``, P the precision of the observations and of the graph penalty."""

    def __init__(self, data):
        super().__init__(data)
        if self.precision is None:
            inner = np.zeros((data.size, data.size))
            for rows, part in blocks_of(self.X, 2 * data.size):
                Z = self.root[rows, None] * self._features(part)[0]
                inner += Z.T @ Z
        else:
            Z = self._features(self.X)[0]
            inner = Z.T @ self.precision @ Z
        self.factor = _root(inner)

    def _features(self, X):
        """Features (m, r) of all terms beside each other, and the part of k(x, x) (m,) that they lack."""
        parts, outside = [], np.zeros(_num_samples(X))
        for factor, kernel in zip(self.factors, self.data.kernels, strict=True):
            Z = np.asarray(kernel(X), dtype=float)
            parts.append(np.sqrt(factor) * Z)
            outside += factor * kernel.map.unexplained_variances(X, Z)
        return np.hstack(parts), outside

    def _evaluate(self, X):
        Z, outside = self._features(X)
        whitened = _solve(self.factor, Z.T)
        return np.einsum("ij,ij->i", Z, Z) + outside, np.einsum("ij,ij->j", whitened, whitened) + outside

    def _influences(self, X):
        samples = _solve(self.factor, self._features(self.X)[0][self.data.positions].T) * self._root_precisions
        return _solve(self.factor, self._features(X)[0].T).T @ samples

    @cached_property
    def _inside(self):
        """The part of v (n,) at the samples that their observations change: landmarks explain nothing of the rest."""
        inside = np.empty(len(self.root))
        for rows, part in blocks_of(self.X, 2 * self.data.size):
            whitened = _solve(self.factor, self._features(part)[0].T)
            inside[rows] = np.einsum("ij,ij->j", whitened, whitened)
        return inside[self.data.positions]

    @cached_property
    def _at_samples(self):
        return self._at_samples_by_solves()

    @cached_property
    def shares(self):
        return np.clip(1 - self._root_precisions**2 * self._inside, _SMALLEST_SHARE, 1.0)

    @cached_property
    def loo_variances(self):
        prior, variance = self._at_samples
        return np.minimum(variance + self._inside * (1 / self.shares - 1), prior)


def _mean_eigenvalues(operators):
    """The mean positive eigenvalue of each operator (None is the identity); ones where all are zero."""
    spectra = [None if M is None else SeparableTerm(None, M).operator_spectrum.values for M in operators]
    means = np.array([1.0 if values is None else float(np.mean(values)) if len(values) else 0.0 for values in spectra])
    return means if means.any() else np.ones(len(means))


def _in_float64(X):
    return X.astype(float) if has_float32_inputs(X) else X


def _root(S):
    """Lower triangular L with ``L L' = I + S``, S (N, N) positive semi-definite up to rounding."""
    C = np.array(S, dtype=float)
    C.flat[:: len(C) + 1] += 1.0
    try:
        return scipy.linalg.cholesky(C, lower=True, check_finite=False)
    except np.linalg.LinAlgError:  # rounding made it indefinite
        values, Q = np.linalg.eigh((C + C.T) / 2)
        (R,) = scipy.linalg.qr((Q * np.sqrt(np.maximum(values, 1.0))).T, mode="r", check_finite=False)
        return R.T


def _solve(L, B, transpose=False):
    """``L^-1 B``, or ``L'^-1 B``."""
    return scipy.linalg.solve_triangular(L, B, lower=True, trans=int(transpose), check_finite=False)
