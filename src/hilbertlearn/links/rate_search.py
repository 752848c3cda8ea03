"""The choice of two rates, of a kernel and of the penalty, by few looks at what is expensive; samples to look at."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.utils import check_random_state

from .._utils.threads import side_by_side

AROUND = tuple(move for move in itertools.product((-1, 0, 1), repeat=2) if any(move))
ALONG_ALPHA = ((0, -1), (0, 1))
# Of each stage at most so many nodes, and the moves from what the stage before chose: a few hundred nodes say where to
# look, but favour a smaller penalty than all would.
_STAGES = ((500, None), (1000, AROUND), (1500, ALONG_ALPHA))
_LINKS = 200  # in a sample of nodes: of fewer, a score is mostly chance


def search_on_subsamples(score, shape, W, random_state=0, prepare=None):
    """The position (i, j) on a grid of gammas and alphas for a graph W (n, n), sparse, by growing samples of its nodes.

    score : function (i, j, nodes) -> float, as below, of the nodes at these positions. Called about 25 times with 500
        nodes, 10 times with 1000 and 3 times with 1500, or with all if there are fewer
    prepare : function (i, nodes), called before the first of the scores at i with these nodes, in the caller's thread
    """
    position = None
    for most, moves in _STAGES:
        nodes = subsample_nodes(W, most, random_state)
        looks = partial(_with_nodes, score, nodes)
        ready = None if prepare is None else partial(_with_nodes, prepare, nodes)
        position = search_grid(looks, shape, ready) if position is None else climb(looks, position, shape, moves, ready)
        if len(nodes) == W.shape[0]:
            break
    return position


def _with_nodes(function, nodes, *position):
    return function(*position, nodes)


def search_grid(score, shape, prepare=None):
    """The position (i, j) on a grid of gammas and alphas, both in ascending order, where a score is about highest.

    A coarse lattice is looked at, then points around the best, at half the distance each time, until none next to it is
    better: two dozen looks at a grid of 7 by 13. The ridge of good models is long and aslant (measured on Cora), so
    that the two rates cannot be searched in turn. Ties go to the smoother model: the larger alpha, the smaller gamma.

    score : function (i, j) -> float; NaN is worse than any number. Called once for a position, for several of them side
        by side in threads
    shape : (number of gammas, number of alphas)
    prepare : function (i), called before the first of the scores at i, in the caller's thread
    """
    seen = _GridScores(score, shape, prepare)
    steps = tuple(_first_step(n) for n in shape)
    seen.look(itertools.product(*(range(step // 2, n, step) for step, n in zip(steps, shape, strict=True))))
    while max(steps) > 1:
        steps = tuple(max(1, step // 2) for step in steps)
        seen.look_around(AROUND, steps)
    return seen.climbed(AROUND)


def climb(score, start, shape, moves=ALONG_ALPHA, prepare=None):
    """The position (i, j) that is reached from `start` by moves to the best of the neighbours, as long as it is better.

    What a sample of nodes chose is moved so to what all of them would have chosen nearby. The rest as above.
    """
    seen = _GridScores(score, shape, prepare)
    # there is no climbing without a look around: what is around is looked at with the start
    seen.look([start, *seen.around(start, moves, (1, 1))])
    return seen.climbed(moves)


class _GridScores:
    """Scores of the positions that were looked at."""

    def __init__(self, score, shape, prepare=None):
        self.score, self.shape, self.prepare, self.scores = score, shape, prepare, {}
        self.prepared = set()

    def look(self, positions):
        """At those that are on the grid and were not looked at, side by side."""
        wanted = [position for position in dict.fromkeys(positions) if self._is_new(position)]
        for i in dict.fromkeys(i for i, _ in wanted if i not in self.prepared and self.prepare is not None):
            self.prepare(i)
            self.prepared.add(i)
        for position, value in zip(wanted, side_by_side(lambda at: float(self.score(*at)), wanted), strict=True):
            self.scores[position] = -np.inf if np.isnan(value) else value

    def _is_new(self, position):
        inside = all(0 <= at < n for at, n in zip(position, self.shape, strict=True))
        return inside and position not in self.scores

    def best(self):
        return max(self.scores, key=lambda position: (self.scores[position], position[1], -position[0]))

    def around(self, position, moves, steps):
        i, j = position
        return [(i + move[0] * steps[0], j + move[1] * steps[1]) for move in moves]

    def look_around(self, moves, steps):
        self.look(self.around(self.best(), moves, steps))

    def climbed(self, moves):
        """The best position after looking around it, and again where it moved."""
        before = None
        while before != self.best():
            before = self.best()
            self.look_around(moves, (1, 1))
        return before


def _first_step(n):
    """A power of two such that a lattice of n positions has about three."""
    return 2 ** max(0, int(np.log2((n + 1) / 3)))


def subsample_nodes(W, most, random_state=0):
    """Positions, in ascending order, of at most so many nodes of a sparse graph W (n, n): a sample to choose rates on.

    They are drawn with the same probability, which keeps the links as they are spread: to draw links, or to follow
    them, favours nodes with many. A sample of a share p of the nodes has p² of the links only; if these are fewer than
    200, some of the nodes are the ends of links instead.
    """
    n, rng = W.shape[0], check_random_state(random_state)
    if n <= most:
        return np.arange(n)
    order = rng.permutation(n)
    links = np.stack(scipy.sparse.triu(W, k=1).nonzero(), axis=1)
    rank = np.empty(n, dtype=int)
    rank[order] = np.arange(n)
    if np.count_nonzero((rank[links] < most).all(axis=1)) < min(_LINKS, len(links)):
        ends = links[rng.permutation(len(links))[: min(_LINKS, most // 2)]].ravel()
        order = np.concatenate([ends, order])
        order = order[np.sort(np.unique(order, return_index=True)[1])]  # without those that come again
    return np.sort(order[:most])


def reduce_columns(Y):
    """Rows (n, min(n, d)) with the inner products of the rows of Y (n, d)."""
    if Y.shape[1] <= Y.shape[0]:
        return Y
    (R,) = scipy.linalg.qr(Y.T, mode="r", check_finite=False)
    return np.ascontiguousarray(R[: len(Y)].T)
