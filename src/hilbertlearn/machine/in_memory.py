"""Training data in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from .._utils.validation import check_range
from ..data.frames import FrameForm, check_collected
from ..data.streams import is_source
from ..training import EncodedOutputs, Samples, Training, has_float32_inputs, select_precision
from .checks import check_lengths, require_outputs, warn_unobserved
from .distributed.blocks import is_dask
from .forms import DataForm
from .inputs import check_inputs
from .regressor import fit_regressor
from .spec import Spec
from .steps import FitResult

_DTYPES = {"auto": [np.float64, np.float32], "float32": np.float32, "float64": np.float64, "refined": np.float64}


class DataSource(ABC):
    """Training data."""

    @abstractmethod
    def fit(self, spec: Spec) -> FitResult:
        """Fit the model of these settings to all rows."""


@dataclass(frozen=True)
class MemorySource(DataSource):
    """Samples in memory.

    Parameters
    ----------
    X : inputs, as given
    y : outputs, as given
    sample_weight : (n,) weights or None
    """

    X: Any
    y: Any
    sample_weight: Any = None

    def fit(self, spec: Spec) -> FitResult:
        if spec.regressor is not None:
            return fit_regressor(spec, self)
        return spec.steps.fit(spec, self)

    def prepare(self, spec: Spec) -> Training:
        """The samples with selected kernels, for paths over alpha and folds."""
        if is_source(self.X) and not isinstance(self.X, np.memmap):  # maps are arrays
            raise ValueError(
                "X: a source of rows goes to fit of OperatorKernelRegressor, FunctionalRegressor and "
                "StructuredPredictor, where alpha='auto' stands for a search; paths over alpha take arrays in memory"
            )
        return spec.steps.prepare(spec, self.read(spec))

    def read(self, spec: Spec, output_space=None) -> Samples:
        """As ``read_samples``; a warning names outputs that no sample has observed."""
        samples = self.read_samples(spec, output_space)
        unobserved = samples.space.unobserved_mask(samples.y[samples.rows])
        warn_unobserved(spec, samples.space, unobserved, samples.form)
        return samples

    def read_samples(self, spec: Spec, output_space=None) -> Samples:
        """Checked samples; settings, which cost little to check, are checked first.

        output_space : in place of the estimator's own
        """
        if spec.regressor is not None:
            raise ValueError("regressor has no path over alpha; set regressor=None, or search its own settings")
        check_collected(self.X, "X")
        check_collected(self.y, "y")
        if is_dask(self.X) or is_dask(self.y):
            raise ValueError(
                "Dask collections go to fit of OperatorKernelRegressor, FunctionalRegressor and StructuredPredictor, "
                "where alpha='auto' and 'auto' in the loss stand for a search; elsewhere give X.compute(), y.compute()"
            )
        recipe, loss = spec.recipe(self.X), spec.loss
        X, weights, form = self.read_rows(spec, _DTYPES[spec.precision])
        y, weighted = spec.read_outputs(self.y), np.flatnonzero(weights > 0)
        outputs = y if len(weighted) == len(y) else y[weighted]
        check_range(outputs, deviations=loss.symmetric)
        make_space = spec.output_space if output_space is None else output_space
        encoded = EncodedOutputs.from_outputs(make_space(outputs, weights[weighted]), outputs)
        check_range(encoded.Y, deviations=loss.symmetric)
        spec.steps.check_encoded(loss, encoded)
        solver = None if spec.alpha_per_output else spec.options.solver
        is_float32 = has_float32_inputs(self.X)
        precision, single = select_precision(
            spec.precision, is_float32, recipe, encoded, weights[weighted], loss, solver
        )
        samples = Samples.from_data(replace(recipe, precision=precision), X, y, weights, encoded)
        samples = replace(samples, form=replace(form, single=single))
        if precision == "float64" or samples.recipe.features is not None:  # features are always float64
            return samples.to_float64()
        return samples

    def read_rows(self, spec: Spec, dtype=np.float64) -> tuple[Any, np.ndarray, DataForm]:
        """Checked inputs, the weight (n,) of each sample, and the containers of the data."""
        require_outputs(spec, self.y)
        check_collected(self.y, "y")
        index = next((frame.index for frame in (self.y, self.X) if hasattr(frame, "iloc")), None)
        X = check_inputs(spec.estimator, self.X, spec.input_kernels(self.X), reset=True, dtype=dtype)
        n = check_lengths(X, self.y)
        weights = np.ones(n)
        if self.sample_weight is not None:
            weights = _check_sample_weight(self.sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        return X, weights, DataForm(FrameForm.from_outputs(self.y), index)
