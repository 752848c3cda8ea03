"""Kernels as profiles of a distance against scikit-learn's and mpmath's, rates, and kernels around an origin."""

import mpmath
import numpy as np
import pytest
import scipy.sparse
from helpers.refusals import assert_refused, changed
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gaussian_process
from sklearn.metrics.pairwise import pairwise_kernels

from benchmarks import matern
from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.data.functions import quadrature
from hilbertlearn.kernels import (
    L2,
    AdditiveKernel,
    ChannelSum,
    CurlFreeKernel,
    DivergenceFreeKernel,
    HelmholtzKernel,
    InputKernel,
    IntegratedKernel,
    Matern,
    NamedKernel,
    TanimotoGaussian,
    centred_linear,
    check_kernel,
    check_kernel_params,
    distances,
    gram,
    metric_name,
    profile,
    resolve_gamma,
    training_gram,
)

rng = np.random.default_rng(7)
X = rng.normal(loc=[3, 0, 1], scale=[1, 2, 0.5], size=(14, 3))
Z = rng.normal(loc=[3, 0, 1], size=(9, 3))
POSITIVE = np.abs(X), np.abs(Z)
GAMMA = 0.3
NAMES = {"matern12": 0.5, "matern32": 1.5, "matern52": 2.5}
ALL = [*NAMES, "rbf", "laplacian", "chi2"]
MATRICES = [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csr_array, scipy.sparse.coo_matrix]
WEIGHTS = rng.uniform(0.1, 2, len(X))


def thin(A):
    return np.where(np.abs(A) > 0.8, A, 0.0)


def by_mpmath(nu, t):
    """Matérn's kernel at t = sqrt(2 nu) distance / length scale, to all digits."""
    nu, t = mpmath.mpf(nu), mpmath.mpf(t)
    return float(2 ** (1 - nu) / mpmath.gamma(nu) * t**nu * mpmath.besselk(nu, t, maxprec=10**5)) if t else 1.0


# ---------------------------------------------------------------- Matérn's kernel


@pytest.mark.parametrize("nu", [0.5, 0.7, 1.5, 2.0, 2.5, 6.3, np.inf])
def test_matern_is_that_of_sklearn(nu):
    theirs = gaussian_process.Matern(length_scale=1 / np.sqrt(2 * GAMMA), nu=nu)
    ours = Matern(nu, GAMMA)
    assert_allclose(ours(X, Z), theirs(X, Z), rtol=1e-11, atol=1e-14)
    assert_allclose(ours(X, X), theirs(X), rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("nu", [0.05, 0.3, 1.0, 3.5, 20.0, 49.9, 50.0, 51.5, 200.0])
def test_every_nu_at_every_distance(nu):
    with mpmath.workdps(40):
        t = np.r_[0.0, 1e-200, 1e-12, 1e-5, 0.01, 0.5, 3.0, 20.0, 100.0, 600.0] * max(1.0, np.sqrt(nu) / 10)
        exact = [by_mpmath(nu, value) for value in t]
    found = profile("matern", t[None] ** 2 / (4 * nu * GAMMA), GAMMA, nu=nu)[0]
    assert found[0] == 1.0
    assert_allclose(found, exact, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("nu", [1e-3, 0.5, 0.7, 1.5, 2.5, 30.0, 80.0, 1e6, 1e300, np.inf])
@pytest.mark.parametrize("gamma", [1e-300, 1.0, 1e300])
def test_no_distance_is_too_small_or_too_large(nu, gamma):
    D = np.array([[0.0, 5e-324, 1e-300, 1e-20, 1.0, 1e20, 1e300]])
    values = profile("matern", D, gamma, nu=nu)[0]
    assert np.isfinite(values).all() and values[0] == 1.0
    assert (values >= 0).all() and (values <= 1).all()
    assert (np.diff(values) <= 0).all()


def test_matern_tends_to_the_gaussian_kernel():
    gaussian = gram("rbf", X, Z, gamma=GAMMA)
    assert_allclose(Matern(np.inf, GAMMA)(X, Z), gaussian, rtol=1e-12)
    errors = [np.abs(Matern(nu, GAMMA)(X, Z) - gaussian).max() for nu in (10.0, 100.0, 1e4, 1e6, 1e12)]
    assert (np.diff(errors) < 0).all()
    assert errors[3] < 1e-6 and errors[4] < 1e-11


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, 50.0])
def test_matern_is_continuous_in_nu(nu):
    """Across the closed forms, and across the change of the method at 50."""
    low, at, high = (Matern(value, GAMMA)(X, Z) for value in (nu * (1 - 1e-9), nu, nu * (1 + 1e-9)))
    assert_allclose(low, at, atol=1e-8)
    assert_allclose(high, at, atol=1e-8)
    assert_allclose((low + high) / 2, at, rtol=1e-11)


