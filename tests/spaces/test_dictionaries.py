"""Dictionaries of functions on [0, 1] against their definitions, quadrature, scipy and PyWavelets."""

import pickle
import sys

import numpy as np
import pytest
import scipy.interpolate
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from hilbertlearn.data.functions import quadrature
from hilbertlearn.spaces.dictionaries import BSpline, Fourier, PrincipalComponents, Wavelet, as_basis

FINE = (np.arange(2**13) + 0.5) / 2**13  # midpoint rule
GRID = np.sort(np.random.default_rng(0).random(30))
WEIGHTS = quadrature(GRID)


def curves_on(grid, n=12, seed=1):
    """Random smooth curves (n, m) of full rank."""
    rng = np.random.default_rng(seed)
    waves = np.cos(np.arange(9)[:, None] * np.pi * grid)
    return 2 + rng.normal(size=(n, 9)) / (1 + np.arange(9)) @ waves + 0.1 * rng.normal(size=(n, len(grid)))


CURVES = curves_on(GRID)
GAPS = np.where(np.random.default_rng(2).random(CURVES.shape) < 0.3, np.nan, CURVES)


def atoms_of(basis, curves=CURVES, sample_weight=None, grid=GRID, weights=WEIGHTS):
    return as_basis(basis).atoms(grid, weights, curves, sample_weight)


def gram(values):
    """Inner products on [0, 1] of values (n, p) at the points FINE."""
    return values @ values.T / len(FINE)


def best_error(values, target):
    """Root mean square of target minus its projection on the rows of values."""
    coefficients = np.linalg.lstsq(values.T, target, rcond=1e-12)[0]
    return np.sqrt(np.mean((target - coefficients @ values) ** 2))


# Fourier


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("n", [1, 4, 9])
def test_fourier_is_orthonormal(n, constant):
    atoms = atoms_of(Fourier(n, constant=constant))
    assert_allclose(gram(atoms(FINE)), np.eye(n), atol=1e-12)
    assert_array_equal(atoms.scale_weights, np.ones(n))


def test_fourier_order():
    t = np.array([0.0, 0.13, 0.7, 1.0])
    pairs = [f(2 * np.pi * l * t) for l in (1, 2) for f in (np.cos, np.sin)]
    assert_allclose(atoms_of(Fourier(5))(t), [np.ones(4), *np.sqrt(2) * np.array(pairs)], atol=1e-14)
    assert_allclose(atoms_of(Fourier(4, constant=False))(t), np.sqrt(2) * np.array(pairs), atol=1e-14)


def test_fourier_weights_are_the_same_within_a_frequency():
    assert_allclose(atoms_of(Fourier(4, constant=False, rate=2)).scale_weights, [1 / 4, 1 / 4, 1 / 9, 1 / 9])
    assert_allclose(atoms_of(Fourier(4, rate=1)).scale_weights, [1, 1 / 2, 1 / 2, 1 / 3])


# B-splines


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("n", [4, 15])
def test_splines_against_scipy(n, degree):
    points = np.r_[0.0, FINE[::50], 1.0]
    values = atoms_of(BSpline(n, degree=degree))(points)
    knots = np.r_[[0.0] * degree, np.linspace(0, 1, n - degree + 1), [1.0] * degree]
    reference = scipy.interpolate.BSpline.design_matrix(points, knots, degree).toarray()
    assert_allclose(values, reference.T, atol=1e-14)
    assert_allclose(values.sum(axis=0), 1, rtol=1e-13)


def test_as_few_splines_as_possible_are_bernstein_polynomials():
    t = FINE[::100]
    assert_allclose(atoms_of(BSpline(4))(t), [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3], atol=1e-14)


def test_bumps_are_the_splines_of_the_toy_data():
    """Cubic B-splines with knots (-w/2, -w/4, 0, w/4, w/2) around frequencies 1 ... 10, w = 2, on [0, 11]."""
    t = np.linspace(0, 11, 200)
    u = 2 * np.abs(t - np.arange(1, 11)[:, None])  # in steps of the knots
    by_hand = np.where(u < 1, 2 / 3 - u**2 + u**3 / 2, np.maximum(2 - u, 0) ** 3 / 6)
    assert_allclose(atoms_of(BSpline(10, width=2 / 11))(t / 11), by_hand, atol=1e-12)


