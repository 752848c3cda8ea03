"""epsilon-SVR (n = 1000): at most 300 iterations to 1e-6 for every alpha, 5 times faster than the proximal gradient."""

import numpy as np

from hilbertlearn.core.problem import Problem
from hilbertlearn.core.terms import SeparableTerm
from hilbertlearn.losses import EpsilonSVR

from .data import curves, gram
from .splitting import side_by_side
from .timing import report


def main(n=1000, d=100, patience=10):
    X, Y, M, _ = curves(n, d)
    K = gram(X)
    loss = EpsilonSVR(float(np.quantile(np.linalg.norm(Y, axis=1), 0.1)))
    for operator, name in ((M, "M != I"), (None, "M = I")):
        for alpha in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7):
            t_default, t_reference, reached, solution = side_by_side(
                lambda: Problem((SeparableTerm(K, operator),), Y, loss, alpha * n), patience
            )
            figures = {"speedup": t_reference / t_default, "at_least": 5.0 if alpha <= 1e-4 else None}
            report("epsilon_svr", "hilbertlearn proximal_gradient", operator=name, alpha=alpha, **figures,
                   iterations=solution.n_iter, at_most_iterations=300, reference_reached_gap=reached,
                   seconds=t_default, gap=solution.gap)  # fmt: skip


if __name__ == "__main__":
    main()
