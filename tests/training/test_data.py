"""Training data: terms, problems and parts of the samples, against dense computations."""

import numpy as np
from helpers.machines import prepare
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import OperatorKernelRegressor, losses
from hilbertlearn.training import alpha_grid, build, fit

rng = np.random.default_rng(0)
X, Y, WEIGHTS = rng.normal(size=(15, 2)), rng.normal(size=(15, 3)), rng.uniform(0.5, 2.0, 15)
M = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
K = rbf_kernel(X, gamma=0.5)


def training(operator=None, weights=None):
    return prepare(OperatorKernelRegressor("rbf", gamma=0.5, operator=operator), X, Y, weights)


def test_the_problem_is_its_definition():
    """With D = diag(sqrt(w)): the map is A -> D K D A M, the targets D (Y - c), the penalty alpha sum(w)."""
    data, loss = training(M, WEIGHTS), losses.Squared()
    center = data.constant(loss)
    assert_allclose(center, np.average(Y, axis=0, weights=WEIGHTS))
    problem = data.problem(loss, 0.1, center)
    root, A = np.sqrt(WEIGHTS)[:, None], rng.normal(size=Y.shape)
    assert_allclose(problem.terms[0].apply(A), root * (K @ (root * A)) @ M, atol=1e-12)
    assert_allclose(problem.Y, root * (Y - center))
    assert_allclose(problem.penalty, 0.1 * WEIGHTS.sum())


def test_a_part_is_the_training_data_of_its_samples():
    rows = np.array([1, 4, 9, 12])
    part = training(M).take(rows)
    alone = prepare(OperatorKernelRegressor("rbf", gamma=0.5, operator=M), X[rows], Y[rows])
    found, expected = (
        fit(data, losses.Squared(), 0.1, OperatorKernelRegressor().spec().options) for data in (part, alone)
    )
    assert_allclose(found.coefficients[0], expected.coefficients[0], atol=1e-10)
    assert_allclose(training(M).cross(np.arange(3), part)[0], K[:3][:, rows])


def test_copies_are_merged_and_their_weights_added():
    twice = prepare(OperatorKernelRegressor("rbf", gamma=0.5), np.vstack([X, X[:5]]), np.vstack([Y, Y[:5]]))
    merged = twice.merge_duplicates()
    assert len(merged.rows) == 15
    assert_allclose(merged.weights, np.r_[np.full(5, 2.0), np.ones(10)])


def test_the_grid_of_alphas_scales_with_the_kernel():
    assert_allclose(alpha_grid(2.0), 2 * alpha_grid(1.0))
    data = training()
    assert_allclose(data.alphas(), alpha_grid(np.trace(K) / 15))
    assert np.ptp(np.diff(np.log(data.alphas()))) < 1e-9


def test_values_given_are_not_computed_again():
    data = training()
    samples = data.take_encoded(np.arange(15))
    same = build(samples, data.kernels, [K])
    assert_allclose(same.grams[0].dense(), K)
