"""
Learning from samples without outputs
=====================================

Six of 300 samples have a label. The others show where inputs are dense. A penalty on the graph of nearest neighbours
makes predictions change slowly along the graph, and the model also predicts for samples that are not in the graph.
"""

# %%
# Two moons, three labels each. ``None`` is a label that is not known; ``manifold`` is the weight of the penalty.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.semi_supervised import LabelSpreading

from hilbertlearn import StructuredPredictor

X, moon = make_moons(300, noise=0.08, random_state=0)
known = np.concatenate([np.flatnonzero(moon == k)[:3] for k in (0, 1)])
labels = [int(moon[i]) if i in known else None for i in range(300)]

axes = np.linspace(-1.6, 2.6, 120), np.linspace(-1.1, 1.6, 80)
grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
figure, panels = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", sharey=True)
for ax, manifold in zip(panels, (0.0, 0.1)):
    model = StructuredPredictor("rbf", gamma=3.0, alpha=1e-3, manifold=manifold).fit(X, labels)
    right = np.mean(model.predict(X) == moon)
    ax.contourf(*axes, model.predict(grid).reshape(80, 120), levels=[-0.5, 0.5, 1.5], colors=["#CFE3F1", "#FBE8C8"])
    ax.scatter(*X.T, s=10, color="#8C8C8C")
    for k, color in ((0, "#0072B2"), (1, "#E69F00")):
        ax.scatter(*X[known[moon[known] == k]].T, s=90, color=color, edgecolors="#222222", zorder=3)
    ax.set(title=f"manifold={manifold:g}: {right:.0%} right", xticks=[], yticks=[])
plt.show()

# %%
# Handwritten digits, 40 labels
# -----------------------------
# 1200 images are used for training, 40 of them with a label; 597 new images are the test set.

images, digits = load_digits(return_X_y=True)
order = np.random.default_rng(1).permutation(len(digits))
images, digits = images[order], digits[order]
labels = digits[:40].tolist() + [None] * 1160
for manifold in (0.0, 1e-3):
    model = StructuredPredictor(gamma=1e-3, alpha=1e-3, manifold=manifold).fit(images[:1200], labels)
    unlabelled, new = (
        np.mean(model.predict(images[rows]) == digits[rows]) for rows in (slice(40, 1200), slice(1200, None))
    )
    print(f"manifold={manifold:<6g} {unlabelled:.1%} of the unlabelled images right, {new:.1%} of new images")
spread = LabelSpreading(kernel="knn", n_neighbors=10, max_iter=100)
spread.fit(images[:1200], np.where(np.arange(1200) < 40, digits[:1200], -1))
unlabelled, new = (
    np.mean(spread.predict(images[rows]) == digits[rows]) for rows in (slice(40, 1200), slice(1200, None))
)
print(f"LabelSpreading  {unlabelled:.1%} of the unlabelled images right, {new:.1%} of new images")

# %%
# The images without a label halve the number of mistakes. Scikit-learn's ``LabelSpreading`` is as accurate here; it
# is for classes only, while ``manifold`` works for numbers, curves and objects too.
