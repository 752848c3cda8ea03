"""From checked arguments to the dual problem: what one fit, a path of fits, leave-one-out and folds share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .. import kernels, operators
from .._linalg import eigenspaces, spectrum
from .._statistics import mean_rows
from .._validation import check_memory
from ..problem import Problem
from ..spaces import Space
from ..spaces.sampling import Sampling
from ..terms import (
    PATH,
    Deformed,
    DeformedGram,
    Factors,
    Padded,
    PaddedFactors,
    Sampled,
    Term,
    TrainingOutputs,
    make_gram,
    make_term,
)
from .constant import best_constant

_ALPHAS_PER_DECADE = 4
_MOST_DIRECTIONS = 50  # deformed kernels of one model
_SMALLEST, _LARGEST = 1e-11, 10.0  # default alphas, relative to the mean of k(x, x) times the operator's norm


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How samples become a problem: the settings of an estimator that say so."""

    pairs: list[tuple]  # (kernel, operator), see ``kernel_terms``
    gamma: Any
    params: dict | None
    center: bool
    space: Callable  # outputs as read, and sample weights -> Space
    graph: Any = None
    manifold: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """Outputs in coordinates of their space."""

    space: Space
    Y: np.ndarray  # (n, d), or values (n, m) at points under a sampling; NaN where not observed; not centred
    sampling: Sampling | None
    coordinates: np.ndarray  # (n, d): Y, or under a sampling what interpolation fills in
    outside: Any  # (n,), or None: norms of what outputs have beside their coordinates

    @classmethod
    def of(cls, space: Space, y):
        """Outputs y, as read, in a space."""
        Y, sampling = space.encode(y), space.sampling(y)
        coordinates = Y if sampling is None else space.complete(y)
        return cls(space=space, Y=Y, sampling=sampling, coordinates=coordinates, outside=space.outside(y))

    def take(self, rows):
        return replace(
            self,
            Y=self.Y[rows],
            sampling=None if self.sampling is None else self.sampling.take(rows),
            coordinates=self.coordinates[rows],
            outside=None if self.outside is None else self.outside[rows],
        )


