"""Selection of a link predictor's kernel, alpha and other settings, by cross-validated scores of links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..data.graphs import KnownGraph
from ..metrics import link_average_precision, link_roc_auc
from .embedders import MachineEmbedder
from .inputs import known_pair_mask, take_inputs
from .rate_search import reduce_columns, search_on_subsamples, subsample_nodes
from .trials import LinkTrial

SCORING = {"roc_auc": link_roc_auc, "average_precision": link_average_precision}
_ALL = 500  # number of nodes up to which every machine and alpha is evaluated on all of them
_MOST_IN_FOLDS = 1000  # size of the subsample where cross-validation has no closed form; time grows with its cube


@dataclass(frozen=True)
class LinkSearch:
    """The settings that are searched, and the score that decides."""

    alpha: Any  # a number, or "auto"
    cosines: Sequence[bool]
    criterion: str
    scoring: str

    def search(self, machines: Sequence[MachineEmbedder], V, graph):
        """The best machine for embeddings V (l, d) of the nodes of a graph, its ``LinkTrial``, and the result."""
        if len(machines) == 1 and not isinstance(self.alpha, str) and len(self.cosines) == 1:
            trial = machines[0].trial(V)
            return machines[0], trial, trial.fixed_result(self.alpha, self.cosines[0])
        if len(V) <= _ALL:
            return self._search_all_nodes(machines, V, graph)
        if any(machine.settings["manifold"] for machine in machines) or not machines[0].quadratic:
            return self._search_subsample(machines, V, graph)
        return self._search_growing_subsamples(machines, V, graph)

    def error(self, V, graph):
        """The function of scores (l, l) that is minimised, for nodes with embeddings V (l, d)."""
        return _ValidationError(graph, V, self.scoring)

    def _search_all_nodes(self, machines, V, graph):
        best: Any = None
        error = self.error(V, graph)
        for machine in machines:
            trial = machine.trial(V)
            result = trial.search(self.alpha, self.cosines, self.criterion, error)
            if best is None or result.error < best[2].error:
                best = machine, trial, result
        return best

    def _search_subsample(self, machines, V, graph):
        """The search on a subsample of the nodes; the product of alpha and their number is kept."""
        nodes = subsample_nodes(graph.adjacency, _MOST_IN_FOLDS)
        share = len(nodes) / len(V)
        alpha = self.alpha if isinstance(self.alpha, str) else self.alpha / share
        parts = [_restrict(machine, nodes, len(V)) for machine in machines]
        search = replace(self, alpha=alpha)
        part, _, result = search._search_all_nodes(parts, reduce_columns(V[nodes]), graph.take(nodes))
        machine = machines[parts.index(part)]
        trial = machine.trial(V)
        alpha = result.selection.alpha * share if isinstance(self.alpha, str) else self.alpha
        return machine, trial, trial.fixed_result(alpha, result.cosine)

    def _search_growing_subsamples(self, machines, V, graph):
        """The search on growing subsamples; the product of alpha and the number of nodes is kept."""
        penalties = machines[0].trial(V).alphas(self.alpha) * len(V)
        cosines: dict[tuple[int, int], bool] = {}
        subsamples: dict[int, Any] = {}
        trials: dict[tuple[int, int], LinkTrial] = {}

        def prepare(i, nodes):  # in the caller's thread: kernels may be the user's, and may warn
            if len(nodes) not in subsamples:
                columns = reduce_columns(V[nodes])
                subsamples[len(nodes)] = columns, self.error(columns, graph.take(nodes))
            trials[i, len(nodes)] = _restrict(machines[i], nodes, len(V)).trial(subsamples[len(nodes)][0])

        def score(i, j, nodes):
            trial, (_, error) = trials[i, len(nodes)], subsamples[len(nodes)]
            result = trial.search(penalties[j] / len(nodes), self.cosines, self.criterion, error)
            cosines[i, j] = result.cosine
            return -result.error

        shape = len(machines), len(penalties)
        i, j = search_on_subsamples(score, shape, graph.adjacency, prepare=prepare)
        trial = machines[i].trial(V)
        return machines[i], trial, trial.fixed_result(penalties[j] / len(V), cosines[i, j])


@dataclass(frozen=True)
class _ValidationError:
    """The error of scores (l, l) of pairs of nodes with embeddings V (l, d), which the search minimises."""

    graph: KnownGraph
    V: np.ndarray
    scoring: str

    @cached_property
    def mask(self):
        return known_pair_mask(self.graph)

    def __call__(self, scores):
        value = SCORING[self.scoring](self.graph.adjacency, scores, self.mask)
        if np.isnan(value):  # all known pairs are linked, or none is
            return np.mean((scores - self.V @ self.V.T)[self.mask] ** 2) if self.mask.any() else 0.0
        return 1 - value


def _restrict(machine, nodes, l):
    """The machine with some of its l known nodes, and with all others."""
    rows = np.r_[nodes, np.arange(l, machine.n_nodes)]
    X = take_inputs(machine.X, rows, machine.kernel.precomputed)
    return replace(machine, X=X, settings={**machine.settings, "graph": machine.subgraph(rows)})
