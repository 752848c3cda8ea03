"""Equality of settings by values."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import Ridge

from hilbertlearn._utils.equality import EqualByValues, are_equal

ROWS = scipy.sparse.csr_array([[0.0, 1.0], [2.0, 0.0]])


@pytest.mark.parametrize(
    "value", ["rbf", 1.0, None, np.arange(3), [1, np.ones(2)], {"a": np.ones(2)}, ROWS, Ridge(2.0)]
)
def test_settings_are_equal_by_values(value):
    copied = Ridge(2.0) if isinstance(value, Ridge) else value.copy() if hasattr(value, "copy") else value
    assert are_equal(value, copied)
    for other in ("linear", 2.0, np.arange(4), [1, np.zeros(2)], {"a": np.zeros(2)}, 2 * ROWS, Ridge(3.0)):
        assert not are_equal(value, other)


def test_numbers_of_different_types():
    assert are_equal(1, 1.0) and are_equal(np.float64(0.5), 0.5) and not are_equal(1, "1")


@dataclass(frozen=True, eq=False)
class Setting(EqualByValues):
    value: Any

    def __hash__(self):
        return 0


def test_dataclasses_with_arrays():
    assert Setting(np.ones(2)) == Setting(np.ones(2)) and Setting(np.ones(2)) != Setting(np.zeros(2))
    assert Setting(1.0) != 1.0
