"""Huber p = 2 on 400 curves of 100 points, from arrays to gap 1e-6, against the squared loss: at most 4 and 6 times."""

import numpy as np

from hilbertlearn import FunctionalRegressor, losses

from .data import curves
from .timing import best_of, report


def main(n=400, m=100):
    X, Y, _, _ = curves(n, m)
    Y = Y * np.sqrt(m)  # point values
    kappa = float(np.quantile(np.sqrt((Y**2).mean(axis=1)), 0.3))
    for alpha, limit in [(1e-3, 4.0), (1e-6, 6.0)]:
        settings = {"gamma": 0.1, "alpha": alpha, "tol": 1e-6}
        robust, squared = (FunctionalRegressor(loss=loss, **settings) for loss in (losses.Huber(kappa), "squared"))
        t_robust, t_squared = best_of(lambda: robust.fit(X, Y), lambda: squared.fit(X, Y))
        report("functional_robust", "FunctionalRegressor(loss='squared')", alpha=alpha, ratio=t_robust / t_squared,
               at_most=limit, seconds=t_robust, iterations=robust.n_iter_, gap=robust.dual_gap_)  # fmt: skip


if __name__ == "__main__":
    main()
