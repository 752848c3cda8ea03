"""Prediction of the embeddings of nodes from their features, by the kernel machine or by any regressor.

An embedder holds settings and inputs; fitted to embeddings it gives an embedding, a function h of inputs. Both kinds of
embeddings have the interface ``h(X)``, ``refit_function``, ``cross_validated_scores``,
``summary_items``, ``model`` and ``cosine``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import KernelCenterer
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .. import kernels
from .._utils.blocks import blocks_of
from ..losses import as_loss
from ..machine.in_memory import MemorySource
from ..machine.steps import solve_selection
from ..vector import OperatorKernelRegressor
from .trials import LinkTrial, inner_products, pairs_of_folds


@dataclass(frozen=True)
class MachineEmbedder:
    """The kernel machine with a kernel of the nodes' inputs."""

    settings: dict[str, Any]  # of ``OperatorKernelRegressor``, without the kernel and alpha
    kernel: kernels.InputKernel
    X: Any  # inputs of N nodes, those with embeddings first; the others enter the penalty of a graph only
    center: bool  # whether kernels are centred

    @property
    def quadratic(self):
        """Whether the loss is quadratic, so that cross-validation has a closed form."""
        return as_loss(self.settings["loss"]).quadratic

    @property
    def n_nodes(self):
        return _num_samples(self.X)

    def subgraph(self, nodes):
        """The setting ``graph`` for some of the nodes."""
        graph = self.settings["graph"]
        return graph if graph is None or kernels.computes_penalty(graph) else graph[nodes][:, nodes]

    def trial(self, V) -> LinkTrial:
        """The machine with embeddings V (l, d) of the first nodes as training data."""
        centerer, inputs, kernel = None, self.X, self.kernel
        if self.center:
            K = self.kernel.training_gram(self.X)
            centerer = KernelCenterer().fit(K)
            kernel, inputs = kernels.InputKernel("precomputed"), centerer.transform(K)
        model = self._model(kernel)
        training = MemorySource(inputs, _pad(V, self.n_nodes)).prepare(model.spec())
        return LinkTrial(centerer, model, training)

    def refit_function(self, alpha, loss, n_known):
        """A function (rows, V) -> predictions (n_known, d) at the known nodes, of a machine fitted to the rows."""
        K, everyone = self.kernel.training_gram(self.X), np.arange(self.n_nodes)

        def predictions(rows, V):
            used = np.r_[rows, everyone[n_known:]]  # the latter for the penalty of a graph
            settings = {**self.settings, "loss": loss, "graph": self.subgraph(used), "verbose": 0}
            part = MachineEmbedder(settings, kernels.InputKernel("precomputed"), K[np.ix_(used, used)], self.center)
            trial = part.trial(V)
            return part.fit(trial, trial.fixed_result(alpha, cosine=False))(K[np.ix_(everyone[:n_known], used)])

        return predictions

    def fit(self, trial: LinkTrial, result) -> MachineEmbedding:
        """The function, fitted with the result of a search, ``LinkSearchResult``."""
        model = trial.model
        model.keep(solve_selection(model.spec(), result.selection))
        return MachineEmbedding(self, model, trial.centerer, model.alpha_, model.loss_, result.cosine)

    def _model(self, kernel):
        gamma = "median" if kernel.gamma is None else kernel.gamma
        return OperatorKernelRegressor(
            kernel.kernel, gamma=gamma, kernel_params=kernel.params, center=False, scale=False, **self.settings
        )


@dataclass(frozen=True)
class RegressorEmbedder:
    """A regressor of scikit-learn."""

    regressor: Any
    X: Any  # inputs of the known nodes

    def fit(self, V, cosine) -> RegressorEmbedding:
        """The function, fitted to embeddings V (l, d); cosine : whether its scores are cosines."""
        return RegressorEmbedding(self, clone(self.regressor).fit(self.X, V), cosine)

    def predictions(self, rows, V):
        """Predictions (l, d) at the known nodes, of a regressor fitted to the rows."""
        model = clone(self.regressor).fit(_safe_indexing(self.X, rows), V)
        return np.reshape(model.predict(self.X), (_num_samples(self.X), -1))

    def cross_validated_scores(self, V, cosine):
        """Scores (l, l) of pairs of known nodes, predicted without the folds of both."""
        out = inner_products(V, V, cosine)
        for train, test in pairs_of_folds(len(V)) if len(V) > 2 else ():
            H = self.predictions(train, V[train])[test]
            out[np.ix_(test, test)] = inner_products(H, H, cosine)
        return out


@dataclass(frozen=True)
class MachineEmbedding:
    """A fitted kernel machine as a function of inputs."""

    embedder: MachineEmbedder
    model: OperatorKernelRegressor
    centerer: KernelCenterer | None
    alpha: float
    loss: Any
    cosine: bool  # whether scores are cosines

    def __call__(self, X):
        """Predictions (m, d) at inputs; kernel values may have columns beyond those of the training nodes."""
        kernel = self.embedder.kernel
        X = X[:, : self.embedder.n_nodes] if kernel.precomputed else X
        if self.centerer is None:
            return self.model.predict(X)
        parts = (part if kernel.precomputed else kernel(part, self.embedder.X) for _, part in self._blocks(X))
        return np.concatenate([self.model.predict(self.centerer.transform(values)) for values in parts])

    def _blocks(self, X):
        return blocks_of(X, 2 * self.embedder.n_nodes)

    def refit_function(self, n_known):
        """A function (rows, V) -> predictions (n_known, d) at the known nodes, refitted to the rows."""
        return self.embedder.refit_function(self.alpha, self.loss, n_known)

    def cross_validated_scores(self, V, criterion):
        """Scores (l, l) of pairs of known nodes, predicted without them."""
        return self.embedder.trial(V).cross_validated_scores(self.alpha, self.cosine, criterion)

    def summary_items(self):
        return self.model.summary_items()


@dataclass(frozen=True)
class RegressorEmbedding:
    """A fitted regressor as a function of inputs."""

    embedder: RegressorEmbedder
    model: Any
    cosine: bool

    def __call__(self, X):
        return np.asarray(self.model.predict(X), dtype=float).reshape(_num_samples(X), -1)

    def refit_function(self, n_known):
        return self.embedder.predictions

    def cross_validated_scores(self, V, criterion):
        return self.embedder.cross_validated_scores(V, self.cosine)

    def summary_items(self):
        return [("regressor", self.model)]


def _pad(V, n):
    """Targets (n, d): V, then NaN."""
    targets = np.full((n, V.shape[1]), np.nan)
    targets[: len(V)] = V
    return targets
