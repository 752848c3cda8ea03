"""Fits for wrappers that also need the models of parts of the samples."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .base import KernelMachine
from .state import LeaveOneOutMachines
from .steps import fit_part, fitted_copy


def fit_with_leave_one_out(estimator: KernelMachine, X, y, sample_weight=None) -> LeaveOneOutMachines | None:
    """Fit, and return the leave-one-out models where they have a formula; both share one factorisation."""
    selection = estimator.fit_selection(X, y, sample_weight, keep_factors=True)
    if estimator.machine_.leave_one_out_obstacle:
        return None
    return estimator.state_.leave_one_out_models(None if selection is None else selection.factors)


def fit_with_parts(estimator: KernelMachine, X, y, sample_weight=None) -> Callable | None:
    """Fit, and return a function that fits a copy to some of the samples, an array of their positions.

    Copies share the kernel's values and the settings selected with all samples: kernel, constants of the loss, and
    alpha times the sum of weights. Where the solver does not converge with these, a part has smoother ones. Constant,
    operator and space are computed from the part. None where the data are not held in memory, or a regressor is in
    place of the kernel machine.
    """
    selection = estimator.fit_selection(X, y, sample_weight)
    return None if selection is None else partial(_fit_copy, estimator, selection)


def _fit_copy(estimator, selection, rows):
    return fitted_copy(estimator, fit_part(estimator.spec(), selection, rows))


def can_fit_parts(estimator) -> bool:
    """Whether ``fit_with_parts`` is of use: a kernel machine whose leave-one-out models have no formula."""
    if not isinstance(estimator, KernelMachine):
        return False
    spec = estimator.spec()
    return spec.steps.shares_selection and not spec.loss.quadratic
