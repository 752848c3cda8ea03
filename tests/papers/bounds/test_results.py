"""The printed form of bounds, and checks that all of them share."""

from dataclasses import dataclass

import pytest

from hilbertlearn.papers.bounds.results import BoundResult, check_delta, check_samples


@dataclass(frozen=True, repr=False)
class Inner(BoundResult):
    count: int


@dataclass(frozen=True, repr=False)
class Outer(BoundResult):
    value: float
    part: Inner
    missing: float | None = None
    notes: tuple = ()


def test_one_line_for_each_field_and_none_for_empty_ones():
    text = repr(Outer(1 / 3, Inner(2), notes=("one", "two")))
    assert text.splitlines() == [
        "Outer",
        f"  {'value':<16} 0.333333",
        "  Inner",
        f"    {'count':<16} 2",
        f"  {'notes':<16} one; two",
    ]
    assert repr(Outer(1.0, Inner(2))).splitlines() == ["Outer", f"  {'value':<16} 1", "  Inner", f"    {'count':<16} 2"]


def test_checks():
    assert check_delta(0.05) == 0.05 and check_samples(3) == 3
    for delta in (0, 1, -0.1, True, "a"):
        with pytest.raises(ValueError, match="probability that the bound fails"):
            check_delta(delta)
    with pytest.raises(ValueError, match="n must be"):
        check_samples(0)
