"""Kernels on curves against loops over pairs with scipy's quadrature, and what they make of gaps and containers."""

import numpy as np
import pytest
from helpers.refusals import assert_refused, changed
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import dblquad, quad, trapezoid
from sklearn.base import clone

from hilbertlearn.data.functions import IrregularFunctions
from hilbertlearn.kernels import L2, AdditiveKernel, ChannelSum, IntegratedKernel, gram, training_gram

rng = np.random.default_rng(5)
GRID = np.sort(np.r_[0.0, rng.uniform(0, 1, 7), 1.0])
X = rng.normal(size=(8, 9, 3))
Z = rng.normal(size=(5, 9, 3))
SCALES = np.array([0.5, 2.0, 7.0])

KERNELS = [
    L2(0.7, grid=GRID),
    IntegratedKernel("laplacian", 0.8, grid=GRID),
    IntegratedKernel("rbf", 0.3, grid=GRID),
    ChannelSum(1.5, SCALES, grid=GRID),
    ChannelSum([0.5, 1.0, 2.0], SCALES, grid=GRID),
    AdditiveKernel(0.2, 1.3, grid=GRID),
]
UNRESOLVED = [L2(), IntegratedKernel("laplacian"), IntegratedKernel("rbf"), ChannelSum(), AdditiveKernel()]


def ids(parameter):
    """A short name of a kernel; None leaves other parameters to pytest."""
    return type(parameter).__name__ if hasattr(parameter, "resolve") else None


def trapezoids(f):
    return trapezoid(f, GRID, axis=0)


def by_hand(kernel, x, z):
    """The kernel of two curves (m, channels) on GRID, from its definition."""
    if isinstance(kernel, L2):
        return np.exp(-kernel.gamma * trapezoids(((x - z) ** 2).sum(axis=1)))
    if isinstance(kernel, IntegratedKernel):
        distance = np.abs(x - z) if kernel.name == "laplacian" else (x - z) ** 2
        return trapezoids(np.exp(-kernel.gamma * distance.sum(axis=1)))
    if isinstance(kernel, ChannelSum):
        return np.exp(-trapezoids((x - z) ** 2) / (np.square(kernel.bandwidth) * kernel.scales)).sum()
    values = np.array(
        [
            [
                np.exp(-((s - t) ** 2) / kernel.bandwidth_points**2)
                * np.exp(-((a - b) ** 2).sum() / kernel.bandwidth_values**2)
                for t, b in zip(GRID, z)
            ]
            for s, a in zip(GRID, x)
        ]
    )
    return trapezoids(trapezoids(values))


def gram_by_hand(kernel, X, Z):
    return np.array([[by_hand(kernel, x, z) for z in Z] for x in X])


# ---------------------------------------------------------------- definitions


@pytest.mark.parametrize("kernel", KERNELS, ids=ids)
def test_values_by_hand(kernel):
    assert_allclose(kernel(X, Z), gram_by_hand(kernel, X, Z), rtol=1e-10)
    assert_allclose(kernel(X, X), gram_by_hand(kernel, X, X), rtol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (L2(0.4), lambda x, z: np.exp(-0.4 * quad(lambda t: (x(t) - z(t)) ** 2, 0, 1)[0])),
        (
            IntegratedKernel("laplacian", 7.0),
            lambda x, z: quad(lambda t: np.exp(-7 * abs(x(t) - z(t))), 0, 1, points=[0.5])[0],
        ),
        (IntegratedKernel("rbf", 2.0), lambda x, z: quad(lambda t: np.exp(-2 * (x(t) - z(t)) ** 2), 0, 1)[0]),
        (
            ChannelSum(0.5, [3.0]),
            lambda x, z: np.exp(-quad(lambda t: (x(t) - z(t)) ** 2, 0, 1)[0] / (0.25 * 3)),
        ),
        (
            AdditiveKernel(0.3, 0.6),
            lambda x, z: dblquad(
                lambda s, t: np.exp(-(((s - t) / 0.3) ** 2) - ((x(s) - z(t)) / 0.6) ** 2), 0, 1, 0, 1, epsabs=1e-6
            )[0],
        ),
    ],
    ids=ids,
)
def test_fine_grids_give_the_integrals(kernel, expected):
    x, z = lambda t: np.cos(np.pi * t), lambda t: 0.5 * t - 0.25
    fine = np.linspace(0, 1, 801)
    assert_allclose(kernel(x(fine)[None], z(fine)[None])[0, 0], expected(x, z), rtol=2e-4)
    wide = clone(kernel).set_params(grid=10 + 50 * fine)  # the grid counts as [0, 1]
    assert_allclose(wide(x(fine)[None], z(fine)[None]), kernel(x(fine)[None], z(fine)[None]), rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=ids)
