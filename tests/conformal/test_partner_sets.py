"""Sets of partners from ranks, by hand."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.conformal import PartnerSets

NODES, OTHERS = np.array(["a", "b"]), np.array(["u", "v", "w"])
BELOW = np.array([[1.0, 7.0, 0.0], [8.0, 7.0, 9.0]])
SCORES = np.array([[0.3, 0.9, 0.1], [0.5, 0.4, 0.6]])  # the smaller the better
IS_OPEN = np.array([[True, True, True], [True, False, True]])


def sets(is_open=IS_OPEN):
    return PartnerSets.from_ranks(NODES, OTHERS, BELOW, SCORES, is_open, total=9.0, level=0.8)


def test_members_are_below_the_rank_and_best_first():
    partners = sets()  # fewer than ceil(0.8 (9 + 1)) = 8 links are better
    assert [own.tolist() for own in partners] == [["w", "u", "v"], []]
    assert_array_equal(partners.sizes, [3, 0])
    assert_allclose(partners.p_values[0], [1 - 0 / 10, 1 - 1 / 10, 1 - 7 / 10])
    assert sets(np.ones((2, 3), dtype=bool))[1].tolist() == ["v"]


def test_contains_pairs_of_names():
    partners = sets()
    assert_array_equal(partners.contains([("a", "v"), ("b", "v"), ("stranger", "u")]), [True, False, False])
    assert len(partners.contains([])) == 0
    assert len(partners) == 2
