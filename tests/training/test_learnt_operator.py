"""The operator learnt with the function (``operators.LearnedOperator``) against the convex problem in both.

Given the function, ``tr(M^-1 S)`` over M of trace d is smallest at ``d S^1/2 / tr S^1/2``, with value
``(tr S^1/2)^2 / d``. With values ``H = K^1/2 U`` at the samples S is U'U, so the problem in both is convex,

    min over U    mean loss(Y - K^1/2 U) + alpha / (2 d) (sum of singular values of U)^2.
"""

import pickle
import warnings
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest
from helpers import by_hand
from helpers.refusals import assert_refused
from helpers.related_tasks import (
    CROSS,
    GAMMA,
    GRAPH,
    LAMBDA_2,
    NEW,
    PLAIN,
    RNG,
    ROWS,
    TRUTH,
    WEIGHTS,
    D,
    K,
    L,
    N,
    X,
    Y,
    regressor,
    root_of,
    with_manifold,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, RegularizationPathCV, operators
from hilbertlearn.data.functions import IrregularFunctions
from hilbertlearn.operators import AxisProduct, LearnedOperator, TaskGraph

ALPHA, BETA = 0.03, 0.15
LOSSES = {
    "squared": by_hand.radial("squared", lambda r: r**2 / 2, None, lambda r: cp.square(r) / 2),
    "huber": by_hand.huber(0.3, 2),
    "huber by entries": by_hand.huber(0.2, 1),
    "epsilon-insensitive": by_hand.tube(0.2, 2),
    "svr": by_hand.svr(0.2),
}
with_losses = pytest.mark.parametrize("name", LOSSES)

# few rounds are enough for most of what is tested here, and that is told
pytestmark = pytest.mark.filterwarnings("ignore:.*of the objective to gain")


@dataclass
class Case:
    """Data of a problem with outputs (N, d), and its objective written out."""

    gaps: bool = False
    weights: np.ndarray | None = None
    manifold: float = 0.0

    @property
    def T(self):
        T = Y.copy()
        if self.gaps:
            T[ROWS[0], 1] = T[ROWS[3], 0] = T[ROWS[5], 2:] = np.nan
        return T

    @property
    def w(self):
        return (np.ones(N) if self.weights is None else self.weights)[ROWS]

    def fit(self, loss, operator, **settings):
        options = {"alpha": ALPHA, "manifold": self.manifold, "graph": GRAPH, "loss": loss, "operator": operator}
        return OperatorKernelRegressor(**{"scale": False, **PLAIN, **options, **settings}).fit(X, self.T, self.weights)

    def mean_loss(self, hand, F):
        residuals = np.nan_to_num((self.T - F)[ROWS])
        return self.w @ hand.value(residuals) / self.w.sum()

    def smooth(self, F):
        return self.manifold / 2 * np.trace(F.T @ L @ F)

    def objective(self, hand, model):
        M = np.eye(D) if model.operator_ is None else model.operator_
        C = model.dual_coef_
        F = K @ C @ M
        return self.mean_loss(hand, F) + ALPHA / 2 * np.vdot(C, K @ C @ M) + self.smooth(F)

    def best(self, hand):
        """Minimum over functions and operators, and values (N, d) of the function, by Clarabel."""
        U = cp.Variable((N, D))
        H = root_of(K) @ U
        rows, constraints = hand.model(cp.multiply(np.isfinite(self.T)[ROWS], np.nan_to_num(self.T)[ROWS] - H[ROWS]))
        objective = self.w @ rows / self.w.sum() + ALPHA / (2 * D) * cp.square(cp.normNuc(U))
        if self.manifold:
            objective += self.manifold / 2 * cp.sum_squares(root_of(L) @ H)
        with_tolerance = {"solver": "CLARABEL", "tol_gap_rel": 1e-9, "tol_gap_abs": 1e-9}
        return cp.Problem(cp.Minimize(objective), constraints).solve(**with_tolerance), H.value


CASES = {
    "plain": Case(),
    "gaps": Case(gaps=True),
    "weights": Case(weights=WEIGHTS),
    "manifold": Case(manifold=BETA),
    "all": Case(True, WEIGHTS, BETA),
}
with_cases = pytest.mark.parametrize("case", CASES)


def inner_products(model):
    """``<h_i, h_j>`` (d, d) of the function's coordinates."""
    C = model.dual_coef_ @ model.operator_
    return C.T @ K @ C


def random_operators(rng, number, near=None):
    """PSD matrices of trace d, full, of low rank, or near a given one."""
    for k in range(number):
        B = rng.normal(size=(D, 1 + k % (D + 1)))
        P = B @ B.T + (0 if near is None else 20 * near) + 1e-9 * np.eye(D)
        yield D * P / np.trace(P)


@pytest.mark.parametrize("case", ["plain", "all"])
@with_losses
def test_objective_never_increases_and_is_the_problem_s(name, case):
    hand, case = LOSSES[name], CASES[case]
    model = case.fit(hand.loss, LearnedOperator(max_iter=8, tol=0))
    objectives = model.objectives_
    assert len(objectives) > 3 and (np.diff(objectives) <= 0).all()
    assert objectives[0] == pytest.approx(case.objective(hand, case.fit(hand.loss, None)), rel=1e-6)
    assert objectives[-1] == pytest.approx(case.objective(hand, model), rel=1e-6)
    assert objectives[-1] < 0.995 * objectives[0]
    assert np.trace(model.operator_) == pytest.approx(D)
    assert_allclose(model.operator_, model.operator_.T, atol=1e-10)
    assert np.linalg.eigvalsh(model.operator_).min() >= -1e-10


@pytest.mark.parametrize(
    "name, case",
    [
        *(("squared", case) for case in CASES),
        ("epsilon-insensitive", "plain"),
        ("epsilon-insensitive", "all"),
        ("svr", "gaps"),
        ("svr", "manifold"),
    ],
)
def test_function_and_operator_are_the_joint_optimum(name, case):
    hand, case = LOSSES[name], CASES[case]
    best, values = case.best(hand)
    model = case.fit(hand.loss, LearnedOperator(max_iter=300, tol=1e-8))
    assert model.objectives_[-1] == pytest.approx(best, rel=1e-5)
    assert_allclose(model.predict(X), values, atol=0.02)


@with_cases
@pytest.mark.parametrize("name", ["squared", "huber"])
def test_given_the_operator_the_function_is_the_optimum(name, case):
    hand, case = LOSSES[name], CASES[case]
    model = case.fit(hand.loss, LearnedOperator(max_iter=4))
    again = case.fit(hand.loss, model.operator_)
    assert model.dual_gap_ <= 1e-10
    assert_allclose(model.predict(NEW), again.predict(NEW), atol=1e-4)
    if name == "squared":
        w = np.zeros((N, D))
        w[ROWS] = case.w[:, None] * np.isfinite(case.T[ROWS])
        total, A = case.w.sum(), model.operator_
        system = np.diag(w.ravel()) + case.manifold * total * np.kron(L, np.eye(D))
        system = ALPHA * total * np.eye(N * D) + system @ np.kron(K, A)
        C = np.linalg.solve(system, (w * np.nan_to_num(case.T)).ravel()).reshape(N, D)
        assert_allclose(model.predict(NEW), CROSS @ C @ A, atol=1e-4)


@pytest.mark.parametrize("case", ["plain", "gaps", "manifold"])
def test_given_the_function_no_other_operator_is_better(case):
    hand, case, rng = LOSSES["squared"], CASES[case], np.random.default_rng(0)
    model = case.fit(hand.loss, LearnedOperator(max_iter=100, tol=1e-9))
    S, M = inner_products(model), model.operator_
    reached = np.trace(np.linalg.pinv(M, rcond=1e-10, hermitian=True) @ S)
    assert reached == pytest.approx(np.sqrt(np.maximum(np.linalg.eigvalsh(S), 0)).sum() ** 2 / D, rel=1e-3)
    for P in [*random_operators(rng, 50), *random_operators(rng, 50, near=M)]:
        assert np.trace(np.linalg.solve(P, S)) > reached * (1 - 1e-3)


def test_best_operator_of_inner_products():
    rng = np.random.default_rng(2)
    for rank in (1, 2, D):
        B = rng.normal(size=(rank, D))
        S = B.T @ B
        M = LearnedOperator.optimal_matrix(S)
        assert np.trace(M) == pytest.approx(D) and np.linalg.matrix_rank(M, tol=1e-6) == rank
        reached = np.trace(np.linalg.pinv(M, rcond=1e-6, hermitian=True) @ S)
        assert reached == pytest.approx(np.linalg.svd(B, compute_uv=False).sum() ** 2 / D)
        assert all(np.trace(np.linalg.solve(P, S)) > reached for P in random_operators(rng, 60))
    assert LearnedOperator.optimal_matrix(np.zeros((D, D))) is None


def test_constant_outputs_leave_the_identity():
    T = np.ones((N, D)) * [1, 2, 3, 4]
    model = OperatorKernelRegressor(operator="learned", alpha=0.1).fit(X, T)
    assert_allclose(model.predict(NEW), np.ones((len(NEW), D)) * [1, 2, 3, 4], atol=1e-10)


def test_names_and_lists_of_one_term():
    named = CASES["plain"].fit("squared", "learned")
    assert_array_equal(named.predict(NEW), CASES["plain"].fit("squared", LearnedOperator()).predict(NEW))
    one = OperatorKernelRegressor([("rbf", LearnedOperator())], alpha=ALPHA, scale=False, **PLAIN).fit(X, Y)
    assert_allclose(one.predict(NEW), named.predict(NEW), atol=1e-8)


def planted(n, d=20, noise=1.0):
    """Two functions behind twenty noisy tasks: inputs, outputs, and clean outputs at 300 new inputs."""
    rng = np.random.default_rng(5)
    B = rng.normal(size=(2, d))
    inputs, new = rng.normal(size=(n, 2)), rng.normal(size=(300, 2))
    behind = [np.c_[np.sin(2 * Z[:, 0]), Z[:, 1]] @ B for Z in (inputs, new)]
    return inputs, behind[0] + noise * rng.normal(size=(n, d)), new, behind[1], B


def test_planted_structure_is_found():
    inputs, T, new, clean, B = planted(60)
    found = {}
    for operator in (None, LearnedOperator(tol=1e-3)):
        model = OperatorKernelRegressor(gamma="median", operator=operator, scale=False).fit(inputs, T)
        found[operator is None] = np.mean((model.predict(new) - clean) ** 2)
    assert found[False] < 0.8 * found[True]
    model.set_params(alpha=0.06).fit(inputs, T)  # what predicts best keeps more than the two directions
    values, vectors = np.linalg.eigh(model.operator_)
    assert values[-2:].sum() > 0.9 * values.sum()
    plane = np.linalg.qr(B.T)[0]
    cosines = np.linalg.svd(plane.T @ vectors[:, -2:], compute_uv=False)
    assert cosines.min() > 0.95


def test_operator_is_learnt_for_curves_on_a_grid():
    inputs, T, *_ = planted(40)
    model = FunctionalRegressor(operator=LearnedOperator(), alpha=0.01).fit(inputs, T)
    assert (np.diff(model.objectives_) <= 0).all() and len(model.objectives_) > 2
    assert np.trace(model.operator_) == pytest.approx(T.shape[1])


# ---------------------------------------------------------------- paths, copies, refusals


def test_path_uses_folds():
    alphas = [0.01, 0.1]
    model = OperatorKernelRegressor(operator=LearnedOperator(), scale=False, **PLAIN)
    path = RegularizationPathCV(model, alphas).fit(X[ROWS], Y[ROWS])
    expected = np.zeros((5, 2))
    for row, (train, test) in zip(expected, KFold(5).split(ROWS)):
        for k, alpha in enumerate(alphas):
            fitted = clone(model).set_params(alpha=alpha).fit(X[ROWS[train]], Y[ROWS[train]])
            row[k] = np.mean(np.sum((Y[ROWS[test]] - fitted.predict(X[ROWS[test]])) ** 2, axis=1))
    assert path.n_splits_ == 5
    assert_allclose(path.errors_, expected.mean(axis=0), rtol=1e-4)
    assert path.alpha_ == alphas[np.argmin(path.errors_)]
    assert_allclose(path.best_estimator_.operator_.trace(), D)
    again = clone(model).set_params(alpha=path.alpha_).fit(X[ROWS], Y[ROWS])
    assert_allclose(path.predict(NEW), again.predict(NEW), atol=1e-6)


def test_leave_one_out_is_refused():
    learns = OperatorKernelRegressor(operator=LearnedOperator())
    assert_refused(lambda: RegularizationPathCV(learns, cv="loo").fit(X[ROWS], Y[ROWS]), ["cv='loo'", "cv=5"])
    assert_refused(learns.fit(X[ROWS], Y[ROWS]).loo_residuals, ["closed form", "cv=5"])


@pytest.mark.parametrize("settings", [{}, {"manifold": 0.1}], ids=["supervised", "semi-supervised"])
def test_alpha_is_chosen_by_folds(settings):
    T = Y[:, :3]
    model = OperatorKernelRegressor(operator=LearnedOperator(max_iter=3), gamma="median", **settings).fit(X, T)
    by_number = clone(model).set_params(alpha=model.alpha_, loss=model.loss_).fit(X, T)
    assert_allclose(by_number.predict(NEW), model.predict(NEW), atol=1e-6)
    assert model.dual_gap_ <= 1e-6 and (np.diff(model.objectives_) <= 0).all()


@pytest.mark.parametrize(
    "settings",
    [
        {"operator": LearnedOperator(max_iter=7, tol=1e-3)},
        {"operator": TaskGraph(mu=0.3)},
        {"output_metric": TaskGraph(mu=0.3, form="similarity")},
    ],
    ids=["learnt", "model 2", "model 1"],
)
def test_clone_pickle_and_search(settings):
    model = regressor(LAMBDA_2, **settings)
    copied = clone(model)
    assert not hasattr(copied, "operator_") and str(copied.get_params()) == str(model.get_params())
    expected = model.fit(X, Y).predict(NEW)
    assert_array_equal(copied.fit(X, Y).predict(NEW), expected)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(NEW), expected)
    (name, setting), number = next(iter(settings.items())), 3
    parameter = "max_iter" if isinstance(setting, LearnedOperator) else "mu"
    changed = clone(model).set_params(**{f"{name}__{parameter}": number if parameter == "max_iter" else 0.9})
    assert changed.get_params()[f"{name}__{parameter}"] != model.get_params()[f"{name}__{parameter}"]
    assert np.isfinite(changed.fit(X, Y).predict(NEW)).all()


