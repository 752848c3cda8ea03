"""Similarities of two nodes by what a graph says of them: paths between them, counted in several ways.

Weights of links are strengths: a link of weight 2 counts twice as much as one of weight 1.

References
----------
- Lü and Zhou (2010). Link prediction in weighted networks: the role of weak ties. Europhysics Letters 89(1).
- Murata and Moriyasu (2007). Link prediction of social networks based on weighted proximity measures. Web Intelligence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

from ..._utils.validation import check_choice

_EXACT = 1000  # nodes up to which all eigenvectors are computed
_RANK = 100  # eigenvectors beyond
_KATZ = 0.5  # of the largest weight for which sums over paths converge
_SPREAD = 10.0  # how far the normalised Laplacian's kernel reaches
_CHUNK = 2**22  # entries of products of single pairs at a time
_CHEAPER = 64  # times as many entries of a product of matrices are as quick as those of single pairs


@dataclass(frozen=True)
class FactoredMatrix:
    """A matrix (m, p) as the product of two, dense or sparse, of which single rows and entries are formed."""

    left: Any  # (m, r)
    right: Any  # (r, p)

    def block(self, rows, columns):
        """Entries of some rows and columns, two slices; dense."""
        right = self.right if columns == slice(None) else self.right[:, columns]
        part = self.left[rows] @ right
        return part.toarray() if scipy.sparse.issparse(part) else part

    def at(self, i, j):
        """Entries (k,) at rows i (k,) and columns j (k,)."""
        columns = self.right.T
        if scipy.sparse.issparse(self.left):
            columns = scipy.sparse.csr_array(columns)
            return np.asarray((self.left[i] * columns[j]).sum(axis=1)).ravel()
        if self.left.shape[0] * columns.shape[0] < min(_CHUNK, _CHEAPER * len(i)):
            return (self.left @ self.right)[i, j]
        size, out = max(1, _CHUNK // max(1, self.left.shape[1])), np.empty(len(i))
        for start in range(0, len(i), size):
            part = slice(start, start + size)
            out[part] = np.einsum("ij,ij->i", self.left[i[part]], columns[j[part]])
        return out


@dataclass(frozen=True)
class FactoredSum:
    """A sum of such matrices."""

    parts: tuple[FactoredMatrix, ...]

    def block(self, rows, columns):
        return sum(part.block(rows, columns) for part in self.parts)

    def at(self, i, j):
        return sum(part.at(i, j) for part in self.parts)


def adamic_adar(links):
    """Common neighbours z, each counted with ``(w_xz + w_zy) / 2 / log(s_z)`` (Adamic and Adar 2003).

    Strengths s_z below 2, which a common neighbour has only by weak links, count as 2.
    """
    return _common(links, 1 / np.log(np.maximum(_strengths(links), 2)))


def resource_allocation(links):
    """Common neighbours z, each counted with ``(w_xz + w_zy) / 2 / s_z`` (Zhou, Lü and Zhang 2009)."""
    return _common(links, 1 / _positive(_strengths(links)))


def _common(links, factors):
    """``sum_z factor_z (w_xz + w_zy) / 2`` over the common neighbours z of x and y (Lü and Zhou 2010, section 3)."""
    if (links.data == 1).all():
        return FactoredMatrix(scipy.sparse.csr_array(links * factors[None, :]), links)
    pattern = scipy.sparse.csr_array(links > 0, dtype=float)
    left = scipy.sparse.hstack([links * factors[None, :], pattern * factors[None, :]]) / 2
    return FactoredMatrix(scipy.sparse.csr_array(left), scipy.sparse.csr_array(scipy.sparse.vstack([pattern, links])))


def preferential_attachment(links):
    """``log((1 + s_x) (1 + s_y))`` of the strengths of the two nodes (after Barabási and Albert 1999).

    Not a kernel, and no similarity: it says which nodes have links at all, also where no path joins them.
    """
    sizes = np.log1p(_strengths(links))
    ones = np.ones_like(sizes)
    return FactoredMatrix(np.column_stack([sizes, ones]), np.stack([ones, sizes]))


def three_paths(links):
    """Paths of three links, each weight divided by sqrt(s t) of the strengths of its ends: ``(D^-1/2 W D^-1/2)^3``.

    After Kovács et al. 2019, who do not divide by the degrees of the two nodes themselves. Not a kernel. Where links
    are between two kinds of nodes, these have no neighbours in common but such paths.
    """
    steps = _normalised(links)
    return FactoredMatrix(scipy.sparse.csr_array(steps @ steps), steps)


def katz(links):
    """Paths of every length k, weighted by b^k: ``(I - b W)^-1`` (Katz 1953), b half of what converges; a kernel.

    The weight of a path is the product of those of its links. b is relative to the largest eigenvalue of W, so that the
    unit of the weights cancels.
    """
    return _paths(links, _KATZ / (_largest(links) or 1.0))  # 1: without links


def normalized_laplacian(links):
    """``(I + 10 L)^-1`` of the normalised Laplacian L (Smola and Kondor 2003); a kernel."""
    return _paths(_normalised(links), _SPREAD / (1 + _SPREAD), 1 / (1 + _SPREAD))


def _paths(A, c, factor=1.0):
    """``(I - c A)^-1 - I`` times a factor, sums over paths; I is on the diagonal alone, which is no pair.

    Of many nodes paths of one and two links exactly, which are most of what there is between two nodes, and longer ones
    by the leading eigenvectors.
    """
    values, vectors = _leading(A)
    x = c * values
    if A.shape[0] <= _EXACT:
        return FactoredMatrix(vectors * (factor * x / (1 - x)), vectors.T)
    short = FactoredMatrix(
        scipy.sparse.csr_array(factor * c * A), scipy.sparse.csr_array(scipy.sparse.eye_array(A.shape[0]) + c * A)
    )
    return FactoredSum((short, FactoredMatrix(vectors * (factor * x**3 / (1 - x)), vectors.T)))


STRUCTURE: dict[str, Callable] = {
    "adamic_adar": adamic_adar,
    "resource_allocation": resource_allocation,
    "preferential_attachment": preferential_attachment,
    "three_paths": three_paths,
    "katz": katz,
    "normalized_laplacian": normalized_laplacian,
}


def structural_similarity(name, W) -> FactoredMatrix | FactoredSum:
    """A similarity of all pairs of nodes of a graph, in which the weights of links count.

    W : (l, l) sparse, relative to an average link, whose weight is 1: ``relative_weights``. The strength of a node is
        the sum of the weights of its links, which is their number where all weights are 1.
    """
    check_choice(name, "similarity", tuple(STRUCTURE))
    links = scipy.sparse.csr_array(W, dtype=float, copy=True)
    links.eliminate_zeros()
    return STRUCTURE[name](links)


def _strengths(links):
    """Sums (l,) of the weights of each node's links."""
    return np.asarray(links.sum(axis=1)).ravel()


def _positive(strengths):
    """The same, 1 for nodes without links."""
    return np.where(strengths > 0, strengths, 1.0)


def _normalised(links):
    """``D^-1/2 W D^-1/2``, D the strengths."""
    roots = 1 / np.sqrt(_positive(_strengths(links)))
    return scipy.sparse.csr_array(links * roots[None, :] * roots[:, None])


def _largest(A):
    """The largest eigenvalue of a sparse symmetric A with entries that are not negative."""
    return float(_leading(A, 1)[0].max(initial=0.0))


def _leading(A, rank=_RANK):
    """Eigenvalues (r,) and eigenvectors (l, r) of a sparse symmetric A, all of them or those that are largest."""
    n = A.shape[0]
    if not A.nnz:  # ARPACK refuses
        return np.zeros(1), np.zeros((n, 1))
    if n <= _EXACT:
        return scipy.linalg.eigh(A.toarray(), driver="evd")
    start = np.random.default_rng(0).uniform(size=n)  # ARPACK's own is another at each call
    return scipy.sparse.linalg.eigsh(A, rank, which="LA", v0=start)
