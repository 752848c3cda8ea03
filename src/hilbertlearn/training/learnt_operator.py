"""The operator learnt with the function: block coordinate descent between the two, to a certified gap."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .data import Training
from .fit import Fit, Options

_MOVED, _LEAST_MOVED = 0.1, 1e-6  # share of the trace that goes to the direction the certificate asks for


def alternate(training: Training, loss, alpha, options: Options, center, init) -> Fit:
    """Function and operator in turn; ``objectives`` of the rounds that were kept never increase.

    Alone, the two can stop short of the optimum: a direction that the operator has all but dropped does not come back.
    The least objective over functions is convex in M with derivative ``-alpha/2 C'KC``, C the coefficients before the
    operator, so ``alpha/2 (d lambda_max(C'KC) - tr(M C'KC))`` bounds what is left to gain. Some of the trace is moved
    to the eigenvector behind it (a step of Frank and Wolfe), less when the objective does not fall.
    """
    setting, total, d = training.learned_operator, training.weights.sum(), len(center)
    assert setting is not None
    training, factors = training.factor_for_path([alpha, alpha])  # one factorisation for all rounds
    best, moved, left, M = None, _MOVED, np.inf, np.eye(d)
    objectives: list[float] = []
    for _ in range(setting.max_iter):
        problem = training.problem(loss, alpha, center)
        solution = options.solve(problem, alpha, init, training.adapt_factors(factors, loss))
        found = Fit(training, problem, solution, alpha, center)
        objective = problem.objective(solution.dual) / total
        if best is None or objective < objectives[-1]:
            objectives.append(float(objective))
            best, init = found, solution.dual
            Q = training.grams[0].inner_products(found.coefficients[0])
            values, vectors = scipy.linalg.eigh(Q)
            bound = alpha / 2 * (d * values[-1] - np.vdot(M, Q))
            left = float(bound / abs(objective)) if objective else 0.0
            if left <= setting.tol:
                break
            alternated, wanted = setting.optimal_matrix(M @ Q @ M), d * np.outer(vectors[:, -1], vectors[:, -1])
        else:
            moved /= 4
            if moved < _LEAST_MOVED:
                break
        M = (1 - moved) * alternated + moved * wanted
        training = training.with_operator(M)
        factors = None if factors is None else factors.with_operator(M)
    assert best is not None
    return Fit(best.training, best.problem, best.solution, alpha, center, np.array(objectives), left)
