"""Layers of a kernel autoencoder: inner kernels with derivatives, and the objective of all layers but the last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.optimize

from .. import kernels
from .._utils.validation import check_choice, check_number
from ..core import solvers
from ..core.problem import Problem
from ..core.solvers import Solution
from ..core.terms import SeparableTerm
from ..leave_one_out import loo_residuals
from ..losses import Loss

INNER_KERNELS = ("rbf", "linear", "poly", "polynomial")  # kernels with a derivative in ``InnerKernel.pullback``
_PARAMS = {"degree": 3, "coef0": 1}  # defaults of polynomials, those of scikit-learn
_LAST_LAYER_TOL = 0.1  # gap of the last layer, relative to the decrease at which L-BFGS stops
_LAST_LAYER_ITER = 1000  # iterations of its solver
_SHIFT = 1e-6  # added to eigenvalues that scale a layer's parameters, relative to the largest
_LARGEST = 1e50  # codes and kernel values above it count as overflow
_LARGEST_GAP = 0.1  # gap above which the closed form of the last layer is only rounding errors
_LARGEST_ROUNDING = 1e-3  # relative rounding error of the norms above which the objective has no meaning
_FAILED_VALUE = 1e3  # objective of a failed step, relative to its value at the start, which the line search rejects
_REMEDY = "lower inner_gamma or the degree, raise alpha, or scale X"


@dataclass(frozen=True)
class InnerKernel:
    """A kernel of codes, differentiable in them."""

    name: str
    gamma: Any  # a number, None for the linear kernel
    params: dict | None = None

    def gram(self, Z, T=None):
        """Kernel values (n, m) of codes Z (n, p) with T (m, p), or with themselves."""
        return kernels.gram(self.name, Z, T, gamma=self.gamma, params=self.params)

    def pullback(self, Z, K, G):
        """Gradient (n, p) in the codes Z of a function of their Gram matrix K whose gradient in K is G, symmetric."""
        if self.name == "rbf":
            B, Z = G * K, Z - Z.mean(axis=0)
            return -4 * self.gamma * (B.sum(axis=1)[:, None] * Z - B @ Z)
        if self.name == "linear":
            return 2 * (G @ Z)
        degree, coef0 = ({**_PARAMS, **(self.params or {})}[name] for name in ("degree", "coef0"))
        slope = degree * self.gamma * (self.gamma * (Z @ Z.T) + coef0) ** (degree - 1)
        return 2 * ((G * slope) @ Z)


def check_inner_kernel(name, gamma, params):
    """Raise unless name, gamma and params are those of a differentiable kernel that is positive semi-definite."""
    if not isinstance(name, str):
        raise TypeError(f"inner_kernel must be a name, one of {INNER_KERNELS}, got {name!r}")
    check_choice(name, "inner_kernel", INNER_KERNELS)
    check_number(gamma, "inner_gamma", choices=("median", "scale"))
    known = sorted(_PARAMS) if name.startswith("poly") else []
    if params is None:
        return
    if not isinstance(params, dict) or not set(params) <= set(known):
        raise ValueError(
            f"inner_params of the {name} kernel must be a dictionary with keys among {known}, got {params!r}"
        )
    check_number(params.get("degree", 1), "inner_params: degree", integer=True)
    check_number(params.get("coef0", 0), "inner_params: coef0", strict=False)


def initial_layers(V, sizes, name, gamma, params):
    """The start of L-BFGS: parameters and roots of each inner layer (see ``Network``), and kernels of the codes.

    V : (n, d) coordinates of the samples
    sizes : number of codes of each layer

    Codes are kernel principal components of the layer before, not centred; functions have norm one. Components beyond
    the rank are zero and stay zero, since the derivative of the codes' Gram matrix vanishes there.
    """
    d, params = V.shape[1], None if params is None else dict(params)
    largest = [max(d - sizes[0], 0), d - 1]
    values, vectors = scipy.linalg.eigh(V.T @ V, subset_by_index=largest, check_finite=False)
    roots, parameters = [None], [_leading(values, vectors, sizes[0])]
    codes = V @ parameters[0]
    inner = [InnerKernel(name, kernels.resolve_gamma(name, gamma, codes), params)]
    for size in sizes[1:]:
        K = inner[-1].gram(codes)
        values, vectors = scipy.linalg.eigh(K, driver="evd", check_finite=False)
        roots.append(vectors / np.sqrt(np.maximum(values, 0.0) + max(_SHIFT * values[-1], np.finfo(float).tiny)))
        parameters.append(_leading(values, np.eye(len(K)), size))
        codes = K @ (roots[-1] @ parameters[-1])
        inner.append(InnerKernel(name, kernels.resolve_gamma(name, gamma, codes), params))
    return parameters, roots, inner


def _leading(values, vectors, size):
    """Vectors (n, size) of the largest of increasing eigenvalues, largest first, and zero beyond the rank."""
    n = len(vectors)
    rank = int(np.sum(values > max(values[-1], 0.0) * n * np.finfo(float).eps))
    columns = vectors[:, ::-1][:, : min(rank, size)]
    signs = np.sign(columns[np.abs(columns).argmax(axis=0), np.arange(columns.shape[1])])  # LAPACK leaves signs open
    return np.pad(columns * signs, [(0, 0), (0, size - columns.shape[1])])


class NumericalError(ValueError):
    """The objective overflows or consists of rounding errors."""


@dataclass(frozen=True)
class Evaluation:
    """The objective at parameters of the inner layers, the last layer at its optimum."""

    value: float
    gradients: list  # in the parameters of each inner layer
    coefs: list  # of each inner layer: W (d, p_1), C (n, p_l)
    codes: list  # (n, p_l) of each inner layer
    fitted: np.ndarray  # (n, d) coordinates of the reconstructions
    solution: Solution  # of the last layer


class Network:
    """The objective, a function of the inner layers alone (Laforgue et al. 2020, problem 11, for any loss).

        1/n sum_i loss(v_i - f_L(... f_1(v_i))) + alpha/2 sum_l ||f_l||^2

    V (n, d) are the samples' coordinates in the space of the input kernel, both inputs and targets. Layer 1 is linear
    there: codes V W with W (d, p_1), squared norm ||W||^2. A layer l in the middle has codes K C with C (n, p_l),
    squared norm <C, K C>, where K is the Gram matrix of the codes before it; its parameters are U of C = R U, with a
    root R (n, n) that makes <C, K C> about ||U||^2, so that steps are of one size in all layers. The last layer is
    solved in the dual at every evaluation, starting from the solution of the one before.
    """

    def __init__(self, V, roots: Sequence, inner: Sequence[InnerKernel], loss: Loss, alpha: float, tol: float):
        self.V, self.roots, self.inner, self.loss, self.alpha, self.tol = V, roots, inner, loss, alpha, tol
        self._dual: np.ndarray | None = None

    def forward(self, parameters):
        """Coefficients and codes of each inner layer, and Gram matrices of the codes."""
        coefs = [U if R is None else R @ U for U, R in zip(parameters, self.roots, strict=True)]
        codes: list = []
        grams: list = []
        for layer, kernel in enumerate(self.inner):
            codes.append((grams[-1] if layer else self.V) @ coefs[layer])
            _check_size(np.abs(codes[-1]))
            with np.errstate(over="ignore"):
                grams.append(kernel.gram(codes[-1]))
            _check_size(grams[-1].diagonal())
        return coefs, codes, grams

    def resolve_loss(self, parameters):
        """Resolve "auto" constants of the loss, from leave-one-out residuals of the squared loss."""
        term = SeparableTerm(self.forward(parameters)[2][-1])
        ((_, residuals),) = loo_residuals(term, self.V, [self.alpha * len(self.V)])
        self.loss = self.loss.resolve(residuals)

    def evaluate(self, parameters) -> Evaluation:
        coefs, codes, grams = self.forward(parameters)
        problem = Problem((SeparableTerm(grams[-1]),), self.V, self.loss, self.alpha * len(self.V))
        solution = solvers.solve(problem, tol=_LAST_LAYER_TOL * self.tol, max_iter=_LAST_LAYER_ITER, init=self._dual)
        self._dual = A = np.ascontiguousarray(solution.dual)
        # at the optimum of the squared loss Y = c A + fitted, which saves a product
        fitted = self.V - self.loss.curvature * A if self.loss.quadratic else problem.fitted(A)
        norms = np.vdot(coefs[0], coefs[0]) + sum(np.vdot(C, Z) for C, Z in zip(coefs[1:], codes[1:], strict=True))
        value = float(problem.primal(A, fitted) / len(self.V) + self.alpha / 2 * norms)
        squares = sum(np.trace(K) * np.vdot(C, C) for C, K in zip(coefs[1:], grams, strict=False))
        is_unsolved = self.loss.quadratic and solution.gap > _LARGEST_GAP
        if is_unsolved or np.finfo(float).eps * squares > _LARGEST_ROUNDING * norms:
            raise NumericalError(
                f"inner_kernel: kernel values {np.trace(grams[-1]):.0e} leave nothing but rounding; {_REMEDY}"
            )
        return Evaluation(value, self._gradients(coefs, codes, grams, A), coefs, codes, fitted, solution)

    def _gradients(self, coefs, codes, grams, A):
        """Derivatives of the optimal value, backwards from the last layer.

        The optimum of the last layer is minus that of its dual over n, where K enters by ``<A, K A> / (2 alpha n)``
        only. By the envelope theorem A may be held fixed: the derivative in K is ``-A A' / (2 alpha n^2)``.
        """
        G = (A @ A.T) / (-2 * self.alpha * len(A) ** 2)
        gradients: list = [None] * len(coefs)
        for layer in range(len(coefs) - 1, 0, -1):
            C, of_codes = coefs[layer], self.inner[layer].pullback(codes[layer], grams[layer], G)
            gradients[layer] = self.roots[layer].T @ (grams[layer - 1] @ (of_codes + self.alpha * C))
            G = of_codes @ C.T
            G = (G + G.T) / 2 + self.alpha / 2 * (C @ C.T)
        gradients[0] = self.V.T @ self.inner[0].pullback(codes[0], grams[0], G) + self.alpha * coefs[0]
        return gradients


def _check_size(values):
    if not values.max() < _LARGEST:
        raise NumericalError(f"inner_kernel: codes or their kernel values overflow; {_REMEDY}")


def minimise(network: Network, parameters, *, max_iter, tol, callback=None):
    """L-BFGS: the ``Evaluation`` of the last accepted iterate, the objective of all iterates, and scipy's result.

    The objective is divided by its value at the start, so that ``tol`` is relative to it. callback : function
    (iteration, evaluation) -> bool, whether to stop
    """
    shapes = [U.shape for U in parameters]
    cuts = np.cumsum([U.size for U in parameters])[:-1]
    accepted = latest = network.evaluate(parameters)
    scale = accepted.value if accepted.value > 0 else 1.0
    path = [accepted.value]

    def objective(theta):
        nonlocal latest
        parts = [part.reshape(shape) for part, shape in zip(np.split(theta, cuts), shapes, strict=True)]
        try:
            latest = network.evaluate(parts)
        except NumericalError:  # too long a step: a large value makes the line search shorten it
            return _FAILED_VALUE, np.zeros_like(theta)
        return latest.value / scale, _flatten(latest.gradients) / scale

    def accept(_):
        nonlocal accepted
        accepted = latest
        path.append(accepted.value)
        if callback is not None and callback(len(path) - 1, accepted):
            raise StopIteration  # scipy returns what was accepted last

    options = {"maxiter": max_iter, "ftol": tol, "gtol": 0.0, "maxfun": np.inf}
    result = scipy.optimize.minimize(
        objective, _flatten(parameters), jac=True, method="L-BFGS-B", callback=accept, options=options
    )
    return accepted, np.array(path), result


def _flatten(arrays):
    return np.concatenate([array.ravel() for array in arrays])
