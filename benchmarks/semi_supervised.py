"""Semi-supervised ridge, 200 labelled and 2000 unlabelled points: at most 4 times an LU of the whole system."""

import numpy as np
import scipy.linalg
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import OperatorKernelRegressor, kernels

from .timing import best_of, report


def main(labelled=200, unlabelled=2000, d=10):
    rng = np.random.default_rng(0)
    n = labelled + unlabelled
    X = rng.normal(size=(n, 5))
    Y = np.sin(X @ rng.normal(size=(5, d))) + 0.1 * rng.normal(size=(n, d))
    Y[labelled:] = np.nan
    gamma, alpha, beta = 0.1, 1e-3, 1e-4
    K = rbf_kernel(X, gamma=gamma)
    sparse = kernels.Affinity(10).graph(K)
    dense = K - np.diag(np.diag(K))
    seen = np.arange(n) < labelled
    for name, W in (("sparse", sparse), ("dense", dense)):
        L = np.diag(np.asarray(W.sum(axis=1)).ravel()) - (W.toarray() if name == "sparse" else W)
        # Brouard et al. 2016, theorem 6, with alpha = lambda_1 / l and beta = 2 lambda_2 / l
        system = (np.diag(seen * 1.0) + beta * labelled * L) @ K + alpha * labelled * np.eye(n)
        model = OperatorKernelRegressor(gamma=gamma, alpha=alpha, graph=W, manifold=beta, center=False)
        t_ours, t_lu = best_of(lambda: model.fit(X, Y), lambda: scipy.linalg.lu_factor(system))
        by_theorem = np.linalg.solve(system, np.where(seen[:, None], Y, 0.0))
        report(
            f"semi_supervised, {name} graph",
            f"scipy.linalg.lu_factor ({n}, {n})",
            ratio=t_ours / t_lu,
            at_most=4.0,
            seconds=t_ours,
            difference=float(np.abs(K @ (model.dual_coef_ - by_theorem)).max()),
            gap=model.dual_gap_,
        )


if __name__ == "__main__":
    main()
