"""The choice of a link predictor's kernel, alpha and more, by the scores of links of nodes that are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..data.graphs import KnownGraph
from ..metrics import link_average_precision, link_roc_auc
from .embedders import MachineEmbedder
from .inputs import pairs_that_count, take_inputs
from .rate_search import reduce_columns, search_on_subsamples, subsample_nodes
from .trials import LinkSearchResult, LinkTrial

SCORING = {"roc_auc": link_roc_auc, "average_precision": link_average_precision}
_ALL = 500  # nodes up to which every machine and alpha is tried on all of them
_MOST_IN_FOLDS = 1000  # nodes, beyond which some are looked at where leaving out has no formula


@dataclass(frozen=True)
class LinkSearch:
    """What is left to the data."""

    alpha: Any  # a number, or "auto"
    cosines: Sequence[bool]
    criterion: str
    scoring: str

    def best(
        self, machines: Sequence[MachineEmbedder], V, graph
    ) -> tuple[MachineEmbedder, LinkTrial, LinkSearchResult]:
        """The machine, ready to be fitted to embeddings V (l, d) of the nodes of a graph; the rest of the choice."""
        if len(machines) == 1 and not isinstance(self.alpha, str) and len(self.cosines) == 1:
            candidate = machines[0].candidate(V)
            return machines[0], candidate, candidate.given(self.alpha, self.cosines[0])
        if len(V) <= _ALL:
            return self._of_all(machines, V, graph)
        if any(machine.settings["manifold"] for machine in machines) or not machines[0].quadratic:
            return self._of_some(machines, V, graph)
        return self._by_samples(machines, V, graph)

    def error(self, V, graph):
        """What is to be small, a function of scores (l, l) of pairs of nodes with embeddings V (l, d)."""
        return _ValidationError(graph, V, self.scoring)

    def _of_all(self, machines, V, graph):
        """Each tried with all nodes."""
        best: Any = None
        error = self.error(V, graph)
        for machine in machines:
            candidate = machine.candidate(V)
            found = candidate.choose(self.alpha, self.cosines, self.criterion, error)
            if best is None or found.error < best[2].error:
                best = machine, candidate, found
        return best

    def _of_some(self, machines, V, graph):
        """Each tried with some of the nodes; alpha n stays."""
        nodes = subsample_nodes(graph.adjacency, _MOST_IN_FOLDS)
        share = len(nodes) / len(V)
        alpha = self.alpha if isinstance(self.alpha, str) else self.alpha / share
        parts = [_part(machine, nodes, len(V)) for machine in machines]
        own, _, found = replace(self, alpha=alpha)._of_all(parts, reduce_columns(V[nodes]), graph.take(nodes))
        machine = machines[parts.index(own)]
        candidate = machine.candidate(V)
        alpha = found.choice.alpha * share if isinstance(self.alpha, str) else self.alpha
        return machine, candidate, candidate.given(alpha, found.cosine)

    def _by_samples(self, machines, V, graph):
        """Tried where it pays, with growing samples of the nodes; alpha n stays."""
        penalties = machines[0].candidate(V).alphas(self.alpha) * len(V)
        cosines: dict[tuple[int, int], bool] = {}
        samples: dict[int, Any] = {}
        candidates: dict[tuple[int, int], LinkTrial] = {}

        def prepare(i, nodes):  # kernels may be the user's, and warn: one after the other
            if len(nodes) not in samples:
                columns = reduce_columns(V[nodes])
                samples[len(nodes)] = columns, self.error(columns, graph.take(nodes))
            candidates[i, len(nodes)] = _part(machines[i], nodes, len(V)).candidate(samples[len(nodes)][0])

        def score(i, j, nodes):
            candidate, (_, error) = candidates[i, len(nodes)], samples[len(nodes)]
            found = candidate.choose(penalties[j] / len(nodes), self.cosines, self.criterion, error)
            cosines[i, j] = found.cosine
            return -found.error

        shape = len(machines), len(penalties)
        i, j = search_on_subsamples(score, shape, graph.adjacency, prepare=prepare)
        candidate = machines[i].candidate(V)
        return machines[i], candidate, candidate.given(penalties[j] / len(V), cosines[i, j])


@dataclass(frozen=True)
class _ValidationError:
    """What "auto" makes small, of scores (l, l) of pairs of nodes with embeddings V (l, d)."""

    graph: KnownGraph
    V: np.ndarray
    scoring: str

    @cached_property
    def mask(self):
        return pairs_that_count(self.graph)

    def __call__(self, scores):
        value = SCORING[self.scoring](self.graph.adjacency, scores, self.mask)
        if np.isnan(value):  # there are no links, or nothing else
            return np.mean((scores - self.V @ self.V.T)[self.mask] ** 2) if self.mask.any() else 0.0
        return 1 - value


def _part(machine, nodes, l):
    """The machine with some of its l known nodes, and all others."""
    kept = np.r_[nodes, np.arange(l, machine.n_nodes)]
    X = take_inputs(machine.X, kept, machine.kernel.precomputed)
    return replace(machine, X=X, settings={**machine.settings, "graph": machine.graph_of(kept)})
