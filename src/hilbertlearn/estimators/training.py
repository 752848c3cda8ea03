"""From raw arguments to the dual problem: the state that one fit, or a whole path of fits, shares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse
from sklearn.utils import _safe_indexing

from .. import kernels, operators
from .._statistics import geometric_median, mean_rows, pointwise_median
from .._validation import check_memory
from ..problem import Problem, Sampled, Separable
from ..solvers.spectral import leave_one_out
from ..spaces import Space
from ..spaces.sampling import Sampling

ALPHAS_PER_DECADE = 4
SMALLEST, LARGEST = 1e-11, 10.0  # default alphas, relative to the mean of k(x, x) times the operator's norm


@dataclass(frozen=True)
class Training:
    """Samples that count, as the problem sees them.

    ``terms`` are scaled by sqrt(w); ``Y`` (n, d) is not, has NaN where nothing was observed and is not centred.
    """

    X: object
    Y: np.ndarray
    weights: np.ndarray
    rows: np.ndarray  # which of the samples given to fit these are
    n_samples: int  # how many were given
    kernels: tuple  # scalar ones, settings that depend on the samples as numbers
    gammas: tuple
    terms: Sequence
    space: Space
    center: np.ndarray  # (d,) coordinates of what the model is fitted around
    weighted: bool
    sampling: Sampling | None = None  # then Y are values at points, not coordinates

    @property
    def mask(self):
        observed = np.isfinite(self.Y)
        return None if observed.all() else observed

    @property
    def root_weights(self):
        return np.sqrt(self.weights) if self.weighted else None

    @property
    def separable(self) -> bool:
        """Whether there is one separable term only, so that one factorisation serves every alpha."""
        return len(self.terms) == 1 and isinstance(self.terms[0], Separable)

    @property
    def closed_form(self) -> bool:
        """Whether leave-one-out residuals of the squared loss have a formula."""
        return self.separable and self.mask is None

    @property
    def measure(self):
        return self.space.measure

    def loo_errors(self, residuals):
        """Error (n,) of each sample, from its leave-one-out residuals (n, d)."""
        return self.space.held_out_errors(self.Y, residuals)

    def problem(self, loss, alpha) -> Problem:
        Y = np.nan_to_num(self.Y - (self.center if self.sampling is None else self.sampling.push(self.center)))
        if self.weighted:
            Y = Y * self.root_weights[:, None]
        return Problem(self.terms, Y, loss, alpha * self.weights.sum(), self.mask, self.root_weights, self.measure)

    def to_coordinates(self, dual):
        """Coefficients (n, d) in coordinates of dual variables."""
        return dual if self.sampling is None else self.sampling.pull(dual)

    def alphas(self):
        """Logarithmic grid of penalties that spans the spectrum of the problem."""
        top = sum(term.trace for term in self.terms) / self.weights.sum()
        number = round(ALPHAS_PER_DECADE * np.log10(LARGEST / SMALLEST)) + 1
        return (top if top > 0 else 1.0) * np.geomspace(SMALLEST, LARGEST, number)

    def loo(self, alphas, center: bool):
        """For each alpha the leave-one-out residuals (n, d) of the squared loss."""
        weights = self.weights if self.weighted else None
        total = self.weights.sum()
        for _, residuals in leave_one_out(
            self.terms[0], self.Y, [alpha * total for alpha in alphas], center=center, weights=weights
        ):
            yield residuals

    def distinct(self) -> Training:
        """The same data with repeated samples merged, their weights added.

        Leaving out one of two copies tests nothing, and integer weights must select what repetition selects.
        """
        seen: dict = {}
        group = np.array([seen.setdefault(key, len(seen)) for key in _row_keys(self.X, self.Y)])
        if len(seen) == len(group):
            return self
        first = np.unique(group, return_index=True)[1]
        weights = np.bincount(group, weights=self.weights)
        root = np.sqrt(weights / self.weights[first]) if self.weighted else np.sqrt(weights)
        term = self.terms[0]
        merged = Separable(term.K[np.ix_(first, first)], term.M).scaled(root)
        return replace(
            self,
            X=_safe_indexing(self.X, first),
            Y=self.Y[first],
            weights=weights,
            rows=self.rows[first],
            terms=(merged,),
            weighted=True,
        )


def build(settings, X, Y, weights, rows, n_samples, space, center, sampling, coordinates) -> Training:
    """Gram matrices and operators of the samples, by the settings (an estimator); Y (n, d), NaN where not observed.

    coordinates (n, d) : Y itself, or, with a sampling, a guess that operators may be estimated from
    """
    weighted = not np.all(weights == 1)
    pairs = kernel_terms(settings.kernel, settings.operator)
    # a Cholesky factor beside each K, or what an eigendecomposition works with
    check_memory(len(Y), copies=len(pairs) + (1 if pairs[0][1] is None else 3))
    functions = space if hasattr(space, "axes") else None
    terms, scalars, gammas = [], [], []
    for one_kernel, one_operator in pairs:
        built = isinstance(one_kernel, kernels.OutputBuilt)
        scalar = one_kernel.kernel if built else one_kernel
        if hasattr(scalar, "resolve"):
            scalar = scalar.resolve(X, weights)
        scalars.append(scalar)
        gammas.append(kernels.resolve_gamma(scalar, settings.gamma, X, weights))
        K = kernels.training_gram(scalar, X, gamma=gammas[-1], params=settings.kernel_params)
        if built:
            outputs = np.nan_to_num(coordinates - center)
            M = one_kernel.operator(outputs, weights)
            term = one_kernel.term(K, outputs, weights) if M is None else Separable(K, M)
        else:
            term = Separable(K, operators.operator_matrix(one_operator, coordinates, weights, functions))
        term = term.scaled(np.sqrt(weights)) if weighted else term
        terms.append(term if sampling is None else Sampled(term, sampling))
    return Training(
        X,
        Y,
        weights,
        rows,
        n_samples,
        tuple(scalars),
        tuple(gammas),
        tuple(terms),
        space,
        center,
        weighted,
        sampling,
    )


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
        if isinstance(one, kernels.OutputBuilt):
            one.validate()
            if its_operator is not None and not (isinstance(its_operator, str) and its_operator == "auto"):
                raise ValueError("operator must be None with kernels.OutputBuilt, which brings its own")
        else:
            kernels.check_kernel(one)
    return terms


def centre(coordinates, weights, loss):
    """The constant (d,) a model is fitted around: the mean, or a median for losses that resist outliers.

    coordinates (n, d) are filled in where functions were seen at some points only. (The function nearest to all values
    would run through each of them where a space has more coordinates than there are values near by.)
    """
    if loss.on_margins:
        return np.zeros(coordinates.shape[1])
    if loss.bound == np.inf:  # "auto", a number still to be found, is finite
        return mean_rows(coordinates, weights)
    return (pointwise_median if getattr(loss, "p", 2) == 1 else geometric_median)(coordinates, weights)


def _row_keys(X, Y):
    """A hashable key for each sample, equal for equal samples."""
    keys: Iterable
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
