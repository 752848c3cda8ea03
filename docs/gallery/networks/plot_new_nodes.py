"""
Links of new nodes
==================

Wines of the same cultivar are linked. The links among 25 wines are known; for 153 others only chemical measurements
are known. The model learns from the known links how links depend on the measurements, and predicts links of pairs of
new wines.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import scale

from hilbertlearn import LinkPredictor

X, cultivar = load_wine(return_X_y=True)
order = np.random.default_rng(1).permutation(len(X))
X, cultivar = scale(X)[order], cultivar[order]
known, new = slice(0, 25), slice(25, None)
same = (cultivar[:, None] == cultivar) & ~np.eye(len(X), dtype=bool)
model = LinkPredictor(gamma="auto").fit(X[known], same[known, known])
scores = model.pair_scores(X[new])

# %%
# For comparison: the similarity of the measurements alone, and trees that are trained on pairs, described by the
# differences of their measurements.

pairs = np.triu_indices(25, 1)
trees = ExtraTreesClassifier(200, random_state=0)
trees.fit(np.abs(X[known][pairs[0]] - X[known][pairs[1]]), same[known, known][pairs])
upper = np.triu_indices(len(X) - 25, 1)
truth = same[new, new][upper]
differences = np.abs(X[new][upper[0]] - X[new][upper[1]])
for name, values in (
    ("LinkPredictor", scores[upper]),
    ("similarity alone", -np.linalg.norm(differences, axis=1)),
    ("trees on pairs", trees.predict_proba(differences)[:, 1]),
):
    print(f"{name:18} area under the ROC curve {roc_auc_score(truth, values):.3f}")

# %%
# Scores of all pairs of new wines, in the order of their cultivars.

rows = np.argsort(cultivar[new], kind="stable")
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
image = left.imshow(scores[np.ix_(rows, rows)], cmap="cividis")
for end in np.flatnonzero(np.diff(cultivar[new][rows])) + 0.5:
    left.axhline(end, color="white", linewidth=0.8)
    left.axvline(end, color="white", linewidth=0.8)
left.set(title="scores of pairs of new wines", xticks=[], yticks=[])
figure.colorbar(image, ax=left, label="score")
bins = np.linspace(*np.quantile(scores[upper], [0.001, 0.999]), 40)
right.hist(scores[upper][truth], bins, color="#0072B2", alpha=0.7, density=True, label="same cultivar")
right.hist(scores[upper][~truth], bins, color="#E69F00", alpha=0.7, density=True, label="different")
right.axvline(model.thresholds_["new"], color="#222222", linestyle=":", label="threshold learnt")
right.set(xlabel="score", yticks=[])
right.legend(frameon=False)
right.spines[["top", "right", "left"]].set_visible(False)
plt.show()

# %%
# The links of 25 wines show which differences of measurements matter; similarity alone does not use them.
