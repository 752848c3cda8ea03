"""Strings, rankings and a hierarchy of labels, from scikit-learn's handwritten digits (8 x 8 pixels).

Strings: two digits side by side are a string such as "37"; 30 of the 100 strings do not occur in training. They can
be predicted with a kernel of strings that counts equal characters at equal positions, and all strings as candidates,
or with a classifier for each character; a classifier of whole strings, or the nearest neighbour, cannot predict them.

Rankings: the ten digits in the order in which the whole image resembles their mean images, from its upper half alone.
The score is Kendall's tau, 1 for the right order and 0 for chance.

Hierarchy: digits in three groups by shape, round, straight and others; 60 of 800 labels are known. Another digit of
the same group costs 1, one of another group 3. The other 740 images are available without labels.

Prints tables and writes labels.png beside this file.
"""

import os
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.semi_supervised import LabelSpreading

from hilbertlearn import StructuredPredictor, kernels, metrics, output_losses

PICTURE = Path(__file__).with_name("labels.png")
IMAGES, DIGITS = load_digits(return_X_y=True)
IMAGES = IMAGES / 16
SPREAD = {"gamma": 256e-3, "alpha": 1e-3, "manifold": 1e-2}  # as in graphs.py, whose pixels are 16 times as large
GROUPS = [{0, 6, 8, 9}, {1, 4, 7}, {2, 3, 5}]


def timed(fit_and_predict):
    start = time.perf_counter()
    return fit_and_predict(), time.perf_counter() - start


def table(title, columns, rows, best=max):
    """Print {name: (scores, seconds)}, and which model has the best of the last scores."""
    print(f"\n{title:36}" + "".join(f"{column:>16}" for column in columns) + f"{'seconds':>9}")
    for name, (scores, seconds) in rows.items():
        print(f"{name:36}" + "".join(f"{score:16.3f}" for score in scores) + f"{seconds:9.2f}")
    print(f"best: {best(rows, key=lambda name: rows[name][0][-1])}")


# ---------------------------------------------------------------- strings


def equal_places(a, b):
    return float(sum(x == y for x, y in zip(a, b, strict=True)))


def two_digits(n=900, seed=0):
    """Images of two digits (n, 128), their strings, and which strings are for testing only."""
    rng = np.random.default_rng(seed)
    left, right = rng.integers(len(DIGITS), size=(2, n))
    strings = [f"{a}{b}" for a, b in zip(DIGITS[left], DIGITS[right], strict=True)]
    new = {f"{i:02d}" for i in rng.permutation(100)[:30]}
    return np.hstack([IMAGES[left], IMAGES[right]]), strings, np.array([s in new for s in strings])


def strings():
    X, words, new = two_digits()
    seen = np.flatnonzero(~new)
    train, test = seen[:400], np.concatenate([seen[400:], np.flatnonzero(new)])
    y, every = [words[i] for i in train], [f"{i:02d}" for i in range(100)]
    characters = np.array([list(word) for word in y])
    by_place = StructuredPredictor(output_kernel=kernels.PairwiseKernel(equal_places), candidates=every)
    models = {
        "StructuredPredictor, all strings": lambda: by_place.fit(X[train], y).predict(X[test]),
        "StructuredPredictor()": lambda: StructuredPredictor().fit(X[train], y).predict(X[test]),
        "ExtraTrees, whole strings": lambda: ExtraTreesClassifier(random_state=0).fit(X[train], y).predict(X[test]),
        "ExtraTrees, each character": lambda: [
            "".join(pair) for pair in ExtraTreesClassifier(random_state=0).fit(X[train], characters).predict(X[test])
        ],
        "nearest neighbour": lambda: KNeighborsClassifier(1).fit(X[train], y).predict(X[test]),
    }
    rows = {}
    for name, model in models.items():
        predicted, seconds = timed(model)
        right = np.array([a == words[i] for a, i in zip(predicted, test, strict=True)])
        rows[name] = ([right[~new[test]].mean(), right[new[test]].mean()], seconds)
    table("Strings: share right", ["known strings", "new strings"], rows)
    return {name: scores[1] for name, (scores, _) in rows.items()}


# ---------------------------------------------------------------- rankings


