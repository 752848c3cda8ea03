"""Settings given by name: their own settings, and what a wrong name gets."""

import numpy as np
import pytest
from helpers.refusals import GAPS, X, Y, assert_refused
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import (
    FunctionalRegressor,
    KernelAutoencoder,
    LinkPredictor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    kernels,
    losses,
    operators,
    output_losses,
    spaces,
)

FIXED = {"alpha": 0.1, "gamma": 0.5, "kernel": "rbf"}


@pytest.mark.parametrize(
    "model, name, params, expected",
    [
        (OperatorKernelRegressor(loss="huber"), "loss", {"loss__kappa": 0.1}, losses.Huber(0.1)),
        (OperatorKernelRegressor(), "loss", {"loss": "huber", "loss__kappa": 0.1, "loss__p": 1}, losses.Huber(0.1, 1)),
        (OperatorKernelRegressor(), "loss", {"loss__kappa": 0.1, "loss": "huber"}, losses.Huber(0.1)),
        (OperatorKernelRegressor(operator="decay"), "operator", {"operator__rate": 1.0}, operators.Decay(1.0)),
        (
            OperatorKernelRegressor(output_metric="task_graph"),
            "output_metric",
            {"output_metric__mu": 0.2},
            operators.TaskGraph(mu=0.2),
        ),
        (FunctionalRegressor(space="eigen"), "space", {"space__gamma": 4.0}, spaces.Eigen(gamma=4.0)),
        (FunctionalRegressor(space="grid"), "space", {"space__weights": "equal"}, spaces.Grid("equal")),
        (FunctionalRegressor(operator="integral"), "operator", {"operator__gamma": 2.0}, operators.Integral(gamma=2.0)),
        (
            StructuredPredictor(output_loss="pinball"),
            "output_loss",
            {"output_loss__tau": 0.3},
            output_losses.Pinball(0.3),
        ),
        (
            StructuredPredictor(output_kernel="rbf"),
            "output_kernel",
            {"output_kernel__gamma": 3.0},
            kernels.NamedKernel("rbf", 3.0),
        ),
        (LinkPredictor(loss="huber"), "loss", {"loss__kappa": 0.1}, losses.Huber(0.1)),
        (KernelAutoencoder(loss="huber"), "loss", {"loss__kappa": 0.1}, losses.Huber(0.1)),
    ],
)
def test_a_name_becomes_the_object_behind_it(model, name, params, expected):
    before = model.get_params(deep=False)
    model = clone(model).set_params(**params)
    for found in (model, clone(model)):
        assert repr(getattr(found, name)) == repr(expected)
        assert {key: found.get_params()[key] for key in params if "__" in key} == {
            key: value for key, value in params.items() if "__" in key
        }
        assert {k: v for k, v in found.get_params(deep=False).items() if k != name} == {
            k: v for k, v in before.items() if k != name
        }


def test_bases_by_name():
    setting = next(iter(spaces.Fourier().get_params()))
    model = FunctionalRegressor(space="fourier").set_params(**{f"space__{setting}": 4})
    assert isinstance(model.space, spaces.Fourier) and getattr(model.space, setting) == 4


def test_searches_over_settings_of_a_name():
    named, by_object = (OperatorKernelRegressor(loss=loss, **FIXED) for loss in ("huber", losses.Huber()))
    grid = {"loss__kappa": [0.05, 0.5, 5.0]}
    searches = [GridSearchCV(model, grid, cv=3).fit(X, GAPS) for model in (named, by_object)]
    assert_allclose(*(search.cv_results_["mean_test_score"] for search in searches))
    assert np.ptp(searches[0].cv_results_["mean_test_score"]) > 1e-3  # the setting arrived
    assert named.loss == "huber"
    assert searches[0].best_estimator_.loss_.kappa == searches[0].best_params_["loss__kappa"]
    pairs = [{"loss": ["huber"], "loss__kappa": [0.5]}, {"loss": ["epsilon_insensitive"], "loss__epsilon": [0.2]}]
    both = GridSearchCV(OperatorKernelRegressor(**FIXED), pairs, cv=3).fit(X, GAPS)
    assert_allclose(both.cv_results_["mean_test_score"][0], searches[0].cv_results_["mean_test_score"][1])
    assert isinstance(both.cv_results_["params"][1]["loss"], str)


