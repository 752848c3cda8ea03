"""
Two numbers for a digit
=======================

``KernelAutoencoder`` finds a few numbers for each sample, from which its image in a kernel's space can be rebuilt. It
starts at kernel principal components and descends from there.
"""

# %%
# 300 handwritten digits of five kinds.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA
from sklearn.neighbors import KNeighborsClassifier

from hilbertlearn import KernelAutoencoder

X, digits = load_digits(n_class=5, return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
X, digits = X[order] / 16, digits[order]
model = KernelAutoencoder(2, kernel="rbf", alpha=1e-5, max_iter=100).fit(X[:300])
print(f"objective from {model.objective_path_[0]:.4f} to {model.objective_path_[-1]:.4f} in {model.n_iter_} iterations")

# %%
# Are the two numbers of new images good for anything? A nearest neighbour in them knows the digit.

components = KernelPCA(2, kernel="rbf", gamma=model.gamma_).fit(X[:300])
codes = {"autoencoder": (model.transform(X[:300]), model.transform(X[300:]))}
codes["kernel PCA"] = components.transform(X[:300]), components.transform(X[300:])
figure, panels = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
for ax, (name, (old, new)) in zip(panels, codes.items()):
    right = KNeighborsClassifier(5).fit(old, digits[:300]).score(new, digits[300:])
    print(f"{name:12} {right:.1%} of new digits by their neighbours' codes")
    for k, color in enumerate(("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#222222")):
        ax.scatter(*new[digits[300:] == k].T, s=10, color=color, label=str(k))
    ax.set(title=f"{name}: {right:.0%}", xticks=[], yticks=[])
panels[0].legend(frameon=False, title="digit", markerscale=2)
plt.show()

# %%
# Codes of the autoencoder rebuild the images much better than the components that it starts from, as the objective
# says. For neighbours both are equally good here, though the autoencoder keeps twos and threes apart.
