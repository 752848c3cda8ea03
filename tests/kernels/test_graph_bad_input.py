"""Bad input of semi-supervised models: graphs, settings, outputs."""

import numpy as np
import pytest
from helpers.graph_data import CURVES, NEW, RNG, N, W, X, Y, regressor
from helpers.refusals import assert_refused, changed
from numpy.testing import assert_allclose

from hilbertlearn import (
    FunctionalRegressor,
    IrregularFunctions,
    RegularizationPathCV,
    StructuredPredictor,
    kernels,
    losses,
    spaces,
)
from hilbertlearn.kernels import Affinity


def test_rounding_is_not_asymmetry():
    noisy = W * (1 + 1e-13 * RNG.normal(size=W.shape))
    assert_allclose(regressor(graph=noisy).fit(X, Y).predict(NEW), regressor(graph=W).fit(X, Y).predict(NEW))


def test_a_graph_without_links_has_no_penalty():
    model = regressor(graph=np.zeros((N, N)), gamma=0.5).fit(X, Y)
    assert_allclose(model.predict(NEW), regressor(manifold=0.0, gamma=0.5).fit(X, Y).predict(NEW), atol=1e-10)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"manifold": -0.1}, ["manifold", ">= 0", "-0.1"]),
        ({"manifold": np.nan}, ["manifold", "nan"]),
        ({"manifold": "auto"}, ["manifold", "auto"]),
        ({"manifold": None}, ["manifold", "None"]),
        ({"graph": W[:-1, :-1]}, ["graph has 13 nodes", "X 14 samples", "one row a sample", "Affinity"]),
        ({"graph": np.zeros((N + 1, N + 1))}, ["graph has 15 nodes", "X 14 samples"]),
        ({"graph": Affinity(0)}, ["Affinity: n_neighbors", "0"]),
        ({"graph": Affinity(2.5)}, ["Affinity: n_neighbors", "2.5"]),
        ({"graph": Affinity(-0.5)}, ["Affinity: n_neighbors", "-0.5"]),
        ({"graph": Affinity(smoother="laplace")}, ["unknown smoother 'laplace'", "laplacian", "('iterated', k)"]),
        ({"graph": Affinity(smoother=("iterated",))}, ["unknown smoother", "('diffusion', t)"]),
        ({"graph": Affinity(smoother=("iterated", 0))}, ["('iterated', k): k", "0"]),
        ({"graph": Affinity(smoother=("diffusion", -1.0))}, ["('diffusion', t): t", "-1.0"]),
        ({"kernel": [("rbf", None), ("linear", None)]}, ["manifold", "one kernel", "manifold=0"]),
        ({"kernel": kernels.OutputTensorKernel("iii")}, ["manifold", "one kernel", "manifold=0"]),
    ],
    ids=str,
)
def test_settings(settings, words):
    assert_refused(lambda: regressor(**settings).fit(X, Y), words, (ValueError, TypeError))


@pytest.mark.parametrize("graph", [Affinity, "knn"], ids=str)
def test_graph_of_another_type(graph):
    assert_refused(lambda: regressor(graph=graph).fit(X, Y), ["graph", "kernels.Affinity(...)"], TypeError)


def test_no_output_at_all():
    assert_refused(lambda: regressor().fit(X, np.full((N, 2), np.nan)), ["y", "NaN", "at least one"])
    assert_refused(lambda: StructuredPredictor(manifold=0.1).fit(X, [None] * N), ["y", "at least one"])


def test_operators_with_many_eigenvalues():
    given = {"manifold": 0.1, "alpha": 0.01}
    operators = ({}, {"operator": None}, {"space": spaces.Eigen(n_components=20)}, {"operator": 2 * np.eye(60)})
    for settings in (*operators, {"operator": "learned"}):
        assert np.isfinite(FunctionalRegressor(**given, **settings).fit(X, CURVES).predict(NEW)).all()


def test_curves_at_points_of_their_own():
    points = [np.sort(RNG.uniform(size=12)) for _ in range(N)]
    curves = IrregularFunctions(points, [np.sin(3 * t + x) for t, x in zip(points, X[:, 0])], (0, 1))
    model = FunctionalRegressor(manifold=0.1, alpha=0.01, space="eigen")
    assert_refused(lambda: model.fit(X, curves), ["manifold", "common grid", "irregular='projected'"])
    assert model.set_params(irregular="projected").fit(X, curves).dual_gap_ <= 1e-6
    gaps = changed(np.sin(np.linspace(0, 3, 30) * X[:, :1]), np.nan, (0, 0))
    eigen = FunctionalRegressor(manifold=0.1, alpha=0.01, space="eigen")
    assert_refused(lambda: eigen.fit(X, gaps), ["manifold", "irregular='projected'"])


def test_leave_one_out_needs_the_squared_loss():
    model = regressor(loss=losses.Huber(0.1)).fit(X, Y)
    assert_refused(model.loo_residuals, ["squared loss", "cv=5"])
    path = RegularizationPathCV(regressor(loss="huber"), cv="loo")
    assert_refused(lambda: path.fit(X, Y), ["cv='loo'", "cv=5"])


@pytest.mark.parametrize("operator", [None, np.diag([2.0, 1.0])], ids=["identity", "operator"])
def test_one_labelled_sample(operator):
    y = Y.copy()
    y[1:] = np.nan
    model = regressor(alpha="auto", operator=operator).fit(X, y)
    assert_allclose(model.predict(NEW), np.tile(Y[0], (4, 1)))  # all is centred away
