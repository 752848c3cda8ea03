"""Related tasks: models 0 to 2 of Brouard et al. 2016, section 5.2, written out densely."""

import cvxpy as cp
import numpy as np
import pytest
from helpers import by_hand
from helpers.refusals import assert_refused
from helpers.related_tasks import (
    CROSS,
    KNOWN,
    LAMBDA_1,
    LAMBDA_2,
    NEW,
    OTHERS,
    RNG,
    ROWS,
    TRUTH,
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
from numpy.testing import assert_allclose
from sklearn.model_selection import KFold

from hilbertlearn import RegularizationPathCV
from hilbertlearn.losses import Huber
from hilbertlearn.operators import TaskGraph


def similarity(T, rate=None):
    """M (d, d) of whole rows T (l, d); by default one over the median of the mean squared differences."""
    squares = np.array([[np.mean((a - b) ** 2) for b in T.T] for a in T.T])
    rate = 1 / np.median(squares[np.triu_indices(len(squares), 1)]) if rate is None else rate
    return np.exp(-rate * squares)


def A_1(M, mu):
    return mu * M + (1 - mu) * np.eye(len(M))


def A_2(M, mu):
    return np.linalg.inv(mu * (np.diag(M.sum(axis=1)) - M) + (1 - mu) * np.eye(len(M)))


def by_kronecker(T, A, lambda_2, cross=CROSS):
    """Predictions (m, d) for targets T (N, d), rows of NaN unlabelled, from the whole system of N d equations."""
    d = T.shape[1]
    J = np.diag(np.isfinite(T).all(axis=1).astype(float))
    system = LAMBDA_1 * np.eye(N * d) + np.kron(J + 2 * lambda_2 * L, np.eye(d)) @ np.kron(K, A)
    C = np.linalg.solve(system, np.nan_to_num(T).ravel()).reshape(N, d)
    return cross @ C @ A


def as_printed(T, lambda_2, eigenvalue=1.0):
    """``T_l J (lambda_1 I + gamma_j K (J'J + 2 lambda_2 L))^-1 k_x`` (m, d), as in section 5.2."""
    J = np.eye(N)[ROWS]
    system = LAMBDA_1 * np.eye(N) + eigenvalue * K @ (J.T @ J + 2 * lambda_2 * L)
    return (T[ROWS].T @ J @ np.linalg.solve(system, CROSS.T)).T


# ---------------------------------------------------------------- the three models


@with_manifold
def test_model_0_learns_tasks_apart(lambda_2):
    together = regressor(lambda_2).fit(X, Y).predict(NEW)
    assert_allclose(together, by_kronecker(Y, np.eye(D), lambda_2), atol=1e-8)
    assert_allclose(together, as_printed(Y, lambda_2), atol=1e-8)
    for j in range(D):
        assert_allclose(regressor(lambda_2).fit(X, Y[:, j]).predict(NEW), together[:, j], atol=1e-8)


@with_manifold
@pytest.mark.parametrize("mu", [0.0, 0.6, 1.0])
def test_model_1_has_the_similarities_in_the_output_kernel(mu, lambda_2):
    root = root_of(A_1(similarity(Y[ROWS]), mu))
    model = regressor(lambda_2, output_metric=TaskGraph(mu=mu, form="similarity")).fit(X, Y)
    expected = as_printed(Y @ root, lambda_2)
    assert_allclose(by_kronecker(Y @ root, np.eye(D), lambda_2), expected, atol=1e-10)
    assert_allclose(CROSS @ model.dual_coef_, expected, atol=1e-8)
    assert_allclose(model.predict(NEW) @ root, expected, atol=1e-8)


@with_manifold
@pytest.mark.parametrize("mu", [0.0, 0.3, 0.8])
def test_model_2_has_the_graph_in_the_operator(mu, lambda_2):
    A = A_2(similarity(Y[ROWS]), mu)
    model = regressor(lambda_2, operator=TaskGraph(mu=mu)).fit(X, Y)
    assert_allclose(model.predict(NEW), by_kronecker(Y, A, lambda_2), atol=1e-8)
    values, vectors = np.linalg.eigh(A)
    printed = sum(g * as_printed(Y, lambda_2, g) @ np.outer(e, e) for g, e in zip(values, vectors.T))
    assert_allclose(model.predict(NEW), printed, atol=1e-8)


def test_model_2_pulls_related_tasks_together():
    """Its norm is ``mu/2 sum M_ij ||h_i - h_j||^2 + (1 - mu) sum ||h_i||^2``, by the paper's regulariser."""
    M, mu = similarity(Y[ROWS]), 0.7
    model = regressor(operator=TaskGraph(mu=mu)).fit(X, Y)
    C = model.dual_coef_ @ model.operator_
    S = C.T @ K @ C
    pairs = sum(M[i, j] * (S[i, i] + S[j, j] - 2 * S[i, j]) for i in range(D) for j in range(D))
    norm = np.vdot(model.dual_coef_, K @ model.dual_coef_ @ model.operator_)
    assert norm == pytest.approx(mu / 2 * pairs + (1 - mu) * np.trace(S), rel=1e-8)


@pytest.mark.parametrize("rate", [0.2, 3.0])
def test_rate_and_similarities_may_be_given(rate):
    M = similarity(Y[ROWS], rate)
    for graph in (TaskGraph(mu=0.5, gamma=rate), TaskGraph(M, mu=0.5)):
        assert_allclose(regressor(operator=graph).fit(X, Y).operator_, A_2(M, 0.5), atol=1e-10)


def test_gaps_in_model_2():
    """Similarities over the pairs observed in both; the squared loss over observed entries, solved densely."""
    T = Y.copy()
    T[ROWS[0], 1] = T[ROWS[3], [0]] = T[ROWS[5], 2:] = np.nan
    both = np.isfinite(T)[:, :, None] & np.isfinite(T)[:, None, :]
    squares = np.nanmean(np.where(both, (T[:, :, None] - T[:, None, :]) ** 2, np.nan)[ROWS], axis=0)
    A = A_2(np.exp(-squares / np.median(squares[np.triu_indices(D, 1)])), 0.6)
    for lambda_2 in (0.0, LAMBDA_2):
        seen = np.diag(np.isfinite(T).ravel().astype(float))
        system = LAMBDA_1 * np.eye(N * D) + (seen + 2 * lambda_2 * np.kron(L, np.eye(D))) @ np.kron(K, A)
        expected = CROSS @ np.linalg.solve(system, np.nan_to_num(T).ravel()).reshape(N, D) @ A
        model = regressor(lambda_2, operator=TaskGraph(mu=0.6), tol=1e-12).fit(X, T)
        assert_allclose(model.predict(NEW), expected, atol=1e-5)


# ---------------------------------------------------------------- training outputs only


@with_manifold
def test_tasks_are_compared_on_training_outputs_only(lambda_2):
    """Samples of weight 0 have outputs that say something else; samples without outputs say nothing."""
    T = Y.copy()
    T[OTHERS[:3]] = 100 * RNG.normal(size=(3, D))
    weights = np.ones(N)
    weights[OTHERS[:3]] = 0.0
    M = similarity(Y[ROWS])
    model = regressor(lambda_2, operator=TaskGraph(mu=0.5)).fit(X, T, weights)
    assert_allclose(model.operator_, A_2(M, 0.5), atol=1e-10)
    model = regressor(lambda_2, output_metric=TaskGraph(mu=0.5, form="similarity")).fit(X, T, weights)
    assert_allclose(model.space_.root, root_of(A_1(M, 0.5)), atol=1e-10)


def folds_by_hand(fitted, lambda_2):
    """Mean over 3 folds of held-out squared errors; ``fitted(T, s, b)`` gives predictions at X and the errors' root."""
    errors = []
    for train, test in KFold(3).split(ROWS):
        T = np.full((N, D), np.nan)
        T[ROWS[train]] = Y[ROWS[train]]
        predicted, root = fitted(T)
        errors.append(np.mean(np.sum(((Y - predicted)[ROWS[test]] @ root) ** 2, axis=1)))
    return np.mean(errors)


def fold_ridge(T, A, lambda_2):
    """Predictions at X with the alpha and beta of all labelled samples, for fewer of them."""
    w, share = np.isfinite(T).all(axis=1), np.isfinite(T).all(axis=1).sum() / KNOWN
    system = LAMBDA_1 * share * np.eye(N * D)
    system += np.kron(np.diag(1.0 * w) + 2 * lambda_2 * share * L, np.eye(D)) @ np.kron(K, A)
    return K @ np.linalg.solve(system, np.nan_to_num(T).ravel()).reshape(N, D) @ A


@with_manifold
def test_folds_compare_tasks_on_their_own_training_outputs(lambda_2):
    def model_1(T):
        root = root_of(A_1(similarity(T[np.isfinite(T[:, 0])]), 0.7))
        return fold_ridge(T @ root, np.eye(D), lambda_2) @ np.linalg.inv(root), root

    def model_2(T):
        return fold_ridge(T, A_2(similarity(T[np.isfinite(T[:, 0])]), 0.7), lambda_2), np.eye(D)

    for by_hand_fit, settings in (
        (model_1, {"output_metric": TaskGraph(mu=0.7, form="similarity")}),
        (model_2, {"operator": TaskGraph(mu=0.7)}),
    ):
        path = RegularizationPathCV(regressor(lambda_2, **settings), [LAMBDA_1 / KNOWN], cv=3).fit(X, Y)
        assert path.errors_[0] == pytest.approx(folds_by_hand(by_hand_fit, lambda_2), rel=1e-6)


# ---------------------------------------------------------------- output metrics


@with_manifold
def test_model_1_mapped_back_is_model_0_for_the_squared_loss_alone(lambda_2):
    metric = TaskGraph(mu=0.8, form="similarity")
    plain = regressor(lambda_2, center=True).fit(X, Y).predict(NEW)
    assert_allclose(regressor(lambda_2, center=True, output_metric=metric).fit(X, Y).predict(NEW), plain, atol=1e-8)
    robust = regressor(lambda_2, loss=Huber(0.3)).fit(X, Y).predict(NEW)
    other = regressor(lambda_2, loss=Huber(0.3), output_metric=metric).fit(X, Y).predict(NEW)
    assert np.abs(robust - other).max() > 0.01


def test_huber_loss_in_the_metric_is_the_optimum():
    hand, A = by_hand.huber(0.3, 2), A_1(similarity(Y[ROWS]), 0.8)
    root, U = root_of(A), cp.Variable((KNOWN, D))
    values = root_of(K[np.ix_(ROWS, ROWS)]) @ U  # of sqrt(A) h
    rows, constraints = hand.model(Y[ROWS] @ root - values)
    alpha = LAMBDA_1 / KNOWN
    by_hand.solve(cp.sum(rows) / KNOWN + alpha / 2 * cp.sum_squares(U), constraints)
    model = regressor(loss=hand.loss, output_metric=TaskGraph(mu=0.8, form="similarity")).fit(X, Y)
    assert_allclose(model.predict(X[ROWS]), values.value @ np.linalg.inv(root), atol=1e-4)
    assert model.saturated_.any() and not model.saturated_[ROWS].all()


def test_rows_are_known_whole_or_not_at_all():
    T = Y.copy()
    T[ROWS[2], 1] = np.nan
    model = regressor(output_metric=TaskGraph(mu=0.5, form="similarity"))
    assert_refused(lambda: model.fit(X, T), ["output_metric", "NaN", "operator="])
    assert_allclose(model.fit(X, Y).predict(NEW), model.fit(X[ROWS], Y[ROWS]).predict(NEW), atol=1e-9)


@with_manifold
def test_singular_metric_sees_what_it_measures(lambda_2):
    """All tasks alike and mu = 1: the metric is rank one, and only the mean over tasks is learnt."""
    metric = TaskGraph(np.ones((D, D)), mu=1.0, form="similarity")
    predicted = regressor(lambda_2, output_metric=metric).fit(X, Y).predict(NEW)
    mean = as_printed(Y, lambda_2).mean(axis=1, keepdims=True)
    assert_allclose(predicted, np.repeat(mean, D, axis=1), atol=1e-8)


def test_metric_of_a_single_output():
    y = Y[:, 0]
    found = regressor(output_metric=[[4.0]]).fit(X, y).predict(NEW)
    assert found.shape == (len(NEW),)
    assert_allclose(found, regressor().fit(X, y).predict(NEW), atol=1e-9)


def test_scores_and_residuals_are_in_the_units_of_the_outputs():
    model = regressor(output_metric=TaskGraph(mu=0.5, form="similarity"))
    plain = regressor().fit(X[ROWS], TRUTH[ROWS])
    metric = model.fit(X[ROWS], TRUTH[ROWS])
    assert metric.score(X, TRUTH) == pytest.approx(plain.score(X, TRUTH), abs=1e-9)
    assert_allclose(metric.loo_residuals(), plain.loo_residuals(), atol=1e-8)


def test_bad_metrics():
    def fit(metric):
        return lambda: regressor(output_metric=metric).fit(X, Y)

    assert_refused(fit(np.eye(D + 1)), ["shape", str(D)])
    assert_refused(fit(-np.eye(D)), ["positive semi-definite"])
    assert_refused(fit(TaskGraph), ["TaskGraph()"], TypeError)
    assert_refused(fit(TaskGraph(mu=1.2, form="similarity")), ["mu", "<= 1", "1.2"])
    assert_refused(lambda: regressor(operator=TaskGraph(mu=1.0)).fit(X, Y), ["mu", "< 1", "singular"])
