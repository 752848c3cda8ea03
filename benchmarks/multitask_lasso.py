"""epsilon-insensitive p = 2, M = I, as the multi-task lasso D1 of Laforgue et al. 2020 (n = 500).

Against the faster of skglm and scikit-learn's MultiTaskLasso on the same problem to the same gap: at least 10 times
faster when half of the rows are nonzero, no slower when 20 % are. D1 is ``1/2 ||A W - B||^2 + epsilon sum_i ||w_i||``
with ``A' A = K / (alpha n) + I`` and ``A' B = Y``; both references minimise its average over the n rows of A.
"""

import warnings

import numpy as np
import scipy.linalg
from sklearn.linear_model import MultiTaskLasso

from hilbertlearn.core.problem import Problem
from hilbertlearn.core.solvers import solve
from hilbertlearn.core.terms import SeparableTerm
from hilbertlearn.losses import EpsilonInsensitive

from .data import curves, gram
from .timing import best_of, report

GAP = 1e-6


def references():
    """Functions ``(A, B, strength, tol) -> W`` of the libraries at hand."""

    def sklearn_lasso(A, B, strength, tol):
        model = MultiTaskLasso(alpha=strength, fit_intercept=False, tol=tol, max_iter=5000)
        return model.fit(A, B).coef_.T

    found = {"sklearn.MultiTaskLasso": sklearn_lasso}
    try:
        import skglm
    except ImportError:
        return found

    def skglm_lasso(A, B, strength, tol):
        model = skglm.MultiTaskLasso(alpha=strength, fit_intercept=False, tol=tol, max_iter=100, max_epochs=5000)
        return model.fit(A, B).coef_.T

    return {"skglm.MultiTaskLasso": skglm_lasso, **found}


def loosest(problem, lasso, A, B, strength):
    """The loosest tolerance at which the reference reaches our gap, so that it is not asked for more."""
    for tol in 10.0 ** -np.arange(3, 10):
        if problem.gap(np.ascontiguousarray(lasso(A, B, strength, tol))) <= GAP:
            return tol
    return None


def epsilon_for(K, Y, penalty, share):
    """epsilon that leaves this share of the rows nonzero, by bisection."""
    low, high = 0.0, float(np.linalg.norm(Y, axis=1).max())
    for _ in range(25):
        epsilon = (low + high) / 2
        dual = solve(Problem((SeparableTerm(K),), Y, EpsilonInsensitive(epsilon), penalty), tol=1e-4).dual
        nonzero = np.mean(np.abs(dual).sum(axis=1) > 0)
        low, high = (epsilon, high) if nonzero > share else (low, epsilon)
    return epsilon


def main(n=500, d=50, alpha=1e-3):
    warnings.simplefilter("ignore")
    X, Y, _, _ = curves(n, d)
    K, penalty = gram(X), alpha * n
    A = scipy.linalg.cholesky(K / penalty + np.eye(n))
    B = scipy.linalg.solve_triangular(A, Y, trans="T")
    A, B = np.asfortranarray(A), np.asfortranarray(B)
    for share, target in ((0.5, 10.0), (0.2, 1.0)):
        epsilon = epsilon_for(K, Y, penalty, share)
        problem = Problem((SeparableTerm(K),), Y, EpsilonInsensitive(epsilon), penalty)
        speedups = {}
        for name, lasso in references().items():
            tol = loosest(problem, lasso, A, B, epsilon / n)
            t_ours, t_reference = best_of(
                lambda: solve(problem, tol=GAP), lambda: None if tol is None else lasso(A, B, epsilon / n, tol)
            )
            speedups[name] = t_reference / t_ours if tol is not None else float("inf")
        solution = solve(problem, tol=GAP)
        nonzero = float(np.mean(np.abs(solution.dual).sum(axis=1) > 0))
        report("multitask_lasso", min(speedups, key=speedups.get), nonzero_rows=nonzero, speedup=min(speedups.values()),
               at_least=target, seconds=t_ours, gap=solution.gap,
               iterations=solution.n_iter, others=str({k: round(v, 1) for k, v in speedups.items()}))  # fmt: skip


if __name__ == "__main__":
    main()
