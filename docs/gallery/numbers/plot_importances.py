"""
Importance of inputs
====================

Friedman's first function depends on five of its ten inputs. ``kernels.MetricKernel`` learns a distance that ignores
the irrelevant inputs. The learnt distance also measures the importance of each input.
"""

# %%
# A plain Gaussian kernel measures distances in all ten inputs; trees select inputs at each split.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_friedman1
from sklearn.ensemble import ExtraTreesRegressor

from hilbertlearn import OperatorKernelRegressor, kernels, plotting

X, y = make_friedman1(n_samples=700, noise=1.0, random_state=0)
models = {
    "learnt distance": OperatorKernelRegressor(kernels.MetricKernel()),
    "plain kernel": OperatorKernelRegressor("rbf"),
    "extra trees": ExtraTreesRegressor(300, random_state=0),
}
for name, model in models.items():
    print(f"{name:16} R2 {model.fit(X[:200], y[:200]).score(X[200:], y[200:]):.3f}")

# %%
# The importances are mean squared derivatives, relative to their average. For this function they have a formula.

slope = 10 * np.pi * np.cos(np.pi * X[:, 0] * X[:, 1])
slopes = np.zeros((700, 10))
slopes[:, :5] = np.column_stack([slope * X[:, 1], slope * X[:, 0], 40 * (X[:, 2] - 0.5), np.full((700, 2), [10, 5])])
true = (slopes**2).mean(axis=0)
learnt = np.diag(models["learnt distance"].metric_)

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
plotting.plot_importances(models["learnt distance"], ax, names=[f"x{i}" for i in range(10)])
ax.plot((true / true.mean())[np.argsort(-learnt)], np.arange(10), "D", color="#D55E00", label="by the true function")
ax.legend(frameon=False, loc="lower right")
plt.show()

# %%
# Pixels that distinguish a three from an eight
# ---------------------------------------------
# With ``diagonal=True`` single inputs are weighted and not directions, which needs fewer samples if there are many
# inputs.

images, digits = load_digits(return_X_y=True)
kept = np.isin(digits, (3, 8))
images, label = images[kept] / 16, (digits[kept] == 8).astype(float)
model = OperatorKernelRegressor(kernels.MetricKernel(diagonal=True)).fit(images[:200], label[:200])
right = (model.predict(images[200:]) > 0.5) == label[200:]
print(f"{right.mean():.1%} of {len(right)} new images are classified correctly")

figure, (left, middle) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
plotting.plot_importances(model, left, shape=(8, 8))
left.set_title("importance of pixels")
middle.imshow((images[label == 1].mean(axis=0) - images[label == 0].mean(axis=0)).reshape(8, 8), cmap="PuOr")
middle.set(title="mean eight minus mean three", xticks=[], yticks=[])
plt.show()

# %%
# The important pixels are on the left, where an eight is closed and a three is open.
