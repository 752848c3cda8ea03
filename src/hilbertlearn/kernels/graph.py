"""Kernels of the nodes of a graph, and graphs of samples from their kernel."""

from __future__ import annotations

import inspect

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.base import BaseEstimator

from .._utils.blocks import rows_at_once, slices
from .._utils.validation import check_choice, check_memory, check_number, check_symmetric_psd
from ..data.graphs import is_networkx, laplacian, read_weights

_ENTRIES = 2**22  # of features at a time
_DENSE = 0.2  # share of pairs that are linked beyond which products with a dense matrix are faster
_FEWER_LINKS = "give a number of neighbours, such as n_neighbors=10"
_NO_GRAM_MATRIX = "give the weights as a sparse matrix, or kernels.Affinity"
NODE_KERNELS = ("diffusion", "normalized_laplacian")
_SETTINGS = {"iterated": "k", "diffusion": "t", "diffusion_kernel": "t"}  # of the smoothers that have one


def diffusion_kernel(W, beta=1.0, normalized=False):
    """Diffusion kernel ``exp(-beta L)`` (n, n) of the nodes of a graph (Kondor and Lafferty 2002).

    W : a graph in any form that ``graphs.read_graph`` takes
    """
    check_number(beta, "beta", strict=False)
    return _of_eigenvalues(lambda values: np.exp(-beta * values), laplacian(read_weights(W, "W"), normalized))


def node_kernel(kernel, W, beta=1.0):
    """Gram matrix of the nodes of a graph.

    Parameters
    ----------
    kernel : {"diffusion", "normalized_laplacian"} or array of shape (n, n)
        "diffusion" for ``exp(-beta L)``, "normalized_laplacian" for ``(I + beta L)^-1`` of the normalised Laplacian, or
        a positive semi-definite matrix, which is checked and used as it is.
    W : array or sparse matrix of shape (n, n), edge list, data frame or networkx graph
        The graph; weights of links count.
    beta : float, default=1.0
        How far along the links nodes are alike; at 0 no two nodes are.

    Returns
    -------
    K : array of shape (n, n)
        Values of the kernel between all nodes.

    References
    ----------
    - Kondor and Lafferty (2002). Diffusion kernels on graphs and other discrete input spaces. ICML.
    - Smola and Kondor (2003). Kernels and regularization on graphs. COLT.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import kernels
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])  # 0 - 1 - 2
    >>> kernels.node_kernel("diffusion", path, beta=1.0).round(2)
    array([[0.53, 0.32, 0.16],
           [0.32, 0.37, 0.32],
           [0.16, 0.32, 0.53]])
    """
    W = read_weights(W, "W")
    if not isinstance(kernel, str):
        K = check_symmetric_psd(kernel, "output_kernel", f"give one of {', '.join(NODE_KERNELS)}, or a PSD matrix")
        if len(K) != W.shape[0]:
            raise ValueError(
                f"output_kernel has shape {K.shape} for {W.shape[0]} nodes; give one row and column a node"
            )
        return K
    check_choice(kernel, "output_kernel", NODE_KERNELS)
    check_number(beta, "beta", strict=False)
    if kernel == "diffusion":
        return diffusion_kernel(W, beta)
    return _of_eigenvalues(lambda values: 1 / (1 + beta * values), laplacian(W, normalized=True))


def _of_eigenvalues(function, L):
    """The matrix (n, n) with the eigenvectors of the symmetric L and a function of its eigenvalues."""
    L = L.toarray() if scipy.sparse.issparse(L) else L
    values, vectors = scipy.linalg.eigh(L, driver="evd", check_finite=False)
    return (vectors * function(values)) @ vectors.T


