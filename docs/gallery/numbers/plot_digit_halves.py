"""
The lower half of a digit
=========================

The output is an image: the 32 pixels of the lower half of a handwritten digit are predicted from the 32 pixels of its
upper half.
"""

# %%
# For comparison: nearest neighbours and extra trees of scikit-learn.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics import mean_squared_error
from sklearn.neighbors import KNeighborsRegressor

from hilbertlearn import OperatorKernelRegressor, plotting

images = load_digits().data / 16
order = np.random.default_rng(0).permutation(len(images))
upper, lower = images[order, :32], images[order, 32:]
train, test = slice(0, 600), slice(600, None)

models = {
    "OperatorKernelRegressor": OperatorKernelRegressor(),
    "extra trees": ExtraTreesRegressor(100, random_state=0),
    "5 neighbours": KNeighborsRegressor(5, weights="distance"),
}
predicted = {}
for name, model in models.items():
    predicted[name] = model.fit(upper[train], lower[train]).predict(upper[test])
    print(f"{name:24} error per pixel {np.sqrt(mean_squared_error(lower[test], predicted[name])):.3f}")

# %%
# The first digits of the test set. The unknown half is pale blue.

rows = {"given": np.full_like(lower[test], np.nan), **predicted, "truth": lower[test]}
pictures = {name: np.hstack([upper[test], half])[:12] for name, half in rows.items()}
figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
plotting.plot_images(pictures, ax, shape=(8, 8), n_shown=12, limits=(0, 1))
plt.show()

# %%
# The squared error favours means; a mean of several likely halves is blurred if the upper half does not determine the
# lower one. ``StructuredPredictor`` with candidates would predict a sharp image instead.
