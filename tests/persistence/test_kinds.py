"""Kinds of values in model files."""

import numpy as np
import pytest

from hilbertlearn.persistence import plain_values, trees
from hilbertlearn.persistence.kinds import find_kind, is_integer, kind_of_value, require, type_name


def test_kinds_by_name_and_by_value():
    for kind in (*plain_values.KINDS, *trees.KINDS):
        assert find_kind(kind.name) is kind
    assert kind_of_value((1, 2)).name == "tuple" and kind_of_value(np.int8(3)).name == "scalar"
    assert kind_of_value(np.dtype(float)).name == "dtype"
    assert kind_of_value(object()) is None and find_kind("pickle") is None


def test_no_name_or_type_has_two_kinds():
    kinds = (*plain_values.KINDS, *trees.KINDS)
    types = [name for kind in kinds for name in kind.types]
    assert len({kind.name for kind in kinds}) == len(kinds) and len(set(types)) == len(types)


def test_small_helpers():
    assert type_name(np.ma.MaskedArray) == "numpy.MaskedArray"
    assert is_integer(3) and is_integer(np.int8(3)) and not is_integer(True) and not is_integer(3.0)
    require(True, "no error")
    with pytest.raises(ValueError, match="a reason"):
        require(False, "a reason")
