"""Estimators on Dask collections: fits to blocks of rows where they are."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing

from .. import features, selection
from .._utils.naming import unnamed_in_errors
from .._utils.validation import warn
from . import distributed
from .batches import InBatches
from .inputs import check_inputs


@dataclass(frozen=True, eq=False)
class _Checks:
    """Raises where a block's inputs cannot be read; workers are sent it before anything is learnt."""

    estimator: Any

    def __call__(self, X):
        self.estimator.check_block(X)


@unnamed_in_errors
class InBlocks(InBatches):
    """``fit`` of Dask collections."""

    def check_block(self, X):
        """Raise where inputs, a block of rows, cannot be read."""
        check_inputs(copy.copy(self), X, self._input_kernels(X), reset=True)

    def _learn(self, X, y, sample_weight):
        if not (distributed.is_dask(X) or distributed.is_dask(y)):
            super()._learn(X, y, sample_weight)
            return
        if self.regressor is not None or self.alpha_per_output:
            name = "regressor" if self.regressor is not None else "alpha_per_output"
            raise ValueError(f"{name} is not fitted in blocks; leave it at its default, or fit in memory")
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        self._learn_blocks(distributed.Blocks.of(X, y, sample_weight, _Checks(copy.copy(self))))

    def _learn_blocks(self, blocks: distributed.Blocks):
        """Settings from a sample of the rows, the function from all of them."""
        pool = blocks.sample(distributed.POOL)
        loss, recipe = self._check_settings(pool.X)
        distributed.check_settings(recipe, loss, self.solver)
        samples = self.read(*pool, output_space=self.stream_space)
        setting = features.Landmarks("auto") if isinstance(recipe.features, str) else recipe.features
        samples, options = samples.with_features(setting), self.options()
        decided = selection.select_stream_settings(samples, loss, self.alpha, options)
        like = _safe_indexing(samples.X, slice(0, 1))
        own, kernel = copy.copy(self), decided.kernel
        inputs = partial(check_inputs, own, kernels=[kernel.kernel], reset=False, like=like)
        read = distributed.Reader(inputs, own.read_outputs, decided.space, kernel.map)
        found = distributed.fit_blocks(blocks, samples, decided, read, self.alpha, options)
        solved = found.solved
        if not solved.converged:
            remedy = "alpha, which is at the limit of rounding," if found.solver == "moments" else "max_iter"
            warn(
                f"{type(self).__name__}: gap {solved.gap:.1e} > tol {self.tol:.1e} after {solved.n_iter} iterations; "
                f"raise {remedy} or tol",
                ConvergenceWarning,
            )
        self.warn_unobserved(decided.space, decided.space.unobserved_outputs(solved.unobserved))
        state = self.make_stream_state(found.decided, solved, solved.n_rows, selection.trials_table(found.trials))
        self.state_ = replace(state, solver=found.solver)
