"""Robust and sparse fits from arrays (n = 2000, d = 50, alpha = 1e-4) against one eigh of K: at most 1.6 times."""

import scipy.linalg

from hilbertlearn import OperatorKernelRegressor

from .data import curves, four_losses, gram
from .timing import best_of, report


def main(n=2000, d=50, alpha=1e-4):
    X, Y, M, _ = curves(n, d)
    K = gram(X)
    for loss in four_losses(Y):
        model = OperatorKernelRegressor(gamma=0.1, operator=M, loss=loss, alpha=alpha, tol=1e-6)
        t_fit, t_eigh = best_of(lambda: model.fit(X, Y), lambda: scipy.linalg.eigh(K, driver="evd"))
        report("robust_fit", "scipy.linalg.eigh(K, driver='evd')", loss=str(loss), ratio=t_fit / t_eigh, at_most=1.6,
               seconds=t_fit, iterations=model.n_iter_, gap=model.dual_gap_)  # fmt: skip


if __name__ == "__main__":
    main()
