"""Link prediction by similarity, by a learnt distance and by one classifier for each node (Brouard et al. 2016, 6.1.4).

All have methods of ``LinkPredictor``: ``fit(X, adjacency)``, ``decision_function(X)``, ``pair_scores(X, Z)`` and
``score(X, adjacency)``.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import KernelCenterer
from sklearn.utils.validation import check_is_fitted

from ... import kernels
from ..._utils.fitting import store, transactional
from ..._utils.linalg import spectrum
from ..._utils.naming import unnamed_in_errors
from ..._utils.validation import check_number
from ...data.graphs import laplacian
from ...links.inputs import LinkEstimator
from ...machine.inputs import check_inputs

RANK = 1e-10  # eigenvalues of a Gram matrix below this share of the largest count as zero: rounding is about 1e-15
_SAME = 1e-10  # nodes whose kernel values differ by less than this share of the largest value are the same node


@unnamed_in_errors
class LinkBaseline(LinkEstimator):
    """Base of the methods: reads nodes and graphs; a score compares the representations of two nodes.

    A subclass defines ``_learn(W)`` for the graph W (l, l) of the labelled nodes, and ``_represent(R)`` for kernel
    values R (m, n) with the training nodes: the l labelled nodes, or all n nodes of fit if it is `_transductive`. By
    default representations are values of learnt functions, and scores are their inner products.
    """

    _transductive = False

    def __init__(self, kernel="rbf", *, gamma="median", kernel_params=None):
        store(self, locals())

    @transactional
    def fit(self, X, y):
        """Fit to nodes and the graph of the first nodes.

        Parameters
        ----------
        X : array of shape (n, d)
            Inputs of the nodes, or their Gram matrix (n, n) for kernel="precomputed".
        y : graph
            The graph of l <= n nodes, in any form of ``LinkPredictor``, without hidden pairs.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        nodes = self._read_nodes(X, y)
        if nodes.X is None or nodes.graph.hidden.nnz:
            missing = "features X" if nodes.X is None else "a graph without hidden pairs"
            raise ValueError(f"{type(self).__name__} needs {missing}; LinkPredictor does not")
        X, W = nodes.X, nodes.graph.adjacency
        self._order_, self.n_labelled_ = nodes.order, W.shape[0]
        training = slice(None if self._transductive else self.n_labelled_)
        self.X_fit_ = X[training, training] if kernels.is_precomputed(self.kernel) else X[training]
        self._kernel_ = kernels.InputKernel.from_settings(self.kernel, self.gamma, self.kernel_params, self.X_fit_)
        self.kernel_, self.gamma_ = self._kernel_.kernel, self._kernel_.gamma
        self._learn(W)

    def decision_function(self, X):
        """Score the pairs of X with the labelled nodes.

        Parameters
        ----------
        X : array of shape (m, d)
            Inputs of nodes.

        Returns
        -------
        scores : array of shape (m, l)
            The larger, the likelier the link.
        """
        return self._compare(self._represent(self._rows(X)), self._known_)

    def pair_scores(self, X, Z=None):
        """Score all pairs of X with Z.

        Parameters
        ----------
        X : array of shape (m, d)
            Inputs of nodes.
        Z : array of shape (p, d), default=None
            Inputs of the other nodes; None for X itself.

        Returns
        -------
        scores : array of shape (m, p)
            The larger, the likelier the link.
        """
        first = self._represent(self._rows(X))
        return self._compare(first, first if Z is None else self._represent(self._rows(Z)))

    def _represent(self, R):
        """Representations (m, r) of nodes, from their kernel values R."""
        return R @ self.dual_coef_

    def _compare(self, first, second):
        """Scores (m, p) of all pairs of two lists of representations."""
        return first @ second.T

    def _rows(self, X):
        """Kernel values (m, n) of X with the training nodes."""
        check_is_fitted(self)
        X = check_inputs(self, X, [self.kernel_], reset=False)
        return X[:, self._order_[: len(self.X_fit_)]] if self._kernel_.precomputed else self._kernel_(X, self.X_fit_)

    def _training_gram(self):
        return self._kernel_.training_gram(self.X_fit_)


