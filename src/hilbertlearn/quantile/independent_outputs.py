"""Outputs that are problems of their own, each with its kernel and its alpha, in one state."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..machine.posterior import InputNovelty
from ..machine.state import LearntFunction, State
from ..selection import Approximation
from ..spaces import Space


@dataclass(frozen=True, eq=False, kw_only=True)
class SeparateOutputsState(LearntFunction):
    """Models of single outputs; coordinates are theirs beside each other."""

    parts: tuple[State, ...]
    space: Space  # of all outputs
    n_samples: int

    def coordinates(self, X):
        return np.hstack([part.coordinates(X) for part in self.parts])

    def _collect(self, name):
        """An attribute of all models."""
        return [getattr(part, name) for part in self.parts]

    @property
    def kernels(self):
        return tuple(part.kernels[0] for part in self.parts)

    @property
    def scalar_kernels(self):
        return [part.scalar_kernels[0] for part in self.parts]

    @property
    def center(self):
        return np.concatenate(self._collect("center"))

    @property
    def alpha(self):
        return np.array(self._collect("alpha"))

    @property
    def loss(self):
        return self.parts[0].loss

    @property
    def dual_gap(self):
        """The largest of all outputs."""
        return max(self._collect("dual_gap"))

    @property
    def n_iter(self):
        return max(self._collect("n_iter"))

    @property
    def solver(self):
        return self.parts[0].solver

    @property
    def precision(self):
        return self.parts[0].precision

    @property
    def support(self):
        return np.unique(np.concatenate(self._collect("support")))

    @property
    def saturated(self):
        return np.hstack(self._collect("saturated"))

    @property
    def outlier_scores(self):
        return np.hstack(self._collect("outlier_scores"))

    @property
    def search_results(self):
        """The columns of all outputs, with the number of the output."""
        tables = self._collect("search_results")
        columns = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
        return {"output": np.repeat(np.arange(len(tables)), [len(table["alpha"]) for table in tables]), **columns}

    @property
    def approximation(self):
        """The number of features, or the range of it over the outputs; None without features."""
        numbers = [part.approximation.n_components for part in self.parts if part.approximation is not None]
        if len(set(numbers)) < 2:
            return Approximation(numbers[0]) if numbers else None
        return f"{min(numbers)} to {max(numbers)} features"

    def loo_residuals(self):
        raise ValueError(
            "loo_residuals() has a closed form for the squared loss, and quantiles have none; use "
            "sklearn.model_selection.cross_val_predict"
        )

    @property
    def leave_one_out_obstacle(self) -> str:
        return self.parts[0].leave_one_out_obstacle

    @property
    def posterior_size(self) -> int | None:
        """The largest of all outputs; None where one has no posterior variance."""
        sizes = [part.posterior_size for part in self._observed]
        return None if None in sizes else max(sizes)

    def posterior(self):
        return MeanNovelty([part.posterior() for part in self._observed])

    @property
    def _observed(self):
        """Models of the outputs that samples have observed."""
        return [part for part in self.parts if np.isfinite(part.alpha)]

    X_fit = property(lambda self: self._collect("X_fit"))
    dual_coef = property(lambda self: self._collect("dual_coef"))
    operator = property(lambda self: self._collect("operator"))
    feature_map = property(lambda self: self._collect("feature_map"))
    objectives = None
    alpha_by_output = None
    manifold_error = 0.0


class MeanNovelty(InputNovelty):
    """Novelty as the mean over outputs with kernels of their own."""

    def __init__(self, parts: list[InputNovelty]):
        self.parts = parts

    def novelty(self, X):
        return np.mean([part.novelty(X) for part in self.parts], axis=0)

    @property
    def threshold(self) -> float:
        return float(np.mean([part.threshold for part in self.parts]))


def make_unobserved_state(other: State) -> State:
    """The state of an output that no sample has observed, which is predicted as NaN; other : that of another output."""
    return replace(
        other,
        center=np.full_like(other.center, np.nan),
        alpha=np.nan,
        coefficients=np.zeros_like(other.coefficients),
        dual_gap=0.0,
        n_iter=1,
        support=other.support[:0],
        saturated=np.zeros_like(other.saturated),
        residual_sizes=np.zeros_like(other.residual_sizes),
        search_results={name: column[:0] for name, column in other.search_results.items()},
        diagnostics=None,
    )
