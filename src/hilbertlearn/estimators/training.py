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
from .surroundings import Surroundings, eigenspaces

ALPHAS_PER_DECADE = 4
_MOST_DIRECTIONS = 50  # deformed kernels of one model
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
    around: Surroundings | None = None  # then terms are deformed for each alpha
    learns: operators.Learned | None = None  # the operator is found with the function

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
        return self.separable and self.mask is None and self.learns is None

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
        return Problem(
            self.terms_at(alpha), Y, loss, alpha * self.weights.sum(), self.mask, self.root_weights, self.measure
        )

    def terms_at(self, alpha):
        """The terms of the problem with that alpha; a graph's penalty changes the kernel with it."""
        if self.around is None:
            return self.terms
        term = self.around.term(alpha, self.terms[0].M, self._operator_spectrum)
        return (term.scaled(self.root_weights) if self.weighted else term,)

    @property
    def _operator_spectrum(self):
        return None if self.terms[0].M is None else self.terms[0].operator_spectrum

    def expanded(self, coefficients, alpha):
        """Samples that predictions are made from, which of those given they are, and their coefficients."""
        if self.around is None:
            return self.X, self.rows, coefficients
        around = self.around
        return around.X, around.rows, around.coefficients(coefficients, alpha, self._operator_spectrum)

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
        paths: Iterable = [(self.terms[0], alphas)]
        if self.around is not None:  # a kernel for each alpha
            self.prepare_path(alphas)
            paths = ((self.terms_at(alpha)[0], [alpha]) for alpha in alphas)
        for term, shared in paths:
            penalties = [alpha * total for alpha in shared]
            for _, residuals in leave_one_out(term, self.Y, penalties, center=center, weights=weights):
                yield residuals

    def inner_products(self, dual, alpha):
        """``C'KC`` (d, d) for the function ``k(., X) C M`` with these dual variables."""
        term, penalty = self.terms[0], alpha * self.weights.sum()
        if self.around is None:
            K, coefficients = term.K, dual / penalty
        else:
            root = self.root_weights[:, None] if self.weighted else 1.0
            K = self.around.kernel.K
            coefficients = self.expanded(root * dual / penalty, alpha)[2]
        return coefficients.T @ (K @ coefficients)

    def with_operator(self, M) -> Training:
        """The same data with another operator."""
        return replace(self, terms=(self.terms[0].with_operator(M),))

    def prepare_path(self, alphas):
        """Factor once what every alpha of a path needs."""
        if len(alphas) > 1 and self.around is not None:
            _ = self.around.kernel.spectrum
        elif len(alphas) > 1 and self.separable:
            _ = self.terms[0].input_spectrum

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
            around=self.around and replace(self.around, labelled=self.around.labelled[first]),
        )


def build(settings, X, Y, weights, rows, n_samples, space, center, sampling, coordinates, everyone=None) -> Training:
    """Gram matrices and operators of the samples, by the settings (an estimator); Y (n, d), NaN where not observed.

    coordinates (n, d) : Y itself, or, with a sampling, a guess that operators may be estimated from
    everyone : None, or for a graph's penalty ``(X, rows, weights)`` of all samples, with outputs or without
    """
    weighted = not np.all(weights == 1)
    pairs = kernel_terms(settings.kernel, settings.operator)
    # a Cholesky factor beside each K, or what an eigendecomposition works with
    check_memory(len(Y), copies=len(pairs) + (1 if pairs[0][1] is None else 3))
    if everyone is not None:
        return _semi_supervised(settings, X, Y, weights, rows, n_samples, space, center, coordinates, everyone)
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
    learns = _learns(pairs, sampling)
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
        learns=learns,
    )


def _learns(pairs, sampling):
    """The setting of an operator that is learnt, None when there is none."""
    found = [operators.as_learned(operator) for _, operator in pairs]
    if any(found) and (len(pairs) > 1 or sampling is not None):
        raise ValueError(
            "operator: Learned goes with one kernel and outputs on a common grid; give a single kernel, or "
            "irregular='projected'"
        )
    return found[0]


def _semi_supervised(settings, X, Y, weights, rows, n_samples, space, center, coordinates, everyone) -> Training:
    """The same with a graph's penalty on the function's values at all samples."""
    X_all, rows_all, weights_all = everyone
    ((scalar, operator),) = kernel_terms(settings.kernel, settings.operator)
    graph = kernels.as_graph(settings.graph, n_samples)
    check_memory(len(rows_all), copies=4)
    M = operators.operator_matrix(operator, coordinates, weights, space if hasattr(space, "axes") else None)
    directions = 0 if M is None else len(eigenspaces(Separable(None, M).operator_spectrum))
    if operators.as_learned(operator) is not None:
        directions = Y.shape[1]  # it will have as many
    if directions > _MOST_DIRECTIONS:
        raise ValueError(
            f"manifold: the operator has {directions} different eigenvalues, each with a kernel of its own, more than "
            f"{_MOST_DIRECTIONS}; use operator=None, a matrix of lower rank, or for curves a space with fewer "
            "components, such as space=spaces.Eigen(n_components=20)"
        )
    once = np.ones(len(rows_all))  # weights are those of the loss, they leave kernel and graph alone
    if hasattr(scalar, "resolve"):
        scalar = scalar.resolve(X_all, once)
    gamma = kernels.resolve_gamma(scalar, settings.gamma, X_all, once)
    K = kernels.training_gram(scalar, X_all, gamma=gamma, params=settings.kernel_params)
    labelled = np.searchsorted(rows_all, rows)
    deformed = kernels.Deformed(K, kernels.smoothness(graph, K, rows_all))
    around = Surroundings(X_all, rows_all, weights_all, labelled, float(settings.manifold), deformed)
    weighted = not np.all(weights == 1)
    term = Separable(K[np.ix_(labelled, labelled)], M)
    terms = (term.scaled(np.sqrt(weights)) if weighted else term,)
    scalars, gammas = (scalar,), (gamma,)
    learns = operators.as_learned(operator)
    return Training(
        X, Y, weights, rows, n_samples, scalars, gammas, terms, space, center, weighted, None, around, learns
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
