"""Search on a grid of two rates, gamma of a kernel and the penalty, with few evaluations; subsamples of nodes."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.utils import check_random_state

from .._utils.threads import map_in_threads

AROUND = tuple(step for step in itertools.product((-1, 0, 1), repeat=2) if any(step))
ALONG_ALPHA = ((0, -1), (0, 1))
# For each stage the number of nodes, and the steps allowed from the position of the stage before. A few hundred nodes
# find the region, but prefer a smaller penalty than all nodes would: later stages correct that.
_STAGES = ((500, None), (1000, AROUND), (1500, ALONG_ALPHA))
_LINKS = 200  # links that a subsample should have: with fewer, a score is mostly chance


def search_on_subsamples(score, shape, W, random_state=0, prepare=None):
    """The best position (i, j) on a grid of gammas and alphas for a sparse graph W (n, n), on growing subsamples.

    score : function (i, j, nodes) -> float, see ``search_grid``, for the nodes at these positions. It is called about
        25 times with 500 nodes, 10 times with 1000 and 3 times with 1500, or with all nodes if there are fewer
    prepare : function (i, nodes), called before the first score at i with these nodes, in the caller's thread
    """
    position = None
    for n_nodes, steps in _STAGES:
        nodes = subsample_nodes(W, n_nodes, random_state)
        score_here = partial(_call_with_nodes, score, nodes)
        prepare_here = None if prepare is None else partial(_call_with_nodes, prepare, nodes)
        if position is None:
            position = search_grid(score_here, shape, prepare_here)
        else:
            position = climb(score_here, position, shape, steps, prepare_here)
        if len(nodes) == W.shape[0]:
            break
    return position


def _call_with_nodes(function, nodes, *position):
    return function(*position, nodes)


def search_grid(score, shape, prepare=None):
    """The position (i, j) with about the highest score on a grid of gammas and alphas, both ascending.

    A coarse lattice is evaluated, then the neighbours of its best point at half the distance, and so on, until no
    direct neighbour is better: about 25 evaluations on a grid of 7 by 13. The good models lie along a slanted ridge
    (measured on Cora), so that the two rates cannot be searched one after the other. Ties go to the smoother model,
    with the larger alpha and the smaller gamma.

    score : function (i, j) -> float; NaN is the worst value. It is called once for a position, in several threads
    shape : (number of gammas, number of alphas)
    prepare : function (i), called before the first score at i, in the caller's thread
    """
    scores = _GridScores(score, shape, prepare)
    distances = tuple(_first_distance(n) for n in shape)
    lattice = (range(distance // 2, n, distance) for distance, n in zip(distances, shape, strict=True))
    scores.evaluate(itertools.product(*lattice))
    while max(distances) > 1:
        distances = tuple(max(1, distance // 2) for distance in distances)
        scores.evaluate_neighbours(AROUND, distances)
    return scores.climb(AROUND)


def climb(score, start, shape, steps=ALONG_ALPHA, prepare=None):
    """The local maximum (i, j) that is reached from `start` by steps to the best neighbour.

    It moves the result for a subsample to the result that all nodes would have. The arguments are as above.
    """
    scores = _GridScores(score, shape, prepare)
    scores.evaluate([start, *_neighbours(start, steps, (1, 1))])
    return scores.climb(steps)


class _GridScores:
    """Scores of the positions evaluated so far."""

    def __init__(self, score, shape, prepare=None):
        self.score, self.shape, self.prepare, self.scores = score, shape, prepare, {}
        self.prepared = set()

    def evaluate(self, positions):
        """Score the new positions on the grid, in several threads."""
        new = [position for position in dict.fromkeys(positions) if self._is_new(position)]
        for i in dict.fromkeys(i for i, _ in new if i not in self.prepared and self.prepare is not None):
            self.prepare(i)
            self.prepared.add(i)
        for position, value in zip(new, map_in_threads(lambda ij: float(self.score(*ij)), new), strict=True):
            self.scores[position] = -np.inf if np.isnan(value) else value

    def _is_new(self, position):
        inside = all(0 <= index < n for index, n in zip(position, self.shape, strict=True))
        return inside and position not in self.scores

    def best(self):
        return max(self.scores, key=lambda position: (self.scores[position], position[1], -position[0]))

    def evaluate_neighbours(self, steps, distances):
        self.evaluate(_neighbours(self.best(), steps, distances))

    def climb(self, steps):
        """The best position once all its neighbours are evaluated."""
        before = None
        while before != self.best():
            before = self.best()
            self.evaluate_neighbours(steps, (1, 1))
        return before


def _neighbours(position, steps, distances):
    i, j = position
    return [(i + step[0] * distances[0], j + step[1] * distances[1]) for step in steps]


def _first_distance(n):
    """A power of two such that a lattice on n positions has about three points."""
    return 2 ** max(0, int(np.log2((n + 1) / 3)))


def subsample_nodes(W, n_nodes, random_state=0):
    """Ascending positions of at most `n_nodes` nodes of a sparse graph W (n, n).

    All nodes are drawn with the same probability, which preserves the distribution of the links: drawing links, or
    following them, prefers nodes with many. A share p of the nodes has only p² of the links. If these are fewer than
    200, the ends of some links are drawn first.
    """
    n, rng = W.shape[0], check_random_state(random_state)
    if n <= n_nodes:
        return np.arange(n)
    order = rng.permutation(n)
    links = np.stack(scipy.sparse.triu(W, k=1).nonzero(), axis=1)
    rank = np.empty(n, dtype=int)
    rank[order] = np.arange(n)
    if np.count_nonzero((rank[links] < n_nodes).all(axis=1)) < min(_LINKS, len(links)):
        ends = links[rng.permutation(len(links))[: min(_LINKS, n_nodes // 2)]].ravel()
        order = np.concatenate([ends, order])
        order = order[np.sort(np.unique(order, return_index=True)[1])]  # first occurrences only
    return np.sort(order[:n_nodes])


def reduce_columns(Y):
    """Rows (n, min(n, d)) with the same inner products as the rows of Y (n, d)."""
    if Y.shape[1] <= Y.shape[0]:
        return Y
    (R,) = scipy.linalg.qr(Y.T, mode="r", check_finite=False)
    return np.ascontiguousarray(R[: len(Y)].T)
