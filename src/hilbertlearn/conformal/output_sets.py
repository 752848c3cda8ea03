"""The interface of the strategies behind ``ConformalPredictor``: rows of numbers, objects, links."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from .settings import ConformalSettings
from .wrapped import select_columns, selects_settings

# How the settings of models without some samples were selected: not at all; by each model without its calibration
# samples; with all samples, so that the guarantee is approximate
GIVEN, FOLDS, ALL_SAMPLES = "given", "folds", "all samples"
CLOSED_FORM = "leave-one-out models have a closed form"  # a reason for jackknife+


@dataclass(frozen=True, eq=False, kw_only=True)
class OutputSets(ABC):
    """Prediction sets for one kind of output, fitted and calibrated.

    A subclass lists its prediction methods in ``methods`` and implements each of them with the signature that
    ``ConformalPredictor`` has. An estimator names its strategy by the class attribute ``conformal_strategy``.
    """

    methods: ClassVar[tuple[str, ...]]

    estimator: Any  # fitted, for point predictions
    calibration: Any  # scores of the calibration samples
    method: str  # "jackknife+", "cv+" or "split"
    closed_form: bool  # whether leave-one-out models came from a closed form
    n_calibration: int  # number of calibration samples, or links
    reason: str  # why this method is in use
    shares_settings: bool = False  # whether all models have the settings that were selected with all samples
    columns: Any = None  # training samples of the estimator, where inputs are kernel values with all samples

    @classmethod
    @abstractmethod
    def fit(
        cls, settings: ConformalSettings, X, y, sample_weight=None, groups=None, candidates_per_query=None
    ) -> OutputSets:
        """Fit the models and calibrate them; arguments as of ``ConformalPredictor.fit``."""

    def predict(self, X, **options):
        """Point predictions of the fitted estimator."""
        return self.estimator.predict(select_columns(X, self.columns), **options)

    @property
    def selection(self) -> str:
        """How the settings of the models were selected: GIVEN, FOLDS or ALL_SAMPLES."""
        if not selects_settings(self.estimator):
            return GIVEN
        return ALL_SAMPLES if self.shares_settings else FOLDS

    @property
    def coverage(self) -> float | None:
        """Share of the calibration samples inside their sets, None where it is not computed."""
        return None


def refuse_candidates(candidates_per_query):
    """Raise where ``fit`` of numbers or links received candidates."""
    if candidates_per_query is not None:
        raise ValueError("candidates_per_query is for outputs that are objects; omit it, or wrap a StructuredPredictor")
