"""Samples as given, checked and encoded, before a kernel is selected."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .. import features, kernels
from .._utils.linalg import to_float64
from .._utils.validation import check_memory, warn
from ..spaces import Space
from ..spaces.sampling import Sampling

LARGEST_EXACT = (
    5000  # samples up to which feature_map="auto" uses Gram matrices: 200 MB, and a second for a Cholesky factor
)
_SPEED = 2e10  # multiply-adds per second and core, for estimates of the time of a fit
_LONG = 90.0  # seconds above which an exact fit warns of its time
_MOST_COPIES = 4  # copies of a sample, on average, that count as repetition; more mean discrete data


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The settings of an estimator that turn samples into a problem."""

    pairs: list[tuple]  # (kernel, operator), see ``kernel_terms``
    gamma: Any
    params: dict | None
    center: bool
    space: Callable  # outputs as read, and sample weights -> Space
    graph: Any = None
    manifold: float = 0.0
    kernel_candidates: tuple = ()  # candidate kernels of the first term, empty where its kernel is given
    operator_candidates: tuple = ()  # candidate operators of the first term, empty where its operator is given
    scale_inputs: Any = False  # whether columns of inputs are divided by their standard deviations; "auto" to select it
    features: Any = None  # setting of the feature map: None for Gram matrices, "auto", or an object
    takes_average: bool = True  # whether the feature map can be of an average of kernels
    learns_metric: bool = False  # whether a metric of the inputs is learnt where errors fall
    precision: str = "float64"  # of the fit, see ``precision.py``