def test_refitting_with_another_operator_forgets_the_rounds():
    model = regressor(operator=LearnedOperator()).fit(X, Y)
    assert hasattr(model, "objectives_")
    assert not hasattr(model.set_params(operator=None).fit(X, Y), "objectives_")


@pytest.mark.parametrize(
    "operator, words",
    [
        (LearnedOperator(max_iter=0), ["LearnedOperator: max_iter", "0"]),
        (LearnedOperator(max_iter=2.5), ["LearnedOperator: max_iter", "2.5"]),
        (LearnedOperator(tol=-1e-3), ["LearnedOperator: tol", "-0.001"]),
        (LearnedOperator(tol=np.nan), ["LearnedOperator: tol", "nan"]),
    ],
)
@with_manifold
def test_bad_settings_of_learning(operator, words, lambda_2):
    assert_refused(lambda: regressor(lambda_2, operator=operator).fit(X, Y), words)


def test_learning_is_refused_where_it_has_no_meaning():
    terms = [("rbf", LearnedOperator()), ("laplacian", None)]
    assert_refused(
        lambda: OperatorKernelRegressor(terms).fit(X, TRUTH), ["operator", "LearnedOperator", "single kernel"]
    )
    assert_refused(
        lambda: OperatorKernelRegressor(operator=LearnedOperator).fit(X, TRUTH), ["LearnedOperator()"], TypeError
    )
    points = [np.sort(RNG.random(5 + i % 3)) for i in range(N)]
    curves = IrregularFunctions(points, [np.sin(3 * t) for t in points], (0, 1))
    model = FunctionalRegressor(operator=LearnedOperator(), space="fourier")
    assert_refused(lambda: model.fit(X, curves), ["operator", "LearnedOperator", "irregular='projected'"])