def test_one_bump_is_in_the_middle():
    values = atoms_of(BSpline(1, degree=1, width=0.5))(np.array([0.0, 0.25, 0.4, 0.5, 0.75, 1.0]))
    assert_allclose(values, [[0, 0, 0.6, 1, 0, 0]], atol=1e-14)


# Wavelets


def family(name, level):
    """Pairs (j, k) of the wavelets in their order, after the scaling functions of scale 0, and the filter's length."""
    length = {"db1": 2, "db2": 4, "db3": 6, "db4": 8, "coif1": 6, "coif2": 12}[name]
    return [(j, k) for j in range(level) for k in range(2 - length, 2**j)], length


def test_scaling_function_of_daubechies_at_integers():
    """Known values φ(1) = (1 + √3) / 2, φ(2) = (1 - √3) / 2, and 0 at 0 and 3, for four coefficients."""
    at_0, at_1 = atoms_of(Wavelet("db2", level=1))(np.array([0.0, 1.0])).T[:, :3]
    phi = np.array([0, (1 + np.sqrt(3)) / 2, (1 - np.sqrt(3)) / 2, 0])
    assert_allclose(at_0, phi[[2, 1, 0]], atol=1e-12)
    assert_allclose(at_1, phi[[3, 2, 1]], atol=1e-6)  # the limit from the left


def test_haar_by_hand():
    t = np.array([0.0, 0.1, 0.25, 0.4, 0.5, 0.7, 0.75, 1.0])
    half, root = np.where(t < 0.5, 1, -1), np.sqrt(2)
    left = np.where(t < 0.25, root, np.where(t < 0.5, -root, 0))
    right = np.where(t < 0.5, 0, np.where(t < 0.75, root, -root))
    assert_allclose(atoms_of(Wavelet("db1", level=2))(t), [np.ones(8), half, left, right], atol=1e-12)


@pytest.mark.parametrize("name", ["db3", "db4", "coif1", "coif2"])
def test_wavelets_against_the_functions_of_pywavelets(name):
    import pywt

    phi, psi, x = pywt.Wavelet(name).wavefun(level=12)
    scales, length = family(name, 3)
    by_hand = [np.interp(FINE - k, x, phi, 0, 0) for k in range(2 - length, 1)]
    by_hand += [2 ** (j / 2) * np.interp(2**j * FINE - k, x, psi, 0, 0) for j, k in scales]
    values = atoms_of(Wavelet(name, level=3))(FINE)
    assert values.shape == (len(by_hand), len(FINE))
    # the cascade of PyWavelets is accurate to its step of 2^-12 times the slope
    assert np.sqrt(np.mean((values - by_hand) ** 2, axis=1)).max() < 5e-3


@pytest.mark.parametrize("name", ["db1", "db2", "db3", "coif1"])
def test_wavelets_inside_are_orthonormal(name):
    level = 5
    scales, length = family(name, level)
    values = atoms_of(Wavelet(name, level=level))(FINE)[length - 1 :]
    inside = [k >= 0 and k + length - 1 <= 2**j for j, k in scales]
    assert len({j for (j, k), whole in zip(scales, inside) if whole}) >= 2
    assert_allclose(gram(values[inside]), np.eye(sum(inside)), atol=2e-4)  # of the quadrature


@pytest.mark.parametrize("name", ["db2", "coif2"])
def test_restricted_wavelets_are_part_of_an_orthonormal_family(name):
    """On the line they are orthonormal, hence on [0, 1] no combination is longer than its coefficients; and they
    span what the translates of the finest scaling function span."""
    level, length = 4, family(name, 4)[1]
    eigenvalues = np.linalg.eigvalsh(gram(atoms_of(Wavelet(name, level=level))(FINE)))
    assert eigenvalues.max() < 1 + 1e-5
    assert (eigenvalues > 1e-13).sum() <= 2**level + length - 2
    assert (eigenvalues > 1e-6).sum() >= 2**level


