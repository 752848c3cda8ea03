"""
Two numbers for a digit
=======================

``KernelAutoencoder`` computes a code of a few numbers for each sample, from which its image in the kernel's feature
space can be reconstructed. The optimisation starts at kernel principal components.
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
# The codes of new images are evaluated by a nearest-neighbour classifier of the digit.

components = KernelPCA(2, kernel="rbf", gamma=model.gamma_).fit(X[:300])
codes = {"autoencoder": (model.transform(X[:300]), model.transform(X[300:]))}
codes["kernel PCA"] = components.transform(X[:300]), components.transform(X[300:])
figure, panels = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
for ax, (name, (old, new)) in zip(panels, codes.items()):
    right = KNeighborsClassifier(5).fit(old, digits[:300]).score(new, digits[300:])
    print(f"{name:12} {right:.1%} of new digits classified by nearest codes")
    for k, color in enumerate(("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#222222")):
        ax.scatter(*new[digits[300:] == k].T, s=10, color=color, label=str(k))
    ax.set(title=f"{name}: {right:.0%}", xticks=[], yticks=[])
panels[0].legend(frameon=False, title="digit", markerscale=2)
plt.show()

# %%
# The objective shows that the codes of the autoencoder reconstruct the images much better than the initial
# components. For nearest neighbours both are equally good here, though the autoencoder separates twos and threes.
