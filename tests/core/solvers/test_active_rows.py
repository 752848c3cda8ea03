"""Working sets where most dual rows are zero."""

import pytest
from helpers.by_hand import (
    INF,
    ball,
    check,
    fit,
    make,
    svr,
    tube,
)

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")


# ------------------------------------------------------------------ every loss, every kind of data

flag = pytest.mark.parametrize


@flag("weighted", [False, True], ids=["even", "weighted"])
@flag("missing", [False, True], ids=["whole", "missing"])
@flag("hand", [tube(1.7, 2), tube(1.3, INF), svr(1.5), ball(1.8)], ids=lambda hand: repr(hand.loss))
def test_few_rows_of_many(hand, missing, weighted):
    """Most rows stay at zero, so that working sets are of use."""
    data = make(weighted=weighted, missing=missing, n=40)
    model = fit(data, hand.loss)
    assert 0 < len(model.support_) < 0.5 * data.labelled.sum()
    check(data, hand, model)
