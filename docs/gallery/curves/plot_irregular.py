"""
Curves observed at a few points each
====================================

The outputs are concentrations of a drug after a dose, in patients of different weight, age and kidney function. Each
patient has three to seven blood samples, at different times: no two curves share a grid. The model predicts the whole
curve of a new patient from weight, age and kidney function.
"""

# %%
# The curves follow a one-compartment model, with noise: the drug is absorbed at one rate and excreted at another,
# which depends on the patient.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from hilbertlearn import FunctionalRegressor, IrregularFunctions, plotting, spaces

rng = np.random.default_rng(0)
hours = np.linspace(0, 24, 97)
weight, age, kidney = rng.uniform([50, 20, 0.3], [110, 80, 1.2], size=(300, 3)).T
X = np.column_stack([(weight - 80) / 17, (age - 50) / 17, (kidney - 0.75) / 0.26])


def concentration(times, i):
    absorbed, excreted = 1.4 - 0.008 * age[i], 0.22 * kidney[i]
    return 400 / weight[i] * absorbed / (absorbed - excreted) * (np.exp(-excreted * times) - np.exp(-absorbed * times))


truth = np.array([concentration(hours, i) for i in range(300)])
times = [np.sort(rng.uniform(0.2, 24, size=rng.integers(3, 8))) for _ in range(120)]
values = [concentration(t, i) * np.exp(0.08 * rng.normal(size=len(t))) for i, t in enumerate(times)]
seen = IrregularFunctions(times, values, domain=(0, 24))
print(seen)

# %%
# Curves are sums of twelve splines. For comparison: trees with the time as a further input.

model = FunctionalRegressor(space=spaces.BSpline(12)).fit(X[:120], seen)
predicted = model.predict(X[120:], grid=hours).to_array()
rows = np.concatenate([np.column_stack([np.tile(x, (len(t), 1)), t]) for x, t in zip(X, times)])
trees = ExtraTreesRegressor(200, min_samples_leaf=2, random_state=0).fit(rows, np.concatenate(values))
grid = np.column_stack([np.repeat(X[120:], 97, axis=0), np.tile(hours, 180)])
by_trees = trees.predict(grid).reshape(180, 97)
for name, curves in (("splines", predicted), ("trees", by_trees)):
    print(f"{name:8} error of whole curves {np.sqrt(np.mean((curves - truth[120:]) ** 2)):.3f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4), layout="constrained", sharey=True)
plotting.plot_curves(model.predict(X[:120], grid=hours), left, y=seen, samples=[0, 1, 2, 3], y_label="blood samples")
left.set(title="four of the patients fitted to", xlabel="hours", ylabel="concentration")
plotting.plot_curves(predicted, right, grid=hours, y=truth[120:], samples=[0, 1, 4], label="predicted", y_label="true")
right.plot(hours, by_trees[0], color="#0072B2", linewidth=0.8, alpha=0.7, label="trees, first patient")
right.set(title="three new patients", xlabel="hours", ylabel="")
for ax in (left, right):
    ax.legend(frameon=False)
plt.show()

# %%
# Five points of a curve carry little information about that curve; a hundred curves with five points each carry much
# about all of them.
