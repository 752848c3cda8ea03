"""The estimator of links: settings, checks, and the steps of its fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import _num_samples

from .. import features, kernels
from .._utils.callbacks import FitCallbacksMixin, with_fit_callbacks
from .._utils.fitting import snapshot, store, transactional
from .._utils.progress import Progress
from .._utils.threads import threads_for
from .._utils.validation import check_choice, check_number, warn
from ..data.frames import check_collected
from ..data.graphs import is_networkx, read_known_graph
from ..machine.checks import check_regressor
from ..training import check_alpha, resolve_schedule
from .embedders import MachineEmbedder, RegressorEmbedder
from .inputs import are_groups, take_inputs
from .prediction import LinkPredictionMixin
from .selection import SCORING, LinkSearch
from .state import SCORE_WITH, SIMILARITIES, GraphEmbedding, LinkState, ScoreSelection
from .trials import CRITERIA

_GAMMAS = 4.0 ** np.arange(-3, 4)  # relative to the median rule; each costs one search of alpha
_MANIFOLDS = (0.0, 1e-4, 1e-3, 1e-2)  # candidates of manifold="auto"; each costs one search of gamma and alpha
_FEW_LINKS = 10  # number of known links below which a fit warns: a search with so few depends on chance


class LinkPredictor(FitCallbacksMixin, LinkPredictionMixin):
    """Prediction of the links of a graph from features of its nodes and from the links that are known.

    A function h with values in the space of an output kernel of the known graph is fitted to its nodes. Two nodes are
    the more likely linked the larger ``<h(u), h(v)>`` is (Brouard et al. 2016, section 5.1). Further scores are the
    similarity of the features and, between nodes of the graph, similarities by common neighbours and paths. All scores
    are combined to the log odds of a link. The weights are learnt by cross-validation, separately for pairs of known
    nodes, pairs of a known and a new node, and pairs of new nodes.

    Weights of links are strengths relative to their mean, in the output kernel and in all similarities: their unit does
    not matter, equal weights are the same as none, and a pair of weight 0 is not linked. The prediction is whether
    there is a link, not its weight. Random draws of nodes and pairs do not depend on the order of the nodes and are the
    same at each call.

    Parameters
    ----------
    kernel : str, callable, object of ``hilbertlearn.kernels`` or Gaussian-process kernel, default="rbf"
        Kernel of the nodes' features, as in ``OperatorKernelRegressor``, but a single one. There is no "auto": kernels
        of nodes are compared by scores of pairs, which cost much more than leave-one-out errors.
    gamma : float, "median", "scale" or "auto", default="median"
        Rate of a named kernel. "median", the default for the same reason: the bandwidth is the median distance between
        nodes. "auto": the best of seven values around it, searched with alpha.
    kernel_params : dict or None, default=None
        Further parameters of a named kernel, such as ``degree``.
    output_kernel : "diffusion", "normalized_laplacian" or matrix (l, l), default="diffusion"
        ``exp(-beta L)`` or ``(I + beta L)^-1`` of the known graph, or a PSD matrix of the known nodes.
    beta : float, default=1.0
        Parameter of a named output kernel.
    rank : "auto", int or None, default="auto"
        Dimension of the coordinates of the output kernel: leading eigenvectors, None for all. "auto": all up to 1000
        nodes.
    loss : str or object of ``hilbertlearn.losses``, default="squared"
        "squared" is ridge regression, "hinge" the margin of the paper.
    alpha : float, "auto", "n^-1/2" or "n^-1/4", default="auto"
        Regularisation, n the number of known nodes. "auto": the best by cross-validated scores of pairs of known nodes,
        in closed form for the squared loss, else with 5 folds. The output kernel is that of all known nodes.
    scoring : "roc_auc" or "average_precision", default="roc_auc"
        Score that the search for "auto" settings maximises.
    criterion : "pairs" or "nodes", default="pairs"
        "pairs": predictions for a pair are made without both nodes. "nodes": each without its own node, as in the
        paper; the prediction then depends on the other node and so on their link, which favours very smooth models.
    similarities : "auto", list of names or None, default="auto"
        Scores to combine, of "adamic_adar", "resource_allocation", "preferential_attachment", "three_paths", "katz",
        "normalized_laplacian" (of known nodes), "attributes" (the kernel) and "learnt" (by h). "auto": all of them.
        None: the scores of h alone, as in the paper.
    cosine : bool or "auto", default="auto"
        Scores of h are cosines, which ignore the length of h; it shrinks for nodes unlike the known ones. "auto": both
        cosines and inner products are combined; for h alone, those with the better cross-validated score.
    score_with : "auto", "predicted" or "known", default="auto"
        "known": the embedding of a known node replaces its prediction. "auto": both are combined; for h alone
        "predicted".
    center : bool, default=False
        Whether both kernels are centred. False, as in the paper.
    graph : (n, n) weights, networkx graph, ``kernels.Affinity`` or None, default=None
        Graph of the penalty, over all nodes of X, as in ``OperatorKernelRegressor``; None for 10 nearest neighbours.
    manifold : float or "auto", default=0.0
        Weight of the penalty of a graph, by which nodes without known links count (semi-supervised learning). "auto":
        searched with alpha if there are such nodes.
    feature_map : "auto", None, int or ``features.Landmarks``, default="auto"
        Landmarks that replace the kernel matrix. "auto": beyond 5000 known nodes. None: never.
    regressor : regressor of scikit-learn or None, default=None
        Predicts the embedding in place of the kernel machine.
    solver : str, default="auto"
        As in ``OperatorKernelRegressor``.
    tol : float, default=1e-6
        Relative duality gap at which the solver stops.
    max_iter : int, default=1000
        Iterations of the solver.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    nodes_ : ndarray (n,)
        Names of the nodes in the order of their features: an index, a graph's labels, or 0, 1, ...
    known_ : ndarray (l,)
        Positions in ``nodes_`` of the nodes whose links are known.
    embedding_ : ndarray (l, d)
        Embeddings of the known nodes; their inner products are the output kernel.
    fitted_ : ndarray (l, d)
        Values of h at the known nodes.
    thresholds_ : dict
        Thresholds of scores with the best cross-validated F1, for "known", "mixed" and "new" pairs of nodes. It is
        computed when it is read.
    cv_score_ : float
        Cross-validated ``scoring`` of h on pairs of known nodes, by which output kernels can be compared. NaN if none
        or all are linked. It is computed when it is read.
    weights_ : dict
        Weights of the scores in the log odds of a link, for each kind of pairs.
    model_ : OperatorKernelRegressor or regressor
        The fitted function h. Its samples are nodes in another order.
    alpha_, gamma_, kernel_, loss_, dual_gap_, n_iter_ : as in ``OperatorKernelRegressor``
    link_state_ : LinkState
        All that was learnt, for wrappers.
    n_features_in_, feature_names_in_ : as in scikit-learn

    References
    ----------
    - Brouard, C., Szafranski, M. and d'Alche-Buc, F. (2016). Input output kernel regression: supervised and
      semi-supervised structured output prediction with operator-valued kernels. JMLR 17(176).
    - Lu, L. and Zhou, T. (2010). Link prediction in weighted networks: the role of weak ties. EPL 89(1).
    - Lu, L. and Zhou, T. (2011). Link prediction in complex networks: a survey. Physica A 390(6).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import LinkPredictor
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> close = (abs(X - X.T) < 0.4).astype(int) - np.eye(30, dtype=int)
    >>> model = LinkPredictor().fit(X[:20], close[:20, :20])
    >>> bool(model.score(X[20:], close[20:, 20:]) > 0.9)
    True
    """

    conformal_strategy = "links"  # of ``ConformalPredictor``

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma="median",
        kernel_params=None,
        output_kernel="diffusion",
        beta=1.0,
        rank="auto",
        loss="squared",
        alpha="auto",
        scoring="roc_auc",
        criterion="pairs",
        similarities="auto",
        cosine="auto",
        score_with="auto",
        center=False,
        graph=None,
        manifold=0.0,
        feature_map="auto",
        regressor=None,
        solver="auto",
        tol=1e-6,
        max_iter=1000,
        verbose=0,
    ):
        store(self, locals())

    # ---------------------------------------------------------------- fit

    @transactional
    @with_fit_callbacks
    def fit(self, X, y=None, *, hidden=None):
        """Fit to nodes with features X and a graph y of some or all of them.

        Parameters
        ----------
        X : (n, n_features) array, inputs of the kernel, networkx graph, ``graphs.Pairs`` or None
            Features of the nodes. None: without features, only pairs of known nodes have scores. A networkx graph
            without y: features are the attributes of its nodes, if they have any. ``graphs.Pairs`` with y (m,) of 0
            and 1: all other pairs are hidden.
        y : graph, groups (n,) or None, default=None
            Adjacency matrix (l, l) of weights of the first l rows of X, dense or sparse, NaN where a pair is not known;
            or a networkx graph (weights are its attribute ``weight``), an edge list or a data frame, whose nodes are
            matched to rows of X by name, row i of an array being node i; or groups: equal labels are linked.
            ``graphs.read_known_graph`` has the details.
        hidden : mask (l, l), list of pairs of names or None, default=None
            Pairs that are not known.

        Returns
        -------
        self
        """
        check_collected(X, "X")
        check_collected(y, "y")
        selection = self._check_settings()
        nodes = self._read_nodes(X, y, hidden)
        self._check_links(nodes)
        if are_groups(y) and len(nodes.graph) < len(nodes.names) > len(y):
            raise ValueError(
                f"y has {len(y)} nodes and X {len(nodes.names)} samples, inconsistent numbers; give features of every "
                "node and its group, None for those in no group"
            )
        if nodes.X is None and not selection.structure:
            raise ValueError("similarities: without features X only those by the graph count; give 'auto', or X")
        nodes = nodes.in_canonical_order(kernels.is_precomputed(self.kernel))
        graph_embedding = GraphEmbedding(self._output_kernel(nodes), self.beta, self.rank, self.center)
        state = LinkState(nodes, graph_embedding, selection, self.criterion, self.scoring)
        progress = Progress(type(self).__name__, self.verbose)
        with threads_for(len(nodes.names)), progress.task("links", "stage", 1 + 2 * (nodes.X is not None)) as task:
            if nodes.X is not None:
                V = state.embed_known()
                task.step("embedded the known nodes")
                kernel, embedding = (self._fit_machine if self.regressor is None else self._fit_regressor)(nodes, V)
                state = replace(state, kernel=kernel, V=V, embedding=embedding, H=embedding(nodes.X))
                task.step("learnt their embedding")
            self.link_state_ = state.with_combinations()
            task.step("combined similarities")

    def _check_settings(self):
        """Check all plain settings; returns the scores to combine."""
        for name, choices in (("scoring", tuple(SCORING)), ("criterion", CRITERIA), ("score_with", SCORE_WITH)):
            check_choice(getattr(self, name), name, choices)
        check_alpha(self.alpha)
        check_choice(self.center, "center", (True, False))
        check_choice(self.cosine, "cosine", (True, False, "auto"))
        check_number(self.manifold, "manifold", strict=False, choices=("auto",))
        check_number(self.gamma, "gamma", choices=("auto", "median", "scale"))
        if self.regressor is not None:
            check_regressor(self.regressor)
            if self.manifold not in (0, "auto"):
                raise ValueError("regressor knows no graph of samples; set manifold=0, or regressor=None")
        return ScoreSelection(_read_similarities(self.similarities), self.cosine, self.score_with)

    def _check_links(self, nodes):
        """Raise or warn where there are too few links to learn from."""
        settings = ("alpha", "gamma", "manifold") if nodes.X is not None else ()
        searched = [name for name in settings if _is_auto(getattr(self, name))]
        searched += ["similarities"] if self.similarities is not None else []
        links = nodes.graph.adjacency.nnz // 2
        if not searched or links >= _FEW_LINKS:
            return
        if links < 2 and self.similarities is not None:
            raise ValueError(
                f"y has {links} known links (n_samples = {len(nodes.graph)}), too few to learn the weights of "
                "similarities from; give at least two, or similarities=None for the scores of h alone"
            )
        warn(
            f"y has {links} known links, fewer than {_FEW_LINKS}: there is little to learn {' and '.join(searched)} by"
        )

    def _output_kernel(self, nodes):
        """The setting; a matrix is restricted to the known nodes, in their internal order."""
        if isinstance(self.output_kernel, str):
            return self.output_kernel
        K, n = np.array(self.output_kernel, dtype=float), len(nodes.has_known_pair)
        if K.shape != (n, n):
            raise ValueError(f"output_kernel has shape {K.shape} for {n} nodes; give one row and column a node")
        rows = np.flatnonzero(nodes.has_known_pair)[np.argsort(nodes.known_positions)]
        return K[np.ix_(rows, rows)]

    # ---------------------------------------------------------------- the function h

    def _fit_machine(self, nodes, V):
        """The kernel of the nodes, and the kernel machine with the best settings."""
        l, n = len(V), _num_samples(nodes.X)
        settings = {
            "loss": snapshot(self.loss),
            "graph": self._graph(nodes),
            "feature_map": self._feature_map(),
            **{name: getattr(self, name) for name in ("solver", "tol", "max_iter", "verbose")},
        }
        weights = [self.manifold] if not _is_auto(self.manifold) else _MANIFOLDS if n > l else [0.0]
        known = take_inputs(nodes.X, np.arange(l), kernels.is_precomputed(self.kernel))
        machines = [
            MachineEmbedder({**settings, "manifold": weight}, kernel, nodes.X if weight else known, self.center)
            for weight in weights
            for kernel in self._kernels(nodes.X if any(weights) else known)
        ]
        machine, trial, result = self._search(l).search(machines, V, nodes.graph)
        if not np.isfinite(result.error):
            raise ValueError("y: the links' scores are not finite; use another output_kernel or beta")
        return machine.kernel, machine.fit(trial, result)

    def _feature_map(self):
        """The checked setting: folds of nodes are submatrices of kernel values, which landmarks have."""
        if isinstance(self.feature_map, str):
            return check_choice(self.feature_map, "feature_map", ("auto",), ", None, a number, features.Landmarks()")
        setting = features.as_feature_map(self.feature_map)
        if setting is not None and not isinstance(setting, features.Landmarks):
            raise ValueError(
                f"feature_map={self.feature_map!r}: links take landmarks; give a number or features.Landmarks(), or "
                "put a transformer before the model, make_pipeline(transformer, LinkPredictor('linear'))"
            )
        return setting

    def _search(self, n_known):
        # in a combination cosines are more informative than inner products, whose size depends on alpha
        automatic = [False, True] if self.similarities is None else [True]
        cosines = automatic if _is_auto(self.cosine) else [bool(self.cosine)]
        return LinkSearch(resolve_schedule(self.alpha, n_known), cosines, self.criterion, self.scoring)

    def _graph(self, nodes):
        """The setting ``graph``, a matrix in the internal order of the nodes."""
        if self.graph is None or kernels.computes_penalty(self.graph) or not self.manifold:
            return self.graph
        named = is_networkx(self.graph)
        graph = read_known_graph(self.graph, "graph", nodes=nodes.names).adjacency if named else self.graph
        W = kernels.check_graph(graph, len(nodes.order))
        return W[nodes.order][:, nodes.order]

    def _kernels(self, X):
        """Kernels to search, with numbers for gamma where they have one."""
        gamma = "median" if _is_auto(self.gamma) else self.gamma
        first = kernels.InputKernel.from_settings(self.kernel, gamma, self.kernel_params, X, np.ones(_num_samples(X)))
        if not _is_auto(self.gamma) or first.gamma is None or self.regressor is not None:
            return [first]
        return [replace(first, gamma=first.gamma * factor) for factor in _GAMMAS]

    def _fit_regressor(self, nodes, V):
        """The kernel of the nodes, and the regressor, with cosines or inner products by the better error."""
        X = take_inputs(nodes.X, np.arange(len(V)), kernels.is_precomputed(self.kernel))
        embedder = RegressorEmbedder(snapshot(self.regressor), X)
        kernel, search = self._kernels(X)[0], self._search(len(V))
        embeddings = [embedder.fit(V, cosine) for cosine in search.cosines]
        if len(embeddings) == 1:
            return kernel, embeddings[0]
        error = search.error(V, nodes.graph)
        return kernel, min(embeddings, key=lambda h: error(h.cross_validated_scores(V, self.criterion)))


def _read_similarities(names):
    """The setting ``similarities`` as a tuple of names, or None."""
    if names is None or _is_auto(names):
        return None if names is None else SIMILARITIES
    names = (names,) if isinstance(names, str) else names
    if not isinstance(names, (list, tuple)):
        raise TypeError(f"similarities must be 'auto', names or None, got {names!r}")
    for name in names:
        check_choice(name, "similarities", SIMILARITIES)
    if not names:
        raise ValueError("similarities has no names; give some, or None for the scores of h alone")
    return tuple(names)


def _is_auto(setting):
    return isinstance(setting, str) and setting == "auto"
