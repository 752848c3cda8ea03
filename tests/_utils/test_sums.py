"""Sums over samples in parts, and attributes computed once."""

import copy
from dataclasses import dataclass

import numpy as np

from hilbertlearn._utils.sums import cached_attribute, local_total


def test_all_samples_in_one_part():
    partial = np.arange(3.0)
    assert local_total(partial) is partial


@dataclass(frozen=True)
class Numbers:
    values: tuple

    @cached_attribute
    def total(self):
        """The sum."""
        CALLS.append(1)
        return sum(self.values)


CALLS: list = []


def test_an_attribute_is_computed_once_for_each_object():
    CALLS.clear()
    first = Numbers((1, 2))
    assert [first.total, first.total, Numbers((3,)).total] == [3, 3, 3] and len(CALLS) == 2
    assert Numbers.total.__doc__ == "The sum." and copy.copy(first).total == 3
