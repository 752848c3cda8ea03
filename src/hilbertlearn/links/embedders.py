"""What predicts embeddings of nodes from their features: the kernel machine, or any regressor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import KernelCenterer
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .. import kernels
from ..losses import as_loss
from ..machine.in_memory import InMemory
from ..machine.state import blocks_of
from ..machine.steps import fit_selection
from ..vector import OperatorKernelRegressor
from .trials import LinkTrial, inner_products, pairs_of_folds


@dataclass(frozen=True)
class MachineEmbedder:
    """The kernel machine with a kernel of the nodes' inputs."""

    settings: dict[str, Any]  # of ``OperatorKernelRegressor``, but for the kernel and alpha
    kernel: kernels.InputKernel
    X: Any  # inputs of N nodes, those with embeddings first; the others count with a graph's penalty
    center: bool  # whether kernels are centred

    @property
    def quadratic(self):
        """Whether the loss is: then nodes are left out by a formula."""
        return as_loss(self.settings["loss"]).quadratic

    @property
    def n_nodes(self):
        return _num_samples(self.X)

    def graph_of(self, nodes):
        """The setting ``graph`` for some of the nodes."""
        graph = self.settings["graph"]
        return graph if graph is None or kernels.computes_penalty(graph) else graph[nodes][:, nodes]

    def candidate(self, V) -> LinkTrial:
        """The machine with embeddings V (l, d) of the first nodes, ready to leave nodes out and to be fitted."""
        centerer, inputs, own = None, self.X, self.kernel
        if self.center:
            K = self.kernel.training_gram(self.X)
            centerer = KernelCenterer().fit(K)
            own, inputs = kernels.InputKernel("precomputed"), centerer.transform(K)
        model = self._model(own)
        training = InMemory(inputs, _padded(V, self.n_nodes)).prepare(model.spec())
        return LinkTrial(centerer, model, training)

    def refits(self, alpha, loss, n_known):
        """A function (rows, V) -> predictions (n_known, d) at the known nodes, of a machine fitted to some of them."""
        K, everyone = self.kernel.training_gram(self.X), np.arange(self.n_nodes)

        def predictions(rows, V):
            used = np.r_[rows, everyone[n_known:]]  # others are there for a graph's penalty alone
            own = K[np.ix_(used, used)]
            centerer = KernelCenterer().fit(own) if self.center else None
            model = self._model(kernels.InputKernel("precomputed"))
            model.set_params(alpha=alpha, loss=loss, graph=self.graph_of(used), verbose=0)
            model.fit(own if centerer is None else centerer.transform(own), _padded(V, len(used)))
            cross = K[np.ix_(everyone[:n_known], used)]
            return model.predict(cross if centerer is None else centerer.transform(cross))

        return predictions

    def fitted(self, candidate: LinkTrial, found) -> MachineEmbedding:
        """The function, fitted with what was found to be best."""
        model = candidate.model
        model.keep(fit_selection(model.spec(), found.choice))
        return MachineEmbedding(self, model, candidate.centerer, model.alpha_, model.loss_, found.cosine)

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

    def fitted(self, V, cosine) -> RegressorEmbedding:
        return RegressorEmbedding(self, clone(self.regressor).fit(self.X, V), cosine)

    def predictions(self, rows, V):
        """Predictions (l, d) at the known nodes, of a regressor fitted to some of them."""
        fitted = clone(self.regressor).fit(_safe_indexing(self.X, rows), V)
        return np.reshape(fitted.predict(self.X), (_num_samples(self.X), -1))

    def left_out(self, V, scores):
        """Scores (l, l) of pairs of known nodes by what is predicted when both are left out with their folds."""
        out = scores(V, V)
        for train, test in pairs_of_folds(len(V)) if len(V) > 2 else ():
            H = self.predictions(train, V[train])[test]
            out[np.ix_(test, test)] = scores(H, H)
        return out


@dataclass(frozen=True)
class MachineEmbedding:
    """A kernel machine as a function of inputs, with its alpha and loss, and whether its scores are cosines."""

    machine: MachineEmbedder
    model: OperatorKernelRegressor
    centerer: KernelCenterer | None
    alpha: float
    loss: Any
    cosine: bool

    def __call__(self, X):
        """Predictions (m, d) at inputs; of kernel values those with the nodes that were learnt from."""
        kernel = self.machine.kernel
        X = X[:, : self.machine.n_nodes] if kernel.precomputed else X
        if self.centerer is None:
            return self.model.predict(X)
        parts = (part if kernel.precomputed else kernel(part, self.machine.X) for _, part in self._blocks(X))
        return np.concatenate([self.model.predict(self.centerer.transform(values)) for values in parts])

    def _blocks(self, X):
        return blocks_of(X, 2 * self.machine.n_nodes)

    def refits(self, n_known):
        """A function (rows, V) -> predictions (n_known, d) for known nodes, of what is fitted to some of them."""
        return self.machine.refits(self.alpha, self.loss, n_known)

    def left_out(self, V, criterion):
        """Scores (l, l) of pairs of known nodes by what is predicted when they are left out."""
        return self.machine.candidate(V).scores_at(self.alpha, self.cosine, criterion)

    def facts(self):
        return self.model.facts()


@dataclass(frozen=True)
class RegressorEmbedding:
    """A regressor as a function of inputs; the same interface."""

    regression: RegressorEmbedder
    model: Any
    cosine: bool

    def __call__(self, X):
        return np.asarray(self.model.predict(X), dtype=float).reshape(_num_samples(X), -1)

    def refits(self, n_known):
        return self.regression.predictions

    def left_out(self, V, criterion):
        return self.regression.left_out(V, lambda H, G: inner_products(H, G, self.cosine))

    def facts(self):
        return [("regressor", self.model)]


def _padded(V, n):
    """Targets (n, d) of which the first are V."""
    targets = np.full((n, V.shape[1]), np.nan)
    targets[: len(V)] = V
    return targets
