"""The steps of a fit."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.machine.in_memory import MemorySource
from hilbertlearn.machine.steps import FitSteps, fit_part, fitted_copy, path_results, solve_selection

rng = np.random.default_rng(0)
X = rng.normal(size=(25, 2))
Y = np.sin(X) + 0.1 * rng.normal(size=(25, 2))


def test_the_steps_one_by_one_are_the_fit():
    model = OperatorKernelRegressor("rbf")
    spec = model.spec()
    result = solve_selection(spec, spec.steps.select(spec, MemorySource(X, Y).read(spec)))
    expected = OperatorKernelRegressor("rbf").fit(X, Y)
    assert_allclose(fitted_copy(model, result).predict(X), expected.predict(X), rtol=1e-12)
    assert result.state.alpha == expected.alpha_ and result.selection.alpha == expected.alpha_


def test_a_step_can_be_replaced():
    class Halved(FitSteps):
        """Fits with half of the alpha that was selected."""

        def select(self, spec, samples):
            selected = super().select(spec, samples)
            return replace(selected, alpha=selected.alpha / 2, factors=None)

    class Model(OperatorKernelRegressor):
        def spec(self, y=None):
            return replace(super().spec(y), steps=Halved())

    expected = OperatorKernelRegressor("rbf", gamma=0.5).fit(X, Y).alpha_
    assert Model("rbf", gamma=0.5).fit(X, Y).alpha_ == expected / 2


def test_a_path_has_a_result_for_each_alpha():
    spec = OperatorKernelRegressor("rbf", gamma=0.5).spec()
    training = MemorySource(X, Y).prepare(spec)
    for alpha, result in zip([1.0, 0.1], path_results(spec, training, [1.0, 0.1]), strict=True):
        expected = OperatorKernelRegressor("rbf", gamma=0.5, alpha=alpha).fit(X, Y)
        assert_allclose(result.state.coordinates(X), expected.predict(X), atol=1e-8)


def test_a_part_has_the_penalty_of_all():
    spec = OperatorKernelRegressor("rbf", gamma=0.5, alpha=0.1).spec()
    selected = spec.steps.select(spec, MemorySource(X, Y).read(spec))
    part = fit_part(spec, selected, np.arange(10))
    expected = OperatorKernelRegressor("rbf", gamma=0.5, alpha=0.25).fit(X[:10], Y[:10])
    assert_allclose(part.state.coordinates(X), expected.predict(X), atol=1e-10)


def test_an_open_gap_is_named_with_its_remedy():
    model = OperatorKernelRegressor("rbf", gamma=0.5, alpha=1e-6, loss="huber", max_iter=1, solver="proximal_gradient")
    with pytest.warns(ConvergenceWarning, match=r"OperatorKernelRegressor: gap .* raise max_iter or tol"):
        model.fit(X, Y)