@dataclass(frozen=True, kw_only=True)
class Training:
    """Samples that count, encoded, with their terms; outputs are read once, and folds take rows of this."""

    recipe: Recipe
    y: Any  # all outputs given, as read
    X: Any  # the samples that predictions are made from
    columns: np.ndarray  # (N,) which of the samples given these are
    rows: np.ndarray  # (n,) which of them have outputs and count
    n_samples: int  # how many were given
    weights: np.ndarray  # (n,)
    kernels: tuple[kernels.InputKernel, ...]
    grams: tuple  # of each kernel, between the n samples
    terms: tuple[Term, ...]  # not scaled by weights
    encoded: Encoded

    # ---------------------------------------------------------------- what is there

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
    def root_weights(self):
        return None if (self.weights == 1).all() else np.sqrt(self.weights)

    @property
    def learns(self) -> operators.Learned | None:
        """The setting of an operator that is found with the function."""
        return operators.as_learned(self.recipe.pairs[0][1])

    @property
    def centered(self) -> bool:
        return self.recipe.center

    @property
    def closed_form(self) -> bool:
        """Whether leave-one-out residuals of the squared loss have a formula."""
        if len(self.terms) > 1 or self.learns is not None or not self.terms[0].closed_form:
            return False
        return self.mask is None or self.terms[0].takes_gaps

    @property
    def depends_on_alpha(self) -> bool:
        """Whether a graph's penalty makes the kernel another one for each alpha."""
        return self.grams[0].depends_on_alpha

    # ---------------------------------------------------------------- problems

    def centre(self, loss):
        """The constant (d,), in coordinates, that the model with that loss is fitted around."""
        if not self.recipe.center:
            return np.zeros(self.encoded.coordinates.shape[1])
        encoded = self.encoded
        return best_constant(encoded.coordinates, self.weights, loss, self.measure, encoded.outside)

    def term_at(self, alpha) -> Term:
        """The map of the only kernel for that alpha, scaled by the weights."""
        term = self.terms[0].at(alpha)
        term = term if self.mask is None else term.observed(self.mask)
        return term if self.root_weights is None else term.scaled(self.root_weights)

    def problem(self, loss, alpha, center) -> Problem:
        """The dual problem of outputs around a constant, `center` (d,)."""
        encoded, root = self.encoded, self.root_weights
        pushed = center if encoded.sampling is None else encoded.sampling.push(center)
        Y = np.nan_to_num(self.Y - pushed)
        terms = [self.term_at(alpha)] if len(self.terms) == 1 else self.terms
        if len(self.terms) > 1 and root is not None:
            terms = [term.scaled(root) for term in terms]
        if self.pads(loss):
            Y, terms = np.column_stack([Y, encoded.outside]), [Padded(term) for term in terms]
        Y = Y if root is None else Y * root[:, None]
        return Problem(tuple(terms), Y, loss, alpha * self.weights.sum(), self.mask, root, self.measure)

    def pads(self, loss) -> bool:
        """Whether the loss sees what outputs have outside their space; to the squared loss it is a constant."""
        return self.encoded.outside is not None and not loss.quadratic and not loss.on_margins

    def fitting(self, factors: Factors | None, loss) -> Factors | None:
        """Factors of ``term_at`` as the problem with that loss takes them."""
        return PaddedFactors(factors) if factors is not None and self.pads(loss) else factors

    def alphas(self):
        """Logarithmic grid of penalties that spans the spectrum of the problem."""
        scale = sum(term.scaled(np.sqrt(self.weights)).scale for term in self.terms) / self.weights.sum()
        number = round(_ALPHAS_PER_DECADE * np.log10(_LARGEST / _SMALLEST)) + 1
        return (scale if scale > 0 else 1.0) * np.geomspace(_SMALLEST, _LARGEST, number)

    def prepared(self, alphas) -> tuple[Training, Any]:
        """The same data, and factors, for which every further alpha costs little."""
        if len(alphas) < 2 or len(self.terms) > 1 or not self.terms[0].closed_form:
            return self, None
        if self.depends_on_alpha:
            gram = self.grams[0].factored()
            return replace(self, grams=(gram,), terms=(self.terms[0].with_gram(gram),)), None
        return self, self.term_at(alphas[0]).factor(PATH)

    def with_operator(self, M) -> Training:
        """The same data with another operator."""
        return replace(self, terms=(self.terms[0].with_operator(M),))

    # ---------------------------------------------------------------- parts of the data

    def take(self, positions) -> Training:
        """The training data of some of the n samples: what is learnt from the data is learnt from theirs alone.

        With a graph's penalty the other samples stay, without outputs.
        """
        rows, weights = self.rows[positions], self.weights[positions]
        encoded = Encoded.of(self.recipe.space(self.y[rows], weights), self.y[rows])
        X, columns, own, grams = self.X, self.columns, self.kernels, [gram.take(positions) for gram in self.grams]
        if not self.depends_on_alpha:
            X, columns = self._samples(positions), rows
            settings = [kernels.scalar(kernel) for kernel, _ in self.recipe.pairs]
            own = tuple(self._kernel_of(k, setting, X, weights) for k, setting in enumerate(settings))
            for k, kernel in enumerate(own):
                if kernel is not self.kernels[k]:
                    grams[k] = make_gram(kernel.kernel, kernel.training(X))
        return replace(
            self,
            X=X,
            columns=columns,
            rows=rows,
            weights=weights,
            kernels=own,
            grams=tuple(grams),
            terms=make_terms(self.recipe, grams, encoded, weights),
            encoded=encoded,
        )

    def _kernel_of(self, k, setting, X, weights):
        """The kernel of some samples: the same where nothing in its settings is left to the data."""
        given = not isinstance(self.recipe.gamma, str) or self.kernels[k].gamma is None
        if given and not hasattr(setting, "resolve"):
            return self.kernels[k]
        return kernels.InputKernel.of(setting, self.recipe.gamma, self.recipe.params, X, weights)

    def with_space(self, space: Space) -> Training:
        """The same samples with outputs in another space."""
        encoded = Encoded.of(space, self.y).take(self.rows)
        terms = make_terms(self.recipe, self.grams, encoded, self.weights)
        return replace(self, encoded=encoded, terms=terms)

    def distinct(self) -> Training:
        """The same data with repeated samples merged, their weights added.

        Leaving out one of two copies tests nothing, and integer weights must select what repetition selects.
        """
        seen: dict = {}
        keys = _row_keys(self.X if not self.depends_on_alpha else self._labelled, self.Y)
        group = np.array([seen.setdefault(key, len(seen)) for key in keys])
        if len(seen) == len(group):
            return self
        first = np.unique(group, return_index=True)[1]
        return replace(
            self,
            X=self.X if self.depends_on_alpha else self._samples(first),
            columns=self.columns if self.depends_on_alpha else self.columns[first],
            rows=self.rows[first],
            weights=np.bincount(group, weights=self.weights),
            grams=tuple(gram.take(first) for gram in self.grams),
            terms=tuple(term.take(first) for term in self.terms),
            encoded=self.encoded.take(first),
        )

    @cached_property
    def _labelled(self):
        """The n samples that have outputs."""
        return _safe_indexing(self.X, np.searchsorted(self.columns, self.rows))

    def _samples(self, positions):
        return take_samples(self.X, positions, self.kernels)

    def cross(self, positions, of: Training):
        """Kernel values, by kernel, of some samples with those that the model of `of`, rows of this, is made from."""
        columns, values = np.searchsorted(self.rows, of.rows), []
        for gram, kernel, own in zip(self.grams, self.kernels, of.kernels, strict=True):
            if kernel is own:
                values.append(gram.cross(positions, columns))
            else:
                values.append(own(_safe_indexing(self.X, positions), of.X))
        return values


