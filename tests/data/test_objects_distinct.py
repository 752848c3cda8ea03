"""Distinct outputs: equal rows, equal objects."""

import numpy as np
import pytest

from hilbertlearn.data.objects import distinct


@pytest.mark.parametrize("shape", [(40, 3), (40, 2, 2), (1, 1), (500, 1)])
def test_distinct_rows(shape):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, size=shape) * rng.choice([-1.0, 1.0], size=shape)  # -0.0 too
    rows[0] = np.nan
    first, group = distinct(rows)
    keys = [repr(np.where(row == 0, 0, row).tolist()) for row in rows]
    expected = list(dict.fromkeys(keys))
    assert [keys[i] for i in first] == expected and (np.diff(first) > 0).all()
    assert [expected[i] for i in group] == keys


def test_outputs_of_nested_lists_are_told_apart():
    first, group = distinct([[["a"], ["b", str(i % 3)]] for i in range(6)])
    assert first.tolist() == [0, 1, 2] and group.tolist() == [0, 1, 2, 0, 1, 2]
    objects = [{"a": i} for i in range(3)]
    assert distinct([*objects, objects[0]])[1].tolist() == [0, 1, 2, 0]


def test_zero_has_no_sign():
    assert distinct(np.array([[0.0, 1.0], [-0.0, 1.0]]))[1].tolist() == [0, 0]
