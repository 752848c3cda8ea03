"""Odd but valid input simply works, and numbers at the limits are met with calm."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from helpers.refusals import GAPS, D, K, N, X, Y, assert_refused, changed
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import OperatorKernelRegressor, RegularizationPathCV, kernels, losses

rng = np.random.default_rng(5)

# ---------------------------------------------------------------- what simply works

LOSSES = {
    "squared": "squared",
    "huber": "huber",
    "huber p=1": losses.Huber(p=1),
    "huber p=3": losses.Huber(p=3),
    "epsilon_insensitive": "epsilon_insensitive",
    "epsilon_insensitive p=inf": losses.EpsilonInsensitive(p=np.inf),
    "epsilon_svr": "epsilon_svr",
    "hinge": "hinge",
    "norm": "norm",
    "power": "power",
    "log": "log",
    "exp": "exp",
    "ball": losses.Ball(5.0),
    "infimal convolution": losses.InfConv(losses.Squared(), losses.Norm(0.5)),
    "infimal convolution, auto": losses.InfConv(losses.Squared(), losses.Huber()),
}
DATA = {
    "one sample": (X[:1], Y[:1]),
    "two samples": (X[:2], Y[:2]),
    "three samples": (X[:3], Y[:3]),
    "copies of one sample": (np.ones((5, 3)), np.ones((5, 2))),
    "one input, several outputs": (np.ones((5, 3)), Y[:5]),
    "duplicated samples": (np.r_[X, X], np.r_[Y, Y]),
    "duplicated inputs": (np.r_[X, X], np.r_[Y, -Y]),
    "constant outputs": (X, np.full((N, D), 3.0)),
    "outputs of zeros": (X, np.zeros((N, D))),
    "one constant output": (X, np.c_[Y[:, 0], np.ones(N)]),
    "float32": (X.astype(np.float32), Y.astype(np.float32)),
    "integers": (np.round(3 * X).astype(int), np.round(3 * Y).astype(int)),
    "booleans": (X > 0, Y > 0),
    "lists": (X.tolist(), Y.tolist()),
    "one feature": (X[:, :1], Y),
    "one output": (X, Y[:, 0]),
    "one output in a column": (X, Y[:, :1]),
    "more outputs than samples": (X[:4], rng.normal(size=(4, 9))),
    "more features than samples": (rng.normal(size=(4, 50)), Y[:4]),
    "gaps": (X, GAPS),
    "a column never observed": (X, changed(Y, np.nan, (slice(None), 1))),
    "two samples with a gap": (X[:2], GAPS[:2]),
    "five samples with a gap": (X[:5], GAPS[:5]),
    "nine samples with gaps": (X[:9], GAPS[:9]),
    "large numbers": (1e6 * X, 1e6 * Y),
    "small numbers": (1e-6 * X, 1e-6 * Y),
    "weights of zero": (X, Y, np.r_[np.zeros(5), np.ones(N - 5)]),
    "uneven weights": (X, Y, np.geomspace(1e-3, 1e3, N)),
    "float32 weights": (X, Y, np.linspace(0.5, 2, N, dtype=np.float32)),
}


def assert_finite(model, X, Y):
    """No NaN or infinity in what was learnt, and predictions of the right shape: NaN for an output nobody observed."""
    for name, value in vars(model).items():
        if name.endswith("_") and isinstance(value, (np.ndarray, float)) and np.asarray(value).dtype.kind == "f":
            assert np.isfinite(value).all(), name
    predictions = model.predict(X)
    assert predictions.shape == np.shape(Y)
    assert predictions.dtype == (np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64)
    assert_array_equal(
        np.isfinite(predictions),
        np.broadcast_to(np.isfinite(np.asarray(Y, dtype=float)).any(axis=0), predictions.shape),
    )


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", DATA)
@pytest.mark.parametrize(
    "settings",
    [{}, {"loss": "huber"}, {"loss": "epsilon_insensitive", "gamma": "median"}],
    ids=["squared", "huber", "tube"],
)
def test_odd_data(case, settings):
    """A tube takes alpha from the squared loss, and so does the kernel: it need not be chosen once more."""
    assert_finite(OperatorKernelRegressor(**settings).fit(*DATA[case]), *DATA[case][:2])


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", ["one sample", "two samples", "duplicated inputs", "outputs of zeros", "one output"])
@pytest.mark.parametrize("loss", LOSSES)
def test_all_losses(loss, case):
    inputs, outputs = DATA[case]
    outputs = np.sign(outputs) if loss == "hinge" else outputs
    assert_finite(OperatorKernelRegressor(gamma="median", loss=LOSSES[loss]).fit(inputs, outputs), inputs, outputs)


@pytest.mark.parametrize("case", ["one sample", "two samples", "gaps", "duplicated inputs", "constant outputs"])
@pytest.mark.parametrize("operator", ["covariance", "task_graph", "decay", np.ones((2, 2)), np.zeros((2, 2))])
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_operators_on_odd_data(operator, case, loss):
    gamma = "auto" if loss == "squared" else "median"
    assert_finite(OperatorKernelRegressor(operator=operator, loss=loss, gamma=gamma).fit(*DATA[case]), *DATA[case])


@pytest.mark.parametrize("case", DATA)
def test_path_on_odd_data(case):
    path = RegularizationPathCV().fit(*DATA[case])
    assert_finite(path.best_estimator_, *DATA[case][:2])
    assert np.isfinite(path.errors_).all()


@pytest.mark.parametrize("case", ["one sample", "two samples", "three samples", "outputs of zeros", "gaps"])
def test_path_of_folds_on_odd_data(case):
    path = RegularizationPathCV(OperatorKernelRegressor(loss="huber"), [1e-3, 1e-1]).fit(*DATA[case])
    assert_finite(path.best_estimator_, *DATA[case])


@pytest.mark.parametrize("outputs", [np.full((N, D), 3.0), np.zeros(N)])
def test_constants_are_learnt(outputs):
    for loss in ("squared", "huber", "epsilon_insensitive"):
        model = OperatorKernelRegressor(loss=loss).fit(X, outputs)
        assert_allclose(model.predict(X + 1), outputs, atol=1e-9)


@pytest.mark.parametrize("alpha", ["auto", 1e-8])
@pytest.mark.parametrize("loss", ["squared", "huber", "epsilon_insensitive"])
def test_rank_deficient_kernels(loss, alpha):
    model = OperatorKernelRegressor("linear", loss=loss, alpha=alpha).fit(X, X @ rng.normal(size=(3, 2)) + 1)
    assert_finite(model, X, Y)
    for kernel, inputs in (("linear", np.zeros((N, 3))), ("precomputed", np.zeros((N, N))), ("cosine", 0 * X)):
        nothing = OperatorKernelRegressor(kernel, loss=loss, alpha=alpha).fit(inputs, Y)
        assert_finite(nothing, inputs, Y)
        assert_allclose(nothing.predict(inputs), np.tile(nothing.center_ * nothing.scale_, (N, 1)))


@pytest.mark.parametrize("name", ["rbf", "laplacian", "linear", "cosine", "poly", "polynomial", "chi2"])
@pytest.mark.parametrize("gamma", ["median", "scale", 0.1])
def test_named_kernels(name, gamma):
    positive = np.abs(X)
    assert_finite(OperatorKernelRegressor(name, gamma=gamma).fit(positive, Y), positive, Y)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "linear", "cosine", "poly", kernels.Tanimoto()])
@pytest.mark.parametrize("matrix", [scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.coo_array])
def test_sparse_inputs(name, matrix):
    dense = np.where(np.abs(X) > 0.7, np.abs(X), 0)
    for scale_inputs in (False, True) if isinstance(name, str) and name != "poly" else (False,):
        same = OperatorKernelRegressor(name, scale_inputs=scale_inputs)  # "auto" is False for sparse inputs
        expected = same.fit(dense, Y).predict(dense)
        assert_allclose(same.fit(matrix(dense), Y).predict(matrix(dense)), expected, atol=1e-6)
    weights = np.r_[0, 0, np.ones(N - 2)]
    some = OperatorKernelRegressor(name, alpha=0.1, scale_inputs=False)
    assert_allclose(some.fit(matrix(dense), Y, weights).predict(dense), some.fit(dense[2:], Y[2:]).predict(dense))


def test_sparse_gram_matrices():
    expected = OperatorKernelRegressor("precomputed", alpha=0.1).fit(K, Y).predict(K)
    given = OperatorKernelRegressor("precomputed", alpha=0.1).fit(scipy.sparse.csr_matrix(K), Y)
    assert_allclose(given.predict(scipy.sparse.csr_matrix(K)), expected)
    inputs = scipy.sparse.csr_matrix(X)
    called = OperatorKernelRegressor(lambda A, B: A @ B.T, alpha=0.1).fit(inputs, Y)
    assert_allclose(called.predict(inputs), expected)


WORDS = ["kernel", "kernels", "colonel", "learn", "learns", "lean", "hilbert", "hubert", "hibernate", "space", "pace"]


def common_letters(a, b):
    return len(set(a) & set(b)) / np.sqrt(len(set(a)) * len(set(b)))


def common_letters_of_lists(A, B):
    return np.array([[common_letters(a, b) for b in B] for a in A])


@pytest.mark.parametrize("kernel", [common_letters_of_lists, kernels.PairwiseKernel(common_letters)])
@pytest.mark.parametrize("container", [list, tuple, np.array, lambda words: np.array(words, dtype=object)])
def test_words(kernel, container):
    lengths = np.array([len(word) for word in WORDS], dtype=float)
    model = OperatorKernelRegressor(kernel).fit(container(WORDS), lengths)
    assert_finite(model, container(WORDS), lengths)
    expected = OperatorKernelRegressor("precomputed").fit(common_letters_of_lists(WORDS, WORDS), lengths)
    assert_allclose(
        model.predict(container(["kern", "hill"])), expected.predict(common_letters_of_lists(["kern", "hill"], WORDS))
    )
    lengths[0] = np.nan
    assert_finite(OperatorKernelRegressor(kernel, loss="huber").fit(container(WORDS), lengths), WORDS, lengths)
    path = RegularizationPathCV(OperatorKernelRegressor(kernel), cv=3).fit(container(WORDS), lengths)
    assert_finite(path.best_estimator_, WORDS, lengths)


def test_objects_of_unequal_length():
    curves = [rng.normal(size=n) for n in rng.integers(3, 9, N)]
    kernel = kernels.PairwiseKernel(lambda a, b: a[0] * b[0] + len(a) * len(b))
    assert_finite(OperatorKernelRegressor(kernel).fit(curves, Y), curves, Y)


def test_kernels_of_numbers_in_one_dimension():
    model = OperatorKernelRegressor(lambda a, b: np.exp(-np.abs(np.subtract.outer(a, b)))).fit(X[:, 0], Y)
    assert_finite(model, X[:, 0], Y)


# ---------------------------------------------------------------- numbers that overflow, kernels of rounding


def test_inputs_and_outputs_that_overflow():
    assert_refused(lambda: OperatorKernelRegressor("linear").fit(X * 1e200, Y), ["X is too large", "scale X"])
    assert_refused(lambda: OperatorKernelRegressor().fit(X, Y * 1e200), ["y is too large", "divide y"])
    largest = np.finfo(float).max / np.abs(Y).max()
    for settings in ({}, {"loss": "huber"}, {"gamma": 1.0, "alpha": 0.01}):
        for scale in (1e155, largest):
            assert_refused(lambda: OperatorKernelRegressor(**settings).fit(X, Y * scale), ["y is too large"])  # noqa: B023


def test_inputs_and_outputs_of_which_nothing_is_left():
    for settings in ({}, {"loss": "huber"}, {"gamma": 1.0, "alpha": 0.01}):
        refused = lambda: OperatorKernelRegressor(**settings).fit(X, Y * 1e-200)  # noqa: B023, E731
        assert_refused(refused, ["y is too small", "divide y"])
    assert_refused(lambda: OperatorKernelRegressor().fit(X * 1e-310, Y), ["X is too small", "scale X"])
    for scale in (1e-140, 1e140):  # a model that does not depend on the unit
        found = OperatorKernelRegressor(gamma=1.0, alpha=0.01).fit(X, Y * scale).predict(X) / scale
        assert_allclose(found, OperatorKernelRegressor(gamma=1.0, alpha=0.01).fit(X, Y).predict(X), rtol=1e-8)
    constant = OperatorKernelRegressor(gamma=1.0, alpha=0.01).fit(X, np.full(len(X), 1e-300))
    assert_allclose(constant.predict(X), 1e-300)


@pytest.mark.parametrize("loss", ["squared", losses.Huber(0.5)], ids=str)
def test_gram_matrix_that_rounding_made_indefinite(loss):
    Z = np.random.default_rng(0).normal(size=(200, 2))
    K = rbf_kernel(Z, gamma=0.1).astype(np.float32).astype(float)
    assert np.linalg.eigvalsh(K)[0] < -1e-9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = OperatorKernelRegressor("precomputed", loss=loss, alpha=1e-10).fit(K, np.sin(Z))
    assert np.isfinite(model.predict(K)).all()


def test_kernel_of_zeros_with_gradients():
    Z, T = np.zeros((60, 2)), np.random.default_rng(0).normal(size=(60, 2))
    terms = [("linear", None), ("rbf", "covariance")]
    for settings in ({"kernel": terms}, {"kernel": "linear", "solver": "proximal_gradient"}):
        model = OperatorKernelRegressor(loss=losses.Huber(0.5), alpha=0.1, **settings).fit(Z, T)
        assert np.isfinite(model.predict(Z)).all() and model.dual_gap_ <= 1e-6


def test_hard_constraint_that_cannot_be_met():
    assert_refused(
        lambda: OperatorKernelRegressor(loss=losses.Ball(0.1), alpha=0.1).fit([[0.0], [0.0], [1.0]], [0.0, 1.0, 2.0]),
        ["Ball", "raise scale"],
    )
