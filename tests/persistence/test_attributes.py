"""Attributes that a file may set on an object."""

import os

import pytest
from helpers.model_files import first_node, forge
from helpers.stored_models import NUMBERS, X, assert_refused
from sklearn.linear_model import Ridge

from hilbertlearn import save


@pytest.mark.parametrize(
    "name",
    [
        "__class__",
        "__dict__",
        "__reduce__",
        "__call__",
        "fit",
        "predict",
        "_fit",
        "_skl_callbacks",
        "_parameter_constraints",
        "dual_coef_",
        "a b",
        "",
        "1a",
    ],
)
def test_attributes_that_no_object_has(file, name):
    def change(model, members):
        first_node(model, **{"class": "vector.OperatorKernelRegressor"})["of"][name] = 1

    assert_refused(forge(file, change), "OperatorKernelRegressor", repr(name))


def test_fields_that_a_dataclass_has_not(file):
    def change(model, members):
        first_node(model, **{"class": "machine.State"})["of"]["another"] = 1

    assert_refused(forge(file, change), "State", "another")


def test_attributes_that_could_not_be_loaded_are_not_saved(small, tmp_path):
    model = Ridge().fit(X, NUMBERS)
    model.predict = 3
    with pytest.raises(TypeError, match=r"model has attributes .*'predict'"):
        save(model, tmp_path / "model.hl")
    assert os.listdir(tmp_path) == []