@pytest.mark.parametrize(("name", "order"), [("db1", 1), ("db2", 2), ("coif1", 2), ("db3", 3)])
def test_wavelets_approximate_to_their_order(name, order):
    """Each level halves the step, so the error falls by 2^order, also where the function has a slope at the ends."""
    target = np.exp(FINE) * np.sin(5 * FINE + 1)
    errors = [best_error(atoms_of(Wavelet(name, level=level))(FINE), target) for level in (3, 4, 5, 6)]
    ratios = np.array(errors[:-1]) / errors[1:]
    assert (ratios > 0.85 * 2**order).all(), ratios
    assert errors[-1] < 0.03


@pytest.mark.parametrize(("name", "moments"), [("db2", 2), ("db3", 3), ("coif2", 4)])
def test_wavelets_contain_polynomials_up_to_the_ends(name, moments):
    values = atoms_of(Wavelet(name, level=3))(FINE)
    for power in range(moments):
        assert best_error(values, FINE**power) < 1e-6
    assert best_error(values, FINE**moments) > 1e-6


def test_weights_fall_with_the_scale():
    weights = atoms_of(Wavelet("db2", level=3, decay=1.4)).scale_weights
    assert_allclose(weights, 1.4 ** -np.repeat([0, 0, 1, 2], [3, 3, 4, 6]))
    assert_array_equal(atoms_of(Wavelet("db2", level=3)).scale_weights, np.ones(16))


@pytest.mark.parametrize(("m", "level"), [(1, 1), (4, 1), (8, 2), (54, 4), (64, 5), (101, 5), (5000, 6)])
def test_level_from_the_grid(m, level):
    grid = np.linspace(0, 1, m)
    assert len(atoms_of(Wavelet("db1"), None, grid=grid).scale_weights) == 2**level


# Principal components


def test_components_against_svd():
    root = np.sqrt(WEIGHTS)
    _, sizes, V = np.linalg.svd((CURVES - CURVES.mean(axis=0)) * root, full_matrices=False)
    assert (sizes[:5] / sizes[1:6] > 1.01).all()  # no ties: directions are unique up to sign
    values = atoms_of(PrincipalComponents(5))(GRID)
    overlap = (values * WEIGHTS) @ (V[:5] / root).T
    assert_allclose(np.abs(overlap), np.eye(5), atol=1e-9)
    assert_allclose((values * WEIGHTS) @ values.T, np.eye(5), atol=1e-10)


def covariance_by_hand(curves, w):
    """Over the curves observed at both points, each centred by the mean over the curves observed there."""
    n, m = curves.shape
    C = np.zeros((m, m))
    mean = [np.average(c[np.isfinite(c)], weights=w[np.isfinite(c)]) for c in curves.T]
    for s in range(m):
        for t in range(m):
            both = [i for i in range(n) if np.isfinite(curves[i, s] + curves[i, t])]
            total = sum(w[i] * (curves[i, s] - mean[s]) * (curves[i, t] - mean[t]) for i in both)
            C[s, t] = total / sum(w[i] for i in both) if both else 0.0
    return C


@pytest.mark.parametrize("weighted", [False, True])
def test_components_with_gaps_by_hand(weighted):
    w = np.random.default_rng(3).random(len(GAPS)) + 0.5 if weighted else np.ones(len(GAPS))
    C = covariance_by_hand(GAPS, w)
    eigenvalues = np.sort(np.linalg.eigvals(C * WEIGHTS).real)[::-1]
    assert eigenvalues[-1] < -1e-4  # gaps make the covariance indefinite
    positive = eigenvalues[eigenvalues > 1e-10]
    values = atoms_of(PrincipalComponents(100), GAPS, w if weighted else None)(GRID)
    assert len(values) == len(positive)
    assert_allclose(values * WEIGHTS @ C, positive[:, None] * values, atol=1e-9)
    assert_allclose((values * WEIGHTS) @ values.T, np.eye(len(positive)), atol=1e-9)


