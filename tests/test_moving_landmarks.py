"""Landmarks that move: derivatives, what is minimised, every loss, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import (
    ConformalPredictor,
    FunctionalRegressor,
    LinkPredictor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    features,
    kernels,
    losses,
    outlier_report,
)
from hilbertlearn.features.moving import _Left, moved

rng = np.random.default_rng(0)
N, P = 80, 2
X = rng.normal(size=(N, P))
Y = np.c_[np.sin(3 * X[:, 0] * X[:, 1]), np.cos(3 * X[:, 1])] + 0.1 * rng.normal(size=(N, 2))


def landmarks(moves, number=8, **settings):
    return features.Landmarks(number, moves=moves, **settings)


def regressor(moves, **settings):
    return OperatorKernelRegressor(
        **{"kernel": "rbf", "gamma": 0.8, "alpha": 1e-3, "feature_map": landmarks(moves), **settings}
    )


def left_by_hand(name, gamma, L, T, weights, penalties):
    """What is left of targets, column by column, by dense systems."""
    kernel = kernels.InputKernel(name, gamma)
    K, S, W = kernel(X, L), kernel(L, L) + 1e-10 * np.eye(len(L)), np.diag(weights)
    total = 0.0
    for t, s in zip(T.T, penalties, strict=True):
        c = np.linalg.solve(K.T @ W @ K + s * S, K.T @ W @ t)
        total += (t - K @ c) @ W @ (t - K @ c) / 2 + s * c @ S @ c / 2
    return total


@pytest.mark.parametrize("name", kernels.MOVABLE)
def test_value_and_derivative_are_their_definitions(name):
    weights, penalties = rng.uniform(0.5, 2, size=N), np.array([0.05, 0.4])
    L = rng.normal(size=(6, P))
    left = _Left(name, 0.7, X, Y, weights, penalties, L.shape)
    value, derivative = left(L.ravel())
    assert_allclose(value, left_by_hand(name, 0.7, L, Y, weights, penalties), rtol=1e-7)
    for direction in rng.normal(size=(3, L.size)):
        ahead, behind = (left(L.ravel() + sign * 1e-5 * direction)[0] for sign in (1, -1))
        assert_allclose(derivative @ direction, (ahead - behind) / 2e-5, rtol=1e-5, atol=1e-7)


def test_blocks_of_rows_add_up(monkeypatch):
    L = rng.normal(size=(6, P))
    left = _Left("rbf", 0.7, X, Y, np.ones(N), np.full(2, 0.1), L.shape)
    whole = left(L.ravel())
    monkeypatch.setattr("hilbertlearn.features.moving._BLOCK_ENTRIES", 50)
    value, derivative = left(L.ravel())
    assert_allclose(value, whole[0], rtol=1e-12)
    assert_allclose(derivative, whole[1], rtol=1e-9, atol=1e-12)


def test_each_move_lowers_the_objective_of_the_model():
    values, kernel = [], kernels.InputKernel("rbf", 0.8)
    for moves in (0, 1, 3, 10):
        model = regressor(moves).fit(X, Y)
        L = model.X_fit_
        function = model.predict(L) - model.center_
        norm = np.sum(function * np.linalg.solve(kernel(L, L), function))
        values.append(np.mean(np.sum((Y - model.predict(X)) ** 2, axis=1)) / 2 + model.alpha_ * norm / 2)
    assert (np.diff(values) < 0).all()
    assert values[-1] < 0.85 * values[0]


@pytest.mark.parametrize(
    "settings",
    [
        {"loss": losses.Huber(0.2)},
        {"loss": losses.EpsilonSVR(0.1)},
        {"operator": np.array([[1.0, 0.5], [0.5, 1.0]])},
        {"operator": np.array([[1.0, 1.0], [1.0, 1.0]])},
        {"loss": losses.Huber(0.2), "operator": np.diag([2.0, 0.5])},
    ],
    ids=str,
)
def test_targets_have_the_same_fit_under_the_squared_loss(settings, monkeypatch):
    """Landmarks are moved by targets whose ridge regression, by a dense system, has the model's own fitted values."""
    seen = {}

    def watch(found, X, targets, weights, penalties, *rest):
        seen.update(found=found, targets=targets, weights=weights, penalties=penalties)
        return moved(found, X, targets, weights, penalties, *rest)

    monkeypatch.setattr("hilbertlearn.selection.moves.moved", watch)
    gaps = Y.copy()
    gaps[rng.random(N) < 0.3, 1] = np.nan  # every sample has an output
    weights = rng.uniform(0.5, 2, size=N)
    regressor(1, **settings).fit(X, gaps, weights)
    model = regressor(0, tol=1e-10, max_iter=20_000, **settings).fit(X, gaps, weights)
    Z = seen["found"](X)
    W = [np.linalg.solve(Z.T @ (Z * weights[:, None]) + s * np.eye(Z.shape[1]), Z.T @ (weights * t))
         for t, s in zip(seen["targets"].T, seen["penalties"], strict=True)]  # fmt: skip
    fitted = model.predict(X) - model.center_
    M = settings.get("operator", np.eye(2))
    values, vectors = np.linalg.eigh(M)
    assert_allclose(Z @ np.transpose(W), fitted @ vectors[:, values > 1e-9], atol=2e-2)


