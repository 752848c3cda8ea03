"""The numbers that bounds need, from a fitted estimator and its training samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..._utils.linalg import row_norms
from ..._utils.validation import check_number
from ...losses import as_loss
from ...machine.base import KernelMachine
from ...machine.inputs import check_inputs
from ...operators import as_learned, depends_on_outputs
from ...training import is_searched

_ACCEPTED = "OperatorKernelRegressor, FunctionalRegressor, StructuredPredictor, or RegularizationPathCV around one"


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A fitted kernel machine with its training samples.

    The theorems need a kernel, an alpha and a constant that are fixed before the samples are seen, and bounds that hold
    for all possible samples. `list_assumptions` names the ones that were estimated from the samples.
    """

    model: Any
    X: Any
    y: Any
    searched: bool = False  # whether a search around the model selected alpha

    @classmethod
    def from_estimator(cls, estimator, X, y) -> FittedModel:
        """Check an estimator: a kernel machine, fitted in memory to these samples, without weights or graph penalty."""
        check_is_fitted(estimator)
        model = getattr(estimator, "best_estimator_", estimator)
        if not isinstance(model, KernelMachine):
            raise TypeError(f"estimator must be {_ACCEPTED}, got {type(model).__name__}; bounds are for these")
        check_is_fitted(model)
        if getattr(model, "regressor", None) is not None:
            raise ValueError("estimator: bounds are for the kernel machine, not for its regressor; set regressor=None")
        if model.manifold:
            raise ValueError("estimator: with manifold > 0 the kernel depends on all samples; bounds need manifold=0")
        if not hasattr(model.state_, "saturated"):
            raise ValueError(
                "estimator: fits from batches or blocks keep no samples; give the numbers themselves, as to "
                "stability_bound(loss, n=..., alpha=..., ...)"
            )
        weights = model.state_.used_samples.weights
        if (weights != weights[0]).any():
            remedy = (
                "give the loss's constant as a number, so that no weight is reduced (see screened_, screening_weights_)"
                if (model.state_.screening_weights < 1).any()
                else "fit without sample_weight"
            )
            raise ValueError(f"estimator: bounds are for samples of equal weight; {remedy}")
        n = len(model.state_.saturated)
        if _num_samples(X) != n or _num_samples(y) != n:
            raise ValueError(
                f"X and y must be the training samples, {n} of them; got {_num_samples(X)} and {_num_samples(y)}"
            )
        return cls(model, X, y, model is not estimator)

    @property
    def state(self):
        return self.model.state_

    @cached_property
    def outputs(self):
        """Outputs less the constant (n, d) of the samples that were fitted, 0 where not observed.

        Where outputs have parts outside their space, the norms of these parts are one more column.
        """
        constant = np.tile(self.state.center, (_num_samples(self.y), 1))
        return self._fitted_rows(self.state.space.residuals(self._read, constant))

    @cached_property
    def residuals(self):
        """Residuals (n, d), the arguments of the loss."""
        return self._fitted_rows(self.state.space.residuals(self._read, self.model.machine_.coordinates(self.X)))

    @cached_property
    def _read(self):
        return self.model.read_outputs(self.y)

    def _fitted_rows(self, rows):
        indices = self.state.used_samples.rows
        outside = self.state.space.outside_norms(self._read)
        rows = rows if outside is None else np.column_stack([rows, outside])
        return np.nan_to_num(rows[indices])

    @property
    def n(self) -> int:
        """Number of fitted samples: those with an observed output and a positive weight."""
        return len(self.residuals)

    @property
    def risk(self) -> float:
        """Mean loss of the training samples."""
        return float(self.state.loss.row_value(self.residuals, self.state.space.measure).mean())

    def output_bound(self, bound=None) -> float:
        """Bound on the norms of outputs less the constant; by default the largest of the samples."""
        if bound is not None:
            return float(check_number(bound, "output_bound", strict=False))
        return float(row_norms(self.outputs).max())

    @cached_property
    def _inputs(self):
        """Inputs in the form that kernels take."""
        state = self.state
        return check_inputs(self.model, self.X, state.scalar_kernels, reset=False, like=state.X_fit)

    def input_bound(self) -> float:
        """Largest ``k(x, x)`` of the fitted samples."""
        if len(self.state.kernels) > 1:
            raise ValueError("estimator: several (kernel, operator) terms; give kernel_bound=, sup ||K(x, x)||")
        (kernel,), rows = self.state.kernels, self.state.used_samples.rows
        if getattr(kernel, "on_features", False):
            Z = kernel(self._inputs)
            return float(np.einsum("ij,ij->i", Z, Z)[rows].max())
        if kernel.value_size(1, 2) > 1:
            raise ValueError("estimator: values of its kernel are matrices; give kernel_bound=, sup ||K(x, x)||")
        return float(np.max(kernel.diagonal(self._inputs)[rows]))

    def kernel_bound(self, bound=None) -> float:
        """Bound on ``||K(x, x)||``; by default the largest of the samples."""
        if bound is not None:
            return float(check_number(bound, "kernel_bound"))
        self.check_common_points("kernel_bound=, a bound on ||S K(x, x) S'||, S from coordinates to the values seen,")
        M = self.state.operator
        return self.input_bound() * (1.0 if M is None else operator_norm(M))

    def check_common_points(self, remedy=""):
        """Raise if samples are observed at different points: the norm of the values may exceed that of the function."""
        if getattr(self.state.space, "sampled", False):
            raise ValueError(
                "estimator: its loss is of values at points that differ between samples, and the norm of these is not "
                f"that of the function; give {remedy or 'curves on a common grid,'} or set irregular='projected'"
            )

    @property
    def norm(self) -> float:
        """Norm of the fitted function in the space of its operator-valued kernel."""
        state = self.state
        if len(state.kernels) > 1 or state.coefficients is None:
            raise ValueError("estimator: the norm of this function is not known; give radius=")
        (kernel,), (C,), M = state.kernels, state.kernel_coefficients, state.operator
        image = C if M is None else C @ M
        if getattr(kernel, "on_features", False):
            return float(np.sqrt(max(np.sum(C * image), 0.0)))
        K = np.asarray(self.X)[np.ix_(state.columns, state.columns)] if kernel.precomputed else kernel(state.X_fit)
        return float(np.sqrt(max(np.sum((K @ C) * image), 0.0)))

    def list_assumptions(self, **bounds) -> tuple[str, ...]:
        """Settings estimated from the samples that the theorem needs fixed; bounds : by name, None if estimated."""
        notes = [f"{name} is the largest of the samples" for name, value in bounds.items() if value is None]
        model, state = self.model, self.state
        gamma = isinstance(model.gamma, str) and model.gamma_ is not None
        estimated = {
            "the constant was fitted to them": model.center,
            "alpha was chosen on them": self.searched or is_searched(model.alpha),
            "the kernel was chosen on them": gamma or (isinstance(model.kernel, str) and model.kernel == "auto"),
            "the loss's settings come from them": as_loss(model.loss).needs_residuals,
            "the operator comes from them": depends_on_outputs(model.operator)
            or as_learned(model.operator) is not None,
            "the scale of outputs comes from them": getattr(state.space, "scale", None) is not None,
            "features were chosen among them": state.feature_map is not None,
        }
        return (*notes, *(note for note, holds in estimated.items() if holds))


def operator_norm(M) -> float:
    """Largest eigenvalue of a positive semi-definite matrix, or of a Kronecker product of such matrices."""
    factors = getattr(M, "factors", [M])
    return float(np.prod([np.linalg.norm(factor, 2) for factor in factors if not isinstance(factor, int)]))