# ---------------------------------------------------------------- making it


def build(recipe: Recipe, X, y, weights, encoded: Encoded) -> Training:
    """Gram matrices and terms of the samples with a positive weight and an output.

    X : checked inputs; y : outputs as read; weights : (n,); encoded : outputs of positive weight in their space
    """
    kept = np.flatnonzero(weights > 0)
    own = counting(weights[kept], encoded.Y)
    n, rows = len(weights), kept[own]
    every = kept if recipe.manifold else rows
    if recipe.manifold:
        check_graph(recipe, encoded.sampling)
    # a Cholesky factor beside each K, or what an eigendecomposition works with
    d, scalars = encoded.coordinates.shape[1], [kernels.scalar(kernel) for kernel, _ in recipe.pairs]
    entries = max(kernels.InputKernel(kernel).entries(len(every), d) for kernel in scalars)
    check_memory(len(every), copies=entries * (len(recipe.pairs) + (1 if recipe.pairs[0][1] is None else 3)))
    graph = kernels.as_graph(recipe.graph, n) if recipe.manifold else None
    X = take_samples(X, every, scalars)
    encoded = encoded.take(own) if len(own) < len(kept) else encoded
    weights, own = weights[rows], np.searchsorted(every, rows)
    # weights are those of the loss, they leave the kernel of a graph alone
    of_inputs = weights if graph is None else np.ones(len(every))
    resolved = tuple(kernels.InputKernel.of(k, recipe.gamma, recipe.params, X, of_inputs) for k in scalars)
    grams: list = []
    for kernel in resolved:
        K = kernel.training(X)
        if graph is None:
            grams.append(make_gram(kernel.kernel, K))
        else:
            penalty = kernels.smoothness(graph, K, every)
            grams.append(DeformedGram(Deformed(K, penalty), float(recipe.manifold), own))
    terms = make_terms(recipe, grams, encoded, weights)
    if graph is not None:
        _check_directions(recipe, terms[0], encoded)
    return Training(
        recipe=recipe,
        y=y,
        X=X,
        columns=every,
        rows=rows,
        n_samples=n,
        weights=weights,
        kernels=resolved,
        grams=tuple(grams),
        terms=terms,
        encoded=encoded,
    )


