"""
Histograms
==========

The output is a distribution. Losses of distributions (Hellinger, chi-square, Wasserstein) have decoders that return a
distribution: no negative entry, and a sum of one.

The distribution of the ink of the lower half of a handwritten digit over the eight columns is predicted from the
upper half.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

from hilbertlearn import StructuredPredictor, metrics

images = load_digits().images[np.random.default_rng(0).permutation(1797)] / 16
ink = images[:, 4:].sum(axis=1)
ink = ink / ink.sum(axis=1, keepdims=True)
upper = images[:, :4].reshape(-1, 32)
train, test = slice(0, 300), slice(300, 800)

# %%
# Each loss is evaluated by two measures. The predictions of kernel ridge regression are clipped at zero and divided
# by their sum.

predicted = {}
for loss in ("hellinger", "chi2", "wasserstein1d"):
    predicted[loss] = StructuredPredictor("rbf", output_loss=loss).fit(upper[train], ink[train]).predict(upper[test])
grid = {"alpha": np.geomspace(1e-3, 1, 7), "gamma": [0.03, 0.1, 0.3]}
plain = GridSearchCV(KernelRidge(kernel="rbf"), grid).fit(upper[train], ink[train]).predict(upper[test])
predicted["ridge, cut at zero"] = np.maximum(plain, 0) / np.maximum(plain, 0).sum(axis=1, keepdims=True)
predicted["mean of all"] = np.repeat(ink[train].mean(axis=0)[None], 500, axis=0)


def wasserstein(p, q):
    return np.abs(np.cumsum(p - q, axis=1)).sum(axis=1).mean()


print(f"{(plain < 0).any(axis=1).mean():.0%} of the ridge predictions have negative entries before clipping")
for name, found in predicted.items():
    hellinger = metrics.squared_hellinger_loss(ink[test], found)
    print(f"{name:20} squared Hellinger {hellinger:.4f}, Wasserstein {wasserstein(ink[test], found):.3f}")

# %%
figure, panels = plt.subplots(2, 5, figsize=(10, 3.8), layout="constrained", height_ratios=[1, 1.2])
columns = np.arange(8)
for (image, bars), i in zip(panels.T, (0, 1, 2, 3, 4)):
    image.imshow(images[test][i], cmap="gray_r")
    image.axhline(3.5, color="#0072B2")
    image.set_axis_off()
    bars.bar(columns, ink[test][i], color="#C8C8C8", label="true")
    bars.step(columns, predicted["hellinger"][i], where="mid", color="#0072B2", label="Hellinger")
    bars.step(columns, predicted["wasserstein1d"][i], where="mid", color="#E69F00", linestyle="--", label="Wasserstein")
    bars.set(xticks=[], ylim=(0, 0.6))
    bars.spines[["top", "right"]].set_visible(False)
    bars.sharey(panels[1, 0])
panels[1, 0].set_ylabel("share of the ink below")
figure.legend(*panels[1, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %%
# The chi-square loss is the best by both measures, and the other losses are close by their own measures. Kernel ridge
# regression with clipping is nearly as accurate.
