"""Layers of models: what is inside conformal predictors, searches and pipelines."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import ConformalPredictor, OperatorKernelRegressor
from hilbertlearn.app.report.layers import ModelLayers

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 2))
Y = np.sin(X)
MACHINE = OperatorKernelRegressor("rbf", gamma=1.0, alpha=0.1)


def test_an_estimator_is_all_of_its_layers():
    model = MACHINE.fit(X, Y)
    layers = ModelLayers.from_estimator(model)
    assert layers.outer is layers.predictor is layers.estimator is model
    assert layers.conformal is None and layers.search is None
    assert not (layers.predicts_links or layers.is_autoencoder or layers.predicts_objects or layers.predicts_functions)


def test_layers_from_the_outside_in():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), MACHINE), {"operatorkernelregressor__alpha": [0.1, 1.0]}, cv=2
    )
    model = ConformalPredictor(search, method="split", level=0.8, random_state=0).fit(X, Y)
    layers = ModelLayers.from_estimator(model)
    assert layers.conformal is model and layers.search is model.estimator_
    assert layers.predictor is model.estimator_.best_estimator_ and layers.estimator is layers.predictor[-1]


def test_a_conformal_predictor_inside_a_pipeline_gives_its_estimator():
    inner = ConformalPredictor(MACHINE, level=0.8)
    model = make_pipeline(StandardScaler(), inner).fit(X, Y)
    layers = ModelLayers.from_estimator(model)
    assert layers.conformal is None and layers.estimator is model[-1].estimator_


def test_attributes_of_other_packages_are_not_there():
    layers = ModelLayers.from_estimator(Ridge().fit(X, Y))
    assert layers.space is None and layers.learnt_attribute("alpha_", 3) == 3


@pytest.mark.parametrize(("model", "error"), [(Ridge, TypeError), (3, TypeError), (Ridge(), NotFittedError)])
def test_what_is_no_fitted_model_is_refused(model, error):
    with pytest.raises(error):
        ModelLayers.from_estimator(model)
