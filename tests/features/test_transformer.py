"""Features that a scikit-learn transformer computes."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, clone
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from hilbertlearn import features, kernels

X = np.random.default_rng(0).normal(size=(12, 5))
RBF = kernels.InputKernel("rbf", gamma=0.2)


# ---------------------------------------------------------------- transformers


@pytest.mark.parametrize(
    "transformer",
    [
        Nystroem(gamma=0.2, n_components=7, random_state=0),
        make_pipeline(StandardScaler(), PolynomialCountSketch(n_components=9, random_state=0)),
        OneHotEncoder(handle_unknown="ignore"),
    ],
)
def test_transformers_give_their_features(transformer):
    fitted = features.TransformerFeatures(transformer).fit(RBF, X)
    expected = clone(transformer).fit(X).transform(X)
    expected = expected.toarray() if scipy.sparse.issparse(expected) else expected
    assert fitted.n_components == expected.shape[1]
    assert np.allclose(fitted(X), expected)
    assert np.allclose(pickle.loads(pickle.dumps(fitted))(X), expected)
    W = np.random.default_rng(0).normal(size=(fitted.n_components, 2))
    kernel, samples, C = fitted.expansion(W)
    assert np.allclose(kernel(X, samples) @ C, expected @ W)
    assert not hasattr(transformer, "n_features_in_")  # a clone is fitted


def test_settings_of_a_transformer_are_searched():
    setting = clone(features.TransformerFeatures(Nystroem(n_components=7))).set_params(transformer__n_components=3)
    assert setting.fit(RBF, X).n_components == 3


class Odd(BaseEstimator):
    """A transformer that returns what it is told to."""

    def __init__(self, function):
        self.function = function

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return self.function(X)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X: X[:-1], "feature_map must give 5 features for each of 2 samples"),
        (lambda X: X[:3], "feature_map must give 5 features for each of 12 samples"),
        (lambda X: X[:, : len(X)], "feature_map must give 2 features for each of 12 samples"),
        (lambda X: np.full(X.shape, np.nan), "feature_map returned NaN or infinity"),
        (lambda X: np.where(X > 1, np.inf, X), "feature_map returned NaN or infinity"),
        (lambda X: X[:, 0], "transform must return a matrix"),
        (lambda X: X.tolist(), "transform must return a matrix"),
    ],
)
def test_what_transformers_must_not_return(function, message):
    with pytest.raises(ValueError, match=message):
        features.TransformerFeatures(Odd(function)).fit(RBF, X)(X)


def test_a_class_is_no_transformer():
    with pytest.raises(TypeError, match=r"pass Nystroem\(\)"):
        features.TransformerFeatures(Nystroem).fit(RBF, X)
    with pytest.raises(TypeError, match="must have fit and transform"):
        features.TransformerFeatures("nystroem").fit(RBF, X)
