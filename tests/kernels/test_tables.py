"""Inputs in columns of different kinds: rows, names, keys."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hilbertlearn.kernels import (
    InputTable,
)

pd = pytest.importorskip("pandas")
rng = np.random.default_rng(0)
N = 30
NUMBERS = rng.normal(size=(N, 2))
REGION = rng.choice(["north", "south", "east"], N)
LEVEL = rng.integers(3, size=N)
T = np.linspace(0, 1, 9)
CURVES = np.sin(rng.uniform(1, 5, size=(N, 1)) * T)
CURVE_NAMES = [f"t{j}" for j in range(len(T))]
X = pd.DataFrame({"age": NUMBERS[:, 0], "size": NUMBERS[:, 1], "region": REGION, "level": LEVEL})
X = pd.concat([X, pd.DataFrame(CURVES, columns=CURVE_NAMES)], axis=1)


def test_tables():
    table = InputTable.from_data(X[["age", "region"]])
    assert table.shape == (N, 2) and len(table[:5]) == 5 and len(table[[1, 2], ...]) == 2 and len(table[3]) == 1
    assert_array_equal(table[[4, 2]].columns[1], REGION[[4, 2]])
    assert "age" in repr(table)
    keys = InputTable.from_data(pd.DataFrame({"a": [1.0, np.nan, np.nan, 1.0], "b": ["x", None, None, "y"]})).row_keys()
    assert keys[1] == keys[2] and len(set(keys)) == 3
