"""Functional data in every form: curves with points of their own, arrays, and what becomes of them."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, indexable, resample, shuffle
from sklearn.utils.validation import _num_samples

from hilbertlearn import FunctionalRegressor, IrregularFunctions, kernels
from hilbertlearn.data.functions import (
    GridFunctions,
    curves_on_grid,
    interpolate_curves,
    quadrature,
    read_functions,
)

rng = np.random.default_rng(8)
N, M = 11, 9
T = np.linspace(0, 1, M)
X = rng.uniform(size=(N, 2))
NEW = rng.uniform(size=(4, 2))
Y = np.sin(4 * (T + X[:, :1])) + X[:, 1:]
POINTS = [np.sort(rng.uniform(2, 5, size=k)) for k in rng.integers(2, 7, N)]
VALUES = [np.cos(p + x) for p, x in zip(POINTS, X[:, 0])]
CURVES = IrregularFunctions(POINTS, VALUES, domain=(1, 6))


def regressor(**settings):
    return FunctionalRegressor(**{"alpha": 0.01, **settings})


def assert_curves(curves, rows, of=CURVES):
    """These are the curves with the given indices."""
    assert len(curves) == len(rows) and curves.domain == of.domain
    for i, points, values in zip(rows, curves.points, curves.values, strict=True):
        assert_array_equal(points, of.points[i])
        assert_array_equal(values, of.values[i])


MASK = np.arange(N) % 3 == 0


@pytest.mark.parametrize(
    ("key", "rows"),
    [
        (3, [3]),
        (-1, [N - 1]),
        (np.int64(2), [2]),
        (slice(2, 7, 2), [2, 4, 6]),
        (slice(None, None, -1), range(N)[::-1]),
        ([4, 0, 4], [4, 0, 4]),
        (np.array([5, 1]), [5, 1]),
        (MASK, np.flatnonzero(MASK)),
        (MASK.tolist(), np.flatnonzero(MASK)),
        (([4, 0], ...), [4, 0]),
        (slice(0, 0), []),
        (np.array([], dtype=int), []),
    ],
    ids=str,
)
def test_indexing(key, rows):
    assert_curves(CURVES[key], rows)


def test_indexing_beyond_the_end():
    with pytest.raises(IndexError):
        CURVES[N]
    with pytest.raises(IndexError):
        CURVES[[0, N]]
    assert [len(one) for one in CURVES] == [1] * N  # so that it can be iterated over


def test_scikit_learns_ways_of_splitting():
    pd = pytest.importorskip("pandas")
    assert _num_samples(CURVES) == N and CURVES.shape == (N,)
    (same,) = indexable(CURVES)
    assert_curves(same, range(N))
    for rows in ([3, 1], np.array([3, 1]), slice(1, 4), MASK, MASK.tolist(), pd.Series([3, 1])):
        assert_curves(
            _safe_indexing(CURVES, rows), np.arange(N)[np.asarray(rows) if not isinstance(rows, slice) else rows]
        )
    indices = np.arange(N)
    for split in (lambda *a: train_test_split(*a, random_state=0), lambda *a: shuffle(*a, random_state=0)):
        *parts, last = split(CURVES, indices)
        assert_curves(parts[-1] if len(parts) == 1 else parts[1], last)
    drawn, which = resample(CURVES, indices, random_state=0)
    assert_curves(drawn, which)


def test_pickles_and_copies():
    for other in (pickle.loads(pickle.dumps(CURVES)), copy.deepcopy(CURVES), copy.copy(CURVES)):
        assert_curves(other, range(N))


def test_repr():
    assert repr(IrregularFunctions([[0, 1], [0.5]], [[1, 2], [3]])) == (
        "IrregularFunctions(2 curves, 1 to 2 points, domain=(0.0, 1.0))"
    )
    assert repr(CURVES[:0]) == "IrregularFunctions(0 curves, no points, domain=(1.0, 6.0))"


def test_domain_is_the_span_of_the_points_unless_given():
    assert IrregularFunctions([[3, 7], [5, 1]], [[0, 0], [0, 0]]).domain == (1.0, 7.0)
    assert CURVES.domain == (1.0, 6.0)


def test_values_become_floats():
    curves = IrregularFunctions(([0, 1], np.array([2], dtype=np.float32)), ([1, 2], np.array([[3]], dtype=int)[0]))
    assert all(a.dtype == float for a in (*curves.points, *curves.values))
    several = IrregularFunctions([[0, 1], [2]], [np.ones((2, 3)), np.zeros((1, 3))])
    assert [v.shape for v in several[[1, 0]].values] == [(1, 3), (2, 3)]


@pytest.mark.parametrize(
    ("shape", "grid", "sizes"),
    [
        ((N,), None, (1, 1)),
        ((N, 4), None, (4, 1)),
        ((N, 4, 3), None, (4, 3)),
        ((N, 4), [1, 2, 5, 6], (4, 1)),
        ((N, 4, 3), [1, 2, 5, 6], (4, 3)),
        ((N, 4, 3), ([1, 2, 5, 6], [0, 1, 2]), (4, 3, 1)),
        ((N, 4, 3, 2), ([1, 2, 5, 6], [0, 1, 2]), (4, 3, 2)),
    ],
)
def test_arrays_are_read_and_come_back(shape, grid, sizes):
    """Values are (n, points of each variable, curves), and the layout undoes it."""
    values = rng.normal(size=shape)
    curves, layout = read_functions(values, grid)
    assert curves.values.shape == (N, *sizes) and len(curves) == N
    assert_array_equal(curves.values.ravel(), values.ravel())
    if grid is None:
        assert_allclose(curves.axes[0], np.linspace(0, 1, sizes[0]))
    assert curves.domain == tuple((axis[0], axis[-1]) for axis in curves.axes)
    assert_array_equal(layout.wrap(curves.values, curves.axes, curves.domain), values)


def test_irregular_curves_are_read_as_they_are():
    curves, layout = read_functions(CURVES, None)
    assert curves is CURVES
    back = layout.wrap_irregular(POINTS, [v[:, None] for v in VALUES], (CURVES.domain,))
    assert_curves(back, range(N))


def test_interpolation_is_numpys():
    """Whatever the order of the points; NaN is left out."""
    axis = np.linspace(1, 6, 31)
    orders = [rng.permutation(len(p)) for p in POINTS]
    mixed = IrregularFunctions([p[o] for p, o in zip(POINTS, orders)], [v[o] for v, o in zip(VALUES, orders)], (1, 6))
    expected = [np.interp(axis, p, v) for p, v in zip(POINTS, VALUES)]
    assert_allclose(interpolate_curves(mixed, axis)[..., 0], expected)
    gaps = IrregularFunctions([[1.0, 2.0, 4.0]], [[0.0, np.nan, 3.0]])
    assert_allclose(interpolate_curves(gaps, np.array([1, 2, 3, 4.0]))[0, :, 0], [0, 1, 2, 3])


def test_sampled_curves():
    on_default = curves_on_grid(CURVES)
    axis = np.linspace(1, 6, 101)
    assert_allclose(on_default.axes[0], axis)
    assert_allclose(on_default.values[..., 0], [np.interp(axis, p, v) for p, v in zip(POINTS, VALUES)])
    coarse = curves_on_grid(CURVES, np.array([2.0, 4.0]))
    assert_allclose(coarse.values[..., 0], [np.interp([2, 4], p, v) for p, v in zip(POINTS, VALUES)])
    assert isinstance(coarse, GridFunctions) and curves_on_grid(Y, T).values.shape == (N, M, 1)


def by_hand(values, points, new, at, alpha=0.01, gamma=1.0):
    """Squared loss, operator of the kernel exp(-10 |s - t|), trapezoid rule: the dense system, at any points."""
    u, v = ((np.asarray(a) - points[0]) / (points[-1] - points[0]) for a in (points, at))
    q = np.gradient(u)  # the trapezoid rule on an even grid
    q[[0, -1]] /= 2
    root, mean = np.sqrt(q), values.mean(axis=0)
    L = np.exp(-10 * np.abs(u[:, None] - u))
    system = np.kron(rbf_kernel(X, gamma=gamma), root[:, None] * L * root) + alpha * len(X) * np.eye(values.size)
    A = np.linalg.solve(system, ((values - mean) * root).ravel()).reshape(values.shape)
    return rbf_kernel(new, X, gamma=gamma) @ A @ (root[:, None] * np.exp(-10 * np.abs(u[:, None] - v))) + np.interp(
        at, points, mean
    )


def test_curves_on_a_grid_by_hand():
    points, at = 3 + 4 * T, np.array([3.0, 3.3, 5.1, 7.0])
    model = regressor(gamma=1.0, grid=points).fit(X, Y)
    assert_allclose(model.predict(NEW), by_hand(Y, points, NEW, points), rtol=1e-8)
    assert_allclose(model.predict(NEW, grid=at), by_hand(Y, points, NEW, at), rtol=1e-8)


@pytest.mark.parametrize(
    ("shape", "grid", "new", "result"),
    [
        ((N,), None, [0.0], (4,)),
        ((N, 1), None, [0.0], (4, 1)),
        ((N, 5), None, [0.1, 0.2], (4, 2)),
        ((N, 5, 3), None, [0.1, 0.2], (4, 2, 3)),
        ((N, 5, 1), None, (0.1, 0.2), (4, 2, 1)),
        ((N, 5, 3), (np.arange(5), np.arange(3)), ([0.5, 1.5, 2], [0, 1]), (4, 3, 2)),
        ((N, 5, 3, 2), (np.arange(5), np.arange(3)), ([0.5, 1.5, 2], [0, 1]), (4, 3, 2, 2)),
    ],
    ids=str,
)
def test_shapes_in_and_out(shape, grid, new, result):
    values = rng.normal(size=shape)
    model = regressor(grid=grid).fit(X, values)
    assert model.predict(NEW).shape == (4, *shape[1:])
    assert model.predict(NEW, grid=new).shape == result
    assert np.isfinite(model.score(X, values))


@pytest.mark.parametrize("space", ["grid", "eigen", "bspline"])
def test_the_training_grid_given_again_changes_nothing(space):
    for values, grid in ((Y, T), (rng.normal(size=(N, 4, 3)), (np.arange(4.0), np.arange(3.0)))):
        model = regressor(space=space, grid=grid).fit(X, values)
        assert_allclose(model.predict(NEW, grid=grid), model.predict(NEW), atol=1e-10)


@pytest.mark.parametrize("space", ["grid", "eigen", "fourier"])
@pytest.mark.parametrize("values", [Y, np.stack([Y, Y**2], axis=-1)], ids=["one curve", "two curves"])
def test_points_for_each_sample(space, values):
    """In any order, repeated or not: the values are those of the whole curve."""
    model = regressor(space=space).fit(X, values)
    at = [np.array([0.9, 0.1]), np.array([0.4]), np.array([0.3, 0.3, 0.8]), T]
    found = model.predict(NEW, grid=at)
    assert isinstance(found, IrregularFunctions) and found.domain == (0.0, 1.0)
    for i, own in enumerate(at):
        assert_array_equal(found.points[i], own)
        unique, back = np.unique(own, return_inverse=True)
        assert_allclose(found.values[i], model.predict(NEW[i : i + 1], grid=unique)[0][back], atol=1e-10)
    as_lists = model.predict(NEW, grid=[list(own) for own in at])
    assert_array_equal(np.concatenate(as_lists.values), np.concatenate(found.values))


def test_irregular_outputs_come_back_irregular():
    model = regressor(space="bspline").fit(X, CURVES)
    found = model.predict(NEW)
    assert isinstance(found, IrregularFunctions) and found.domain == CURVES.domain
    for points in found.points:
        assert_allclose(points, np.linspace(1, 6, 101))
    chosen = regressor(space="bspline", grid=[2.0, 3.0, 5.5]).fit(X, CURVES).predict(NEW)
    assert [p.tolist() for p in chosen.points] == [[2.0, 3.0, 5.5]] * 4
    at = model.predict(NEW, grid=[1.0, 3.5, 6.0])  # all on one grid
    for own, curve in zip(at.values, found.values):
        assert_allclose(own, curve[[0, 50, 100]], atol=1e-10)
    several = IrregularFunctions(POINTS, [np.c_[v, -v, 2 * v] for v in VALUES], (1, 6))
    three = regressor(space="bspline", tol=1e-10).fit(X, several).predict(NEW)
    for one, many in zip(regressor(space="bspline", tol=1e-10).fit(X, CURVES).predict(NEW).values, three.values):
        assert_allclose(many, np.c_[one, -one, 2 * one], atol=1e-4)


def test_lists_and_frames():
    pd = pytest.importorskip("pandas")
    expected = regressor(grid=T).fit(X, Y).predict(NEW)
    frame = pd.DataFrame(Y, columns=T, index=np.arange(N)[::-1])
    for outputs, grid in (
        (Y.tolist(), T.tolist()),
        (frame, frame.columns),
        (frame, pd.Series(T)),
        (Y.astype(object), T),
    ):
        assert_allclose(regressor(grid=grid).fit(X.tolist(), outputs).predict(NEW.tolist()), expected)
    named = regressor().fit(pd.DataFrame(X, columns=["a", "b"]), frame)
    assert list(named.feature_names_in_) == ["a", "b"]
    assert_allclose(regressor().fit(X, pd.Series(Y[:, 0])).predict(NEW), regressor().fit(X, Y[:, 0]).predict(NEW))


AXIS = np.linspace(1, 6, 101)
SAMPLED = np.array([np.interp(AXIS, p, v) for p, v in zip(POINTS, VALUES)])
CURVE_KERNELS = [kernels.L2, kernels.IntegratedKernel, kernels.ChannelSum, kernels.AdditiveKernel]


def test_irregular_inputs_of_a_named_kernel():
    """They are interpolated on 101 points, whose values are the features."""
    found = regressor(kernel="rbf").fit(CURVES, Y).predict(CURVES[:4])
    assert_allclose(found, regressor(kernel="rbf").fit(SAMPLED, Y).predict(SAMPLED[:4]))
    both = IrregularFunctions(POINTS, [np.c_[v, v**2] for v in VALUES], (1, 6))
    squares = np.array([np.interp(AXIS, p, v**2) for p, v in zip(POINTS, VALUES)])
    channels = np.stack([SAMPLED, squares], axis=-1)
    assert_allclose(
        regressor(kernel="rbf").fit(both, Y).predict(both), regressor(kernel="rbf").fit(channels, Y).predict(channels)
    )
    flat = channels.reshape(N, -1)
    assert_allclose(
        regressor(kernel="rbf").fit(channels, Y).predict(channels), regressor(kernel="rbf").fit(flat, Y).predict(flat)
    )


@pytest.mark.parametrize("kernel", CURVE_KERNELS)
def test_irregular_inputs_of_a_kernel_of_curves(kernel):
    found = regressor(kernel=kernel()).fit(CURVES, Y).predict(CURVES[[2, 0]])
    assert_allclose(found, regressor(kernel=kernel(grid=AXIS)).fit(SAMPLED, Y).predict(SAMPLED[[2, 0]]))


def test_l2_kernel_by_hand():
    """On an uneven grid, the squared distance weighs each point by the trapezoid rule."""
    points = np.cumsum(rng.uniform(0.1, 1, M))
    q = quadrature(points)
    curves = rng.normal(size=(N, M))
    weighted = curves * np.sqrt(q)
    found = regressor(kernel=kernels.L2(gamma=2.0, grid=points)).fit(curves, Y).predict(curves[:3])
    assert_allclose(found, regressor(gamma=2.0).fit(weighted, Y).predict(weighted[:3]))
