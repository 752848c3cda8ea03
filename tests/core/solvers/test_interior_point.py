"""The interior-point method against exchanges."""

import numpy as np
from helpers.margin_problems import margin_problem
from numpy.testing import assert_allclose

from hilbertlearn.core.solvers import box_qp, interior_point


def test_exchanges_and_interior_points_agree():
    problem = margin_problem(450, 1e-3)
    exchanged = box_qp.solve(problem, tol=1e-9).dual[:, 0]

    def gap(b, Qb):
        return problem.gap(b[:, None], Qb[:, None])

    Q = problem.terms[0].K / problem.penalty
    b, least, history = interior_point.minimise(Q, np.ones(450), gap, np.zeros(450), tol=1e-9, max_iter=100)
    assert least <= 1e-9 and len(history) < 40
    assert_allclose(b, exchanged, atol=1e-5)
