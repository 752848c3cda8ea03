"""Estimators on Dask collections: fits to blocks of rows where they are, predictions block by block."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .. import distributed, held_out
from .._validation import check_choice
from .inputs import check_inputs
from .state import NotKept


@dataclass(frozen=True, eq=False)
class _Checks:
    """Raises where a block's inputs cannot be read; workers are sent it before anything is learnt."""

    estimator: Any

    def __call__(self, X):
        self.estimator.check_block(X)


class InBlocks:
    """What a kernel machine does with Dask collections."""

    def check_block(self, X):
        """Raise where inputs, a block of rows, cannot be read."""
        estimator: Any = copy.copy(self)
        check_inputs(estimator, X, estimator._input_kernels(X), reset=True)

    def _learn_blocks(self: Any, X, y, sample_weight):
        """Fit to Dask collections: settings from a sample of the rows, the function from all of them."""
        if self.regressor is not None or self.alpha_per_output:
            name = "regressor" if self.regressor is not None else "alpha_per_output"
            raise ValueError(f"{name} is not fitted in blocks; leave it at its default, or fit in memory")
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        blocks = distributed.Blocks.of(X, y, sample_weight, _Checks(self))
        pool = blocks.sample(distributed.POOL)
        loss, recipe = self._check_settings(pool.X)
        distributed.check_recipe(recipe, loss)
        samples = distributed.with_feature_map(self.read(*pool), recipe.features)
        reader = partial(_reader, self)
        choice, found = distributed.fit_blocks(blocks, samples, loss, self.alpha, self.options(), reader)
        state = self.make_state(self.checked(found))
        absent = NotKept(int(found.solved.n_rows), found.solved.n_support, found.solved.n_saturated)
        self.state_ = replace(
            state,
            coefficients=absent,
            support=absent,
            saturated=absent,
            residual_sizes=absent,
            left_out=None,
            choice=held_out.table(choice.trials),
            approximation=choice.approximation,
        )


def _reader(estimator, training) -> distributed.Reader:
    """What reads a block, for the kernel and its feature map of training data."""
    (kernel,) = training.kernels
    own = copy.copy(estimator)
    inputs = partial(check_inputs, own, kernels=[kernel.kernel], reset=False, like=_example(training.X))
    return distributed.Reader(inputs, own.read_outputs, training.space, kernel.map)


def _example(X):
    """Something of the form of X that is small."""
    return X[:1] if isinstance(X, (list, np.ndarray)) else None


def by_blocks(function, X):
    """``function(block)`` of each block of a Dask collection, lazily: with as many rows, in the same blocks."""
    if not hasattr(X, "chunks"):
        return X.map_partitions(function, meta=_rows_of(function(X._meta_nonempty), 0))
    if any(len(sizes) > 1 for sizes in X.chunks[1:]):
        X = X.rechunk({axis: -1 for axis in range(1, X.ndim)})
    example = np.asarray(function(np.zeros((1, *X.shape[1:]), dtype=X.dtype)))
    changed = {"drop_axis": list(range(example.ndim, X.ndim)), "new_axis": list(range(X.ndim, example.ndim))}
    chunks = (X.chunks[0], *((size,) for size in example.shape[1:]))
    return X.map_blocks(
        partial(_as_array, function, example.shape[1:]),
        dtype=example.dtype,
        chunks=chunks,
        meta=example[:0],
        **{name: axes for name, axes in changed.items() if axes},
    )


def _as_array(function, shape, X):
    return np.asarray(function(X)) if len(X) else np.empty((0, *shape))


def _rows_of(outputs, number):
    return outputs.iloc[:number] if hasattr(outputs, "iloc") else outputs[:number]
