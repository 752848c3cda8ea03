"""A fitted kernel machine as wrappers see it: coordinates, residuals, and models without single samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._utils.validation import warn
from .distributed import is_dask, map_blocks_lazily
from .forms import DataForm
from .inputs import check_inputs
from .posterior import InputNovelty
from .state import LeaveOneOutMachines


class FittedMachine:
    """The public attribute ``machine_`` of a fitted estimator.

    It holds what wrappers such as ``ConformalPredictor``, ``RegularizationPathCV`` and ``outlier_report`` need. Nothing
    here changes the estimator.

    Parameters
    ----------
    estimator : KernelMachine
        A fitted estimator.
    form : DataForm
        The containers of its training data.
    """

    def __init__(self, estimator, form: DataForm):
        check_is_fitted(estimator)
        self.estimator, self.form = estimator, form
        self.state: Any = estimator.state_

    @property
    def space(self):
        """The space of the outputs."""
        return self.state.space

    def check_inputs(self, X):
        """Inputs of a prediction in the form that kernels take."""
        like = getattr(self.state, "X_fit", None)
        return check_inputs(self.estimator, X, self.state.scalar_kernels, reset=False, like=like)

    def coordinates(self, X):
        """Predicted coordinates (m, d) in the space of the outputs; of a Dask collection lazily, block by block."""
        if is_dask(X):
            return map_blocks_lazily(self.coordinates, X)
        return self.state.coordinates(self.check_inputs(X))

    @property
    def posterior_size(self) -> int | None:
        """Number of rows of the factors that ``posterior`` computes on its first use; None where it has no formula."""
        return self.state.posterior_size

    def posterior(self) -> InputNovelty:
        """The posterior variance of the kernel, at checked inputs; a ValueError says where there is none."""
        return self.state.posterior()

    def novelty(self, X):
        """Novelty (m,) of inputs, see the method of the estimator; of a Dask collection lazily, block by block."""
        if is_dask(X):
            return map_blocks_lazily(self.novelty, X)
        return self.posterior().novelty(self.check_inputs(X))

    def encode(self, y):
        """Coordinates (n, d) of outputs in the space of the training outputs, NaN where not observed."""
        self.form.check_order(y)
        return self.space.encode(y)

    def decode(self, coordinates):
        """Outputs from coordinates (n, d)."""
        return self.space.decode(coordinates)

    def residuals(self, X, y):
        """Outputs minus predictions, rows (n, d) in coordinates; the loss is a function of them.

        For functions observed at points of their own, and with gaps in a dictionary, residuals of the observed values.
        """
        self.form.check_order(y)
        return self.space.residuals(y, self.coordinates(X))

    def sample_names(self, rows):
        """The index labels of samples in the data frame of the training data; their positions without a data frame."""
        return rows if self.form.index is None else self.form.index[rows]

    def loo_residuals(self):
        """Leave-one-out residuals as rows (n, d) in coordinates; see ``loo_residuals`` of the estimator."""
        return self.state.loo_residuals()

    @property
    def leave_one_out_obstacle(self) -> str:
        """Why ``leave_one_out_models`` has no formula; "" where it has one.

        It has one for the squared loss and a single (kernel, operator) term, if outputs have no gaps that the operator
        mixes.
        """
        return self.state.leave_one_out_obstacle

    def leave_one_out_models(self) -> LeaveOneOutMachines:
        """All models without one training sample each, in closed form; alpha times the sum of weights is held fixed.

        They hold factors of the size of the kernel matrix from their first prediction on, which are not stored.
        """
        return self.state.leave_one_out_models()


def drop_unpredicted(true, unpredicted):
    """Outputs to be scored, NaN in place of those without a prediction, given by a mask; a warning says so."""
    if (unpredicted & np.isfinite(true)).any():
        warn("score: outputs that no training sample has observed have no prediction, and are left out")
    return np.where(unpredicted, np.nan, true)