class Affinity(BaseEstimator):
    """The graph of samples whose weights are kernel values, and what a function is penalised by on it.

    It is the ``graph`` of estimators that learn from unlabelled samples too. So is any object with a method
    ``penalty(K)`` that returns a PSD matrix (n, n), dense or sparse, for the Gram matrix K (n, n) of the samples of a
    fit. With a ``feature_map`` it gets ``K = Z Z'``, or the features Z themselves if it also takes ``on_features``.

    Parameters
    ----------
    n_neighbors : int, float or None, default=10
        Links of each sample to its nearest neighbours in the kernel's space: a number, a fraction of the samples (a
        float below 1), or None for all pairs.
    smoother : str or tuple, default="laplacian"
        The PSD matrix S of the penalty ``sum_ij S_ij <h(x_i), h(x_j)>``: "laplacian", "normalized", ("iterated", k) for
        the k-th power of the Laplacian, ("diffusion", t) for ``I - exp(-t L)``, or ("diffusion_kernel", t) for ``exp(-t
        L)`` itself, the penalty of Brouard et al. 2016. That one penalises what is smooth: on a graph whose nodes are
        all linked well, the mean of the function and nothing else.

    References
    ----------
    - Belkin, Niyogi and Sindhwani (2006). Manifold regularization: a geometric framework for learning from labeled and
      unlabeled examples. Journal of Machine Learning Research 7.
    - Brouard, Szafranski and d'Alché-Buc (2016). Input output kernel regression. Journal of Machine Learning Research
      17.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import kernels
    >>> K = np.array([[1.0, 0.8, 0.1], [0.8, 1.0, 0.5], [0.1, 0.5, 1.0]])
    >>> kernels.Affinity(n_neighbors=1).graph(K).toarray()
    array([[0. , 0.8, 0. ],
           [0.8, 0. , 0.5],
           [0. , 0.5, 0. ]])
    >>> kernels.Affinity(n_neighbors=1).penalty(K).toarray()
    array([[ 0.8, -0.8,  0. ],
           [-0.8,  1.3, -0.5],
           [ 0. , -0.5,  0.5]])
    """

    def __init__(self, n_neighbors=10, smoother="laplacian"):
        self.n_neighbors, self.smoother = n_neighbors, smoother

    def validate(self):
        """Raise where a setting is out of range."""
        if self.n_neighbors is not None and not _is_fraction(self.n_neighbors):
            check_number(self.n_neighbors, "Affinity: n_neighbors", integer=True)
        kind, setting = self._smoother()
        if kind in _SETTINGS:
            letter = _SETTINGS[kind]
            check_number(setting, f"Affinity: smoother ('{kind}', {letter}): {letter}", integer=kind == "iterated")

    def penalty(self, K, on_features=False):
        """The matrix S (n, n) for samples with Gram matrix K (n, n); sparse where the graph is and S stays so.

        on_features : K are features (n, r) in its place
        """
        return self.smoothed(self.feature_graph(K) if on_features else self.graph(K))

    def smoothed(self, W):
        """The matrix S (n, n) of a graph W (n, n)."""
        kind, setting = self._smoother()
        if kind == "diffusion_kernel":
            return diffusion_kernel(W, setting)
        if kind == "diffusion":
            return np.eye(W.shape[0]) - diffusion_kernel(W, setting)
        return laplacian(W, normalized=kind == "normalized", power=setting if kind == "iterated" else 1)

    def graph(self, K):
        """Weights (n, n): positive kernel values between neighbours, sparse unless all pairs are."""
        n = len(K)
        if self.n_neighbors is None:
            W = np.maximum(K, 0.0)
            np.fill_diagonal(W, 0.0)
            return W
        if n == 1:
            return scipy.sparse.csr_array((1, 1))
        squares = np.diagonal(K)
        distances = np.maximum(squares[:, None] + squares - 2 * K, 0.0)
        np.fill_diagonal(distances, 0.0)
        rows, columns = self._links(distances, metric="precomputed")
        return _of_links(rows, columns, K[rows, columns], n)

    def feature_graph(self, Z):
        """The same weights from features Z (n, r) with ``K = Z Z'``, without forming K unless all pairs are linked."""
        n = len(Z)
        if self.n_neighbors is None:
            check_memory(n, 2, f"Affinity: n_neighbors=None: the links of all pairs of {n} samples", _FEWER_LINKS)
        if self.n_neighbors is None or n == 1:
            return self.graph(Z @ Z.T)
        rows, columns = self._links(Z)
        parts = slices(len(rows), rows_at_once(Z.shape[1], most=_ENTRIES))
        values = [np.einsum("ij,ij->i", Z[rows[part]], Z[columns[part]]) for part in parts]
        return _of_links(rows, columns, np.concatenate(values), n)

    def _links(self, points, **options):
        """Positions (l,) and (l,) of each of n > 1 samples and its neighbours; options : of ``kneighbors_graph``."""
        from sklearn.neighbors import kneighbors_graph  # slow to import, and for this alone

        n, k = len(points), self.n_neighbors
        k = max(1, round(k * n)) if _is_fraction(k) else k
        return kneighbors_graph(points, min(k, n - 1), **options).tocoo().coords

    def _smoother(self):
        """Kind and setting."""
        smoother = self.smoother
        if isinstance(smoother, str) and smoother in ("laplacian", "normalized"):
            return smoother, None
        if isinstance(smoother, (tuple, list)) and len(smoother) == 2 and smoother[0] in _SETTINGS:
            return smoother[0], smoother[1]
        known = ", ".join(f"('{kind}', {letter})" for kind, letter in _SETTINGS.items())
        raise ValueError(f"Affinity: unknown smoother {smoother!r}; known: laplacian, normalized, {known}")


