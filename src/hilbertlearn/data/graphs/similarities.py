"""Structural similarities of nodes: numbers of paths between them, weighted in several ways.

Weights of links are strengths: a link of weight 2 counts as two links of weight 1.

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

_EXACT = 1000  # largest number of nodes for which all eigenvectors are computed; the time is cubic in it
_RANK = 100  # number of eigenvectors for larger graphs
_KATZ = 0.5  # attenuation b, relative to the largest value for which the sum over paths converges
_SPREAD = 10.0  # factor of the normalised Laplacian: larger values give longer paths more weight
_CHUNK = 2**22  # entries of products of single pairs that are computed at a time (32 MB)
_SPEEDUP = 64  # a matrix product computes this many entries in the time of one entry of a single pair


@dataclass(frozen=True)
class FactoredMatrix:
    """A matrix (m, p) as the product of two matrices, dense or sparse; blocks and entries are computed on demand."""

    left: Any  # (m, r)
    right: Any  # (r, p)

    def block(self, rows, columns):
        """The dense block of two slices of rows and columns."""
        right = self.right if columns == slice(None) else self.right[:, columns]
        part = self.left[rows] @ right
        return part.toarray() if scipy.sparse.issparse(part) else part

    def entries(self, i, j):
        """Entries (k,) at rows i (k,) and columns j (k,)."""
        columns = self.right.T
        if scipy.sparse.issparse(self.left):
            columns = scipy.sparse.csr_array(columns)
            return np.asarray((self.left[i] * columns[j]).sum(axis=1)).ravel()
        if self.left.shape[0] * columns.shape[0] < min(_CHUNK, _SPEEDUP * len(i)):
            return (self.left @ self.right)[i, j]
        size, out = max(1, _CHUNK // max(1, self.left.shape[1])), np.empty(len(i))
        for start in range(0, len(i), size):
            part = slice(start, start + size)
            out[part] = np.einsum("ij,ij->i", self.left[i[part]], columns[j[part]])
        return out


@dataclass(frozen=True)
class FactoredSum:
    """A sum of factored matrices."""

    parts: tuple[FactoredMatrix, ...]

    def block(self, rows, columns):
        return sum(part.block(rows, columns) for part in self.parts)

    def entries(self, i, j):
        return sum(part.entries(i, j) for part in self.parts)


def adamic_adar(links):
    """Sum of ``(w_xz + w_zy) / 2 / log(s_z)`` over common neighbours z (Adamic and Adar 2003).

    Strengths s_z below 2, which only weak links cause, are replaced by 2.
    """
    return _weigh_common_neighbours(links, 1 / np.log(np.maximum(_strengths(links), 2)))


def resource_allocation(links):
    """Sum of ``(w_xz + w_zy) / 2 / s_z`` over common neighbours z (Zhou, Lü and Zhang 2009)."""
    return _weigh_common_neighbours(links, 1 / _positive_strengths(_strengths(links)))


def _weigh_common_neighbours(links, factors):
    """``sum_z factor_z (w_xz + w_zy) / 2`` over the common neighbours z of x and y (Lü and Zhou 2010, section 3)."""
    if (links.data == 1).all():
        return FactoredMatrix(scipy.sparse.csr_array(links * factors[None, :]), links)
    pattern = scipy.sparse.csr_array(links > 0, dtype=float)
    left = scipy.sparse.hstack([links * factors[None, :], pattern * factors[None, :]]) / 2
    return FactoredMatrix(scipy.sparse.csr_array(left), scipy.sparse.csr_array(scipy.sparse.vstack([pattern, links])))


def preferential_attachment(links):
    """``log((1 + s_x) (1 + s_y))`` of the strengths of the two nodes (after Barabási and Albert 1999).

    It is not a kernel and not a similarity: it measures how many links nodes have, also if no path connects them.
    """
    sizes = np.log1p(_strengths(links))
    ones = np.ones_like(sizes)
    return FactoredMatrix(np.column_stack([sizes, ones]), np.stack([ones, sizes]))


def three_paths(links):
    """Paths of three links, each weight divided by sqrt(s t) of the strengths of its ends: ``(D^-1/2 W D^-1/2)^3``.

    After Kovács et al. 2019, who do not divide by the degrees of the two nodes themselves. It is not a kernel. In
    bipartite graphs, linked nodes have such paths but no common neighbours.
    """
    steps = _normalise(links)
    return FactoredMatrix(scipy.sparse.csr_array(steps @ steps), steps)


def katz(links):
    """Paths of every length k, weighted by b^k: ``(I - b W)^-1`` (Katz 1953), a kernel.

    The weight of a path is the product of the weights of its links. b is half of 1 over the largest eigenvalue of W, so
    the unit of the weights cancels.
    """
    return _sum_paths(links, _KATZ / (_largest_eigenvalue(links) or 1.0))  # 1: without links


def normalized_laplacian(links):
    """``(I + 10 L)^-1`` of the normalised Laplacian L (Smola and Kondor 2003); a kernel."""
    return _sum_paths(_normalise(links), _SPREAD / (1 + _SPREAD), 1 / (1 + _SPREAD))


def _sum_paths(A, c, factor=1.0):
    """``(I - c A)^-1 - I`` times a factor: sums over paths; I is dropped because the diagonal is not a pair.

    For many nodes, paths of one and two links are exact, and longer paths use the leading eigenvectors.
    """
    values, vectors = _leading_eigenpairs(A)
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
    """The similarity with the given name, of all pairs of nodes of a graph.

    W : (l, l) sparse, with weights relative to their mean, see ``relative_weights``. The strength of a node is the sum
        of the weights of its links
    """
    check_choice(name, "similarity", tuple(STRUCTURE))
    links = scipy.sparse.csr_array(W, dtype=float, copy=True)
    links.eliminate_zeros()
    return STRUCTURE[name](links)


def _strengths(links):
    """Sums (l,) of the weights of each node's links."""
    return np.asarray(links.sum(axis=1)).ravel()


def _positive_strengths(strengths):
    """Strengths with 1 for nodes without links."""
    return np.where(strengths > 0, strengths, 1.0)


def _normalise(links):
    """``D^-1/2 W D^-1/2``, D the strengths."""
    roots = 1 / np.sqrt(_positive_strengths(_strengths(links)))
    return scipy.sparse.csr_array(links * roots[None, :] * roots[:, None])


def _largest_eigenvalue(A):
    """The largest eigenvalue of a sparse symmetric A with non-negative entries."""
    return float(_leading_eigenpairs(A, 1)[0].max(initial=0.0))


def _leading_eigenpairs(A, rank=_RANK):
    """Eigenvalues (r,) and eigenvectors (l, r) of a sparse symmetric A: all, or the largest of large matrices."""
    n = A.shape[0]
    if not A.nnz:  # ARPACK does not accept a zero matrix
        return np.zeros(1), np.zeros((n, 1))
    if n <= _EXACT:
        return scipy.linalg.eigh(A.toarray(), driver="evd")
    start = np.random.default_rng(0).uniform(size=n)  # ARPACK would start at random
    return scipy.sparse.linalg.eigsh(A, rank, which="LA", v0=start)
