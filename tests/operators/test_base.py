"""The interface of output operators, with an operator of the user."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import OperatorKernelRegressor, operators
from hilbertlearn.operators.base import OutputOperator

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(15, 2)), rng.normal(size=(15, 3))


class Chain(OutputOperator):
    """Neighbouring outputs are correlated."""

    def __init__(self, correlation=0.5):
        self.correlation = correlation

    def matrix(self, Y, weights=None, space=None):
        positions = np.arange(Y.shape[1])
        return self.correlation ** np.abs(np.subtract.outer(positions, positions))


def test_matrix_must_be_defined():
    with pytest.raises(TypeError, match="matrix"):
        OutputOperator()


def test_an_operator_of_the_user_is_its_matrix():
    settings = {"gamma": 0.5, "alpha": 0.1}
    model = OperatorKernelRegressor(operator=Chain(0.3), **settings).fit(X, Y)
    expected = OperatorKernelRegressor(operator=Chain(0.3).matrix(Y), **settings).fit(X, Y)
    assert_allclose(model.predict(X), expected.predict(X), atol=1e-12)
    assert model.get_params()["operator__correlation"] == 0.3
    assert not operators.depends_on_outputs(Chain())
