"""What a kernel machine has learnt: one frozen object from which predictions and public attributes are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from .._utils.blocks import blocks_of
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
from ..selection import SCREENED, SCREENED_WEIGHT, Approximation
from ..spaces import MeanSmoother, Space
from ..training import Fit, has_float32_inputs, take_samples
from .diagnostics import SampleDiagnostics
from .posterior import InputNovelty, Posterior, PosteriorData, is_precomputed


class LearntFunction(ABC):
    """What wrappers ask of every state."""

    @abstractmethod
    def coordinates(self, X):
        """Predicted coordinates (m, d) of checked inputs."""

    @property
    def posterior_size(self) -> int | None:
        """Number of rows of the factors of the posterior variance; None where it has no formula."""
        return None

    @abstractmethod
    def posterior(self) -> InputNovelty:
        """The posterior variance of the kernel; an error where it has no formula."""

    @property
    def leave_one_out_obstacle(self) -> str:
        """Why models without one sample have no formula; "" where they have one."""
        return "samples are not kept"

    def loo_residuals(self):
        """Leave-one-out residuals (n, d) in coordinates; an error where they have no formula."""
        raise ValueError("loo_residuals() is for the kernel machine; set regressor=None")

    def leave_one_out_models(self) -> LeaveOneOutMachines:
        """All models without one sample each; an error where they have no formula."""
        raise ValueError("leave-one-out models are for the kernel machine fitted in memory; set regressor=None")


@dataclass(frozen=True, eq=False, kw_only=True)
class Expansion(LearntFunction):
    """A function that is a sum of kernel values with samples."""

    kernels: tuple  # InputKernel each, or FeatureKernel
    X_fit: Any  # the samples that predictions are made from
    columns: np.ndarray  # their positions among the samples given
    predictors: list  # for each kernel the function from its values to coordinates
    space: Space
    center: np.ndarray

    def coordinates(self, X):
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
            is_complete = X.shape[1] == len(self.columns) and bool((np.diff(self.columns) > 0).all())
            return X if is_complete else X[:, self.columns]
        return kernel(X, self.X_fit)

    @property
    def scalar_kernels(self):
        """The scalar kernels that inputs are read for."""
        return [kernel.kernel for kernel in self.kernels]

    def posterior(self) -> Posterior:
        if any(map(is_precomputed, self.kernels)):
            raise ValueError(
                "novelty requires k(x, x) of new inputs, which kernel='precomputed' does not have; give inputs, and a "
                "kernel by name, a kernel object or a callable (X, Z) -> Gram"
            )
        raise ValueError(
            "novelty requires a kernel machine with samples in memory, and kernels whose values are numbers, each with "
            "an output operator; fit such a kernel, as kernel='rbf', to arrays in memory (again if the model is from a "
            "file of an earlier version)"
        )


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
    residual_sizes: Any  # (n,) or (n, d), over their median; public as ``outlier_scores``
    objectives: np.ndarray | None = None
    loo_data: LeaveOneOutData | None = None  # where leave-one-out has a closed form
    has_gaps: bool = False  # whether some outputs were observed in part
    diagnostics: SampleDiagnostics | None = None  # for ``outlier_report``
    alpha_by_output: Any = None  # (d,), where each output has its own
    screened: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))  # with less than half of their weight
    screening_factors: np.ndarray | None = None  # (n,) of the weights, None where outlier screening changed none
    search_results: dict = field(default_factory=dict)  # evaluated settings, with their errors
    manifold_error: float = 0.0  # bound on the relative error of deformed kernels that eigenvalues share
    feature_map: Any = None  # in place of the kernel; a list for several kernels
    approximation: Any = None  # how good it is
    kernel_coefficients: tuple = ()  # for each kernel the coefficients of predictions before the operator
    posterior_data: PosteriorData | None = None  # where the posterior variance of the kernel has a formula

    @classmethod
    def from_fit(cls, fit: Fit, **replaced):
        """The state of a fit; replaced : fields of a subclass, and fields with other values than those of the fit."""
        training, solution, on_features = fit.training, fit.solution, fit.training.on_features
        n, rows = training.n_samples, training.rows
        factors = np.ones(n)
        if training.screening_weights is not None:
            factors[rows] = training.screening_weights[rows]
        kernels, X_fit, columns, coefficients = _kernel_expansion(fit)
        loo_data = LeaveOneOutData.from_fit(fit)
        maps = [kernel.map for kernel in training.kernels] if on_features else [None]
        size = sum(kernel.n_components for kernel in training.kernels) if on_features else 0
        fields = {
            "kernels": kernels,
            "X_fit": X_fit,
            "columns": columns,
            "predictors": fit.predictors(coefficients),
            "kernel_coefficients": tuple(coefficients),
            "space": training.space,
            "center": fit.center,
            "alpha": fit.alpha,
            "loss": fit.loss,
            "operator": training.terms[0].M if len(training.terms) == 1 else None,
            "coefficients": scatter(fit.sample_coefficients, rows, n)
            if on_features
            else scatter(fit.coefficients[0], training.columns, n),
            "dual_gap": float(solution.gap),
            "n_iter": max(solution.n_iter, 1),
            "solver": solution.solver,
            "precision": "float32" if fit.problem.is_float32 else "refined" if training.grams[0].refines else "float64",
            "support": rows[solution.dual.any(axis=1)],
            "saturated": scatter(fit.saturated, rows, n),
            "screened": np.flatnonzero(factors < SCREENED),
            "screening_factors": factors if (factors < 1).any() else None,
            "residual_sizes": scatter(fit.outlier_scores(), rows, n),
            "objectives": fit.objectives,
            "loo_data": loo_data,
            "has_gaps": training.mask is not None,
            "diagnostics": SampleDiagnostics.from_fit(fit, LeaveOneOutData.for_diagnostics(fit), loo_data is not None),
            "manifold_error": fit.problem.terms[0].error,
            "feature_map": maps[0] if len(maps) == 1 else maps,
            "approximation": Approximation(size) if on_features else None,
            "posterior_data": PosteriorData.from_fit(fit),
        }
        return cls(**{**fields, **replaced})

    @property
    def dual_coef(self):
        return self.coefficients

    @property
    def outlier_scores(self):
        return self.residual_sizes

    @property
    def screening_weights(self):
        """Factors (n,) of the sample weights from outlier screening."""
        if self.screening_factors is not None:
            return self.screening_factors
        weights = np.ones(len(self.saturated))
        weights[self.screened] = SCREENED_WEIGHT  # files written before factors were stored have positions only
        return weights

    @property
    def used_samples(self) -> Any:
        """An object with the ``rows`` and ``weights`` of the samples in use."""
        return self.diagnostics if self.loo_data is None else self.loo_data

    def training_term(self, data: LeaveOneOutData | None = None) -> Term:
        """The weighted term of the samples, whose Gram matrix is computed again; data : ``loo_data`` by default."""
        data = self.loo_data if data is None else data
        assert data is not None
        on_features = data.kernels is not None
        # leave-one-out is computed in float64
        X = data.X if on_features else self.X_fit.astype(float) if has_float32_inputs(self.X_fit) else self.X_fit
        values = [kernel(X) for kernel in (data.kernels if on_features else self.kernels)]
        gram: Gram = sum_grams(FeatureGram(Z) if on_features else DenseGram(Z) for Z in values)
        if data.graph_penalty is not None:
            deformed = (DeformedFeatureKernel if on_features else DeformedKernel)(values[0], data.graph_penalty)
            gram = DeformedGram(deformed, data.manifold, data.labelled_indices)
        term = data.term.with_gram(gram).for_alpha(self.alpha)
        if data.Y is not None and not np.isfinite(data.Y).all():
            term = term.with_mask(np.isfinite(data.Y))
        return term if (data.weights == 1).all() else term.scaled(np.sqrt(data.weights))

    def loo_residuals(self):
        """As in ``LearntFunction``, NaN for samples that were left out of the fit."""
        data = self.loo_data
        if data is None:
            raise ValueError(
                "loo_residuals() has a closed form for the squared loss and one (kernel, operator) term, with missing "
                "outputs if the operator is diagonal; use RegularizationPathCV with cv=5, or "
                "sklearn.model_selection.cross_val_predict"
            )
        residuals = np.full((len(self.saturated), data.Y.shape[1]), np.nan)
        ((_, residuals[data.rows]),) = loo_residuals(
            self.training_term(),
            data.Y,
            [self.alpha * data.weights.sum()],
            center=data.centered,
            smoothed=self.space.smooth_means,
            weights=data.weights,
        )
        return residuals

    @property
    def posterior_size(self) -> int | None:
        return None if self.posterior_data is None else self.posterior_data.size

    def posterior(self):
        return super().posterior() if self.posterior_data is None else self.posterior_data.posterior

    @property
    def leave_one_out_obstacle(self) -> str:
        data = self.loo_data
        if not self.loss.quadratic:
            return f"there is no closed form for the loss {type(self.loss).__name__}"
        if data is None and self.has_gaps:
            return "there is no closed form for missing outputs and an operator that relates outputs"
        if data is None or data.graph_penalty is not None or data.term.loo_formula != "models":
            return "there is no closed form for these settings"
        return "" if len(data.rows) > 1 else "there is one sample"

    def leave_one_out_models(self, factors: Factors | None = None) -> LeaveOneOutMachines:
        """All models without one sample each, from one factorisation; factors : of the fit, or None to compute them."""
        data = self.loo_data
        if data is None or self.leave_one_out_obstacle:
            raise ValueError(
                "models without one sample have a formula for the squared loss and one (kernel, operator) term without "
                "a graph, with missing outputs if the operator is diagonal; fit copies of the estimator to folds"
            )
        options: dict = {"center": data.centered, "smoothed": MeanSmoother(self.space), "weights": data.weights}
        factors = self.training_term().factor(ITERATIONS) if factors is None else factors
        models = LeaveOneOutModels.from_factors(factors, data.Y, self.alpha * data.weights.sum(), **options)
        return LeaveOneOutMachines(self, data, models)


@dataclass(frozen=True, eq=False)
class LeaveOneOutMachines:
    """The n models without one sample each, for the squared loss, with alpha n, kernel and operator of the fit.

    Predictions need factors of the size of the kernel matrix. The first prediction computes them from the samples, and
    neither pickles nor model files store them. So a model predicts the same bits after loading.
    """

    state: State
    data: LeaveOneOutData
    models: LeaveOneOutModels

    @cached_property
    def factors(self) -> Factors:
        """Factors of the kernel matrix of the samples, for the penalty of the fit."""
        return self.state.training_term().factor(ITERATIONS).detached(1.0, self.models.penalty)

    def __getstate__(self):
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def rows(self):
        """(n,) positions of the left-out samples among those given to fit, in the order of the models."""
        return self.data.rows

    @property
    def weights(self):
        """(n,) weights of these samples."""
        return self.data.weights

    @property
    def residuals(self):
        """Residuals (n, d) of each sample under the model without it, in coordinates."""
        return self.models.residuals

    @property
    def loo_predictions(self):
        """Coordinates (n, d) of each sample predicted without it, NaN where it was not observed."""
        return self.data.Y - self.residuals

    @property
    def spreads(self):
        """Spread (n,) of the posterior at each sample, by the model without it."""
        return self.state.posterior().loo_spreads

    def spreads_at(self, X):
        """Spreads (m, n) of the posterior of every model at the checked inputs of one block."""
        return self.state.posterior().loo_spreads_at(X)

    def pairwise_residuals(self, models):
        """Residuals (b, n, d) of every sample under the models without it and without one of the samples `models`."""
        return self.models.pairwise_residuals(self.factors, models)

    def coordinates_at(self, X, models=None):
        """Coordinates (m, n, d) of checked inputs by all models, or by those at the positions `models`."""
        predicted = self.state.coordinates(X)
        out = self.models.changes(self.factors, self._values(X), models)
        out += predicted[:, None]
        return out

    def _values(self, X):
        """Kernel values, or features, that predictions are made from, in float64."""
        if self.data.kernels is not None:
            return np.hstack([kernel(X) for kernel in self.data.kernels]).astype(float, copy=False)
        return sum(np.asarray(self.state.values(k, X), dtype=float) for k in range(len(self.state.kernels)))


@dataclass(frozen=True, eq=False)
class LeaveOneOutData:
    """Data of leave-one-out residuals beside the kernel."""

    Y: Any  # (n, d) coordinates, neither centred nor scaled; None where they are not needed
    weights: np.ndarray
    rows: np.ndarray  # their positions among the samples given
    centered: bool
    term: Term  # without its Gram matrix
    labelled_indices: np.ndarray  # positions of the samples among those of the kernel
    graph_penalty: Any = None  # (N, N)
    manifold: float = 0.0
    kernels: Any = None  # a ``FeatureKernel`` each, for fits on features
    X: Any = None  # the samples, for fits on features

    @classmethod
    def from_fit(cls, fit: Fit):
        """None where there is no closed form, or rows came in batches and are not kept."""
        training = fit.training
        if training.X is None or not fit.loss.quadratic:
            return None
        if training.term is None or not training.closed_form:
            return None
        return cls._from_training(training, training.term, training.Y)

    @classmethod
    def for_diagnostics(cls, fit: Fit):
        """For leverages of the squared loss with complete outputs, whatever the loss; None as for ``from_fit``."""
        if fit.training.X is None:
            return None
        terms = [term.unsampled for term in fit.training.terms]
        term = terms[0] if len(terms) == 1 else merge_terms(terms)
        has_formula = term is not None and term.loo_formula is not None
        return cls._from_training(fit.training, term, None) if has_formula else None

    @classmethod
    def _from_training(cls, training, term, Y):
        gram, recipe = training.grams[0], training.recipe
        return cls(
            Y,
            training.weights,
            training.rows,
            recipe.center,
            term.with_gram(None),
            training.labelled_indices,
            gram.kernel.S if gram.depends_on_alpha else None,
            float(recipe.manifold),
            training.kernels if training.on_features else None,
            training.X if training.on_features else None,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class RegressorState(LearntFunction):
    """A regressor of scikit-learn fitted to the coordinates."""

    regressor: Any
    space: Space
    scalar_kernels: list  # what inputs are read for
    observed: np.ndarray | None = None  # (d,) mask of the coordinates that it predicts; None for all

    @property
    def n_iter(self):
        return getattr(self.regressor, "n_iter_", 1)  # scikit-learn asks for it beside max_iter

    def coordinates(self, X):
        values = np.asarray(self.regressor.predict(X), dtype=float).reshape(_num_samples(X), -1)
        if self.observed is None:
            return values
        out = np.full((len(values), len(self.observed)), np.nan)
        out[:, self.observed] = values
        return out

    @property
    def leave_one_out_obstacle(self) -> str:
        return f"{type(self.regressor).__name__} takes the place of the kernel machine"

    def posterior(self):
        raise ValueError(
            f"novelty is of the kernel machine, and {type(self.regressor).__name__} has no kernel; set regressor=None"
        )


def _kernel_expansion(fit: Fit):
    """Kernels, samples, their positions among those given, and coefficients by kernel, of predictions."""
    training, coefficients = fit.training, fit.coefficients
    if training.on_features:
        if len(training.kernels) > 1:
            return training.kernels, None, np.empty(0, dtype=int), coefficients
        kernel, samples, columns, C = training.kernels[0].kernel_expansion(coefficients[0])
        return (kernel,), samples, columns, [C]
    positions = np.arange(len(training.columns))
    if fit.loss.sparse and fit.problem.separable_term is not None and not training.depends_on_alpha:
        positions = np.flatnonzero(coefficients[0].any(axis=1))  # prediction needs the samples in use only
    samples = take_samples(training.X, positions, training.kernels)
    coefficients = [np.ascontiguousarray(C[positions]) for C in coefficients]
    return training.kernels, samples, training.columns[positions], coefficients


def scatter(values, rows, n):
    """Values of rows as an array for all n samples, zero for the others."""
    out = np.zeros((n, *values.shape[1:]), dtype=values.dtype)
    out[rows] = values
    return out
