"""What every output operator guarantees. A new operator gets these tests by a line in ``CASES``."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from hilbertlearn import load, operators, save
from hilbertlearn.operators import operator_matrix

rng = np.random.default_rng(0)
Y = rng.normal(size=(12, 6)) @ rng.normal(size=(6, 6))
GAPS = np.where(rng.random(Y.shape) < 0.2, np.nan, Y)
SIMILARITY = np.abs(np.corrcoef(Y.T))
CASES = {
    "Covariance": operators.Covariance(0.3),
    "Decay": operators.Decay(1.5),
    "Identity": operators.Identity(),
    "LearnedOperator": operators.LearnedOperator(max_iter=7),
    "LevelCoupling": operators.LevelCoupling("covariance", [0.2, 0.8], coupling=4.0),
    "TaskGraph": operators.TaskGraph(),
    "TaskGraph, similarity": operators.TaskGraph(mu=0.7, form="similarity"),
    "TaskGraph, given": operators.TaskGraph(SIMILARITY, mu=0.4),
}
OF_FUNCTIONS = {"AxisProduct": operators.AxisProduct("integral"), "Integral": operators.Integral("rbf", 5.0)}
with_cases = pytest.mark.parametrize("operator", CASES.values(), ids=CASES)
with_all = pytest.mark.parametrize("operator", [*CASES.values(), *OF_FUNCTIONS.values()], ids=[*CASES, *OF_FUNCTIONS])


def dense(M):
    """The matrix (d, d); None is the identity."""
    return np.eye(Y.shape[1]) if M is None else np.eye(Y.shape[1]) @ M


def test_every_operator_is_listed():
    classes = {name for name in operators.__all__ if isinstance(getattr(operators, name), type)}
    assert classes == {name for name in [*CASES, *OF_FUNCTIONS] if name in classes}


@with_cases
@pytest.mark.parametrize("outputs", [Y, GAPS], ids=["complete", "gaps"])
def test_matrix_is_symmetric_and_positive_semi_definite(operator, outputs):
    M = dense(operator_matrix(operator, outputs))
    assert M.shape == (6, 6) and np.isfinite(M).all()
    assert_allclose(M, M.T, atol=1e-12)
    assert np.linalg.eigvalsh(M)[0] >= -1e-10 * np.abs(M).max()


@with_cases
def test_weights_are_repetitions(operator):
    counts = rng.integers(1, 4, len(Y))
    weighted = dense(operator_matrix(operator, Y, counts.astype(float)))
    assert_allclose(weighted, dense(operator_matrix(operator, np.repeat(Y, counts, axis=0))), atol=1e-10)


@with_cases
def test_operators_that_do_not_depend_on_outputs_say_so(operator):
    first, second = (dense(operator_matrix(operator, outputs)) for outputs in (Y, Y[::2] * [1, 2, 3, 4, 5, 6]))
    if not np.allclose(first, second):
        assert operators.depends_on_outputs(operator) or operators.depends_on_outputs(operator.operator)


@with_cases
def test_outputs_do_not_change(operator):
    before = GAPS.copy()
    operator_matrix(operator, GAPS)
    assert_array_equal(before, GAPS)


@with_all
def test_settings_are_cloned_saved_and_loaded(operator, tmp_path):
    before = copy.deepcopy(operator.get_params(deep=False))
    for other in (clone(operator), load(save(operator, tmp_path / "operator.hl"))):
        assert type(other) is type(operator)
        assert repr(other.get_params(deep=False)) == repr(before)


@pytest.mark.parametrize("operator", OF_FUNCTIONS.values(), ids=OF_FUNCTIONS)
def test_operators_of_functions_need_a_space(operator):
    with pytest.raises(ValueError, match="acts on functions of a variable"):
        operator.matrix(Y)
