"""What every term promises: its map is a positive semi-definite operator, and its factors invert it.

A term is tested by its line in ``CASES``: the term, its operator as a dense matrix between all entries, and the kernel
values that predictions at the samples themselves are made from (None where predictions need something else).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn._utils.linalg import Kronecker
from hilbertlearn.core.terms import (
    ITERATIONS,
    ONCE,
    PATH,
    BlockTerm,
    ConstantTerm,
    DeformedFeatureKernel,
    DeformedGram,
    DeformedKernel,
    DenseGram,
    FeatureBlockGram,
    FeatureGram,
    PaddedTerm,
    RankOneTerm,
    SampledTerm,
    SeparableTerm,
    SumTerm,
    Term,
)
from hilbertlearn.core.terms import sampled as sampled_module
from hilbertlearn.core.terms.rank_one import FamilyTerm
from hilbertlearn.spaces.sampling import block_sampling

N, D = 9, 3
RNG = np.random.default_rng(0)


def gram(n=N, rank=None):
    Z = RNG.normal(size=(n, rank or n))
    return Z @ Z.T / n


def projection(mask):
    """The matrix that keeps the entries of a mask (n, d)."""
    return np.diag(mask.ravel().astype(float))


K, OTHER, G = gram(), gram(), np.exp(-gram())  # G: any symmetric values
K_NEW = RNG.normal(size=(4, N)) @ K  # kernel values of four new points
M = gram(D)
SINGULAR = gram(D, 2)
PAIR = [gram(2), gram(2)]
Z = RNG.normal(size=(N, 4))
Z_NEW = RNG.normal(size=(4, 4))
MASK = RNG.random((N, D)) < 0.7
MASK[:, 0] = True
I_D = np.eye(D)
BLOCKS = gram(N * D).reshape(N, D, N, D).transpose(0, 2, 1, 3)
Y, MU = RNG.normal(size=(N, D)), RNG.uniform(0.5, 2, size=N)
FAMILY = np.stack([gram() for _ in range(N)], axis=2)
S = [RNG.normal(size=(m, D)) for m in RNG.integers(1, 5, size=N)]
SAMPLING = block_sampling(S, D)
L = np.diag(np.abs(OTHER).sum(axis=1)) - np.abs(OTHER)  # a Laplacian
LABELLED = np.arange(N)
RATIO = 0.5 / 0.1  # manifold over alpha


def deformed(values, ratio):
    """``(I + r K L)^-1 K`` (Brouard et al. 2016), as it is written."""
    return np.linalg.solve(np.eye(N) + ratio * values @ L, values)


def blocks_of_features(rows=3):
    return lambda: ((slice(i, min(i + rows, N)), Z[i : i + rows]) for i in range(0, N, rows))


def rank_one(weight):
    """``sum_l weight[s, t, l] y_l y_l'`` as a matrix between entries."""
    return np.einsum("stl,la,lb->satb", weight, Y, Y).reshape(N * D, N * D)


@dataclass
class Case:
    term: Term
    dense: np.ndarray
    values: Any = None  # kernel values of the samples with those that predictions are made from
    new: Any = None  # the same of new points, and the dense operator (m d, n d) behind it


def separable_case(K, M, **settings):
    M_dense = np.eye(D) if M is None else np.asarray(M)
    return Case(SeparableTerm(K, M), np.kron(K, M_dense), K, (K_NEW, np.kron(K_NEW, M_dense)), **settings)


def padded_dense():
    out = np.zeros((N, D + 1, N, D + 1))
    out[:, :D, :, :D] = np.kron(K, M).reshape(N, D, N, D)
    return out.reshape(N * (D + 1), N * (D + 1))


def eigenspace_dense():
    values, E = np.linalg.eigh(M)
    return sum(m * np.kron(deformed(K, RATIO * m), np.outer(e, e)) for m, e in zip(values, E.T, strict=True))


def sampled_dense(M_dense):
    S = SAMPLING.matrix.toarray()
    return S @ np.kron(K, M_dense) @ S.T


