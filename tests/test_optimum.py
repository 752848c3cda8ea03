"""Every optimum agrees with an independent one: the primal problem written by hand and given to Clarabel.

The function is written by its values at the samples, ``L u`` with ``L L' = sum_t K_t (x) M_t`` and ``||h|| = ||u||``;
the losses, their conjugates and the duality gap are written here again, from their formulas.
"""

import warnings
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.kernels import OutputBuilt
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

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")

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


# ------------------------------------------------------------------ every loss, every kind of data

flag = pytest.mark.parametrize


@flag("missing", [False, True], ids=["whole", "missing"])
@flag("weighted", [False, True], ids=["even", "weighted"])
@flag("structured", [False, True], ids=["M=I", "M"])
@flag("many", [False, True], ids=["one term", "two terms"])
@flag("name", LOSSES)
def test_optimum_and_gap(name, many, structured, weighted, missing):
    data, hand = make(many, structured, weighted, missing), LOSSES[name]
    check(data, hand, fit(data, hand.loss))


def dual_rows(data, model):
    """a_i of the labelled samples."""
    return model.dual_coef_[data.labelled] * data.s / data.w[:, None]


BOUNDS = {
    "huber-1": lambda A: np.abs(A) / 0.3,  # entry by entry
    "huber-2": lambda A: norms(A) / 0.5,
    "huber-inf": lambda A: np.abs(A).sum(axis=1) / 0.6,
    "huber-1.5": lambda A: p_norms(A, 3) / 0.4,
    "svr": norms,
    "norm": lambda A: norms(A) / 2,
    "square*svr": norms,
}


@flag("name", BOUNDS)
def test_some_rows_are_held_at_the_bound_and_reported(name):
    data = make(structured=True, weighted=True, missing=True)
    model = fit(data, LOSSES[name].loss)
    held = BOUNDS[name](dual_rows(data, model)) > 1 - 1e-7
    assert 0 < held.sum() < held.size
    assert_array_equal(model.saturated_[data.labelled], held)
    assert not model.saturated_[~data.labelled].any()


def test_margins_held_at_the_bound_are_reported():
    data = make(structured=True, weighted=True)
    model = fit(data, Hinge())
    b = dual_rows(data, model)[:, 0] / data.Y[:, 0]
    assert (b < 1e-9).any() and (b > 1 - 1e-7).any() and ((b > 1e-3) & (b < 1 - 1e-3)).any()
    assert_array_equal(model.saturated_, b > 1 - 1e-7)


@flag("name", ["epsilon-1", "epsilon-2", "epsilon-inf", "epsilon-3", "svr", "ball", "square*svr", "log"])
def test_some_rows_are_zero_and_reported(name):
    """As sparse losses leave them; p = inf leaves entries at zero, too."""
    data = make(structured=True, weighted=True, missing=True)
    model = fit(data, LOSSES[name].loss)
    used = np.flatnonzero(np.abs(model.dual_coef_).any(axis=1))
    assert 0 < len(used) < data.labelled.sum()
    assert_array_equal(model.support_, used)
    if name == "epsilon-inf":
        assert (dual_rows(data, model)[data.mask & np.isin(np.flatnonzero(data.labelled), used)[:, None]] == 0).any()


# ------------------------------------------------------------------ every solver


def solvers_that_fit(name):
    if name == "squared":
        return {"spectral", "splitting", "proximal_gradient", "conjugate_gradient"}
    return {"splitting", "proximal_gradient"} | ({"box_qp"} if name == "hinge" else set())


PAIRS = [(name, solver) for name in LOSSES for solver in sorted(solvers_that_fit(name))]


@flag(("name", "solver"), PAIRS)
def test_each_solver_reaches_the_optimum(name, solver):
    data, hand = make(structured=True, weighted=True, missing=solver != "spectral"), LOSSES[name]
    check(data, hand, fit(data, hand.loss, solver=solver))


@flag("name", ["squared", "huber-2", "hinge", "squared-hinge", "log"])
def test_a_solver_that_does_not_fit_is_refused(name):
    data, fits = make(), solvers_that_fit(name)
    for solver in {"spectral", "splitting", "proximal_gradient", "conjugate_gradient", "box_qp"} - fits:
        with pytest.raises(ValueError, match=f"solver='{solver}' cannot solve") as error:
            fit(data, LOSSES[name].loss, solver=solver)
        assert all(repr(good) in str(error.value) for good in fits)


def test_a_sum_of_terms_has_no_spectral_step():
    data = make(many=True)
    for solver in ("spectral", "splitting"):
        with pytest.raises(ValueError, match="cannot solve"):
            fit(data, Squared(), solver=solver)
    for solver in ("conjugate_gradient", "proximal_gradient"):
        check(data, LOSSES["squared"], fit(data, Squared(), solver=solver))


