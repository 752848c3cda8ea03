"""Generators of random networks with node features (Brouard et al. 2016, section 6.1.2, appendix C)."""

from __future__ import annotations

from inspect import getdoc

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.utils import Bunch, check_random_state

from .._utils.validation import check_number, check_symmetric_psd
from ..kernels import diffusion_kernel
from .synthetic import check_share

INERTIA_ROUNDING = 1e-12  # tolerance of a share of the sum of eigenvalues, for rounding


def make_erdos_renyi(n_nodes=700, density=0.01, *, inertia=0.95, beta=0.9, random_state=None):
    """A random graph in which each pair of nodes is linked with the same probability, independently of the others.

    Parameters
    ----------
    n_nodes : int, default=700
        Number of nodes.
    density : float, default=0.01
        Probability of a link; 0.007, 0.01 and 0.02 in the paper.
    inertia : float, default=0.95
        Share of the variance that the inputs keep; 0.75, 0.85, 0.95 and 1 in the paper.
    beta : float, default=0.9
        Diffusion parameter of the kernel ``exp(-beta L)``, with L the Laplacian. The paper selects beta by an
        information criterion that it does not state. The numbers of components in its table 8 imply beta of about 1.75,
        0.9 and 0.3 for the three densities, within 5 % for different graphs. With much larger beta, inputs contain
        little information on links.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    data : Bunch
        With DESCR, this text, and for n nodes

        - adjacency (n, n): 0/1, sparse and symmetric, no self-loops
        - X (n, n_components): inputs, by ``kernel_pca_inputs``
        - output_kernel (n, n): the diffusion kernel
        - beta: the parameter

    References
    ----------
    - Brouard, Szafranski and d'Alché-Buc (2016). Input output kernel regression: supervised and semi-supervised
      structured output prediction with operator-valued kernels. Journal of Machine Learning Research 17, table 8.
    - Erdős and Rényi (1959). On random graphs I. Publicationes Mathematicae Debrecen 6.

    Examples
    --------
    >>> from hilbertlearn import datasets
    >>> data = datasets.make_erdos_renyi(50, density=0.1, random_state=0)
    >>> data.adjacency.shape, len(data.X), data.output_kernel.shape
    ((50, 50), 50, (50, 50))
    """
    check_number(n_nodes, "n_nodes", low=1, integer=True)
    check_share(density, "density")
    one_class = np.zeros(n_nodes, dtype=int)
    return _network(one_class, density, 0.0, inertia, beta, random_state, DESCR=getdoc(make_erdos_renyi))


def make_mixture_network(
    n_nodes=700, n_classes=3, *, p_intra=0.02, p_inter=5e-4, inertia=0.95, beta=1.75, random_state=None
):
    """A random graph of classes: links are likelier within a class than between classes.

    Parameters
    ----------
    n_nodes : int, default=700
        Number of nodes.
    n_classes : int, default=3
        Number of classes; their sizes differ by one node at most.
    p_intra : float, default=0.02
        Probability of a link within a class; 0.02 or 0.03 in the paper.
    p_inter : float, default=0.0005
        Probability of a link between different classes; 5e-4 or 1e-3 in the paper.
    inertia : float, default=0.95
        As for ``make_erdos_renyi``.
    beta : float, default=1.75
        Diffusion parameter, which the paper does not state. The default graph has mean degree 4.9, as a graph without
        classes of density 0.007, and the default is the beta of that density. With p_intra = 0.03 the degree is that of
        density 0.01, with beta 0.9. The lower scores in table 9 of the paper correspond to larger beta: about 4
        (p_intra 0.02, p_inter 5e-4), 3.5 (0.02, 1e-3), 3.5 (0.03, 5e-4) and 2 (0.03, 1e-3).
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    data : Bunch
        As of ``make_erdos_renyi``, with DESCR, this text, and for n nodes

        - adjacency (n, n): 0/1, sparse and symmetric, no self-loops
        - X (n, n_components): inputs, by ``kernel_pca_inputs``
        - output_kernel (n, n): the diffusion kernel
        - beta: the parameter
        - target (n,): the classes, from 0, in order

    References
    ----------
    - Brouard, Szafranski and d'Alché-Buc (2016). Input output kernel regression: supervised and semi-supervised
      structured output prediction with operator-valued kernels. Journal of Machine Learning Research 17, appendix C.2
      and table 9.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import datasets
    >>> data = datasets.make_mixture_network(60, p_intra=0.3, p_inter=0.01, random_state=0)
    >>> np.bincount(data.target).tolist(), data.adjacency.shape
    ([20, 20, 20], (60, 60))
    """
    check_number(n_nodes, "n_nodes", low=1, integer=True)
    check_number(n_classes, "n_classes", integer=True)
    if n_classes > n_nodes:
        raise ValueError(f"n_classes must be at most n_nodes, {n_nodes}, got {n_classes}")
    check_share(p_intra, "p_intra")
    check_share(p_inter, "p_inter")
    target = np.arange(n_nodes) * n_classes // n_nodes
    fields = {"target": target, "DESCR": getdoc(make_mixture_network)}
    return _network(target, p_intra, p_inter, inertia, beta, random_state, **fields)


