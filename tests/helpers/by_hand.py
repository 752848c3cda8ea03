"""Losses, problems and optima written out independently of the package, for the tests of its optima.

The function is written by its values at the samples, ``L u`` with ``L L' = sum_t K_t (x) M_t`` and ``||h|| = ||u||``;
the losses, their conjugates and the duality gap are written here again, from their formulas.
"""

import warnings
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.losses import (
    Ball,
    EpsilonInsensitive,
    EpsilonSVR,
    ExpNorm,
    Hinge,
    Huber,
    InfConv,
    LogNorm,
    Norm,
    PowerNorm,
    Squared,
)

INF = np.inf
N, D, ALPHA, GAMMA = 13, 3, 0.03, 0.4
TIGHT = {"solver": "CLARABEL", "tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
OURS = {"alpha": ALPHA, "gamma": GAMMA, "center": False, "tol": 1e-9, "max_iter": 5000}


# ------------------------------------------------------------------ margin functions a user may bring


class SquaredHinge:
    """f(t) = max(0, 1 - t)^2, f*(-b) = b^2 / 4 - b for b >= 0."""

    def value(self, t):
        return np.maximum(0, 1 - t) ** 2

    def conjugate(self, b):
        return np.where(b >= -1e-12, b**2 / 4 - b, INF)

    def prox_conjugate(self, b, step):
        return np.maximum((b + step) / (1 + step / 2), 0)


class Logistic:
    """f(t) = log(1 + exp(-t)), f*(-b) = b log b + (1 - b) log(1 - b) on [0, 1]."""

    def value(self, t):
        return np.logaddexp(0, -t)

    def conjugate(self, b):
        b = np.clip(b, 1e-300, 1 - 1e-16)
        return b * np.log(b) + (1 - b) * np.log1p(-b)

    def prox_conjugate(self, b, step):
        low = np.full_like(b, -700.0)  # the logit u of the solution: 1 / (1 + exp(-u)) + step u = b
        high = -low
        for _ in range(100):
            u = (low + high) / 2
            right = 1 / (1 + np.exp(-u)) + step * u >= b
            low, high = np.where(right, low, u), np.where(right, u, high)
        return 1 / (1 + np.exp(-high))


# ------------------------------------------------------------------ losses by hand


@dataclass
class ByHand:
    """loss(R) and its whole conjugate on rows (n, d), the same loss for cvxpy, and its smallest value.

    ``model(R)`` gives the loss of each row as a cvxpy expression (n,) and a list of constraints.
    """

    loss: object
    value: object
    conjugate: object
    model: object
    floor: float = 0.0
    on_margins: bool = False
    accuracy: float = 1e-12  # of value, relative


def norms(R):
    return np.sqrt((R**2).sum(axis=1))


def cp_norms(R, p=2):
    return cp.norm(R, p, axis=1) if p in (1, 2, INF) else cp.hstack([cp.pnorm(row, p) for row in R])


def half_squares(R):
    return cp.sum(cp.square(R), axis=1) / 2


def inside(size, radius):
    return np.where(size <= radius * (1 + 1e-9), 0.0, INF)


def p_norms(R, p):
    return np.abs(R).max(axis=1) if np.isinf(p) else (np.abs(R) ** p).sum(axis=1) ** (1 / p)


def dual(p):
    return INF if p == 1 else 1.0 if np.isinf(p) else p / (p - 1)


def radial(loss, value, conjugate, model, **options):
    """A loss from three functions of the norm; ``model`` maps norms (n,) of cvxpy to (n,)."""
    return ByHand(
        loss, lambda R: value(norms(R)), lambda A: conjugate(norms(A)), lambda R: (model(cp_norms(R)), []), **options
    )


def convolution(loss, form, conjugate, value=None):
    """A loss that is a minimum over S (n, d): ``form(R, S)`` is (rows, constraints). Clarabel replaces a formula."""

    def model(R):
        return form(R, cp.Variable(R.shape))

    def minimum(R):
        rows, constraints = model(R)
        solve(cp.sum(rows), constraints)
        return rows.value

    return ByHand(loss, value or minimum, conjugate, model, accuracy=5e-10 if value is None else 1e-12)


def huber(kappa, p):
    """min over S of ||R - S||^2 / 2 + kappa ||S||_p, whose conjugate is ||A||^2 / 2 on ||A||_q <= kappa."""

    def form(R, S):
        return half_squares(R - S) + kappa * cp_norms(S, p), []

    def scalar(r):
        return np.where(r <= kappa, r**2 / 2, kappa * r - kappa**2 / 2)

    value = {1: lambda R: scalar(np.abs(R)).sum(axis=1), 2: lambda R: scalar(norms(R))}.get(p)
    return convolution(Huber(kappa, p), form, lambda A: norms(A) ** 2 / 2 + inside(p_norms(A, dual(p)), kappa), value)


def tube(epsilon, p):
    """min over ||S||_p <= epsilon of ||R - S||^2 / 2, whose conjugate is ||A||^2 / 2 + epsilon ||A||_q."""

    def form(R, S):
        return half_squares(R - S), [cp_norms(S, p) <= epsilon]

    def scalar(r):
        return np.maximum(r - epsilon, 0) ** 2 / 2

    value = {INF: lambda R: scalar(np.abs(R)).sum(axis=1), 2: lambda R: scalar(norms(R))}.get(p)
    return convolution(
        EpsilonInsensitive(epsilon, p), form, lambda A: norms(A) ** 2 / 2 + epsilon * p_norms(A, dual(p)), value
    )


def svr(epsilon):
    return radial(
        EpsilonSVR(epsilon),
        lambda r: np.maximum(r - epsilon, 0),
        lambda a: epsilon * a + inside(a, 1),
        lambda r: cp.pos(r - epsilon),
    )


def log_norm(scale):
    def model(R):
        t = cp.Variable(R.shape[0])  # t log t grows from 1/e on
        return -scale * cp.entr(t), [t >= cp_norms(R), t >= 1 / np.e]

    def value(R):
        r = np.maximum(norms(R), 1 / np.e)
        return scale * r * np.log(r)

    def conjugate(A):
        return scale * np.exp(norms(A) / scale - 1)

    return ByHand(LogNorm(scale), value, conjugate, model, floor=-scale / np.e)


def ball(scale):
    return ByHand(
        Ball(scale),
        lambda R: inside(norms(R), scale * (1 + 1e-5)),
        lambda A: scale * norms(A),
        lambda R: (np.zeros(R.shape[0]), [cp_norms(R) <= scale]),
    )


def exp_conjugate(a, scale):
    a = np.maximum(a, scale)
    return a * np.log(a / scale) - a + scale


def power_and_exp():
    """||S||^1.5 / 1.5 convolved with (exp ||R - S|| - 1) / 2."""

    def form(R, S):
        return cp.power(cp_norms(S), 1.5) / 1.5 + (cp.exp(cp_norms(R - S)) - 1) / 2, []

    return convolution(
        InfConv(PowerNorm(1.5), ExpNorm(0.5)), form, lambda A: norms(A) ** 3 / 3 + exp_conjugate(norms(A), 0.5)
    )


def square_and_svr():
    """||R - S||^2 / 2 convolved with max(||S|| - 0.2, 0): the tube of one, the outliers of the other."""

    def form(R, S):
        return half_squares(R - S) + cp.pos(cp_norms(S) - 0.2), []

    return convolution(
        InfConv(Squared(), EpsilonSVR(0.2)),
        form,
        lambda A: norms(A) ** 2 / 2 + 0.2 * norms(A) + inside(norms(A), 1),
        lambda R: np.where(norms(R) < 1.2, np.maximum(norms(R) - 0.2, 0) ** 2 / 2, norms(R) - 0.7),
    )


def margin(loss, value, conjugate, model):
    """A function of t = <y, h(x)>; ``conjugate(b)`` is f*(-b)."""
    return ByHand(loss, value, conjugate, model, on_margins=True)


def entropy(b):
    b = np.clip(b, 1e-300, 1 - 1e-16)
    return b * np.log(b) + (1 - b) * np.log1p(-b)


LOSSES = {
    "squared": ByHand(
        Squared(), lambda R: norms(R) ** 2 / 2, lambda A: norms(A) ** 2 / 2, lambda R: (half_squares(R), [])
    ),
    "huber-1": huber(0.3, 1),
    "huber-2": huber(0.5, 2),
    "huber-inf": huber(0.6, INF),
    "huber-1.5": huber(0.4, 1.5),
    "epsilon-1": tube(0.6, 1),
    "epsilon-2": tube(0.4, 2),
    "epsilon-inf": tube(0.25, INF),
    "epsilon-3": tube(0.3, 3),
    "svr": svr(0.3),
    "norm": radial(Norm(2), lambda r: 2 * r, lambda a: inside(a, 2), lambda r: 2 * r),
    "power-1.5": radial(PowerNorm(1.5), lambda r: r**1.5 / 1.5, lambda a: a**3 / 3, lambda r: cp.power(r, 1.5) / 1.5),
    "power-3": radial(
        PowerNorm(3, scale=2),
        lambda r: 2 / 3 * r**3,
        lambda a: a**1.5 * 2 / 3 / np.sqrt(2),
        lambda r: cp.power(r, 3) * 2 / 3,
    ),
    "log": log_norm(0.7),
    "exp": radial(
        ExpNorm(0.5),
        lambda r: np.expm1(r) / 2,
        lambda a: exp_conjugate(a, 0.5),
        lambda r: (cp.exp(r) - 1) / 2,
    ),
    "ball": ball(0.5),
    "power*exp": power_and_exp(),
    "square*svr": square_and_svr(),
    "hinge": margin(
        Hinge(), lambda t: np.maximum(0, 1 - t), lambda b: -b + inside(b, 1) + inside(-b, 0), lambda t: cp.pos(1 - t)
    ),
    "squared-hinge": margin(
        Hinge(SquaredHinge()),
        lambda t: np.maximum(0, 1 - t) ** 2,
        lambda b: b**2 / 4 - b + inside(-b, 0),
        lambda t: cp.square(cp.pos(1 - t)),
    ),
    "logistic": margin(Hinge(Logistic()), lambda t: np.log1p(np.exp(-t)), entropy, lambda t: cp.logistic(-t)),
}


# ------------------------------------------------------------------ problems


@dataclass
class Data:
    """A problem as the definition has it: ``terms`` are pairs (Gram matrix, operator)."""

    X: np.ndarray
    Y: np.ndarray
    weights: np.ndarray | None
    terms: list
    settings: dict  # of the estimator: kernel and operator

    def __post_init__(self):
        self.labelled = np.isfinite(self.Y).any(axis=1)  # n counts labelled samples
        self.mask = np.isfinite(self.Y)[self.labelled]
        self.targets = np.nan_to_num(self.Y[self.labelled])
        self.w = (np.ones(len(self.Y)) if self.weights is None else self.weights)[self.labelled]
        index = np.ix_(self.labelled, self.labelled)
        self.gram = sum(np.kron(K[index], M) for K, M in self.terms)  # rows are (sample, output)
        self.s = ALPHA * self.w.sum()

    @property
    def inputs(self):
        return self.terms[0][0] if self.settings["kernel"] == "precomputed" else self.X

    def predict(self, C, new=None):
        """sum_t K_t C M_t."""
        return sum((K if new is None else new[t]) @ C @ M for t, (K, M) in enumerate(self.terms))


def operators(d=D):
    rng = np.random.default_rng(5)
    return [(B @ B.T + 0.3 * np.eye(d)) / d for B in rng.normal(size=(2, d, d))]


def make(many=False, structured=False, weighted=False, missing=False, n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    Y = np.stack([np.sin(2 * X[:, 0]), X[:, 1] * X[:, 2], np.cos(X[:, 3])], axis=1) + 0.3 * rng.normal(size=(n, D))
    Y[:2] += 3.0  # outliers, so that bounds are met
    X[8] += 4.0  # far from the others and close to zero, so that it is fitted without a dual variable
    Y[8] *= 0.05
    weights = rng.uniform(0.3, 3.0, size=n) if weighted else None
    if missing:
        Y[rng.random(Y.shape) < 0.3] = np.nan
        Y[4] = np.nan  # not labelled
        Y[5] = [np.nan, 0.7, np.nan]
    grams = [rbf_kernel(X, gamma=GAMMA), laplacian_kernel(X, gamma=GAMMA)]
    M = operators() if structured else [np.eye(D), np.eye(D)]
    given = M if structured else [None, None]
    if many:
        return Data(X, Y, weights, list(zip(grams, M)), {"kernel": [("rbf", given[0]), ("laplacian", given[1])]})
    return Data(X, Y, weights, [(grams[0], M[0])], {"kernel": "precomputed", "operator": given[0]})


def solve(objective, constraints):
    """Minimal value, as accurate as Clarabel gets it; it warns when that is short of TIGHT."""
    problem = cp.Problem(cp.Minimize(objective), constraints)
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        value = problem.solve(**TIGHT)
    assert problem.status in ("optimal", "optimal_inaccurate")
    return value


def margins(data, F):
    """<y_i, f_i> over the observed entries; numpy or cvxpy."""
    product = data.targets * np.where(data.mask, F, 0) if isinstance(F, np.ndarray) else cp.multiply(data.targets, F)
    return product.sum(axis=1) if isinstance(F, np.ndarray) else cp.sum(product, axis=1)


def reference(data, hand):
    """Minimum of  sum_i w_i loss_i / sum_i w_i + alpha/2 ||h||^2  by Clarabel."""
    values, vectors = np.linalg.eigh(data.gram)
    root = vectors * np.sqrt(np.maximum(values, 0))
    u = cp.Variable(root.shape[1])
    F = cp.reshape(root @ u, data.targets.shape, order="C")
    if hand.on_margins:
        rows, constraints = hand.model(margins(data, F)), []
    else:  # what is not observed has no residual
        rows, constraints = hand.model(cp.multiply(data.mask, data.targets - F))
    return solve(data.w @ rows / data.w.sum() + ALPHA / 2 * cp.sum_squares(u), constraints)


def fit(data, loss, **settings):
    return OperatorKernelRegressor(loss=loss, **{**OURS, **data.settings, **settings}).fit(
        data.inputs, data.Y, data.weights
    )


def primal(data, hand, F, square):
    """Objective at a function with values F at the labelled samples and squared norm ``square``."""
    if hand.on_margins:
        losses = hand.value(margins(data, F))
    else:
        losses = hand.value(np.where(data.mask, data.targets - F, 0.0))
    return data.w @ losses / data.w.sum() + ALPHA / 2 * square


def squared_norm(data, C):
    return np.vdot(C, (data.gram @ C.ravel()).reshape(C.shape))


def dual_by_hand(data, hand, C):
    """The dual objective over sum(w), a lower bound of the primal, from ``C = w A / s`` of h = sum_t K_t C M_t."""
    A = C * data.s / data.w[:, None]
    assert_allclose(A[~data.mask], 0)
    if hand.on_margins:  # a_i = b_i y_i
        b = (A * data.targets).sum(axis=1) / (data.targets**2).sum(axis=1)
        assert_allclose(A, b[:, None] * data.targets, atol=1e-12)
        inner, conjugate = 0.0, hand.conjugate(b)
    else:
        inner, conjugate = (A * data.targets).sum(axis=1), hand.conjugate(A)
    return data.w @ (inner - conjugate) / data.w.sum() - ALPHA / 2 * squared_norm(data, C)


def feasible(data, F, scale):
    """Values and squared norm after the residuals' excess over the ball is interpolated."""
    R = np.where(data.mask, data.targets - F, 0.0)
    G = F + R * np.maximum(1 - scale / np.maximum(norms(R), 1e-300), 0)[:, None]
    return G, np.vdot(G.ravel(), np.linalg.solve(data.gram, G.ravel()))


def check(data, hand, model):
    """The optimum of Clarabel, and the duality gap outside of the solver."""
    best = reference(data, hand)
    F = model.predict(data.inputs)
    assert_allclose(F, data.predict(model.dual_coef_), rtol=1e-9, atol=1e-10)
    F, C = F[data.labelled], model.dual_coef_[data.labelled]
    reached = primal(data, hand, F, squared_norm(data, C))
    assert abs(reached - best) <= 1e-7 * (best - hand.floor)
    hard = isinstance(hand.loss, Ball)
    if hard:
        reached = primal(data, hand, *feasible(data, F, hand.loss.scale))
    gap = (reached - dual_by_hand(data, hand, C)) / (reached - hand.floor)
    assert -hand.accuracy <= gap <= 1e-8
    if hard:  # another admitted function may bound the optimum less tightly than the one by hand
        assert gap <= model.dual_gap_ + hand.accuracy and model.dual_gap_ <= 1e-8
    else:
        assert gap == pytest.approx(model.dual_gap_, abs=hand.accuracy)
