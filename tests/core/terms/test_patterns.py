"""Patterns of missing entries: which columns share their rows."""

import numpy as np
from numpy.testing import assert_array_equal

from hilbertlearn.core.terms import PatternTerm, SeparableTerm

MASK = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 0], [1, 1, 1, 0]], dtype=bool)


def test_columns_with_the_same_rows_share_a_pattern():
    patterns = PatternTerm(SeparableTerm(np.eye(4)), MASK).patterns
    assert [pattern.columns.tolist() for pattern in patterns] == [[0, 1], [2]]  # the last was never observed
    assert [pattern.rows.tolist() for pattern in patterns] == [[0, 1, 3], [1, 2, 3]]
    assert_array_equal(MASK[patterns[0].index], True)


def test_a_pattern_has_a_multiple_where_the_operator_is_one_number():
    term = PatternTerm(SeparableTerm(np.eye(4), np.diag([2.0, 2.0, 3.0, 1.0])), MASK)
    assert [term.multiple(pattern) for pattern in term.patterns] == [2.0, 3.0]
    term = PatternTerm(SeparableTerm(np.eye(4), np.diag([2.0, 5.0, 3.0, 1.0])), MASK)
    assert [term.multiple(pattern) for pattern in term.patterns] == [None, 3.0]
