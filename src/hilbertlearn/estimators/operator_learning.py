"""The operator learnt with the function: block coordinate descent between the two."""

from __future__ import annotations

import numpy as np

from .training import Training


def alternate(training: Training, loss, alpha, solve, init):
    """Function and operator in turn: ``(training with the operator, problem, solution, objectives)``.

    solve : function of a problem and a start that gives its solution
    objectives : of each round, mean loss and penalty; they never increase
    """
    _ = training.terms[0].input_spectrum  # one factorisation for all rounds
    setting, total = training.learns, training.weights.sum()
    assert setting is not None
    best = None
    objectives: list[float] = []
    for _ in range(setting.max_iter):
        problem = training.problem(loss, alpha)
        solution = solve(problem, init)
        objective = problem.primal(solution.dual, problem.fitted(solution.dual)) / total
        if best is not None and not objective < objectives[-1]:  # up to the solver's accuracy nothing is left to gain
            break
        objectives.append(float(objective))
        best, init = (training, problem, solution), solution.dual
        if len(objectives) > 1 and objectives[-2] - objective <= setting.tol * abs(objective):
            break
        M = setting.best(training.inner_products(solution.dual, alpha))
        if M is None:  # the function is constant
            break
        training = training.with_operator(M)
    assert best is not None
    return *best, np.array(objectives)
