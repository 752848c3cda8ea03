"""Predictions come back in the containers of the training data."""

import numpy as np
import pandas as pd
import pytest

from hilbertlearn.data.frames import FrameForm
from hilbertlearn.machine.forms import DataForm

OUTPUTS = np.arange(6.0).reshape(3, 2)


def test_arrays_stay_arrays():
    form = DataForm()
    assert form.wrap(OUTPUTS, np.zeros((3, 1))) is OUTPUTS
    assert form.round(OUTPUTS) is OUTPUTS
    form.check_order(pd.DataFrame(OUTPUTS))  # nothing to compare with


def test_single_precision_of_numbers_alone():
    form = DataForm(single=True)
    assert form.round(OUTPUTS).dtype == np.float32
    labels = np.array(["a", "b"])
    assert form.round(labels) is labels and form.round([1.0]) == [1.0]


def test_frames_have_the_names_of_training_and_the_index_of_the_inputs():
    y = pd.DataFrame(OUTPUTS, columns=["speed", "mass"], index=list("abc"))
    form = DataForm(FrameForm.from_outputs(y))
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=[7, 8, 9])
    wrapped = form.wrap(OUTPUTS, X)
    assert list(wrapped.columns) == ["speed", "mass"] and list(wrapped.index) == [7, 8, 9]
    np.testing.assert_array_equal(wrapped.to_numpy(), OUTPUTS)


def test_columns_in_another_order_are_refused():
    y = pd.DataFrame(OUTPUTS, columns=["speed", "mass"])
    form = DataForm(FrameForm.from_outputs(y))
    form.check_order(y)
    with pytest.raises(ValueError, match="mass"):
        form.check_order(y[["mass", "speed"]])