def _of_links(rows, columns, values, n):
    """Sparse weights (n, n): positive values (l,) of links, between neighbours of either."""
    W = scipy.sparse.csr_array((np.maximum(values, 0.0), (rows, columns)), shape=(n, n))
    W = W.maximum(W.T)
    W.eliminate_zeros()
    return W


def _is_fraction(value):
    return isinstance(value, (float, np.floating)) and 0 < value < 1


def computes_penalty(graph) -> bool:
    """Whether the setting ``graph`` of an estimator computes its penalty from the samples of each fit."""
    return callable(getattr(graph, "penalty", None))


def check_graph(graph, n):
    """The setting ``graph`` of an estimator for n samples, checked: an object with ``penalty``, or weights (n, n)."""
    if graph is None:
        return Affinity()
    if isinstance(graph, (type, str)):
        raise TypeError(
            f"graph must be kernels.Affinity(...), an object with penalty(K), a matrix (n, n) or None, got {graph!r}"
        )
    if computes_penalty(graph):
        if isinstance(graph, Affinity):
            graph.validate()
        return graph
    if is_networkx(graph) and set(graph) != set(range(len(graph))):
        raise ValueError(
            "graph has nodes with names, and in which order they are the samples is not known; give "
            "nx.to_numpy_array(graph, nodelist=names), in the order of the rows of X"
        )
    W = read_weights(graph, "graph")
    if W.shape[0] != n:
        raise ValueError(
            f"graph has {W.shape[0]} nodes and X {n} samples, labelled and unlabelled; give one row a sample, "
            "or kernels.Affinity, which is made from the samples of each fit"
        )
    return W


def graph_penalty(graph, K, rows, on_features=False):
    """The PSD matrix (N, N) of the penalty on N samples with Gram matrix K; those are rows of a graph that is given.

    on_features : K are features (N, r) in its place
    """
    if computes_penalty(graph):
        return sparse_or_dense(_penalty(graph, K, on_features))
    W = graph if len(rows) == graph.shape[0] else graph[rows][:, rows]
    return laplacian(sparse_or_dense(W))


def _penalty(graph, K, on_features):
    """What ``graph.penalty`` returns for a Gram matrix K, or features, checked unless ``Affinity`` computed it."""
    if on_features and "on_features" in inspect.signature(graph.penalty).parameters:
        S = graph.penalty(K, on_features=True)
    else:
        if on_features:
            check_memory(len(K), 2, f"graph.penalty(K): the Gram matrix of {len(K)} samples", _NO_GRAM_MATRIX)
        S = graph.penalty(K @ K.T if on_features else K)
    return S if type(graph) is Affinity else _check_penalty(S, len(K), dense=not on_features)


def _check_penalty(S, n, dense):
    """The matrix S of a user's graph, after checking that it is (n, n), finite, symmetric and PSD.

    dense : whether there is room for a dense copy of a sparse S; otherwise it is taken to be symmetric and PSD
    """
    name, remedy = "graph.penalty(K)", "return a PSD matrix with a row for each row of K"
    sparse = scipy.sparse.issparse(S)
    S = scipy.sparse.csr_array(S, dtype=float) if sparse else np.asarray(S, dtype=float)
    if S.shape != (n, n):
        raise ValueError(f"{name} has shape {S.shape} for K of shape {(n, n)}; {remedy}")
    if not sparse:
        return check_symmetric_psd(S, name, remedy)
    if not np.isfinite(S.data).all():
        raise ValueError(f"{name} contains NaN or infinity; {remedy}")
    if dense:
        check_symmetric_psd(S.toarray(), name, remedy)
    return S


def sparse_or_dense(W):
    """The matrix in the form whose products are faster: powers of sparse Laplacians are full."""
    sparse = scipy.sparse.issparse(W)
    many = (W.nnz if sparse else np.count_nonzero(W)) > _DENSE * W.shape[0] ** 2
    if sparse and many:
        return W.toarray()
    return W if sparse or many else scipy.sparse.csr_array(W)