class NaiveLinkPredictor(LinkBaseline):
    """Links between similar nodes: the score is the kernel value ``k(x, z)``. Nothing is learnt.

    With kernel="precomputed" the similarity of two nodes is known if one of them is a node of fit. The score of two new
    nodes is the estimate ``k(x, X) K^+ k(X, z)`` from their values with the nodes of fit.

    Parameters
    ----------
    kernel : str, callable or kernel object, default="rbf"
        Kernel of the inputs of nodes, as in ``OperatorKernelRegressor``.
    gamma : float or {"median", "scale", "auto"}, default="median"
        Rate of a named kernel, as in ``OperatorKernelRegressor``.
    kernel_params : dict, default=None
        Further parameters of a named kernel, as in ``OperatorKernelRegressor``.

    Attributes
    ----------
    X_fit_ : array
        The nodes of fit, or their Gram matrix.
    n_labelled_ : int
        Number l of labelled nodes.
    kernel_ : str, callable or kernel object
        The kernel with its settings resolved.
    gamma_ : float or None
        The rate of a named kernel.

    References
    ----------
    - Yamanishi, Vert and Kanehisa (2004). Protein network inference from multiple genomic data: a supervised approach.
      Bioinformatics 20.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import baselines, metrics
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> distances = ((X[:, None] - X) ** 2).sum(axis=2)
    >>> links = (distances < 0.5) & ~np.eye(40, dtype=bool)  # near nodes are linked
    >>> model = baselines.NaiveLinkPredictor().fit(X[:30], links[:30, :30].astype(int))
    >>> scores = model.decision_function(X[30:])  # of new nodes with old ones
    >>> round(metrics.link_roc_auc(links[30:, :30], scores, pairs="all"), 1)
    1.0
    """

    _transductive = True

    def _learn(self, W):
        if self._kernel_.precomputed:
            values, vectors = spectrum(self._training_gram(), RANK)
            self._root_ = vectors / np.sqrt(values)

    def decision_function(self, X):
        """Score the pairs of X with the labelled nodes.

        Parameters
        ----------
        X : array of shape (m, d)
            Inputs of nodes.

        Returns
        -------
        scores : array of shape (m, l)
            The larger, the likelier the link.
        """
        return self._rows(X)[:, : self.n_labelled_]

    def pair_scores(self, X, Z=None):
        """Score all pairs of X with Z.

        Parameters
        ----------
        X : array of shape (m, d)
            Inputs of nodes.
        Z : array of shape (p, d), default=None
            Inputs of the other nodes; None for X itself.

        Returns
        -------
        scores : array of shape (m, p)
            The larger, the likelier the link.
        """
        check_is_fitted(self)
        if self._kernel_.precomputed:
            return super().pair_scores(X, Z)
        X = check_inputs(self, X, [self.kernel_], reset=False)
        Z = None if Z is None else check_inputs(self, Z, [self.kernel_], reset=False)
        return self._kernel_(X, Z)

    def _represent(self, R):
        return R @ self._root_


class KernelMetricLearning(LinkBaseline):
    """Links by distances in a learnt space where linked nodes are near (kML).

    The coordinates of the space are functions f of the RKHS of the centred kernel that minimise, one after the other
    and uncorrelated on the l labelled nodes::

        (sum over links (f(x_i) - f(x_j))^2 + alpha l ||f||^2) / sum_i f(x_i)^2

    The score of a pair is minus its squared distance. Unlabelled nodes are not used.

    Parameters
    ----------
    kernel : str, callable or kernel object, default="rbf"
        Kernel of the inputs of nodes, as in ``OperatorKernelRegressor``.
    gamma : float or {"median", "scale", "auto"}, default="median"
        Rate of a named kernel, as in ``OperatorKernelRegressor``.
    kernel_params : dict, default=None
        Further parameters of a named kernel, as in ``OperatorKernelRegressor``.
    alpha : float, default=0.01
        Regularisation, positive.
    n_components : int, default=10
        Largest number of coordinates; the rank of the centred kernel limits it. All coordinates have the same weight,
        so that few are best.

    Attributes
    ----------
    X_fit_ : array
        The labelled nodes, or their Gram matrix.
    n_labelled_ : int
        Their number l.
    kernel_ : str, callable or kernel object
        The kernel with its settings resolved.
    gamma_ : float or None
        The rate of a named kernel.
    dual_coef_ : array of shape (l, r)
        Functions are ``f = sum_i dual_coef_i k_c(., x_i)`` with the centred kernel k_c.
    quotients_ : array of shape (r,)
        The minima, ascending.

    References
    ----------
    - Vert and Yamanishi (2005). Supervised graph inference. NIPS 17.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import baselines, metrics
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> distances = ((X[:, None] - X) ** 2).sum(axis=2)
    >>> links = (distances < 0.5) & ~np.eye(40, dtype=bool)  # near nodes are linked
    >>> model = baselines.KernelMetricLearning(n_components=2).fit(X[:30], links[:30, :30].astype(int))
    >>> scores = model.decision_function(X[30:])  # of new nodes with old ones
    >>> round(metrics.link_roc_auc(links[30:, :30], scores, pairs="all"), 1)
    0.9
    """

    def __init__(self, kernel="rbf", *, gamma="median", kernel_params=None, alpha=1e-2, n_components=10):
        store(self, locals())

    def _learn(self, W):
        check_number(self.alpha, "alpha")
        check_number(self.n_components, "n_components", integer=True)
        K = self._training_gram()
        self._centerer_ = KernelCenterer().fit(K)
        values, U = spectrum(self._centerer_.transform(K), RANK)
        root = np.sqrt(values)
        # f = U (root * a) has ||f|| = ||a||: in a the penalty is well conditioned, and largest eigenvalues are needed
        smoothness = (U * root).T @ (laplacian(W) @ (U * root))
        smoothness.flat[:: len(values) + 1] += self.alpha * self.n_labelled_
        inverses, a = np.ones(0), np.zeros((0, 0))
        if len(values):
            # all eigenvectors: the driver for a few does not converge where many eigenvalues are equal
            inverses, a = scipy.linalg.eigh(np.diag(values), smoothness, driver="gvd")
        self.quotients_ = 1 / inverses[::-1][: self.n_components]
        a = a[:, ::-1][:, : self.n_components]
        self.dual_coef_ = (U / root) @ (a * np.sqrt(self.quotients_))  # sum_i f(x_i)^2 = 1
        self._known_ = self._represent(K)

    def _represent(self, R):
        return super()._represent(self._centerer_.transform(R))

    def _compare(self, first, second):
        return -euclidean_distances(first, second, squared=True) if first.shape[1] else first @ second.T


