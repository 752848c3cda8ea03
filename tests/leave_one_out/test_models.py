"""Closed-form models without one sample against refits without each sample."""

import itertools
import pickle

import numpy as np
import pytest
from helpers.machines import loo_coordinates_at
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import (
    ConformalPredictor,
    FunctionalRegressor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    load,
    losses,
    save,
)
from hilbertlearn.features import Landmarks
from hilbertlearn.machine.wrapping import fit_with_leave_one_out

N, D, GAMMA, ALPHA = 11, 3, 0.3, 0.01
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 2))
Y = np.c_[np.sin(2 * X[:, 0]), X[:, 1], X.sum(axis=1)] + 0.1 * rng.normal(size=(N, D)) + [0, 5, -2]
GAPS = Y.copy()
GAPS[[1, 5], 0] = GAPS[4, 2] = GAPS[7] = np.nan
WEIGHTS = rng.uniform(0.3, 3, N)
QUERIES = rng.normal(size=(4, 2))
ROOT = rng.normal(size=(D, D))
FULL = {"identity": None, "full": ROOT @ ROOT.T, "rank 2": ROOT[:, :2] @ ROOT[:, :2].T}
DIAGONAL = {
    "identity": None,
    "diagonal": np.diag([1, 2, 0.5]),
    "multiple": 2 * np.eye(3),
    "rank 2": np.diag([2.0, 2, 0]),
}


def check(make, Y, weights=None, inputs=X, queries=QUERIES, tolerance=1e-10):
    """The models without one sample against refits with the same alpha n.

    make : function of alpha that gives the estimator
    """
    model = make(ALPHA).fit(inputs, Y, weights)
    models, found = model.machine_.leave_one_out_models(), loo_coordinates_at(model, queries)
    rows, w = models.rows, np.ones(len(Y)) if weights is None else weights
    assert found.shape == (len(queries), len(rows), model.machine_.coordinates(queries).shape[1])
    for j, i in enumerate(rows):
        rest = np.setdiff1d(rows, [i])
        refit = make(ALPHA * w[rows].sum() / w[rest].sum()).fit(inputs[rest], Y[rest], w[rest])
        assert_allclose(found[:, j], refit.machine_.coordinates(queries), atol=tolerance)
        seen = np.isfinite(models.loo_predictions[j])
        assert_allclose(
            models.loo_predictions[j, seen], refit.machine_.coordinates(inputs[i : i + 1])[0, seen], atol=tolerance
        )
    some = models.coordinates_at(model.machine_.check_inputs(queries), np.array([1, 4]))
    assert_allclose(some, found[:, [1, 4]], atol=1e-12)


def regressor(**settings):
    return lambda alpha: OperatorKernelRegressor("rbf", gamma=GAMMA, alpha=alpha, **settings)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@pytest.mark.parametrize("center", [False, True], ids=["", "centred"])
@pytest.mark.parametrize("operator", FULL)
def test_models_equal_refits(operator, center, weights):
    check(regressor(operator=FULL[operator], center=center), Y, weights)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@pytest.mark.parametrize("center", [False, True], ids=["", "centred"])
@pytest.mark.parametrize("operator", DIAGONAL)
def test_models_equal_refits_with_gaps(operator, center, weights):
    check(regressor(operator=DIAGONAL[operator], center=center), GAPS, weights)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@pytest.mark.parametrize(
    ("operator", "y"), [*itertools.product(FULL, ["whole"]), *itertools.product(DIAGONAL, ["gaps"])]
)
def test_models_equal_refits_on_features(operator, y, weights):
    M, y = (FULL[operator], Y) if y == "whole" else (DIAGONAL[operator], GAPS)
    check(regressor(operator=M, feature_map=Landmarks(points=X[:5])), y, weights)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@pytest.mark.parametrize("features", [None, Landmarks(points=X[:5])], ids=["", "features"])
