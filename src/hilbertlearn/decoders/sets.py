"""Sets of labels that minimise a weighted sum of losses, as rows of a 0/1 matrix."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

_ENTRIES = 2**18  # entries of the products of a block of queries, 2 MB, which stay in the cache
_SIZES_AT_ONCE = 16  # number of sizes after which finished queries are removed


def decode_hamming(W, Y, loss):
    """Sets (m, labels) for the Hamming loss: labels whose outputs weigh more than the outputs without them.

    The loss is a sum over labels, so this is exact for weights W (m, n) of any sign and sum.
    """
    return (W @ (2 * Y - 1) > 0).astype(float)


def decode_f1(W, Y, loss):
    """Sets (m, labels) for the F1 loss, exact for weights W (m, n) of any sign and sum.

    The loss is one minus ``2 |z and y| / (|z| + |y|)``, linear in z if ``|z| = s`` is fixed: the best set of size s is
    the s labels of largest gain ``sum_i 2 w_i y_ik / (s + |y_i|)`` (general F-measure maximiser of Dembczynski et al.
    2011). The gains of all s come from the products ``W Y`` over the outputs of one size. Sizes increase until a bound
    (`_may_improve`) shows that no larger set is better. Ties go to the smallest set.
    """
    n, labels = Y.shape
    sizes = Y.sum(axis=1).astype(int)
    distinct_sizes = np.union1d(1, sizes[sizes > 0])  # at least one size, even if all sets are empty
    samples, members = np.nonzero(Y)
    cells = np.searchsorted(distinct_sizes, sizes)[samples] * labels + members
    sums = csr_array((np.ones(len(cells)), (cells, samples)), shape=(len(distinct_sizes) * labels, n))
    empty = W[:, sizes == 0].sum(axis=1)  # value of the empty set
    size, gains = np.zeros(len(W), dtype=int), np.empty((len(W), labels))
    block = max(1, _ENTRIES // max(1, len(distinct_sizes) * labels, n // 8))
    for start in range(0, len(W), block):
        rows = slice(start, start + block)
        # a copy in row-major order: products and sorting are slow on the transpose
        products = np.ascontiguousarray((sums @ W[rows].T).T).reshape(-1, len(distinct_sizes), labels)
        size[rows] = _best_sizes(products, distinct_sizes, empty[rows])
        gains[rows] = ((2 / (size[rows, None, None] + distinct_sizes)) @ products)[:, 0]
    return _largest(gains, size)


def _best_sizes(products, distinct_sizes, best):
    """Sizes (m,) of the sets of largest value, 0 where none has more than best (m,).

    products (m, sizes, labels) are ``W Y`` over the outputs of each of the distinct sizes.
    """
    m, _, labels = products.shape
    best, size = best.copy(), np.zeros(m, dtype=int)
    rows, start, stop = np.arange(m), 1, min(4, labels + 1)
    while len(rows) and start <= labels:
        gains = (2 / (np.arange(start, stop)[:, None] + distinct_sizes)) @ products
        values = np.empty((len(rows), stop - start))
        for s in range(start, stop):
            gains_s = gains[:, s - start]
            gains_s.partition(labels - s, axis=1)
            gains_s[:, labels - s :].sum(axis=1, out=values[:, s - start])
        better = values.max(axis=1) > best[rows]
        size[rows[better]] = start + values[better].argmax(axis=1)
        best[rows[better]] = values[better].max(axis=1)
        start, stop = stop, min(stop + min(stop, _SIZES_AT_ONCE), labels + 1)
        if start <= labels:
            undecided = _may_improve(products, distinct_sizes, start, best[rows])
            rows, products = rows[undecided], products[undecided]
    return size


def _may_improve(products, distinct_sizes, s, best):
    """Whether (m,) a set of s labels or more might have a larger value than best (m,); arguments of `_best_sizes`.

    For any ``a``, the factor ``2 (|z| + a) / (|z| + t)`` of the product of size t is monotone in ``|z|``, so that its
    values at s and at all labels bound ``(|z| + a) gain_k <= u_k`` whatever the signs. If z is better than best,
    ``sum_{k in z} u_k > (|z| + a) best``, thus ``sum_k max(u_k - best, 0) > a best``. So the small gains of many labels
    do not add up. Values of ``a`` close to s exclude most queries.
    """
    a, ends = s + 2, np.array([[s], [products.shape[2]]])
    factors = 2 * (ends + a) / (ends + distinct_sizes)
    above = factors.mean(axis=0) @ products
    above += (np.ptp(factors, axis=0) / 2) @ np.abs(products)
    above -= best[:, None]
    return np.maximum(above, 0.0, out=above).sum(axis=1) > a * best


def _largest(gains, size):
    """Sets (m, labels) of the size (m,) labels of largest gains (m, labels); ties go to the first labels."""
    threshold = np.take_along_axis(np.sort(gains, axis=1), gains.shape[1] - np.maximum(size, 1)[:, None], axis=1)
    sets, tied = gains > threshold, gains == threshold
    sets |= tied & (tied.cumsum(axis=1) <= (size - sets.sum(axis=1))[:, None])
    return sets.astype(float)
