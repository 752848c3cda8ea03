"""Training data that come in batches of rows, which are not kept."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .. import features, kernels, operators, selection
from .._utils.statistics import mean_rows
from ..core.terms import FeatureBlockGram
from ..data import streams
from ..data.streams import Batch, Source
from ..data.streams.base import check_batch_weights, concatenate_batches, nonempty_batches
from ..leave_one_out import Reservoir
from ..selection import Selection, StreamSettings
from ..spaces import VectorSpace
from ..training import EncodedOutputs, Moments, Training, make_terms, resolve_schedule
from ..training.moments import is_diagonal
from ..training.samples import LARGEST_EXACT
from .batch_state import FixedSettings, RunningSums
from .checks import check_lengths, gap_message, require_outputs, warn_not_converged, warn_unobserved
from .in_memory import DataSource, MemorySource
from .inputs import check_inputs
from .spec import Spec
from .steps import FitResult, solve_selection

_SAMPLE, _LARGEST_SAMPLE = 5000, 40_000  # rows that settings are selected with: at least, at most
_ROWS_PER_LANDMARK = 10  # rows among which each landmark is selected; twice as many take twice the time
_FEATURES = 1000  # features assumed where their number is not known yet
_MAPPED_ENTRIES = 2**25  # numbers up to which a memory-mapped array is read into memory, 256 MB


# ---------------------------------------------------------------- into memory or not


def is_read_into_memory(spec: Spec, X, source: Source) -> bool:
    """Whether all rows of a source are read into memory: few rows, or settings that need all of them."""
    if spec.feature_map is None or spec.regressor is not None:
        return True
    is_small = isinstance(spec.feature_map, str) and source.n_rows is not None and source.n_rows <= LARGEST_EXACT
    return is_small or (isinstance(X, np.memmap) and _is_better_in_memory(spec, source))


def read_into_memory(source: Source) -> MemorySource:
    """All rows of a source."""
    return MemorySource(*(concatenate_batches(list(source)) if source.n_rows is None else source.sample(source.n_rows)))


def _is_better_in_memory(spec: Spec, source) -> bool:
    """Whether a memory-mapped array is read into memory. scikit-learn hands arrays to other processes as such."""
    n_features: Any = getattr(spec.feature_map, "n_components", _FEATURES)
    width = source.X.shape[1] + (_FEATURES if isinstance(n_features, str) else n_features)
    needs_gram = isinstance(spec.kernel, (list, tuple)) or kernels.is_precomputed(spec.kernel)
    needs_all = needs_gram or spec.manifold or spec.alpha_per_output or spec.loss.on_margins
    return bool(needs_all) or source.n_rows * width <= _MAPPED_ENTRIES


# ---------------------------------------------------------------- fit


@dataclass(frozen=True)
class BatchSource(DataSource):
    """A source of rows that are read in one or several passes."""

    source: Source

    def fit(self, spec: Spec) -> FitResult:
        """Select settings with a sample of the rows; solve in one pass for the squared loss, in several for others."""
        check_batch_settings(spec)
        first, batches = self._first_rows(_sample_size(spec))
        sums = start_sums(spec, first)
        settings, source = sums.selected, self.source
        if settings.loss.quadratic and operators.as_learned(settings.recipe.pairs[0][1]) is None:
            added = add_rows(spec, sums, batches)
            has_formula = not added.moments.has_gaps or is_diagonal(settings.M)  # none for gaps that an operator mixes
            if has_formula or not source.repeatable:
                return solve_sums(spec, added)
            batches = nonempty_batches(source)
        return _solve_by_passes(spec, sums, source, batches)

    def _first_rows(self, number) -> tuple[Batch, Iterable[Batch]]:
        """A sample of rows to select settings with, and all rows; of a source that is read once, the first rows."""
        if self.source.repeatable:
            return self.source.sample(number), nonempty_batches(self.source)
        head: list[Batch] = []
        rest = nonempty_batches(self.source)
        while sum(_num_samples(batch.X) for batch in head) < number and (batch := next(rest, None)) is not None:
            head.append(batch)
        return concatenate_batches(head), itertools.chain(head, rest)


def _sample_size(spec: Spec) -> int:
    """The number of rows that settings are selected with: ten for each landmark, within bounds."""
    number = getattr(spec.feature_map, "n_components", "auto")
    if isinstance(number, str):
        return 2 * _SAMPLE
    return min(max(_SAMPLE, _ROWS_PER_LANDMARK * number), _LARGEST_SAMPLE)


def check_batch_settings(spec: Spec):
    """Refuse settings that need all rows at once."""
    if isinstance(spec.kernel, (list, tuple)):
        raise ValueError("kernel: rows in batches take a single kernel; give kernels.Columns or one of them")
    if spec.manifold:
        raise ValueError("manifold: a graph needs all samples at once; set manifold=0, or fit in memory")
    if spec.alpha_per_output:
        raise ValueError("alpha_per_output is for fits in memory; set alpha_per_output=False")
    if spec.loss.on_margins:
        raise ValueError(f"loss={spec.loss!r} takes all samples at once; use another loss, or fit in memory")


def start_sums(spec: Spec, first: Batch, passes=True) -> RunningSums:
    """Settings selected with the first rows, and empty sums; passes : whether all rows can be read several times."""
    if first.sample_weight is not None and not np.any(first.sample_weight):
        raise ValueError(
            "sample_weight: no row has a positive weight in the first batch, or in the sample of a source that "
            "settings are chosen on; begin with rows that count"
        )
    samples = MemorySource(*first).read_samples(spec, spec.batch_space)
    if samples.encoded.sampling is not None:
        raise ValueError(
            "y: functions at points of their own cannot come in batches; give values on a common grid, or "
            "irregular='projected'"
        )
    if isinstance(spec.feature_map, str):
        samples = samples.with_features(features.Landmarks("auto")).to_float64()
    settings = selection.select_stream_settings(samples, spec.loss, spec.alpha, spec.options, passes)
    d, r = samples.Y.shape[1], settings.kernel.n_components
    origin = mean_rows(samples.Y, samples.weights) if spec.center else np.zeros(d)
    return RunningSums(
        selected=settings,
        moments=Moments.empty(r, origin),
        rows=Reservoir.empty(r, d),
        example=_safe_indexing(samples.X, slice(0, 1)),
        settings=FixedSettings.from_estimator(spec.estimator),
        form=samples.form,
    )


def add_rows(spec: Spec, sums: RunningSums, batches) -> RunningSums:
    """The sums with the rows of all batches."""
    origin, rows = sums.moments.origin, sums.rows
    added = Moments.empty(sums.moments.n_features, origin)
    for batch in batches:
        X, _, Y, weights = _read_batch(spec, sums, batch)
        for part, Z in sums.selected.kernel.map.blocks(X):
            part_weights = None if weights is None else weights[part]
            added += Moments.from_rows(Z, Y[part], part_weights, origin)
            rows = rows.with_rows(Z, Y[part], part_weights)
    moments = sums.moments + added if sums.moments.n_rows else added
    return replace(sums, moments=moments, rows=rows.flush())


def solve_sums(spec: Spec, sums: RunningSums) -> FitResult:
    """The model of the rows so far."""
    settings = sums.selected
    solved, trials = selection.solve_moments(sums.moments, settings, lambda: sums.rows, spec.alpha, spec.options.tol)
    if not solved.converged:
        remedy = "raise alpha, which is at the limit of rounding,"
        warn_not_converged(spec, gap_message(spec, solved.gap, solved.n_iter, remedy))
    warn_unobserved(spec, settings.space, settings.space.unobserved_outputs(solved.unobserved), sums.form)
    state = spec.steps.make_stream_state(settings, solved, solved.n_rows, selection.trials_table(trials))
    return FitResult(state=state, form=sums.form, sums=sums)


def _read_batch(spec: Spec, sums: RunningSums, batch: Batch):
    """Inputs, outputs as read, coordinates (b, d), and weights (b,) or None of a batch."""
    space, d = sums.selected.space, sums.moments.n_outputs
    require_outputs(spec, batch.y)
    X = check_inputs(spec.estimator, batch.X, [sums.selected.kernel.kernel], reset=False, like=sums.example)
    n = check_lengths(X, batch.y)
    weights = None if batch.sample_weight is None else check_batch_weights(batch.sample_weight, n)
    sums.form.check_order(batch.y)
    y = spec.read_outputs(batch.y)
    width = y.shape[1] if isinstance(y, np.ndarray) and y.ndim == 2 else d
    Y = space.encode(y) if width == d or not isinstance(space, VectorSpace) else np.empty((n, width))
    if Y.shape[1] != d or space.sampling(y) is not None:
        raise ValueError(
            f"y: a batch has {Y.shape[1]} outputs a sample, and the first had {d}; give the same outputs each time"
        )
    return X, y, Y, weights


# ---------------------------------------------------------------- several passes


@dataclass(frozen=True, eq=False)
class _RowBlock:
    """Rows with a positive weight and an observed output."""

    Z: Any  # (b, r) features
    Y: np.ndarray  # (b, d) coordinates
    weights: np.ndarray  # (b,)
    used: np.ndarray  # mask of these rows among those of the batch
    outside: Any  # (b,) norms of outputs outside the space, or None


def _solve_by_passes(spec: Spec, sums: RunningSums, source: Source, batches) -> FitResult:
    """Solve with outputs and dual variables in memory, and features in blocks that are read in several passes."""
    settings = sums.selected

    def read_again():
        return (block.Z for batch in nonempty_batches(source) for block in _row_blocks(spec, sums, batch))

    blocks: list[_RowBlock] = []
    with streams.BlockStore(read_again if source.repeatable else None, source.n_rows) as store:
        for batch in batches:
            for block in _row_blocks(spec, sums, batch):
                store.append(block.Z)
                blocks.append(replace(block, Z=None))
        training = _training(settings, blocks, FeatureBlockGram(store.blocks, store.shape), sums.form)
        unobserved = np.isnan(training.Y).all(axis=0)
        warn_unobserved(spec, training.space, training.space.unobserved_outputs(unobserved), sums.form)
        if settings.penalty is None:
            alpha = float(resolve_schedule(spec.alpha, len(training.rows)))
        else:
            alpha = settings.penalty / float(training.weights.sum())
        selected = Selection(
            alpha,
            settings.loss,
            training,
            trials=settings.trials,
            approximation=settings.approximation,
            selected_alpha=settings.penalty is not None,
            selected_bounds=settings.selected_bounds,
        )
        result = solve_selection(spec, selected)
    return replace(result, selection=None, by_passes=True)


def _row_blocks(spec: Spec, sums: RunningSums, batch: Batch):
    """The rows of a batch with a positive weight and an observed output, in blocks."""
    X, y, Y, weights = _read_batch(spec, sums, batch)
    weights, outside = np.ones(len(Y)) if weights is None else weights, sums.selected.space.outside_norms(y)
    used = (weights > 0) & np.isfinite(Y).any(axis=1)
    for part, Z in sums.selected.kernel.map.blocks(X):
        mask = used[part]
        norms = None if outside is None else outside[part][mask]
        yield _RowBlock(Z if mask.all() else Z[mask], Y[part][mask], weights[part][mask], mask, norms)


def _training(settings: StreamSettings, blocks, gram, form) -> Training:
    """The training data of rows in blocks, without inputs."""
    names = ("Y", "weights", "used")
    Y, weights, used = (np.concatenate([getattr(block, name) for block in blocks]) for name in names)
    if not len(Y):
        raise ValueError(
            "y has no observed entry with a positive weight, it contains only NaN; "
            "give at least one sample with an output"
        )
    outside = None if blocks[0].outside is None else np.concatenate([block.outside for block in blocks])
    encoded = EncodedOutputs(space=settings.space, Y=Y, sampling=None, coordinates=Y, outside=outside)
    return Training(
        recipe=settings.recipe,
        y=None,
        X=None,
        columns=np.flatnonzero(used),
        rows=np.flatnonzero(used),
        n_samples=len(used),
        weights=weights,
        encoded=encoded,
        form=form,
        kernels=(settings.kernel,),
        grams=(gram,),
        terms=make_terms(settings.recipe, [gram], encoded, weights),
    )
