"""One fit, and paths of fits: from training data, a loss and alpha to a function with its certificate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._utils.linalg import row_norms
from .._utils.progress import Progress
from ..core import solvers
from ..core.problem import Problem
from ..core.solvers import Solution
from ..core.terms import Factors
from ..losses import Loss
from .data import Training

_QUICK_TOL, _QUICK_ITERATIONS = 1e-4, 200  # of models that only serve to select settings


@dataclass(frozen=True)
class Fit:
    """A solved problem, and the function that it defines."""

    training: Training
    problem: Problem
    solution: Solution
    alpha: float
    center: np.ndarray  # (d,)
    objectives: Any = None  # of each round in which an operator was learnt
    suboptimality: float = 0.0  # bound on the relative decrease of the objective in further rounds
    factors: Factors | None = None  # that the caller passed

    @property
    def loss(self) -> Loss:
        return self.problem.loss

    @property
    def root(self):
        """Square roots of the sample weights, (n, 1)."""
        return np.sqrt(self.training.weights)[:, None]

    @property
    def sample_coefficients(self):
        """Coefficients (n, d) of the kernel at the samples that have dual variables."""
        solution, term = self.solution, self.problem.terms[0]
        function = solution.dual if solution.function is None else solution.function
        coefficients = self.root * term.coordinates(function) / self.problem.penalty
        return coefficients.astype(self.problem.Y.dtype, copy=False)

    @property
    def coefficients(self):
        """For each term the coefficients (N, d) of kernel values with samples, or of features."""
        terms, expansion = self.training.terms, self.solution.expansion
        if expansion is not None and len(terms) == 1:
            return [expansion]
        C = self.sample_coefficients
        return [term.expand(C) for term in (self.problem.terms if len(terms) == 1 else terms)]

    def predictors(self, coefficients):
        """For each term the function from kernel values to its part of the coordinates."""
        return [term.predictor(C) for term, C in zip(self.training.terms, coefficients, strict=True)]

    def coordinates_at(self, values):
        """Coordinates (m, d) predicted from kernel values, by kernel, with the samples."""
        return self.function_at(values) + self.center

    def function_at(self, values):
        """``coordinates_at`` without the constant."""
        pairs = zip(self.predictors(self.coefficients), values, strict=True)
        return sum(predictor(G) for predictor, G in pairs)

    @property
    def saturated(self):
        """Samples (n,), or points (n, d), held at the loss's bound."""
        problem, dual = self.problem, self.solution.dual
        bounded = problem.to_margins(dual) if self.loss.on_margins else dual
        return self.loss.saturated(bounded / self.root, problem.measure)

    @cached_property
    def residuals(self):
        """Residuals (n, d) as the loss sees them; 0 where not observed."""
        problem, dual = self.problem, self.solution.dual
        if self.loss.quadratic:  # the dual variables are the residuals
            return self.loss.curvature * dual / self.root
        return problem.zero_missing(problem.Y - problem.fitted(dual)) / self.root

    def outlier_scores(self):
        """Sizes (n,) of residuals, or (n, d) of points for a pointwise loss, over their median; 0 if not observed."""
        problem, residuals = self.problem, self.residuals
        if self.loss.pointwise:
            sizes = np.abs(residuals) if problem.measure is None else np.abs(residuals) / np.sqrt(problem.measure)
        else:
            sizes = row_norms(residuals) / np.sqrt(self.observed_share)
        typical = np.median(sizes[problem.mask] if sizes.ndim == 2 and problem.mask is not None else sizes)
        return sizes / (typical if typical > 0 else 1.0)

    @property
    def observed_share(self):
        """Share (n,) of each sample's entries, or of its domain, that was observed."""
        problem = self.problem
        if problem.mask is None or self.training.encoded.sampling is not None:
            return 1.0
        weights = np.ones(problem.Y.shape[1]) if problem.measure is None else problem.measure
        return problem.mask @ weights / weights.sum()


@dataclass(frozen=True)
class Options:
    """How problems are solved."""

    solver: str = "auto"
    tol: float = 1e-6
    max_iter: int = 1000
    progress: Progress = field(default_factory=Progress, compare=False)
    shows_iterations: bool = field(default=True, compare=False)  # False where many problems are solved

    def quick(self) -> Options:
        """Options for models that only serve to select settings."""
        return replace(self, tol=max(self.tol, _QUICK_TOL), max_iter=_QUICK_ITERATIONS, shows_iterations=False)

    def solve(self, problem, alpha, init, factors) -> Solution:
        options = {"tol": self.tol, "max_iter": self.max_iter, "init": init, "factors": factors}
        if not self.shows_iterations:
            return solvers.solve(problem, self.solver, **options)
        with self.progress.iterations(f"alpha {alpha:.2g}", self.tol, self.max_iter) as callback:
            return solvers.solve(problem, self.solver, callback=callback, **options)


def fit(
    training: Training, loss, alpha, options: Options, *, center=None, factors: Factors | None = None, init=None
) -> Fit:
    """The function of smallest objective.

    center : the constant (d,) to fit around, None for the best one for the loss
    factors : of ``training.weighted_term(alpha)``, where the caller has them
    init : dual variables to start from
    """
    center = training.constant(loss) if center is None else center
    if training.learned_operator is not None:
        from .learnt_operator import alternate

        return alternate(training, loss, alpha, options, center, init)
    problem = training.problem(loss, alpha, center)
    solution = options.solve(problem, alpha, init, training.adapt_factors(factors, loss))
    return Fit(training, problem, solution, alpha, center, factors=factors)


def fit_path(training: Training, loss, alphas, options: Options, center=None):
    """Yield a fit for each alpha, each started at the one before; kernel and factors are shared."""
    for _, result in fit_grid(training, [loss], alphas, options, center):
        yield result


def fit_grid(training: Training, losses, alphas, options: Options, center=None):
    """Yield (position of the loss, fit) for each loss and, in turn, each alpha; kernel and factors are shared.

    Starts are warm along both ways: from the fits for the alpha before (B), for the loss before (C) and for both (D)
    each starts at ``B + C - D``, which is right to first order in both.
    """
    training, factors = training.factor_for_path(alphas if len(losses) == 1 else [*alphas, *alphas])
    before: list = []  # dual variables for the loss before, by alpha
    for j, loss in enumerate(losses):
        if j and training.has_outside_column(loss) != training.has_outside_column(losses[j - 1]):
            before = []  # dual variables have one column more, or fewer
        constant = training.constant(loss) if center is None else center
        here: list = []  # dual variables for this loss, by alpha
        for i, alpha in enumerate(alphas):
            init = here[-1] if here else before[0] if before else None
            if here and before:
                init = here[-1] + before[i] - before[i - 1]
            result = fit(training, loss, alpha, options, center=constant, factors=factors, init=init)
            here.append(result.solution.dual)
            if len(losses) == 1:  # only the last is needed
                here = here[-1:]
            yield j, result
        before = here