@pytest.mark.parametrize(("name", "nu"), NAMES.items())
@pytest.mark.parametrize("matrix", MATRICES)
def test_names_equal_objects_and_sparse_equals_dense(name, nu, matrix):
    A, B = thin(X), thin(Z)
    expected = gaussian_process.Matern(length_scale=1 / np.sqrt(2 * GAMMA), nu=nu)
    for found in (gram(name, matrix(A), matrix(B), gamma=GAMMA), Matern(nu, GAMMA)(matrix(A), matrix(B))):
        assert_allclose(found, expected(A, B), rtol=1e-12)
    for found in (gram(name, matrix(A), gamma=GAMMA), gram(Matern(nu, GAMMA), matrix(A))):
        assert_allclose(found, expected(A), rtol=1e-12)
    assert_allclose(gram(name, A, matrix(B), gamma=GAMMA), expected(A, B), rtol=1e-12)


@pytest.mark.parametrize("nu", [0.5, 0.7, 1.5, 2.5, 7.0, 60.0, np.inf])
def test_gram_is_positive_with_copies_near_pairs_and_a_far_sample(nu):
    A = np.r_[X, X[:3], X[3:6] + 1e-9, X[:1] + 1e6]
    K = training_gram(Matern(nu, GAMMA), A)
    assert (np.diag(K) == 1).all()
    assert_allclose(K, K.T, rtol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-9


def test_values_of_near_pairs_have_all_digits():
    """The root of a difference of squares would have half of them."""
    A = 1e3 + rng.normal(size=(6, 4))
    A = np.r_[A, A + 1e-7, A[:2]]
    exact = np.exp(-np.sqrt(2 * GAMMA) * cdist(A, A))
    assert_allclose(gram("matern12", A, gamma=GAMMA), exact, rtol=0, atol=1e-14)
    assert_allclose(gram("matern12", A, A.copy(), gamma=GAMMA), exact, rtol=0, atol=1e-14)
    assert_allclose(gram("matern12", scipy.sparse.csr_matrix(A), gamma=GAMMA), exact, rtol=0, atol=1e-10)


def test_larger_than_a_block():
    A, B = rng.normal(size=(400, 2)), rng.normal(size=(333, 2))
    for name, nu in NAMES.items():
        theirs = gaussian_process.Matern(length_scale=1 / np.sqrt(2 * GAMMA), nu=nu)
        K = gram(name, A, gamma=GAMMA)
        assert_allclose(K, theirs(A), rtol=1e-10)
        assert_array_equal(K, K.T)
        assert_allclose(gram(name, A, B, gamma=GAMMA), theirs(A, B), rtol=1e-10)
    wide = np.zeros((1, 10**5))
    assert_array_equal(profile("matern32", wide, 1.0), 1.0)


def test_an_estimator_takes_names_and_objects():
    Y = np.c_[np.sin(X[:, 0]), X[:, 1]]
    by_name = OperatorKernelRegressor("matern32", gamma=GAMMA, alpha=1e-3).fit(X, Y)
    by_object = OperatorKernelRegressor(Matern(1.5, GAMMA), alpha=1e-3).fit(X, Y)
    assert_allclose(by_name.predict(Z), by_object.predict(Z), rtol=1e-10)
    median = InputKernel.from_settings("matern52", "median", None, X, WEIGHTS)
    assert median.gamma == resolve_gamma("rbf", "median", X, WEIGHTS)
    assert_array_equal(median.training_gram(X), gram("matern52", X, gamma=median.gamma))
    check_kernel("matern12")
    check_kernel_params(["matern12"], {})
    assert_refused(lambda: check_kernel_params(["matern12"], {"nu": 2}), ["kernel_params", "nu"])


# ---------------------------------------------------------------- distances and profiles


@pytest.mark.parametrize("name", ALL)
def test_profiles_of_distances_are_the_kernels(name):
    A, B = POSITIVE
    for other in (B, None):
        D = distances(name, A, other)
        kept = D.copy()
        expected = gram(name, A, other, gamma=GAMMA)
        assert_allclose(profile(name, D, GAMMA), expected, rtol=1e-12)
        assert_array_equal(D, kept)
        assert profile(name, D, GAMMA, out=D) is D
        assert_allclose(D, expected, rtol=1e-12)
        if other is None:
            assert_allclose(profile(name, kept, GAMMA, symmetric=True), expected, rtol=1e-12)


def test_metrics_say_what_can_be_shared():
    assert {name: metric_name(name) for name in ALL} == {
        **dict.fromkeys([*NAMES, "rbf"], "sqeuclidean"),
        "laplacian": "cityblock",
        "chi2": "chi2",
    }
    D = distances("rbf", X, Z)
    for name in NAMES:
        assert_array_equal(distances(name, X, Z), D)
        assert_array_equal(profile(name, D, 0.7), gram(name, X, Z, gamma=0.7))
    assert_refused(lambda: metric_name("poly"), ["kernel", "'poly'", "'matern32'"])


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize(("name", "scipys"), [("rbf", "sqeuclidean"), ("laplacian", "cityblock")])
def test_distances_are_those_of_scipy(matrix, name, scipys):
    A, B = thin(X), thin(Z)
    assert_allclose(distances(name, matrix(A), matrix(B)), cdist(A, B, scipys), rtol=1e-12, atol=1e-14)
    own = distances(name, matrix(A))
    assert_allclose(own, cdist(A, A, scipys), rtol=1e-12, atol=1e-14)
    assert (np.diag(own) == 0).all() and (own >= 0).all()
    integers = np.round(2 * A).astype(int)
    assert_allclose(distances(name, matrix(integers)), cdist(integers, integers, scipys), rtol=1e-12)


def test_distances_refuse_what_has_none():
    for matrix in MATRICES:
        with pytest.raises(ValueError, match=r"too large.*StandardScaler"):
            distances("matern32", matrix(1e200 * X))
        with pytest.raises(ValueError, match=r"too large.*StandardScaler"):
            distances("rbf", matrix(X), matrix(1e200 * Z))
    assert_refused(lambda: distances("rbf", changed(X, np.nan)), ["X contains NaN"])
    assert_refused(lambda: distances("rbf", X, Z[:, :2]), ["columns", "3", "2"])
    assert distances("rbf", X[:0], Z).shape == (0, len(Z))
    assert profile("matern32", distances("rbf", X[:0], Z), 1.0).shape == (0, len(Z))


# ---------------------------------------------------------------- rates


@pytest.mark.parametrize("word", ["auto", "median", "scale"])
@pytest.mark.parametrize("matrix", MATRICES[:2])
def test_matern_resolves_as_rbf_does(word, matrix):
    kernel = Matern(2.5, word)
    resolved = kernel.resolve(matrix(X), WEIGHTS)
    assert kernel.gamma == word and resolved.nu == 2.5
    rule = "scale" if word == "scale" else "median"
    assert resolved.gamma == pytest.approx(resolve_gamma("rbf", rule, X, WEIGHTS), rel=1e-12)
    assert kernel.rate_is_searched == (word == "auto") and not resolved.rate_is_searched
    assert resolved.resolve(Z).gamma == resolved.gamma
    assert_refused(lambda: kernel(X, Z), ["Matern: gamma", repr(word), "resolve"])


CURVES = rng.normal(size=(10, 8, 2))
BITS = (rng.random((10, 12)) < 0.4).astype(float)
POINTS = rng.normal(size=(10, 2))
# kernel with "auto", inputs, the setting, the power of the rate, what it resolves as, the default
RATED = [
    (Matern(1.5, "auto"), X, "gamma", 1, "median", "auto"),
    (NamedKernel("laplacian", "auto"), X, "gamma", 1, "median", "median"),
    (TanimotoGaussian("auto"), BITS, "gamma", 1, 1.0, 1.0),
    (L2("auto"), CURVES, "gamma", 1, "median", "auto"),
    (L2("auto", shape="matern32"), CURVES, "gamma", 1, "median", "auto"),
    (IntegratedKernel("laplacian", "auto"), CURVES, "gamma", 1, "median", "auto"),
    (ChannelSum("auto"), CURVES, "bandwidth", -0.5, 1.0, 1.0),
    (AdditiveKernel(0.2, "auto"), CURVES, "bandwidth_values", -0.5, "median", "auto"),
    (CurlFreeKernel("auto"), POINTS, "gamma", 1, "median", "median"),
    (DivergenceFreeKernel("auto"), POINTS, "gamma", 1, "median", "median"),
    (HelmholtzKernel(0.3, "auto"), POINTS, "gamma", 1, "median", "median"),
]


@pytest.mark.parametrize(("kernel", "inputs", "key", "power", "rule", "default"), RATED)
def test_auto_is_searched_and_starts_from_the_rule(kernel, inputs, key, power, rule, default):
    assert kernel.rate_is_searched and clone(kernel).rate_is_searched
    weights = rng.uniform(0.5, 2, len(inputs))
    resolved = kernel.resolve(inputs, weights)
    assert not resolved.rate_is_searched and type(resolved) is type(kernel)
    assert getattr(kernel, key) == "auto"
    other = clone(kernel).set_params(**{key: rule})
    assert not other.rate_is_searched
    assert getattr(resolved, key) == getattr(other.resolve(inputs, weights), key)
    assert getattr(type(kernel)(), key) == default
    assert_refused(lambda: kernel(inputs, inputs), [type(kernel).__name__, "resolve", "auto"] if key == "gamma" else [])
    assert_refused(lambda: kernel.with_rate(2.0), [type(kernel).__name__, key, "'auto'", "resolve"])


@pytest.mark.parametrize(("kernel", "inputs", "key", "power", "rule", "default"), RATED)
def test_a_rate_is_a_multiple_of_the_number(kernel, inputs, key, power, rule, default):
    resolved = kernel.resolve(inputs)
    number = getattr(resolved, key)
    faster = resolved.with_rate(3.0)
    by_hand = clone(resolved).set_params(**{key: number * 3.0**power})
    assert getattr(faster, key) == pytest.approx(number * 3.0**power, rel=1e-15)
    assert isinstance(getattr(faster, key), float) and getattr(resolved, key) == number
    assert_allclose(faster(inputs, inputs[:4]), by_hand(inputs, inputs[:4]), rtol=1e-14)
    assert_allclose(faster.with_rate(1 / 3)(inputs, inputs[:4]), resolved(inputs, inputs[:4]), rtol=1e-12)
    assert_refused(lambda: resolved.with_rate(0.0), ["factor", "> 0", "0.0"])


def test_bandwidths_of_channels_share_a_rate():
    faster = ChannelSum([0.5, 2.0], scales=[1.0, 3.0]).with_rate(4.0)
    assert_allclose(faster.bandwidth, [0.25, 1.0])
    assert not faster.rate_is_searched
    assert_refused(lambda: ChannelSum("auto", 1.0)(CURVES, CURVES), ["ChannelSum: bandwidth", "'auto'", "resolve"])


def test_kernels_without_a_rate_are_not_searched():
    for kernel in (L2("auto", shape="linear"), NamedKernel("linear", "auto")):
        inputs = CURVES if isinstance(kernel, L2) else X
        assert not kernel.rate_is_searched
        resolved = kernel.resolve(inputs)
        assert_array_equal(resolved.with_rate(2.0)(inputs, inputs), resolved(inputs, inputs))


# ---------------------------------------------------------------- shapes of kernels on curves


@pytest.mark.parametrize("shape", ["rbf", *NAMES, "linear"])
def test_shapes_of_l2_by_quadrature(shape):
    grid = np.sort(np.r_[0.0, rng.uniform(size=6), 1.0])
    q = quadrature(grid)
    kernel = L2(GAMMA, grid, shape)
    others = rng.normal(size=(4, 8, 2))
    if shape == "linear":
        expected = np.einsum("t,itl,jtl->ij", q, CURVES, others)
    else:
        D = np.einsum("t,ijtl->ij", q, (CURVES[:, None] - others[None]) ** 2)
        r = np.sqrt(2 * GAMMA * D)
        a, b = np.sqrt(3) * r, np.sqrt(5) * r
        expected = {
            "rbf": np.exp(-(r**2) / 2),
            "matern12": np.exp(-r),
            "matern32": (1 + a) * np.exp(-a),
            "matern52": (1 + b + 5 * r**2 / 3) * np.exp(-b),
        }[shape]
    assert_allclose(kernel(CURVES, others), expected, rtol=1e-12)
    K = training_gram(kernel, CURVES)  # positive semi-definite
    assert_allclose(np.diag(K), np.einsum("t,itl->i", q, CURVES**2) if shape == "linear" else 1.0)
    unresolved = L2(shape=shape, grid=grid)
    assert unresolved.rate_is_searched == (shape != "linear")
    resolved = unresolved.resolve(CURVES)
    if shape != "linear":
        assert resolved.gamma == L2("median", grid).resolve(CURVES).gamma
    assert resolved.shape == shape
    resolved(CURVES, others)


# ---------------------------------------------------------------- around an origin


@pytest.mark.parametrize("matrix", MATRICES)
def test_linear_around_an_origin(matrix):
    A, B, origin = thin(X), thin(Z), rng.normal(size=3)
    expected = (A - origin) @ (B - origin).T
    assert_allclose(centred_linear(matrix(A), matrix(B), origin), expected, rtol=1e-12, atol=1e-13)
    assert_allclose(centred_linear(A, matrix(B), origin), expected, rtol=1e-12, atol=1e-13)
    assert_allclose(centred_linear(matrix(A), B, origin), expected, rtol=1e-12, atol=1e-13)
    own = centred_linear(matrix(A), None, origin)
    assert isinstance(own, np.ndarray)
    assert_allclose(own, (A - origin) @ (A - origin).T, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("matrix", MATRICES[:3])
@pytest.mark.parametrize(
    ("name", "params"),
    [("linear", None), ("poly", None), ("polynomial", {"degree": 2}), ("poly", {"coef0": 0.5, "degree": 2})],
)
def test_centred_kernels_are_those_of_centred_inputs(name, params, matrix, weights):
    A, B = thin(X), thin(Z)
    kernel = InputKernel.from_settings(name, 0.4, params, matrix(A), weights, centred=True)
    mean = np.average(A, axis=0, weights=weights)
    assert_allclose(kernel.origin, mean, rtol=1e-12)
    options = {**(params or {}), **({} if name == "linear" else {"gamma": 0.4})}
    expected = pairwise_kernels(A - mean, B - mean, metric=name, **options)
    assert_allclose(kernel(matrix(A), matrix(B)), expected, rtol=1e-10, atol=1e-12)
    own = pairwise_kernels(A - mean, metric=name, **options)
    assert_allclose(kernel(matrix(A)), own, rtol=1e-10, atol=1e-12)
    assert_allclose(kernel.training_gram(matrix(A)), own, rtol=1e-10, atol=1e-12)


@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce")  # of infinities, which are refused
def test_only_products_have_an_origin_and_only_when_asked():
    assert InputKernel.from_settings("linear", "median", None, X).origin is None
    for kernel in ("rbf", "matern32", "cosine", Matern(), "precomputed"):
        inputs = X @ X.T if kernel == "precomputed" else X
        assert InputKernel.from_settings(kernel, "median", None, inputs, WEIGHTS, centred=True).origin is None
    poly = InputKernel.from_settings("poly", "median", None, X, centred=True)
    assert poly.gamma == resolve_gamma("poly", "scale", X)
    with pytest.raises(ValueError, match="too large"):
        InputKernel.from_settings("linear", "median", None, 1e200 * X, centred=True).training_gram(1e200 * X)


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (Matern(0.0, 1.0), ["Matern: nu", "> 0", "inf", "0.0"]),
        (Matern(-1, 1.0), ["Matern: nu", "-1", "1.5"]),
        (Matern(np.nan, 1.0), ["Matern: nu", "nan"]),
        (Matern("rough", 1.0), ["Matern: nu", "'rough'", "2.5"]),
        (Matern(True, 1.0), ["Matern: nu", "True"]),
        (Matern(1.5, 0.0), ["Matern: gamma", "> 0", "'median'", "0.0"]),
        (Matern(1.5, "mean"), ["Matern: gamma", "'mean'", "'auto'", "'median'", "'scale'"]),
        (Matern(1.5, None), ["Matern: gamma", "None"]),
        (L2(1.0, shape="gaussian"), ["L2: shape", "'gaussian'", "'rbf'", "'matern32'", "'linear'"]),
        (L2("scale"), ["L2: gamma", "'scale'", "'median'", "'auto'"]),
        (TanimotoGaussian("median"), ["TanimotoGaussian: gamma", "'median'", "'auto'"]),
        (HelmholtzKernel(0.5, "mean"), ["HelmholtzKernel: gamma", "'mean'", "'auto'"]),
    ],
)
def test_bad_settings_are_refused(kernel, words):
    inputs = CURVES if isinstance(kernel, L2) else POINTS
    assert_refused(lambda: kernel(inputs, inputs), words)
    assert_refused(lambda: kernel.resolve(inputs), words)


def test_bad_words_and_inputs_are_refused():
    assert_refused(lambda: NamedKernel("rbf", "mean").resolve(X), ["gamma", "'mean'", "'auto'"])
    assert_refused(lambda: ChannelSum("wide").resolve(CURVES), ["ChannelSum: bandwidth", "'wide'", "'auto'"])
    assert_refused(lambda: Matern(1.5, 1.0)(["a", "b"], ["a"]), ["Matern: X", "numbers", "str"])
    assert_allclose(profile("matern", distances("rbf", X), 1.0), profile("matern32", distances("rbf", X), 1.0))
    assert_refused(lambda: profile("matern", distances("rbf", X), 1.0, nu="smooth"), ["nu", "smooth", "1.5"])


def test_settings_clone_and_change():
    kernel = Matern()
    assert kernel.get_params() == {"nu": 1.5, "gamma": "auto"}
    assert clone(kernel).set_params(nu=2.5).get_params() == {"nu": 2.5, "gamma": "auto"}


def test_the_benchmark_runs(capsys):
    matern.main(n=60)
    assert '"benchmark": "matern"' in capsys.readouterr().out
