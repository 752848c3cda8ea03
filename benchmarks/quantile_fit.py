"""Default fits of quantiles beside scikit-learn's gradient boosting, one boosting model for each level.

- n = 100: at most 3 times the time of boosting.
- n = 2000: at most 30 seconds.
"""

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor

from hilbertlearn import QuantileRegressor

from .timing import best_of, report, seconds


def main(n=100, many=2000, repeats=3):
    model = QuantileRegressor()

    def boost(X, y):
        for level in model.levels:
            GradientBoostingRegressor(loss="quantile", alpha=level, random_state=0).fit(X, y)

    X, y = heteroscedastic(n)
    t_fit, t_boost = best_of(lambda: model.fit(X, y), lambda: boost(X, y), repeats=repeats)
    report("quantile_fit", f"GradientBoostingRegressor for each level, n = {n}",
           ratio=t_fit / t_boost, at_most=3.0, seconds=t_fit)  # fmt: skip
    X, y = heteroscedastic(many)
    t_fit = seconds(lambda: model.fit(X, y))
    report("quantile_fit_many", f"30 seconds, n = {many}", ratio=t_fit / 30, at_most=1.0, seconds=t_fit)


def heteroscedastic(n):
    """Inputs (n, 5) and outputs (n,) whose noise depends on an input."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2 + (0.2 + 0.5 * (X[:, 2] > 0)) * rng.normal(size=n)


if __name__ == "__main__":
    main()