def test_gram_is_symmetric_positive_and_exact_on_the_diagonal(kernel):
    curves = np.r_[X, X[:2], 1e3 + X[:2]]
    G = kernel(curves, curves)
    assert_allclose(G, G.T, rtol=1e-12)
    assert np.linalg.eigvalsh(G)[0] > -1e-12 * np.trace(G)
    if isinstance(kernel, AdditiveKernel):
        assert_allclose(np.diag(G), [by_hand(kernel, x, x) for x in curves], rtol=1e-9)
    else:
        assert_array_equal(np.diag(G), 3.0 if isinstance(kernel, ChannelSum) else 1.0)


@pytest.mark.parametrize("name", ["laplacian", "rbf"])
def test_diagonal_of_the_integral_is_one_for_any_number_of_points(name):
    for m in range(1, 60):  # for some the quadrature weights do not sum to 1 exactly
        curves = rng.normal(size=(3, m))
        assert_array_equal(np.diag(IntegratedKernel(name, 0.5)(curves, curves)), 1.0)


@pytest.mark.parametrize("kernel", KERNELS, ids=ids)
def test_cross_gram_is_a_part_of_the_gram(kernel):
    curves = np.concatenate([X, Z])
    G = kernel(curves, curves)
    assert_allclose(kernel(curves[[11, 2]], curves[3:7]), G[[11, 2], 3:7], rtol=1e-11)
    assert_allclose(kernel(curves, curves.copy()), G, rtol=1e-11)


@pytest.mark.parametrize("entries", [1, 20, 170])
@pytest.mark.parametrize("kernel", KERNELS, ids=ids)
def test_small_blocks(kernel, entries, monkeypatch):
    monkeypatch.setattr("hilbertlearn.kernels.functional._BLOCK_ENTRIES", entries)
    assert_allclose(kernel(X, Z), gram_by_hand(kernel, X, Z), rtol=1e-10)
    assert_allclose(kernel(X, X), gram_by_hand(kernel, X, X), rtol=1e-10)


# ---------------------------------------------------------------- containers


@pytest.mark.parametrize("kernel", KERNELS, ids=ids)
def test_containers_give_the_same_gram(kernel):
    skfda = pytest.importorskip("skfda")
    expected = kernel(X, Z)
    bare = clone(kernel).set_params(grid=None)
    grids = [skfda.FDataGrid(values, GRID) for values in (X, Z)]
    assert_allclose(bare(*grids), expected, rtol=1e-12)
    assert_allclose(bare(grids[0], grids[0]), kernel(X, X), rtol=1e-12)
    own_points = [IrregularFunctions([GRID] * len(values), list(values)) for values in (X, Z)]
    assert_allclose(kernel(*own_points), expected, rtol=1e-12)
    irregular = [skfda.FDataIrregular.from_fdatagrid(curves) for curves in grids]
    assert_allclose(kernel(*irregular), expected, rtol=1e-12)
    assert_allclose(kernel(grids[0], Z), expected, rtol=1e-12)


ONE_CHANNEL = [L2(0.7), IntegratedKernel("laplacian", 0.8), ChannelSum(1.0, 2.0), AdditiveKernel(0.2, 1.3)]


@pytest.mark.parametrize("kernel", ONE_CHANNEL, ids=ids)
def test_one_channel_may_be_left_out(kernel):
    even = clone(kernel).set_params(grid=np.linspace(0, 1, 9))
    assert_allclose(kernel(X[:, :, 0], Z[:, :, 0]), even(X[:, :, :1], Z[:, :, :1]), rtol=1e-13)
    assert_allclose(kernel(X[:, :, 0].tolist(), Z[:, :, 0].astype("f4")), even(X[:, :, :1], Z[:, :, :1]), rtol=1e-5)


@pytest.mark.parametrize("kernel", UNRESOLVED, ids=ids)
def test_curves_of_one_point_are_values(kernel):
    values = np.array([[0.0], [1.0], [3.0]])
    G = kernel.resolve(values)(values, values)
    assert G.shape == (3, 3)
    assert G[0, 1] > G[0, 2] > 0


def test_irregular_curves_are_interpolated_on_the_grid():
    slopes = rng.normal(size=6)
    points = [np.r_[0, np.sort(rng.uniform(size=4)), 1] for _ in slopes]
    lines = IrregularFunctions(points, [a * p for a, p in zip(slopes, points)], (0, 1))
    expected = np.exp(-0.5 * (slopes[:, None] - slopes) ** 2 / 3)  # the integral of (a t - b t)^2
    assert_allclose(L2(0.5)(lines, lines), expected, rtol=1e-3)