@dataclass(frozen=True, kw_only=True)
class EncodedOutputs:
    """Outputs in coordinates of their space."""

    space: Space
    Y: np.ndarray  # (n, d), or values (n, m) at points under a sampling; NaN where not observed; not centred
    sampling: Sampling | None
    coordinates: np.ndarray  # (n, d): Y, or under a sampling the coordinates of interpolated outputs
    outside: Any  # (n,) norms of the outputs outside their space, or None

    @classmethod
    def from_outputs(cls, space: Space, y):
        """Outputs y, as read, in a space."""
        sampling = space.sampling(y)
        if sampling is None:
            Y, outside = space.encode_with_outside(y)
            return cls(space=space, Y=Y, sampling=None, coordinates=Y, outside=outside)
        Y, complete, outside = space.encode(y), space.encode_filled(y), space.filled_outside_norms(y)
        return cls(space=space, Y=Y, sampling=sampling, coordinates=complete, outside=outside)

    def with_outside(self, residuals, loss):
        """Residuals of coordinates, or of values under a sampling, and norms outside the space as one more column."""
        if self.outside is None or self.sampling is not None or loss.quadratic:
            return residuals
        return np.column_stack([residuals, self.outside])

    def take(self, rows):
        return replace(
            self,
            Y=self.Y[rows],
            sampling=None if self.sampling is None else self.sampling.take(rows),
            coordinates=self.coordinates[rows],
            outside=None if self.outside is None else self.outside[rows],
        )


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Samples with a positive weight and an observed output, encoded; outputs are read once."""

    recipe: Recipe
    y: Any  # all outputs, as read
    X: Any  # the samples that predictions are made from
    columns: np.ndarray  # (N,) their positions among all samples
    rows: np.ndarray  # (n,) positions of the samples with an output and a positive weight among all samples
    n_samples: int  # number of all samples
    weights: np.ndarray  # (n,)
    encoded: EncodedOutputs
    graph: Any = None  # over all samples given, ``kernels.Affinity`` or weights; None without a penalty
    screening_weights: Any = None  # (n_samples,) factors of the weights from outlier screening, None for ones
    form: Any = None  # containers of the data as given, for predictions

    @classmethod
    def from_data(cls, recipe: Recipe, X, y, weights, encoded: EncodedOutputs) -> Samples:
        """The samples with a positive weight and an output.

        X : checked inputs; y : outputs as read; weights : (n,); encoded : outputs of positive weight in their space
        """
        weighted = np.flatnonzero(weights > 0)
        observed = observed_rows(weights[weighted], encoded.Y)
        n, rows = len(weights), weighted[observed]
        columns = weighted if recipe.manifold else rows
        if recipe.manifold:
            check_graph(recipe, encoded.sampling)
        d, scalars = encoded.coordinates.shape[1], [kernels.scalar_kernel(kernel) for kernel, _ in recipe.pairs]
        recipe = replace(recipe, features=resolve_feature_map(recipe, len(columns)))
        if recipe.features is None:  # a Cholesky factor beside each K, or what an eigendecomposition works with
            entries = max(kernels.InputKernel(kernel).value_size(len(columns), d) for kernel in scalars)
            copies = entries * (len(recipe.pairs) + (1 if recipe.pairs[0][1] is None else 3))
            check_memory(len(columns), copies=copies / 2 if recipe.precision == "float32" else copies)
            _warn_long_fit(len(columns) * entries**0.5, recipe.pairs[0][1] is not None or len(recipe.pairs) > 1)
        return cls(
            recipe=recipe,
            y=y,
            X=take_samples(X, columns, scalars),
            columns=columns,
            rows=rows,
            n_samples=n,
            weights=weights[rows],
            encoded=encoded.take(observed) if len(observed) < len(weighted) else encoded,
            graph=kernels.check_graph(recipe.graph, n) if recipe.manifold else None,
        )

    @property
    def space(self) -> Space:
        return self.encoded.space

    @property
    def Y(self):
        return self.encoded.Y

    @property
    def mask(self):
        observed = np.isfinite(self.Y)
        return None if observed.all() else observed

    @property
    def measure(self):
        return self.space.measure

    @property
    def nested_weights(self):
        """Pairs of a share and weights (n,): those given, without the samples whose screening factor is below a level.

        Shares are the distances between levels, so that the mean of the weights is in proportion to the reduced ones.
        The mean over pairs of a median is continuous in the factors, unlike the median with reduced weights.
        """
        if self.screening_weights is None:
            return [(1.0, self.weights)]
        factors = self.screening_weights[self.rows]
        levels = np.unique(factors)
        shares, given = np.diff(levels, prepend=0.0) / levels[-1], self.weights / factors
        return [(share, given * (factors >= level)) for share, level in zip(shares, levels, strict=True)]

    @property
    def labelled_indices(self):
        """Positions of the n samples with outputs among the N that predictions are made from."""
        return np.searchsorted(self.columns, self.rows)

    @property
    def input_weights(self):
        """Weights (N,) that kernels are resolved with: those of the loss, ones under a graph."""
        return self.weights if self.graph is None else np.ones(len(self.columns))

    def subsample(self, positions) -> Samples:
        """The samples with outputs at these positions, encoded as before; of a graph the same share of others."""
        if len(positions) == len(self.rows):
            return self
        columns = self.labelled_indices[positions]
        if self.graph is not None:
            others = np.setdiff1d(np.arange(len(self.columns)), self.labelled_indices)
            number = round(len(others) * len(positions) / len(self.rows))
            columns = np.union1d(columns, others[np.linspace(0, len(others) - 1, number).astype(int)])
        rows, weights = self.rows[positions], self.weights[positions]
        encoded = self.encoded.take(positions)
        is_wide = encoded.coordinates.shape[1] > len(positions)  # most coordinates belong to other samples
        if self.measure is None and is_wide:
            encoded = EncodedOutputs.from_outputs(self.recipe.space(self.y[rows], weights), self.y[rows])
        return replace(
            self,
            X=take_samples(self.X, columns, [kernels.scalar_kernel(kernel) for kernel, _ in self.recipe.pairs]),
            columns=self.columns[columns],
            rows=rows,
            weights=weights,
            encoded=encoded,
        )

    def merge_duplicates(self) -> Samples:
        """The same samples with repeated ones merged, their weights added.

        The leave-one-out error of a copy would be zero, and integer weights must select the same settings as
        repetition does. With more than four copies on average, data are discrete and copies count as samples.
        """
        if self.graph is not None:  # its nodes are not merged
            return self
        first, mass, _ = self._groups(self.X)
        return replace(self.subsample(first), weights=mass) if self._are_copies(first) else self

    def expand_duplicates(self, values):
        """Values (n,) of the samples from those of ``merge_duplicates()``."""
        return values if len(values) == len(self.rows) else values[self._groups(self.X)[2]]

    def with_outputs(self, Y) -> Self:
        """The same samples with other coordinates (n, d) of their outputs, all known."""
        return replace(self, encoded=replace(self.encoded, Y=Y, coordinates=Y))

    def screen(self, factors) -> Samples:
        """The same samples with their weights multiplied by factors (n,), also in the outputs' scale.

        Spaces without a scale are not computed anew: a basis that outliers contributed to also represents the others.
        """
        weights, encoded = self.weights * factors, self.encoded
        if getattr(encoded.space, "scale", None) is not None:
            outputs = self.y[self.rows]
            encoded = EncodedOutputs.from_outputs(self.recipe.space(outputs, weights), outputs)
        screening_weights = np.ones(self.n_samples)
        screening_weights[self.rows] = factors
        return replace(self, weights=weights, encoded=encoded, screening_weights=screening_weights)

    def has_duplicates(self) -> bool:
        """Whether samples are repeated, see ``merge_duplicates``; those of a graph's labelled nodes count too."""
        X = self.X if self.graph is None else _safe_indexing(self.X, self.labelled_indices)
        return self._are_copies(self._groups(X)[0])

    def _are_copies(self, first) -> bool:
        """Whether samples repeat the `first` ones, rather than being draws of discrete data."""
        return len(first) < len(self.rows) <= _MOST_COPIES * len(first)

    def _groups(self, X):
        """Groups of equal samples: position of the first, sum of weights, and the group of each sample.

        X : inputs of the n samples
        """
        seen: dict = {}
        group = np.array([seen.setdefault(key, len(seen)) for key in _row_keys(X, self.Y)])
        return np.unique(group, return_index=True)[1], np.bincount(group, weights=self.weights), group

    def with_features(self, setting) -> Samples:
        """The same samples with another setting of the feature map."""
        return replace(self, recipe=replace(self.recipe, features=setting))

    def to_float64(self) -> Samples:
        """The same samples in float64."""
        single = isinstance(self.X, np.ndarray) and self.X.dtype == np.float32
        if self.recipe.precision == "float64" and not single:
            return self
        X = to_float64(self.X) if single else self.X
        return replace(self, X=X, recipe=replace(self.recipe, precision="float64"))

    def with_kernel_candidates(self, candidates) -> Samples:
        """The same samples with these candidate kernels in the first term."""
        pairs = [(candidates[0], self.recipe.pairs[0][1]), *self.recipe.pairs[1:]]
        return replace(self, recipe=replace(self.recipe, pairs=pairs, kernel_candidates=tuple(candidates)))

    def with_kernel(self, kernel) -> Samples:
        """The same samples with one of the candidate kernels in the first term."""
        if not self.recipe.kernel_candidates:
            return self
        pairs = [(kernel, self.recipe.pairs[0][1]), *self.recipe.pairs[1:]]
        return replace(self, recipe=replace(self.recipe, pairs=pairs, kernel_candidates=()))

    def with_operator_setting(self, operator) -> Samples:
        """The same samples with one of the candidate operators in the first term."""
        pairs = [(self.recipe.pairs[0][0], operator), *self.recipe.pairs[1:]]
        return replace(self, recipe=replace(self.recipe, pairs=pairs, operator_candidates=()))


