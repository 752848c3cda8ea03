"""Link prediction from a kernel of the labelled nodes of a graph (Brouard et al. 2016, sections 6.1.3 and 6.1.4)."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import KernelCenterer, normalize

from ..._utils.fitting import store
from ..._utils.linalg import cholesky, cholesky_solve, spectrum
from ..._utils.naming import unnamed_in_errors
from ..._utils.validation import check_choice, check_number, warn
from ...kernels import node_kernel
from .links import RANK, LinkBaseline


@unnamed_in_errors
class OutputKernelBaseline(LinkBaseline):
    """Base of methods that learn from a kernel of the labelled nodes: ``_learn_kernel(G)`` replaces ``_learn(W)``."""

    def __init__(
        self, kernel="rbf", *, gamma="median", kernel_params=None, output_kernel="diffusion", beta=1.0, alpha=1e-3
    ):
        store(self, locals())

    def _learn(self, W):
        check_number(self.alpha, "alpha")
        self._learn_kernel(node_kernel(self.output_kernel, W, self.beta))


class KernelMatrixRegression(OutputKernelBaseline):
    """Penalised regression of one Gram matrix on another (PKMR).

    The output kernel is modelled as ``<f(x), f(z)>`` with f of many coordinates in the RKHS of the inputs, that is as
    ``k(x, X) A k(X, z)`` with A positive semi-definite. With K and G the Gram matrices of inputs and outputs of the l
    labelled nodes, A minimises::

        1/(2 l) ||G - K A K||^2 + alpha/2 tr(A K)          tr(A K) is the squared norm of f

    so ``K A K`` is the positive part of ``G - alpha l / 2 K^-1``. Unlabelled nodes are not used.

    Parameters
    ----------
    kernel : str, callable or kernel object, default="rbf"
        Kernel of the inputs of nodes, as in ``OperatorKernelRegressor``.
    gamma : float or {"median", "scale", "auto"}, default="median"
        Rate of a named kernel, as in ``OperatorKernelRegressor``.
    kernel_params : dict, default=None
        Further parameters of a named kernel, as in ``OperatorKernelRegressor``.
    output_kernel : str or array of shape (l, l), default="diffusion"
        Kernel of the labelled nodes, as in ``LinkPredictor``.
    beta : float, default=1.0
        Scale of the output kernel, as in ``LinkPredictor``.
    alpha : float, default=0.001
        Regularisation, positive.

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
        A is its product with its transpose.

    References
    ----------
    - Yamanishi and Vert (2007). Kernel matrix regression. International Conference on Applied Stochastic Models and
      Data Analysis.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import baselines, metrics
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> distances = ((X[:, None] - X) ** 2).sum(axis=2)
    >>> links = (distances < 0.5) & ~np.eye(40, dtype=bool)  # near nodes are linked
    >>> model = baselines.KernelMatrixRegression().fit(X[:30], links[:30, :30].astype(int))
    >>> scores = model.decision_function(X[30:])  # of new nodes with old ones
    >>> round(metrics.link_roc_auc(links[30:, :30], scores, pairs="all"), 1)
    0.9
    """

    def _learn_kernel(self, G):
        K = self._training_gram()
        values, U = scipy.linalg.eigh(K, driver="evd")  # all eigenvalues: where they are small, K^-1 q is large
        values, outputs = np.maximum(values, 0.0), U.T @ G @ U
        penalty, shift = self.alpha * len(G) / 2, 2 * np.linalg.norm(G, 1)
        # (G - penalty K^-1) q = strength q, in which K^-1 would drown G, is with q = U root b the well conditioned
        # root^2 b = (I - root outputs root) b / (shift - strength), the matrix on the right between I / 2 and I
        root = np.sqrt(values / (shift * values + penalty))
        right = np.eye(len(G)) - root[:, None] * outputs * root
        sizes, b = scipy.linalg.eigh(np.diag(root**2), right, driver="gvd")  # sizes: ||root b||^2
        strengths = shift - 1 / np.maximum(sizes, np.finfo(float).tiny)
        positive = strengths > 0
        strengths, directions = strengths[positive], root[:, None] * b[:, positive] / np.sqrt(sizes[positive])
        # K^-1 q from the first equation, which does not divide by values
        inverses = outputs @ directions / (penalty + np.multiply.outer(values, strengths))
        self.dual_coef_ = U @ (inverses * np.sqrt(strengths))
        self._known_ = self._represent(K)


class KernelCCALinks(OutputKernelBaseline):
    """Links by features of the inputs that are correlated with the graph (kCCA).

    Pairs of functions, f in the RKHS of the inputs and g in that of the output kernel, both centred, maximise::

        f'g / sqrt((f'f + alpha l ||f||^2) (g'g + alpha l ||g||^2))          f, g here: values at the l labelled nodes

    each uncorrelated, in the same sense, with the ones before. The score of a pair of nodes is the cosine between
    their values of the first functions f. Unlabelled nodes are not used.

    Parameters
    ----------
    kernel : str, callable or kernel object, default="rbf"
        Kernel of the inputs of nodes, as in ``OperatorKernelRegressor``.
    gamma : float or {"median", "scale", "auto"}, default="median"
        Rate of a named kernel, as in ``OperatorKernelRegressor``.
    kernel_params : dict, default=None
        Further parameters of a named kernel, as in ``OperatorKernelRegressor``.
    output_kernel : str or array of shape (l, l), default="diffusion"
        Kernel of the labelled nodes, as in ``LinkPredictor``.
    beta : float, default=1.0
        Scale of the output kernel, as in ``LinkPredictor``.
    alpha : float, default=0.001
        Regularisation, positive.
    n_components : int, default=20
        Largest number of functions; the ranks of the centred kernels limit it. All functions together depend on the
        inputs alone.

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
    correlations_ : array of shape (r,)
        The maxima, descending.

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
    >>> model = baselines.KernelCCALinks(n_components=10).fit(X[:30], links[:30, :30].astype(int))
    >>> scores = model.decision_function(X[30:])  # of new nodes with old ones
    >>> round(metrics.link_roc_auc(links[30:, :30], scores, pairs="all"), 1)
    1.0
    """

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma="median",
        kernel_params=None,
        output_kernel="diffusion",
        beta=1.0,
        alpha=1e-3,
        n_components=20,
    ):
        store(self, locals())

    def _learn_kernel(self, G):
        check_number(self.n_components, "n_components", integer=True)
        K = self._training_gram()
        self._centerer_ = KernelCenterer().fit(K)
        values, U = spectrum(self._centerer_.transform(K), RANK)
        output_values, Q = spectrum(KernelCenterer().fit_transform(G), RANK)
        penalty = self.alpha * len(G)
        # coordinates in which the two sums under the square root are squared lengths
        whitened = U * np.sqrt(values / (values + penalty))
        output_whitened = Q * np.sqrt(output_values / (output_values + penalty))
        directions, correlations, _ = scipy.linalg.svd(whitened.T @ output_whitened, full_matrices=False)
        self.correlations_ = correlations[: self.n_components]
        self.dual_coef_ = (U / np.sqrt(values * (values + penalty))) @ directions[:, : self.n_components]
        self._known_ = self._represent(K)

    def _represent(self, R):
        features = super()._represent(self._centerer_.transform(R))
        return normalize(features) if features.shape[1] else features


class EMKernelCompletion(OutputKernelBaseline):
    """Completes the output kernel by the nearest member of a family around the input kernel.

    The Gram matrix D of the outputs of all n nodes of fit is known for the l labelled ones, D_ll = G. Its completion is
    nearest to a model M (n, n), and M to it, in the divergence of Gaussians with these covariances,
    ``1/2 (tr(M^-1 D) - log det(M^-1 D) - n)``. Given M (e-step)::

        D = M + M_:l M_ll^-1 (G - M_ll) M_ll^-1 M_l:         so  D_ul = M_ul M_ll^-1 G

    and given D (m-step) M is refitted. M has the eigenvectors of the input kernel; its eigenvalues are free but for a
    floor, or remain those of the input kernel up to a factor, and then the completion takes one step.

    At a node x that is not a node of fit, M follows from the extension ``k(x, X) v_j / k_j`` of the eigenvectors, and
    the scores from the e-step. ``pair_scores`` treats the links of both nodes as unknown, ``decision_function`` those
    of the second node as known. For unlabelled nodes of fit both are the entries of `completed_` off its diagonal.

    Parameters
    ----------
    kernel : str, callable or kernel object, default="rbf"
        Kernel of the inputs of nodes, as in ``OperatorKernelRegressor``.
    gamma : float or {"median", "scale", "auto"}, default="median"
        Rate of a named kernel, as in ``OperatorKernelRegressor``.
    kernel_params : dict, default=None
        Further parameters of a named kernel, as in ``OperatorKernelRegressor``.
    output_kernel : str or array of shape (l, l), default="diffusion"
        Kernel of the labelled nodes, as in ``LinkPredictor``.
    beta : float, default=1.0
        Scale of the output kernel, as in ``LinkPredictor``.
    model : {"input", "spectral"}, default="input"
        "input" is the model ``w (K + alpha l I)`` with the best factor w. "spectral" has the eigenvectors of K and free
        eigenvalues, at least ``w alpha l``; its iterations start from "input".
    alpha : float, default=0.01
        Regularisation, positive.
    tol : float, default=1e-5
        The iterations of "spectral" stop when one decreases the divergence by less than ``tol l``.
    max_iter : int, default=500
        Largest number of iterations of "spectral".

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
    completed_ : array of shape (n, n)
        The completed output kernel D.
    model_ : array of shape (n, n)
        The model M.
    objectives_ : array, one entry for each e-step
        The divergence after each e-step, up to a constant: ``1/2 (tr(M_ll^-1 G) + log det M_ll)``.
    n_iter_ : int
        Number of e-steps.

    References
    ----------
    - Tsuda, Akaho and Asai (2003). The em algorithm for kernel matrix completion with auxiliary data. Journal of
      Machine Learning Research 4.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import baselines, metrics
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> distances = ((X[:, None] - X) ** 2).sum(axis=2)
    >>> links = (distances < 0.5) & ~np.eye(40, dtype=bool)  # near nodes are linked
    >>> model = baselines.EMKernelCompletion().fit(X[:30], links[:30, :30].astype(int))
    >>> scores = model.decision_function(X[30:])  # of new nodes with old ones
    >>> round(metrics.link_roc_auc(links[30:, :30], scores, pairs="all"), 1)
    0.9
    """

    _transductive = True

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma="median",
        kernel_params=None,
        output_kernel="diffusion",
        beta=1.0,
        model="input",
        alpha=1e-2,
        tol=1e-5,
        max_iter=500,
    ):
        store(self, locals())

    def _learn_kernel(self, G):
        check_choice(self.model, "model", ("input", "spectral"))
        check_number(self.tol, "tol", strict=False)
        check_number(self.max_iter, "max_iter", integer=True)
        values, V = spectrum(self._training_gram(), RANK)
        known = V[: len(G)]
        if not np.trace(G) > 0:
            raise ValueError("output_kernel is zero; give one with a positive diagonal")
        nugget = self.alpha * len(G)
        factor = np.trace(cholesky_solve(_factor(known, values, nugget), G)) / len(G)
        nugget *= factor  # the model is V diag(levels) V' + nugget I
        levels = self._iterate(known, factor * values, nugget, G)
        self._set_completion(values, V, levels, nugget, G)

    def _iterate(self, known, levels, nugget, G):
        """The levels of the model after alternating steps; sets `objectives_` and `n_iter_`."""
        steps = self.max_iter if self.model == "spectral" else 1
        objectives, converged = [], steps == 1
        while True:
            objective, variances = _e_step(known, levels, nugget, G)
            objectives.append(objective)
            converged = converged or (len(objectives) > 1 and objectives[-2] - objective <= self.tol * len(G))
            if converged or len(objectives) == steps:
                break
            levels = np.maximum(variances - nugget, 0.0)
        if not converged:
            warn(
                f"EMKernelCompletion: divergence still falls by {objectives[-2] - objectives[-1]:.1e} a step after "
                f"{steps} steps; raise max_iter or tol",
                ConvergenceWarning,
            )
        self.objectives_, self.n_iter_ = np.array(objectives), len(objectives)
        return levels

    def _set_completion(self, values, V, levels, nugget, G):
        root, l = np.sqrt(levels), len(G)
        features = V * root
        known = features[:l]
        regression = cholesky_solve(_factor(V[:l], levels, nugget), known)  # M_ll^-1 F_l
        # of nodes whose links are unknown: F (I - F_l' M_ll^-1 F_l + F_l' M_ll^-1 G M_ll^-1 F_l) F'
        self._metric_ = np.eye(len(root)) - known.T @ regression + regression.T @ G @ regression
        self._known_ = G @ regression
        self._features_ = V * (root / values)
        noise = nugget * np.eye(len(V))
        self.model_ = features @ features.T + noise
        self.completed_ = features @ self._metric_ @ features.T + noise
        self.completed_[:, :l] = features @ self._known_.T
        self.completed_[:l] = self.completed_[:, :l].T
        self.completed_[:l, :l] = G

    def decision_function(self, X):
        """Score the pairs of X with the labelled nodes; the links of X are treated as unknown.

        Parameters
        ----------
        X : array of shape (m, d)
            Inputs of nodes.

        Returns
        -------
        scores : array of shape (m, l)
            The larger, the likelier the link.
        """
        return self._represent(self._rows(X)) @ self._known_.T

    def _represent(self, R):
        return R @ self._features_

    def _compare(self, first, second):
        return first @ self._metric_ @ second.T


def _factor(known, levels, nugget):
    """Cholesky factor of the model M_ll (l, l); known (l, r) are the eigenvectors' rows of the labelled nodes."""
    return cholesky((known * levels) @ known.T, nugget)


def _e_step(known, levels, nugget, G):
    """Divergence of the completion from the model, up to a constant, and its variances ``v_j' D v_j`` (r,)."""
    factor = _factor(known, levels, nugget)
    regression, whitened = cholesky_solve(factor, known), cholesky_solve(factor, G)
    objective = np.trace(whitened) / 2 + np.log(np.diag(factor)).sum()
    # v_j' D v_j = c_j + c_j^2 v_j' M_ll^-1 (G - M_ll) M_ll^-1 v_j with c_j of M, as M v_j = c_j v_j
    change = np.einsum("ij,ij->j", regression, G @ regression - known)
    return objective, levels + nugget + (levels + nugget) ** 2 * change