@pytest.mark.parametrize(
    ("operator", "y", "center"),
    [(None, Y, False), (None, Y, True), *((M, Y, True) for M in list(FULL.values())[1:])]
    + [(M, GAPS, True) for M in DIAGONAL.values()],
)
def test_pairs_equal_refits(operator, y, center, features, weights):
    """Residuals of samples left out together with another: scales of models without a sample come from them."""
    make = regressor(operator=operator, center=center, feature_map=features)
    models = make(ALPHA).fit(X, y, weights).machine_.leave_one_out_models()
    w, rows, some = np.ones(N) if weights is None else weights, models.rows, [0, 3, 8]
    found = models.pairwise_residuals(np.array(some))
    for (a, i), j in itertools.product(enumerate(some), range(0, len(rows), 2)):
        if i == j:
            assert np.isnan(found[a, j]).all()
            continue
        rest = np.setdiff1d(rows, rows[[i, j]])
        refit = make(ALPHA * w[rows].sum() / w[rest].sum()).fit(X[rest], y[rest], w[rest])
        assert_allclose(found[a, j], (y - refit.machine_.coordinates(X))[rows[j]], atol=1e-10)


def test_models_of_a_kernel_of_low_rank():
    check(lambda alpha: OperatorKernelRegressor("linear", alpha=alpha, center=False), Y)
    check(lambda alpha: OperatorKernelRegressor("linear", alpha=alpha, center=False, operator=FULL["full"]), Y)


def test_models_of_a_sum_of_kernels():
    terms = [("rbf", None), ("linear", None)]
    check(lambda alpha: OperatorKernelRegressor(terms, gamma=GAMMA, alpha=alpha, center=False), Y)


@pytest.mark.parametrize("operator", ["auto", None])
def test_models_of_curves_on_a_grid(operator):
    t = np.linspace(0, 1, 15)
    curves = np.sin(4 * t + X[:, :1]) + 0.1 * rng.normal(size=(N, 15))
    check(lambda alpha: FunctionalRegressor("rbf", gamma=GAMMA, alpha=alpha, center=True, operator=operator), curves)


def test_models_of_functions_of_two_variables():
    """The operator is a Kronecker product."""
    images = rng.normal(size=(N, 4, 5)) + X[:, :1, None]
    grid = (np.linspace(0, 1, 4), np.linspace(0, 1, 5))
    check(lambda alpha: FunctionalRegressor("rbf", gamma=GAMMA, alpha=alpha, center=True, grid=grid), images)


def test_models_of_a_precomputed_kernel():
    K, G = rbf_kernel(X, gamma=GAMMA), rbf_kernel(QUERIES, X, gamma=GAMMA)
    by_name = loo_coordinates_at(OperatorKernelRegressor("rbf", gamma=GAMMA, alpha=ALPHA).fit(X, Y), QUERIES)
    by_gram = loo_coordinates_at(OperatorKernelRegressor("precomputed", alpha=ALPHA).fit(K, Y), G)
    assert_allclose(by_gram, by_name, atol=1e-12)


@pytest.mark.parametrize(
    "settings", [{"loss": "huber"}, {"loss": losses.Huber(0.1)}, {"kernel": [("rbf", FULL["full"]), ("linear", None)]}]
)
def test_models_without_a_formula_are_refused(settings):
    model = OperatorKernelRegressor(alpha=0.1, **{"kernel": "rbf", "gamma": GAMMA, **settings}).fit(X, Y)
    assert model.machine_.leave_one_out_obstacle
    with pytest.raises(ValueError, match="squared loss"):
        model.machine_.leave_one_out_models()


def test_gaps_under_an_operator_that_mixes_have_no_formula():
    mixed = OperatorKernelRegressor("rbf", gamma=GAMMA, alpha=0.1, operator=FULL["full"]).fit(X, GAPS)
    assert "missing outputs" in mixed.machine_.leave_one_out_obstacle


