"""The state of a fitted model of objects, and the rules by which its outputs are decoded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import kernels
from .._utils.linalg import row_norms
from ..core.terms import ONCE, Factors
from ..data.objects import take, to_array_or_list
from ..machine.state import State, scatter
from ..output_losses import KernelLoss
from ..spaces import WeightSpace
from .weights import OutputWeights, RidgeWeights

_LOSS_BLOCK = 200  # predictions whose losses are computed at once, of which the diagonal is used


@dataclass(frozen=True, eq=False, kw_only=True)
class OutputRules:
    """The distinct training outputs, and the output kernel, loss and decoder of predictions."""

    form: tuple  # form of the user's outputs, in which predictions are returned
    outputs: Any  # distinct training outputs
    references: Any  # the same in the form that the loss takes
    groups: np.ndarray  # number of each sample's output among them, -1 for samples without an output or weight
    kernel: Any
    loss: Any
    decoder: Any  # a name, or the user's object
    candidates: Any
    no_label: Any = None  # the integer that means no label

    @property
    def has_kernel_and_loss(self) -> bool:
        """Whether the function has values in an output kernel's space and an output loss decodes it."""
        return self.kernel is not None and self.loss is not None

    @property
    def default_candidates(self):
        """All classes in their order, or the distinct training outputs."""
        return self.outputs if self.classes is None else to_array_or_list(self.classes)

    @property
    def classes(self):
        """The classes in their order, None if outputs are not classes."""
        return None if self.loss is None else self.loss.classes(self.outputs)

    @property
    def evaluation_loss(self):
        """The output loss, or the squared distance in the output kernel's space."""
        return KernelLoss(self.kernel) if self.loss is None else self.loss

    def loss_features(self, outputs):
        """Losses (b, c) of outputs where the distinct training outputs are true, and None for a bias."""
        return np.asarray(self.loss(self.loss.check_predictions(outputs), self.references), dtype=float), None

    def pairwise_losses(self, predicted, true):
        """Losses (n,) of predictions; the labels of both sides are known to the loss."""
        loss = self.evaluation_loss.resolve(true)
        predicted, true = loss.check_predictions(predicted), loss.check(true)
        losses = np.empty(len(true))
        for start in range(0, len(losses), _LOSS_BLOCK):
            part = np.arange(start, min(start + _LOSS_BLOCK, len(losses)))
            losses[part] = np.diag(loss(take(predicted, part), take(true, part)))
        return losses


@dataclass(frozen=True, eq=False, kw_only=True)
class StructuredState(State):
    """The state of a model of objects."""

    rows: np.ndarray  # positions of the samples with an output
    groups: np.ndarray  # number of the output of each of these samples
    ridge: Any = None  # ``RidgeWeights``, if predictions need weights of samples

    @classmethod
    def from_fit(cls, fit, **replaced):
        training = fit.training
        rules, ridge = training.space.rules, None
        groups = rules.groups[rules.groups >= 0]
        if rules.has_kernel_and_loss and is_ridge(training, fit.loss):
            ridge = _ridge_weights(fit)
        return super().from_fit(fit, **{"rows": training.rows, "groups": groups, "ridge": ridge, **replaced})

    def ridge_weights(self):
        """``RidgeWeights`` of the samples, None if the model is not kernel ridge regression."""
        data = self.loo_data
        if self.ridge is not None or data is None or self.operator is not None or len(self.kernels) > 1:
            return self.ridge
        kernel = None if data.kernels is None else data.kernels[0]
        return RidgeWeights.from_term(self.training_term(), data, self.alpha, kernel=kernel)


class LossTrickState(StructuredState):
    """The state of the loss trick whose weights are solved for at predict.

    The fit certified one factorisation on random combinations of outputs, a ``ProbeSpace``. Coefficients are computed
    when they are read.
    """

    @classmethod
    def from_fit(cls, fit, **replaced):
        training = fit.training
        rules = training.space.rules
        ridge, number = _ridge_weights(fit), len(rules.references)
        return super().from_fit(
            fit,
            coefficients=None,
            residual_sizes=None,
            diagnostics=None,
            ridge=ridge,
            space=WeightSpace(rules.references, rules.loss, rules),
            center=np.zeros(number),
            predictors=[OutputWeights(ridge, rules.groups[rules.groups >= 0], number)],
            **replaced,
        )

    @cached_property
    def dual_coef(self):
        """Coefficients (n, c): weights are linear in kernel values."""
        ridge, number = self.ridge, len(self.center)
        units = ridge.root[:, None] * (self.groups[:, None] == np.arange(number))
        factors = self.training_term().factor(ONCE) if ridge.factors is None else ridge.factors
        solved = factors.solve(units, 1.0, ridge.penalty) / ridge.penalty
        return scatter(ridge.root[:, None] * solved, self.rows, len(self.saturated))

    @cached_property
    def outlier_scores(self):
        sizes = row_norms(self.dual_coef[self.rows]) / self.ridge.root**2
        return scatter(sizes / (np.median(sizes) or 1.0), self.rows, len(self.saturated))

    def loo_residuals(self):
        return State.loo_residuals(self._with_unit_vectors())

    def leave_one_out_models(self, factors: Factors | None = None):
        return State.leave_one_out_models(self._with_unit_vectors(), factors)

    def _with_unit_vectors(self):
        """The state whose leave-one-out data have outputs as unit vectors in place of probes."""
        units = (self.groups[:, None] == np.arange(len(self.center))).astype(float)
        assert self.loo_data is not None
        return replace(self, loo_data=replace(self.loo_data, Y=units))


def _ridge_weights(fit):
    """``RidgeWeights`` of a fit of kernel ridge regression."""
    training = fit.training
    kernel = training.kernels[0] if training.on_features else None
    return RidgeWeights.from_term(training.weighted_term(fit.alpha), training, fit.alpha, fit.factors, kernel)


def is_ridge(training, loss):
    """Whether the model is kernel ridge regression, so that samples have weights."""
    separable = training.terms[0].as_separable() if len(training.terms) == 1 else None
    return loss.quadratic and training.mask is None and separable is not None and separable.M is None


def gaussian_rate(loss, kernel):
    """gamma of the Gaussian output kernel whose distances are minimised, None for any other kernel or loss."""
    if loss is None:
        return kernel.gamma if isinstance(kernel, kernels.NamedKernel) and kernel.name == "rbf" else None
    gaussian = isinstance(loss, KernelLoss) and isinstance(loss.kernel, str) and loss.kernel == "rbf"
    return loss.gamma if gaussian else None