def kernel_pca_inputs(K, inertia=0.95):
    """Vectors whose inner products are the centred kernel, or its best approximation of lower rank: kernel PCA.

    With ``H = I - 1/n`` and the eigenvalues of ``H K H`` in descending order, the first eigenvectors are kept until the
    sum of their eigenvalues is the given share of the trace, each scaled by the root of its eigenvalue. Components that
    are zero but for rounding are never kept; so there are at most n - 1. Signs of components are arbitrary, distances
    are not.

    Parameters
    ----------
    K : array of shape (n, n)
        Positive semi-definite.
    inertia : float, default=0.95
        Share of the trace, above 0 and at most 1.

    Returns
    -------
    X : array of shape (n, n_components)
        One row for each row of K.

    References
    ----------
    - Schölkopf, Smola and Müller (1998). Nonlinear component analysis as a kernel eigenvalue problem. Neural
      Computation 10.
    - Brouard, Szafranski and d'Alché-Buc (2016). Input output kernel regression: supervised and semi-supervised
      structured output prediction with operator-valued kernels. Journal of Machine Learning Research 17.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import datasets
    >>> points = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    >>> X = datasets.kernel_pca_inputs(points @ points.T, inertia=1.0)
    >>> X.shape, round(float(np.linalg.norm(X[1] - X[2])), 6)
    ((3, 2), 5.0)
    """
    if not 0 < check_number(inertia, "inertia") <= 1:
        raise ValueError(f"inertia must be above 0 and at most 1, got {inertia}")
    K = check_symmetric_psd(K, "K", "give the Gram matrix of a kernel")
    means = K.mean(axis=0)
    values, vectors = scipy.linalg.eigh(K - means - means[:, None] + means.mean(), driver="evd", check_finite=False)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    rank = np.count_nonzero(values > len(K) * np.finfo(float).eps * max(values[0], np.abs(K).max()))
    if rank == 0:
        raise ValueError("K is constant: all inputs would be equal; give a kernel that tells samples apart")
    is_reached = np.cumsum(values) >= (inertia - INERTIA_ROUNDING) * values.sum()
    n_components = min(rank, 1 + int(is_reached.argmax()))
    return vectors[:, :n_components] * np.sqrt(values[:n_components])


def graph_from_edges(rows, columns, n_nodes):
    """The sparse symmetric adjacency matrix (n_nodes, n_nodes) of edges between rows[i] and columns[i]."""
    half = scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n_nodes, n_nodes))
    return (half + half.T).astype(bool).astype(float)


def _network(classes, p_intra, p_inter, inertia, beta, random_state, **fields):
    """Bunch of a random graph, whose links have probabilities that depend on the classes of nodes, and of inputs."""
    rows, columns = np.triu_indices(len(classes), k=1)
    probability = np.where(classes[rows] == classes[columns], p_intra, p_inter)
    is_linked = check_random_state(random_state).uniform(size=len(rows)) < probability
    adjacency = graph_from_edges(rows[is_linked], columns[is_linked], len(classes))
    kernel = diffusion_kernel(adjacency, beta)
    X = kernel_pca_inputs(kernel, inertia)
    return Bunch(adjacency=adjacency, X=X, output_kernel=kernel, beta=beta, **fields)
