"""Terms seen through a sampling: costs, and iterations that begin at an earlier solution."""

import numpy as np
from numpy.testing import assert_allclose

from hilbertlearn.core.terms import SampledTerm, SeparableTerm
from hilbertlearn.core.terms.sampled import KrylovFactors
from hilbertlearn.spaces.sampling import block_sampling

RNG = np.random.default_rng(0)
N, D = 12, 3
Z = RNG.normal(size=(N, N))
SAMPLING = block_sampling([RNG.normal(size=(m, D)) for m in RNG.integers(1, 5, size=N)], D)
TERM = SampledTerm(SeparableTerm(Z @ Z.T / N), SAMPLING)
VALUES = int(SAMPLING.observed.sum())


def test_costs_follow_the_number_of_values():
    assert TERM.inversion == "direct"
    assert TERM.factor_cost(N) == VALUES**3 / 6
    assert TERM.iteration_costs(N, D) == (VALUES**3 / 2, VALUES**2)
    assert TERM.krylov_cost(N, D) == 500 * N**2 * D


def test_the_matrix_between_values_is_the_map():
    B = np.where(SAMPLING.observed, RNG.normal(size=N * SAMPLING.m), 0.0).reshape(N, -1)
    expected = TERM.apply(B).ravel()[SAMPLING.observed]
    assert_allclose(TERM.by_value.apply(B.ravel()[SAMPLING.observed, None])[:, 0], expected, atol=1e-10)


def test_iterations_begin_at_the_last_solution():
    R = np.where(SAMPLING.observed, RNG.normal(size=N * SAMPLING.m), 0.0).reshape(N, -1)
    factors = KrylovFactors(TERM)
    first = factors.solve(R, 1.0, 0.5)
    taken = factors.n_iter
    assert_allclose(factors.solve(R, 1.0, 0.5), first)
    assert factors.n_iter <= taken + 1
    again = KrylovFactors(TERM)
    again.start(first, 0.5)
    again.solve(R, 1.0, 0.5)
    assert again.n_iter < taken
