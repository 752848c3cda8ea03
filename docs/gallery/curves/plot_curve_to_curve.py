"""
From a curve to a curve
=======================

The input is the curve of births per woman before 1980, the output the curve from 1980 to 2011. The model maps
functions to functions. It is compared with ridge regression from 20 numbers to 32, and with a repetition of the last
value.
"""

# %%
# The data are included in the package (World Bank, CC BY 4.0). Countries with gaps are used too: some have values in
# a few years only.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeCV

from hilbertlearn import FunctionalRegressor, datasets, kernels, plotting

data = datasets.load_fertility(split=1980)
known = np.isfinite(data.X).all(axis=1)  # the inputs have no gaps
X, Y, countries = data.X[known], data.Y[known], data.countries[known]
whole = np.isfinite(Y).all(axis=1)
years = data.years_out.astype(float)

errors = {name: [] for name in ("curve to curve", "linear kernel", "ridge regression", "it stays")}
for seed in range(5):
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:130], order[130:]
    predicted = {
        "curve to curve": FunctionalRegressor(kernels.L2(), grid=years).fit(X[train], Y[train]).predict(X[test]),
        "linear kernel": FunctionalRegressor("linear", grid=years).fit(X[train], Y[train]).predict(X[test]),
        "it stays": np.repeat(X[test, -1:], len(years), axis=1),
    }
    complete = train[whole[train]]  # scikit-learn's ridge takes no gaps
    ridge = RidgeCV(np.geomspace(1e-3, 1e3, 13)).fit(X[complete], Y[complete])
    predicted["ridge regression"] = ridge.predict(X[test])
    for name, curves in predicted.items():
        errors[name].append(np.sqrt(np.nanmean((curves - Y[test]) ** 2)))
for name, values in errors.items():
    print(f"{name:18} error {np.mean(values):.3f} (five splits: {min(values):.3f} to {max(values):.3f})")

# %%
# Four countries of the last split, from few to many births in 1979.

ranked = np.argsort(X[test, -1])
shown = ranked[[3, len(ranked) // 2, 3 * len(ranked) // 4, -4]]
figure, ax = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
plotting.plot_curves(X[test], ax, grid=data.years_in.astype(float), samples=shown, linewidth=1)
plotting.plot_curves(
    predicted["curve to curve"], ax, grid=years, y=Y[test], samples=shown, label="predicted", y_label="true"
)
for i in shown:
    ax.annotate(countries[test[i]], (years[-1], Y[test[i], -1]), xytext=(4, 0), textcoords="offset points", va="center",
                fontsize="small", annotation_clip=False)  # fmt: skip
ax.axvline(1980, color="#8C8C8C", linewidth=1, linestyle=":")
ax.set(xlabel="", ylabel="births per woman")
ax.legend(frameon=False)
plt.show()

# %%
# Ridge regression, which is linear, is as accurate within the differences between splits: level and slope of the past
# determine most of the future. But it cannot use countries with gaps, and does not predict at other times.