def test_predictions_are_those_of_the_landmarks_given():
    model = regressor(5).fit(X, Y)
    same = regressor(0, feature_map=features.Landmarks(points=model.X_fit_)).fit(X, Y)
    assert_allclose(model.predict(X), same.predict(X), atol=1e-8)
    assert model.dual_gap_ <= 1e-6
    assert "8 features" in model.summary()


def test_everything_chosen_and_other_outputs():
    grid = np.linspace(0, 1, 12)
    curves = np.sin(3 * X[:, :1] + 4 * grid)
    assert FunctionalRegressor("rbf", feature_map=landmarks(2, 20)).fit(X, curves).score(X, curves) > 0.5
    labels = (Y > 0).astype(int)
    for loss in ("hamming", "f1"):
        model = StructuredPredictor("rbf", gamma=0.8, alpha=1e-3, output_loss=loss, feature_map=landmarks(3, 20))
        assert model.fit(X, labels).predict(X).shape == labels.shape


def test_repeated_samples_are_weights():
    times = rng.integers(1, 4, size=N)
    repeated = np.repeat(np.arange(N), times)
    points = features.Landmarks(method="uniform", points=X[:8])
    start = points.fit(kernels.InputKernel("rbf", 0.8), X)
    given = (np.full(2, 0.1), 4)
    one = moved(start, X, Y, times.astype(float), *given)
    other = moved(start, X[repeated], Y[repeated], np.ones(len(repeated)), *given)
    assert_allclose(one.X, other.X, atol=1e-6)


def test_nothing_is_left_out_of_what_knows_the_outputs():
    model = regressor(2).fit(X, Y)
    assert not model.leaves_one_out
    with pytest.raises(ValueError, match="landmarks that do not move"):
        model.loo_residuals()
    assert outlier_report(model)["loo_residual"].isna().all()
    assert model.fit_without_one(X, Y) is None
    assert model.fit_with_parts(X, Y) is None
    band = ConformalPredictor(regressor(1), cv=3, random_state=0).fit(X, Y)
    assert band.method_ == "cv+"


def test_constant_outputs_stay():
    model = regressor(5).fit(X, np.ones((N, 2)))
    assert_allclose(model.predict(X[:3]), 1.0)


@pytest.mark.parametrize(
    "model", [regressor(2), StructuredPredictor(feature_map=landmarks(2))], ids=["vectors", "objects"]
)
def test_kernels_without_derivatives_are_refused_before_anything_is_chosen(model, monkeypatch):
    def late(*args, **kwargs):
        raise AssertionError("too late")

    for place in ("selection.choose", "structured.predictor.choose"):
        monkeypatch.setattr(f"hilbertlearn.{place}", late)
    with pytest.raises(ValueError, match="got 'laplacian'; set moves=0"):
        model.set_params(kernel="laplacian", alpha="auto", gamma="auto").fit(X, Y > 0)


@pytest.mark.parametrize(
    ("model", "given", "message"),
    [
        (regressor(2, kernel="laplacian"), (X, Y), "moves are for the kernels"),
        (regressor(2, kernel=kernels.Matern(1.5)), (X, Y), "moves are for the kernels"),
        (regressor(-1), (X, Y), "moves"),
        (regressor(1.5), (X, Y), "moves"),
        (RegularizationPathCV(regressor(2, alpha="auto"), cv=3), (X, Y), "in fit alone"),
        (regressor(2, manifold=0.1), (X, Y), "graph"),
        (LinkPredictor(feature_map=landmarks(2)), (X, (rng.random((N, N)) < 0.1).astype(float)), "moves=0"),
        (regressor(2), (lambda: iter([(X, Y)]),), "in memory"),
    ],
)
def test_refused(model, given, message):
    if isinstance(given[-1], np.ndarray) and given[-1].shape == (N, N):
        A = np.triu(given[-1], 1)
        given = (X, A + A.T)
    with pytest.raises(ValueError, match=message):
        model.fit(*given)