def rankings(n=250, n_test=200, seed=0):
    means = np.array([IMAGES[digit == DIGITS].mean(axis=0) for digit in range(10)])
    distances = ((IMAGES[:, None] - means) ** 2).sum(axis=2)
    ranks = 10 - distances.argsort(axis=1).argsort(axis=1)  # 10 is the most similar
    order = np.random.default_rng(seed).permutation(len(ranks))
    train, test = order[:n], order[n : n + n_test]
    X, Y = IMAGES[:, :32], ranks
    models = {
        "StructuredPredictor, Kendall": lambda: StructuredPredictor(output_loss="kendall").fit(X[train], Y[train]),
        "StructuredPredictor, Spearman": lambda: StructuredPredictor(output_loss="spearman").fit(X[train], Y[train]),
        "ExtraTrees, ranks": lambda: ExtraTreesRegressor(random_state=0).fit(X[train], Y[train]),
        "10 nearest neighbours, ranks": lambda: KNeighborsRegressor(10, weights="distance").fit(X[train], Y[train]),
        "nearest neighbour": lambda: KNeighborsRegressor(1).fit(X[train], Y[train]),
    }
    rows = {}
    for name, model in models.items():
        predicted, seconds = timed(lambda model=model: model().predict(X[test]))
        rows[name] = ([metrics.kendall_tau(Y[test], predicted)], seconds)
    table("Rankings from the upper half", ["Kendall's tau"], rows)
    return {name: scores[0] for name, (scores, _) in rows.items()}


# ---------------------------------------------------------------- a hierarchy of labels


def hierarchy(at_hand=800, labelled=60, draws=3):
    group = np.array([next(k for k, members in enumerate(GROUPS) if digit in members) for digit in range(10)])
    cost = 3.0 - 2.0 * (group[:, None] == group) - (np.arange(10)[:, None] == np.arange(10))
    loss = output_losses.CostMatrix(cost)

    def ours(X, y, new, **settings):
        known = [None if label < 0 else int(label) for label in y]
        return np.array(StructuredPredictor(output_loss=loss, **settings).fit(X, known).predict(new))

    def theirs(model, X, y, new):
        used = np.ones(len(y), bool) if isinstance(model, LabelSpreading) else y >= 0
        return model.fit(X[used], y[used]).predict(new)

    models = {
        "StructuredPredictor": ours,
        "StructuredPredictor, manifold": lambda X, y, new: ours(X, y, new, **SPREAD),
        "LabelSpreading": lambda X, y, new: theirs(LabelSpreading("knn", n_neighbors=7), X, y, new),
        "ExtraTrees": lambda X, y, new: theirs(ExtraTreesClassifier(random_state=0), X, y, new),
        "nearest neighbour": lambda X, y, new: theirs(KNeighborsClassifier(1), X, y, new),
    }
    found = {name: [] for name in models}
    for seed in range(draws):
        order = np.random.default_rng(seed).permutation(len(DIGITS))
        seen, test = order[:at_hand], order[at_hand:]
        y = np.where(np.arange(at_hand) < labelled, DIGITS[seen], -1)
        for name, model in models.items():
            predicted, seconds = timed(
                lambda model=model, seen=seen, y=y, test=test: model(IMAGES[seen], y, IMAGES[test])
            )
            found[name].append([np.mean(predicted != DIGITS[test]), cost[DIGITS[test], predicted].mean(), seconds])
    rows = {name: (np.mean(values, axis=0)[:2], np.mean(values, axis=0)[2]) for name, values in found.items()}
    table(f"Hierarchy, {labelled} labels, {draws} draws", ["share wrong", "mean cost"], rows, best=min)
    return {name: scores[1] for name, (scores, _) in rows.items()}


def main():
    panels = {
        "New strings: share right": strings(),
        "Rankings: Kendall's tau": rankings(),
        "Hierarchy: mean cost (less is better)": hierarchy(),
    }
    figure, axes = plt.subplots(1, 3, figsize=(14, 2.8), layout="constrained")
    for axis, (title, scores) in zip(axes, panels.items(), strict=True):
        colours = ["#2171b5" if name.startswith("Structured") else "0.7" for name in scores]
        axis.barh(range(len(scores)), list(scores.values()), color=colours)
        axis.set_yticks(range(len(scores)), list(scores), fontsize=8)
        axis.invert_yaxis()
        axis.set_title(title, fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
    part = PICTURE.with_suffix(".part")
    figure.savefig(part, format="png", dpi=120)
    os.replace(part, PICTURE)
    print(f"\nwrote {PICTURE.name}")


if __name__ == "__main__":
    main()
