"""Output operators against their formulas, with and without missing outputs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.operators import Covariance, Decay, TaskGraph, operator_matrix, task_similarity

rng = np.random.default_rng(2)
N, D = 20, 4
Y = rng.normal(size=(N, D)) @ rng.normal(size=(D, D)) + 3
GAPS = np.where(rng.random((N, D)) < 0.3, np.nan, Y)
SIMILARITY = np.array([[1, 0.5, 0, 0], [0.5, 1, 0.2, 0], [0, 0.2, 1, 0.1], [0, 0, 0.1, 1]])


def distance(Y, i, j):
    """Mean squared difference of two tasks over the samples that have both."""
    both = np.isfinite(Y[:, i]) & np.isfinite(Y[:, j])
    return np.mean((Y[both, i] - Y[both, j]) ** 2)


def similarities(Y, gamma=None):
    distances = np.array([[distance(Y, i, j) for j in range(D)] for i in range(D)])
    gamma = 1 / np.median(distances[np.triu_indices(D, 1)]) if gamma is None else gamma
    return np.exp(-gamma * distances)


@pytest.mark.parametrize("outputs", [Y, GAPS], ids=["complete", "gaps"])
@pytest.mark.parametrize("gamma", [None, 0.2])
def test_task_similarity_by_hand(outputs, gamma):
    found = task_similarity(outputs, "median" if gamma is None else gamma)
    assert_allclose(found, similarities(outputs, gamma), rtol=1e-9)


def test_a_rate_of_tasks_is_one_of_the_mean_square():
    """Numbers by hand: columns differ by 1 and 3, mean square 5; the third is seen once beside each, 2 and 1 apart."""
    outputs = np.array([[0.0, 1.0, 2.0], [0.0, 3.0, np.nan]])
    expected = np.exp(-0.1 * np.array([[0.0, 5.0, 4.0], [5.0, 0.0, 1.0], [4.0, 1.0, 0.0]]))
    for repeats in (1, 7):  # more of the same samples say the same
        repeated = np.repeat(outputs, repeats, axis=0)
        M = TaskGraph(gamma=0.1, mu=1.0, form="similarity").matrix(repeated)
        assert_allclose(M, expected, rtol=1e-12)
        assert_allclose(TaskGraph(gamma=1 / 4, mu=0.4).matrix(repeated), TaskGraph(mu=0.4).matrix(repeated))  # median


def test_tasks_never_seen_together_are_not_linked():
    apart = Y[:, :3].copy()
    apart[:10, 0] = apart[10:, 1] = np.nan
    S = task_similarity(apart)
    assert S[0, 1] == S[1, 0] == 0
    assert (S[[0, 1, 2], [2, 2, 2]] > 0).all()
    nothing = np.c_[Y[:, :2], np.full(N, np.nan)]
    assert np.isfinite(TaskGraph().matrix(nothing)).all()


@pytest.mark.parametrize("mu", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("outputs", [Y, GAPS], ids=["complete", "gaps"])
@pytest.mark.parametrize("given", [False, True], ids=["from outputs", "given"])
def test_task_graph_by_hand(outputs, given, mu):
    S = SIMILARITY if given else similarities(outputs)
    M = SIMILARITY if given else None
    laplacian = np.diag(S.sum(axis=1)) - S
    inverse = np.linalg.inv(mu * laplacian + (1 - mu) * np.eye(D))
    assert_allclose(TaskGraph(M, mu).matrix(outputs), inverse, rtol=1e-8, atol=1e-12)
    mixture = mu * S + (1 - mu) * np.eye(D)
    assert_allclose(TaskGraph(M, mu, form="similarity").matrix(outputs), mixture, rtol=1e-8, atol=1e-12)


def test_task_graph_of_full_weight():
    assert_allclose(TaskGraph(SIMILARITY, 1.0, form="similarity").matrix(Y), SIMILARITY)
    with pytest.raises(ValueError, match=r"mu must be < 1 \(a graph Laplacian is singular\), got 1"):
        TaskGraph(SIMILARITY, 1.0).matrix(Y)


@pytest.mark.parametrize("mu", [0.5, 1.0])
def test_similarities_with_gaps_are_accepted(mu):
    """Distances over different samples need not give a PSD matrix: what results must be one all the same."""
    outputs = np.random.default_rng(0).normal(size=(8, 6))
    outputs[np.random.default_rng(50).random(outputs.shape) < 0.5] = np.nan
    M = operator_matrix(TaskGraph(mu=mu, form="similarity"), outputs)
    assert np.linalg.eigvalsh(M)[0] > -1e-7


def test_covariance_by_hand():
    S = np.cov(Y.T, bias=True)
    assert_allclose(Covariance(0).matrix(Y), S)
    assert_allclose(Covariance(0.3).matrix(Y), 0.7 * S + 0.3 * np.trace(S) / D * np.eye(D))
    assert_allclose(Covariance(1).matrix(Y), np.trace(S) / D * np.eye(D))


def test_covariance_with_gaps_is_the_psd_part_of_pairwise_ones():
    centred = GAPS - np.nanmean(GAPS, axis=0)
    S = np.nanmean(centred[:, :, None] * centred[:, None, :], axis=0)
    values, vectors = np.linalg.eigh(S)
    assert_allclose(Covariance(0).matrix(GAPS), vectors @ np.diag(np.maximum(values, 0)) @ vectors.T, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_covariance_with_many_gaps_is_psd(seed):
    outputs = np.random.default_rng(seed).normal(size=(6, 8))
    outputs[np.random.default_rng(seed + 50).random(outputs.shape) < 0.6] = np.nan
    outputs[:, 3] = np.nan  # never observed
    M = operator_matrix(Covariance(0.05), outputs)
    assert np.linalg.eigvalsh(M)[0] > 0


def test_covariance_of_constant_outputs_is_the_identity():
    assert_allclose(Covariance(0.5).matrix(np.ones((5, 2))), 0.5 * np.eye(2))


def test_decay():
    assert_allclose(Decay(2).matrix(Y), np.diag([1, 1 / 4, 1 / 9, 1 / 16]))
    assert_allclose(Decay(0).matrix(Y), np.eye(D))


@pytest.mark.parametrize(
    ("operator", "words"),
    [
        (TaskGraph(mu=-0.1), ["TaskGraph: mu", ">= 0", "-0.1"]),
        (TaskGraph(mu=1.5), ["TaskGraph: mu", "< 1", "1.5"]),
        (TaskGraph(mu=1.5, form="similarity"), ["TaskGraph: mu", "<= 1", "1.5"]),
        (TaskGraph(mu="x"), ["TaskGraph: mu", "'x'"]),
        (TaskGraph(form="other"), ["TaskGraph: form", "'other'", "'laplacian'", "'similarity'"]),
        (TaskGraph(gamma=-1), ["TaskGraph: gamma", "> 0", "'median'", "-1"]),
        (TaskGraph(np.eye(3)), ["TaskGraph: M", "(4, 4)", "(3, 3)"]),
        (TaskGraph(-SIMILARITY), ["TaskGraph: M", "non-negative"]),
        (TaskGraph(np.triu(SIMILARITY)), ["TaskGraph: M", "symmetric"]),
        (TaskGraph(np.full((D, D), np.nan)), ["TaskGraph: M"]),
        (Covariance(-0.1), ["Covariance: shrinkage", "-0.1"]),
        (Covariance(1.1), ["Covariance: shrinkage", "at most 1", "1.1"]),
        (Decay(-1), ["Decay: rate", ">= 0", "-1"]),
    ],
)
def test_bad_settings_are_named(operator, words):
    with pytest.raises(ValueError) as error:
        operator_matrix(operator, Y)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_operators_are_settings():
    model = OperatorKernelRegressor(operator=TaskGraph(mu=0.2))
    assert model.get_params()["operator__mu"] == 0.2
    model.set_params(operator__mu=0.7)
    assert clone(model).operator.mu == 0.7