def make_terms(recipe, grams, encoded: Encoded, weights):
    """The terms of kernels with these Gram matrices, operators learnt from encoded outputs."""
    coordinates, space = encoded.coordinates, encoded.space
    center = mean_rows(coordinates, weights) if recipe.center else np.zeros(coordinates.shape[1])
    outputs = TrainingOutputs(coordinates, weights, center, space if hasattr(space, "axes") else None)
    learned = [operators.as_learned(operator) for _, operator in recipe.pairs]
    if any(learned) and (len(learned) > 1 or encoded.sampling is not None):
        raise ValueError(
            "operator: Learned goes with one kernel and outputs on a common grid; give a single kernel, or "
            "irregular='projected'"
        )
    terms = [
        make_term(kernel, gram, operator, outputs) for (kernel, operator), gram in zip(recipe.pairs, grams, strict=True)
    ]
    return tuple(terms if encoded.sampling is None else [Sampled(term, encoded.sampling) for term in terms])


def counting(weights, Y):
    """Indices of the samples with a positive weight and something observed."""
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
    given = any(kernels.is_precomputed(getattr(k, "kernel", k)) for k in scalars)
    return X[:, rows] if given else X


def kernel_terms(kernel, operator):
    """The list of (kernel, operator) terms behind the two settings, each kernel checked."""
    if isinstance(kernel, (list, tuple)):
        if operator is not None and not (isinstance(operator, str) and operator == "auto"):
            raise ValueError("operator must be None when kernel is a list: each of its terms has its own operator")
        if not kernel or not all(isinstance(term, (list, tuple)) and len(term) == 2 for term in kernel):
            raise ValueError(f"kernel: a list must hold (kernel, operator) pairs, got {kernel!r}")
        terms = [tuple(term) for term in kernel]
    else:
        terms = [(kernel, operator)]
    for one, its_operator in terms:
        one.validate() if hasattr(one, "validate") else kernels.check_kernel(one)
        given = its_operator is not None and not (isinstance(its_operator, str) and its_operator == "auto")
        if kernels.brings_operator(one) and given:
            raise ValueError(f"operator must be None with kernels.{type(one).__name__}, which brings its own")
    return terms


def check_graph(recipe, sampling):
    """Refuse what the penalty of a graph does not go with."""
    if len(recipe.pairs) > 1 or kernels.brings_operator(recipe.pairs[0][0]):
        raise ValueError("manifold goes with one kernel and operator; set manifold=0, or give a single kernel")
    if sampling is not None:
        raise ValueError(
            "manifold goes with outputs that are known on a whole common grid; set manifold=0 or irregular='projected'"
        )


def _check_directions(recipe, term, encoded):
    """Refuse an operator with too many eigenvalues, each of which would have a deformed kernel."""
    number = 0 if term.M is None else len(eigenspaces(spectrum(term.M)))
    if operators.as_learned(recipe.pairs[0][1]) is not None:
        number = encoded.Y.shape[1]  # it will have as many
    if number > _MOST_DIRECTIONS:
        raise ValueError(
            f"manifold: the operator has {number} different eigenvalues, each with a kernel of its own, more than "
            f"{_MOST_DIRECTIONS}; use operator=None, a matrix of lower rank, or for curves a space with fewer "
            "components, such as space=spaces.Eigen(n_components=20)"
        )


def _row_keys(X, Y):
    """A hashable key for each sample, equal for equal samples."""
    keys: Any
    if scipy.sparse.issparse(X):
        X = X.tocsr().sorted_indices()
        parts = zip(np.split(X.indices, X.indptr[1:-1]), np.split(X.data, X.indptr[1:-1]), strict=True)
        keys = ((i.tobytes(), v.tobytes()) for i, v in parts)
    elif isinstance(X, np.ndarray) and X.dtype != object:
        keys = (row.tobytes() for row in X)
    elif isinstance(X, list) or getattr(X, "ndim", 0) == 1:
        keys = [id(x) for x in list(X)]  # objects of any kind: only the same object counts as repeated
    else:
        keys = range(len(Y))
    return ((x, y.tobytes()) for x, y in zip(keys, Y, strict=True))