def test_sample_weights_are_repetitions():
    times = np.arange(len(GAPS)) % 3
    weighted = atoms_of(PrincipalComponents(4), GAPS, times.astype(float))(GRID)
    repeated = atoms_of(PrincipalComponents(4), np.repeat(GAPS, times, axis=0))(GRID)
    assert_allclose(np.abs((weighted * WEIGHTS) @ repeated.T), np.eye(4), atol=1e-8)


def test_components_between_and_beyond_the_grid():
    grid = np.array([0.2, 0.4, 0.8])
    atoms = atoms_of(PrincipalComponents(2), curves_on(grid, 8), grid=grid, weights=quadrature(grid))
    a, b, c = atoms(grid).T
    assert_allclose(atoms(np.array([0.0, 0.3, 0.5, 1.0])).T, [a, (a + b) / 2, 0.75 * b + 0.25 * c, c])


def test_components_at_points_never_observed_are_interpolated():
    curves = curves_on(GRID[[0, 2, 3]], 8)
    padded = np.insert(curves, 1, np.nan, axis=1)
    q = np.array([0.2, 0.3, 0.4, 0.3])
    found = atoms_of(PrincipalComponents(2), padded, grid=GRID[:4], weights=q)
    kept = q[[0, 2, 3]] / 0.9
    values = found(GRID[[0, 2, 3]])
    assert_allclose((values * kept) @ values.T, np.eye(2), atol=1e-10)
    assert_allclose(found(GRID[1:2])[:, 0], [np.interp(GRID[1], GRID[[0, 2, 3]], v) for v in values])


def test_no_more_components_than_rank():
    assert atoms_of(PrincipalComponents(100))(GRID).shape == (len(CURVES) - 1, len(GRID))
    assert atoms_of(PrincipalComponents(100), CURVES[[0, 1, 1]])(GRID).shape == (1, len(GRID))
    line = 0.1 + 0.2 * np.arange(4.0)[:, None] * np.ones(len(GRID))
    values = atoms_of(PrincipalComponents(3), line)(GRID)
    assert_allclose(np.abs(values), np.ones((1, len(GRID))), rtol=1e-10)


@pytest.mark.parametrize("curves", [CURVES[:1], np.full_like(CURVES, 3.0), np.zeros_like(CURVES)])
def test_curves_that_do_not_vary_give_one_atom(curves):
    assert_array_equal(atoms_of(PrincipalComponents(), curves)(GRID), np.ones((1, len(GRID))))


# All of them


def monomials(points):
    return np.vstack([points**k for k in range(3)])


ALL = {
    "fourier": Fourier(5),
    "splines": BSpline(6),
    "bumps": BSpline(6, width=0.4),
    "wavelet": Wavelet("db3", level=3),
    "components": PrincipalComponents(3),
    "callable": monomials,
    "union": [Fourier(3, rate=1), monomials, ("bspline", Wavelet(level=2, decay=2))],
}


@pytest.mark.parametrize("basis", ALL.values(), ids=ALL)
def test_atoms_are_picklable_values_at_any_points(basis):
    atoms = atoms_of(basis)
    points = np.random.default_rng(4).random(7)
    values = atoms(points)
    assert values.dtype == float and values.shape == (len(atoms.scale_weights), 7)
    assert (atoms.scale_weights > 0).all()
    again = pickle.loads(pickle.dumps(atoms))
    assert_array_equal(again(points), values)
    assert_array_equal(again.scale_weights, atoms.scale_weights)
    assert_allclose(np.hstack([atoms(points[i : i + 1]) for i in range(7)]), values, atol=1e-12)
    assert atoms(points[:0]).shape == (len(values), 0)
    assert np.isfinite(atoms([0.0, 1.0, 1 + 1e-12])).all()


def test_callable():
    assert_array_equal(atoms_of(monomials)(GRID), [np.ones_like(GRID), GRID, GRID**2])


