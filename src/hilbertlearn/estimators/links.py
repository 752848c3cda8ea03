"""Links of a graph: nodes are embedded by a kernel of the graph, and the embedding is predicted from their features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.preprocessing import KernelCenterer
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from .. import kernels
from .._fitting import snapshot, store, transactional
from .._linalg import spectrum
from .._validation import check_choice, check_number
from ..graphs import read_graph
from ..metrics import best_f1_threshold, link_average_precision, link_roc_auc
from .base import check_regressor
from .inputs import check_inputs
from .left_out import Candidate, pair_scores, pairs_of_folds
from .named import NamedSettings
from .vector import OperatorKernelRegressor

_RANK = 1e-10  # eigenvalues of the output kernel, relative to the largest, that count as zero
_GAMMAS = 4.0 ** np.arange(-3, 4)  # relative to the median rule
_SCORING = {"roc_auc": link_roc_auc, "average_precision": link_average_precision}


class LinkEstimator(NamedSettings):
    """What methods share that predict links: how nodes and graphs are read, the score, what scikit-learn asks."""

    def _read_nodes(self, X, y):
        """Inputs of n nodes, and the graph (l, l) of the first of them, both checked, with the kernel."""
        if isinstance(self.kernel, (list, tuple)) or kernels.brings_operator(self.kernel):
            raise TypeError(
                f"kernel must be a single kernel of the nodes, got {self.kernel!r}; for a sum give a callable"
            )
        kernels.check_kernel(self.kernel)
        kernels.check_params([self.kernel], self.kernel_params)
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None: give the "
                "adjacency matrix of the nodes"
            )
        X = check_inputs(self, X, [self.kernel], reset=True)
        W = read_graph(y, "y")
        n, known = _num_samples(X), W.shape[0]
        if known > n:
            raise ValueError(
                f"y has {known} nodes and X {n} samples, inconsistent numbers; give features of every node, the known "
                "ones first"
            )
        return X, W

    def score(self, X, y):
        """Area under the ROC curve of the scores of all pairs of nodes X, whose graph is y."""
        auc = link_roc_auc(read_graph(y, "y"), self.pair_scores(X))
        if np.isnan(auc):
            raise ValueError(
                "y has no links, or nothing else, so that there is nothing to tell apart; give another graph"
            )
        return auc

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = kernels.is_precomputed(self.kernel)
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class LinkPredictor(LinkEstimator):
    """Prediction of the links between nodes from their features (Brouard et al. 2016, section 5.1).

    A function h with values in the space of an output kernel of the known graph is fitted to its nodes; two nodes,
    known or new, are linked when ``<h(u), h(v)>`` is large. Nodes whose links are not known may be given too, as
    further rows of X, and count when ``manifold > 0``: those to be predicted (transductive use), or others (inductive).

    Parameters
    ----------
    kernel, kernel_params, graph, manifold, solver, tol, max_iter, verbose : as in ``OperatorKernelRegressor``
    gamma : float, "median", "scale", or "auto" for the best of seven around the median, chosen as alpha is
    output_kernel : "diffusion" for ``exp(-beta L)`` of the known graph, "normalized_laplacian" for ``(I + beta L)^-1``,
        or a PSD matrix (l, l) of the known nodes
    beta : parameter of the output kernel
    loss : "squared" (ridge), "hinge" (margin) or another loss of the package
    alpha : float or "auto"
        "auto": by the scores of pairs of known nodes, both left out, in closed form for the squared loss; else with
        their folds, of 5. The output kernel is that of all known nodes. With fewer than some ten links there is
        little to choose by.
    scoring : "roc_auc" or "average_precision", what "auto" chooses by
    center : bool, centre both kernels
    cosine : bool, scores are cosines: lengths of h, which shrink for nodes unlike the known ones, do not count
    regressor : regressor of scikit-learn that predicts the embedding in place of the kernel machine

    Attributes
    ----------
    embedding_ : (l, d) of the known nodes, rows whose inner products are the output kernel
    fitted_ : (l, d) h at the known nodes
    left_out_score_ : what ``scoring`` gives pairs of known nodes that were left out, to compare output kernels by; NaN
        if none is linked, or all are
    threshold_ : of scores, the best by F1 on pairs of known nodes that were left out
    model_ : the fitted ``OperatorKernelRegressor``, or the regressor
    alpha_, gamma_, loss_, dual_gap_, n_iter_ : as in ``OperatorKernelRegressor``

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import LinkPredictor
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> close = (abs(X - X.T) < 0.4).astype(int) - np.eye(30, dtype=int)
    >>> model = LinkPredictor(alpha=1e-3).fit(X[:20], close[:20, :20])
    >>> bool(model.score(X, close) > 0.9)
    True
    """

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma="median",
        kernel_params=None,
        output_kernel="diffusion",
        beta=1.0,
        loss="squared",
        alpha="auto",
        scoring="roc_auc",
        center=False,
        cosine=False,
        graph=None,
        manifold=0.0,
        regressor=None,
        solver="auto",
        tol=1e-6,
        max_iter=1000,
        verbose=0,
    ):
        store(self, locals())

    # ---------------------------------------------------------------- fit

    @transactional
    def fit(self, X, y):
        """Fit to nodes with features X and the graph y of the first l of them.

        Parameters
        ----------
        X : (n, n_features) or whatever the kernel takes, n >= l
        y : (l, l) adjacency matrix, dense or sparse, a networkx graph, or groups (n,): equal labels are linked
        """
        X, W = self._read(X, y)
        self._cosine_ = self.cosine  # settings changed later change no scores
        K = kernels.node_kernel(self.output_kernel, W, self.beta)
        self.embedding_ = V = _coordinates(KernelCenterer().fit_transform(K) if self.center else K)
        scores = (self._fit_machine if self.regressor is None else self._fit_regressor)(X, V, W)
        self.fitted_ = self._embedded(X if _num_samples(X) == len(V) else _safe_indexing(X, np.arange(len(V))))
        self.left_out_score_ = _SCORING[self.scoring](W, scores)
        self.threshold_ = best_f1_threshold(W, scores)[0]

    def _read(self, X, y):
        """Inputs, and the known graph (l, l), both checked with all plain settings."""
        check_choice(self.scoring, "scoring", tuple(_SCORING))
        check_number(self.alpha, "alpha", choices=("auto",))
        for name in ("center", "cosine"):
            check_choice(getattr(self, name), name, (True, False))
        if not isinstance(self.gamma, str) or self.gamma != "auto":
            check_number(self.gamma, "gamma", choices=("auto", "median", "scale"))
        X, W = self._read_nodes(X, y)
        if not hasattr(y, "adj") and np.ndim(y) < 2 and W.shape[0] < _num_samples(X):
            raise ValueError(
                f"y has {W.shape[0]} nodes and X {_num_samples(X)} samples, inconsistent numbers; give features of "
                "every node and its group, None for those in no group"
            )
        return X, W

    def _fit_machine(self, X, V, W):
        """Fit the kernel machine; returns scores (l, l) of the pairs of known nodes, left out."""
        if not self.manifold and _num_samples(X) > len(V):  # further nodes do not count
            X = _safe_indexing(X, np.arange(len(V)))
            X = X[:, : len(V)] if kernels.is_precomputed(self.kernel) else X
        best: Any = None
        choice, scores, least = best, V, np.inf
        for kernel in self._kernels(X):
            candidate = self._candidate(kernel, X, V)
            own_choice, own_scores, error = candidate.choose(self.alpha, lambda scores: self._error(W, V, scores))
            if error < least:
                best, choice, scores, least = candidate, own_choice, own_scores, error
        if best is None:
            raise ValueError("y: the links' scores are not finite; use another output_kernel or beta")
        best.model.settle(choice)
        self.model_, self._centerer_, self._kernel_ = best.model, best.centerer, best.kernel
        self.X_fit_, self.kernel_, self.gamma_ = X, best.kernel.kernel, best.kernel.gamma
        self.alpha_, self.loss_ = choice.alpha, best.model.loss_
        self.dual_gap_, self.n_iter_ = best.model.dual_gap_, best.model.n_iter_
        return scores

    def _kernels(self, X):
        """Kernels to choose from, with numbers for gamma where they have one."""
        gamma = "median" if self.gamma == "auto" else self.gamma
        first = kernels.InputKernel.of(self.kernel, gamma, self.kernel_params, X, np.ones(_num_samples(X)))
        if self.gamma != "auto" or first.gamma is None:
            return [first]
        return [replace(first, gamma=first.gamma * factor) for factor in _GAMMAS]

    def _candidate(self, kernel, X, V):
        """The kernel machine with that kernel, ready to be fitted."""
        centerer, inputs, own = None, X, kernel
        if self.center:
            K = kernel.training(X)
            centerer = KernelCenterer().fit(K)
            own, inputs = kernels.InputKernel("precomputed"), centerer.transform(K)
        model = OperatorKernelRegressor(
            own.kernel,
            gamma="median" if own.gamma is None else own.gamma,
            kernel_params=own.params,
            loss=snapshot(self.loss),
            center=False,
            scale=False,
            graph=self.graph,
            manifold=self.manifold,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            verbose=self.verbose,
        )
        targets = np.full((_num_samples(X), V.shape[1]), np.nan)
        targets[: len(V)] = V
        return Candidate(self.cosine, kernel, centerer, model, model.prepare(inputs, targets))

    def _error(self, W, V, scores):
        """What "auto" makes small, for the embedding V (l, d) and scores (l, l)."""
        value = _SCORING[self.scoring](W, scores)
        if np.isnan(value):  # there are no links, or nothing else
            return np.mean((scores - self._scores(V, V))[np.triu_indices(len(V), k=1)] ** 2)
        return 1 - value

    def _fit_regressor(self, X, V, W):
        check_regressor(self.regressor)
        if self.manifold:
            raise ValueError("regressor knows no graph of samples; set manifold=0, or regressor=None")
        known = X if _num_samples(X) == len(V) else _safe_indexing(X, np.arange(len(V)))
        self.kernel_ = snapshot(self.kernel)  # inputs are read for it
        self.model_ = clone(self.regressor).fit(known, V)
        self.n_iter_ = getattr(self.model_, "n_iter_", 1)
        scores = self._scores(V, V)
        for train, test in pairs_of_folds(len(V)) if len(V) > 2 else ():
            fitted = clone(self.regressor).fit(_safe_indexing(known, train), V[train])
            H = np.reshape(fitted.predict(_safe_indexing(known, test)), (len(test), -1))
            scores[np.ix_(test, test)] = self._scores(H, H)
        return scores

    # ---------------------------------------------------------------- predict

    def decision_function(self, X):
        """Scores (m, l) of links between the nodes X and the known ones."""
        return self._scores(self._embedded(self._check_X(X)), self.fitted_)

    def pair_scores(self, X, Z=None):
        """Scores (m, p) of links between the nodes X and Z, or (m, m) between those of X."""
        H = self._embedded(self._check_X(X))
        return self._scores(H, H if Z is None else self._embedded(self._check_X(Z)))

    def predict_links(self, X, Z=None):
        """Links between X and Z, or among X, as a sparse matrix of booleans: scores of ``threshold_`` or more."""
        links = self.pair_scores(X, Z) >= self.threshold_
        if Z is None:
            np.fill_diagonal(links, False)
        return scipy.sparse.csr_array(links)

    def summary(self):
        """A few lines on what was learnt."""
        check_is_fitted(self)
        lines = [f"LinkPredictor: {len(self.embedding_)} known nodes, threshold {self.threshold_:.3g}"]
        kernel_machine = isinstance(self.model_, OperatorKernelRegressor)
        return "\n".join([*lines, self.model_.summary() if kernel_machine else f"regressor  {self.model_!r}"])

    def _embedded(self, X):
        """h (m, d) at checked inputs."""
        check_is_fitted(self)
        if not isinstance(self.model_, OperatorKernelRegressor):
            return np.asarray(self.model_.predict(X), dtype=float).reshape(_num_samples(X), -1)
        if kernels.is_precomputed(self.kernel_):
            X = X[:, : _num_samples(self.X_fit_)]
        if self._centerer_ is not None:
            X = self._centerer_.transform(self._kernel_(X, self.X_fit_))
        return self.model_.predict(X)

    def _scores(self, H, G):
        return pair_scores(H, G, self._cosine_)

    def _check_X(self, X):
        check_is_fitted(self)
        return check_inputs(self, X, [self.kernel_], reset=False)


def _coordinates(K):
    """Rows V (l, d) with ``V V' = K``, by the eigenvectors whose eigenvalues are above rounding."""
    values, vectors = spectrum(K, _RANK)
    if not len(values):  # one node and centring
        return np.zeros((len(K), 1))
    return vectors * np.sqrt(values)