@flag("weighted", [False, True], ids=["even", "weighted"])
@flag("missing", [False, True], ids=["whole", "missing"])
@flag("hand", [tube(1.7, 2), tube(1.3, INF), svr(1.5), ball(1.8)], ids=lambda hand: repr(hand.loss))
def test_few_rows_of_many(hand, missing, weighted):
    """Most rows stay at zero, so that working sets are of use."""
    data = make(weighted=weighted, missing=missing, n=40)
    model = fit(data, hand.loss)
    assert 0 < len(model.support_) < 0.5 * data.labelled.sum()
    check(data, hand, model)


RADIAL = [name for name, hand in LOSSES.items() if not hand.on_margins and getattr(hand.loss, "p", 2) == 2]


@flag("alpha", [1.0, 1e-2, 1e-3, 1e-5])
@flag("name", RADIAL)
def test_one_sample_is_a_problem_on_the_line(name, alpha):
    """h(x) = a y / (alpha ||y||) where a minimises loss*(a) - a ||y|| + a^2 / (2 alpha): the start is far away."""
    hand, y = LOSSES[name], np.array([2.5, -2.0, 1.5])
    size = np.sqrt(y @ y)
    grid = np.linspace(0, alpha * size, 100_001)
    best = grid[np.argmin(hand.conjugate(grid[:, None]) - grid * size + grid**2 / (2 * alpha))] / alpha
    for solver in ("auto", "splitting", "proximal_gradient"):
        model = OperatorKernelRegressor(loss=hand.loss, alpha=alpha, center=False, solver=solver).fit([[0.0]], [y])
        assert model.dual_gap_ <= 1e-6
        assert_allclose(model.predict([[0.0]])[0], best * y / size, atol=5e-3)


# ------------------------------------------------------------------ losses that are another


@flag("center", [False, True])
@flag("missing", [False, True], ids=["whole", "missing"])
@flag("many", [False, True], ids=["one term", "two terms"])
@flag("loss", [Huber(INF), Huber(INF, p=1), Huber(INF, p=1.5), EpsilonInsensitive(0), EpsilonInsensitive(0, p=INF)])
def test_limits_are_ridge_regression(loss, many, missing, center):
    data = make(many, structured=True, weighted=True, missing=missing)
    options = {"center": center, "tol": 1e-13}
    ridge, limit = fit(data, Squared(), **options), fit(data, loss, **options)
    assert_allclose(limit.predict(data.inputs), ridge.predict(data.inputs), rtol=1e-6, atol=1e-6)
    assert_allclose(limit.center_, ridge.center_)
    assert_allclose(limit.dual_coef_, ridge.dual_coef_, rtol=1e-5, atol=1e-5)


@flag(
    ("loss", "composed"),
    [
        (Huber(0.5), InfConv(Squared(), Norm(0.5))),
        (EpsilonInsensitive(0.4), InfConv(Ball(0.4), Squared())),
        (EpsilonSVR(0.3), InfConv(Norm(), Ball(0.3))),
        (Norm(), EpsilonSVR(0)),
        (PowerNorm(2), Squared()),
    ],
    ids=repr,
)
def test_equal_losses_give_equal_functions(loss, composed):
    data = make(structured=True, weighted=True, missing=True)
    one, other = (fit(data, x, tol=1e-11, max_iter=20_000).predict(data.inputs) for x in (loss, composed))
    assert_allclose(one, other, atol=1e-4)


@flag("weighted", [False, True], ids=["even", "weighted"])
def test_ridge_is_that_of_scikit_learn(weighted):
    data = make(weighted=weighted)
    total = N if data.weights is None else data.weights.sum()
    theirs = KernelRidge(kernel="rbf", gamma=GAMMA, alpha=ALPHA * total).fit(data.X, data.Y, data.weights)
    ours = OperatorKernelRegressor(**OURS).fit(data.X, data.Y, data.weights)
    new = np.random.default_rng(3).normal(size=(20, 4))
    assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-9, atol=1e-12)
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-9, atol=1e-12)


# ------------------------------------------------------------------ weights and repetition


