"""Link prediction from a kernel of the labelled nodes of a graph (Brouard et al. 2016, sections 6.1.3 and 6.1.4)."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import KernelCenterer, normalize

from .._validation import check_choice, check_number
from ..kernels import node_kernel
from ..kernels.graph import NODE_KERNELS
from .links import LinkBaseline, kept_spectrum


class OutputKernelBaseline(LinkBaseline):
    """What methods share that learn from a kernel of the labelled nodes: ``_learn_kernel(G)`` in place of the graph."""

    def _check_settings(self):
        if isinstance(self.output_kernel, str):
            check_choice(self.output_kernel, "output_kernel", NODE_KERNELS)
        check_number(self.beta, "beta", strict=False)
        check_number(self.alpha, "alpha")

    def _learn(self, W):
        self._learn_kernel(node_kernel(self.output_kernel, W, self.beta))


class KernelMatrixRegression(OutputKernelBaseline):
    """Penalised regression of one Gram matrix on another (PKMR; Yamanishi and Vert 2007).

    The output kernel is modelled as ``<f(x), f(z)>`` with f of many coordinates in the RKHS of the inputs, that is as
    ``k(x, X) A k(X, z)`` with A positive semi-definite. With K and G the Gram matrices of inputs and outputs of the l
    labelled nodes, A minimises

        1/(2 l) ||G - K A K||^2 + alpha/2 tr(A K)          tr(A K) is the squared norm of f

    so ``K A K`` is the positive part of ``G - alpha l / 2 K^-1``. Unlabelled nodes have no part in it.

    Parameters
    ----------
    kernel, gamma, kernel_params : of the nodes' inputs, as in ``OperatorKernelRegressor``
    output_kernel : "diffusion", "normalized_laplacian" or a PSD matrix
        (l, l) of the labelled nodes
    beta : number >= 0 of the output kernel
    alpha : positive number

    Attributes
    ----------
    X_fit_ : the labelled nodes, or their Gram matrix
    n_labelled_ : number l of labelled nodes
    kernel_, gamma_ : as used
    dual_coef_ : (l, r), A is its product with its transpose
    """

    def __init__(
        self, kernel="rbf", *, gamma="median", kernel_params=None, output_kernel="diffusion", beta=1.0, alpha=1e-3
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params
        self.output_kernel = output_kernel
        self.beta = beta
        self.alpha = alpha

    def _learn_kernel(self, G):
        K = self._training_gram()
        values, U = kept_spectrum(K)
        outputs = U.T @ G @ U
        penalty = self.alpha * len(G) / 2
        strengths, directions = scipy.linalg.eigh(outputs - np.diag(penalty / values), driver="evd")
        positive = strengths > 0
        strengths, directions = strengths[positive], directions[:, positive]
        # K^-1 q from the eigenvalue equation (G - penalty K^-1) q = strength q, which does not divide by values
        inverses = outputs @ directions / (penalty + np.multiply.outer(values, strengths))
        self.dual_coef_ = U @ (inverses * np.sqrt(strengths))
        self._known = self._represent(K)

    def _represent(self, R):
        return R @ self.dual_coef_


class KernelCCALinks(OutputKernelBaseline):
    """Links by features of the inputs that are correlated with the graph (kCCA; Yamanishi et al. 2004).

    Pairs of functions, f in the RKHS of the inputs and g in that of the output kernel, both centred, maximise

        f'g / sqrt((f'f + alpha l ||f||^2) (g'g + alpha l ||g||^2))          f, g here: values at the l labelled nodes

    each uncorrelated, in the same sense, with the ones before. The score of a pair of nodes is the cosine between
    their values of the first functions f. Unlabelled nodes have no part in it.

    Parameters
    ----------
    kernel, gamma, kernel_params : of the nodes' inputs, as in ``OperatorKernelRegressor``
    output_kernel : "diffusion", "normalized_laplacian" or a PSD matrix
        (l, l) of the labelled nodes
    beta : number >= 0 of the output kernel
    alpha : positive number
    n_components : number of functions, at most as many as the centred kernels allow; all of them together would be
        those of the inputs alone

    Attributes
    ----------
    X_fit_ : the labelled nodes, or their Gram matrix
    n_labelled_ : number l of labelled nodes
    kernel_, gamma_ : as used
    dual_coef_ : (l, r) functions are ``f = sum_i dual_coef_i k_c(., x_i)`` with the centred kernel k_c
    correlations_ : (r,) the maxima, descending
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
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params
        self.output_kernel = output_kernel
        self.beta = beta
        self.alpha = alpha
        self.n_components = n_components

    def _check_settings(self):
        super()._check_settings()
        check_number(self.n_components, "n_components", integer=True)

    def _learn_kernel(self, G):
        K = self._training_gram()
        self._centerer = KernelCenterer().fit(K)
        values, U = kept_spectrum(self._centerer.transform(K))
        output_values, Q = kept_spectrum(KernelCenterer().fit_transform(G))
        penalty = self.alpha * len(G)
        # coordinates in which the two sums under the square root are squared lengths
        whitened = (U * np.sqrt(values / (values + penalty))).T @ (
            Q * np.sqrt(output_values / (output_values + penalty))
        )
        left, correlations, _ = scipy.linalg.svd(whitened, full_matrices=False)
        self.correlations_ = correlations[: self.n_components]
        self.dual_coef_ = (U / np.sqrt(values * (values + penalty))) @ left[:, : self.n_components]
        self._known = self._represent(K)

    def _represent(self, R):
        features = self._centerer.transform(R) @ self.dual_coef_
        return normalize(features) if features.shape[1] else features


class EMKernelCompletion(OutputKernelBaseline):
    """Completes the output kernel by the nearest member of a family around the input kernel (Tsuda et al. 2003).

    The Gram matrix D of the outputs of all n nodes of fit is known for the l labelled ones, D_ll = G. Its completion is
    nearest to a model M (n, n), and M to it, in the divergence of Gaussians with these covariances,
    ``1/2 (tr(M^-1 D) - log det(M^-1 D) - n)``. Given M (e-step)

        D = M + M_:l M_ll^-1 (G - M_ll) M_ll^-1 M_l:         so  D_ul = M_ul M_ll^-1 G

    and given D (m-step) M is refitted. M has the eigenvectors of the input kernel; its eigenvalues are free but for a
    floor, or remain those of the input kernel up to a factor, and then the completion takes one step.

    M is known at a node x that was not seen at fit through the extension ``k(x, X) v_j / k_j`` of the eigenvectors, and
    the e-step then gives its scores. ``pair_scores`` takes both nodes as ones whose links are unknown,
    ``decision_function`` the second as known; for unlabelled nodes of fit both are the entries of `completed_`, off
    its diagonal.

    Parameters
    ----------
    kernel, gamma, kernel_params : of the nodes' inputs, as in ``OperatorKernelRegressor``
    output_kernel : "diffusion", "normalized_laplacian" or a PSD matrix
        (l, l) of the labelled nodes
    beta : number >= 0 of the output kernel
    model : "input" for the model ``w (K + alpha l I)`` with the best factor w; "spectral" for the eigenvectors of K
        with free eigenvalues, at least ``w alpha l``, by steps from there
    alpha : positive number
    tol, max_iter : the steps of "spectral" end when one decreases the divergence by less than ``tol l``

    Attributes
    ----------
    X_fit_ : the nodes of fit, or their Gram matrix
    n_labelled_ : number l of labelled nodes
    kernel_, gamma_ : as used
    completed_ : (n, n) the completed output kernel D
    model_ : (n, n) the model M it was completed by
    objectives_ : (n_iter_,) the divergence after each e-step, up to a constant: ``1/2 (tr(M_ll^-1 G) + log det M_ll)``
    n_iter_ : number of e-steps
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
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params
        self.output_kernel = output_kernel
        self.beta = beta
        self.model = model
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter

    def _check_settings(self):
        super()._check_settings()
        check_choice(self.model, "model", ("input", "spectral"))
        check_number(self.tol, "tol", strict=False)
        check_number(self.max_iter, "max_iter", integer=True)

    def _learn_kernel(self, G):
        values, V = kept_spectrum(self._training_gram())
        known = V[: len(G)]
        if not np.trace(G) > 0:
            raise ValueError("output_kernel is zero; give one with a positive diagonal")
        nugget = self.alpha * len(G)
        factor = np.trace(_solve(known, values, nugget, G)) / len(G)
        nugget *= factor  # the model is V spectrum V' + nugget I
        spectrum = self._iterate(known, factor * values, nugget, G)
        self._set_completion(values, V, spectrum, nugget, G)

    def _iterate(self, known, spectrum, nugget, G):
        """The spectrum of the model after alternating steps; sets `objectives_` and `n_iter_`."""
        steps = self.max_iter if self.model == "spectral" else 1
        objectives, converged = [], steps == 1
        while True:
            objective, variances = _e_step(known, spectrum, nugget, G)
            objectives.append(objective)
            converged = converged or (len(objectives) > 1 and objectives[-2] - objective <= self.tol * len(G))
            if converged or len(objectives) == steps:
                break
            spectrum = np.maximum(variances - nugget, 0.0)
        if not converged:
            warnings.warn(
                f"EMKernelCompletion: divergence still falls by {objectives[-2] - objectives[-1]:.1e} a step after "
                f"{steps} steps; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=5,
            )
        self.objectives_, self.n_iter_ = np.array(objectives), len(objectives)
        return spectrum

    def _set_completion(self, values, V, spectrum, nugget, G):
        root = np.sqrt(spectrum)
        features = V * root
        known = features[: len(G)]
        regression = _solve(V[: len(G)], spectrum, nugget, known)  # M_ll^-1 F_l
        # of nodes whose links are unknown: F (I - F_l' M_ll^-1 F_l + F_l' M_ll^-1 G M_ll^-1 F_l) F'
        self._metric = np.eye(len(root)) - known.T @ regression + regression.T @ G @ regression
        self._known = G @ regression
        self._features = V * (root / values)
        self.model_ = features @ features.T
        self.model_.flat[:: len(V) + 1] += nugget
        self.completed_ = features @ self._metric @ features.T
        self.completed_.flat[:: len(V) + 1] += nugget
        self.completed_[:, : len(G)] = features @ self._known.T
        self.completed_[: len(G)] = self.completed_[:, : len(G)].T
        self.completed_[: len(G), : len(G)] = G

    def decision_function(self, X):
        """Scores (m, l) of the pairs of X, taken as nodes whose links are unknown, with the labelled nodes."""
        return self._represent(self._rows(X)) @ self._known.T

    def _represent(self, R):
        return R @ self._features

    def _compare(self, first, second):
        return first @ self._metric @ second.T


def _factor(known, spectrum, nugget):
    """Cholesky factor of the model M_ll (l, l); known (l, r) are the eigenvectors' rows of the labelled nodes."""
    M = (known * spectrum) @ known.T
    M.flat[:: len(M) + 1] += nugget
    return scipy.linalg.cho_factor(M, lower=True, check_finite=False)


def _solve(known, spectrum, nugget, right):
    return scipy.linalg.cho_solve(_factor(known, spectrum, nugget), right, check_finite=False)


def _e_step(known, spectrum, nugget, G):
    """Divergence of the completion from the model, up to a constant, and its variances ``v_j' D v_j`` (r,)."""
    factor = _factor(known, spectrum, nugget)
    solved = scipy.linalg.cho_solve(factor, np.hstack([known, G]), check_finite=False)
    regression = solved[:, : len(spectrum)]
    objective = np.trace(solved[:, len(spectrum) :]) / 2 + np.log(np.diag(factor[0])).sum()
    # v_j' D v_j = c_j + c_j^2 v_j' M_ll^-1 (G - M_ll) M_ll^-1 v_j with c_j of M, as M v_j = c_j v_j
    change = np.einsum("ij,ij->j", regression, G @ regression) - np.einsum("ij,ij->j", known, regression)
    return objective, spectrum + nugget + (spectrum + nugget) ** 2 * change
