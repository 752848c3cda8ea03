"""Dates among inputs are days since the first date of the training inputs."""

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.machine.dates import date_items, with_days

START = np.datetime64("2024-02-28")
FRAME = pd.DataFrame({"day": START + np.arange(4) * np.timedelta64(1, "D"), "x": [1.0, 2.0, 3.0, 4.0]})


class Owner:
    pass


def test_columns_of_dates_become_days():
    owner = Owner()
    days = with_days(owner, FRAME, reset=True)
    assert_allclose(days["day"], [0, 1, 2, 3])
    assert_allclose(days["x"], FRAME["x"])
    assert owner.X_origins_["day"] == START


def test_later_dates_are_counted_from_the_first_of_training():
    owner = Owner()
    with_days(owner, FRAME, reset=True)
    later = FRAME.assign(day=FRAME["day"] + pd.Timedelta(hours=36))
    assert_allclose(with_days(owner, later, reset=False)["day"], [1.5, 2.5, 3.5, 4.5])


def test_numbers_stay():
    owner, X = Owner(), np.eye(3)
    assert with_days(owner, X, reset=True) is X and not hasattr(owner, "X_origins_")


def test_summaries_name_the_origin():
    model = OperatorKernelRegressor("rbf", gamma=0.1, alpha=0.1).fit(FRAME, [0.0, 1.0, 2.0, 3.0])
    assert dict(date_items(model))["dates"] == "day in days since 2024-02-28"
    assert "in days since 2024-02-28" in model.summary()
