"""
Curves with gaps and wrong points
=================================

Births per woman, year by year, in the countries of the world: from the years before 1990 we predict those after it.
Of the training curves a third of the years is missing, and some years are wrong. A loss that acts on single points
holds these back and keeps the rest of the curve.
"""

# %%
# The data come with the package (World Bank, CC BY 4.0). Gaps and errors are ours, so that we know where they are.

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
# The same model with three losses: the square, Huber's of whole curves, and Huber's of single points.

settings = {"squared": losses.Squared(), "Huber, curves": losses.Huber(p=2), "Huber, points": losses.Huber(p=1)}
for name, loss in settings.items():
    model = FunctionalRegressor("rbf", loss=loss, grid=years).fit(X[train], noisy)
    error = np.abs(model.predict(X[test]) - Y[test]).mean()
    print(f"{name:16} mean error {error:.3f} births per woman")
clean = FunctionalRegressor("rbf", grid=years).fit(X[train], Y[train])
print(f"{'complete, right':16} mean error {np.abs(clean.predict(X[test]) - Y[test]).mean():.3f}")
print(f"{'1989 goes on':16} mean error {np.abs(X[test, -1:] - Y[test]).mean():.3f}")

# %%
# Three training curves, what the model makes of them, and the points that it holds back (crosses).

several = np.flatnonzero((wrong & np.isfinite(noisy)).sum(axis=1) >= 2)
several = several[np.argsort(Y[train[several], 0])]
shown = several[[0, len(several) // 2, -1]]  # from few births to many
figure, ax = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
plotting.plot_curves(
    model.predict(X[train]), ax, grid=years, y=noisy, samples=shown, y_label="observed", label="fitted"
)
rows, columns = np.nonzero(model.saturated_[shown])
ax.plot(years[columns], noisy[shown[rows], columns], "x", color="#222222", markersize=8, label="held back")
for i, color in zip(shown, ("#0072B2", "#E69F00", "#009E73")):
    ax.annotate(names[train[i]], (years[-1], model.predict(X[train[i : i + 1]])[0, -1]), xytext=(4, 0), color=color,
                textcoords="offset points", va="center", fontsize="small", annotation_clip=False)  # fmt: skip
ax.set(xlabel="", ylabel="births per woman", xticks=[1990, 1995, 2000, 2005, 2010])
ax.legend(frameon=False, fontsize="small", loc="upper right")
plt.show()

# %%
observed = np.isfinite(noisy)
held = model.saturated_
for name, points in (("wrong", wrong & observed), ("right", ~wrong & observed)):
    print(f"{held[points].mean():.0%} of the points that are {name} are held back")

# %%
# Points that are held back still count, but no more than those at the bound of the loss: that a part of the right
# ones is among them costs little, and nearly all wrong ones are. In Niger, at the top, right points are held back
# too: there births did not fall as they did in countries with the same past.
