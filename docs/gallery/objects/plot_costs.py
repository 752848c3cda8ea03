"""
Unequal costs of mistakes
=========================

To take a malignant tumour for a benign one is worse than the reverse. A table of costs quantifies this, and
predictions minimise the expected cost: no threshold has to be tuned.
"""

# %%
# Scikit-learn's breast cancer data: 569 tumours with 30 measurements each, of which 150 are for training. The cost of
# a missed tumour varies from one to a hundred false alarms.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from hilbertlearn import StructuredPredictor, output_losses

data = load_breast_cancer()
order = np.random.default_rng(0).permutation(569)
X, y = scale(data.data)[order], np.array(["malignant", "benign"])[data.target[order]]
train, test = slice(0, 150), slice(150, None)
malignant = y[test] == "malignant"

# %%
# Costs are a dictionary of (predicted, true). For comparison: logistic regression, with the decision of smallest
# expected cost under its probabilities.

logistic = LogisticRegression().fit(X[train], y[train])
probability = logistic.predict_proba(X[test])[:, list(logistic.classes_).index("malignant")]
ratios = [1, 3, 10, 30, 100]
missed, alarms = {"costs": [], "logistic": []}, {"costs": [], "logistic": []}
for ratio in ratios:
    costs = output_losses.CostMatrix({("benign", "malignant"): float(ratio), ("malignant", "benign"): 1.0})
    model = StructuredPredictor("rbf", output_loss=costs).fit(X[train], y[train])
    found = {"costs": model.predict(X[test]) == "malignant", "logistic": probability * ratio > 1 - probability}
    for name, positive in found.items():
        missed[name].append(np.sum(malignant & ~positive))
        alarms[name].append(np.sum(~malignant & positive))
    totals = [f"{name} {ratio * missed[name][-1] + alarms[name][-1]:4d}" for name in found]
    print(f"a missed tumour costs {ratio:3d}: total cost", ", ".join(totals))

figure, panels = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained", sharey=True)
places = np.arange(len(ratios))
for ax, name in zip(panels, missed):
    ax.bar(places - 0.2, missed[name], width=0.4, color="#D55E00", label="tumours missed")
    ax.bar(places + 0.2, alarms[name], width=0.4, color="#56B4E9", label="false alarms")
    ax.set_xticks(places, ratios)
    ax.set(
        title={"costs": "StructuredPredictor with costs"}.get(name, "logistic regression"),
        xlabel="cost of a missed tumour",
    )
    ax.spines[["top", "right"]].set_visible(False)
panels[0].set_ylabel(f"of {malignant.sum()} tumours and {(~malignant).sum()} others")
panels[0].legend(frameon=False)
plt.show()

# %%
# Both exchange false alarms for missed tumours according to the costs, and neither is better for all costs. With two
# classes the threshold of logistic regression is simple; the table of costs works for any number of classes, and for
# outputs without probabilities.
