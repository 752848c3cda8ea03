"""Embedding of the nodes of a graph: vectors whose inner products are a kernel of the nodes."""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.csgraph
from sklearn.utils import check_random_state

from .._utils.linalg import spectrum
from .._utils.threads import map_in_threads, threads_for
from .._utils.validation import check_choice, check_number
from ..data.graphs import laplacian, read_graph
from .graph import NODE_KERNELS, node_kernel

_EXACT_NODES = 1000  # nodes up to which rank="auto" keeps the exact kernel
# Columns of rank="auto" beyond that, besides one for each component: at least
# _LEAST_COLUMNS, and one for each _NODES_PER_COLUMN nodes.
# Twice as many columns take twice the memory and four times the time.
_LEAST_COLUMNS, _NODES_PER_COLUMN = 400, 8
_NEGLIGIBLE = 1e-10  # eigenvalues of the kernel, relative to the largest, that are treated as zero
_DEGREE = 40  # degree of the Chebyshev polynomial; a larger one needs fewer rounds, each of which takes longer
_SPARE = 1.1  # columns iterated for each eigenvector that is computed
_BLOCK_COLUMNS = 32  # columns filtered at once, so that they fit in the cache
_DENSE = 3  # nodes for each column below which dense eigenvectors are faster
_TOLERANCE = 1e-4  # relative gain in the kernel's trace below which the iteration stops
_ROUNDS = 20  # largest number of rounds


