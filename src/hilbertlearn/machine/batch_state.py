"""The state of models learnt from sums over rows, and the sums themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._utils.equality import are_equal
from .._utils.fitting import snapshot
from ..core.terms import LinearPredictor
from ..leave_one_out import Reservoir
from ..losses import Loss
from ..selection import StreamSettings
from ..training import Moments
from ..training.moments import MomentSolution
from .forms import DataForm
from .state import Expansion

# attributes of samples, which a stream does not keep, with their meaning
_OF_SAMPLES = {
    "dual_coef": "coefficients of samples",
    "support": "samples with coefficients",
    "saturated": "samples held at a bound",
    "outlier_scores": "residuals of samples",
}
_FREE = ("alpha", "tol", "max_iter", "solver", "verbose")  # settings that may change between batches


@dataclass(frozen=True, eq=False)
class FixedSettings:
    """The settings of an estimator that must not change between batches, as they were at the first."""

    values: dict

    @classmethod
    def from_estimator(cls, estimator) -> FixedSettings:
        settings = estimator.get_params(deep=False)
        return cls({name: snapshot(value) for name, value in settings.items() if name not in _FREE})

    def changed(self, estimator) -> list[str]:
        """Names of the settings that have changed."""
        return [name for name, value in self.values.items() if not are_equal(value, getattr(estimator, name))]


@dataclass(frozen=True, eq=False, kw_only=True)
class RunningSums:
    """Sums over the rows so far, a sample of these rows, and the settings selected with the first ones."""

    selected: StreamSettings
    moments: Moments
    rows: Reservoir
    example: Any  # one of the first inputs, whose form others must have
    settings: FixedSettings  # of the estimator at the first batch
    form: DataForm = field(default_factory=DataForm)  # containers of the first batch


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamState(Expansion):
    """A function with its certificate, learnt from rows that were not kept."""

    alpha: float
    loss: Loss
    operator: Any
    dual_gap: float
    n_iter: int
    objective: float
    n_samples: int  # rows that count
    search_results: dict = field(default_factory=dict)
    feature_map: Any = None
    approximation: Any = None
    kernel_coefficients: tuple = ()  # for each kernel the coefficients before the operator
    integrals: tuple = ()  # see ``FunctionalState``
    solver: str = "moments"
    precision = "float64"
    alpha_by_output = None
    manifold_error = 0.0

    @classmethod
    def from_moments(
        cls, selected: StreamSettings, solved: MomentSolution, n_samples, search_results, **fields
    ) -> StreamState:
        """The state of a model that was solved from moments; fields : further ones."""
        kernel, samples, columns, C = selected.kernel.kernel_expansion(solved.coefficients)
        M = selected.M
        return cls(
            kernels=(kernel,),
            X_fit=samples,
            columns=columns,
            predictors=[LinearPredictor(C if M is None else C @ M)],
            kernel_coefficients=(C,),
            space=selected.space,
            center=solved.center,
            alpha=solved.alpha,
            loss=selected.loss,
            operator=M,
            dual_gap=float(solved.gap),
            n_iter=solved.n_iter,
            objective=float(solved.objective),
            n_samples=n_samples,
            search_results=search_results,
            feature_map=selected.kernel.map,
            approximation=selected.approximation,
            **fields,
        )

    def __getattr__(self, name):
        if name in _OF_SAMPLES:
            raise AttributeError(
                f"{name}_: {_OF_SAMPLES[name]} are not kept of rows that come in batches or blocks; fit in memory"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def loo_residuals(self):
        raise ValueError(
            "loo_residuals() needs all samples, and a model fitted batch by batch keeps none; fit in memory"
        )

    def posterior(self):
        raise ValueError(
            "novelty compares with the sample of the largest posterior variance, and a model fitted from batches or "
            "blocks keeps sums over rows, not samples; fit in memory"
        )
