"""
Probabilities of links
======================

Scores of links order pairs. A calibrated probability also says how likely a link is: of pairs with 0.3, three in ten
should be links. This example hides links of a network and compares the probabilities with the hidden pairs.
"""

# %%
# The network has 200 nodes in three classes, and features that depend on its structure. A quarter of all pairs is
# hidden.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import brier_score_loss

from hilbertlearn import ConformalPredictor, LinkPredictor, datasets

network = datasets.make_mixture_network(200, p_intra=0.3, p_inter=0.02, random_state=0)
adjacency = network.adjacency.toarray()
first, second = np.triu_indices(200, 1)
hidden = np.random.default_rng(0).random(len(first)) < 0.25
known = adjacency.astype(float)
known[first[hidden], second[hidden]] = known[second[hidden], first[hidden]] = np.nan

model = ConformalPredictor(LinkPredictor(), level=0.9, random_state=0).fit(network.X, known)
pairs = np.column_stack([first, second])[hidden]
probability = model.predict_probability([tuple(pair) for pair in pairs.tolist()])
linked = adjacency[pairs[:, 0], pairs[:, 1]] > 0

# %%
# The scores are cross-validated log odds; the logistic function maps them to probabilities. The calibrated
# probabilities are corrected by links that no model was fitted to.

plain = 1 / (1 + np.exp(-LinkPredictor().fit(network.X, known).pair_scores()[pairs[:, 0], pairs[:, 1]]))
figure, ax = plt.subplots(figsize=(5.4, 4.8), layout="constrained")
ax.plot([0, 0.5], [0, 0.5], color="#8C8C8C", linewidth=1)
for name, values, color in (("calibrated", probability, "#0072B2"), ("logistic of the scores", plain, "#E69F00")):
    edges = np.unique(np.quantile(values, np.linspace(0, 1, 13)))
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    means = np.array([[values[place == k].mean(), linked[place == k].mean()] for k in np.unique(place)])
    ax.plot(*means.T, "o-", color=color, label=name)
    print(f"{name:24} Brier score {brier_score_loss(linked, np.clip(values, 0, 1)):.4f}")
ax.set(xlabel="predicted probability of a link", ylabel="share of links", xlim=(0, 0.5), ylim=(0, 0.5))
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
print(f"{linked.mean():.1%} of the hidden pairs are links; {probability.mean():.1%} is the mean probability")

# %%
# Both are accurate for likely links; for unlikely links the calibrated probabilities are closer to the truth.
