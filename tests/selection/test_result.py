"""Selected settings: smoother ones, and factors that serve leave-one-out models."""

import numpy as np
import pytest
from helpers.machines import read
from numpy.testing import assert_allclose

from hilbertlearn import OperatorKernelRegressor, losses
from hilbertlearn.selection import fit_selected, select
from hilbertlearn.training import Options, fit

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
Y = np.sin(X @ rng.normal(size=(2, 2))) + 0.1 * rng.normal(size=(40, 2))


def selected(loss, alpha="auto"):
    return select(read(OperatorKernelRegressor("rbf", gamma=0.5), X, Y), loss, alpha, Options())


def test_smoother_settings_are_larger_where_they_were_selected():
    huber = selected(losses.Huber())
    smoother = huber.smoother(10.0)
    assert smoother.alpha == 10 * huber.alpha and smoother.loss.kappa == 10 * huber.loss.kappa
    given = selected(losses.Huber(), alpha=1e-3).smoother(10.0)
    assert given.alpha == 1e-3 and not given.selected_alpha
    assert selected(losses.Huber(0.5)).smoother(10.0).loss.kappa == 0.5


def test_factors_are_those_of_the_weighted_kernel():
    given = selected(losses.Squared(), alpha=1e-3)
    assert given.factors is None
    factors = given.with_factors().factors
    training = given.training
    K, s = training.grams[0].dense(), 1e-3 * 40
    expected = np.linalg.solve(np.eye(40) + K / s, Y)
    assert_allclose(factors.solve(Y, 1.0, s), expected, rtol=1e-8, atol=1e-10)
    assert selected(losses.Huber(0.5), alpha=1e-3).with_factors().factors is None


def test_given_settings_are_solved_once():
    solved = []

    def solve(selection):
        solved.append(selection.alpha)
        return fit(selection.training, selection.loss, selection.alpha, Options(max_iter=1))

    given, _ = fit_selected(selected(losses.Huber(0.01), alpha=1e-3), solve)
    assert solved == [1e-3] and given.alpha == 1e-3
    solved.clear()
    fit_selected(selected(losses.Huber(0.01)), solve)
    assert len(solved) > 1 and solved[1] == pytest.approx(10**0.5 * solved[0])
