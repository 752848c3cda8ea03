"""Models of more rows than memory holds: batch by batch, and from sources of rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .. import features, kernels, operators, selection
from .._utils.fitting import continued, where
from .._utils.naming import unnamed_in_errors
from .._utils.statistics import mean_rows
from .._utils.validation import warn
from ..core.terms import FeatureBlockGram
from ..data import streams
from ..data.streams import Batch, Source
from ..data.streams.base import check_batch_weights, concatenate_batches, nonempty_batches
from ..leave_one_out import Reservoir
from ..losses import as_loss
from ..spaces import VectorSpace
from ..training import Encoded, Moments, Training, make_terms, scheduled
from ..training.moments import is_diagonal
from .base import KernelMachine
from .batch_state import Accumulated, FixedSettings, StreamState
from .inputs import check_inputs

_EXACT = 5000  # rows up to which a source is read as a whole where feature_map="auto"
_SAMPLE, _MOST_SAMPLE = 5000, 40_000  # rows that kernel and landmarks are chosen from
_PER_LANDMARK = 10
_MAPPED, _MAPPED_ENTRIES = 1000, 2**25  # features if nobody knows, and entries of these that are rather held, 256 MB


def _check_takes_batches(estimator):
    """Raise an AttributeError that says why not where ``partial_fit`` cannot work."""
    setting, name = estimator.feature_map, type(estimator).__name__
    why = ""
    if setting is None or isinstance(setting, str):
        why = "needs feature_map=: a number of landmarks, features.Landmarks(), RandomFeatures() or a transformer"
    elif not _is_squared(estimator.loss):
        why = "is for loss='squared'; other losses take fit(source), see hilbertlearn.streams"
    elif estimator.regressor is not None or estimator.manifold or estimator.alpha_per_output:
        why = "goes with regressor=None, manifold=0 and alpha_per_output=False"
    if why:
        raise AttributeError(f"{name}.partial_fit {why}")


def _is_squared(loss) -> bool:
    try:
        return as_loss(loss).quadratic
    except (TypeError, ValueError):  # fit will say what is wrong with it
        return False


@unnamed_in_errors
class InBatches(KernelMachine):
    """``partial_fit``, and ``fit`` from rows in pieces."""

    _accumulated_: Accumulated | None = None  # of the squared loss
    _by_passes_ = False  # whether a source was read several times, of which there are no sums

    # ---------------------------------------------------------------- batch by batch

    @where(_check_takes_batches)
    @continued
    def partial_fit(self, X, y, sample_weight=None):
        """Learn from further rows, for the squared loss on features; the rows themselves are not kept.

        The model is that of ``fit`` with the same features and all rows so far, in whatever batches and order they
        came; memory is that of features by features and outputs. The first batch decides what depends on data and was
        not given: the kernel and its rate, landmarks, an operator made of outputs, the scale of outputs, how much the
        constant of curves is smoothed. It should be a random draw, and larger than the number of landmarks;
        features.RandomFeatures with a number for gamma, or ``Landmarks(points=...)``, do not depend on it. alpha="auto"
        is chosen anew each time, by rows kept of all so far and left out of the model of all. alpha and tol may be set
        anew between batches, other settings of the model may not.

        After ``fit`` from a source in one pass it continues. It begins anew after one that took several passes, and
        warns, and after ``fit`` in memory (small memory-mapped arrays too) or of Dask collections: these keep no sums.
        A batch that is refused leaves the model as it was.

        Parameters
        ----------
        X : (b, n_features) inputs
        y : (b,) or (b, d) outputs, NaN where not observed
        sample_weight : (b,) non-negative weights; default 1
        """
        batch = Batch(X, y, sample_weight)
        self._refuse_other_settings()
        self._check_continues(X)
        accumulated = self._begin(batch, passes=False) if self._accumulated_ is None else self._accumulated_
        self._accumulated_ = self._with_rows(accumulated, [batch])
        self._solve_moments()

    def _check_continues(self, X):
        """Refuse settings that batches cannot have, and others than those of the batches before; tell a new start."""
        _, recipe = self._check_settings(X)
        if operators.as_learned(recipe.pairs[0][1]) is not None:
            raise ValueError(
                "operator: LearnedOperator takes several passes over all rows, and partial_fit one; use fit(source), "
                "see hilbertlearn.streams, or give another operator"
            )
        if self._by_passes_:
            self._by_passes_ = False
            warn(
                "partial_fit begins anew: the fit(source) before took several passes and kept no sums of its rows; for "
                "a model of all rows use fit with a source that has them all"
            )
        if self._accumulated_ is not None:
            changed = self._accumulated_.settings.changed(self)
            if changed:
                raise ValueError(
                    f"{', '.join(changed)}: the batches before were read with other settings; fit anew, with "
                    "sklearn.base.clone(model).partial_fit, or put them back"
                )

    # ---------------------------------------------------------------- from a source

    def _learn(self, X, y, sample_weight):
        if not streams.is_source(X):
            super()._learn(X, y, sample_weight)
            return
        source = streams.as_source(X, y, sample_weight)
        exact = isinstance(self.feature_map, str) and source.n_rows is not None and source.n_rows <= _EXACT
        mapped = isinstance(X, np.memmap) and self._is_better_whole(source)
        if self.feature_map is None or self.regressor is not None or exact or mapped:
            self._learn(*(concatenate_batches(list(source)) if source.n_rows is None else source.sample(source.n_rows)))
        else:
            self._learn_source(source)

    def _is_better_whole(self, source):
        """Whether a memory-mapped array is read as a whole: few rows, or settings that need all of them.

        Arrays become memory-mapped where scikit-learn hands them to other processes.
        """
        number: Any = getattr(self._features(), "n_components", _MAPPED)
        width = source.X.shape[1] + (_MAPPED if isinstance(number, str) else number)
        several = isinstance(self.kernel, (list, tuple)) or kernels.is_precomputed(self.kernel)
        whole = several or self.manifold or self.alpha_per_output or self._loss().on_margins
        return bool(whole) or source.n_rows * width <= _MAPPED_ENTRIES

    def prepare(self, X, y, sample_weight=None) -> Training:
        if streams.is_source(X) and not isinstance(X, np.memmap):  # maps are arrays
            raise ValueError(
                "X: a source of rows goes to fit of OperatorKernelRegressor, FunctionalRegressor and "
                "StructuredPredictor, where alpha='auto' stands for a search; paths over alpha take arrays in memory"
            )
        return super().prepare(X, y, sample_weight)

    def _learn_source(self, source: Source):
        """Some rows decide; then one pass for the squared loss, and several for others."""
        self._refuse_other_settings()
        number = self._sample_size()
        batches: Iterable[Batch] = nonempty_batches(source) if source.repeatable else ()
        if source.repeatable:
            first = source.sample(number)
        else:  # the first rows must do
            head: list[Batch] = []
            rest = nonempty_batches(source)
            while sum(_num_samples(batch.X) for batch in head) < number and (batch := next(rest, None)) is not None:
                head.append(batch)
            first, batches = concatenate_batches(head), itertools.chain(head, rest)
        begun = self._begin(first)
        decided = begun.decided
        if decided.loss.quadratic and operators.as_learned(decided.recipe.pairs[0][1]) is None:
            self._accumulated_ = self._with_rows(begun, batches)
            mixed = self._accumulated_.moments.has_gaps and not is_diagonal(decided.M)
            if not (mixed and source.repeatable):
                self._solve_moments()
                return
            self._accumulated_, batches = None, nonempty_batches(source)  # gaps that an operator mixes have no formula
        self._solve_by_passes(begun, source, batches)

    def _sample_size(self):
        """Rows that decide: as many as landmarks are chosen from, and a few for the rest."""
        number = getattr(self._features(), "n_components", "auto")
        return 2 * _SAMPLE if isinstance(number, str) else min(max(_SAMPLE, _PER_LANDMARK * number), _MOST_SAMPLE)

    # ---------------------------------------------------------------- what both are made of

    def _begin(self, first: Batch, passes=True) -> Accumulated:
        """What the first rows decide, and no sums yet; passes : whether all rows can be gone over several times."""
        if first.sample_weight is not None and not np.any(first.sample_weight):
            raise ValueError(
                "sample_weight: no row has a positive weight in the first batch, or in the sample of a source that "
                "settings are chosen on; begin with rows that count"
            )
        samples = self.read(*first, output_space=self.stream_space)
        if samples.encoded.sampling is not None:
            raise ValueError(
                "y: functions at points of their own cannot come in batches; give values on a common grid, or "
                "irregular='projected'"
            )
        if isinstance(self.feature_map, str):
            samples = samples.with_features(features.Landmarks("auto")).to_float64()
        decided = selection.select_stream_settings(samples, self._loss(), self.alpha, self.options(), passes)
        d, r = samples.Y.shape[1], decided.kernel.n_components
        origin = mean_rows(samples.Y, samples.weights) if self.center else np.zeros(d)
        return Accumulated(
            decided=decided,
            moments=Moments.empty(r, origin),
            rows=Reservoir.empty(r, d),
            like=_safe_indexing(samples.X, slice(0, 1)),
            settings=FixedSettings.of(self),
        )

    def stream_space(self, y, sample_weight):
        """As ``output_space``, from the outputs of a first batch."""
        return self.output_space(y, sample_weight)

    def _refuse_other_settings(self):
        """Refuse what has no meaning for rows that are not kept."""
        if isinstance(self.kernel, (list, tuple)):
            raise ValueError("kernel: rows in batches take a single kernel; give kernels.Columns or one of them")
        if self.manifold:
            raise ValueError("manifold: a graph needs all samples at once; set manifold=0, or fit in memory")
        if self.alpha_per_output:
            raise ValueError("alpha_per_output is for fits in memory; set alpha_per_output=False")
        if self._loss().on_margins:
            raise ValueError(f"loss={self.loss!r} takes all samples at once; use another loss, or fit in memory")

    def _checked(self, begun: Accumulated, batch: Batch):
        """Inputs, outputs as read, coordinates (b, d), and weights (b,) or None of a batch."""
        space, d = begun.decided.space, begun.moments.n_outputs
        if batch.y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        X = check_inputs(self, batch.X, [begun.decided.kernel.kernel], reset=False, like=begun.like)
        n, weights = _num_samples(X), None
        if _num_samples(batch.y) != n:
            raise ValueError(
                f"X and y must have as many samples, got inconsistent numbers {n} and {_num_samples(batch.y)}"
            )
        if batch.sample_weight is not None:
            weights = check_batch_weights(batch.sample_weight, n)
        self._check_order(batch.y)
        y = self.read_outputs(batch.y)
        width = y.shape[1] if isinstance(y, np.ndarray) and y.ndim == 2 else d
        Y = space.encode(y) if width == d or not isinstance(space, VectorSpace) else np.empty((n, width))
        if Y.shape[1] != d or space.sampling(y) is not None:
            raise ValueError(
                f"y: a batch has {Y.shape[1]} outputs a sample, and the first had {d}; give the same outputs each time"
            )
        return X, y, Y, weights

    def _with_rows(self, accumulated: Accumulated, batches) -> Accumulated:
        """With the rows of all batches."""
        origin, rows = accumulated.moments.origin, accumulated.rows
        sums = Moments.empty(accumulated.moments.n_features, origin)
        for batch in batches:
            X, _, Y, weights = self._checked(accumulated, batch)
            for part, Z in accumulated.decided.kernel.map.blocks(X):
                own = None if weights is None else weights[part]
                sums += Moments.of(Z, Y[part], own, origin)
                rows = rows.seen(Z, Y[part], own)
        moments = accumulated.moments + sums if accumulated.moments.n_rows else sums
        return replace(accumulated, moments=moments, rows=rows.flush())

    def _solve_moments(self):
        """The model of the sums so far."""
        assert self._accumulated_ is not None
        decided, moments, rows = (getattr(self._accumulated_, name) for name in ("decided", "moments", "rows"))
        solved, trials = selection.solve_moments(moments, decided, lambda: rows, self.alpha, self.tol)
        if not solved.converged:
            warn(
                f"{type(self).__name__}: gap {solved.gap:.1e} > tol {self.tol:.1e}; raise alpha, which is at the limit "
                "of rounding, or tol",
                ConvergenceWarning,
            )
        self.warn_unobserved(decided.space, decided.space.unobserved_outputs(solved.unobserved))
        self.state_ = self.make_stream_state(decided, solved, solved.n_rows, selection.trials_table(trials))

    def make_stream_state(self, decided, solved, n_samples, search_results) -> StreamState:
        """What is kept of a model that was solved from sums over rows."""
        return StreamState.of(decided, solved, n_samples, search_results)

    def _solve_by_passes(self, begun: Accumulated, source: Source, batches):
        """Solve with outputs and dual variables in memory, and features in blocks that several passes read."""
        decided = begun.decided

        def again():
            return (block.Z for batch in nonempty_batches(source) for block in self._counted_blocks(begun, batch))

        blocks: list[_Block] = []
        with streams.BlockStore(again if source.repeatable else None, source.n_rows) as store:
            for batch in batches:
                for block in self._counted_blocks(begun, batch):
                    store.append(block.Z)
                    blocks.append(replace(block, Z=None))
            training = _training(decided, blocks, FeatureBlockGram(store.blocks, store.shape))
            never = np.isnan(training.Y).all(axis=0)
            self.warn_unobserved(training.space, training.space.unobserved_outputs(never))
            total = float(training.weights.sum())
            given = scheduled(self.alpha, len(training.rows))
            alpha = float(given) if decided.penalty is None else decided.penalty / total
            choice = selection.Selection(
                alpha,
                decided.loss,
                training,
                trials=decided.trials,
                approximation=decided.approximation,
                selected_alpha=decided.penalty is not None,
                selected_bounds=decided.selected_bounds,
            )
            self.settle(choice)
        self._by_passes_ = True

    def _counted_blocks(self, begun: Accumulated, batch: Batch):
        """Rows of a batch that count, a block at a time."""
        X, y, Y, weights = self._checked(begun, batch)
        weights, outside = np.ones(len(Y)) if weights is None else weights, begun.decided.space.outside_norms(y)
        counts = (weights > 0) & np.isfinite(Y).any(axis=1)
        for part, Z in begun.decided.kernel.map.blocks(X):
            own = counts[part]
            beside = None if outside is None else outside[part][own]
            yield _Block(Z if own.all() else Z[own], Y[part][own], weights[part][own], own, beside)


@dataclass(frozen=True, eq=False)
class _Block:
    """Some rows that count."""

    Z: Any  # (b, r)
    Y: np.ndarray  # (b, d)
    weights: np.ndarray  # (b,)
    counts: np.ndarray  # which of the rows given these are, booleans
    outside: Any  # (b,) or None


def _training(decided: selection.StreamSettings, blocks, gram) -> Training:
    """The training data of rows in blocks, without inputs."""
    Y, weights, rows = (
        np.concatenate([getattr(block, name) for block in blocks]) for name in ("Y", "weights", "counts")
    )
    if not len(Y):
        raise ValueError(
            "y has no observed entry with a positive weight, it contains only NaN; "
            "give at least one sample with an output"
        )
    beside = None if blocks[0].outside is None else np.concatenate([block.outside for block in blocks])
    encoded = Encoded(space=decided.space, Y=Y, sampling=None, coordinates=Y, outside=beside)
    return Training(
        recipe=decided.recipe,
        y=None,
        X=None,
        columns=np.flatnonzero(rows),
        rows=np.flatnonzero(rows),
        n_samples=len(rows),
        weights=weights,
        encoded=encoded,
        kernels=(decided.kernel,),
        grams=(gram,),
        terms=make_terms(decided.recipe, [gram], encoded, weights),
    )
