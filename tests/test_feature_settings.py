"""Random features, transformers of scikit-learn, and the short forms of the setting."""

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
SPECTRAL = [
    RBF,
    kernels.InputKernel("matern12", gamma=0.2),
    kernels.InputKernel("matern32", gamma=0.2),
    kernels.InputKernel("matern52", gamma=0.2),
    kernels.InputKernel(kernels.Matern(nu=4.0, gamma=0.2)),
    kernels.InputKernel(kernels.NamedKernel("rbf", gamma=0.2)),
]


def draws(kernel, orthogonal, number=400, r=10):
    """Products of features (number, n, n), one for each seed."""
    out = []
    for seed in range(number):
        Z = features.RandomFeatures(r, orthogonal, random_state=seed).fit(kernel, X)(X)
        out.append(Z @ Z.T)
    return np.array(out)


@pytest.mark.parametrize("orthogonal", [True, False])
@pytest.mark.parametrize("kernel", SPECTRAL, ids=lambda kernel: str(kernel.kernel))
def test_random_features_are_unbiased(kernel, orthogonal):
    G = draws(kernel, orthogonal)
    error, standard = G.mean(axis=0) - kernel(X, X.copy()), G.std(axis=0) / np.sqrt(len(G))
    above = np.triu_indices(len(X), 1)
    assert np.abs(error.diagonal()).max() < 1e-12  # sines and cosines of one frequency
    assert np.abs(error[above] / standard[above]).max() < 4.5  # of 66 pairs
    assert np.sqrt(np.mean((error[above] / standard[above]) ** 2)) < 1.6


def test_orthogonal_frequencies_have_less_variance():
    assert draws(RBF, True).var(axis=0).sum() < 0.8 * draws(RBF, False).var(axis=0).sum()


def test_orthogonal_frequencies_are():
    fitted = features.RandomFeatures(2 * 13).fit(RBF, X)
    F = fitted.frequencies
    assert F.shape == (5, 13)
    for block in (F[:, :5], F[:, 5:10], F[:, 10:]):
        G = block.T @ block
        assert np.allclose(G - np.diag(G.diagonal()), 0.0, atol=1e-12)


def test_random_features_of_sparse_rows_and_in_single_precision():
    fitted = features.RandomFeatures(31).fit(RBF, X)
    Z = fitted(X)
    assert fitted.n_components == 30 and Z.shape == (12, 30)
    assert np.allclose(fitted(scipy.sparse.csr_matrix(X)), Z)
    assert np.allclose(fitted(scipy.sparse.coo_array(X)), Z)
    single = fitted(X.astype(np.float32))
    assert single.dtype == np.float32 and np.allclose(single, Z, atol=1e-5)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted))(X), Z)
    kernel, samples, C = fitted.expansion(np.eye(30))
    assert np.array_equal(kernel(X, samples) @ C, Z)


@pytest.mark.parametrize("kernel", ["laplacian", "poly", "precomputed", kernels.NGrams()])
def test_random_features_of_other_kernels_are_refused(kernel):
    with pytest.raises(ValueError, match=r"features\.Landmarks\(\) go with every kernel"):
        features.RandomFeatures().fit(kernels.InputKernel(kernel, gamma=1.0), X)


def test_random_features_refuse_what_they_cannot_take():
    with pytest.raises(ValueError, match="n_components must be an integer > 1"):
        features.RandomFeatures(1).fit(RBF, X)
    with pytest.raises(ValueError, match="rows of numbers"):
        features.RandomFeatures().fit(RBF, ["a", "b"])
    with pytest.raises(ValueError, match="X must have 5 columns"):
        features.RandomFeatures().fit(RBF, X)(X[:, :3])


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


# ---------------------------------------------------------------- the setting


def test_short_forms():
    assert features.as_feature_map(None) is None
    made = features.as_feature_map(np.int64(300))
    assert isinstance(made, features.Landmarks) and made.n_components == 300
    for setting in (features.Landmarks(3), features.RandomFeatures(4), features.TransformerFeatures(Nystroem())):
        assert features.as_feature_map(setting) is setting
    wrapped = features.as_feature_map(Nystroem(n_components=4))
    assert isinstance(wrapped, features.TransformerFeatures) and wrapped.transformer.n_components == 4


@pytest.mark.parametrize(
    ("setting", "error", "message"),
    [
        (0, ValueError, "number of landmarks must be > 0"),
        (True, ValueError, r"feature_map must be None, a number of landmarks, features\.Landmarks\(\)"),
        (2.5, ValueError, "feature_map must be"),
        ("nystroem", ValueError, "feature_map must be"),
        (object(), TypeError, "feature_map must be"),
        (Nystroem, TypeError, r"got the class Nystroem; pass Nystroem\(\)"),
        (features.Landmarks, TypeError, r"got the class Landmarks; pass Landmarks\(\)"),
    ],
)
def test_other_settings_are_refused(setting, error, message):
    with pytest.raises(error, match=message):
        features.as_feature_map(setting)


def test_a_class_is_no_transformer():
    with pytest.raises(TypeError, match=r"pass Nystroem\(\)"):
        features.TransformerFeatures(Nystroem).fit(RBF, X)
    with pytest.raises(TypeError, match="must have fit and transform"):
        features.TransformerFeatures("nystroem").fit(RBF, X)
