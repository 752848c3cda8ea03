"""The base class of the estimators."""

import inspect

import numpy as np
import pytest

import hilbertlearn
from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.machine.base import KernelMachine

PUBLIC = [getattr(hilbertlearn, name) for name in hilbertlearn.__all__]
ESTIMATORS = [cls for cls in PUBLIC if inspect.isclass(cls) and issubclass(cls, KernelMachine)]
X, Y = np.random.default_rng(0).normal(size=(2, 20, 2))


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_nothing_overrides_fit(cls):
    owners = [base for base in inspect.getmro(cls) if "fit" in vars(base)]
    assert owners == [KernelMachine]


def test_kernel_machines():
    known = {"OperatorKernelRegressor", "FunctionalRegressor", "QuantileRegressor", "StructuredPredictor"}
    assert known <= {cls.__name__ for cls in ESTIMATORS}


def test_a_subclass_must_define_its_outputs():
    class Nothing(KernelMachine):
        pass

    with pytest.raises(TypeError, match=r"Nothing must define read_outputs\(y\)"):
        Nothing().read_outputs(Y)
    with pytest.raises(TypeError, match=r"Nothing must define output_space\(y, sample_weight\)"):
        Nothing().output_space(Y, None)


def test_a_failed_fit_changes_nothing():
    model = OperatorKernelRegressor("rbf", gamma=0.5, alpha=0.1).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full_like(X, np.nan), Y)
    np.testing.assert_array_equal(model.predict(X), before)


def test_learnt_attributes_that_do_not_exist_say_why():
    model = OperatorKernelRegressor("rbf", gamma=0.5, alpha=0.1).fit(X, Y)
    with pytest.raises(AttributeError, match="MetricKernel"):
        _ = model.metric_
    with pytest.raises(AttributeError, match="LearnedOperator"):
        _ = model.objectives_


def test_selection_for_wrappers():
    model = OperatorKernelRegressor("rbf", gamma=0.5, alpha=0.1)
    selected = model.fit_selection(X, Y, keep_factors=True)
    assert selected.alpha == 0.1 and selected.factors is not None and len(selected.training.rows) == 20
    assert model.fit_selection(X, Y).factors is None
