"""Points of a grid, curves and outputs that no training sample observes: predictions there, and warnings."""

import warnings

import numpy as np
import pytest
from helpers.machines import loo_coordinates_at
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from hilbertlearn import (
    ConformalPredictor,
    FunctionalRegressor,
    IrregularFunctions,
    OperatorKernelRegressor,
    QuantileRegressor,
    RegularizationPathCV,
    losses,
    report,
    spaces,
)

N, LEVEL = 30, 20.0
T = np.linspace(0, 1, 12)
rng = np.random.default_rng(0)
X = rng.uniform(size=(N, 1))
WHOLE = LEVEL + np.sin(6 * (T + X)) + 0.05 * rng.normal(size=(N, len(T)))
FIXED = {"kernel": "rbf", "gamma": 1.0, "alpha": 1e-3}
OUTPUTS = np.column_stack([5 + X[:, 0], 3 + X[:, 0], 7 - X[:, 0]]) + 0.05 * rng.normal(size=(N, 3))


def without(columns, values=WHOLE):
    gone = values.copy()
    gone[:, columns] = np.nan
    return gone


def fitted(model, *data, match="no curve was observed at"):
    """The fitted model; exactly one warning says what was not observed."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(*data)
    texts = [str(one.message) for one in said if match in str(one.message)]
    assert len(texts) == 1, [str(one.message) for one in said]
    return model, texts[0]


@pytest.mark.parametrize("columns", [[5], [4, 5, 6], [0], [11], [10, 11], [0, 1, 2, 3, 4, 5]])
@pytest.mark.parametrize("center", ["auto", True])
def test_predictions_stay_among_the_curves(columns, center):
    model, _ = fitted(FunctionalRegressor(center=center, **FIXED), X, without(columns))
    for predicted in (model.predict(X), model.predict(X, grid=T)):
        assert np.abs(predicted - WHOLE).max() < 1.5  # curves are within 1 of their level, which is 20
    assert np.abs(model.predict(X, grid=np.linspace(0, 1, 40)) - LEVEL).max() < 1.5


@pytest.mark.parametrize(
    "loss", [losses.Huber(0.3), losses.Huber(0.3, p=1), losses.EpsilonInsensitive(0.1), "norm", losses.Ball(1.0)]
)
def test_every_loss(loss):
    model, _ = fitted(FunctionalRegressor(loss=loss, tol=1e-3, **FIXED), X, without([5]))
    assert np.abs(model.predict(X)[:, 5] - WHOLE[:, 5]).max() < 1.5


@pytest.mark.parametrize("space", ["eigen", "fourier", "bspline", spaces.PrincipalComponents()])
def test_every_space(space):
    model, _ = fitted(FunctionalRegressor(space=space, **FIXED), X, without([5]))
    assert np.abs(model.predict(X)[:, 5] - WHOLE[:, 5]).max() < 1.5


def test_averages_of_projections_refer_to_the_exact_loss():
    _, text = fitted(FunctionalRegressor(space="eigen", irregular="projected", **FIXED), X, without([5]))
    assert "irregular='exact'" in text


def test_other_models_of_curves():
    for model in (
        FunctionalRegressor(regressor=Ridge()),
        FunctionalRegressor(feature_map=10, **{**FIXED, "alpha": 1e-2}),
        FunctionalRegressor(operator=None, **FIXED),
    ):
        found, _ = fitted(model, X, without([5]))
        assert np.abs(found.predict(X)[:, 5] - LEVEL).max() < 1.5
    quantiles, _ = fitted(QuantileRegressor((0.2, 0.8), grid=T, coupling=1.0, **FIXED), X, without([5]))
    assert np.abs(quantiles.predict(X)[:, 5] - LEVEL).max() < 1.5


def test_without_a_constant_the_operator_decides():
    model, text = fitted(FunctionalRegressor(center=False, **FIXED), X, without([5]))
    assert "center=False" in text and (model.predict(X)[:, 5] < LEVEL).all()


def test_without_relations_between_points_the_mean_curve_alone_is_interpolated():
    model, text = fitted(FunctionalRegressor(operator="identity", **FIXED), X, without([5]))
    assert "from an interpolated mean curve" in text
    predicted = model.predict(X)[:, 5]
    assert_allclose(predicted, predicted[0])
    assert abs(predicted[0] - WHOLE[:, 5].mean()) < 0.1


def test_a_curve_of_weight_zero_observes_nothing():
    once, weights = without([5]), np.ones(N)
    once[0, 5], weights[0] = WHOLE[0, 5], 0.0
    model, _ = fitted(FunctionalRegressor(**FIXED), X, once, weights)
    left, _ = fitted(FunctionalRegressor(**FIXED), X[1:], without([5])[1:])
    assert_allclose(model.predict(X), left.predict(X), atol=1e-8)


def test_one_value_more_changes_little():
    once = without([5])
    once[0, 5] = WHOLE[0, 5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seen = FunctionalRegressor(**FIXED).fit(X, once)
    never, _ = fitted(FunctionalRegressor(**FIXED), X, without([5]))
    assert np.abs(seen.predict(X) - never.predict(X)).max() < 1.5


def test_names_of_points_and_columns():
    pandas = pytest.importorskip("pandas")
    _, text = fitted(FunctionalRegressor(grid=10 * T, **FIXED), X, without([11]))
    assert "observed at 10," in text
    months = pandas.DataFrame(without([5, 6]), columns=list("abcdefghijkl"))
    _, text = fitted(FunctionalRegressor(**FIXED), X, months)
    assert "observed at 'f', 'g'," in text
    _, text = fitted(OperatorKernelRegressor(**FIXED), X, months, match="has no observed value")
    assert "output 'f', 'g' has" in text


def test_two_variables():
    one, two = np.linspace(0, 1, 5), np.linspace(0, 1, 6)
    surfaces = LEVEL + np.sin(3 * (X[:, :, None] + one[:, None] + two))
    gone = surfaces.copy()
    gone[:, 2, 3] = gone[:, 4] = np.nan
    model, text = fitted(FunctionalRegressor(grid=(one, two), **FIXED), X, gone)
    assert "(0.5, 0.6)" in text and np.abs(model.predict(X) - surfaces).max() < 1.5


def test_batches_are_one_fit():
    settings = {"feature_map": 10, "operator": None, **FIXED}
    model = FunctionalRegressor(**settings)
    with pytest.warns(UserWarning, match=r"observed at 0\.454545"):
        model.partial_fit(X[:15], without([5])[:15])
    assert np.abs(model.predict(X)[:, 5] - LEVEL).max() < 1.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X[15:], WHOLE[15:])  # now it is observed
    assert (
        np.isfinite(model.center_).all()
        and np.abs(model.center_[5] - model.space_.axes[0].root[5] * WHOLE[15:, 5].mean()) < 0.1
    )
    source = FunctionalRegressor(**{**settings, "loss": losses.Huber(0.3)})
    source, _ = fitted(source, lambda: iter([(X, without([5]))]))
    assert np.abs(source.predict(X)[:, 5] - LEVEL).max() < 1.5


def test_leave_one_out_is_that_of_refits():
    gone = without([4, 5])
    model, _ = fitted(FunctionalRegressor(center=True, operator=None, **FIXED), X, gone)
    i = 3
    others = np.delete(np.arange(N), i)
    settings = {**FIXED, "alpha": FIXED["alpha"] * N / (N - 1)}
    left, _ = fitted(FunctionalRegressor(center=True, operator=None, **settings), X[others], gone[others])
    expected = gone[i] - left.predict(X[i : i + 1])[0]
    residuals = model.loo_residuals()[i]
    assert_allclose(residuals, expected, atol=1e-8)
    predicted = model.space_.decode(loo_coordinates_at(model, X[:2])[:, i])
    assert_allclose(predicted, left.predict(X[:2]), atol=0.05)  # to first order at the points that none observes


@pytest.mark.parametrize("space", ["grid", "fourier", spaces.PrincipalComponents()])
@pytest.mark.parametrize("form", ["array", "gap", "irregular"])
def test_one_of_two_curves_is_never_seen(space, form):
    both = np.stack([WHOLE, WHOLE + 5], axis=2)
    gone = both.copy()
    gone[:, :, 1] = np.nan
    if form == "gap":
        gone[3, 4, 0] = np.nan
    pack = (lambda values: IrregularFunctions([T] * N, list(values))) if form == "irregular" else np.asarray
    never = "curve 1 has no observed value"
    model, _ = fitted(FunctionalRegressor(space=space, **FIXED), X, pack(gone), match=never)
    alone = FunctionalRegressor(space=space, **FIXED).fit(X, pack(gone[:, :, :1]))
    found = np.array(getattr(model.predict(X, grid=T), "values", model.predict(X, grid=T)))
    assert np.isnan(found[..., 1]).all() and np.abs(found[..., 0] - WHOLE).max() < 1.5
    with pytest.warns(UserWarning, match="no prediction, and are left out"):
        score = model.score(X, pack(both))
    assert score == pytest.approx(alone.score(X, pack(both[:, :, :1])), abs=0.02)


def test_a_regressor_of_coordinates_has_none_of_a_curve_that_is_never_seen():
    both = np.stack([WHOLE, without(np.arange(12))], axis=2)
    model, _ = fitted(FunctionalRegressor(regressor=Ridge()), X, both, match="curve 1 has no observed value")
    found = model.predict(X)
    assert np.isnan(found[..., 1]).all() and np.isfinite(found[..., 0]).all()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"operator": np.eye(3) + 0.5},
        {"loss": losses.Huber(0.1)},
        {"loss": losses.Huber(0.1, p=1)},
        {"loss": "norm", "tol": 1e-3},
        {"feature_map": 10},
        {"manifold": 0.1},
        {"scale": True},
    ],
)
def test_an_output_that_is_never_observed_is_unknown(settings):
    never = "output 1 has no observed value, and is predicted as NaN"
    model, _ = fitted(OperatorKernelRegressor(**FIXED, **settings), X, without([1], OUTPUTS), match=never)
    assert np.isnan(model.predict(X)[:, 1]).all() and np.isnan(model.center_[1])
    assert np.abs(model.predict(X) - OUTPUTS)[:, [0, 2]].max() < 0.5 and "nan" not in model.summary()
    assert np.isfinite(model.score(X, without([1], OUTPUTS)))
    with pytest.warns(UserWarning, match="no prediction, and are left out"):
        assert model.score(X, OUTPUTS) == model.score(X, without([1], OUTPUTS))


def test_without_a_constant_outputs_are_around_zero():
    never = "around 0"
    model, _ = fitted(OperatorKernelRegressor(center=False, **FIXED), X, without([1], OUTPUTS), match=never)
    assert_allclose(model.predict(X)[:, 1], 0.0)


@pytest.mark.parametrize("operator", ["auto", None])
def test_quantiles_of_an_output_that_is_never_observed(operator):
    given = {"coupling": 1.0, "operator": operator, **FIXED}
    model = QuantileRegressor((0.2, 0.8), **given)
    model, _ = fitted(model, X, without([1], OUTPUTS), match="output 1 has no observed value")
    whole = QuantileRegressor((0.2, 0.8), **given).fit(X, OUTPUTS)
    found, expected = model.predict(X), whole.predict(X)
    assert np.isnan(found[:, 1]).all()
    assert_allclose(found[:, [0, 2]], expected[:, [0, 2]], atol=1e-3)
    with pytest.warns(UserWarning, match="no prediction, and are left out"):
        assert np.isfinite(model.score(X, OUTPUTS))
    assert model.summary() and len(model.search_results_)


def test_paths_and_folds_leave_out_what_has_no_prediction():
    once = without([1], OUTPUTS)
    once[:2, 1] = OUTPUTS[:2, 1]  # both in one fold
    for cv in (None, 5):
        model = RegularizationPathCV(OperatorKernelRegressor("rbf", gamma=1.0), alphas=[1e-3, 1e-2], cv=cv)
        assert np.isfinite(model.fit(X, once).errors_).all() and np.isfinite(model.predict(X)).all()


def test_reports_leave_out_what_has_no_prediction():
    never, both = without([1], OUTPUTS), np.stack([WHOLE, WHOLE + 5], axis=2)
    one = both.copy()
    one[..., 1] = np.nan
    for model, y, truth in (
        (OperatorKernelRegressor(**FIXED), never, OUTPUTS),
        (QuantileRegressor((0.2, 0.8), coupling=1.0, **FIXED), never, OUTPUTS),
        (FunctionalRegressor(**FIXED), one, both),
    ):
        fitted(model, X, y, match="has no observed value")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            known, whole = report.section(model, X, y), report.section(model, X, truth)
        assert whole.facts["score"] == pytest.approx(known.facts["score"]) and report.html([whole])


def test_bands_are_infinite_where_nothing_was_observed():
    model = ConformalPredictor(FunctionalRegressor(operator=None, **FIXED), level=0.8)
    whole = ConformalPredictor(FunctionalRegressor(operator=None, **FIXED), level=0.8).fit(X, WHOLE)
    with pytest.warns(UserWarning, match="no curve was observed"):
        model.fit(X, without([5]))
    with pytest.warns(UserWarning, match="infinite"):
        band, between = model.predict_band(X), model.predict_band(X, grid=np.linspace(0, 1, 23))
    others = np.delete(np.arange(12), 5)
    assert (band.lower[:, 5] == -np.inf).all() and (band.upper[:, 5] == np.inf).all()
    assert np.isfinite(band.width[:, others]).all() and np.isinf(between.width[:, 9:12]).all()
    assert np.isfinite(between.width[:, 12:]).all()
    ratio = band.width[:, others].mean() / whole.predict_band(X).width[:, others].mean()
    assert 0.7 < ratio < 1.4
    assert_allclose(band.contains(WHOLE), band.contains(WHOLE + 1e3 * (np.arange(12) == 5)))  # nothing is said there
    assert not band.contains(WHOLE + 1e3 * (np.arange(12) == 4)).any()


@pytest.mark.parametrize("score", ["auto", "constant", "mahalanobis"])
def test_regions_are_infinite_in_an_output_that_was_not_observed(score):
    model = ConformalPredictor(OperatorKernelRegressor(**FIXED), level=0.8, score=score)
    with pytest.warns(UserWarning, match="has no observed value"):
        model.fit(X, without([1], OUTPUTS))
    with pytest.warns(UserWarning, match="infinite"):
        region, intervals = model.predict_region(X), model.predict_interval(X)
    for lower, upper in ((region.lower, region.upper), (intervals[..., 0], intervals[..., 1])):
        assert (lower[:, 1] == -np.inf).all() and (upper[:, 1] == np.inf).all()
        assert np.isfinite(upper[:, [0, 2]] - lower[:, [0, 2]]).all()
    assert region.contains(OUTPUTS).mean() > 0.7


def test_a_fold_without_an_output_has_no_bound_for_it():
    once = without([1], OUTPUTS)
    once[:2, 1] = OUTPUTS[:2, 1]
    groups = np.minimum(np.arange(N) // 2, 9)  # the two samples that have the output are left out together
    model = ConformalPredictor(OperatorKernelRegressor(**FIXED), level=0.5, method="cv+", cv=10)
    with pytest.warns(UserWarning, match="output 1 has no observed value"):
        model.fit(X, once, groups=groups)
    region = model.predict_region(X)  # no sample has both this output and a prediction of it
    assert np.isneginf(region.lower[:, 1]).all() and np.isposinf(region.upper[:, 1]).all()
    assert np.isfinite(region.lower[:, [0, 2]]).all() and np.isfinite(region.upper[:, [0, 2]]).all()