# ---------------------------------------------------------------- gaps


@pytest.mark.parametrize("kernel", KERNELS, ids=ids)
def test_gaps_are_interpolated_within_each_curve(kernel):
    assert kernel.accepts_missing
    holes = X.copy()
    holes[0, 3:5, 1] = holes[1, :2, 0] = holes[2, 7:, 2] = np.nan
    filled = X.copy()
    share = (GRID[3:5] - GRID[2]) / (GRID[5] - GRID[2])
    filled[0, 3:5, 1] = X[0, 2, 1] + share * (X[0, 5, 1] - X[0, 2, 1])
    filled[1, :2, 0], filled[2, 7:, 2] = X[1, 2, 0], X[2, 6, 2]
    before = holes.copy()
    assert_allclose(kernel(holes, Z), gram_by_hand(kernel, filled, Z), rtol=1e-10)
    assert_allclose(kernel(Z, holes), gram_by_hand(kernel, Z, filled), rtol=1e-10)
    assert_array_equal(holes, before)


@pytest.mark.parametrize("kernel", KERNELS, ids=ids)
def test_gram_with_gaps_is_positive(kernel):
    holes = np.where(rng.uniform(size=(20, 9, 3)) < 0.6, np.nan, rng.normal(size=(20, 9, 3)))
    holes[:, 4] = rng.normal(size=(20, 3))
    assert training_gram(kernel, holes).shape == (20, 20)


def test_a_curve_without_observations_is_refused():
    holes = X.copy()
    holes[4, :, 1] = np.nan
    assert_refused(lambda: L2(1.0)(holes, holes), ["X", "curve 4", "channel 1"])
    assert_refused(lambda: IntegratedKernel().resolve(holes), ["X", "curve 4", "channel 1"])
    assert_refused(lambda: L2(1.0)(X, holes), ["Z", "curve 4", "channel 1"])


# ---------------------------------------------------------------- resolve


def pairs(curves):
    return [(x, z) for i, x in enumerate(curves) for z in curves[i + 1 :]]


def test_median_of_l2_distances():
    squares = [trapezoids(((x - z) ** 2).sum(axis=1)) for x, z in pairs(X)]
    assert L2(grid=GRID).resolve(X).gamma == pytest.approx(1 / (2 * np.median(squares)), rel=1e-9)


COUNTS = np.array([1, *[2] * 7, 1])  # the trapezoid rule on an even grid: inner points count twice


@pytest.mark.parametrize(
    ("kernel", "distance", "found"),
    [
        (IntegratedKernel("laplacian"), lambda d: np.abs(d).sum(axis=1), lambda k: 1 / k.gamma),
        (IntegratedKernel("rbf"), lambda d: (d**2).sum(axis=1), lambda k: 1 / (2 * k.gamma)),
        (AdditiveKernel(), lambda d: (d**2).sum(axis=1), lambda k: k.bandwidth_values**2 / 2),
    ],
    ids=["laplacian", "rbf", "additive"],
)
def test_median_over_pairs_and_points(kernel, distance, found):
    curves = X.copy()
    curves[:, 2] = 1.0  # where all curves meet there is nothing to measure
    distances = np.concatenate([np.repeat(distance(x - z), COUNTS) for x, z in pairs(curves)])
    assert found(kernel.resolve(curves)) == pytest.approx(np.median(distances[distances > 0]), rel=1e-9)
    counts = rng.integers(1, 4, len(X))
    weighted, repeated = kernel.resolve(curves, counts), kernel.resolve(np.repeat(curves, counts, axis=0))
    assert found(weighted) == pytest.approx(found(repeated), rel=1e-9)
    assert found(weighted) != pytest.approx(found(kernel.resolve(curves)), rel=1e-9)


@pytest.mark.parametrize("name", ["laplacian", "rbf"])
def test_median_of_many_curves_is_that_of_some(name):
    level = np.random.default_rng(0).normal(size=(1000, 1)) * np.ones(300)
    differences = np.abs(level[:, 0] - level[:, :1])[np.triu_indices(1000, 1)]
    expected = 1 / np.median(differences) if name == "laplacian" else 1 / (2 * np.median(differences**2))
    assert IntegratedKernel(name).resolve(level).gamma == pytest.approx(expected, rel=0.15)


