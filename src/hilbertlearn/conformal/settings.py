"""Checked settings of a conformal predictor, as its strategies receive them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.progress import Progress
from .._utils.validation import check_choice
from .levels import check_level
from .samples import CalibrationData
from .splits import calibration_split, check_enough, cross_validation_splits, leave_one_out_splits

METHODS = ("auto", "jackknife+", "cv+", "split")
# Number of samples above which method="auto" fits one model ("split"). Doubling it doubles the largest number of
# samples for which ten models are fitted.
_SPLIT_ABOVE = 10_000
# Number of samples up to which method="auto" uses leave-one-out models in closed form: a prediction costs a multiple of
# its square.
_CLOSED_FORM_UP_TO = 5000


@dataclass(frozen=True)
class ConformalSettings:
    """Settings of ``ConformalPredictor``, checked once."""

    estimator: Any
    method: str
    level: float
    score: Any
    cv: Any
    calibration: Any
    n_jobs: Any
    random_state: Any
    progress: Progress

    @classmethod
    def from_predictor(cls, predictor, estimator) -> ConformalSettings:
        """Read and check the constructor parameters; estimator : the wrapped one, or its default."""
        method = check_choice(predictor.method, "method", METHODS)
        if method == "jackknife+" and predictor.cv is not None:
            raise ValueError(f"cv={predictor.cv!r}: 'jackknife+' leaves out each sample; set cv=None, or method='cv+'")
        return cls(
            estimator=estimator,
            method=method,
            level=check_level(predictor.level),
            score=predictor.score,
            cv=predictor.cv,
            calibration=predictor.calibration,
            n_jobs=predictor.n_jobs,
            random_state=predictor.random_state,
            progress=Progress(type(predictor).__name__, predictor.verbose),
        )

    def initial_method(self, data: CalibrationData) -> tuple[str, str]:
        """The method before any fit, and the reason for it.

        "auto" remains where the fitted model decides between jackknife+ and cv+.
        """
        n, method, reason = len(data.rows), self.method, "as given"
        if method == "auto":
            method, reason = self._automatic_method(n, data.groups is not None)
        check_enough(*data.calibration_size(data.rows), self.level, method)
        return method, reason

    def _automatic_method(self, n, has_groups) -> tuple[str, str]:
        if self.cv is not None:
            return "cv+", "folds are given"
        if n > _SPLIT_ABOVE:
            return "split", f"there are more than {_SPLIT_ABOVE} samples"
        if has_groups:
            return "cv+", "groups are left out together"
        if n > _CLOSED_FORM_UP_TO:
            return "cv+", f"there are more than {_CLOSED_FORM_UP_TO} samples"
        return "auto", ""

    def splits(self, method, data: CalibrationData):
        """Pairs (train, test) of sample positions for "split", "jackknife+" by refits or "cv+"."""
        if method == "split":
            splits = calibration_split(data, self.calibration, self.cv, self.random_state)
        elif method == "jackknife+":
            splits = leave_one_out_splits(data)
        else:
            splits = cross_validation_splits(data, self.cv, self.random_state)
        tested = np.concatenate([test for _, test in splits]) if splits else data.rows[:0]
        check_enough(*data.calibration_size(tested), self.level, method)
        return splits

    @contextmanager
    def full_model_progress(self):
        """Report the fit of the model of all samples as one step."""
        with self.progress.task("model of all samples", "model", 1, has_subtasks=True) as task:
            yield
            task.step()
