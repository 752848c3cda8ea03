"""Kernels of the nodes of a graph, graphs of samples, and graph penalties."""

from __future__ import annotations

import inspect

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.base import BaseEstimator

from .._utils.blocks import rows_at_once, slices
from .._utils.validation import check_choice, check_memory, check_number, check_symmetric_psd
from ..data.graphs import is_networkx, laplacian, read_weights

_ENTRIES = 2**22  # entries of features that are read at once, 32 MB
_DENSE = 0.2  # share of linked pairs above which products with a dense matrix are faster than with a sparse one
NODE_KERNELS = ("diffusion", "normalized_laplacian")
_SMOOTHER_SETTINGS = {"iterated": "k", "diffusion": "t", "diffusion_kernel": "t"}  # letters for error messages


def diffusion_kernel(W, beta=1.0, normalized=False):
    """Compute the diffusion kernel ``exp(-beta L)`` (n, n) of the nodes of a graph (Kondor and Lafferty 2002).

    W : a graph in any form that ``read_graph`` takes
    """
    check_number(beta, "beta", strict=False)
    return _spectral_function(lambda values: np.exp(-beta * values), laplacian(read_weights(W, "W"), normalized))


def node_kernel(kernel, W, beta=1.0):
    """Compute the Gram matrix of the nodes of a graph.

    Parameters
    ----------
    kernel : {"diffusion", "normalized_laplacian"} or array of shape (n, n)
        "diffusion" for ``exp(-beta L)``, "normalized_laplacian" for ``(I + beta L)^-1`` of the normalised Laplacian, or
        a positive semi-definite matrix, which is checked and returned.
    W : array or sparse matrix of shape (n, n), edge list, data frame or networkx graph
        The graph; weights of links are used.
    beta : float, default=1.0
        Range of the kernel along the links; at 0 the kernel is the identity.

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
    return _spectral_function(lambda values: 1 / (1 + beta * values), laplacian(W, normalized=True))


def _spectral_function(function, L):
    """Apply a function to the eigenvalues of a symmetric matrix L (n, n)."""
    L = L.toarray() if scipy.sparse.issparse(L) else L
    values, vectors = scipy.linalg.eigh(L, driver="evd", check_finite=False)
    return (vectors * function(values)) @ vectors.T


class Affinity(BaseEstimator):
    """Graph of samples whose weights are kernel values, and the penalty of functions on this graph.

    It is the setting ``graph`` of estimators that learn from unlabelled samples. Any object with a method
    ``penalty(K)`` can be used instead, which returns a positive semi-definite matrix (n, n), dense or sparse, for the
    Gram matrix K (n, n) of the samples of a fit. With a ``feature_map`` it gets ``K = Z Z'``, or the features Z if it
    has a parameter ``on_features``.

    Parameters
    ----------
    n_neighbors : int, float or None, default=10
        Number of nearest neighbours, in the distance of the kernel, to which each sample is linked; a float below 1 is
        a fraction of the samples; None links all pairs.
    smoother : str or tuple, default="laplacian"
        The matrix S of the penalty ``sum_ij S_ij <h(x_i), h(x_j)>``: "laplacian", "normalized", ("iterated", k) for the
        k-th power of the Laplacian, ("diffusion", t) for ``I - exp(-t L)``, or ("diffusion_kernel", t) for
        ``exp(-t L)``, the penalty of Brouard et al. 2016. The last one penalises smooth functions: on a well connected
        graph, only the mean of the function.

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
        """Raise an error if a setting is out of range."""
        if self.n_neighbors is not None and not _is_fraction(self.n_neighbors):
            check_number(self.n_neighbors, "Affinity: n_neighbors", integer=True)
        kind, setting = self._smoother()
        if kind in _SMOOTHER_SETTINGS:
            letter = _SMOOTHER_SETTINGS[kind]
            check_number(setting, f"Affinity: smoother ('{kind}', {letter}): {letter}", integer=kind == "iterated")

    def penalty(self, K, on_features=False):
        """Compute the penalty matrix of the graph of samples.

        Parameters
        ----------
        K : array of shape (n, n), or (n, r) if `on_features`
            Gram matrix of the samples, or their features.
        on_features : bool, default=False
            Whether K holds features.

        Returns
        -------
        S : array or sparse matrix of shape (n, n)
            Positive semi-definite; sparse if the graph and its smoother are.
        """
        return self.smoother_matrix(self.feature_graph(K) if on_features else self.graph(K))

    def smoother_matrix(self, W):
        """Compute the penalty matrix of a given graph.

        Parameters
        ----------
        W : array or sparse matrix of shape (n, n)
            Weights of the links.

        Returns
        -------
        S : array or sparse matrix of shape (n, n)
            Positive semi-definite.
        """
        kind, setting = self._smoother()
        if kind == "diffusion_kernel":
            return diffusion_kernel(W, setting)
        if kind == "diffusion":
            return np.eye(W.shape[0]) - diffusion_kernel(W, setting)
        return laplacian(W, normalized=kind == "normalized", power=setting if kind == "iterated" else 1)

    def graph(self, K):
        """Compute the graph of samples: positive kernel values between neighbours.

        Parameters
        ----------
        K : array of shape (n, n)
            Gram matrix of the samples.

        Returns
        -------
        W : array or sparse matrix of shape (n, n)
            Weights of the links; sparse unless all pairs are linked.
        """
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
        return _graph_from_links(rows, columns, K[rows, columns], n)

    def feature_graph(self, Z):
        """Compute the same graph from features, without the Gram matrix unless all pairs are linked.

        Parameters
        ----------
        Z : array of shape (n, r)
            Features with ``K = Z Z'``.

        Returns
        -------
        W : array or sparse matrix of shape (n, n)
            Weights of the links.
        """
        n = len(Z)
        if self.n_neighbors is None:
            name = f"Affinity: n_neighbors=None: the links of all pairs of {n} samples"
            check_memory(n, 2, name, "give a number of neighbours, such as n_neighbors=10")
        if self.n_neighbors is None or n == 1:
            return self.graph(Z @ Z.T)
        rows, columns = self._links(Z)
        parts = slices(len(rows), rows_at_once(Z.shape[1], most=_ENTRIES))
        values = [np.einsum("ij,ij->i", Z[rows[part]], Z[columns[part]]) for part in parts]
        return _graph_from_links(rows, columns, np.concatenate(values), n)

    def _links(self, points, **options):
        """Indices (l,) and (l,) of n > 1 samples and their neighbours; options are passed to ``kneighbors_graph``."""
        from sklearn.neighbors import kneighbors_graph  # slow to import

        n, k = len(points), self.n_neighbors
        k = max(1, round(k * n)) if _is_fraction(k) else k
        return kneighbors_graph(points, min(k, n - 1), **options).tocoo().coords

    def _smoother(self):
        """Name and setting of the smoother."""
        smoother = self.smoother
        if isinstance(smoother, str) and smoother in ("laplacian", "normalized"):
            return smoother, None
        if isinstance(smoother, (tuple, list)) and len(smoother) == 2 and smoother[0] in _SMOOTHER_SETTINGS:
            return smoother[0], smoother[1]
        known = ", ".join(f"('{kind}', {letter})" for kind, letter in _SMOOTHER_SETTINGS.items())
        raise ValueError(f"Affinity: unknown smoother {smoother!r}; known: laplacian, normalized, {known}")


