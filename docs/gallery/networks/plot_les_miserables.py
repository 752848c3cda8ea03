"""
Who else meets in the novel?
============================

The 77 characters of *Les Misérables* and who appears with whom. From the links that are known the model scores all
other pairs, and the best of them are links that the list may have missed.
"""

# %%
# The graph comes with networkx. There are no features of the characters: scores combine common neighbours, longer
# paths and more, with weights that are learnt from links held out.

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
# How good are such scores?
# -------------------------
# A fifth of all pairs is hidden, five times, and the scores of the hidden ones are judged by the area under the ROC
# curve. Beside it are the usual scores of networkx, each for itself.

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
# In this novel everybody who meets is in the same scene, and common neighbours say nearly everything: Adamic and
# Adar's score, one of those that are combined, is by itself as good as the combination or a little better. Which of
# them suits a network is not known beforehand; ``weights_`` says what was learnt.

print({name: round(float(weight), 2) for name, weight in model.weights_["known"].items()})
