"""Accelerated proximal gradient: the step size when the norm of the map is underestimated."""

import numpy as np

from hilbertlearn.core.problem import Problem
from hilbertlearn.core.solvers import proximal_gradient, spectral
from hilbertlearn.core.terms import SeparableTerm
from hilbertlearn.losses import Squared

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(20, 20))


class ShortTerm(SeparableTerm):
    """A term that states a hundredth of its norm."""

    @property
    def norm(self):
        return 0.01 * float(np.linalg.norm(self.K, 2))


def test_a_norm_that_is_too_small_is_corrected():
    K, Y = Z @ Z.T / 20, RNG.normal(size=(20, 2))
    found = proximal_gradient.solve(Problem((ShortTerm(K),), Y, Squared(), 0.5), tol=1e-10, max_iter=5000)
    exact = spectral.solve(Problem((SeparableTerm(K),), Y, Squared(), 0.5))
    assert found.converged
    assert np.abs(found.dual - exact.dual).max() < 1e-4
