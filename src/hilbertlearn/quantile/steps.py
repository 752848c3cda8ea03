"""The steps of a fit in which quantiles differ from vectors: levels, their coupling, and their order."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import _num_samples

from .. import selection
from .._utils.progress import Progress
from ..machine.checks import warn_unobserved
from ..machine.in_memory import MemorySource
from ..machine.inputs import check_inputs
from ..machine.state import State
from ..machine.steps import FitResult, FitSteps
from ..selection import Selection
from ..selection.levels import calibrate
from ..spaces import VectorSpace, read_vectors
from .independent_outputs import SeparateOutputsState, make_unobserved_state
from .non_crossing import fit_non_crossing, in_order, non_crossing_state

_POINTS = 100  # points of the range of a single input at which quantiles are held in order beside the samples
_BEYOND = 0.05  # share of that range which is added at either end


@dataclass(frozen=True)
class QuantileSteps(FitSteps):
    """Fits of all levels at once; the parameters are settings of ``QuantileRegressor``."""

    coupling: Any
    has_level_axis: bool  # whether predictions have an axis of levels
    non_crossing: Any
    points: Any
    calibrates: bool  # whether quantiles are corrected by residuals of folds
    separate_outputs: bool  # whether each output of vectors is a problem of its own
    scale: bool

    shares_selection = False  # several outputs are several problems, each with its own selection

    def check_encoded(self, loss, encoded):
        if not encoded.space.pointwise:  # levels become columns later
            raise ValueError("y must be numbers, vectors, or curves on a common grid")

    def fit(self, spec, source):
        if not self.separate_outputs or source.y is None:
            return super().fit(spec, source)
        y = read_vectors(source.y)
        if y.ndim == 1 or y.shape[1] == 1 or _num_samples(source.X) != len(y):
            return super().fit(spec, source)
        spec.recipe(source.X)  # settings are checked before data are read
        _, weights, form = source.read_rows(spec)
        observed = weights @ np.isfinite(y) > 0
        if not observed.any():
            return super().fit(spec, source)  # which raises the error
        warn_unobserved(spec, VectorSpace(), ~observed, form)
        return self._fit_each(spec, source, y, observed, form)

    def _fit_each(self, spec, source, y, observed, form) -> FitResult:
        """Each observed output as a problem of its own."""
        results = {}
        numbers = np.flatnonzero(observed).tolist()
        with spec.options.progress.task("outputs", "output", len(numbers), has_subtasks=True) as task:
            for number in numbers:
                with Progress().task(f"output {number}", "part", has_subtasks=True):  # for callbacks only
                    column = MemorySource(source.X, y[:, number], source.sample_weight)
                    output_spec = replace(spec, estimator=copy.copy(spec.estimator))
                    results[number] = super().fit(output_spec, column)
                task.step()
        scales, coupling = np.ones(len(observed)), np.full(len(observed), np.nan)
        for number, result in results.items():
            scale = result.state.space.base.scale
            scales[number] = 1.0 if scale is None else scale[0]
            coupling[number] = result.learnt["coupling_"]
        learnt, first = results[numbers[0]].learnt, results[numbers[0]].state
        unobserved = make_unobserved_state(first)
        states = tuple(results[j].state if j in results else unobserved for j in range(len(observed)))
        space = replace(first.space, base=VectorSpace(False, scales if self.scale else None))
        state = SeparateOutputsState(parts=states, space=space, n_samples=len(y))
        offsets = None
        if self.calibrates:
            missing = np.full_like(learnt["offsets_"], np.nan)
            offsets = np.array(
                [results[j].learnt["offsets_"] if j in results else missing for j in range(len(observed))]
            )
        learnt = {**learnt, "coupling_": coupling, "offsets_": offsets}
        return FitResult(state=state, form=form, learnt=learnt)

    def select(self, spec, samples):
        return selection.select_levels(
            samples, spec.loss, spec.alpha, self.coupling, self.has_level_axis, spec.options, calibrates=self.calibrates
        )[0]

    def prepare(self, spec, samples):
        return self.select(spec, samples).training

    def solve(self, spec, selected):
        is_constrained = self.non_crossing is True and len(selected.loss.taus) > 1
        if is_constrained:
            points = self._points(spec, selected.training.X)
            fit = fit_non_crossing(selected.training, selected.loss, selected.alpha, spec.options, points)
        else:
            fit = super().solve(spec, selected)
        offsets = self._offsets(selected)
        # predictions change, the problem and its certificate do not
        return fit if offsets is None else replace(fit, center=fit.center + offsets)

    def _offsets(self, selected):
        """What is added to the constants (d L,), in coordinates; None for nothing."""
        levels = selected.loss.taus
        if selected.offsets is None or self.non_crossing is not True or len(levels) == 1:
            return selected.offsets
        return in_order(selected.offsets, levels)

    def fit_selected(self, spec, selected):
        if self.calibrates and selected.offsets is None and len(selected.training.rows) > 1:  # alpha is from a path
            selected = calibrate(selected, spec.options)
        return super().fit_selected(spec, selected)

    def fit_path(self, spec, training, alphas):
        for alpha in alphas:
            yield self.fit_selected(spec, Selection(alpha, spec.loss, training))

    def make_state(self, result):
        return non_crossing_state(result) if result.loss.is_constrained else State.from_fit(result)

    def learnt(self, selected):
        coupling = selected.training.recipe.pairs[0][1].coupling
        offsets = self._offsets(selected)
        if offsets is not None:
            offsets = np.asarray(selected.training.space.decode_differences(offsets[None]))[0]
        return {"coupling_": coupling, "offsets_": offsets, "_rearranged_": isinstance(self.non_crossing, str)}

    def _points(self, spec, X):
        """Checked inputs at which quantiles are held in order beside the samples X; None for none."""
        pairwise = spec.estimator.__sklearn_tags__().input_tags.pairwise
        if self.points is None:
            return None
        if not isinstance(self.points, str):
            if pairwise:
                raise ValueError("points: kernel='precomputed' has no values at other inputs; set points=None")
            return check_inputs(spec.estimator, self.points, spec.input_kernels(X), reset=False)
        if np.ndim(X) != 2 or pairwise or scipy.sparse.issparse(X) or X.shape[1] != 1:
            return None
        low, high = float(np.min(X)), float(np.max(X))
        beyond = _BEYOND * (high - low)
        return np.linspace(low - beyond, high + beyond, _POINTS)[:, None]