def _graph_from_links(rows, columns, values, n):
    """Sparse symmetric weights (n, n) from values (l,) of directed links; negative values are dropped."""
    W = scipy.sparse.csr_array((np.maximum(values, 0.0), (rows, columns)), shape=(n, n))
    W = W.maximum(W.T)
    W.eliminate_zeros()
    return W


def _is_fraction(value):
    """Whether a number of neighbours is a share of the samples."""
    return isinstance(value, (float, np.floating)) and 0 < value < 1


def computes_penalty(graph) -> bool:
    """Whether the setting ``graph`` of an estimator is an object that computes its penalty from the samples."""
    return callable(getattr(graph, "penalty", None))


def check_graph(graph, n):
    """Check the setting ``graph`` of an estimator; return an object with ``penalty``, or weights (n, n)."""
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
    """Compute the penalty matrix (N, N) of N samples with Gram matrix K.

    rows : (N,) nodes of the samples in a given graph
    on_features : whether K holds features (N, r)
    """
    if computes_penalty(graph):
        return in_faster_format(_penalty(graph, K, on_features))
    W = graph if len(rows) == graph.shape[0] else graph[rows][:, rows]
    return laplacian(in_faster_format(W))


def _penalty(graph, K, on_features):
    """The result of ``graph.penalty`` for a Gram matrix or features K, checked unless it comes from ``Affinity``."""
    if on_features and "on_features" in inspect.signature(graph.penalty).parameters:
        S = graph.penalty(K, on_features=True)
    else:
        if on_features:
            name = f"graph.penalty(K): the Gram matrix of {len(K)} samples"
            check_memory(len(K), 2, name, "give the weights as a sparse matrix, or kernels.Affinity")
        S = graph.penalty(K @ K.T if on_features else K)
    return S if type(graph) is Affinity else _check_penalty(S, len(K), dense=not on_features)


def _check_penalty(S, n, dense):
    """Check that the matrix S of a user's graph is (n, n), finite, symmetric and positive semi-definite.

    dense : whether memory allows a dense copy of a sparse S, without which symmetry and eigenvalues are not checked
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


def in_faster_format(W):
    """The matrix in the format, sparse or dense, whose products are faster; powers of sparse Laplacians are dense."""
    sparse = scipy.sparse.issparse(W)
    is_full = (W.nnz if sparse else np.count_nonzero(W)) > _DENSE * W.shape[0] ** 2
    if sparse and is_full:
        return W.toarray()
    return W if sparse or is_full else scipy.sparse.csr_array(W)
