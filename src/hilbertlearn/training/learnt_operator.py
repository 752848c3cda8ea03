"""The operator learnt with the function: block coordinate descent between the two, to a certified gap."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .data import Training
from .fit import Fit, Options

_STEP, _SMALLEST_STEP = 0.1, 1e-6  # shares of the trace that a step of Frank and Wolfe moves: at first, at least


def alternate(training: Training, loss, alpha, options: Options, center, init) -> Fit:
    """Function and operator in turn; ``objectives`` of the rounds that were kept never increase.

    Alone, the two can stop short of the optimum: a direction that the operator has all but dropped does not come back.
    The least objective over functions is convex in M with derivative ``-alpha/2 C'KC``, C the coefficients before the
    operator, so ``alpha/2 (d lambda_max(C'KC) - tr(M C'KC))`` bounds the suboptimality. A share of the trace is moved
    to the eigenvector behind it (a step of Frank and Wolfe), less when the objective does not fall.
    """
    setting, total, d = training.learned_operator, training.weights.sum(), len(center)
    assert setting is not None
    training, factors = training.factor_for_path([alpha, alpha])  # one factorisation for all rounds
    best, step, suboptimality, M = None, _STEP, np.inf, np.eye(d)
    objectives: list[float] = []
    for _ in range(setting.max_iter):
        problem = training.problem(loss, alpha, center)
        solution = options.solve(problem, alpha, init, training.adapt_factors(factors, loss))
        fit = Fit(training, problem, solution, alpha, center)
        objective = problem.objective(solution.dual) / total
        if best is None or objective < objectives[-1]:
            objectives.append(float(objective))
            best, init = fit, solution.dual
            Q = training.grams[0].inner_products(fit.coefficients[0])
            values, vectors = scipy.linalg.eigh(Q)
            bound = alpha / 2 * (d * values[-1] - np.vdot(M, Q))
            suboptimality = float(bound / abs(objective)) if objective else 0.0
            if suboptimality <= setting.tol:
                break
            optimal, vertex = setting.optimal_matrix(M @ Q @ M), d * np.outer(vectors[:, -1], vectors[:, -1])
        else:
            step /= 4
            if step < _SMALLEST_STEP:
                break
        M = (1 - step) * optimal + step * vertex
        training = training.with_operator(M)
        factors = None if factors is None else factors.with_operator(M)
    assert best is not None
    return Fit(best.training, best.problem, best.solution, alpha, center, np.array(objectives), suboptimality)
