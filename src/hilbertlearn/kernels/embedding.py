"""Nodes of a graph as vectors whose inner products are a kernel of the graph."""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.csgraph
from sklearn.utils import check_random_state

from .._utils.linalg import spectrum
from .._utils.threads import side_by_side, threads_for
from .._utils.validation import check_choice, check_number
from ..data.graphs import laplacian, read_graph
from .graph import NODE_KERNELS, node_kernel

_EXACT = 1000  # up to so many nodes "auto" keeps the kernel as it is
_COLUMNS, _SHARE = 400, 8  # beyond, columns beside the components': so many, or one for so many nodes
_NEGLIGIBLE = 1e-10  # eigenvalues of the kernel, relative to the largest, that count as zero
_DEGREE, _SPARE = 40, 1.1  # of the polynomials of the Laplacian, and columns carried along for each that is wanted
_AT_ONCE = 32  # columns, which fit in the cache
_DENSE = 3  # nodes for each column below which dense eigenvectors are faster
_TOLERANCE, _ROUNDS = 1e-4, 20  # gain in the trace of the kernel for which another round is made, and how many at most


def node_embedding(kernel, W, beta=1.0, *, rank="auto", center=False, random_state=0):
    """Nodes of a graph as rows V with ``V V' = node_kernel(kernel, W, beta)``, or nearly.

    Each connected component has an eigenvector of the largest eigenvalue, which says nothing of who is linked with whom
    inside. If they are more than d / 2, those of the smallest components are left out, isolated nodes first, and the
    rows of their nodes are zero.

    Parameters
    ----------
    kernel : {"diffusion", "normalized_laplacian"} or array of shape (n, n)
        As for ``node_kernel``.
    W : array or sparse matrix of shape (n, n), edge list, data frame or networkx graph
        The graph.
    beta : float, default=1.0
        As for ``node_kernel``.
    rank : int, None or "auto", default="auto"
        None for the kernel itself; a number d of leading eigenvectors; "auto" for the former up to 1000 nodes, and
        beyond for as many of the latter as predict links no worse, if that is less than half of the nodes.
    center : bool, default=False
        Subtract the mean of the rows, which centres the kernel.
    random_state : int, RandomState instance or None, default=0
        Of the vectors that the leading eigenvectors are searched from.

    Returns
    -------
    V : array of shape (n, d)
        One row a node; columns are in descending order of eigenvalues, components first.

    References
    ----------
    - Kondor and Lafferty (2002). Diffusion kernels on graphs and other discrete input spaces. ICML.
    - Zhou, Saad, Tiago and Chelikowsky (2006). Self-consistent-field calculations using Chebyshev-filtered subspace
      iteration. Journal of Computational Physics 219.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import kernels
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> V = kernels.node_embedding("diffusion", path)
    >>> V.shape, np.allclose(V @ V.T, kernels.node_kernel("diffusion", path))
    ((3, 3), True)
    """
    rank = _check_rank(rank)
    if not isinstance(kernel, str):
        values, vectors = spectrum(node_kernel(kernel, W, beta), _NEGLIGIBLE)
        V = (vectors * np.sqrt(values))[:, ::-1]
        V = V if rank in (None, "auto") else V[:, :rank]
    else:
        V = _of_graph(_check_kernel(kernel, beta), read_graph(W, "W"), beta, rank, random_state)
    V = V if V.shape[1] else np.zeros((len(V), 1))  # of the kernel that is zero
    return V - V.mean(axis=0) if center else V


def _check_rank(rank):
    return rank if rank is None else check_number(rank, "rank", integer=True, choices=("auto",))


def _check_kernel(kernel, beta):
    check_number(beta, "beta", strict=False)
    return check_choice(kernel, "output_kernel", NODE_KERNELS)