def test_operator_of_a_name_is_known():
    assert operators.as_learned("learned").get_params() == LearnedOperator().get_params()
    assert operators.as_learned("covariance") is None and operators.as_learned(None) is None


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["squared", "huber", "huber by entries", "svr"])
def test_joint_optimum_also_where_it_drops_a_direction(name, case):
    """Blocks in turn alone stop up to 2.6e-3 (relative) above it for the Huber losses."""
    hand, case = LOSSES[name], CASES[case]
    best, _ = case.best(hand)
    model = case.fit(hand.loss, LearnedOperator(max_iter=60, tol=1e-6))
    assert model.objectives_[-1] == pytest.approx(best, rel=1e-4)
    # the certificate: tr(M C'KC) is the largest that an operator of trace d can make it
    C = model.dual_coef_
    Q = C.T @ K @ C
    left = ALPHA / 2 * (D * np.linalg.eigvalsh(Q)[-1] - np.vdot(model.operator_, Q))
    assert model.objectives_[-1] - best <= left * (1 + 1e-6) + 1e-8 and left < 0.01 * best


@pytest.mark.parametrize("alpha", [0.1, 0.01])
@pytest.mark.parametrize("manifold", [0.0, 0.05])
def test_objective_of_the_hinge(alpha, manifold):
    settings = {"loss": "hinge", "alpha": alpha, "gamma": GAMMA, "tol": 1e-9, "graph": GRAPH, "manifold": manifold}
    model = OperatorKernelRegressor(operator=LearnedOperator(10, 0), **settings).fit(X, TRUTH)
    C, M = model.dual_coef_, np.eye(D) if model.operator_ is None else model.operator_
    F = K @ C @ M
    L = np.diag(GRAPH.sum(axis=1)) - GRAPH
    loss = np.maximum(1 - (TRUTH * F).sum(axis=1), 0).mean()
    objective = loss + alpha / 2 * np.vdot(C, F) + manifold / 2 * np.trace(F.T @ L @ F)
    assert model.objectives_[-1] == pytest.approx(objective, rel=1e-6)
    assert model.objectives_[-1] < 0.99 * model.objectives_[0]


