"""The choice of two rates, of a kernel and of the penalty, by few looks at what is expensive; samples to look at."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.utils import check_random_state

AROUND = tuple(move for move in itertools.product((-1, 0, 1), repeat=2) if any(move))
ALONG_ALPHA = ((0, -1), (0, 1))
# Of each stage at most so many nodes, and the moves from what the stage before chose: a few hundred nodes say where to
# look, but favour a smaller penalty than all would.
_STAGES = ((500, None), (1000, AROUND), (1500, ALONG_ALPHA))
_LINKS = 200  # in a sample of nodes: of fewer, a score is mostly chance


def choose_by_samples(score, shape, W, random_state=0):
    """The position (i, j) on a grid of gammas and alphas for a graph W (n, n), sparse, by growing samples of its nodes.

    score : function (i, j, nodes) -> float, as below, of the nodes at these positions. Called about 25 times with 500
        nodes, 10 times with 1000 and 3 times with 1500, or with all if there are fewer
    """
    position = None
    for most, moves in _STAGES:
        nodes = sample_nodes(W, most, random_state)
        looks = partial(_with_nodes, score, nodes)
        position = choose_rates(looks, shape) if position is None else climb(looks, position, shape, moves)
        if len(nodes) == W.shape[0]:
            break
    return position


def _with_nodes(score, nodes, i, j):
    return score(i, j, nodes)


def choose_rates(score, shape):
    """The position (i, j) on a grid of gammas and alphas, both in ascending order, where a score is about highest.

    A coarse lattice is looked at, then points around the best, at half the distance each time, until none next to it is
    better: two dozen looks at a grid of 7 by 13. The ridge of good models is long and aslant (measured on Cora), so
    that the two rates cannot be searched in turn. Ties go to the smoother model: the larger alpha, the smaller gamma.

    score : function (i, j) -> float; NaN is worse than any number. Called once for a position
    shape : (number of gammas, number of alphas)
    """
    seen = _Seen(score, shape)
    steps = tuple(_first_step(n) for n in shape)
    for position in itertools.product(*(range(step // 2, n, step) for step, n in zip(steps, shape, strict=True))):
        seen.look(position)
    while max(steps) > 1:
        steps = tuple(max(1, step // 2) for step in steps)
        seen.look_around(AROUND, steps)
    return seen.climbed(AROUND)


def climb(score, start, shape, moves=ALONG_ALPHA):
    """The position (i, j) that is reached from `start` by moves to the best of the neighbours, as long as it is better.

    What a sample of nodes chose is moved so to what all of them would have chosen nearby. The rest as above.
    """
    seen = _Seen(score, shape)
    seen.look(start)
    return seen.climbed(moves)


class _Seen:
    """Scores of the positions that were looked at."""

    def __init__(self, score, shape):
        self.score, self.shape, self.scores = score, shape, {}

    def look(self, position):
        inside = all(0 <= at < n for at, n in zip(position, self.shape, strict=True))
        if inside and position not in self.scores:
            value = float(self.score(*position))
            self.scores[position] = -np.inf if np.isnan(value) else value

    def best(self):
        return max(self.scores, key=lambda position: (self.scores[position], position[1], -position[0]))

    def look_around(self, moves, steps):
        i, j = self.best()
        for move in moves:
            self.look((i + move[0] * steps[0], j + move[1] * steps[1]))

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


def sample_nodes(W, most, random_state=0):
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


def fewer_columns(Y):
    """Rows (n, min(n, d)) with the inner products of the rows of Y (n, d)."""
    if Y.shape[1] <= Y.shape[0]:
        return Y
    (R,) = scipy.linalg.qr(Y.T, mode="r", check_finite=False)
    return np.ascontiguousarray(R[: len(Y)].T)
