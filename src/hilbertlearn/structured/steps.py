"""The steps of a fit in which objects differ from vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..core.terms import ONCE
from ..data.objects import read_outputs, restore_form
from ..machine.steps import FitSteps, make_result, solve_selection
from ..spaces import ProbeSpace, WeightSpace
from ..training import fit, is_searched
from .decoding import is_discrete, make_decoder
from .state import LossTrickState, StructuredState, is_ridge


@dataclass(frozen=True)
class StructuredSteps(FitSteps):
    """Weights over the training outputs may be solved for at predict, which needs one Cholesky factor at fit.

    Parameters
    ----------
    probed_space : callable (outputs, sample weights) -> ProbeSpace, or None
        The space of fits whose weights are solved for at predict. None where the settings need them at fit.
    """

    probed_space: Callable | None = None

    def fit(self, spec, source):
        if self.probed_space is None or spec.reuse is not None:
            return super().fit(spec, source)
        is_given = not is_searched(spec.alpha) and not isinstance(spec.gamma, str)
        selected = self.select(spec, source.read(spec, self.probed_space if is_given else None))
        training = selected.training
        if selected.factors is None and not isinstance(training.space, ProbeSpace):
            training = training.with_space(self.probed_space(*training.outputs_and_weights()))
        if isinstance(training.space, ProbeSpace):
            factors = training.weighted_term(selected.alpha).factor(ONCE)
            result = fit(training, selected.loss, selected.alpha, spec.options, factors=factors)
            if result.solution.converged:
                return make_result(spec, selected, result)
            # at the limit of rounding: the eigenbases, for all outputs
            space = spec.output_space(*training.outputs_and_weights())
            selected = replace(selected, training=training.with_space(space))
        return solve_selection(spec, selected)

    def fit_selected(self, spec, selected):
        training = selected.training
        rules = training.space.rules
        if rules.has_kernel_and_loss and is_ridge(training, selected.loss):  # weights of predictions need factors
            factors = selected.factors or training.weighted_term(selected.alpha).factor(ONCE)
            selected = replace(selected, factors=factors)
        return super().fit_selected(spec, selected)

    def make_state(self, result):
        probed = isinstance(result.training.space, ProbeSpace)
        return LossTrickState.from_fit(result) if probed else StructuredState.from_fit(result)

    def fold_error(self, training, result, test, loss=None):
        space = result.training.space
        if not isinstance(space, WeightSpace):
            return super().fold_error(training, result, test, loss)
        weights = result.coordinates_at(training.cross(test, result.training))
        y, rules = training.y[training.rows[test]], space.rules
        decoded = restore_form(make_decoder(rules)(weights), rules.form, discrete=is_discrete(rules))
        predicted, _ = read_outputs(decoded, like=rules.outputs)
        return float(np.average(rules.pairwise_losses(predicted, y.items), weights=training.weights[test]))
