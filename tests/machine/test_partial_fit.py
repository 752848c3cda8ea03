"""Batches in any split and order against one fit; what batches may not be; scikit-learn's own checks."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from helpers.estimator_checks import assert_checks_pass, in_one_line
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import RBFSampler

from hilbertlearn import FunctionalRegressor, LinkPredictor, OperatorKernelRegressor, streams
from hilbertlearn.features import Landmarks, RandomFeatures
from hilbertlearn.operators import Covariance, LearnedOperator

N, P, D = 200, 3, 3
rng = np.random.default_rng(0)
X = rng.normal(size=(N, P))
Y = np.c_[np.sin(X[:, 0]), X[:, 1] ** 2, X.sum(axis=1)] + 0.1 * rng.normal(size=(N, D)) + [0, 20, -2]
WEIGHTS = rng.uniform(0.2, 2, N)
WEIGHTS[::17] = 0.0
ROOT = rng.normal(size=(D, D))
GAPS = np.where(rng.random(Y.shape) < 0.2, np.nan, Y)
GAPS[:3] = np.nan
MAPS = {
    "random": RandomFeatures(30),
    "points": Landmarks(points=rng.normal(size=(25, P))),
    "transformer": RBFSampler(gamma=0.1, n_components=30, random_state=0),
}


def model(feature_map=MAPS["random"], alpha=1e-3, **settings):
    return OperatorKernelRegressor("rbf", gamma=0.2, alpha=alpha, feature_map=feature_map, **settings)


def fed(estimator, X, y, weights=None, cuts=(20, 90), order=None):
    """The estimator after ``partial_fit`` to parts of the rows."""
    order = np.arange(X.shape[0]) if order is None else order
    for rows in np.split(order, cuts):
        estimator.partial_fit(X[rows], y[rows], None if weights is None else weights[rows])
    return estimator


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"center": False}, {"operator": ROOT @ ROOT.T}, {"operator": np.diag([0.2, 0, 3])}, {"scale": False}],
    ids=str,
)
@pytest.mark.parametrize("name", MAPS)
def test_any_split_and_order_is_one_fit(name, settings, weighted):
    weights = WEIGHTS if weighted else None
    wanted = model(MAPS[name], **settings).fit(X, Y, weights)
    for cuts in ([1, 2, 150], [100], []):
        order = np.r_[1, rng.permutation(np.delete(np.arange(N), 1))]  # a first batch of weight 0 says nothing
        found = fed(model(MAPS[name], **settings), X, Y, weights, cuts, order)
        assert_allclose(found.predict(X), wanted.predict(X), atol=1e-10 * np.abs(Y).max())
        assert_allclose(found.center_, wanted.center_, atol=1e-12)
        assert found.dual_gap_ < 1e-12


def test_one_row_at_a_time():
    wanted, found = model().fit(X[:40], Y[:40]), fed(model(), X[:40], Y[:40], cuts=range(1, 40))
    assert_allclose(found.predict(X), wanted.predict(X), atol=1e-10)


@pytest.mark.parametrize("operator", [None, np.diag([0.2, 1, 3])], ids=["", "diagonal"])
def test_gaps(operator):
    wanted = model(operator=operator).fit(X, GAPS, WEIGHTS)
    found = fed(model(operator=operator), X, GAPS, WEIGHTS, [50, 51, 120], rng.permutation(N))
    assert_allclose(found.predict(X), wanted.predict(X), atol=1e-9)


def test_sparse_inputs_and_one_output():
    S = scipy.sparse.csr_matrix(np.where(np.abs(X) > 1, X, 0.0))
    wanted = model().fit(S, Y[:, 0])
    found = fed(model(), S, Y[:, 0])
    assert found.predict(S).shape == (N,)
    assert_allclose(found.predict(S), wanted.predict(S), atol=1e-10)


def test_single_precision_is_summed_in_double():
    small = X.astype(np.float32)
    wanted, found = model().fit(small, Y), fed(model(), small, Y)
    assert_allclose(found.predict(small), wanted.predict(small), atol=1e-6)
    assert found.predict(small).dtype == wanted.predict(small).dtype
    assert found.precision_ == wanted.precision_


def test_alpha_is_chosen_by_rows_left_out_of_all():
    """All rows are kept of so few: the choice is that of the fit in memory."""
    wanted, found = model(alpha="auto").fit(X, Y), fed(model(alpha="auto"), X, Y)
    assert_allclose(found.alpha_, wanted.alpha_, rtol=1e-6)
    assert_allclose(found.predict(X), wanted.predict(X), atol=1e-8)
    assert set(found.search_results_) == set(wanted.search_results_) and len(found.search_results_["alpha"]) > 5


def test_the_first_batch_decides_what_was_not_given():
    settings = {"operator": Covariance(), "scale": True, "feature_map": Landmarks(15), "alpha": 1e-3}
    one = OperatorKernelRegressor(**settings).partial_fit(X[:80], Y[:80])
    before = one.gamma_, one.operator_.copy(), one.scale_.copy(), one.X_fit_.copy()
    one.partial_fit(3 * X[80:], 3 * Y[80:])
    for value, wanted in zip((one.gamma_, one.operator_, one.scale_, one.X_fit_), before, strict=True):
        assert_allclose(value, wanted)


def test_a_small_first_batch_is_told():
    with pytest.warns(UserWarning, match="the first rows are 5, of which 15 landmarks"):
        model(Landmarks(15)).partial_fit(X[:5], Y[:5])


def test_functions_on_a_grid():
    grid = np.linspace(0, 1, 15)
    curves = np.sin(3 * grid + X[:, :1]) + 0.05 * rng.normal(size=(N, 15))
    settings = {"kernel": "rbf", "gamma": 0.2, "alpha": 1e-3, "feature_map": RandomFeatures(30), "center": True}
    wanted = FunctionalRegressor(**settings).fit(X, curves)
    found = fed(FunctionalRegressor(**settings), X, curves, order=rng.permutation(N))
    assert_allclose(found.predict(X), wanted.predict(X), atol=1e-10)
    between = np.linspace(0, 1, 29)
    assert_allclose(found.predict(X[:5], between), wanted.predict(X[:5], between), atol=1e-9)
    assert found.score(X, curves) > 0.5
    # where the grid has points, the prediction between them is that of the grid
    assert_allclose(wanted.predict(X[:5], between)[:, ::2], wanted.predict(X[:5]), atol=1e-6)


def test_curves_between_points_on_landmarks():
    grid = np.linspace(0, 1, 9)
    curves = np.sin(3 * grid + X[:, :1])
    settings = {"kernel": "rbf", "gamma": 0.2, "alpha": 1e-3, "center": True}
    for setting in (Landmarks(20), Landmarks(points=X[:20])):
        one = FunctionalRegressor(**settings, feature_map=setting).fit(X, curves)
        assert_allclose(one.predict(X[:5], grid), one.predict(X[:5]), atol=1e-6)


def test_frames_and_their_names():
    inputs, outputs = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(Y, columns=list("uvw"))
    one = model().partial_fit(inputs[:50], outputs[:50]).partial_fit(inputs[50:], outputs[50:])
    assert list(one.predict(inputs).columns) == list("uvw")
    with pytest.raises(ValueError, match="feature names"):
        one.partial_fit(inputs[["b", "a", "c"]], outputs)


BAD = {
    "columns": (X[:5, :2], Y[:5], None, "2 features"),
    "NaN in X": (np.full((5, P), np.nan), Y[:5], None, "NaN"),
    "outputs": (X[:5], Y[:5, :2], None, "a batch has 2 outputs a sample, and the first had 3"),
    "one output": (X[:5], Y[:5, 0], None, "outputs"),
    "numbers of rows": (X[:5], Y[:4], None, "inconsistent numbers 5 and 4"),
    "no outputs": (X[:5], None, None, "requires y"),
    "words": (X[:5], np.array([["a"] * D] * 5), None, "y must be numbers"),
    "infinity": (X[:5], np.full((5, D), np.inf), None, "infinity"),
    "weights": (X[:5], Y[:5], -np.ones(5), "[Nn]egative"),
    "number of weights": (X[:5], Y[:5], np.ones(4), "sample_weight"),
    "no rows": (X[:0], Y[:0], None, "0 sample"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_batch_leaves_the_model_as_it_was(name):
    *batch, message = BAD[name]
    one = fed(model(), X[:60], Y[:60], cuts=[30])
    before = one.predict(X)
    with pytest.raises(ValueError, match=message):
        one.partial_fit(*batch)
    assert_allclose(one.predict(X), before, rtol=0)
    assert_allclose(one.partial_fit(X[60:], Y[60:]).predict(X), model().fit(X, Y).predict(X), atol=1e-9)


def test_a_bad_first_batch_leaves_it_unfitted():
    one = model()
    with pytest.raises(ValueError, match="only NaN"):
        one.partial_fit(X[:5], np.full((5, D), np.nan))
    with pytest.raises(NotFittedError):
        one.predict(X)


def test_rows_without_outputs_count_for_nothing():
    one = model().partial_fit(X[:50], Y[:50])
    before = one.predict(X)
    assert_allclose(one.partial_fit(X[50:60], np.full((10, D), np.nan)).predict(X), before, atol=1e-12)


def test_gaps_under_a_coupling_operator_are_refused():
    one = model(operator=ROOT @ ROOT.T).partial_fit(X[:50], Y[:50])
    with pytest.raises(ValueError, match="operator= mixes"):
        one.partial_fit(X[50:], GAPS[50:])
    one.partial_fit(X[50:], Y[50:])


def test_fit_begins_anew_and_partial_fit_after_it_too():
    one = fed(model(), X, 5 * Y)
    assert_allclose(one.fit(X[:50], Y[:50]).predict(X), model().fit(X[:50], Y[:50]).predict(X), atol=1e-12)
    one.partial_fit(X[50:120], Y[50:120])
    assert_allclose(one.predict(X), model().fit(X[50:120], Y[50:120]).predict(X), atol=1e-9)


def test_another_alpha_holds_from_the_next_batch_on():
    one = fed(model(), X[:100], Y[:100])
    one.set_params(alpha=0.1).partial_fit(X[100:], Y[100:])
    assert_allclose(one.predict(X), model(alpha=0.1).fit(X, Y).predict(X), atol=1e-9)


def test_alpha_is_checked_in_every_batch():
    one = model().partial_fit(X[:100], Y[:100]).set_params(alpha=-1.0)
    with pytest.raises(ValueError, match="alpha must be"):
        one.partial_fit(X[100:], Y[100:])


OTHERS = {
    "gamma": 0.5,
    "kernel": "linear",
    "center": False,
    "operator": np.eye(D),
    "scale": True,
    "feature_map": RandomFeatures(31),
    "precision": "float32",
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_settings_than_those_of_the_first_batch_are_refused(name):
    one = model(RandomFeatures(30)).partial_fit(X[:100], Y[:100])
    before = one.get_params()[name]
    with pytest.raises(ValueError, match=f"{name}: the batches before .* put them back"):
        one.set_params(**{name: OTHERS[name]}).partial_fit(X[100:], Y[100:])
    one.set_params(**{name: before}).partial_fit(X[100:], Y[100:])
    assert_allclose(one.predict(X), model(RandomFeatures(30)).fit(X, Y).predict(X), atol=1e-9)


def test_settings_inside_objects_are_compared_too():
    one = model(Landmarks(points=X[:20]), operator=np.diag([1.0, 2, 3])).partial_fit(X[:100], Y[:100])
    one.set_params(feature_map=Landmarks(points=X[:20].copy()), operator=np.diag([1, 2, 3]), tol=1e-9)
    one.partial_fit(X[100:], Y[100:])
    one.feature_map.points = X[1:21]
    with pytest.raises(ValueError, match="feature_map: the batches before"):
        one.partial_fit(X[100:], Y[100:])


@pytest.mark.parametrize("operator", ["learned", LearnedOperator()], ids=str)
def test_an_operator_that_takes_passes_is_refused(operator):
    with pytest.raises(ValueError, match=r"LearnedOperator takes several passes.*fit\(source\)"):
        model(operator=operator).partial_fit(X, Y)


def test_a_new_start_after_passes_is_told():
    one = model(operator=ROOT @ ROOT.T).fit(streams.from_arrays(X, GAPS, batch_size=50))
    with pytest.warns(UserWarning, match="begins anew: .* several passes"):
        one.partial_fit(X[:100], Y[:100])
    one.partial_fit(X[100:], Y[100:])
    assert_allclose(one.predict(X), model(operator=ROOT @ ROOT.T).fit(X, Y).predict(X), atol=1e-9)


def test_a_first_batch_of_weight_0_is_told():
    with pytest.raises(ValueError, match=r"sample_weight: .*positive.*first batch"):
        model().partial_fit(X[:5], Y[:5], np.zeros(5))
    with pytest.raises(ValueError, match=r"sample_weight: .*positive.*first batch"):
        model().fit(iter([(X[:5], Y[:5], np.zeros(5))]))


def test_empty_batches_of_a_source_are_skipped():
    parts = [(X[:0], Y[:0]), (X[:90], Y[:90]), (X[:0], Y[:0]), (X[90:], Y[90:]), (X[:0], Y[:0])]
    wanted = model().fit(X, Y).predict(X)
    for source in (parts, iter(parts)):
        assert_allclose(model().fit(streams.from_batches(source)).predict(X), wanted, atol=1e-9)
    huber = {"loss": "huber", "tol": 1e-9}
    found = model(**huber).fit(streams.from_batches(parts))
    assert_allclose(found.predict(X), model(**huber).fit(X, Y).predict(X), atol=1e-3)
    with pytest.raises(ValueError, match="no rows"):
        model().fit(streams.from_batches(parts[:1]))


def test_copies_go_on_by_themselves():
    one = model().partial_fit(X[:100], Y[:100])
    other = pickle.loads(pickle.dumps(one))
    one.partial_fit(X[100:], Y[100:])
    assert_allclose(other.predict(X), model().fit(X[:100], Y[:100]).predict(X), atol=1e-9)
    assert_allclose(other.partial_fit(X[100:], Y[100:]).predict(X), one.predict(X), atol=1e-12)
    assert not hasattr(clone(one), "state_")


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"feature_map": None}, "needs feature_map="),
        ({"feature_map": "auto"}, "needs feature_map="),
        ({"loss": "huber"}, "is for loss='squared'"),
        ({"loss": "no such loss"}, "is for loss='squared'"),
        ({"manifold": 0.1}, "manifold=0"),
        ({"alpha_per_output": True}, "alpha_per_output=False"),
    ],
)
def test_there_is_no_partial_fit_where_it_cannot_work(settings, why):
    one = model().set_params(**settings)
    assert not hasattr(one, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit") as told:
        one.partial_fit(X, Y)
    assert why in str(told.value)
    assert not hasattr(LinkPredictor(), "partial_fit")


def test_several_kernels_are_refused():
    one = OperatorKernelRegressor([("rbf", None), ("linear", None)], feature_map=Landmarks(10))
    with pytest.raises(ValueError, match="single kernel"):
        one.partial_fit(X, Y)


def test_what_is_not_kept_is_told():
    one = model().partial_fit(X, Y)
    for name in ("dual_coef_", "support_", "saturated_", "outlier_scores_"):
        with pytest.raises(AttributeError, match="come in batches"):
            getattr(one, name)
    with pytest.raises(ValueError, match="keeps none"):
        one.loo_residuals()
    assert "200 samples" in one.summary() and one.solver_ == "moments" and one.n_iter_ >= 1
    assert one.feature_map_.n_components == 30


def test_all_orders_of_three_batches():
    parts = np.split(np.arange(N), [40, 150])
    models = []
    for order in itertools.permutations(parts):
        one = model()
        for rows in order:
            one.partial_fit(X[rows], Y[rows])
        models.append(one.predict(X))
    assert_allclose(models[1:], [models[0]] * 5, atol=1e-11)


@pytest.mark.parametrize(
    "estimator",
    [
        OperatorKernelRegressor("rbf", gamma="median", alpha=1e-3, feature_map=RandomFeatures(100)),
        OperatorKernelRegressor("rbf", gamma="median", alpha=1e-3, feature_map=Landmarks(300)),  # more than samples
    ],
    ids=in_one_line,
)
@pytest.mark.filterwarnings("ignore:feature_map. the first rows")
def test_scikit_learn_checks(estimator):
    assert_checks_pass(estimator)
