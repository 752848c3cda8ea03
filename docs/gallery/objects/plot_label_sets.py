"""
Sets of labels
==============

Each sample has a set of labels. The best prediction depends on the loss: with the Hamming loss it contains each label
with a probability above one half, with F1 it is a set with a large overlap with the true one.
"""

# %%
# The data are generated, with 12 labels and two labels per sample on average.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, hamming_loss
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier

from hilbertlearn import StructuredPredictor

X, Y = make_multilabel_classification(700, 30, n_classes=12, n_labels=2, length=30, random_state=3)
X = np.sqrt(X)  # counts of words
train, test = slice(0, 300), slice(300, None)

models = {
    "F1 decoded": StructuredPredictor(output_loss="f1"),
    "Hamming decoded": StructuredPredictor(output_loss="hamming"),
    "logistic, each label": MultiOutputClassifier(LogisticRegression(C=0.1, max_iter=2000)),
    "logistic, a chain": ClassifierChain(LogisticRegression(C=0.1, max_iter=2000), random_state=0),
}
predicted, f1, wrong = {}, {}, {}
for name, model in models.items():
    sets = np.asarray(model.fit(X[train], Y[train]).predict(X[test])).astype(int)
    predicted[name] = sets
    f1[name] = f1_score(Y[test], sets, average="samples", zero_division=1.0)
    wrong[name] = hamming_loss(Y[test], sets)
    print(f"{name:22} F1 {f1[name]:.3f}  labels wrong {wrong[name]:.3f}  labels per set {sets.sum(axis=1).mean():.2f}")
print(f"{'truth':22} labels per set {Y[test].sum(axis=1).mean():.2f}")

# %%
# The sizes of the predicted sets, and both measures of accuracy.

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.8), layout="constrained")
colors = ("#0072B2", "#E69F00", "#8C8C8C", "#C8C8C8")
sizes = np.arange(7)
left.bar(sizes, [np.mean(Y[test].sum(axis=1) == k) for k in sizes], color="#E4E4E4", width=0.9, label="truth")
for (name, sets), color in zip(predicted.items(), colors):
    left.plot(sizes, [np.mean(sets.sum(axis=1) == k) for k in sizes], "o-", color=color, label=name)
left.set(xlabel="labels in a set", ylabel="share of the samples")
left.legend(frameon=False)
for name, color in zip(predicted, colors):
    right.scatter(wrong[name], f1[name], s=90, color=color)
    right.annotate(name, (wrong[name], f1[name]), xytext=(0, 8), textcoords="offset points", ha="center", va="bottom")
right.set(xlabel="share of labels that are wrong (smaller is better)", ylabel="mean F1 (larger is better)")
right.margins(0.25)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Labels are rare, so that the prediction for the Hamming loss is often the empty set. If F1 is the score, decode by
# F1; for the error of single labels logistic regression is a little better on these data.