def node_embedding(kernel, W, beta=1.0, *, rank="auto", center=False, random_state=0):
    """Compute vectors of the nodes of a graph whose inner products are a kernel, exactly or approximately.

    Each connected component has one eigenvector of the largest eigenvalue, which carries no information about links
    inside the component. If there are more than d / 2 components, the smallest ones are left out, isolated nodes first,
    and the rows of their nodes are zero.

    Parameters
    ----------
    kernel : {"diffusion", "normalized_laplacian"} or array of shape (n, n)
        As for ``node_kernel``.
    W : array or sparse matrix of shape (n, n), edge list, data frame or networkx graph
        The graph.
    beta : float, default=1.0
        As for ``node_kernel``.
    rank : int, None or "auto", default="auto"
        A number d of leading eigenvectors; None for the exact kernel. "auto" is exact up to 1000 nodes; beyond that it
        uses a number of eigenvectors that predicts links equally well, if it is less than half the number of nodes.
    center : bool, default=False
        Whether to subtract the mean of the rows, which centres the kernel.
    random_state : int, RandomState instance or None, default=0
        Seed of the start vectors of the eigenvector iteration.

    Returns
    -------
    V : array of shape (n, d)
        One row for each node, with ``V V' = node_kernel(kernel, W, beta)`` up to the rank. Columns are in descending
        order of eigenvalues.

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
        V = _embed_graph(_check_kernel(kernel, beta), read_graph(W, "W"), beta, rank, random_state)
    V = V if V.shape[1] else np.zeros((len(V), 1))  # the kernel is zero
    return V - V.mean(axis=0) if center else V


def _check_rank(rank):
    """Raise an error unless rank is None, "auto" or an integer > 0."""
    return rank if rank is None else check_number(rank, "rank", integer=True, choices=("auto",))


def _check_kernel(kernel, beta):
    """Raise an error unless kernel is a known name and beta >= 0."""
    check_number(beta, "beta", strict=False)
    return check_choice(kernel, "output_kernel", NODE_KERNELS)


def _embed_graph(kernel, W, beta, rank, random_state):
    """Rows (n, d) of a named kernel of a graph W."""
    n, components = W.shape[0], ConnectedComponents(W)
    if rank == "auto":
        rank = components.number + max(_LEAST_COLUMNS, n // _NODES_PER_COLUMN, components.number)
        rank = None if n <= _EXACT_NODES or rank > n / 2 else rank
    normalized = kernel == "normalized_laplacian"

    def root(values):
        """Roots of the eigenvalues of the kernel, from the eigenvalues of the Laplacian."""
        return (1 + beta * values) ** -0.5 if normalized else np.exp(-beta / 2 * values)

    if rank is None:
        return _dense_eigenvectors(W, components, normalized, root)
    largest = components.largest(max(1, rank // 2))
    nodes = np.flatnonzero(np.isin(components.labels, largest))
    W = W[nodes][:, nodes]
    eigenvectors = _iterated_eigenvectors if rank < len(nodes) / _DENSE else _dense_eigenvectors
    rows = eigenvectors(W, ConnectedComponents(W), normalized, root, rank, check_random_state(random_state))
    V = np.zeros((n, rows.shape[1]))
    V[nodes] = rows
    return V


class ConnectedComponents:
    """Connected components of a graph: their number, the labels (n,) of the nodes, and their sizes."""

    def __init__(self, W):
        self.number, self.labels = scipy.sparse.csgraph.connected_components(W, directed=False)
        self.sizes = np.bincount(self.labels)

    def largest(self, number):
        """Labels of at most `number` components, the largest first."""
        return np.argsort(-self.sizes, kind="stable")[:number]

    def constants(self, W, normalized):
        """Sparse orthonormal eigenvectors (n, number) of the eigenvalue 0 of the Laplacian."""
        n = len(self.labels)
        squares = np.asarray(W.sum(axis=1)) if normalized else np.ones(n)
        squares = np.where(self.sizes[self.labels] == 1, 1.0, squares)
        lengths = np.sqrt(np.bincount(self.labels, weights=squares))
        entries = np.sqrt(squares) / lengths[self.labels]
        return scipy.sparse.csr_array((entries, (np.arange(n), self.labels)), shape=(n, self.number))


def _dense_eigenvectors(W, components, normalized, root, rank=None, rng=None):
    """All or the leading eigenvectors (n, d) times the roots of their eigenvalues, computed for each component."""
    n = W.shape[0]
    constants, columns, values = components.constants(W, normalized).toarray(), [], [np.zeros(components.number)]
    order = np.argsort(components.labels, kind="stable")
    for nodes in np.split(order, np.cumsum(components.sizes)[:-1]):
        if len(nodes) > 1:
            L = laplacian(W[nodes][:, nodes], normalized).toarray()
            constant = constants[nodes, components.labels[nodes[0]], None]
            # the constant gets the largest eigenvalue, by Gershgorin's theorem
            L += (2 * np.abs(L).sum(axis=1).max()) * (constant @ constant.T)
            eigenvalues, vectors = scipy.linalg.eigh(L, driver="evd", overwrite_a=True, check_finite=False)
            eigenvalues, vectors = np.maximum(eigenvalues[:-1], 0.0), vectors[:, :-1]  # without the constant
            significant = root(eigenvalues) ** 2 > _NEGLIGIBLE
            block = np.zeros((n, np.count_nonzero(significant)))
            block[nodes] = vectors[:, significant] * root(eigenvalues[significant])
            columns.append(block)
            values.append(eigenvalues[significant])
    order = np.argsort(np.concatenate(values), kind="stable")[:rank]
    return np.hstack([constants, *columns])[:, order]


def _iterated_eigenvectors(W, components, normalized, root, rank, rng):
    """Approximate leading eigenvectors (n, rank) times the roots of their eigenvalues.

    Subspace iteration with Chebyshev polynomials (Zhou, Saad, Tiago & Chelikowsky 2006) needs only products with the
    Laplacian. ARPACK is slow for hundreds of eigenvectors, and factors of Laplacians of networks are dense. The last
    eigenvectors need not converge, because no gap separates them from the following ones. The constant vectors of the
    components are known and projected out.
    """
    L, constants = laplacian(W, normalized), components.constants(W, normalized)
    number = rank - components.number
    size = min(W.shape[0] - components.number, int(_SPARE * number) + 10)
    upper = float(abs(L).sum(axis=1).max())  # by Gershgorin's theorem

    def without_constants(V):
        V -= constants @ (constants.T @ V)
        return V

    # The sum of the smallest eigenvalues is at most the sum of the smallest diagonal entries.
    cut, trace = float(np.sort(L.diagonal())[size - 1]), 0.0
    V, values = rng.normal(size=(W.shape[0], size)), np.zeros(size)
    for _ in range(_ROUNDS):
        apply_filter = partial(_apply_filter, L, min(cut, upper / 2), upper)
        parts = np.array_split(without_constants(V), -(-size // _BLOCK_COLUMNS), axis=1)
        V = without_constants(np.hstack(map_in_threads(apply_filter, parts)))
        with threads_for(size):
            V = scipy.linalg.qr(V, mode="economic", overwrite_a=True, check_finite=False)[0]
            # remainders of the constants get the largest eigenvalue
            image = L @ V + constants @ (upper * (constants.T @ V))
            values, rotation = scipy.linalg.eigh(V.T @ image, driver="evd", overwrite_a=True, check_finite=False)
            V = V @ rotation
        cut, last_trace = float(values[-1]), trace
        trace = float((root(values[:number]) ** 2).sum())
        if trace - last_trace <= _TOLERANCE * trace:
            break
    return np.hstack([constants.toarray(), V[:, :number] * root(values[:number])])


def _apply_filter(L, cut, upper, V):
    """Apply a Chebyshev polynomial of L to V (m, k) that is at most 1 on [cut, upper] and grows below cut.

    If cut is at most half of upper, values are below 1e31 and do not overflow.
    """
    middle, half = (upper + cut) / 2, (upper - cut) / 2
    scaled = scipy.sparse.csr_array((L - middle * scipy.sparse.eye_array(L.shape[0])) * (2 / half))
    previous, V = V, (scaled @ V) / 2
    for _ in range(_DEGREE - 1):  # T_{k+1}(x) = 2 x T_k(x) - T_{k-1}(x)
        new = scaled @ V
        new -= previous
        previous, V = V, new
    return V
