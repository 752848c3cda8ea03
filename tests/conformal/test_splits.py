"""Groups, folds and order in time."""

import warnings

import numpy as np
import pytest
from helpers.conformal_samples import METHODS, MODEL, X, Y, samples
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

from hilbertlearn import ConformalPredictor, StructuredPredictor


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


@pytest.mark.parametrize(
    ("method", "n_groups"), [("split", 4), ("split", 6), ("split", 10), ("split", 30), ("cv+", 6), ("jackknife+", 10)]
)
def test_groups_are_the_exchangeable_units(method, n_groups):
    """A group shares an offset, so that samples of it say as much as one: coverage of new groups is the level.

    Of 40 draws with ten new groups; infinite sets count. Counted as samples, coverage is 0.74 to 0.80.
    """
    covered, level = [], 0.8
    rng = np.random.default_rng(n_groups)
    for _ in range(40):
        groups = np.repeat(np.arange(n_groups + 10), 10)
        inputs, offsets = rng.normal(size=(len(groups), 1)), rng.normal(size=n_groups + 10)
        outputs = offsets[groups] + 0.3 * rng.normal(size=len(groups))
        known = groups < n_groups
        options = {"calibration": 0.7} if method == "split" else {}
        model = ConformalPredictor(Ridge(), method, level, random_state=0, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(inputs[known], outputs[known], groups=groups[known])
            lower, upper = model.predict_interval(inputs[~known]).T
        covered.append(np.mean((lower <= outputs[~known]) & (outputs[~known] <= upper)))
    assert np.mean(covered) >= level


def test_too_few_groups_are_named_before_the_fit():
    groups = np.repeat(np.arange(4), 10)
    inputs, outputs = np.arange(40.0)[:, None], np.zeros(40)
    with pytest.warns(UserWarning, match="needs at least 9 groups for calibration, cv\\+ has 4: all sets are infinite"):
        model = ConformalPredictor(Ridge(), "cv+", 0.9).fit(inputs, outputs, groups=groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isinf(model.predict_interval(inputs)).all()


def test_groups_of_one_sample_are_samples():
    plain = ConformalPredictor(MODEL, "cv+", 0.8, cv=KFold(5)).fit(X, Y)
    grouped = ConformalPredictor(MODEL, "cv+", 0.8, cv=KFold(5)).fit(X, Y, groups=np.arange(len(X)))
    assert_allclose(grouped.predict_interval(X), plain.predict_interval(X))
    region, same = grouped.predict_region(X), plain.predict_region(X)
    assert_array_equal(region.contains(Y), same.contains(Y))
    assert grouped.sets_.coverage == plain.sets_.coverage


def test_groups_of_objects_count_once():
    """Copies of a sample in one group change no set, and too few groups give sets of all classes."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(30, 1))
    labels = (inputs[:, 0] + 0.5 * rng.normal(size=30) > 0).astype(int)
    settings = {"method": "split", "level": 0.8, "cv": [(np.arange(15), np.arange(15, 30))]}
    plain = ConformalPredictor(StructuredPredictor("rbf", gamma=1.0, alpha=0.1), **settings)
    plain.fit(inputs, labels, groups=np.arange(30))
    rows = np.r_[np.arange(30), np.repeat(np.arange(15, 30), 3)]
    settings["cv"] = [(np.arange(15), np.arange(15, len(rows)))]
    copied = ConformalPredictor(StructuredPredictor("rbf", gamma=1.0, alpha=0.1), **settings)
    copied.fit(inputs[rows], labels[rows], groups=rows)
    assert_array_equal(copied.predict_set(inputs).sizes, plain.predict_set(inputs).sizes)
    with pytest.warns(UserWarning, match="needs at least 4 groups"):
        few = ConformalPredictor(StructuredPredictor("rbf", gamma=1.0, alpha=0.1), "cv+", 0.8)
        few.fit(inputs, labels, groups=np.arange(30) % 3)
    assert_array_equal(few.predict_set(inputs).sizes, 2)


def shifted(n_groups, rng):
    """Groups of ten samples with a common offset, and ratios of the queries' density to that of the samples."""
    groups = np.repeat(np.arange(n_groups), 10)
    inputs, offsets = rng.normal(size=(len(groups), 1)), rng.normal(size=n_groups)
    outputs = offsets[groups] * (1 + (inputs[:, 0] > 0)) + 0.3 * rng.normal(size=len(groups))
    return inputs, outputs, groups, 1 / (1 + np.exp(-2 * inputs[:, 0]))


def test_weights_that_are_all_the_same_do_not_change_groups():
    inputs, outputs, groups, _ = shifted(8, np.random.default_rng(0))
    weights = np.full(len(groups), 3.0)
    plain = ConformalPredictor(LinearRegression(), "cv+", 0.8).fit(inputs, outputs, groups=groups)
    weighted = ConformalPredictor(LinearRegression(), "cv+", 0.8).fit(inputs, outputs, weights, groups=groups)
    expected = plain.predict_interval(inputs)
    assert_allclose(weighted.predict_interval(inputs, weights), expected)
    assert np.isfinite(expected).all()


def test_weights_of_groups_of_one_sample_are_those_of_samples():
    inputs, outputs, _, ratios = shifted(4, np.random.default_rng(1))
    plain = ConformalPredictor(Ridge(), "cv+", 0.8, cv=KFold(5)).fit(inputs, outputs, ratios)
    grouped = ConformalPredictor(Ridge(), "cv+", 0.8, cv=KFold(5)).fit(inputs, outputs, ratios, groups=np.arange(40))
    expected = plain.predict_interval(inputs, ratios)
    assert_allclose(grouped.predict_interval(inputs, ratios), expected)
    assert not np.allclose(expected, plain.predict_interval(inputs))


@pytest.mark.parametrize("n_groups", [6, 12])
def test_coverage_of_new_groups_under_a_shift_of_the_inputs(n_groups):
    """Of 40 draws with ten new groups, whose samples are drawn by the ratios; infinite intervals count."""
    covered = []
    for seed in range(40):
        inputs, outputs, groups, ratios = shifted(n_groups + 10, np.random.default_rng(seed))
        known = groups < n_groups
        model = ConformalPredictor(Ridge(), "cv+", 0.8).fit(
            inputs[known], outputs[known], ratios[known], groups=groups[known]
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            low, high = model.predict_interval(inputs[~known], ratios[~known]).T
        inside = (low <= outputs[~known]) & (outputs[~known] <= high)
        covered.append(np.average(inside, weights=ratios[~known]))
    assert np.mean(covered) >= 0.8
