"""One ridge fit and predict (n = 3000, d = 50) against scikit-learn's KernelRidge: at most 1.0 times."""

import numpy as np
from sklearn.kernel_ridge import KernelRidge

from hilbertlearn import OperatorKernelRegressor

from .timing import best_of, report


def main(n=3000, d=50):
    rng = np.random.default_rng(0)
    X, Y, X_new = rng.normal(size=(n, 20)), rng.normal(size=(n, d)), rng.normal(size=(n, 20))
    ours = OperatorKernelRegressor(gamma=0.05, alpha=1e-3, center=False)
    theirs = KernelRidge(kernel="rbf", gamma=0.05, alpha=1e-3 * n)
    t_ours, t_theirs = best_of(lambda: ours.fit(X, Y).predict(X_new), lambda: theirs.fit(X, Y).predict(X_new))
    difference = np.abs(ours.predict(X_new) - theirs.predict(X_new)).max()
    report("ridge", "sklearn.kernel_ridge.KernelRidge", ratio=t_ours / t_theirs, at_most=1.0, seconds=t_ours,
           difference=float(difference))  # fmt: skip


if __name__ == "__main__":
    main()
