"""
Rankings
========

The output of a sample is an order of all labels. The model predicts the order itself: the decoder searches all
orders, not only the training orders.

The example predicts from the upper half of a handwritten digit the order in which the whole image resembles the ten
digits.
"""

# %%
# The true order is that of distances to the mean images of the ten digits.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import RidgeCV

from hilbertlearn import StructuredPredictor, metrics, plotting

X, digits = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
X, digits = X[order] / 16, digits[order]
means = np.array([X[digits == k].mean(axis=0) for k in range(10)])
ranks = np.linalg.norm(X[:, None] - means, axis=2).argsort(axis=1).argsort(axis=1)
train, test = slice(0, 300), slice(300, 700)
upper = X[:, :32]

# %%
# Kendall's loss counts pairs of labels in the wrong order. The alternative is to predict the ranks as ten numbers and
# to sort them.

model = StructuredPredictor(output_loss="kendall").fit(upper[train], ranks[train])
predicted = {"Kendall's loss": model.predict(upper[test])}
others = {"ridge, sorted": RidgeCV(np.geomspace(1e-2, 1e2, 9)), "trees, sorted": ExtraTreesRegressor(random_state=0)}
for name, regressor in others.items():
    numbers = regressor.fit(upper[train], ranks[train]).predict(upper[test])
    predicted[name] = numbers.argsort(axis=1).argsort(axis=1)
for name, orders in predicted.items():
    tau = metrics.kendall_tau(ranks[test], orders)
    first = np.mean(orders.argmin(axis=1) == ranks[test].argmin(axis=1))
    print(f"{name:16} Kendall's tau {tau:.3f}, first of the order right {first:.0%}")

# %%
# Three images: blue labels rise in the prediction, orange ones fall.

figure, panels = plt.subplots(1, 3, figsize=(10, 4.4), layout="constrained")
for ax, i in zip(panels, (0, 5, 11)):
    plotting.plot_rankings(ranks[test][i], predicted["Kendall's loss"][i], ax)
    inset = ax.inset_axes([0.4, 0.97, 0.2, 0.2])
    inset.imshow(X[test][i].reshape(8, 8), cmap="gray_r")
    inset.set(xticks=[], yticks=[])
plt.show()

# %%
# The prediction of orders is more accurate than sorted numbers, and has the right digit first more often.
