"""A learnt operator that did not converge is reported."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from hilbertlearn import (
    OperatorKernelRegressor,
    operators,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3))
Y = np.c_[X[:, 0], np.sin(X[:, 1])]


def test_an_operator_that_did_not_converge_is_reported():
    with pytest.warns(ConvergenceWarning, match=r"LearnedOperator.*max_iter"):
        OperatorKernelRegressor(operator=operators.LearnedOperator(max_iter=1), alpha=0.01).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OperatorKernelRegressor(operator=operators.LearnedOperator(), alpha=0.01).fit(X, Y)
