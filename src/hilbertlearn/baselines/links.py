"""Link prediction from similarity, from a learnt distance and from one classifier a node (Brouard et al. 2016, 6.1.4).

All have methods of ``LinkPredictor``: ``fit(X, adjacency)``, ``decision_function(X)``, ``pair_scores(X, Z)`` and
``score(X, adjacency)``.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import KernelCenterer
from sklearn.utils.validation import check_is_fitted

from .. import kernels
from .._validation import check_number
from ..estimators.base import blank
from ..estimators.inputs import check_inputs
from ..estimators.links import LinkEstimator
from ..graphs import laplacian
from ..problem import spectrum

RANK = 1e-10  # eigenvalues of a Gram matrix, relative to the largest, that count as zero
_SAME = 1e-10  # kernel values this near, relative to the largest, are those of the same node


class LinkBaseline(LinkEstimator):
    """What the methods share: reading nodes and graphs, and scores as a comparison of two nodes' representations.

    A method defines ``_learn(W)`` for the graph W (l, l) of the labelled nodes, and ``_represent(R)`` of kernel values
    R (m, n) with the nodes it learns from: the l labelled ones, or all n of fit if it is `_transductive`. Scores are
    inner products of representations unless it has another ``_compare``.
    """

    _transductive = False

    def fit(self, X, y):
        """Fit to nodes X and the graph y of the first of them.

        X : (n, d) inputs, or their Gram matrix (n, n) for kernel="precomputed"
        y : adjacency of the first l <= n nodes of X, those whose links are known: (l, l) array or sparse matrix, or
            networkx graph; or labels (n,): then nodes with equal labels are linked
        """
        new = blank(self)  # a fit that fails changes nothing
        new._check_settings()
        X, W = new._read_nodes(X, y)
        new.n_labelled_ = W.shape[0]
        new.X_fit_ = X if self._transductive else new._first(X, new.n_labelled_)
        new.kernel_ = self.kernel.resolve(new.X_fit_) if hasattr(self.kernel, "resolve") else self.kernel
        new.gamma_ = kernels.resolve_gamma(new.kernel_, self.gamma, new.X_fit_)
        new._learn(W)
        self.__dict__ = new.__dict__
        return self

    def decision_function(self, X):
        """Scores (m, l) of the pairs of X with the labelled nodes."""
        return self._compare(self._represent(self._rows(X)), self._known)

    def pair_scores(self, X, Z=None):
        """Scores (m, p) of all pairs of X with Z, or of X with itself; larger where a link is likelier."""
        first = self._represent(self._rows(X))
        return self._compare(first, first if Z is None else self._represent(self._rows(Z)))

    def _compare(self, first, second):
        """Scores (m, p) of two lists of representations."""
        return first @ second.T

    def _rows(self, X):
        """Kernel values (m, n) of X with the nodes learnt from."""
        check_is_fitted(self)
        X = check_inputs(self, X, [self.kernel_], reset=False)
        if kernels.is_precomputed(self.kernel_):
            return X[:, : len(self.X_fit_)]
        return kernels.gram(self.kernel_, X, self.X_fit_, gamma=self.gamma_, params=self.kernel_params)

    def _training_gram(self):
        return kernels.training_gram(self.kernel_, self.X_fit_, gamma=self.gamma_, params=self.kernel_params)

    def _first(self, X, count):
        return X[:count, :count] if kernels.is_precomputed(self.kernel) else X[:count]


class NaiveLinkPredictor(LinkBaseline):
    """Nodes are linked where they are similar: the score is ``k(x, z)`` (Yamanishi et al. 2004). Learns nothing.

    With kernel="precomputed" the similarity of two nodes is known if one of them was seen at fit. Of two that were not,
    the score is what their values with the nodes of fit tell of it, ``k(x, X) K^+ k(X, z)``.

    Parameters
    ----------
    kernel, gamma, kernel_params : of the nodes' inputs, as in ``OperatorKernelRegressor``

    Attributes
    ----------
    X_fit_ : the nodes of fit, or their Gram matrix
    n_labelled_ : number l of labelled nodes
    kernel_, gamma_ : as used
    """

    _transductive = True

    def __init__(self, kernel="rbf", *, gamma="median", kernel_params=None):
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params

    def _check_settings(self):
        pass

    def _learn(self, W):
        if kernels.is_precomputed(self.kernel_):
            values, vectors = kept_spectrum(self._training_gram())
            self._root = vectors / np.sqrt(values)

    def decision_function(self, X):
        """Scores (m, l) of the pairs of X with the labelled nodes."""
        return self._rows(X)[:, : self.n_labelled_]

    def pair_scores(self, X, Z=None):
        """Scores (m, p) of all pairs of X with Z, or of X with itself."""
        check_is_fitted(self)
        if kernels.is_precomputed(self.kernel_):
            return super().pair_scores(X, Z)
        X = check_inputs(self, X, [self.kernel_], reset=False)
        Z = None if Z is None else check_inputs(self, Z, [self.kernel_], reset=False)
        return kernels.gram(self.kernel_, X, Z, gamma=self.gamma_, params=self.kernel_params)

    def _represent(self, R):
        return R @ self._root


class KernelMetricLearning(LinkBaseline):
    """Links by distances in a learnt space where linked nodes are near (kML; Vert and Yamanishi 2005).

    The coordinates of the space are functions f of the RKHS of the centred kernel that minimise, one after the other
    and uncorrelated on the l labelled nodes,

        (sum over links (f(x_i) - f(x_j))^2 + alpha l ||f||^2) / sum_i f(x_i)^2

    The score of a pair is minus its squared distance. Unlabelled nodes have no part in it.

    Parameters
    ----------
    kernel, gamma, kernel_params : of the nodes' inputs, as in ``OperatorKernelRegressor``
    alpha : positive number
    n_components : number of coordinates, at most as many as the centred kernel allows; few, since all count alike

    Attributes
    ----------
    X_fit_ : the labelled nodes, or their Gram matrix
    n_labelled_ : number l of labelled nodes
    kernel_, gamma_ : as used
    dual_coef_ : (l, r) functions are ``f = sum_i dual_coef_i k_c(., x_i)`` with the centred kernel k_c
    quotients_ : (r,) the minima, ascending
    """

    def __init__(self, kernel="rbf", *, gamma="median", kernel_params=None, alpha=1e-2, n_components=10):
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.n_components = n_components

    def _check_settings(self):
        check_number(self.alpha, "alpha")
        check_number(self.n_components, "n_components", integer=True)

    def _learn(self, W):
        K = self._training_gram()
        self._centerer = KernelCenterer().fit(K)
        values, U = kept_spectrum(self._centerer.transform(K))
        root = np.sqrt(values)
        # f = U (root * a) has ||f|| = ||a||: in a the penalty is well conditioned, and largest eigenvalues are wanted
        smoothness = (U * root).T @ (laplacian(W) @ (U * root))
        smoothness.flat[:: len(values) + 1] += self.alpha * self.n_labelled_
        first = max(0, len(values) - self.n_components)
        inverses, a = np.ones(0), np.zeros((0, 0))
        if len(values):
            # all of them: the driver for a few fails to converge where many eigenvalues are equal
            inverses, a = scipy.linalg.eigh(np.diag(values), smoothness, driver="gvd")
            inverses, a = inverses[first:], a[:, first:]
        self.quotients_ = 1 / inverses[::-1]
        self.dual_coef_ = (U / root) @ (a[:, ::-1] * np.sqrt(self.quotients_))  # sum_i f(x_i)^2 = 1
        self._known = self._represent(K)

    def _represent(self, R):
        return self._centerer.transform(R) @ self.dual_coef_

    def _compare(self, first, second):
        return -euclidean_distances(first, second, squared=True) if first.shape[1] else first @ second.T


class LocalLinkModel(LinkBaseline):
    """One support vector classifier for each labelled node, of the nodes it is linked to (Bleakley et al. 2007).

    The classifier of node i is learnt from the other labelled nodes. Of a node linked to none of them, or to all, its
    score is -1, or 1, for every node. The score of a pair is what the classifier of one node says of the other, or the
    mean of both if both nodes have one. A node has one if its kernel values are those of a labelled node. A pair of
    which none has is not covered by the method; it is scored by the classifiers of the labelled nodes whose kernel
    values are nearest to theirs. Unlabelled nodes have no part in it.

    Parameters
    ----------
    kernel, gamma, kernel_params : of the nodes' inputs, as in ``OperatorKernelRegressor``
    C : positive number, of ``sklearn.svm.SVC``

    Attributes
    ----------
    X_fit_ : the labelled nodes, or their Gram matrix
    n_labelled_ : number l of labelled nodes
    kernel_, gamma_ : as used
    dual_coef_, intercept_ : (l, l) and (l,), the classifier of node i is ``k(x, X) dual_coef_[:, i] + intercept_[i]``
    """

    def __init__(self, kernel="rbf", *, gamma="median", kernel_params=None, C=1.0):
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params
        self.C = C

    def _check_settings(self):
        check_number(self.C, "C")

    def _learn(self, W):
        from sklearn.svm import SVC  # slow to import, and for this alone

        K = self._training_gram()
        nodes = np.arange(self.n_labelled_)
        self.dual_coef_ = np.zeros(K.shape)
        self.intercept_ = np.full(len(K), -1.0)
        for i, links in enumerate(W.toarray() > 0):
            others = np.delete(nodes, i)
            if not links.any():
                continue
            if links[others].all():
                self.intercept_[i] = 1.0
                continue
            model = SVC(C=self.C, kernel="precomputed").fit(K[np.ix_(others, others)], links[others])
            self.dual_coef_[others[model.support_], i] = model.dual_coef_[0]
            self.intercept_[i] = model.intercept_[0]
        self._gram = K
        self._known = self._scores(K), nodes, np.ones(len(K), dtype=bool)

    def _scores(self, R):
        """What the classifiers of the labelled nodes say of nodes with kernel values R (m, l)."""
        return R @ self.dual_coef_ + self.intercept_

    def _represent(self, R):
        """Scores (m, l), the nearest labelled node (m,), and whether it is the node itself (m,)."""
        nearest = euclidean_distances(R, self._gram, squared=True).argmin(axis=1)
        differences = np.abs(R - self._gram[nearest]).max(axis=1, initial=0.0)
        return self._scores(R), nearest, differences <= _SAME * np.abs(self._gram).max()

    def _compare(self, first, second):
        (scores, nearest, has), (others_scores, others_nearest, other_has) = first, second
        of_second = scores[:, others_nearest]
        of_first = others_scores[:, nearest].T
        neither = ~has[:, None] & ~other_has
        use_second, use_first = other_has | neither, has[:, None] | neither
        return (use_second * of_second + use_first * of_first) / (use_second.astype(int) + use_first)


def kept_spectrum(K):
    """Eigenvalues (r,), ascending, and eigenvectors (n, r) of a Gram matrix that are not zero to rounding."""
    return spectrum(K, RANK)
