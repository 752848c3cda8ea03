"""Leave-one-out models whose settings were selected without the fold of the sample that is left out.

The settings of one model of all samples fit each of these samples a little too well. Here the samples have K folds, and
the model without sample i is fitted to all other samples with settings that were selected without the fold of i. This
takes K selections, on the other folds, and K factorisations. With folds of one sample these are the refits without it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._utils.progress import Task
from ..selection import Selection
from ..training import Samples, build, for_alpha, resolve_schedule
from .in_memory import MemorySource
from .spec import Spec
from .state import LeaveOneOutMachines
from .steps import solve_selection


@dataclass(frozen=True, eq=False)
class FoldedLeaveOneOut:
    """The n models without one sample each, with the interface of ``LeaveOneOutMachines``."""

    parts: tuple[LeaveOneOutMachines, ...]  # of each fold's settings, all n models
    fold: np.ndarray  # (n,) the fold of each sample

    @classmethod
    def fit(cls, estimator, X, y, sample_weight, fold, task: Task) -> FoldedLeaveOneOut | None:
        """Select settings without each fold, and fit the models; None where these have no closed form.

        The settings of a part of the samples do not serve a model of all on features, with a graph or with an alpha per
        output. Where outputs have gaps, an operator that relates them has no closed form; so if operators are compared,
        all folds have the one of the model of all samples, the identity.

        estimator : a kernel machine, not fitted
        fold : (n,) numbers from 0 of the folds of the samples in use
        task : the progress, one step a fold
        """
        spec = replace(estimator.spec(y), reuse="factors")
        samples = MemorySource(X, y, sample_weight).read(spec)
        if samples.recipe.features is not None or samples.graph is not None or spec.alpha_per_output:
            return None
        if samples.mask is not None:
            samples = samples.with_operator_setting(samples.recipe.pairs[0][1])
        spec = replace(spec, alpha=resolve_schedule(spec.alpha, len(samples.rows)))
        parts = []
        with task:
            for k in range(int(fold.max()) + 1):
                selected = _select_without(spec, samples, np.flatnonzero(fold != k))
                state = solve_selection(spec, selected).state
                if state.leave_one_out_obstacle:
                    return None
                parts.append(state.leave_one_out_models(selected.factors))
                task.step()
        return cls(tuple(parts), fold)

    @property
    def rows(self):
        """Positions (n,) of the left-out samples among those given to fit."""
        return self.parts[0].rows

    @property
    def weights(self):
        """Weights (n,) of these samples."""
        return self.parts[0].weights

    @property
    def residuals(self):
        """Residuals (n, d) of each sample under the model without it, in coordinates."""
        return np.stack([part.residuals for part in self.parts])[self.fold, np.arange(len(self.fold))]

    @property
    def loo_predictions(self):
        """Coordinates (n, d) of each sample predicted without it, NaN where it was not observed."""
        return self.parts[0].data.Y - self.residuals

    @property
    def spreads(self):
        """Spread (n,) of the posterior at each sample, by the model without it."""
        return np.stack([part.spreads for part in self.parts])[self.fold, np.arange(len(self.fold))]

    def spreads_at(self, X):
        """Spreads (m, n) of the posterior of every model at the checked inputs of one block."""
        return np.stack([part.spreads_at(X) for part in self.parts], axis=1)[:, self.fold, np.arange(len(self.fold))]

    def pairwise_residuals(self, models):
        """Residuals (b, n, d) of every sample under the models without it and without one of the samples `models`."""
        fold, out = self.fold[models], np.empty((len(models), *self.residuals.shape))
        for k in np.unique(fold):
            out[fold == k] = self.parts[k].pairwise_residuals(models[fold == k])
        return out

    def coordinates_at(self, X):
        """Coordinates (m, n, d) of checked inputs by all models."""
        by_fold = [np.flatnonzero(self.fold == k) for k in range(len(self.parts))]
        values = [part.coordinates_at(X, rows) for part, rows in zip(self.parts, by_fold, strict=True)]
        return np.concatenate(values, axis=1)[:, np.argsort(np.concatenate(by_fold))]


def _select_without(spec: Spec, samples: Samples, others) -> Selection:
    """Settings selected on the samples at the positions `others`, with the training data of all samples.

    alpha times the sum of weights stays, as for models of more samples than were searched.
    """
    part = samples.subsample(others)
    selected = spec.steps.select(spec, part)
    recipe = replace(selected.training.recipe, precision=samples.recipe.precision)
    training = build(replace(samples, recipe=recipe), selected.training.kernels)
    alpha = selected.alpha
    if selected.selected_alpha:
        alpha *= float(part.weights.sum() / samples.weights.sum())
    training = for_alpha(training, selected.loss, alpha)
    return replace(selected, training=training, alpha=alpha, factors=None).with_factors()
