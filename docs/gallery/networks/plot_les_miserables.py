"""
Missing links of a novel
========================

The nodes are the 77 characters of *Les Misérables*, and characters who appear together are linked. The model scores
all other pairs; the pairs with the best scores may be missing links.
"""

# %%
# The graph is included in networkx. The characters have no features: scores combine common neighbours, longer paths
# and other similarities, with cross-validated weights.

import matplotlib.pyplot as plt
import networkx
import numpy as np
from sklearn.metrics import roc_auc_score

from hilbertlearn import LinkPredictor, plotting
from hilbertlearn.graphs import Pairs
from hilbertlearn.model_selection import EdgeSplit

novel = networkx.les_miserables_graph()
model = LinkPredictor().fit(novel)
best = model.predict_links(top_k=8)
for one, other, odds in best:
    print(f"{one} and {other}: log odds {odds:.1f}")

figure, ax = plt.subplots(figsize=(8, 6), layout="constrained")
plotting.plot_links(novel, ax, predicted=best)
ax.set_title("known links, and the eight likeliest others")
plt.show()

# %%
# Evaluation
# ----------
# Five times a fifth of all pairs is hidden, and the scores of the hidden pairs are evaluated by the area under the
# ROC curve. The usual scores of networkx are evaluated separately.

pairs = Pairs(novel)
areas = {"LinkPredictor": [], "common neighbours": [], "Adamic-Adar": [], "product of degrees": []}
for train, test in EdgeSplit(5).split(pairs, pairs.linked):
    hidden = pairs[test]
    areas["LinkPredictor"].append(
        LinkPredictor().fit(pairs[train], pairs.linked[train]).score(hidden, pairs.linked[test])
    )
    rest = novel.copy()
    names = np.array(list(novel))
    ends = [(names[i], names[j]) for i, j in np.column_stack([hidden.first, hidden.second])]
    rest.remove_edges_from(ends)
    others = {
        "common neighbours": [len(list(networkx.common_neighbors(rest, u, v))) for u, v in ends],
        "Adamic-Adar": [score for *_, score in networkx.adamic_adar_index(rest, ends)],
        "product of degrees": [score for *_, score in networkx.preferential_attachment(rest, ends)],
    }
    for name, scores in others.items():
        areas[name].append(roc_auc_score(pairs.linked[test], scores))
for name, values in areas.items():
    print(f"{name:20} area {np.mean(values):.3f}")

# %%
# Characters who meet are in the same scene, and common neighbours carry nearly all information: the Adamic-Adar
# score, one of the combined scores, is as good as the combination or a little better. The best score of a network is
# not known beforehand; ``weights_`` shows the learnt weights.

print({name: round(float(weight), 2) for name, weight in model.weights_["known"].items()})
