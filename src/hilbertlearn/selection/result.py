"""The result of the automatic selection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..core.terms import ITERATIONS, Factors
from ..losses import Loss
from ..training import Fit, Training
from .feature_search import Approximation
from .step_back import is_final, step_back, with_larger_constants
from .trials import Trial


@dataclass(frozen=True)
class Selection:
    """Selected settings, with the training data that a fit with them needs."""

    alpha: float
    loss: Loss  # with numbers for all constants
    training: Training  # with the selected kernels
    factors: Factors | None = None  # of the training data's term, where the selection computed them
    trials: tuple[Trial, ...] = ()
    alpha_by_output: Any = None  # (d,), where each output has its own: the operator is min / these
    approximation: Approximation | None = None  # where features replace the kernel
    selected_alpha: bool = False  # whether alpha was selected from the data
    offsets: Any = None  # (d,) that quantiles are corrected by; None for none
    selected_bounds: tuple[str, ...] = ()  # selected constants of the loss that bound its dual variables

    def smoother(self, factor) -> Selection:
        """The same with a larger alpha and a larger bound of the loss, as far as these were selected.

        With both multiplied by the same factor, samples at the loss's bound have the same influence as before.
        """
        loss = with_larger_constants(self.loss, self.selected_bounds, factor)
        if not self.selected_alpha:
            return replace(self, loss=loss)
        by_output = None if self.alpha_by_output is None else factor * self.alpha_by_output
        return replace(self, loss=loss, alpha=factor * self.alpha, alpha_by_output=by_output)

    def with_factors(self) -> Selection:
        """The same with factors that serve the fit and its leave-one-out models, where these have a closed form."""
        training = self.training
        is_float64 = training.recipe.precision == "float64" or training.on_features
        if self.factors is not None or not (self.loss.quadratic and is_float64 and training.closed_form):
            return self
        if training.depends_on_alpha or training.term is None or training.term.loo_formula != "models":
            return self
        return replace(self, factors=training.weighted_term(self.alpha).factor(ITERATIONS))


def fit_selected(selection: Selection, solve: Callable[[Selection], Fit]) -> tuple[Selection, Fit]:
    """The selection and its fit; a smoother one where the solver does not converge with the selected settings.

    solve : function that fits a selection
    """
    first = selection, solve(selection)
    if is_final(first[1]) or not (selection.selected_alpha or selection.selected_bounds):
        return first

    def solve_smoother(factor):
        smoother = selection.smoother(factor)
        return smoother, solve(smoother)

    return step_back(solve_smoother, lambda result: is_final(result[1]), first)
