"""Rankings that minimise a weighted sum of losses: numbers 1 to M, M for the most preferred item.

With the weighted preferences G (M, M), antisymmetric, the best ranking has the largest sum of ``G_ij`` over the pairs
with i above j: a minimum feedback arc set. An order is an array of items, the most preferred first.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.stats import rankdata

from .._utils.blocks import slices
from .candidates import best_outputs, block_size

# number of items up to which dynamic programming over all 2^12 subsets is used; each further item doubles the time
EXACT_ITEMS = 12
_BLOCK_ENTRIES = 2**22  # preferences, or gains of subsets, of a block of queries, 32 MB
_ROUNDING = 1e-12  # relative size below which a preference or a gain counts as zero


def decode_spearman(W, Y, loss):
    """Rankings (m, items) for Spearman's loss.

    The cost of giving item k the rank r is ``-2 r sum_i w_i y_ik`` up to constants. An assignment whose costs are
    products is solved by sorting: exact for weights of any sign and sum.
    """
    return rankdata(W @ Y, axis=1, method="ordinal").astype(float)


def decode_ranking(W, Y, loss):
    """Rankings (m, items) for a loss with ``preferences``: exact up to ``EXACT_ITEMS`` items, by search beyond.

    The search is never worse than any output in Y, however its ties and missing ratings are resolved.
    """
    items = Y.shape[1]
    exact = items <= EXACT_ITEMS
    starts = None if exact else Y[best_outputs(-W, Y, loss)]
    rankings = np.empty((len(W), items))
    for rows in slices(len(W), block_size(_BLOCK_ENTRIES) // (items * (2**items if exact else items))):
        G = loss.preferences(W[rows], Y)
        # where the ratings of a pair cancel, rounding must not count as a preference
        G = np.where(np.abs(G) > _ROUNDING * np.abs(G).max(axis=(1, 2), keepdims=True), G, 0.0)
        orders = _exact(G) if starts is None else np.array([_search(g, y) for g, y in zip(G, starts[rows])])
        np.put_along_axis(rankings[rows], orders, np.arange(items, 0, -1.0)[None], axis=1)
    return rankings


def _exact(G):
    """Best orders (m, M) for preferences G (m, M, M), by dynamic programming over the sets of items on top.

    ``value(S) = max over i in S of value(S - i) + sum over j in S - i of G_ji``: i is the last of S.
    """
    m, items, _ = G.shape
    levels = _subsets(items)
    members = (np.arange(2**items)[:, None] >> np.arange(items)) & 1
    gains = np.swapaxes(G, 1, 2) @ members.T  # (m, i, S): of i below all of S
    value = np.zeros((m, 2**items))
    last = np.zeros((m, 2**items), dtype=int)
    for sets, inside, without in levels:
        options = value[:, without] + gains[:, inside, without]
        best = options.argmax(axis=2)
        value[:, sets] = np.take_along_axis(options, best[:, :, None], axis=2)[:, :, 0]
        last[:, sets] = inside[np.arange(len(sets)), best]
    orders, remaining = np.empty((m, items), dtype=int), np.full(m, 2**items - 1)
    for place in reversed(range(items)):
        orders[:, place] = last[np.arange(m), remaining]
        remaining ^= 1 << orders[:, place]
    return orders


@cache
def _subsets(items):
    """For s = 1, ..., items: the sets of s items (c,) as bits, their items (c, s), and the sets without each (c, s)."""
    sets = np.arange(2**items)
    members = ((sets[:, None] >> np.arange(items)) & 1).astype(bool)
    levels = []
    for s in range(1, items + 1):
        subsets = sets[members.sum(axis=1) == s]
        inside = np.nonzero(members[subsets])[1].reshape(-1, s)
        levels.append((subsets, inside, subsets[:, None] ^ (1 << inside)))
    return levels


def _search(G, y):
    """A local optimum, from the greedy order or from the output y."""
    optimum, start = _insert(G, _greedy(G)), _complete(G, y)
    if len(G) > 200 and _value(G, start) <= _value(G, optimum):  # with many items the second start rarely helps
        return optimum
    return max(optimum, _insert(G, start), key=lambda order: _value(G, order))


def _value(G, order):
    """Sum of the preferences that an order fulfils."""
    return np.triu(_sorted(G, order)).sum()


def _sorted(G, order):
    """Preferences with rows and columns in an order."""
    return G[order].take(order, axis=1)  # faster than by np.ix_


def _greedy(G):
    """Order (M,) by the heuristic of Eades, Lin and Smyth 1993 for weighted arcs.

    Items that beat no remaining item go to the bottom, items that no remaining item beats to the top. If there are
    none, the item with the largest sum of preferences goes to the top.
    """
    items = len(G)
    beats, beaten, margin = (G > 0).sum(axis=1), (G < 0).sum(axis=1), G.sum(axis=1)
    top, bottom = [], []
    for _ in range(items):
        if beats[i := beats.argmin()] == 0:
            bottom.append(i)
        elif beaten[i := beaten.argmin()] == 0:
            top.append(i)
        else:
            top.append(i := margin.argmax())
        beats -= G[i] < 0
        beaten -= G[i] > 0
        margin += G[i]
        beats[i] = beaten[i] = 2 * items  # never the least again
        margin[i] = -np.inf
    return np.array(top + bottom[::-1])


def _insert(G, order):
    """A local optimum: items are moved to their best places until no move helps."""
    tolerance = _ROUNDING * np.abs(G).sum()
    while True:
        # an item below k others loses its preferences over them: the best place has the smallest sum
        lost = np.cumsum(_sorted(G, order), axis=1)
        movers = order[np.diag(lost) - lost.min(axis=1, initial=0.0) > tolerance]
        if len(movers) == 0:
            return order
        for i in movers:
            order = _move(G, order, i)


def _move(G, order, i):
    """The order with item i in its best place."""
    others = order[order != i]
    lost = np.cumsum(G[i, others])
    place = int(lost.argmin())
    place = place + 1 if lost[place] < 0 else 0
    return np.concatenate([others[:place], [i], others[place:]])


def _complete(G, y):
    """An order that agrees with y; its ties and missing ratings (NaN) are resolved so that they cost at most half.

    Of an order of tied items and its reverse, one costs at most half; the same holds for the two ends of the order and
    the missing items.
    """
    blocks = [_better_direction(G, np.flatnonzero(y == level)) for level in np.unique(y[np.isfinite(y)])[::-1]]
    missing = np.flatnonzero(np.isnan(y))
    rated = np.concatenate(blocks) if blocks else missing[:0]
    parts = [_better_direction(G, missing), rated]
    return np.concatenate(parts if G[np.ix_(missing, rated)].sum() > 0 else parts[::-1])


def _better_direction(G, items):
    """The items in this order or in its reverse, whichever has the larger value."""
    return items if _value(G, items) >= 0 else items[::-1]
