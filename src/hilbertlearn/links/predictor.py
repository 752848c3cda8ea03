"""Links of a graph: nodes are embedded by a kernel of the graph, and the embedding is predicted from their features."""

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
from ..training import check_alpha, scheduled
from .embedders import MachineEmbedder, RegressorEmbedder
from .inputs import are_groups, take_inputs
from .prediction import LinkPredictionMixin
from .selection import SCORING, LinkSearch
from .state import SCORE_WITH, SIMILARITIES, GraphEmbedding, LinkState, ScoreSelection
from .trials import CRITERIA

_GAMMAS = 4.0 ** np.arange(-3, 4)  # relative to the median rule
_MANIFOLDS = (0.0, 1e-4, 1e-3, 1e-2)
_FEW_LINKS = 10  # below which there is little to choose by


class LinkPredictor(FitCallbacksMixin, LinkPredictionMixin):
    """Prediction of the links of a graph from features of its nodes and from the links that are known.

    A function h with values in the space of an output kernel of the known graph is fitted to its nodes; two nodes are
    the more likely linked the larger ``<h(u), h(v)>`` is (Brouard et al. 2016, section 5.1). The similarity of the
    features themselves and, between nodes of the graph, similarities by their common neighbours and paths are scores
    too. They are combined to log odds of a link, with weights learnt from links that are held out: hidden pairs of
    known nodes, pairs of a known and a new node, and pairs of new ones, each kind by itself.

    Weights of links are strengths, relative to their mean, in the output kernel and in all similarities: their unit
    does not count, equal ones are as none, and a pair of weight 0 is not linked. What is predicted is whether there is
    a link. Draws of nodes and pairs do not depend on the order of the nodes, and are the same at each call.

    Parameters
    ----------
    kernel, kernel_params, graph, solver, tol, max_iter, verbose : as in ``OperatorKernelRegressor``
    gamma : float, "median", "scale", or "auto" for the best of seven around the median, chosen as alpha is
    output_kernel : "diffusion" for ``exp(-beta L)`` of the known graph, "normalized_laplacian" for ``(I + beta L)^-1``,
        or a PSD matrix (l, l) of the known nodes
    beta : parameter of the output kernel
    rank : of the output kernel: None as it is, a number of leading eigenvectors, or "auto", which takes some of these
        beyond 1000 nodes
    loss : "squared" (ridge), "hinge" (margin) or another loss of the package
    alpha : float, "auto", "n^-1/2" or "n^-1/4", n the number of known nodes
        "auto": by the scores of pairs of known nodes, both left out, in closed form for the squared loss; else with
        their folds, of 5. The output kernel is that of all known nodes.
    scoring : "roc_auc" or "average_precision", what "auto" chooses by
    criterion : "pairs", both nodes of a pair are left out, or "nodes", one at a time as in the paper. What is predicted
        for one then has seen the other, and with it their link: very smooth models look best.
    similarities : "auto" for all that are to be combined, or some of "adamic_adar", "resource_allocation",
        "preferential_attachment", "three_paths", "katz", "normalized_laplacian" (of known nodes), "attributes" (the
        kernel), "learnt" (by h); None: scores are those of h alone, as in the paper
    cosine : scores are cosines: lengths of h, which shrink for nodes unlike the known ones, do not count. "auto": both
        are combined; of h alone what has the better left-out score.
    score_with : "predicted", or "known": the known embedding of a known node in place of its prediction. "auto": both
        are combined; of h alone "predicted".
    center : bool, centre both kernels
    manifold : weight of a graph's penalty for nodes without links to count, 0 for not at all; "auto" is chosen as alpha
        is, where there are such nodes
    feature_map : landmarks in place of the kernel matrix of many nodes: "auto" beyond 5000 known nodes, None, a number,
        or ``features.Landmarks``; what nodes left out choose by is the kernel of these features
    regressor : regressor of scikit-learn that predicts the embedding in place of the kernel machine

    Attributes
    ----------
    nodes_ : (n,) names of the nodes, in the order of their features: an index, a graph's labels, or 0, 1, ...
    known_ : (l,) positions of those among them whose links are known
    embedding_ : (l, d) of the known nodes, rows whose inner products are the output kernel
    fitted_ : (l, d) h at the known nodes
    thresholds_ : of scores, the best by F1 on held-out pairs: a dictionary for "known" pairs of nodes, "mixed" ones
        and "new" ones; computed when asked for
    left_out_score_ : what ``scoring`` gives the scores of h for pairs of known nodes that were left out, to compare
        output kernels by; NaN if none is linked, or all are; computed when asked for
    weights_ : for each kind of pairs the weights of similarities in the log odds of a link
    model_ : the fitted ``OperatorKernelRegressor``, or the regressor; its samples are nodes in another order
    alpha_, gamma_, kernel_, loss_, dual_gap_, n_iter_ : as in ``OperatorKernelRegressor``

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
        """Fit to nodes with features X, of which some are the nodes of a graph y.

        Parameters
        ----------
        X : (n, n_features) or whatever the kernel takes; None without features: then known nodes alone are scored.
            A networkx graph, without y: features are the attributes of its nodes, if they have any. ``graphs.Pairs``,
            with y (m,) 0 or 1: pairs that are not among them are hidden.
        y : adjacency matrix (l, l) of weights, dense or sparse, of the first l rows of X, NaN where a pair is not
            known; a networkx graph (weights are its attribute ``weight``), an edge list or a data frame, whose nodes
            are matched to rows of X by name, row i of an array being node i; or groups (n,): equal labels are linked.
            ``graphs.read_known_graph`` has the details.
        hidden : pairs that are not known, a mask (l, l) or a list of pairs of names
        """
        check_collected(X, "X")
        check_collected(y, "y")
        wanted = self._check_settings()
        nodes = self._read_nodes(X, y, hidden)
        self._check_links(nodes)
        if are_groups(y) and len(nodes.graph) < len(nodes.names) > len(y):
            raise ValueError(
                f"y has {len(y)} nodes and X {len(nodes.names)} samples, inconsistent numbers; give features of every "
                "node and its group, None for those in no group"
            )
        if nodes.X is None and not wanted.structure:
            raise ValueError("similarities: without features X only those by the graph count; give 'auto', or X")
        nodes = nodes.in_canonical_order(kernels.is_precomputed(self.kernel))
        output = GraphEmbedding(self._output_kernel(nodes), self.beta, self.rank, self.center)
        state = LinkState(nodes, output, wanted, self.criterion, self.scoring)
        progress = Progress(type(self).__name__, self.verbose)
        with threads_for(len(nodes.names)), progress.task("links", "stage", 1 + 2 * (nodes.X is not None)) as task:
            if nodes.X is not None:
                V = state.embedded()
                task.step("embedded the known nodes")
                kernel, embedding = (self._machine if self.regressor is None else self._regression)(nodes, V)
                state = replace(state, kernel=kernel, V=V, embedding=embedding, H=embedding(nodes.X))
                task.step("learnt their embedding")
            self._state_ = state.with_combinations()
            task.step("combined similarities")

    def _check_settings(self):
        """Check all plain settings; returns which scores are wanted."""
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
        names = self.similarities
        if _is_auto(names):
            names = SIMILARITIES
        elif names is not None:
            names = (names,) if isinstance(names, str) else names
            if not isinstance(names, (list, tuple)):
                raise TypeError(f"similarities must be 'auto', names or None, got {names!r}")
            names = tuple(names)
            for name in names:
                check_choice(name, "similarities", SIMILARITIES)
            if not names:
                raise ValueError("similarities has no names; give some, or None for the scores of h alone")
        return ScoreSelection(names, self.cosine, self.score_with)

    def _check_links(self, nodes):
        """Raise or warn where there is too little to learn by."""
        settings = ("alpha", "gamma", "manifold") if nodes.X is not None else ()
        chosen = [name for name in settings if _is_auto(getattr(self, name))]
        chosen += ["similarities"] if self.similarities is not None else []
        links = nodes.graph.adjacency.nnz // 2
        if not chosen or links >= _FEW_LINKS:
            return
        if links < 2 and self.similarities is not None:
            raise ValueError(
                f"y has {links} known links (n_samples = {len(nodes.graph)}), too few to learn the weights of "
                "similarities from; give at least two, or similarities=None for the scores of h alone"
            )
        warn(f"y has {links} known links, fewer than {_FEW_LINKS}: there is little to learn {' and '.join(chosen)} by")

    def _output_kernel(self, nodes):
        """The setting; a matrix of the graph's nodes is cut to those of which pairs are known, in their order."""
        if isinstance(self.output_kernel, str):
            return self.output_kernel
        K, seen = np.array(self.output_kernel, dtype=float), nodes.seen
        if K.shape != (len(seen), len(seen)):
            raise ValueError(f"output_kernel has shape {K.shape} for {len(seen)} nodes; give one row and column a node")
        rows = np.flatnonzero(seen)[np.argsort(nodes.places)]
        return K[np.ix_(rows, rows)]

    # ---------------------------------------------------------------- the function h

    def _machine(self, nodes, V):
        """The kernel of the nodes, and the kernel machine with the settings that were chosen."""
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
        machine, candidate, best = self._choice(l).best(machines, V, nodes.graph)
        if not np.isfinite(best.error):
            raise ValueError("y: the links' scores are not finite; use another output_kernel or beta")
        return machine.kernel, machine.fitted(candidate, best)

    def _feature_map(self):
        """The setting, checked: landmarks go with kernel values, which folds of nodes are cut from."""
        if isinstance(self.feature_map, str):
            return check_choice(self.feature_map, "feature_map", ("auto",), ", None, a number, features.Landmarks()")
        setting = features.as_feature_map(self.feature_map)
        if setting is not None and not isinstance(setting, features.Landmarks):
            raise ValueError(
                f"feature_map={self.feature_map!r}: links take landmarks; give a number or features.Landmarks(), or "
                "put a transformer before the model, make_pipeline(transformer, LinkPredictor('linear'))"
            )
        return setting

    def _choice(self, n_known):
        # combined with others, cosines say more than inner products, whose sizes the alpha decides on
        either = [False, True] if self.similarities is None else [True]
        cosines = either if _is_auto(self.cosine) else [bool(self.cosine)]
        return LinkSearch(scheduled(self.alpha, n_known), cosines, self.criterion, self.scoring)

    def _graph(self, nodes):
        """The setting ``graph``, a matrix in the order of the nodes."""
        if self.graph is None or kernels.computes_penalty(self.graph) or not self.manifold:
            return self.graph
        named = is_networkx(self.graph)
        graph = read_known_graph(self.graph, "graph", nodes=nodes.names).adjacency if named else self.graph
        W = kernels.check_graph(graph, len(nodes.order))
        return W[nodes.order][:, nodes.order]

    def _kernels(self, X):
        """Kernels to choose from, with numbers for gamma where they have one."""
        gamma = "median" if _is_auto(self.gamma) else self.gamma
        first = kernels.InputKernel.from_settings(self.kernel, gamma, self.kernel_params, X, np.ones(_num_samples(X)))
        if not _is_auto(self.gamma) or first.gamma is None or self.regressor is not None:
            return [first]
        return [replace(first, gamma=first.gamma * factor) for factor in _GAMMAS]

    def _regression(self, nodes, V):
        """The kernel of the nodes, and the regressor in place of the kernel machine."""
        X = take_inputs(nodes.X, np.arange(len(V)), kernels.is_precomputed(self.kernel))
        regression = RegressorEmbedder(snapshot(self.regressor), X)
        kernel, choice = self._kernels(X)[0], self._choice(len(V))
        found = [regression.fitted(V, cosine) for cosine in choice.cosines]
        if len(found) == 1:
            return kernel, found[0]
        error = choice.error(V, nodes.graph)
        return kernel, min(found, key=lambda embedding: error(embedding.left_out(V, self.criterion)))


def _is_auto(setting):
    return isinstance(setting, str) and setting == "auto"
