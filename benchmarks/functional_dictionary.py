"""5000 curves of 200 points on 50 Fourier functions against the input kernel and one Cholesky factorisation.

With M = I at most 1.2 times, with a decaying M and alpha >= 1e-3 at most 2.5 times; there the solution, by conjugate
gradients, is compared with that of eigh on 1000 of the curves.
"""

import numpy as np
import scipy.linalg
from sklearn.base import clone

from hilbertlearn import FunctionalRegressor, kernels, losses, operators
from hilbertlearn.core.solvers import columns, spectral
from hilbertlearn.machine.in_memory import MemorySource
from hilbertlearn.spaces import Fourier

from .timing import best_of, report

GAMMA = 0.05


def by_columns_and_by_eigh(model, X, Y):
    """Largest difference between dual variables of the two ways to solve, relative; 0 for M = I, which has neither."""
    training = MemorySource(X, Y).prepare(clone(model).spec())
    problem = training.problem(losses.Squared(), model.alpha, training.constant(losses.Squared()))
    if problem.separable_term.M is None:
        return 0.0
    iterative, exact = columns.solve(problem, tol=1e-12), spectral.solve(problem, tol=1e-12)
    return np.abs(iterative.dual - exact.dual).max() / np.abs(exact.dual).max()


def main(n=5000, m=200, components=50, n_check=1000):
    rng = np.random.default_rng(0)
    X, grid = rng.normal(size=(n, 10)), np.linspace(0, 1, m)
    signal = np.sin(X @ rng.normal(size=(10, 20))) @ np.array([np.cos(np.pi * k * grid) for k in range(20)])
    Y = signal + 0.3 * rng.normal(size=(n, m))

    def reference():
        K = kernels.gram("rbf", X, gamma=GAMMA)
        K.flat[:: n + 1] += 1e-3 * n
        scipy.linalg.cholesky(K.T, lower=True, overwrite_a=True, check_finite=False)

    decay = operators.Decay(2)
    for alpha, operator, limit in [(1e-3, "auto", 1.2), (1e-3, decay, 2.5), (1e-2, decay, 2.5)]:
        model = FunctionalRegressor(gamma=GAMMA, space=Fourier(components), operator=operator, alpha=alpha)
        t_fit, t_reference = best_of(lambda: model.fit(X, Y), reference)
        difference = by_columns_and_by_eigh(model, X[:n_check], Y[:n_check])
        report("functional_dictionary", "kernels.gram + scipy.linalg.cholesky", operator=str(operator), alpha=alpha,
               ratio=t_fit / t_reference, at_most=limit, seconds=t_fit, iterations=model.n_iter_, gap=model.dual_gap_,
               difference_to_eigh=float(difference))  # fmt: skip


if __name__ == "__main__":
    main()
