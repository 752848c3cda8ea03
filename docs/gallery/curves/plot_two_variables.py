"""
Functions of two variables
==========================

A plate is heated at one place, and its edges are kept cold. The temperature, a function of two variables, is
predicted from the place, strength and size of the heater. Half of the training temperatures were not measured.
"""

# %%
# Temperatures at 24 times 24 points, from the steady heat equation by finite differences.

import matplotlib.pyplot as plt
import numpy as np
import scipy.linalg
from sklearn.ensemble import ExtraTreesRegressor

from hilbertlearn import FunctionalRegressor, operators

rng = np.random.default_rng(0)
axis = np.linspace(0, 1, 26)[1:-1]
second = (np.diag(np.full(24, 2.0)) - np.eye(24, k=1) - np.eye(24, k=-1)) * 25**2
values, vectors = scipy.linalg.eigh(second)
across, up = np.meshgrid(axis, axis, indexing="ij")


def temperatures(x, y, power, size):
    heat = power * np.exp(-((across - x) ** 2 + (up - y) ** 2) / (2 * size**2)) / size**2
    return vectors @ (vectors.T @ heat @ vectors / np.add.outer(values, values)) @ vectors.T


settings = rng.uniform([0.15, 0.15, 0.5, 0.05], [0.85, 0.85, 1.5, 0.2], size=(260, 4))
X = (settings - settings.mean(axis=0)) / settings.std(axis=0)
truth = np.array([temperatures(*row) for row in settings])
seen = truth[:60] + 0.02 * rng.normal(size=(60, 24, 24))
seen[rng.random(seen.shape) < 0.5] = np.nan

# %%
# Arrays (samples, 24, 24) with a grid for each variable; NaN is a temperature that was not measured. The operator
# makes temperatures smooth in both variables. Trees do not support gaps: they are fitted to the complete plates,
# without noise.

smooth = operators.Integral("rbf", 100.0)
model = FunctionalRegressor("rbf", gamma=0.1, alpha=1e-5, grid=(axis, axis), operator=smooth).fit(X[:60], seen)
predicted = model.predict(X[60:])
trees = ExtraTreesRegressor(100, random_state=0).fit(X[:60], truth[:60].reshape(60, -1))
for name, plates in (("half observed", predicted), ("trees, complete", trees.predict(X[60:]).reshape(-1, 24, 24))):
    error = np.linalg.norm(plates - truth[60:]) / np.linalg.norm(truth[60:])
    print(f"{name:16} relative error {error:.3f}")

figure, panels = plt.subplots(3, 4, figsize=(8, 6), layout="constrained")
top, colours = truth[60:64].max(), plt.get_cmap("inferno").with_extremes(bad="#9ECAE1")
for column, i in enumerate(range(4)):
    for ax, plate in zip(panels[:, column], (seen[i], predicted[i], truth[60 + i])):
        image = ax.imshow(plate.T, origin="lower", cmap=colours, vmin=0, vmax=top)
        ax.set(xticks=[], yticks=[])
for ax, name in zip(panels[:, 0], ("some training plates", "new ones, predicted", "the same, true")):
    ax.set_ylabel(name)
figure.colorbar(image, ax=panels, label="temperature", shrink=0.6)
plt.show()

# %%
# With half of the temperatures and noise the model is more accurate than trees with all temperatures and no noise.