@flag("name", LOSSES)
def test_integer_weights_are_repetitions(name):
    """Also for the median bandwidth and for the centre, mean or median."""
    data, counts = make(missing=True, structured=True), np.array([1, 3, 2, 1, 2, 0, 1, 4, 1, 2, 0, 1, 1])
    settings = {**OURS, "gamma": "median", "center": True, "operator": operators()[0], "tol": 1e-10}
    model = OperatorKernelRegressor(loss=LOSSES[name].loss, **settings)
    weighted = model.fit(data.X, data.Y, counts)
    new = np.random.default_rng(3).normal(size=(20, 4))
    predicted, gamma, center, gap = weighted.predict(new), weighted.gamma_, weighted.center_, weighted.dual_gap_
    repeated = model.fit(np.repeat(data.X, counts, axis=0), np.repeat(data.Y, counts, axis=0))
    assert max(gap, repeated.dual_gap_) <= 1e-10
    assert gamma == pytest.approx(repeated.gamma_, rel=1e-12)
    assert_allclose(center, repeated.center_, atol=1e-8)
    assert_allclose(predicted, repeated.predict(new), atol=2e-4)


@flag("loss", [Huber(), Huber(p=1), Huber(p=3), EpsilonInsensitive(), EpsilonInsensitive(p=INF), EpsilonSVR()])
def test_automatic_settings_see_weights_as_repetitions(loss):
    data, counts = make(), np.array([1, 3, 2, 1, 2, 0, 1, 4, 1, 2, 0, 1, 1])
    model = OperatorKernelRegressor(loss=loss, max_iter=5000)
    weighted = model.fit(data.X, data.Y, counts)
    alpha, resolved = weighted.alpha_, weighted.loss_.get_params()
    repeated = model.fit(np.repeat(data.X, counts, axis=0), np.repeat(data.Y, counts, axis=0))
    assert alpha == pytest.approx(repeated.alpha_)
    assert resolved == pytest.approx(repeated.loss_.get_params())


def test_weights_act_through_their_ratios_and_zero_leaves_out():
    data = make(structured=True, weighted=True)
    for name in ("squared", "huber-2", "svr", "hinge"):
        loss = LOSSES[name].loss
        plain = fit(data, loss).predict(data.inputs)
        scaled = OperatorKernelRegressor(loss=loss, **{**OURS, **data.settings})
        assert_allclose(scaled.fit(data.inputs, data.Y, 7 * data.weights).predict(data.inputs), plain, atol=1e-3)
        weights = np.where(np.arange(N) < 4, 0, data.weights)
        kept = np.arange(4, N)
        without = OperatorKernelRegressor(loss=loss, **{**OURS, **data.settings})
        part = without.fit(data.inputs[np.ix_(kept, kept)], data.Y[kept], weights[kept]).predict(data.inputs[:, kept])
        zero = scaled.fit(data.inputs, data.Y, weights)
        assert_allclose(zero.predict(data.inputs), part, atol=1e-9)
        assert_allclose(zero.dual_coef_[:4], 0)


# ------------------------------------------------------------------ new points


@flag("name", ["squared", "huber-1.5", "epsilon-inf", "svr", "hinge"])
def test_sums_of_terms_predict_the_sum(name):
    data = make(many=True, structured=True, weighted=True, missing=True)
    model = fit(data, LOSSES[name].loss)
    new = np.random.default_rng(3).normal(size=(7, 4))
    grams = [rbf_kernel(new, data.X, gamma=GAMMA), laplacian_kernel(new, data.X, gamma=GAMMA)]
    assert_allclose(model.predict(new), data.predict(model.dual_coef_, grams), rtol=1e-10, atol=1e-12)


def test_two_terms_with_one_operator_are_one_term_with_the_sum_of_kernels():
    data, (M, _) = make(weighted=True, missing=True), operators()
    new = np.random.default_rng(3).normal(size=(7, 4))

    def both(A, B):
        return rbf_kernel(A, B, gamma=GAMMA) + laplacian_kernel(A, B, gamma=GAMMA)

    for name in ("squared", "huber-2", "epsilon-inf", "exp"):
        options = {**OURS, "loss": LOSSES[name].loss, "tol": 1e-11}
        two = OperatorKernelRegressor([("rbf", M), ("laplacian", M)], **options).fit(data.X, data.Y, data.weights)
        one = OperatorKernelRegressor(both, operator=M, **options).fit(data.X, data.Y, data.weights)
        assert_allclose(two.predict(new), one.predict(new), atol=1e-4)


# ------------------------------------------------------------------ kernels built from the outputs


def output_built(form, S, T, X, Y, mu):
    """The operator-valued kernel between points S and T, block by block, from the table of the six forms."""

    def k(a, b):
        return np.exp(-GAMMA * np.sum((a - b) ** 2))

    G = np.zeros((len(S), Y.shape[1], len(T), Y.shape[1]))
    for a, s in enumerate(S):
        for b, t in enumerate(T):
            for i, (x, y) in enumerate(zip(X, Y)):
                if form in ("i", "ii", "iii"):
                    local = 1.0 if form == "ii" else k(s, x) * k(t, x)
                    whole = 1.0 if form == "iii" else k(s, t)
                    G[a, :, b] += mu[i] * whole * local * np.outer(y, y)
                    continue
                for j, (u, z) in enumerate(zip(X, Y)):
                    local = 1.0 if form == "v" else k(s, x) * k(s, u) * k(t, x) * k(t, u)
                    whole = 1.0 if form == "vi" else k(s, t)
                    G[a, :, b] += mu[i, j] * whole * local * np.outer(y + z, y + z)
    return G.reshape(len(S) * Y.shape[1], len(T) * Y.shape[1])


