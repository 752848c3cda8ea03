"""Training data in Dask collections: a sample selects the settings, workers fit the function to their rows."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sklearn.utils import _safe_indexing

from ... import features, selection
from ..checks import gap_message, require_outputs, warn_not_converged, warn_unobserved
from ..in_memory import DataSource, MemorySource
from ..inputs import check_inputs
from ..spec import Spec
from ..steps import FitResult
from .blocks import Blocks
from .fit import POOL, check_settings, fit_blocks
from .parts import Reader


@dataclass(frozen=True, eq=False)
class _InputCheck:
    """Raises where the inputs of a block cannot be read. Every worker receives it before anything is fitted."""

    estimator: Any

    def __call__(self, X):
        estimator = copy.copy(self.estimator)
        check_inputs(estimator, X, estimator.spec().input_kernels(X), reset=True)


@dataclass(frozen=True)
class DaskSource(DataSource):
    """Rows in Dask collections; they stay on their workers."""

    X: Any
    y: Any
    sample_weight: Any = None

    def fit(self, spec: Spec) -> FitResult:
        if spec.regressor is not None or spec.alpha_per_output:
            name = "regressor" if spec.regressor is not None else "alpha_per_output"
            raise ValueError(f"{name} is not fitted in blocks; leave it at its default, or fit in memory")
        require_outputs(spec, self.y)
        check = _InputCheck(copy.copy(spec.estimator))
        blocks = Blocks.from_collections(self.X, self.y, self.sample_weight, check)
        pool = blocks.sample(POOL)
        check_settings(spec.recipe(pool.X), spec.loss, spec.options.solver)
        samples = MemorySource(*pool).read_samples(spec, spec.batch_space)
        automatic = isinstance(spec.feature_map, str)
        samples = samples.with_features(features.Landmarks("auto") if automatic else spec.feature_map)
        settings = selection.select_stream_settings(samples, spec.loss, spec.alpha, spec.options)
        reader = _make_reader(spec, samples, settings)
        fitted = fit_blocks(blocks, samples, settings, reader, spec.alpha, spec.options)
        solved = fitted.solved
        if not solved.converged:
            remedy = "raise alpha, which is at the limit of rounding," if fitted.by_moments else "raise max_iter"
            warn_not_converged(spec, gap_message(spec, solved.gap, solved.n_iter, remedy))
        warn_unobserved(spec, settings.space, settings.space.unobserved_outputs(solved.unobserved), samples.form)
        results = selection.trials_table(fitted.trials)
        state = spec.steps.make_stream_state(fitted.settings, solved, solved.n_rows, results)
        return FitResult(state=replace(state, solver=fitted.solver), form=samples.form)


def _make_reader(spec: Spec, samples, settings) -> Reader:
    """Reads a block of rows on a worker."""
    estimator, kernel = copy.copy(spec.estimator), settings.kernel
    example = _safe_indexing(samples.X, slice(0, 1))
    inputs = partial(check_inputs, estimator, kernels=[kernel.kernel], reset=False, like=example)
    return Reader(inputs, spec.read_outputs, settings.space, kernel.map)
