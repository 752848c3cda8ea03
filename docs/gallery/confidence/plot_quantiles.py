"""
Quantiles that do not cross
===========================

If the noise depends on the input, a mean is not enough. ``QuantileRegressor`` estimates several conditional quantiles
jointly; their order is a constraint of the problem.
"""

# %%
# The data are a sine with skewed noise that grows with the input. The true quantiles are known, so that errors can be
# measured.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import gumbel_r
from sklearn.ensemble import GradientBoostingRegressor

from hilbertlearn import ConformalPredictor, QuantileRegressor, plotting

rng = np.random.default_rng(0)
levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])


def truth(x):
    return np.sin(6 * x)[:, None] + (0.1 + 0.6 * x[:, None]) * gumbel_r.ppf(levels)


X = rng.uniform(size=(1200, 1))
y = np.sin(6 * X[:, 0]) + (0.1 + 0.6 * X[:, 0]) * rng.gumbel(size=1200)
grid = np.linspace(0, 1, 200)[:, None]

# %%
# For comparison: gradient boosting of scikit-learn, one model for each level.

model = QuantileRegressor(levels, kernel="rbf", gamma=4.0, non_crossing=True).fit(X[:200], y[:200])
ours = model.predict(grid)
boosted = np.column_stack([
    GradientBoostingRegressor(loss="quantile", alpha=level, n_estimators=80, max_depth=2, random_state=0)
    .fit(X[:200], y[:200]).predict(grid) for level in levels
])  # fmt: skip
for name, quantiles in (("QuantileRegressor", ours), ("gradient boosting", boosted)):
    error, crossed = np.abs(quantiles - truth(grid[:, 0])).mean(), (np.diff(quantiles, axis=1) < 0).any(axis=1).mean()
    print(f"{name:18} mean error {error:.3f}, quantiles cross at {crossed:.0%} of the points")

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4), layout="constrained", sharey=True)
for ax, quantiles, title in ((left, ours, "QuantileRegressor"), (right, boosted, "gradient boosting")):
    plotting.plot_quantiles(grid, quantiles, levels, ax)
    ax.plot(X[:200, 0], y[:200], ".", color="#8C8C8C", markersize=3, zorder=1)
    ax.plot(grid, truth(grid[:, 0]), "--", color="#222222", linewidth=0.7)
    ax.set_title(title)
right.set_ylabel("")
right.get_legend().remove()
plt.show()

# %%
# Guaranteed coverage
# -------------------
# Quantiles are estimates. ``ConformalPredictor`` computes intervals with guaranteed coverage from them; their width
# still depends on the input.

sets = ConformalPredictor(
    QuantileRegressor((0.05, 0.95), kernel="rbf", gamma=4.0, alpha=model.alpha_), level=0.9, random_state=0
)
low, high = sets.fit(X[:200], y[:200]).predict_interval(X[200:]).T
inside, half = (low <= y[200:]) & (y[200:] <= high), X[200:, 0] > 0.5
for name, rows in (("left", ~half), ("right", half)):
    print(f"{name:6} half: {inside[rows].mean():.0%} inside, mean width {(high - low)[rows].mean():.2f}")

# %%
# The intervals are nearly twice as wide on the right, where the noise is larger, and their coverage is a little above
# the level.