FEATURES = (Z_NEW, np.kron(Z_NEW @ Z.T, I_D))
CASES = {
    "separable": separable_case(K, None),
    "separable, operator": separable_case(K, M),
    "separable, singular operator": separable_case(K, SINGULAR),
    "separable, diagonal operator": separable_case(K, np.diag([1.0, 0.5, 2.0])),
    "separable, Kronecker operator": Case(SeparableTerm(K, Kronecker(PAIR)), np.kron(K, np.kron(*PAIR)), K),
    "separable, refined factors": Case(SeparableTerm(DenseGram(K).in_precision("refined"), M), np.kron(K, M), K),
    "separable, low rank": Case(SeparableTerm(Z @ Z.T, M), np.kron(Z @ Z.T, M), Z @ Z.T),
    "features": Case(SeparableTerm(FeatureGram(Z)), np.kron(Z @ Z.T, I_D), Z, FEATURES),
    "features, operator": Case(SeparableTerm(FeatureGram(Z), M), np.kron(Z @ Z.T, M), Z),
    "features in blocks": Case(
        SeparableTerm(FeatureBlockGram(blocks_of_features(), Z.shape), M), np.kron(Z @ Z.T, M), Z
    ),
    "graph": Case(
        SeparableTerm(DeformedGram(DeformedKernel(K, L), 0.5, LABELLED)).for_alpha(0.1),
        np.kron(deformed(K, RATIO), I_D),
        K,
    ),
    "graph on features": Case(
        SeparableTerm(DeformedGram(DeformedFeatureKernel(Z, L), 0.5, LABELLED)).for_alpha(0.1),
        np.kron(deformed(Z @ Z.T, RATIO), I_D),
        Z,
    ),
    "graph, operator": Case(
        SeparableTerm(DeformedGram(DeformedKernel(K, L), 0.5, LABELLED), M).for_alpha(0.1), eigenspace_dense()
    ),
    "missing entries": Case(
        SeparableTerm(K).with_mask(MASK),
        projection(MASK) @ np.kron(K, I_D) @ projection(MASK),
        None,
        (K_NEW, np.kron(K_NEW, I_D) @ projection(MASK)),
    ),
    "missing entries, diagonal operator": Case(
        SeparableTerm(K, np.diag([1.0, 0.5, 2.0])).with_mask(MASK),
        projection(MASK) @ np.kron(K, np.diag([1.0, 0.5, 2.0])) @ projection(MASK),
        None,
        (K_NEW, np.kron(K_NEW, np.diag([1.0, 0.5, 2.0])) @ projection(MASK)),
    ),
    "blocks": Case(BlockTerm.from_blocks(BLOCKS), BLOCKS.transpose(0, 2, 1, 3).reshape(N * D, N * D), BLOCKS),
    "blocks, missing entries": Case(
        BlockTerm.from_blocks(BLOCKS).with_mask(MASK),
        projection(MASK) @ BLOCKS.transpose(0, 2, 1, 3).reshape(N * D, N * D) @ projection(MASK),
    ),
    "irregular": Case(SampledTerm(SeparableTerm(K), SAMPLING), sampled_dense(I_D)),
    "irregular, operator": Case(SampledTerm(SeparableTerm(K, M), SAMPLING), sampled_dense(M)),
    "padded": Case(PaddedTerm(SeparableTerm(K, M)), padded_dense(), K),
    "sum": Case(SumTerm([SeparableTerm(K, M), SeparableTerm(OTHER)]), np.kron(K, M) + np.kron(OTHER, I_D)),
    "rank one, form i": Case(RankOneTerm("i", K, Y, MU), rank_one(np.einsum("st,sl,tl,l->stl", K, K, K, MU)), K),
    "rank one, form iii": Case(RankOneTerm("iii", G, Y, MU), rank_one(np.einsum("sl,tl,l->stl", G, G, MU)), G),
    "families, form i": Case(FamilyTerm("i", FAMILY, Y, MU), rank_one(FAMILY * MU), FAMILY),
}
every_term = pytest.mark.parametrize("name", CASES)


def columns(case):
    return case.dense.shape[0] // N


def entries(case):
    """Which entries the map acts on, flattened."""
    observed = case.term.observed_entries
    return np.ones(len(case.dense), dtype=bool) if observed is None else observed.ravel()


