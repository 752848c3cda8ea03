"""Objects in batches: known labels, output kernels with landmarks, and settings that are refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import StructuredPredictor, streams
from hilbertlearn.features import RandomFeatures
from hilbertlearn.losses import Huber
from hilbertlearn.output_losses import CostMatrix, ZeroOne
from hilbertlearn.spaces import OutputKernel

N = 240
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 2))
LABELS = np.array(["red", "green", "blue"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
ROWS = np.c_[np.sin(X[:, 0]), X[:, 1], X.prod(axis=1)]
MAP = RandomFeatures(40)


def model(**settings):
    return StructuredPredictor("rbf", gamma=0.3, alpha=1e-3, feature_map=MAP, **settings)


def fed(one, y):
    for rows in np.split(rng.permutation(N), [60, 61, 150]):
        one.partial_fit(X[rows], [y[i] for i in rows] if isinstance(y, list) else y[rows])
    return one


@pytest.mark.parametrize(
    "loss",
    [ZeroOne(["red", "green", "blue", "black"]), CostMatrix(1 - np.eye(3) + 0.2, ["blue", "green", "red"])],
    ids=["zero-one", "costs"],
)
@pytest.mark.parametrize("as_list", [False, True], ids=["array", "list"])
def test_labels_that_are_known(loss, as_list):
    y = list(LABELS) if as_list else LABELS
    wanted, found = model(output_loss=loss).fit(X, y), fed(model(output_loss=loss), y)
    assert_array_equal(found.predict(X), wanted.predict(X))
    assert_allclose(found.predict_scores(X), wanted.predict_scores(X), atol=1e-8)
    assert_array_equal(found.classes_, wanted.classes_)
    assert_allclose(found.score(X, y), wanted.score(X, y))
    source = model(output_loss=loss).fit(streams.from_batches([(X[:100], y[:100]), (X[100:], y[100:])]))
    assert_allclose(source.predict_scores(X), wanted.predict_scores(X), atol=1e-8)


def test_a_class_that_comes_late():
    order = np.argsort(LABELS == "red", kind="stable")
    one = model(output_loss=ZeroOne(["red", "green", "blue"]))
    for rows in np.array_split(order, 3):
        one.partial_fit(X[rows], LABELS[rows])
    wanted = model(output_loss=ZeroOne(["red", "green", "blue"])).fit(X, LABELS)
    assert_array_equal(one.predict(X), wanted.predict(X))


def test_a_label_that_is_not_known_is_refused():
    one = model(output_loss=ZeroOne(["red", "green", "blue"])).partial_fit(X[:100], LABELS[:100])
    before = one.predict(X)
    with pytest.raises(ValueError, match="pink"):
        one.partial_fit(X[:2], np.array(["red", "pink"]))
    assert_array_equal(one.predict(X), before)


@pytest.mark.parametrize("loss", ["squared", Huber(0.5)], ids=str)
def test_output_kernels_with_landmarks(loss):
    kernel = OutputKernel("linear", landmarks=np.eye(3))
    pool = ROWS[::5]
    wanted = model(output_kernel=kernel, candidates=pool, loss=loss, tol=1e-10).fit(X, ROWS)
    one = model(output_kernel=kernel, candidates=pool, loss=loss, tol=1e-10)
    found = fed(one, ROWS) if loss == "squared" else one.fit(streams.from_arrays(X, ROWS, batch_size=50))
    assert_allclose(
        found.machine_.coordinates(X), wanted.machine_.coordinates(X), atol=1e-9 if loss == "squared" else 1e-4
    )
    assert (found.predict(X) == wanted.predict(X)).mean() > 0.99


def test_coordinates_are_those_of_the_landmarks():
    kernel = OutputKernel("rbf", landmarks=ROWS[:7])
    space = kernel.space(ROWS[50:60])
    V = space.coordinates(ROWS[:7])
    K = rbf_kernel(ROWS[:7], gamma=space.kernel.gamma)
    assert_allclose(V @ V.T, K, atol=1e-8)
    with pytest.raises(ValueError, match="landmarks must be outputs that are known"):
        OutputKernel("rbf", landmarks=ROWS[:0]).space(ROWS)


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, LABELS, "all outputs that there are"),
        ({"output_loss": "zero_one"}, LABELS, "ZeroOne"),
        ({"output_loss": "squared"}, ROWS[:, 0], "all outputs that there are"),
        ({"output_kernel": "rbf"}, ROWS, "must be known before"),
        ({"output_kernel": OutputKernel("rbf")}, ROWS, "landmarks=..."),
        (
            {"output_kernel": OutputKernel("linear", landmarks=np.eye(3)), "output_loss": "squared"},
            ROWS,
            "not kept of batches",
        ),
    ],
)
def test_spaces_that_learn_from_all_outputs_are_refused(settings, y, message):
    for learn in (
        lambda: model(**settings).partial_fit(X, y),
        lambda: model(**settings).fit(streams.from_arrays(X, y)),
    ):
        with pytest.raises(ValueError, match=message):
            learn()


def test_weights_of_samples_are_not_kept():
    one = model(output_loss=ZeroOne(["red", "green", "blue"])).partial_fit(X, LABELS)
    with pytest.raises(ValueError, match="fitted batch by batch"):
        one.weights(X)
    assert_allclose(one.predict_weights(X).shape, (N, 3))
