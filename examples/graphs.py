"""Learning from samples without outputs, and links of a network from the features of its nodes.

Digits (scikit-learn's, 8 x 8): 40 of 1200 have a label. A penalty on the graph of all 1200 makes predictions of
neighbours similar; it is evaluated on the other 1160 (transductive) and on 597 new images (inductive).

Links: a network with three classes of nodes and features that depend on its structure (Brouard et al. 2016, appendix
C). The links among 60 nodes are known. The links among 200 nodes that are in the fit without links (transductive),
and among 140 new nodes (inductive), are predicted. The 200 nodes improve the predictions little here.

Prints tables and writes graphs.png beside this file.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_curve

from hilbertlearn import LinkPredictor, StructuredPredictor, baselines, datasets, metrics

PICTURE = Path(__file__).with_name("graphs.png")
WEIGHTS = (0.0, 1e-4, 1e-3, 1e-2)


def digits(draws=3, labelled=40, at_hand=1200):
    """Accuracies (draws, weights, 2) on unlabelled and on new images."""
    X, y = load_digits(return_X_y=True)
    accuracy = np.empty((draws, len(WEIGHTS), 2))
    for draw in range(draws):
        order = np.random.default_rng(draw).permutation(len(y))
        seen, new = order[:at_hand], order[at_hand:]
        labels = [int(label) for label in y[seen[:labelled]]] + [None] * (at_hand - labelled)
        for k, weight in enumerate(WEIGHTS):
            model = StructuredPredictor(gamma=1e-3, alpha=1e-3, manifold=weight).fit(X[seen], labels)
            for j, rows in enumerate((seen[labelled:], new)):
                accuracy[draw, k, j] = np.mean(model.predict(X[rows]) == y[rows])
    return accuracy


def links(known=60, unlabelled=200, nodes=400):
    """For each method the scores of pairs of new nodes; the true links among them."""
    network = datasets.make_mixture_network(nodes, p_intra=0.05, p_inter=0.002, random_state=0)
    X, A = network.X, network.adjacency
    order = np.random.default_rng(0).permutation(nodes)
    seen, others, new = np.split(order, [known, known + unlabelled])
    graph = A[seen][:, seen]
    alone = {"similarities": None}  # as in the paper: inner products of predictions, or cosines if these are better
    models = {
        "similarity alone": baselines.NaiveLinkPredictor().fit(X[seen], graph),
        "LinkPredictor()": LinkPredictor().fit(X[seen], graph),
        "200 nodes more": LinkPredictor(manifold="auto").fit(X[np.concatenate([seen, others])], graph),
        "ridge alone": LinkPredictor(gamma="auto", **alone).fit(X[seen], graph),
        "margin alone": LinkPredictor(gamma="auto", loss="hinge", center=True, **alone).fit(X[seen], graph),
    }
    print(f"\n{'area under the ROC curve':30} {'transductive':>13} {'inductive':>10}")
    for name, model in models.items():
        areas = [metrics.link_roc_auc(A[rows][:, rows], model.pair_scores(X[rows])) for rows in (others, new)]
        print(f"{name:30} {areas[0]:13.3f} {areas[1]:10.3f}")
    pairs = np.triu_indices(len(new), k=1)
    truth = A[new][:, new].toarray()[pairs] > 0
    return truth, {name: model.pair_scores(X[new])[pairs] for name, model in models.items()}


def main():
    accuracy = digits()
    print(f"{'weight of the graph':>20} {'transductive':>13} {'inductive':>10}   (digits, 40 labels, mean of 3 draws)")
    for weight, (unlabelled, new) in zip(WEIGHTS, accuracy.mean(axis=0), strict=True):
        print(f"{weight:20g} {unlabelled:13.1%} {new:10.1%}")
    truth, scores = links()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    for j, name in enumerate(("1160 images without a label", "597 new images")):
        line = left.plot(accuracy[:, :, j].mean(axis=0), "o-", label=name)[0]
        left.plot(accuracy[:, :, j].T, ".", color=line.get_color(), alpha=0.4)
    left.set_xticks(range(len(WEIGHTS)), [f"{weight:g}" for weight in WEIGHTS])
    left.set(title="Digits from 40 labels", xlabel="weight of the graph (manifold)", ylabel="accuracy")
    for name, values in scores.items():
        right.plot(*roc_curve(truth, values)[:2], label=name)
    right.set(title="Links among 140 new nodes", xlabel="false links", ylabel="links found")
    for axis in (left, right):
        axis.legend(frameon=False, fontsize=9)
        axis.spines[["top", "right"]].set_visible(False)
    part = PICTURE.with_suffix(".part")
    figure.savefig(part, format="png", dpi=120, bbox_inches="tight")
    os.replace(part, PICTURE)
    print(f"wrote {PICTURE.name}")


if __name__ == "__main__":
    main()