def resolve_feature_map(recipe: Recipe, n):
    """The setting of the feature map in use for n samples, None for Gram matrices.

    "auto" is exact up to 5000 samples and for kernels without landmarks. Beyond that the number of landmarks is
    selected by cross-validated errors.
    """
    setting = recipe.features
    is_scalar = not any(kernels.provides_operator(kernel) for kernel, _ in recipe.pairs)
    if isinstance(setting, str):
        return features.Landmarks("auto") if n > LARGEST_EXACT and is_scalar else None
    if setting is not None and not is_scalar:
        raise ValueError(
            "feature_map requires kernels whose values are numbers; set feature_map=None, or give another kernel"
        )
    return setting


def _warn_long_fit(n, eigenvectors):
    """Warn where factors of a matrix (n, n) take minutes."""
    seconds = (7.5 if eigenvectors else 1 / 6) * n**3 / (_SPEED * (os.cpu_count() or 1))
    if seconds > _LONG:
        warn(
            f"feature_map=None: the exact fit of {n:.0f} samples may take about {seconds / 60:.0f} minutes; "
            "feature_map='auto' takes landmarks in place of the kernel matrix"
        )


def observed_rows(weights, Y):
    """Indices of the samples with a positive weight and an observed output."""
    rows = np.flatnonzero((weights > 0) & np.isfinite(Y).any(axis=1))
    if not len(rows):
        raise ValueError(
            "y has no observed entry with a positive weight, it contains only NaN; "
            "give at least one sample with an output"
        )
    return rows


