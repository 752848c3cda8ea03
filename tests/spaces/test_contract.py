"""The contract of ``Space``: every space gets these tests by being listed in ``CASES``.

A case holds outputs in the subspace that the space represents, and their squared distances by definition, computed
here without the space. Coordinates are orthonormal when distances of coordinates are distances of outputs.
"""

import copy
import pickle
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from helpers.curves_by_hand import UNEVEN, laplace, trapezoid
from numpy.testing import assert_allclose, assert_array_equal

import hilbertlearn
from hilbertlearn import kernels, output_losses, spaces
from hilbertlearn.spaces import (
    MetricVectorSpace,
    QuantileSpace,
    Space,
    VectorSpace,
    WeightSpace,
    function_space,
)

N = 9  # outputs of a case
Q = trapezoid(UNEVEN)


@dataclass
class Case:
    """A space, outputs that it represents exactly, and the definitions that it is compared with."""

    space: Space
    y: Any
    squared_distances: np.ndarray  # (n, n) between outputs
    outside: Any = None  # outputs beyond the subspace, where the space reports their distance from it
    squared_norms: Any = None  # (m,) of these, by definition
    missing: Any = None  # one output of which nothing is observed


def euclidean(rows):
    return np.sum((rows[:, None] - rows[None]) ** 2, axis=2)


def vectors(seed=0, d=3):
    return np.random.default_rng(seed).normal(size=(N, d))


def plain_vectors():
    Y = vectors()
    return Case(VectorSpace(), Y, euclidean(Y), missing=np.full((1, 3), np.nan))


def one_output():
    y = vectors()[:, 0]
    return Case(VectorSpace(one_output=True), y, np.subtract.outer(y, y) ** 2, missing=np.array([np.nan]))


def scaled_vectors():
    Y, scale = vectors(), np.array([0.5, 2.0, 30.0])
    return Case(VectorSpace(scale=scale), Y, euclidean(Y / scale), missing=np.full((1, 3), np.nan))


def metric_vectors():
    Y, root = vectors(), np.random.default_rng(1).normal(size=(3, 3))
    A = root @ root.T
    difference = Y[:, None] - Y[None]
    distances = np.einsum("ijk,kl,ijl->ij", difference, A, difference)
    space = MetricVectorSpace.from_outputs(Y, A, np.ones(N))
    return Case(space, Y, distances, missing=np.full((1, 3), np.nan))


def combinations(phi, t=UNEVEN, seed=2):
    """Random combinations (n, m) of functions ``phi(t)`` (k, m)."""
    values = phi(t)
    return np.random.default_rng(seed).normal(size=(N, len(values))) @ values


def curves(setting, phi=None, q=Q):
    """Curves on an uneven grid: any curve where phi is None, else combinations of phi; q : quadrature weights."""

    def make():
        beyond = np.random.default_rng(3).normal(size=(N, len(UNEVEN)))
        Y = beyond if phi is None else combinations(phi)
        space = function_space(setting, Y, grid=UNEVEN)
        distances = np.einsum("ijk,k->ij", (Y[:, None] - Y[None]) ** 2, q)
        missing = np.full((1, len(UNEVEN)), np.nan)
        norms = beyond**2 @ q
        return Case(space, Y, distances, None if phi is None else beyond, norms, missing)

    return make


def fourier(t):
    waves = [f(2 * np.pi * k * t) for k in (1, 2) for f in (np.cos, np.sin)]
    return np.array([np.ones_like(t), *waves])


def powers(t):
    return np.array([t**k for k in range(4)] + [1 + t])  # the last depends on others


def eigenfunctions(t):
    """Leading eigenfunctions of the integral operator of ``exp(-10 |s - t|)``, discretised by the trapezoid rule."""
    root = np.sqrt(trapezoid(t))
    _, vectors = np.linalg.eigh(root[:, None] * laplace(10)(t, t) * root)
    return vectors.T[:-6:-1] / root


def principal_components():
    Y = combinations(powers)  # of rank 4, so that 4 components have everything; without a centre there is no origin
    Y -= Y.mean(axis=0)
    space = function_space(spaces.PrincipalComponents(4), Y, grid=UNEVEN)
    distances = np.einsum("ijk,k->ij", (Y[:, None] - Y[None]) ** 2, Q)
    return Case(space, Y, distances, missing=np.full((1, len(UNEVEN)), np.nan))


def origin_curves():
    """Deviations from a mean that is outside the basis: coordinates are affine."""
    Y = 3 * np.cos(9 * UNEVEN) + combinations(powers)
    space = function_space(
        spaces.PrincipalComponents(4), Y, grid=UNEVEN, centre=lambda rows, weights, measure: rows.mean(axis=0)
    )
    assert space.origin is not None
    distances = np.einsum("ijk,k->ij", (Y[:, None] - Y[None]) ** 2, Q)
    return Case(space, Y, distances, missing=np.full((1, len(UNEVEN)), np.nan))