def test_union():
    atoms = atoms_of([Fourier(3, rate=1), monomials, ("bspline", PrincipalComponents(2))])
    parts = [atoms_of(part)(FINE) for part in (Fourier(3), monomials, BSpline(), PrincipalComponents(2))]
    assert_array_equal(atoms(FINE), np.vstack(parts))
    assert_allclose(atoms.scale_weights, [1, 0.5, 0.5, *np.ones(3 + 15 + 2)])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("fourier", Fourier),
        ("bspline", BSpline),
        ("wavelet", Wavelet),
        ("principal_components", PrincipalComponents),
    ],
)
def test_names_are_the_defaults(name, kind):
    assert repr(as_basis(name)) == repr(kind())


@pytest.mark.parametrize("basis", [Fourier(3), BSpline(5, width=0.3), Wavelet("coif1"), PrincipalComponents(2)])
def test_settings(basis):
    copy = clone(basis)
    assert copy.get_params() == basis.get_params()
    as_basis(copy).atoms(GRID, WEIGHTS, CURVES, np.ones(len(CURVES)))
    assert vars(copy) == vars(basis)  # no data kept
    assert as_basis(copy) is copy


@pytest.mark.parametrize(
    ("basis", "words"),
    [
        ("spline", ["basis", "'spline'", "'fourier'", "'bspline'", "'wavelet'", "'principal_components'"]),
        ([], ["basis", "empty", "at least one"]),
        (["fourier", []], ["basis", "empty", "at least one"]),
        (Fourier(0), ["Fourier: n_components", "> 0", "got 0"]),
        (Fourier(2.5), ["Fourier: n_components", "integer", "2.5"]),
        (Fourier(rate=-1), ["Fourier: rate", ">= 0", "-1"]),
        (BSpline(0), ["BSpline: n_components", "got 0"]),
        (BSpline(3), ["BSpline: n_components", "at least degree + 1 = 4", "got 3", "width"]),
        (BSpline(degree=-1), ["BSpline: degree", "-1"]),
        (BSpline(width=0), ["BSpline: width", "got 0"]),
        (BSpline(width=1.5), ["BSpline: width", "at most 1", "1.5"]),
        (Wavelet("db99"), ["Wavelet: name", "'db1'", "'coif1'", "'db99'"]),
        (Wavelet("bior2.2"), ["Wavelet: name", "orthogonal", "'bior2.2'"]),
        (Wavelet(level=0), ["Wavelet: level", "got 0"]),
        (Wavelet(decay=0.5), ["Wavelet: decay", ">= 1", "0.5"]),
        (PrincipalComponents(0), ["PrincipalComponents: n_components", "got 0"]),
        (lambda t: t, ["basis", "callable", "(n_atoms, 30)", "got shape (30,)"]),
        (lambda t: np.vander(t, 3), ["basis", "callable", "(n_atoms, 30)", "got shape (30, 3)"]),
        (lambda t: np.empty((0, len(t))), ["basis", "no atoms", "at least one"]),
        (lambda t: np.full((1, len(t)), np.inf), ["basis", "infinity", "finite"]),
    ],
)
def test_refusals(basis, words):
    assert_refused(lambda: atoms_of(basis), words)


@pytest.mark.parametrize(
    ("basis", "words"),
    [(Fourier, ["basis", "class", "Fourier()"]), (None, ["basis", "'fourier'", "NoneType"]), (3, ["basis", "int"])],
)
def test_refused_types(basis, words):
    assert_refused(lambda: as_basis(basis), words, TypeError)


def test_callable_that_is_not_finite_later():
    atoms = atoms_of(lambda t: np.where(t == 0.5, np.nan, t)[None])
    assert_refused(lambda: atoms(np.array([0.1, 0.5])), ["basis", "NaN"])


def test_components_need_curves():
    assert_refused(lambda: atoms_of("principal_components", None), ["PrincipalComponents", "common grid", "'bspline'"])
    empty = np.full_like(CURVES, np.nan)
    assert_refused(lambda: atoms_of("principal_components", empty), ["PrincipalComponents", "no training curve"])


def test_wavelets_name_the_extra_they_need(monkeypatch):
    monkeypatch.setitem(sys.modules, "pywt", None)
    assert_refused(lambda: atoms_of("wavelet"), ["PyWavelets", "pip install 'hilbertlearn[wavelets]'"], ImportError)