def take_samples(X, rows, scalars):
    """Samples of X; for a Gram matrix rows and columns."""
    if len(rows) == _num_samples(X):
        return X
    X = _safe_indexing(X, rows)
    is_gram = any(kernels.is_precomputed(getattr(k, "kernel", k)) for k in scalars)
    return X[:, rows] if is_gram else X


def _is_given(operator) -> bool:
    return operator is not None and not (isinstance(operator, str) and operator == "auto")


def kernel_terms(kernel, operator):
    """The list of (kernel, operator) terms that the two settings define, each kernel checked."""
    if isinstance(kernel, (list, tuple)):
        if _is_given(operator):
            raise ValueError("operator must be None when kernel is a list: each of its terms has its own operator")
        if not kernel or not all(isinstance(term, (list, tuple)) and len(term) == 2 for term in kernel):
            raise ValueError(f"kernel: a list must hold (kernel, operator) pairs, got {kernel!r}")
        terms = [tuple(term) for term in kernel]
    else:
        terms = [(kernel, operator)]
    for scalar, term_operator in terms:
        scalar.validate() if hasattr(scalar, "validate") else kernels.check_kernel(scalar)
        if kernels.provides_operator(scalar) and _is_given(term_operator):
            raise ValueError(f"operator must be None with kernels.{type(scalar).__name__}, which brings its own")
    return terms


def check_graph(recipe, sampling):
    """Raise an error for settings that cannot be combined with the penalty of a graph."""
    if len(recipe.pairs) > 1 or kernels.provides_operator(recipe.pairs[0][0]):
        raise ValueError("manifold requires one kernel and operator; set manifold=0, or give a single kernel")
    if sampling is not None:
        raise ValueError(
            "manifold requires outputs that are known on a whole common grid; set manifold=0 or irregular='projected'"
        )


def _row_keys(X, Y):
    """A hashable key for each sample, equal for equal samples."""
    keys: Any
    if scipy.sparse.issparse(X):
        X = X.tocsr().sorted_indices()
        parts = zip(np.split(X.indices, X.indptr[1:-1]), np.split(X.data, X.indptr[1:-1]), strict=True)
        keys = ((i.tobytes(), v.tobytes()) for i, v in parts)
    elif hasattr(X, "row_keys"):
        keys = X.row_keys()
    elif isinstance(X, np.ndarray) and X.dtype != object:
        keys = (row.tobytes() for row in X)
    elif isinstance(X, list) or getattr(X, "ndim", 0) == 1:
        keys = [id(x) for x in list(X)]  # objects of any kind: only the same object counts as repeated
    else:
        keys = range(len(Y))
    return ((x, y.tobytes()) for x, y in zip(keys, Y, strict=True))
