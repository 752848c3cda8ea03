"""What a fitted model of objects has learnt beside a function."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import kernels
from .._utils.linalg import row_norms
from ..core.terms import ONCE, Factors
from ..data.objects import take, to_array_or_list
from ..machine.state import State, spread
from ..output_losses import KernelLoss
from ..spaces import WeightSpace
from .weights import OutputWeights, RidgeWeights

_SCORED_AT_ONCE = 200


@dataclass(frozen=True, eq=False, kw_only=True)
class OutputRules:
    """What the training outputs are, and how predictions of them are made."""

    form: tuple  # in which predictions are given back
    outputs: Any  # distinct
    references: Any  # the same in the form that the loss takes
    groups: np.ndarray  # the number of each sample's output among them, -1 if it has none that counts
    kernel: Any
    loss: Any
    decoder: Any  # a name, or what the user gave
    candidates: Any
    no_label: Any = None  # the label that stands for none

    @property
    def by_both(self) -> bool:
        """Whether there are an output kernel and a loss: the function is in the kernel's space, the loss decodes."""
        return self.kernel is not None and self.loss is not None

    @property
    def pool(self):
        """Outputs, as they come, that are searched where nothing else is said: all classes in order, or those seen."""
        return self.outputs if self.classes is None else to_array_or_list(self.classes)

    @property
    def classes(self):
        """The classes in their order, None where outputs are none."""
        return None if self.loss is None else self.loss.classes(self.outputs)

    @property
    def measure(self):
        """The loss that predictions are judged by: without one, squared distance in the output kernel's space."""
        return KernelLoss(self.kernel) if self.loss is None else self.loss

    def losses_of(self, outputs):
        """Losses (b, c) of outputs where the distinct training outputs are true, and no bias."""
        return np.asarray(self.loss(self.loss.check_predictions(outputs), self.references), dtype=float), None

    def pairwise_losses(self, predicted, true):
        """Losses (n,) of predictions; labels that only the truth has count as missed."""
        loss = self.measure.resolve(true)
        predicted, true = loss.check_predictions(predicted), loss.check(true)
        losses = np.empty(len(true))
        for start in range(0, len(losses), _SCORED_AT_ONCE):
            part = np.arange(start, min(start + _SCORED_AT_ONCE, len(losses)))
            losses[part] = np.diag(loss(take(predicted, part), take(true, part)))
        return losses


@dataclass(frozen=True, eq=False, kw_only=True)
class StructuredState(State):
    """The state of a model of objects."""

    rows: np.ndarray  # samples with an output
    groups: np.ndarray  # of these samples, the number of their output
    ridge: Any = None  # RidgeWeights, where predictions need weights of samples

    @classmethod
    def from_fit(cls, found, **more):
        training = found.training
        rules, ridge = training.space.rules, None
        groups = rules.groups[rules.groups >= 0]
        if rules.by_both and is_ridge(training, found.loss):
            ridge = _ridge(found)
        return super().from_fit(found, **{"rows": training.rows, "groups": groups, "ridge": ridge, **more})

    def ridge_weights(self):
        """Weights of the samples, None where the model is not kernel ridge regression."""
        left = self.left_out
        if self.ridge is not None or left is None or self.operator is not None or len(self.kernels) > 1:
            return self.ridge
        kernel = None if left.kernels is None else left.kernels[0]
        return RidgeWeights.of(self.training_term(), left, self.alpha, kernel=kernel)


class LossTrickState(StructuredState):
    """Of a fit to probes of the loss trick: weights are solved for at predict, coefficients when they are asked for."""

    @classmethod
    def from_fit(cls, found, **more):
        training = found.training
        rules = training.space.rules
        ridge, number = _ridge(found), len(rules.references)
        return super().from_fit(
            found,
            coefficients=None,
            residual_sizes=None,
            inspected=None,
            ridge=ridge,
            space=WeightSpace(rules.references, rules.loss, rules),
            center=np.zeros(number),
            predictors=[OutputWeights(ridge, rules.groups[rules.groups >= 0], number)],
            **more,
        )

    @cached_property
    def dual_coef(self):
        """Coefficients (n, c): weights are linear in kernel values."""
        ridge, number = self.ridge, len(self.center)
        units = ridge.root[:, None] * (self.groups[:, None] == np.arange(number))
        factors = self.training_term().factor(ONCE) if ridge.factors is None else ridge.factors
        solved = factors.solve(units, 1.0, ridge.penalty) / ridge.penalty
        return spread(ridge.root[:, None] * solved, self.rows, len(self.saturated))

    @cached_property
    def outlier_scores(self):
        sizes = row_norms(self.dual_coef[self.rows]) / self.ridge.root**2
        return spread(sizes / (np.median(sizes) or 1.0), self.rows, len(self.saturated))

    def loo_residuals(self):
        return State.loo_residuals(self._of_units())

    def leave_one_out_models(self, factors: Factors | None = None):
        return State.leave_one_out_models(self._of_units(), factors)

    def _of_units(self):
        """The same in which the outputs left out are unit vectors, not their probes."""
        units = (self.groups[:, None] == np.arange(len(self.center))).astype(float)
        assert self.left_out is not None
        return replace(self, left_out=replace(self.left_out, Y=units))


def _ridge(found):
    """Weights of the samples in a fit of kernel ridge regression."""
    training = found.training
    kernel = training.kernels[0] if training.on_features else None
    return RidgeWeights.of(training.term_at(found.alpha), training, found.alpha, found.factors, kernel)


def is_ridge(training, loss):
    """Whether the model is kernel ridge regression, so that weights of samples come before coordinates."""
    separable = training.terms[0].as_separable() if len(training.terms) == 1 else None
    return loss.quadratic and training.mask is None and separable is not None and separable.M is None


def gaussian_rate(loss, kernel):
    """gamma of the Gaussian kernel of outputs whose distances are minimised, None if there is none."""
    if loss is None:
        return kernel.gamma if isinstance(kernel, kernels.NamedKernel) and kernel.name == "rbf" else None
    gaussian = isinstance(loss, KernelLoss) and isinstance(loss.kernel, str) and loss.kernel == "rbf"
    return loss.gamma if gaussian else None
