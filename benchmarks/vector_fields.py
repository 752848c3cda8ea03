"""A fit with a matrix-valued kernel (n = 500, d = 3) against its matrix and one Cholesky factor: at most 1.3 times.

Squared loss, one alpha. Coefficients are compared with those of a solver for general matrices.
"""

import numpy as np
import scipy.linalg

from hilbertlearn import OperatorKernelRegressor, kernels

from .timing import best_of, report

GAMMA, ALPHA = 0.3, 1e-3


def main(n=500, d=3, repeats=9):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    Y = -2 * X * np.exp(-np.einsum("ij,ij->i", X, X))[:, None] + 0.1 * rng.normal(size=(n, d))  # a gradient and noise
    kernel = kernels.CurlFreeKernel(GAMMA)
    model = OperatorKernelRegressor(kernel, alpha=ALPHA, center=False)

    def system():
        matrix = kernel(X, X).swapaxes(1, 2).reshape(n * d, n * d)  # from blocks (n, n, d, d)
        matrix.flat[:: n * d + 1] += ALPHA * n
        return matrix

    def reference():
        scipy.linalg.cholesky(system().T, lower=True, overwrite_a=True, check_finite=False)

    t_fit, t_reference = best_of(lambda: model.fit(X, Y), reference, repeats=repeats)
    expected = np.linalg.solve(system(), Y.ravel()).reshape(n, d)
    report("vector_fields", "kernels.CurlFreeKernel + scipy.linalg.cholesky", ratio=t_fit / t_reference, at_most=1.3,
           seconds=t_fit, gap=model.dual_gap_, difference=float(np.abs(model.dual_coef_ - expected).max()))  # fmt: skip


if __name__ == "__main__":
    main()