def test_through_other_estimators():
    path = RegularizationPathCV(OperatorKernelRegressor(loss="huber")).set_params(estimator__loss__kappa=0.2)
    assert path.estimator.loss.kappa == 0.2
    line = make_pipeline(StandardScaler(), OperatorKernelRegressor(loss="huber"))
    line.set_params(operatorkernelregressor__loss__kappa=0.2)
    assert line[-1].loss.kappa == 0.2


@pytest.mark.parametrize(
    "model, params, words",
    [
        (OperatorKernelRegressor(loss="huber"), {"loss__kapa": 1}, ["'kapa'", "Huber", "'kappa'"]),
        (OperatorKernelRegressor(), {"kernel__gamma": 1}, ["kernel__gamma", "kernel='auto'", "set gamma", "Matern()"]),
        (OperatorKernelRegressor("rbf"), {"kernel__gamma": 1}, ["kernel__gamma", "kernel='rbf'", "set gamma"]),
        (OperatorKernelRegressor(), {"operator__mu": 1}, ["operator__mu", "operator='auto'", "operators.TaskGraph()"]),
        (FunctionalRegressor(), {"operator__gamma": 1}, ["operator__gamma", "operator='auto'", "operators."]),
        (LinkPredictor(), {"output_kernel__gamma": 1}, ["output_kernel__gamma", "'diffusion'"]),
        (OperatorKernelRegressor(loss=losses.Huber), {"loss__kappa": 1}, ["loss__kappa", "Huber"]),
        (OperatorKernelRegressor(), {"alpha__x": 1}, ["alpha__x", "alpha='auto'"]),
        (OperatorKernelRegressor(), {"los__kappa": 1}, ["'los'", "Valid parameters"]),
        (OperatorKernelRegressor(loss="hubber"), {"loss__kappa": 1}, ["'hubber'", "did you mean 'huber'?"]),
    ],
)
def test_settings_that_are_not_there(model, params, words):
    before = repr(model)
    assert_refused(lambda: model.set_params(**params), words)
    assert repr(model) == before


@pytest.mark.parametrize(
    "model, words",
    [
        (OperatorKernelRegressor(loss="hubber"), ["loss", "'hubber'", "did you mean 'huber'?", "'epsilon_svr'"]),
        (OperatorKernelRegressor("rbff"), ["kernel", "'rbff'", "did you mean 'rbf'?", "'laplacian'"]),
        (OperatorKernelRegressor("RBF"), ["did you mean 'rbf'?"]),
        (OperatorKernelRegressor(operator="covarience"), ["operator", "did you mean 'covariance'?", "'decay'"]),
        (OperatorKernelRegressor(output_metric="taskgraph"), ["output_metric", "did you mean 'task_graph'?"]),
        (OperatorKernelRegressor(solver="spectrall"), ["solver", "did you mean 'spectral'?"]),
        (OperatorKernelRegressor(gamma="medain"), ["gamma", "'scale'", "'medain'", "did you mean 'median'?"]),
        (OperatorKernelRegressor(loss="zzz"), ["loss", "'zzz'; known: 'squared'"]),
        (OperatorKernelRegressor(solver=["auto"]), ["solver", "['auto']", "'spectral'"]),
        (FunctionalRegressor(space="gird"), ["space", "did you mean 'grid'?", "'eigen'", "'fourier'"]),
        (FunctionalRegressor(space="furier"), ["space", "did you mean 'fourier'?"]),
        (FunctionalRegressor(space=spaces.Dictionary("furier")), ["basis", "did you mean 'fourier'?"]),
        (FunctionalRegressor(operator="integrall"), ["operator", "did you mean 'integral'?", "'auto'"]),
        (StructuredPredictor(output_loss="haming"), ["output_loss", "did you mean 'hamming'?", "'kendall'"]),
        (StructuredPredictor(output_kernel="rfb"), ["output_kernel", "did you mean 'rbf'?"]),
        (StructuredPredictor(output_loss="rank", decoder="candidate"), ["decoder", "did you mean 'candidates'?"]),
        (KernelAutoencoder(loss="hubber"), ["loss", "did you mean 'huber'?"]),
    ],
)
def test_wrong_names(model, words):
    assert_refused(lambda: model.fit(X, Y), words)
