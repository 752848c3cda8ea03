"""Which of integer labels stand for none."""

import numpy as np
import pytest

from hilbertlearn.data.objects import unlabelled_mask


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 1, -1], [0, 0, 1]),
        ([0, 0, -1], [0, 0, 0]),
        ([0, 1, -2, -1], [0, 0, 0, 0]),
        (np.array([0, None, 3, -1], dtype=object), [0, 0, 0, 1]),
        ([0.0, np.nan, 3.0, -1.0], [0, 0, 0, 1]),
        ([0.0, 3.0, -1.0], [0, 0, 0]),
        ([0.5, np.nan, 3.0, -1.0], [0, 0, 0, 0]),
        (np.array(["0", "1", "-1"]), [0, 0, 0]),
        (np.array(["a", 1, -1], dtype=object), [0, 0, 0]),
        (np.array([True, False]), [0, 0]),
        ([-1, -1], [0, 0]),
        ([], []),
    ],
)
def test_unlabelled(labels, expected):
    assert unlabelled_mask(labels).tolist() == [bool(one) for one in expected]