def uneven(Y):
    return (0.1 + np.abs(Y[:, 0])) / len(Y)


def uneven_pairs(Y):
    return (0.1 + np.abs(Y[:, :1] - 2 * Y[:, 1])) / len(Y) ** 2


@flag("weights", ["uniform", "own"])
@flag("form", ["i", "ii", "iii", "iv", "v", "vi"])
def test_output_built_kernels_are_the_dense_ones(form, weights):
    rng = np.random.default_rng(8)
    n, pairs = 6, form in ("iv", "v", "vi")
    X, Y, new = rng.normal(size=(n, 2)), rng.normal(size=(n, D)) + 0.5, rng.normal(size=(4, 2))
    own = (uneven_pairs if pairs else uneven) if weights == "own" else None
    kernel = OutputBuilt(form, weights=own)

    def dense(outputs, S):
        uniform = np.full((n, n) if pairs else n, 1 / n**2 if pairs else 1 / n)
        return output_built(form, S, X, X, outputs, uniform if own is None else own(outputs))

    # squared loss, outputs centred by their mean: a linear system
    centred = Y - Y.mean(axis=0)
    a = np.linalg.solve(np.eye(n * D) + dense(centred, X) / (ALPHA * n), centred.ravel())
    ridge = OperatorKernelRegressor(kernel, **{**OURS, "center": True, "tol": 1e-14}).fit(X, Y)
    for points in (X, new):
        exact = (dense(centred, points) @ a / (ALPHA * n)).reshape(-1, D) + Y.mean(axis=0)
        assert_allclose(ridge.predict(points), exact, rtol=1e-5, atol=1e-6)
    assert_allclose(ridge.dual_coef_.ravel() * ALPHA * n, a, atol=1e-5)

    # Huber loss, not centred: the optimum of the dense problem
    data = Data(X, Y, None, [], {"kernel": kernel})
    data.gram = dense(Y, X)
    hand = huber(0.1, 2)
    model = fit(data, hand.loss)
    F, C = model.predict(X), model.dual_coef_
    assert_allclose(F.ravel(), data.gram @ C.ravel(), atol=1e-10)
    assert_allclose(model.predict(new).ravel(), dense(Y, new) @ C.ravel(), atol=1e-10)
    reached, best = primal(data, hand, F, squared_norm(data, C)), reference(data, hand)
    assert abs(reached - best) <= 1e-7 * best
    gap = (reached - dual_by_hand(data, hand, C)) / reached
    assert gap == pytest.approx(model.dual_gap_, abs=hand.accuracy) and gap <= 1e-8
    assert model.saturated_.any()


@flag("form", ["i", "ii", "iii", "iv", "v", "vi"])
def test_output_built_kernels_in_sums_with_weights_and_margins(form):
    """As one of two terms, with sample weights and gaps in the outputs, for a residual and a margin loss."""
    rng = np.random.default_rng(9)
    n, pairs = 6, form in ("iv", "v", "vi")
    X, Y, weights = rng.normal(size=(n, 2)), rng.normal(size=(n, D)), rng.uniform(0.5, 2, size=n)
    Y[1, 2] = Y[3, 0] = np.nan
    M, outputs = operators()[0], np.nan_to_num(Y)
    share = weights / weights.sum()
    mu = np.outer(share, share) if pairs else share
    K = laplacian_kernel(X, gamma=GAMMA)
    data = Data(X, Y, weights, [], {"kernel": [(OutputBuilt(form), None), ("laplacian", M)]})
    data.gram = output_built(form, X, X, X, outputs, mu) + np.kron(K, M)
    for name in ("huber-1", "squared-hinge", "hinge"):
        hand = LOSSES[name]
        model = fit(data, hand.loss)
        F, C = model.predict(X), model.dual_coef_
        assert_allclose(F.ravel(), data.gram @ C.ravel(), atol=1e-10)
        reached, best = primal(data, hand, F, squared_norm(data, C)), reference(data, hand)
        assert abs(reached - best) <= 1e-7 * best
        assert (reached - dual_by_hand(data, hand, C)) / reached == pytest.approx(model.dual_gap_, abs=hand.accuracy)