def surfaces():
    """Two functions of two variables: (n, m_1, m_2, 2)."""
    other = np.array([0.0, 0.2, 0.5, 1.0])
    Y = np.random.default_rng(4).normal(size=(N, len(UNEVEN), 4, 2))
    space = function_space("grid", Y, grid=(UNEVEN, other))
    weights = np.multiply.outer(Q, trapezoid(other))
    distances = np.einsum("ijklm,kl->ij", (Y[:, None] - Y[None]) ** 2, weights)
    return Case(space, Y, distances, missing=np.full((1, *Y.shape[1:]), np.nan))


def quantiles_of(case):
    def make():
        base = case()
        return Case(QuantileSpace(base.space, 3), base.y, 3 * base.squared_distances, missing=base.missing)

    return make


WORDS = ["banana", "anna", "ban", "band", "x", "banana", "anna", "bandana", "xx"]


def rooted(K):
    """Squared distances from a Gram matrix."""
    return np.diag(K)[:, None] + np.diag(K)[None] - 2 * K


def output_kernel():
    kernel = kernels.NGrams(2)
    space = spaces.OutputKernel(kernel).space(WORDS, np.ones(len(WORDS)))
    return Case(space, WORDS, rooted(kernel(WORDS, WORDS)), missing=[None])


def landmark_outputs():
    """Rows whose kernel has rank 3 are represented by 3 landmarks; outputs of full rank are not."""
    Y = np.random.default_rng(5).normal(size=(N, 3)) @ np.eye(3, 6)
    space = spaces.OutputKernel("linear", landmarks=Y[:4]).space(Y, np.ones(N))
    beyond = np.random.default_rng(6).normal(size=(N, 6))
    missing = np.full((1, 6), np.nan)
    return Case(space, Y, euclidean(Y), beyond, np.sum(beyond**2, axis=1), missing)


def output_weights():
    loss, labels = output_losses.ZeroOne(), np.array([0.0, 2.0, 1.0, 1.0, 0.0, 2.0, 2.0, 1.0, 0.0])
    space = WeightSpace(np.array([0.0, 1.0, 2.0]), loss)
    distances = 2.0 * np.not_equal.outer(labels, labels)
    return Case(space, labels, distances, missing=np.array([np.nan]))


CASES = {
    "vectors": plain_vectors,
    "one output": one_output,
    "scaled vectors": scaled_vectors,
    "vectors under a metric": metric_vectors,
    "grid": curves("grid"),
    "grid with equal weights": curves(spaces.Grid("equal"), q=np.full(len(UNEVEN), 1 / len(UNEVEN))),
    "fourier": curves(spaces.Dictionary(spaces.Fourier(5)), fourier),
    "b-splines": curves(spaces.BSpline(4), lambda t: np.array([t**k for k in range(4)])),
    "redundant dictionary": curves(spaces.Dictionary(powers), powers),
    "eigenfunctions": curves(spaces.Eigen(n_components=5), eigenfunctions),
    "principal components": principal_components,
    "principal components around a mean": origin_curves,
    "two functions of two variables": surfaces,
    "quantiles of vectors": quantiles_of(plain_vectors),
    "quantiles of curves": quantiles_of(curves(spaces.Fourier(5), fourier)),
    "output kernel": output_kernel,
    "output kernel with landmarks": landmark_outputs,
    "weights over outputs": output_weights,
}


@cache
def case_of(name):
    return CASES[name]()


@pytest.fixture(params=CASES)
def case(request):
    return case_of(request.param)


@pytest.fixture(params=[name for name in CASES if case_of(name).space.decodes])
def decoding(request):
    """Cases whose space decodes; outputs of the others are found by a decoder."""
    return case_of(request.param)


def numbers(outputs):
    """Decoded outputs as an array."""
    return np.asarray(outputs, dtype=float)


def random_coordinates(case, seed=0):
    d = case.space.encode(case.y).shape[1]
    return np.random.default_rng(seed).normal(size=(4, d))


def test_distances_of_coordinates_are_distances_of_outputs(case):
    Y = case.space.encode(case.y)
    assert Y.ndim == 2 and len(Y) == len(case.y)
    assert_allclose(euclidean(Y), case.squared_distances, atol=1e-9 * max(1.0, case.squared_distances.max()))


def test_decode_after_encode_is_the_identity_on_the_subspace(decoding):
    space, y = decoding.space, numbers(decoding.y)
    decoded = numbers(space.decode(space.encode(decoding.y)))
    if isinstance(space, QuantileSpace):  # an output is encoded as one copy for each level
        y = np.repeat(y[..., None], space.n_levels, axis=-1)
    assert_allclose(decoded, y, atol=1e-9)


def test_encode_after_decode_is_the_identity(decoding):
    space, Y = decoding.space, random_coordinates(decoding)
    if isinstance(space, QuantileSpace):
        Y = np.repeat(Y[:, :: space.n_levels], space.n_levels, axis=1)
        outputs = space.base.decode(Y[:, :: space.n_levels])
    else:
        outputs = space.decode(Y)
    assert_allclose(space.encode(outputs), Y, atol=1e-9)