def test_training_scales_are_sums_of_squared_norms():
    weights = rng.uniform(size=len(X))
    norms = np.array([trapezoids(x**2) for x in X])
    assert_allclose(ChannelSum(grid=GRID).resolve(X).scales, norms.sum(axis=0), rtol=1e-12)
    assert_allclose(ChannelSum(grid=GRID).resolve(X, weights).scales, weights @ norms, rtol=1e-12)
    zero = X * [1, 0, 1]
    assert_allclose(ChannelSum(grid=GRID).resolve(zero).scales, norms.sum(axis=0) * [1, 0, 1] + [0, 1, 0])


@pytest.mark.parametrize("kernel", UNRESOLVED, ids=ids)
def test_resolve_returns_numbers_and_leaves_the_settings(kernel):
    settings = kernel.get_params()
    resolved = kernel.resolve(X)
    assert type(resolved) is type(kernel)
    assert kernel.get_params() == settings
    words = {key for key, value in resolved.get_params().items() if isinstance(value, str)}
    assert words <= {"name", "shape"}
    again = resolved.resolve(Z)  # numbers stay
    assert_allclose(again(X, Z), resolved(X, Z), rtol=1e-14)
    assert_allclose(gram(clone(resolved), X, Z), resolved(X, Z), rtol=1e-14)
    assert_refused(lambda: kernel(X, Z), [type(kernel).__name__, "resolve"])


@pytest.mark.parametrize("kernel", UNRESOLVED, ids=ids)
@pytest.mark.parametrize("curves", [np.ones((1, 4)), np.zeros((5, 4))])
def test_equal_curves_have_some_kernel(kernel, curves):
    resolved = kernel.resolve(curves)
    G = resolved(curves, curves)
    assert_allclose(G, G[0, 0])
    assert G[0, 0] > 0


# ---------------------------------------------------------------- settings and refusals


@pytest.mark.parametrize("kernel", KERNELS, ids=ids)
def test_settings_clone_and_change(kernel):
    copy = clone(kernel)
    assert_array_equal(copy(X, Z), kernel(X, Z))
    key = "gamma" if hasattr(kernel, "gamma") else "bandwidth" if hasattr(kernel, "bandwidth") else "bandwidth_points"
    copy.set_params(**{key: 0.11})
    assert copy.get_params()[key] == 0.11
    assert_allclose(copy(X, Z), gram_by_hand(copy, X, Z), rtol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (L2(0.0), ["L2: gamma", "> 0", "0.0"]),
        (L2("scale"), ["L2: gamma", "median", "scale"]),
        (L2(np.nan), ["L2: gamma", "nan"]),
        (IntegratedKernel("rbf", -1.0), ["IntegratedKernel: gamma", "-1.0"]),
        (IntegratedKernel("gaussian", 1.0), ["IntegratedKernel: name", "gaussian", "laplacian", "rbf"]),
        (ChannelSum(0.0, 1.0), ["ChannelSum: bandwidth", "0.0"]),
        (ChannelSum([1.0, 2.0], 1.0), ["ChannelSum: bandwidth", "3", "[1.0, 2.0]"]),
        (ChannelSum("wide", 1.0), ["ChannelSum: bandwidth", "wide"]),
        (ChannelSum(1.0, "test"), ["ChannelSum: scales", "test", "training"]),
        (ChannelSum(1.0, [1.0, -2.0, 1.0]), ["ChannelSum: scales", "-2.0"]),
        (AdditiveKernel(0.0, 1.0), ["AdditiveKernel: bandwidth_points", "0.0"]),
        (AdditiveKernel("median", 1.0), ["AdditiveKernel: bandwidth_points", "median"]),
        (AdditiveKernel(1.0, np.inf), ["AdditiveKernel: bandwidth_values", "inf"]),
    ],
    ids=ids,
)
def test_bad_settings_are_refused(kernel, words):
    assert_refused(lambda: kernel(X, Z), words)
    assert_refused(lambda: kernel.resolve(X), words)


@pytest.mark.parametrize("kernel", [clone(kernel).set_params(grid=None) for kernel in KERNELS], ids=ids)
def test_curves_that_do_not_go_together_are_refused(kernel):
    assert_refused(lambda: kernel(X, Z[:, :5]), ["same grid", "9 points", "5 points"])
    shifted = IrregularFunctions([GRID + 1] * len(Z), list(Z))
    assert_refused(lambda: kernel(IrregularFunctions([GRID] * 8, list(X)), shifted), ["same grid", "[0, 1]", "[1, 2]"])
    assert_refused(lambda: kernel(X, Z[:, :, :2]), ["channels", "3", "2"])
    assert_refused(lambda: kernel(changed(X, np.inf, (1, 1, 1)), Z), ["X", "infinity"])
    assert_refused(lambda: clone(kernel).set_params(grid=GRID[:4])(X, Z), ["grid", "9", "4"])