def subclasses(cls):
    return {cls}.union(*(subclasses(sub) for sub in cls.__subclasses__()))


def test_every_term_is_listed():
    """But the constant, whose map is not a function of dual variables."""
    own = {cls for cls in subclasses(Term) if cls.__module__.startswith("hilbertlearn.")}
    assert {type(case.term) for case in CASES.values()} == own - {Term, ConstantTerm}


@every_term
def test_the_map_is_the_dense_operator(name):
    case = CASES[name]
    A = np.random.default_rng(1).normal(size=(N, columns(case)))
    before = A.copy()
    assert_allclose(case.term.apply(A).ravel(), case.dense @ A.ravel(), atol=1e-9)
    assert_array_equal(A, before)


@every_term
def test_the_map_is_symmetric_and_positive_semi_definite(name):
    case = CASES[name]
    d = columns(case)
    units = np.eye(N * d).reshape(N * d, N, d)
    matrix = np.array([case.term.apply(unit).ravel() for unit in units])
    assert_allclose(matrix, matrix.T, atol=1e-9)
    values = np.linalg.eigvalsh(matrix)
    assert values[0] > -1e-9
    assert case.term.norm >= 0.95 * values[-1]
    assert case.term.scale > 0


@every_term
def test_weights_scale_both_sides(name):
    case = CASES[name]
    root = np.random.default_rng(2).uniform(0.5, 2, size=N)
    scaled, A = case.term.scaled(root), np.random.default_rng(1).normal(size=(N, columns(case)))
    weights = np.repeat(root, columns(case))
    assert_allclose(scaled.apply(A).ravel(), weights * (case.dense @ (weights * A.ravel())), atol=1e-9)
    twice = scaled.scaled(root)
    assert_allclose(twice.apply(A).ravel(), weights**2 * (case.dense @ (weights**2 * A.ravel())), atol=1e-8)


@every_term
def test_a_part_of_the_samples_has_a_part_of_the_operator(name):
    case, rows = CASES[name], np.array([1, 2, 5, 8])
    try:
        part = case.term.take(rows)
    except TypeError as refusal:
        assert "cannot be cut" in str(refusal)
        return
    d = columns(case)
    inside = np.isin(np.repeat(np.arange(N), d), rows)
    A = np.random.default_rng(1).normal(size=(len(rows), d))
    expected = case.dense[np.ix_(inside, inside)]
    found = part.apply(A)
    assert_allclose(found.ravel(), expected @ A.ravel(), atol=1e-9)


@every_term
def test_margins_are_inner_products(name):
    case = CASES[name]
    d = columns(case)
    T = np.random.default_rng(3).normal(size=(N, d))
    expected = np.einsum("ia,iajb,jb->ij", T, case.dense.reshape(N, d, N, d), T)
    try:
        found = case.term.margin_gram(T)
    except TypeError as refusal:
        assert "has no margins" in str(refusal) or "no Gram matrix" in str(refusal)
        return
    assert_allclose(found, expected, atol=1e-9)


@every_term
def test_predictions_at_the_samples_are_the_map(name):
    case = CASES[name]
    if case.values is None:
        return
    A = np.random.default_rng(1).normal(size=(N, columns(case)))
    found = case.term.predictor(case.term.expand(case.term.coordinates(A)))(case.values)
    assert_allclose(found, case.term.apply(A)[:, : found.shape[1]], atol=1e-8)


@every_term
@pytest.mark.parametrize("use", [ONCE, ITERATIONS, PATH])
def test_factors_solve_systems(name, use):
    case = CASES[name]
    factors = case.term.factor(use)
    if case.term.inversion is None:
        assert factors is None
        return
    R = np.random.default_rng(4).normal(size=(N, columns(case)))
    for shift, penalty in ((1.0, 0.5), (2.5, 0.5), (1.0, 3.0)):
        system = shift * np.eye(R.size) + case.dense / penalty
        expected = np.linalg.solve(system, R.ravel()).reshape(R.shape)
        assert_allclose(factors.solve(R, shift, penalty), expected, atol=1e-8)
        X, W = factors.solve_expanded(R, shift, penalty)
        assert_allclose(X, expected, atol=1e-8)
        if W is not None:
            assert_allclose(W, case.term.expand(X / penalty), atol=1e-7)


