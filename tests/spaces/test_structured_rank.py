"""Output kernels of a given rank: landmarks among the training outputs, of which no whole matrix is made."""

import numpy as np
import pytest
from helpers.refusals import assert_refused
from helpers.structured_data import NEW, NUMBERS, OBJECTS, SETS, STRINGS, VECTORS, N, X, intersections, predictor
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from hilbertlearn import OperatorKernelRegressor, StructuredPredictor, kernels, losses
from hilbertlearn.spaces import OutputKernel

LOSSES = {"squared": "squared", "huber": losses.Huber(0.5), "epsilon": losses.EpsilonInsensitive(0.3)}
TEXTS = [f"{a}{b}{c}" for a in "abcd" for b in "efg" for c in "hijk"][:N]
RBF = rbf_kernel(VECTORS, gamma=0.5)

KERNELS = {
    "name": (kernels.NamedKernel("rbf", 0.5), VECTORS, RBF),
    "Gram matrix": (RBF, np.arange(N), RBF),
    "callable on a list": (intersections, OBJECTS, intersections(OBJECTS, OBJECTS)),
    "object": (kernels.NGrams(2), TEXTS, kernels.NGrams(2)(TEXTS, TEXTS)),
    "function of two": (
        kernels.PairwiseKernel(lambda a, b: (1 + len(set(a) & set(b))) ** 2),
        TEXTS,
        np.array([[(1.0 + len(set(a) & set(b))) ** 2 for b in TEXTS] for a in TEXTS]),
    ),
    "fingerprints": ("tanimoto", SETS, None),
}


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("rank", [1, 4])
def test_coordinates_are_those_of_the_projection_on_the_landmarks(kind, rank):
    kernel, y, K = KERNELS[kind]
    model = predictor(output_kernel=kernel, rank=rank).fit(X, y)
    space, V = model.space_, model.machine_.encode(y)
    assert V.shape == (N, rank)
    K = kernels.Tanimoto()(SETS, SETS) if K is None else K
    rows = [next(i for i in range(N) if np.array_equal(y[i], pivot)) for pivot in space.pivots]
    C = K[:, rows]
    projected = C @ np.linalg.solve(C[rows], C.T)
    assert_allclose(V @ V.T, projected, atol=1e-9)
    outside = space.outside_norms(y)
    if outside is None:  # all outputs are in the span
        assert_allclose(projected, K, atol=1e-8)
    else:
        assert_allclose(outside**2, np.diag(K - projected), atol=1e-8)
    # scores of candidates see k(z, z), also what is outside of the span
    H = model.machine_.coordinates(NEW)
    expected = 2 * H @ V.T - np.diag(K)
    assert_allclose(model.predict_scores(NEW, candidates=y), expected, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", ["all", "polynomial"])
def test_enough_landmarks_are_the_exact_fit(loss, kernel):
    kernel = kernels.NamedKernel("rbf", 0.5) if kernel == "all" else (lambda A, B: polynomial_kernel(A, B, degree=2))
    settings = {"output_kernel": kernel, "loss": LOSSES[loss], "tol": 1e-13}
    exact = predictor(**settings).fit(X, VECTORS)
    rank = N if exact.machine_.coordinates(NEW).shape[1] == N else 12  # quadratic polynomials of three variables: 10
    model = predictor(rank=rank, **settings).fit(X, VECTORS)
    assert model.machine_.coordinates(NEW).shape[1] == (N if rank == N else 10)
    assert_array_equal(model.predict(NEW), exact.predict(NEW))
    scale = np.abs(exact.predict_scores(NEW)).max()
    assert_allclose(model.predict_scores(NEW), exact.predict_scores(NEW), atol=1e-8 * scale)


@pytest.mark.parametrize("loss", ["huber", "epsilon"])
def test_losses_see_what_outputs_have_outside_the_span(loss):
    # one more column that the operator, and so every function, is zero in
    settings = {"gamma": 0.3, "alpha": 0.01, "loss": LOSSES[loss], "tol": 1e-12}
    model = StructuredPredictor("rbf", output_kernel=kernels.NamedKernel("rbf", 0.5), rank=5, **settings).fit(
        X, VECTORS
    )
    V = model.machine_.encode(VECTORS)
    outside = np.sqrt(np.maximum(1 - (V**2).sum(axis=1), 0.0))
    assert (outside > 0.1).mean() > 0.5
    by_hand = OperatorKernelRegressor(
        "rbf", operator=np.diag([1.0] * 5 + [0.0]), center=False, scale=False, **settings
    ).fit(X, np.c_[V, outside])
    assert_allclose(model.machine_.coordinates(NEW), by_hand.predict(NEW)[:, :5], atol=1e-6)
    assert_allclose(by_hand.predict(NEW)[:, 5], 0, atol=1e-12)
    without = OperatorKernelRegressor("rbf", center=False, scale=False, **settings).fit(X, V).predict(NEW)
    assert np.abs(without - model.machine_.coordinates(NEW)).max() > 1e-3


def test_outputs_that_are_not_known_have_nothing_outside():
    y = VECTORS.copy()
    y[3] = np.nan
    model = predictor(output_kernel=kernels.NamedKernel("rbf", 0.5), rank=5, loss=LOSSES["huber"]).fit(X, y)
    rest = np.delete(np.arange(N), 3)
    same = predictor(output_kernel=kernels.NamedKernel("rbf", 0.5), rank=5, loss=LOSSES["huber"], alpha=0.01)
    assert_allclose(model.machine_.coordinates(NEW), same.fit(X[rest], y[rest]).machine_.coordinates(NEW), atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_decoding_by_an_output_loss(loss):
    model = predictor(output_kernel="rbf", output_loss="hamming", rank=4, loss=LOSSES[loss]).fit(X, SETS)
    assert model.score(X, SETS) > -0.25
    V, W = model.machine_.encode(model.outputs_), model.predict_weights(NEW)
    assert_allclose(W @ V, model.machine_.coordinates(NEW), atol=1e-8)


def test_rank_of_texts_and_a_regressor():
    model = StructuredPredictor(regressor=Ridge(), output_kernel="ngrams", rank=3).fit(X, STRINGS)
    assert set(model.predict(NEW)) <= set(STRINGS)
    assert model.machine_.coordinates(NEW).shape == (len(NEW), 3)


def test_weights_count_as_repetition():
    counts = np.arange(N) % 3 + 1
    weighted = predictor(output_kernel="rbf", rank=6).fit(X, NUMBERS.round(1), counts)
    rows = np.repeat(np.arange(N), counts)
    repeated = predictor(output_kernel="rbf", rank=6).fit(X[rows], NUMBERS.round(1)[rows])
    assert_array_equal(weighted.space_.pivots, repeated.space_.pivots)
    assert_allclose(weighted.machine_.coordinates(NEW), repeated.machine_.coordinates(NEW), atol=1e-8)


# ---------------------------------------------------------------- many outputs


class Counted:
    """Gaussian kernel of numbers, how many values were asked for, and the most at once."""

    def __init__(self):
        self.values = self.largest = 0

    def __call__(self, A, B):
        self.values += len(A) * len(B)
        self.largest = max(self.largest, len(A) * len(B))
        return rbf_kernel(np.reshape(A, (-1, 1)), np.reshape(B, (-1, 1)), gamma=20.0)


@pytest.mark.parametrize("rank", [30, "auto"])
def test_of_many_outputs_no_whole_matrix_is_made(rank):
    n, count = 20_000, Counted()
    x = np.random.default_rng(0).uniform(-1, 1, n)
    y = np.sin(2 * x) + 0.1 * np.random.default_rng(1).normal(size=n)
    features = np.cos(np.multiply.outer(x, np.arange(12)) + np.arange(12))
    model = StructuredPredictor(regressor=Ridge(1e-3), output_kernel=count, rank=rank).fit(features, y)
    used = len(model.space_.factor)
    assert used == 30 if rank == 30 else 5 < used < 100
    # proposals of landmarks, some in vain, then coordinates; k(y, y) from small squares
    assert count.values < n * (2 * used + 5 * 64) and count.largest <= n * max(64, used)
    left = 1 - (model.machine_.encode(y) ** 2).sum(axis=1).mean()
    assert left < 0.01
    predicted = model.predict(features[:50], candidates=np.linspace(-1.3, 1.3, 200))
    assert np.abs(predicted - np.sin(2 * x[:50])).max() < 0.2


def test_auto_is_exact_for_few_outputs_and_leaves_a_hundredth_of_many(monkeypatch):
    exact = OutputKernel("rbf").space(VECTORS)
    assert_array_equal(OutputKernel("rbf", rank="auto").space(VECTORS).factor, exact.factor)
    many = np.random.default_rng(0).normal(size=(400, 2))
    monkeypatch.setattr("hilbertlearn.spaces.structured._MAX_COMPLETE", 399)
    weights = np.random.default_rng(1).uniform(size=400)
    space = OutputKernel(kernels.NamedKernel("rbf", 0.5), rank="auto").space(many, weights)
    left = 1 - (space.encode(many) ** 2).sum(axis=1)
    assert 0 < weights @ left <= 0.01 * weights.sum() and len(space.factor) < 200
    monkeypatch.setattr("hilbertlearn.spaces.structured._MAX_LANDMARKS", 7)
    assert len(OutputKernel(kernels.NamedKernel("rbf", 0.5), rank="auto").space(many).factor) == 7


def test_refusals():
    def indefinite(A, B):
        return np.abs(np.subtract.outer(np.ravel(A), np.ravel(B))) + 0.1

    assert_refused(lambda: OutputKernel(indefinite, rank=3).space(NUMBERS), ["output_kernel", "positive semi-definite"])
    assert_refused(lambda: OutputKernel(lambda A, B: -rbf_kernel(A, B), rank=3).space(VECTORS), ["output_kernel"])
    assert_refused(lambda: OutputKernel(lambda A, B: 0 * (A @ B.T), rank=3).space(VECTORS), ["zero on all outputs"])
    assert_refused(lambda: predictor(output_loss="squared", rank=3).fit(X, NUMBERS), ["rank=3", "output_kernel"])
    given = predictor(output_kernel=OutputKernel("rbf", rank=3), rank=3)
    assert_refused(lambda: given.fit(X, NUMBERS), ["rank", "OutputKernel"])
    assert_refused(lambda: predictor(output_kernel="rbf", rank="all").fit(X, NUMBERS), ["rank", "'all'", "'auto'"])


def test_a_matrix_beyond_memory_names_the_remedy(monkeypatch):
    monkeypatch.setattr("hilbertlearn._utils.validation._physical_memory", lambda: 8.0 * N**2)
    assert_refused(lambda: OutputKernel("rbf").space(VECTORS), ["40 distinct outputs", "rank='auto'"])
    assert len(OutputKernel("rbf", rank=3).space(VECTORS).factor) == 3