@pytest.mark.parametrize(
    ("settings", "y"),
    [
        ({"alpha": 0.01}, Y),
        ({"alpha": 0.01, "operator": FULL["full"]}, Y),
        ({"alpha": "auto", "operator": FULL["rank 2"]}, Y),
        ({"alpha": "auto"}, GAPS),
        ({"alpha": "auto", "alpha_per_output": True}, Y),
        ({"alpha": 0.01, "feature_map": Landmarks(points=X[:5])}, GAPS),
        ({"alpha": 0.01, "precision": "refined"}, Y),
    ],
)
def test_factors_of_the_fit_serve_the_models(settings, y):
    """``fit_without_one`` is ``fit`` and ``without_one``, with one factorisation less."""
    make = lambda: OperatorKernelRegressor("rbf", gamma=GAMMA, **settings)  # noqa: E731
    shared, alone = make(), make().fit(X, y, WEIGHTS)
    found, expected = fit_with_leave_one_out(shared, X, y, WEIGHTS), alone.machine_.leave_one_out_models()
    assert_allclose(shared.predict(QUERIES), alone.predict(QUERIES), atol=1e-9)
    assert_allclose(found.loo_predictions, expected.loo_predictions, atol=1e-9)
    at = shared.machine_.check_inputs(QUERIES)
    assert_allclose(found.coordinates_at(at), expected.coordinates_at(at), atol=1e-9)


def test_a_fit_without_a_formula_gives_no_models():
    model = OperatorKernelRegressor("rbf", gamma=GAMMA, alpha=0.1, loss="huber")
    assert fit_with_leave_one_out(model, X, Y) is None
    assert_allclose(
        model.predict(X), OperatorKernelRegressor("rbf", gamma=GAMMA, alpha=0.1, loss="huber").fit(X, Y).predict(X)
    )


# ---------------------------------------------------------------- stored


def _stored(model, tmp_path):
    """A model after a pickle, and after a file; and the bytes of both."""
    pickled = pickle.dumps(model)
    path = save(model, tmp_path / "model.hilbertlearn")
    return (pickle.loads(pickled), load(path)), (len(pickled), path.stat().st_size)


_WRAPPED = {
    "fixed": OperatorKernelRegressor("laplacian", gamma=1.0, alpha=1e-3),
    "automatic": OperatorKernelRegressor(),
    "operator": OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-3, operator=np.array([[1.0, 0.5], [0.5, 1.0]])),
    "features": OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-3, feature_map=Landmarks(20)),
    "path": RegularizationPathCV(OperatorKernelRegressor("rbf", gamma=1.0), [1e-3, 1e-2]),
}


def _samples(n):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, np.c_[np.sin(3 * X[:, 0]), X.sum(axis=1)] + 0.3 * rng.normal(size=(n, 2))


@pytest.mark.parametrize("name", _WRAPPED)
@pytest.mark.parametrize("asked_before", [True, False])
def test_stored_models_without_each_predict_the_same_to_the_last_bit(name, asked_before, tmp_path):
    X, Y = _samples(40)
    model = ConformalPredictor(_WRAPPED[name], "jackknife+").fit(X, Y)
    assert model.closed_form_
    if asked_before:
        model.predict_interval(X[:1])
    for copy in _stored(model, tmp_path)[0]:
        assert_array_equal(copy.predict_interval(X[:7]), model.predict_interval(X[:7]))
        assert_array_equal(copy.predict_region(X[:7]).upper, model.predict_region(X[:7]).upper)


@pytest.mark.parametrize("sets", [False, True], ids=["numbers", "objects"])
def test_what_is_stored_grows_with_the_samples_and_not_their_pairs(sets, tmp_path):
    estimator = (StructuredPredictor if sets else OperatorKernelRegressor)("laplacian", gamma=1.0, alpha=1e-3)
    sizes = []
    for n in (100, 400):
        X, Y = _samples(n)
        y = np.where(X[:, 0] > 0, "right", "left").tolist() if sets else Y
        model = ConformalPredictor(estimator, "jackknife+").fit(X, y)
        (model.predict_set if sets else model.predict_interval)(X[:2])  # makes what is not to be stored
        sizes.append(_stored(model, tmp_path)[1])
    assert all(large < 4.5 * small for small, large in zip(*sizes, strict=True))
