"""Prediction (RBF) against ``rbf_kernel(X_test, X_train) @ coef``: at most 1.1 times."""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import OperatorKernelRegressor

from .timing import best_of, report


def main(n=2000, m=5000, d=50):
    rng = np.random.default_rng(0)
    X, Y, X_new = rng.normal(size=(n, 20)), rng.normal(size=(n, d)), rng.normal(size=(m, 20))
    model = OperatorKernelRegressor(gamma=0.05, alpha=1e-3).fit(X, Y)
    t_ours, t_bare = best_of(
        lambda: model.predict(X_new), lambda: rbf_kernel(X_new, X, gamma=0.05) @ model.dual_coef_ + model.center_
    )
    report("prediction", "sklearn rbf_kernel @ coef", ratio=t_ours / t_bare, at_most=1.1, seconds=t_ours)


if __name__ == "__main__":
    main()