class LocalLinkModel(LinkBaseline):
    """One support vector classifier for each labelled node, which predicts the nodes that it is linked to.

    The classifier of node i is fitted to the other labelled nodes. If node i is linked to none of them, or to all, its
    score is -1, or 1, for every node. The score of a pair is the decision value of one node's classifier at the other
    node, or the mean of both if both nodes have a classifier. A node has a classifier if its kernel values are those of
    a labelled node. The paper does not cover pairs without a classifier; they are scored by the classifiers of the
    labelled nodes with the nearest kernel values. Unlabelled nodes are not used. The weight of a link, relative to the
    mean weight, is its sample weight.

    Parameters
    ----------
    kernel : str, callable or kernel object, default="rbf"
        Kernel of the inputs of nodes, as in ``OperatorKernelRegressor``.
    gamma : float or {"median", "scale", "auto"}, default="median"
        Rate of a named kernel, as in ``OperatorKernelRegressor``.
    kernel_params : dict, default=None
        Further parameters of a named kernel, as in ``OperatorKernelRegressor``.
    C : float, default=1.0
        As in ``sklearn.svm.SVC``, positive.

    Attributes
    ----------
    X_fit_ : array
        The labelled nodes, or their Gram matrix.
    n_labelled_ : int
        Their number l.
    kernel_ : str, callable or kernel object
        The kernel with its settings resolved.
    gamma_ : float or None
        The rate of a named kernel.
    dual_coef_ : array of shape (l, l)
        The classifier of node i is ``k(x, X) dual_coef_[:, i] + intercept_[i]``.
    intercept_ : array of shape (l,)
        See ``dual_coef_``.

    References
    ----------
    - Bleakley, Biau and Vert (2007). Supervised reconstruction of biological networks with local models. Bioinformatics
      23.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import baselines, metrics
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> distances = ((X[:, None] - X) ** 2).sum(axis=2)
    >>> links = (distances < 0.5) & ~np.eye(40, dtype=bool)  # near nodes are linked
    >>> model = baselines.LocalLinkModel(C=10.0).fit(X[:30], links[:30, :30].astype(int))
    >>> scores = model.decision_function(X[30:])  # of new nodes with old ones
    >>> round(metrics.link_roc_auc(links[30:, :30], scores, pairs="all"), 1)
    1.0
    """

    def __init__(self, kernel="rbf", *, gamma="median", kernel_params=None, C=1.0):
        store(self, locals())

    def _learn(self, W):
        from sklearn.svm import SVC  # slow to import, and used only here

        check_number(self.C, "C")
        K = self._training_gram()
        nodes, weights = np.arange(len(K)), W.toarray()
        linked = weights > 0
        self.dual_coef_ = np.zeros(K.shape)
        self.intercept_ = np.where(linked.any(axis=1), 1.0, -1.0)  # of nodes linked to all others, or to none
        for i, links in enumerate(linked):
            others = np.delete(nodes, i)
            if 0 < links.sum() < len(others):
                importance = np.where(links, weights[i], 1.0)[others]
                model = SVC(C=self.C, kernel="precomputed").fit(K[np.ix_(others, others)], links[others], importance)
                self.dual_coef_[others[model.support_], i] = model.dual_coef_[0]
                self.intercept_[i] = model.intercept_[0]
        self._gram_ = K
        self._known_ = self._scores(K), nodes, np.ones(len(K), dtype=bool)

    def _scores(self, R):
        """Decision values (m, l) of the classifiers at nodes with kernel values R (m, l)."""
        return R @ self.dual_coef_ + self.intercept_

    def _represent(self, R):
        """Scores (m, l), the nearest labelled node (m,), and whether it is the node itself (m,)."""
        nearest = euclidean_distances(R, self._gram_, squared=True).argmin(axis=1)
        differences = np.abs(R - self._gram_[nearest]).max(axis=1, initial=0.0)
        return self._scores(R), nearest, differences <= _SAME * np.abs(self._gram_).max()

    def _compare(self, first, second):
        (scores, nearest, is_labelled), (second_scores, second_nearest, second_is_labelled) = first, second
        by_second = scores[:, second_nearest]  # decision values of the second node's classifier at the first node
        by_first = second_scores[:, nearest].T
        neither = ~is_labelled[:, None] & ~second_is_labelled
        use_second, use_first = second_is_labelled | neither, is_labelled[:, None] | neither
        return (use_second * by_second + use_first * by_first) / (use_second.astype(int) + use_first)