@pytest.mark.parametrize("metric", ["learned", LearnedOperator()], ids=["name", "object"])
def test_a_metric_is_not_learnt(metric):
    model = OperatorKernelRegressor(output_metric=metric, alpha=0.1)
    assert_refused(lambda: model.fit(X, TRUTH), ["output_metric", "LearnedOperator"])


@pytest.mark.parametrize(
    "operator", [AxisProduct(None, curves=LearnedOperator()), AxisProduct("learned")], ids=["curves", "domain"]
)
def test_learning_one_axis_is_refused(operator):
    curves = np.random.default_rng(0).normal(size=(len(X), 6, 2))
    model = FunctionalRegressor(operator=operator, alpha=0.1)
    assert_refused(lambda: model.fit(X, curves), ["AxisProduct", "LearnedOperator"])


def test_an_operator_that_did_not_converge_is_reported():
    X = np.random.default_rng(0).normal(size=(24, 3))
    Y = np.c_[X[:, 0], np.sin(X[:, 1])]
    with pytest.warns(ConvergenceWarning, match=r"LearnedOperator.*max_iter"):
        OperatorKernelRegressor(operator=operators.LearnedOperator(max_iter=1), alpha=0.01).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OperatorKernelRegressor(operator=operators.LearnedOperator(), alpha=0.01).fit(X, Y)
