"""A regressor of scikit-learn on the coordinates of the outputs, in place of the kernel machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from .. import kernels
from .._utils.fitting import weight_arguments
from .._utils.statistics import mean_rows
from ..training import observed_rows, take_samples
from .checks import check_regressor, warn_unobserved
from .state import RegressorState
from .steps import FitResult

if TYPE_CHECKING:
    from .sources import MemorySource
    from .spec import Spec


def fit_regressor(spec: Spec, source: MemorySource) -> FitResult:
    """Fit the regressor to coordinates, gaps filled in; alpha, loss and solver have no part in it."""
    check_regressor(spec.regressor)
    if spec.manifold:
        raise ValueError("regressor knows no graph; set manifold=0, or regressor=None")
    X, weights, form = source.read_rows(spec)
    if isinstance(X, kernels.InputTable):
        raise ValueError("regressor takes rows of numbers, and kernels by columns have no part in it; set kernel='rbf'")
    y = spec.read_outputs(source.y)
    space = spec.output_space(y, weights)
    Y = space.encode_filled(y)
    rows, observed = observed_rows(weights, Y), weights @ np.isfinite(Y) > 0
    warn_unobserved(spec, space, space.unobserved_mask(y[np.flatnonzero(weights > 0)]), form)
    Y = np.where(np.isfinite(Y), Y, mean_rows(Y, weights))[:, observed]  # a curve that a sample does not have
    regressor, given_weights = clone(spec.regressor), None if source.sample_weight is None else weights[rows]
    options = weight_arguments(regressor, given_weights, spec.estimator, "regressor")
    scalars = spec.input_kernels(X)
    regressor.fit(take_samples(X, rows, scalars), Y[rows, 0] if Y.shape[1] == 1 else Y[rows], **options)
    mask = None if observed.all() else observed
    state = RegressorState(regressor=regressor, space=space, scalar_kernels=scalars, observed=mask)
    return FitResult(state=state, form=form)
