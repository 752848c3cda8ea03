"""
Strings
=======

Three handwritten digits side by side are a string of three characters. There are a thousand such strings, and 250
training samples: most test strings do not occur in the training data. They can be predicted with a kernel of strings
that counts equal characters at equal positions, and all strings as candidates.
"""

# %%
# The images are 24 times 8 pixels.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.svm import SVC

from hilbertlearn import StructuredPredictor, kernels

rng = np.random.default_rng(0)
images, digits = load_digits(return_X_y=True)
three = rng.integers(len(digits), size=(550, 3))
X = (images / 16)[three].reshape(550, 192)
strings = np.array(["".join(map(str, digits[row])) for row in three])
train, test = slice(0, 250), slice(250, None)
new = ~np.isin(strings[test], strings[train])
print(f"{new.mean():.0%} of the {len(new)} test strings do not occur in training")


def equal_places(one, other):
    return float(sum(a == b for a, b in zip(one, other)))


# %%
# An output loss is an alternative: ``output_loss="edit"`` minimises the expected edit distance. Scikit-learn's
# classifiers can use whole strings as classes, or predict each character separately.

every = [f"{i:03d}" for i in range(1000)]
model = StructuredPredictor("rbf", output_kernel=kernels.PairwiseKernel(equal_places), candidates=every)
predicted = {"string kernel, all strings": np.array(model.fit(X[train], strings[train].tolist()).predict(X[test]))}
nearest = [np.argmin(np.linalg.norm(X[train] - x, axis=1)) for x in X[test]]
predicted["nearest string"] = strings[train][nearest]
characters = np.array([list(string) for string in strings])
trees = ExtraTreesClassifier(100, random_state=0).fit(X[train], characters[train]).predict(X[test])
predicted["trees, each character"] = np.array(["".join(row) for row in trees])
single = SVC(gamma="scale").fit(X[train].reshape(-1, 64), characters[train].ravel())
apart = single.predict(X[test].reshape(-1, 64)).reshape(-1, 3)
predicted["SVC, known segmentation"] = np.array(["".join(row) for row in apart])
for name, found in predicted.items():
    same = np.array([[a == b for a, b in zip(*pair)] for pair in zip(found, strings[test])])
    print(f"{name:28} {same.all(axis=1).mean():.0%} of the strings right, {same.mean():.0%} of the characters")

# %%
# Some test images, with the two best strings each.

best, scores = model.predict_topk(X[test], 2)
figure, panels = plt.subplots(3, 4, figsize=(9, 3.9), layout="constrained")
for i, ax in enumerate(panels.flat):
    ax.imshow(X[test][i].reshape(3, 8, 8).transpose(1, 0, 2).reshape(8, 24), cmap="gray_r")
    right = best[i][0] == strings[test][i]
    ax.set_title(f"{best[i][0]}, then {best[i][1]}", color="#0072B2" if right else "#D55E00", fontsize=10)
    ax.set(xticks=[], yticks=[])
figure.supxlabel("blue: the first one is right", fontsize="small")
plt.show()

# %%
# If it is known that each third of the image is one character, a classifier of 750 single digits is more accurate.
# The kernel of strings does not use this knowledge, and learns from 250 strings.
