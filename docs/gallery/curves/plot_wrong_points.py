"""
Curves with gaps and wrong points
=================================

Births per woman, year by year, in the countries of the world: from the years before 1990 we predict those after it.
In the training curves a third of the years is missing, and some values are wrong. A loss that acts on single points
limits the influence of wrong points and uses the rest of the curve.
"""

# %%
# The data are included in the package (World Bank, CC BY 4.0). Gaps and errors are artificial, so that their
# positions are known.

import matplotlib.pyplot as plt
import numpy as np

from hilbertlearn import FunctionalRegressor, datasets, losses, plotting

data = datasets.load_fertility()
complete = np.isfinite(data.curves).all(axis=1)
X, Y, names = data.X[complete], data.Y[complete], data.countries[complete]
years = data.years_out.astype(float)
order = np.random.default_rng(0).permutation(len(X))
train, test = order[:120], order[120:]

rng = np.random.default_rng(1)
noisy = Y[train].copy()
wrong = rng.random(noisy.shape) < 0.08
noisy[wrong] = rng.uniform(0, 12, size=wrong.sum())
noisy[rng.random(noisy.shape) < 0.33] = np.nan

# %%
# The same model with three losses: the squared loss, the Huber loss of whole curves, and the Huber loss of single
# points.

settings = {"squared": losses.Squared(), "Huber, curves": losses.Huber(p=2), "Huber, points": losses.Huber(p=1)}
for name, loss in settings.items():
    model = FunctionalRegressor("rbf", loss=loss, grid=years).fit(X[train], noisy)
    error = np.abs(model.predict(X[test]) - Y[test]).mean()
    print(f"{name:16} mean error {error:.3f} births per woman")
clean = FunctionalRegressor("rbf", grid=years).fit(X[train], Y[train])
print(f"{'complete, right':16} mean error {np.abs(clean.predict(X[test]) - Y[test]).mean():.3f}")
print(f"{'last value':16} mean error {np.abs(X[test, -1:] - Y[test]).mean():.3f}")

# %%
# Three training curves, their fitted values, and the points at the bound of the loss (crosses).

several = np.flatnonzero((wrong & np.isfinite(noisy)).sum(axis=1) >= 2)
several = several[np.argsort(Y[train[several], 0])]
shown = several[[0, len(several) // 2, -1]]  # from few births to many
figure, ax = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
plotting.plot_curves(
    model.predict(X[train]), ax, grid=years, y=noisy, samples=shown, y_label="observed", label="fitted"
)
rows, columns = np.nonzero(model.saturated_[shown])
ax.plot(years[columns], noisy[shown[rows], columns], "x", color="#222222", markersize=8, label="at the bound")
for i, color in zip(shown, ("#0072B2", "#E69F00", "#009E73")):
    ax.annotate(names[train[i]], (years[-1], model.predict(X[train[i : i + 1]])[0, -1]), xytext=(4, 0), color=color,
                textcoords="offset points", va="center", fontsize="small", annotation_clip=False)  # fmt: skip
ax.set(xlabel="", ylabel="births per woman", xticks=[1990, 1995, 2000, 2005, 2010])
ax.legend(frameon=False, fontsize="small", loc="upper right")
plt.show()

# %%
observed = np.isfinite(noisy)
saturated = model.saturated_
for name, points in (("wrong", wrong & observed), ("right", ~wrong & observed)):
    print(f"{saturated[points].mean():.0%} of the {name} points are at the bound")

# %%
# Nearly all wrong points are at the bound of the loss, which limits their influence. Some right points are at the
# bound too, which costs little accuracy. An example is Niger, at the top: births did not fall there as in countries
# with a similar past.