def _of_graph(kernel, W, beta, rank, random_state):
    n, components = W.shape[0], ConnectedComponents(W)
    if rank == "auto":
        rank = components.number + max(_COLUMNS, n // _SHARE, components.number)
        rank = None if n <= _EXACT or rank > n / 2 else rank
    normalized = kernel == "normalized_laplacian"

    def root(values):
        """Of the kernel's eigenvalues, from those of the Laplacian."""
        return (1 + beta * values) ** -0.5 if normalized else np.exp(-beta / 2 * values)

    if rank is None:
        return _exactly(W, components, normalized, root)
    kept = components.largest(max(1, rank // 2))
    nodes = np.flatnonzero(np.isin(components.labels, kept))
    W = W[nodes][:, nodes]
    leading = _leading if rank < len(nodes) / _DENSE else _exactly
    found = leading(W, ConnectedComponents(W), normalized, root, rank, check_random_state(random_state))
    V = np.zeros((n, found.shape[1]))
    V[nodes] = found
    return V


class ConnectedComponents:
    """Connected components of a graph: their number, the label (n,) of each node, and their sizes."""

    def __init__(self, W):
        self.number, self.labels = scipy.sparse.csgraph.connected_components(W, directed=False)
        self.sizes = np.bincount(self.labels)

    def largest(self, most):
        """The labels of the largest components, at most so many, largest first."""
        return np.argsort(-self.sizes, kind="stable")[:most]

    def constants(self, W, normalized):
        """Orthonormal eigenvectors (n, number) of the Laplacian's eigenvalue 0, sparse."""
        n = len(self.labels)
        squares = np.asarray(W.sum(axis=1)) if normalized else np.ones(n)
        squares = np.where(self.sizes[self.labels] == 1, 1.0, squares)
        lengths = np.sqrt(np.bincount(self.labels, weights=squares))
        entries = np.sqrt(squares) / lengths[self.labels]
        return scipy.sparse.csr_array((entries, (np.arange(n), self.labels)), shape=(n, self.number))


def _exactly(W, components, normalized, root, rank=None, rng=None):
    """All eigenvectors (n, d), or the leading ones, each times the root of its eigenvalue, component by component."""
    n = W.shape[0]
    constants, columns, values = components.constants(W, normalized).toarray(), [], [np.zeros(components.number)]
    order = np.argsort(components.labels, kind="stable")
    for nodes in np.split(order, np.cumsum(components.sizes)[:-1]):
        if len(nodes) > 1:
            L = laplacian(W[nodes][:, nodes], normalized).toarray()
            constant = constants[nodes, components.labels[nodes[0]], None]
            L += (2 * np.abs(L).sum(axis=1).max()) * (
                constant @ constant.T
            )  # beyond all others by Gershgorin's circles
            own, vectors = scipy.linalg.eigh(L, driver="evd", overwrite_a=True, check_finite=False)
            own, vectors = np.maximum(own[:-1], 0.0), vectors[:, :-1]  # without the constant
            kept = root(own) ** 2 > _NEGLIGIBLE
            column = np.zeros((n, np.count_nonzero(kept)))
            column[nodes] = vectors[:, kept] * root(own[kept])
            columns.append(column)
            values.append(own[kept])
    order = np.argsort(np.concatenate(values), kind="stable")[:rank]
    return np.hstack([constants, *columns])[:, order]


def _leading(W, components, normalized, root, rank, rng):
    """About the leading eigenvectors (n, rank), each times the root of its eigenvalue.

    Subspace iteration with Chebyshev polynomials (Zhou, Saad, Tiago & Chelikowsky 2006), which takes products with the
    Laplacian only: ARPACK is slow for hundreds of eigenvectors, and factors of the Laplacians of networks are full.
    Eigenvectors near the last ones need not have converged, since nothing sets those apart from the next. The constants
    of components are known, and taken out.
    """
    L, constants = laplacian(W, normalized), components.constants(W, normalized)
    number = rank - components.number
    size = min(W.shape[0] - components.number, int(_SPARE * number) + 10)
    upper = float(abs(L).sum(axis=1).max())  # by Gershgorin's circles

    def without_constants(V):
        V -= constants @ (constants.T @ V)
        return V

    # Of the smallest eigenvalues the sum is at most that of the smallest diagonal entries.
    cut, trace = float(np.sort(L.diagonal())[size - 1]), 0.0
    V, values = rng.normal(size=(W.shape[0], size)), np.zeros(size)
    for _ in range(_ROUNDS):
        filtered = partial(_filtered, L, min(cut, upper / 2), upper)
        parts = np.array_split(without_constants(V), -(-size // _AT_ONCE), axis=1)
        V = without_constants(np.hstack(side_by_side(filtered, parts)))
        with threads_for(size):
            V = scipy.linalg.qr(V, mode="economic", overwrite_a=True, check_finite=False)[0]
            image = L @ V + constants @ (upper * (constants.T @ V))  # what rounding left of the constants goes last
            values, rotation = scipy.linalg.eigh(V.T @ image, driver="evd", overwrite_a=True, check_finite=False)
            V = V @ rotation
        cut, before = float(values[-1]), trace
        trace = float((root(values[:number]) ** 2).sum())
        if trace - before <= _TOLERANCE * trace:
            break
    return np.hstack([constants.toarray(), V[:, :number] * root(values[:number])])


def _filtered(L, cut, upper, V):
    """A Chebyshev polynomial of L that is at most 1 between cut and upper, and grows below, times V (m, k).

    With a cut of at most half of upper, values are below 1e31 and nothing overflows.
    """
    middle, half = (upper + cut) / 2, (upper - cut) / 2
    twice = scipy.sparse.csr_array((L - middle * scipy.sparse.eye_array(L.shape[0])) * (2 / half))
    before, V = V, (twice @ V) / 2
    for _ in range(_DEGREE - 1):
        after = twice @ V
        after -= before
        before, V = V, after
    return V
