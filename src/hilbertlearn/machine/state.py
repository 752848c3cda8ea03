"""What a kernel machine has learnt: one frozen object from which predictions and public attributes are read."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .._utils.blocks import row_blocks
from ..core.terms import (
    ITERATIONS,
    DeformedFeatureKernel,
    DeformedGram,
    DeformedKernel,
    DenseGram,
    Factors,
    FeatureGram,
    Gram,
    Term,
    merge_terms,
    sum_grams,
)
from ..leave_one_out import LeaveOneOutModels, loo_residuals
from ..losses import Loss
from ..selection import Approximation
from ..spaces import MeanSmoother, Space
from ..training import Fit, has_float32_inputs, take_samples
from .diagnostics import SampleDiagnostics

_PREDICT_BYTES = 2**27  # of kernel values in memory at once during prediction; larger blocks are not faster
_COPIES = 4  # of a block of kernel values in memory while it is computed and summed


@dataclass(frozen=True, eq=False, kw_only=True)
class Expansion:
    """A function that is a sum of kernel values with samples."""

    kernels: tuple  # InputKernel each, or FeatureKernel
    X_fit: Any  # the samples that predictions are made from
    columns: np.ndarray  # their positions among the samples given
    predictors: list  # for each kernel the function from its values to coordinates
    space: Space
    center: np.ndarray

    def coordinates(self, X):
        """Predicted coordinates (m, d) of checked inputs."""
        out = self.expansion(X, dict(enumerate(self.predictors)))
        out += self.center
        return out

    def expansion(self, X, predictors):
        """Sum (m, d) of predictors of kernel values with the samples, computed in blocks of rows."""
        n, d = len(self.columns), len(self.center)
        out = np.zeros((_num_samples(X), d))
        width = max(
            kernel.n_components if kernel.on_features else n * kernel.value_size(n, d) for kernel in self.kernels
        )
        for rows, part in blocks_of(X, width + d) if width else ():
            for k, predictor in predictors.items():
                out[rows] += predictor(self.values(k, part))
        return out

    def values(self, k, X):
        """Values of kernel k between checked inputs and the samples."""
        kernel = self.kernels[k]
        if kernel.precomputed:
            every = X.shape[1] == len(self.columns) and bool((np.diff(self.columns) > 0).all())
            return X if every else X[:, self.columns]
        return kernel(X, self.X_fit)

    @property
    def scalar_kernels(self):
        """The scalar kernels that inputs are read for."""
        return [kernel.kernel for kernel in self.kernels]


@dataclass(frozen=True, eq=False, kw_only=True)
class State(Expansion):
    """A function with its certificate. Arrays are as long as the samples given to fit, in their order."""

    alpha: float
    loss: Loss
    operator: Any  # (d, d), None for the identity or several terms
    coefficients: Any  # (n, d), public as ``dual_coef``
    dual_gap: float
    n_iter: int
    solver: str
    precision: str
    support: np.ndarray
    saturated: np.ndarray
    residual_sizes: Any  # (n,) or (n, d), public as ``outlier_scores``
    objectives: np.ndarray | None = None
    left_out: LeaveOneOutData | None = None  # where leave-one-out has a closed form
    inspected: SampleDiagnostics | None = None  # for ``outlier_report``
    alpha_by_output: Any = None  # (d,), where each output has its own
    screened: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))  # outliers with next to no weight
    search_results: dict = field(default_factory=dict)  # evaluated settings, with their errors
    manifold_error: float = 0.0  # bound on the relative error of deformed kernels that eigenvalues share
    feature_map: Any = None  # in place of the kernel; a list for several kernels
    approximation: Any = None  # how good it is
    plain: tuple = ()  # for each kernel the coefficients of predictions before the operator

    @classmethod
    def from_fit(cls, found: Fit, **more):
        """The state of a fit; more : fields of a subclass, or in place of these."""
        training, solution = found.training, found.solution
        n, rows = training.n_samples, training.rows
        kernels, X_fit, columns, coefficients = _made_from(found)
        own = found.sample_coefficients if training.on_features else found.coefficients[0]
        left_out = LeaveOneOutData.from_fit(found)
        fields = {
            "kernels": kernels,
            "X_fit": X_fit,
            "columns": columns,
            "predictors": found.predictors(coefficients),
            "plain": tuple(coefficients),
            "space": training.space,
            "center": found.center,
            "alpha": found.alpha,
            "loss": found.loss,
            "operator": training.terms[0].M if len(training.terms) == 1 else None,
            "coefficients": spread(own, rows if training.on_features else training.columns, n),
            "dual_gap": float(solution.gap),
            "n_iter": max(solution.n_iter, 1),
            "solver": solution.solver,
            "precision": _precision(found),
            "support": rows[solution.dual.any(axis=1)],
            "saturated": spread(found.saturated, rows, n),
            "screened": np.intersect1d(training.screened, rows).astype(int),
            "residual_sizes": spread(found.outlier_scores(), rows, n),
            "objectives": found.objectives,
            "left_out": left_out,
            "inspected": SampleDiagnostics.from_fit(
                found, LeaveOneOutData.for_diagnostics(found), left_out is not None
            ),
            "manifold_error": found.problem.terms[0].error,
            "feature_map": _maps(training.kernels) if training.on_features else None,
            "approximation": _approximation(training.kernels) if training.on_features else None,
        }
        return cls(**{**fields, **more})

    @property
    def dual_coef(self):
        return self.coefficients

    @property
    def outlier_scores(self):
        return self.residual_sizes

    @property
    def counted(self) -> Any:
        """An object with the ``rows`` and ``weights`` of the samples in use."""
        return self.inspected if self.left_out is None else self.left_out

    def training_term(self, left: LeaveOneOutData | None = None) -> Term:
        """The term of the samples, computed again and weighted; left : by default the leave-one-out data."""
        left = self.left_out if left is None else left
        assert left is not None
        on_features = left.kernels is not None
        # leave-one-out is computed in float64
        X = left.X if on_features else self.X_fit.astype(float) if has_float32_inputs(self.X_fit) else self.X_fit
        values = [kernel(X) for kernel in (left.kernels if on_features else self.kernels)]
        gram: Gram = sum_grams(FeatureGram(Z) if on_features else DenseGram(Z) for Z in values)
        if left.penalty is not None:
            deformed = (DeformedFeatureKernel if on_features else DeformedKernel)(values[0], left.penalty)
            gram = DeformedGram(deformed, left.manifold, left.own)
        term = left.term.with_gram(gram).for_alpha(self.alpha)
        if left.Y is not None and not np.isfinite(left.Y).all():
            term = term.with_mask(np.isfinite(left.Y))
        return term if (left.weights == 1).all() else term.scaled(np.sqrt(left.weights))

    def loo_residuals(self):
        """Leave-one-out residuals (n, d) in coordinates, NaN for samples that were left out of the fit."""
        left = self.left_out
        if left is None:
            raise ValueError(
                "loo_residuals() has a closed form for the squared loss and one (kernel, operator) term, with missing "
                "outputs if the operator is diagonal; use RegularizationPathCV with cv=5, or "
                "sklearn.model_selection.cross_val_predict"
            )
        residuals = np.full((len(self.saturated), left.Y.shape[1]), np.nan)
        weights, penalty = left.weights, self.alpha * left.weights.sum()
        ((_, residuals[left.rows]),) = loo_residuals(
            self.training_term(),
            left.Y,
            [penalty],
            center=left.centered,
            smoothed=self.space.smooth_means,
            weights=weights,
        )
        return residuals

    @property
    def has_leave_one_out_models(self) -> bool:
        """Whether all models without one sample have a formula, see ``leave_one_out_models``."""
        left = self.left_out
        return left is not None and left.penalty is None and left.term.loo_formula == "models" and len(left.rows) > 1

    def leave_one_out_models(self, factors: Factors | None = None) -> LeaveOneOutMachines:
        """All models without one sample each, from one factorisation; factors : of the fit, or None to compute them."""
        left = self.left_out
        if left is None or not self.has_leave_one_out_models:
            raise ValueError(
                "models without one sample have a formula for the squared loss and one (kernel, operator) term without "
                "a graph, with missing outputs if the operator is diagonal; fit copies of the estimator to folds"
            )
        options: dict = {"center": left.centered, "smoothed": MeanSmoother(self.space), "weights": left.weights}
        if factors is None:
            factors = self.training_term().factor(ITERATIONS)
        return LeaveOneOutMachines(
            self, left, LeaveOneOutModels.from_factors(factors, left.Y, self.alpha * left.weights.sum(), **options)
        )


@dataclass(frozen=True, eq=False)
class LeaveOneOutMachines:
    """The n models without one sample each, for the squared loss, with alpha n, kernel and operator of the whole fit.

    Predictions need factors of the size of the kernel matrix. The first prediction computes them from the samples, and
    neither pickles nor model files store them. So a model predicts the same bits after loading.
    """

    state: State
    left: LeaveOneOutData
    models: LeaveOneOutModels

    @cached_property
    def factors(self) -> Factors:
        """Factors of the kernel matrix of the samples, for the penalty of the fit."""
        return self.state.training_term().factor(ITERATIONS).detached(1.0, self.models.penalty)

    def __getstate__(self):
        return {own.name: getattr(self, own.name) for own in fields(self)}

    @property
    def rows(self):
        """(n,) positions of the left-out samples among those given to fit, in the order of the models."""
        return self.left.rows

    @property
    def weights(self):
        """(n,) weights of these samples."""
        return self.left.weights

    @property
    def held_out(self):
        """Coordinates (n, d) of each sample predicted without it, NaN where it was not observed."""
        return self.left.Y - self.models.residuals

    def pairs(self, models):
        """Residuals (b, n, d) of every sample under the models without it and without one of the samples `models`."""
        return self.models.pairs(self.factors, models)

    def coordinates_at(self, X, models=None):
        """Coordinates (m, n, d) of checked inputs by every model, or by some; in one block."""
        predicted = self.state.coordinates(X)
        out = self.models.changes(self.factors, self._values(X), models)
        out += predicted[:, None]
        return out

    def _values(self, X):
        """Kernel values, or features, that predictions are made from, in double precision."""
        own = self.left.kernels
        if own is not None:
            return np.hstack([kernel(X) for kernel in own]).astype(float, copy=False)
        return sum(np.asarray(self.state.values(k, X), dtype=float) for k in range(len(self.state.kernels)))


@dataclass(frozen=True, eq=False)
class LeaveOneOutData:
    """Data of leave-one-out residuals beside the kernel."""

    Y: Any  # (n, d) coordinates, neither centred nor scaled; None where they are not needed
    weights: np.ndarray
    rows: np.ndarray  # their positions among the samples given
    centered: bool
    term: Term  # without its Gram matrix
    own: np.ndarray  # positions of the samples among those of the kernel
    penalty: Any = None  # of a graph, (N, N)
    manifold: float = 0.0
    kernels: Any = None  # a ``FeatureKernel`` each, for fits on features
    X: Any = None  # the samples, for fits on features

    @classmethod
    def from_fit(cls, found: Fit):
        """None where there is no closed form, or rows came in pieces and are not held."""
        training = found.training
        if training.X is None or not found.loss.quadratic:
            return None
        if training.term is None or not training.closed_form:
            return None
        return cls._made(training, training.term, training.Y)

    @classmethod
    def for_diagnostics(cls, found: Fit):
        """For leverages of the squared loss with complete outputs, whatever the loss; None as for ``from_fit``."""
        if found.training.X is None:
            return None
        terms = [term.unsampled for term in found.training.terms]
        term = terms[0] if len(terms) == 1 else merge_terms(terms)
        return cls._made(found.training, term, None) if term is not None and term.loo_formula is not None else None

    @classmethod
    def _made(cls, training, term, Y):
        gram, recipe = training.grams[0], training.recipe
        return cls(
            Y,
            training.weights,
            training.rows,
            recipe.center,
            term.with_gram(None),
            np.searchsorted(training.columns, training.rows),
            gram.kernel.S if gram.depends_on_alpha else None,
            float(recipe.manifold),
            training.kernels if training.on_features else None,
            training.X if training.on_features else None,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class RegressorState:
    """A regressor of scikit-learn fitted to the coordinates."""

    regressor: Any
    space: Space
    scalar_kernels: list  # what inputs are read for
    known: np.ndarray | None = None  # (d,) mask of the observed coordinates, which it predicts; None for all

    @property
    def n_iter(self):
        return getattr(self.regressor, "n_iter_", 1)  # scikit-learn asks for it beside max_iter

    def coordinates(self, X):
        values = np.asarray(self.regressor.predict(X), dtype=float).reshape(_num_samples(X), -1)
        if self.known is None:
            return values
        out = np.full((len(values), len(self.known)), np.nan)
        out[:, self.known] = values
        return out


def _maps(kernels):
    maps = [kernel.map for kernel in kernels]
    return maps[0] if len(maps) == 1 else maps


def _approximation(kernels) -> Approximation:
    """The description of features whose number was given."""
    return Approximation(sum(kernel.n_components for kernel in kernels))


def _made_from(found: Fit):
    """Kernels, samples, their positions among those given, and coefficients by kernel, of predictions."""
    training, coefficients = found.training, found.coefficients
    if training.on_features:
        if len(training.kernels) > 1:
            return training.kernels, None, np.empty(0, dtype=int), coefficients
        kernel, samples, columns, C = training.kernels[0].kernel_expansion(coefficients[0])
        return (kernel,), samples, columns, [C]
    kept = np.arange(len(training.columns))
    if found.loss.sparse and found.problem.separable_term is not None and not training.depends_on_alpha:
        kept = np.flatnonzero(coefficients[0].any(axis=1))  # prediction needs the samples in use only
    samples = take_samples(training.X, kept, training.kernels)
    return training.kernels, samples, training.columns[kept], [np.ascontiguousarray(C[kept]) for C in coefficients]


def _precision(found: Fit) -> str:
    if found.problem.is_float32:
        return "float32"
    return "refined" if found.training.grams[0].refines else "float64"


def blocks_of(X, width, copies=_COPIES, most=None):
    """Pairs (rows, X there) such that kernel values of `width` numbers a row fit in scikit-learn's working memory.

    copies, most : as for ``row_blocks``, by default those of kernel values
    """
    m, most = _num_samples(X), _PREDICT_BYTES // 8 if most is None else most
    features = int(np.prod(X.shape[1:])) if isinstance(X, np.ndarray) else 0
    for rows in row_blocks(m, width + features, copies, most):
        if rows == slice(0, m):
            yield rows, X
        else:
            yield rows, X[rows] if isinstance(X, np.ndarray) else _safe_indexing(X, np.arange(m)[rows])


def spread(values, rows, n):
    """Values of rows as an array for all n samples, zero for the others."""
    out = np.zeros((n, *values.shape[1:]), dtype=values.dtype)
    out[rows] = values
    return out