def test_many_irregular_values_are_solved_by_iterations(monkeypatch):
    monkeypatch.setattr(sampled_module, "_MAX_DIRECT", 0)
    for name in ("irregular", "irregular, operator"):
        assert CASES[name].term.inversion == "iterative"
        test_factors_solve_systems(name, ITERATIONS)


def refit(case, T, penalty, i):
    """Dual variables (n d,) without sample i, and the rows of the dense operator."""
    keep = entries(case) & (np.repeat(np.arange(N), columns(case)) != i)
    A = np.zeros(T.size)
    system = case.dense[np.ix_(keep, keep)] + penalty * np.eye(keep.sum())
    A[keep] = np.linalg.solve(system, T.ravel()[keep])
    return A


@every_term
@pytest.mark.parametrize("use", [ONCE, ITERATIONS, PATH])
def test_leave_one_out_residuals_are_those_of_refits(name, use):
    case = CASES[name]
    if case.term.loo_formula is None:
        return
    penalties, observed = np.array([0.05, 1.0]), entries(case)
    T = np.where(observed, np.random.default_rng(5).normal(size=len(observed)), 0.0).reshape(N, -1)
    paths = case.term.factor(use).loo_residuals(T, None, np.ones((N, 1)), penalties)
    for penalty, found in zip(penalties, paths, strict=True):
        fitted = np.array([(case.dense @ refit(case, T, penalty, i)).reshape(T.shape)[i] for i in range(N)])
        expected = np.where(observed.reshape(T.shape), T - fitted, 0.0)
        assert_allclose(found, expected, atol=1e-7)


@every_term
def test_leave_one_out_predictions_are_those_of_refits(name):
    """What predictions at new points change by, and residuals of pairs of samples left out together."""
    case = CASES[name]
    if case.term.loo_formula != "models" or case.new is None:
        return
    values, cross = case.new
    penalty, root, observed = 0.5, np.ones((N, 1)), entries(case)
    T = np.where(observed, np.random.default_rng(5).normal(size=len(observed)), 0.0).reshape(N, -1)
    factors = case.term.factor(ITERATIONS)
    (residuals,) = factors.loo_residuals(T, None, root, np.array([penalty]))
    changes = factors.loo_changes(values, residuals, None, root, penalty)
    whole = cross @ refit(case, T, penalty, -1)
    for i in range(N):
        expected = (cross @ refit(case, T, penalty, i) - whole).reshape(len(values), -1)
        assert_allclose(changes[:, i], expected, atol=1e-8)


@every_term
def test_missing_entries_are_part_of_the_map_where_the_term_takes_a_mask(name):
    case = CASES[name]
    d = columns(case)
    mask = np.random.default_rng(6).random((N, d)) < 0.6
    masked = case.term.with_mask(mask)
    if not case.term.takes_mask():
        assert masked is case.term
        return
    both = mask & entries(case).reshape(N, d)
    assert_array_equal(masked.observed_entries, both)
    A = np.random.default_rng(1).normal(size=(N, d))
    expected = projection(both) @ case.dense @ projection(both)
    assert_allclose(masked.apply(A).ravel(), expected @ A.ravel(), atol=1e-9)


@every_term
def test_costs_are_positive(name):
    case = CASES[name]
    n, d = N, columns(case)
    assert case.term.factor_cost(n) > 0 and case.term.step_cost(n, d) > 0
    assert min(case.term.iteration_costs(n, d)) > 0
    krylov = case.term.krylov_cost(n, d)
    assert (krylov is None) == (case.term.krylov() is None)


def test_class_attributes_of_terms_are_few():
    """A term says what it can do by three attributes; everything else is a method or a value."""
    flags = [name for name, value in vars(Term).items() if not name.startswith("_") and not callable(value)]
    assert sorted(name for name in flags if not isinstance(vars(Term)[name], property)) == [
        "M",
        "inversion",
        "loo_formula",
    ]