def test_coordinates_are_linear(decoding):
    """Weights that sum to one: a space may have an origin. Differences have none."""
    space, A, B = decoding.space, random_coordinates(decoding, 1), random_coordinates(decoding, 2)
    mixed = numbers(space.decode(0.3 * A + 0.7 * B))
    assert_allclose(mixed, 0.3 * numbers(space.decode(A)) + 0.7 * numbers(space.decode(B)), atol=1e-9)
    difference = numbers(space.decode(A)) - numbers(space.decode(B))
    assert_allclose(numbers(space.decode_differences(A - B)), difference, atol=1e-9)
    y = numbers(decoding.y)
    assert_allclose(
        space.encode(0.3 * y + 0.7 * y[::-1]), 0.3 * space.encode(y) + 0.7 * space.encode(y[::-1]), atol=1e-9
    )


def test_rows_are_encoded_one_by_one(case):
    Y, rows = case.space.encode(case.y), [4, 0, 7]
    part = case.y[rows] if isinstance(case.y, np.ndarray) else [case.y[i] for i in rows]
    assert_allclose(case.space.encode(part), Y[rows], atol=1e-12)


def test_outputs_that_are_not_observed_are_nan(case):
    together = [*case.y, *case.missing]
    together = np.array(together) if isinstance(case.y, np.ndarray) else together
    Y = case.space.encode(together)
    assert np.isnan(Y[-1]).all()
    assert_allclose(Y[:-1], case.space.encode(case.y), atol=1e-12)


def test_residuals_are_differences_of_coordinates(case):
    Y = case.space.encode(case.y)
    assert_allclose(case.space.residuals(case.y, Y), np.zeros_like(Y), atol=1e-12)
    shift = np.random.default_rng(3).normal(size=Y.shape)
    assert_allclose(case.space.residuals(case.y, Y - shift), shift, atol=1e-9)


def test_complete_outputs_need_no_filling(case):
    assert_allclose(case.space.encode_filled(case.y), case.space.encode(case.y), atol=1e-12)


def test_what_is_outside_completes_the_norm(case):
    """``||y||^2`` is the squared norm of the coordinates plus that of the part outside the subspace."""
    Y, outside = case.space.encode_with_outside(case.y)
    assert_allclose(Y, case.space.encode(case.y), atol=1e-12)
    assert outside is None or np.abs(outside).max() <= 1e-4 * max(1.0, np.abs(Y).max())
    if case.outside is not None:
        Y, outside = case.space.encode_with_outside(case.outside)
        assert_allclose(np.sum(Y**2, axis=1) + outside**2, case.squared_norms, rtol=1e-9)
        assert (outside > 1e-3).any()


def test_measure_has_a_weight_for_each_point_value(case):
    space, d = case.space, case.space.encode(case.y).shape[1]
    assert isinstance(space.pointwise, bool)
    if space.measure is not None:
        assert space.pointwise and space.measure.shape == (d,) and (space.measure > 0).all()


def test_errors_of_samples(case):
    """Next to no error without residuals; the squared norm of residuals unless the space has a loss of its own."""
    Y = case.space.encode(case.y)
    assert case.space.sample_errors(Y, np.zeros_like(Y)).max() <= 1e-4
    residuals = np.random.default_rng(4).normal(size=Y.shape)
    errors = case.space.sample_errors(Y, residuals)
    assert errors.shape == (len(Y),) and (errors >= 0).all()
    if not hasattr(case.space, "loss"):
        assert_allclose(errors, np.sum(residuals**2, axis=1), rtol=1e-12)


def test_means_that_need_no_smoothing_stay(case):
    means = random_coordinates(case, 5)
    if isinstance(case.space, QuantileSpace):  # quantiles in order
        means = np.sort(means.reshape(len(means), -1, case.space.n_levels), axis=2).reshape(means.shape)
    assert_allclose(case.space.smooth_means(means), means, atol=1e-12)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda space: pickle.loads(pickle.dumps(space))], ids=["copy", "pickle"]
)
def test_copies_encode_the_same(case, copied):
    if case is case_of("redundant dictionary") or not isinstance(case.space, Space):
        return
    assert_array_equal(copied(case.space).encode(case.y), case.space.encode(case.y))


def test_saved_spaces_encode_the_same(case, tmp_path):
    hilbertlearn.save(case.space, tmp_path / "space.hl", functions=True)
    loaded = hilbertlearn.load(tmp_path / "space.hl", functions=True)
    assert type(loaded) is type(case.space)
    assert_array_equal(loaded.encode(case.y), case.space.encode(case.y))


def subclasses(kind):
    return {kind, *(below for one in kind.__subclasses__() for below in subclasses(one))}


def test_every_space_is_listed():
    """Spaces of losses and of probes have no distances of their own: ``test_structured`` compares them directly."""
    own = {kind for kind in subclasses(Space) if kind.__module__.startswith("hilbertlearn.")} - {Space}
    listed = {type(case_of(name).space) for name in CASES}
    assert {kind.__name__ for kind in own - listed} == {"LossSpace", "ProbeSpace"}
