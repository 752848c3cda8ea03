"""Groups, folds and order in time."""

import numpy as np
import pytest
from helpers.conformal_samples import METHODS, MODEL, X, Y, samples
from numpy.testing import assert_array_equal
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

from hilbertlearn import ConformalPredictor


def test_a_single_group_is_named():
    X, Y, _, _ = samples()
    with pytest.raises(ValueError, match="groups must have at least 2"):
        ConformalPredictor(Ridge()).fit(X, Y, groups=np.zeros(len(X)))


@pytest.mark.parametrize("method", ["cv+", "split"])
def test_samples_that_are_fitted_and_left_out_are_refused(method):
    X, Y, _, _ = samples()
    every = np.arange(len(X))
    with pytest.raises(ValueError, match="cv: a fold has samples in both its training and its test part"):
        ConformalPredictor(Ridge(), method, cv=[(every, every[20:])]).fit(X, Y)


GROUPS = np.repeat(np.arange(10), 4)


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_groups_are_left_out_together(method):
    model = ConformalPredictor(MODEL, method, 0.8, random_state=0).fit(X, Y, groups=GROUPS)
    left = model.sets_.calibration.models
    for group in np.unique(GROUPS[left.rows]):
        own = GROUPS[left.rows] == group
        assert own.sum() == 4 and len(np.unique(left.model_index[own])) == 1
    assert model.method_ == ("cv+" if method == "auto" else method) and not model.closed_form_


def test_splitters_that_take_groups():
    model = ConformalPredictor(MODEL, level=0.8, cv=GroupKFold(3)).fit(X, Y, groups=GROUPS)
    assert model.method_ == "cv+" and model.sets_.calibration.models.n_models == 3


def test_order_in_time():
    model = ConformalPredictor(MODEL, level=0.8, cv=TimeSeriesSplit(4)).fit(X, Y)
    assert_array_equal(np.sort(model.sets_.calibration.models.rows), np.arange(8, 40))
    split = ConformalPredictor(MODEL, "split", 0.8, cv=[(np.arange(25), np.arange(25, 40))]).fit(X, Y)
    assert_array_equal(split.sets_.calibration.models.rows, np.arange(25, 40))


def test_folds_of_too_few_samples_are_as_many_as_there_are():
    model = ConformalPredictor(LinearRegression(), "cv+", 0.5).fit(X[:5], Y[:5])
    assert model.sets_.calibration.models.n_models == 5
    assert ConformalPredictor(MODEL, cv=KFold(2), level=0.5).fit(X, Y).sets_.calibration.models.n_models == 2
