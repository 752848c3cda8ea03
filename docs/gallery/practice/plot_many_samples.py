"""
Many samples
============

A kernel matrix of 20 000 samples has 400 million entries. Landmark features replace it; their number is selected by
the cross-validated error, or given. Rows can also be passed in batches; the result is the model of all rows.
"""

# %%
# The data have three inputs and two noisy outputs.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import r2_score
from sklearn.multioutput import MultiOutputRegressor

from hilbertlearn import OperatorKernelRegressor, features

rng = np.random.default_rng(0)


def truth(X):
    return np.column_stack([np.sin(8 * X[:, 0]) * np.cos(5 * X[:, 1]), np.exp(-8 * (X[:, 1] ** 2 + X[:, 2] ** 2))])


X = rng.uniform(-1, 1, size=(20_000, 3))
Y = truth(X) + 0.2 * rng.normal(size=(20_000, 2))
new = rng.uniform(-1, 1, size=(2000, 3))

# %%
# Errors against the truth, over the numbers of landmarks and samples, for a given kernel and penalty.

settings = {"gamma": 8.0, "alpha": 1e-6}
landmarks = [50, 100, 200, 400, 800]
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for n, color in ((1000, "#56B4E9"), (5000, "#0072B2"), (20_000, "#222222")):
    errors = []
    for number in landmarks:
        model = OperatorKernelRegressor("rbf", feature_map=number, **settings).fit(X[:n], Y[:n])
        errors.append(np.sqrt(np.mean((model.predict(new) - truth(new)) ** 2)))
    ax.loglog(landmarks, errors, "o-", color=color, label=f"{n} samples")
trees = MultiOutputRegressor(HistGradientBoostingRegressor(max_iter=150, random_state=0)).fit(X, Y)
ax.axhline(np.sqrt(np.mean((trees.predict(new) - truth(new)) ** 2)), color="#E69F00", linestyle="--",
           label="gradient boosting, 20000 samples")  # fmt: skip
ax.set_xticks(landmarks, landmarks)
ax.set_yticks([0.05, 0.1, 0.2, 0.3], [0.05, 0.1, 0.2, 0.3])
ax.set(xlabel="landmarks", ylabel="error")
ax.minorticks_off()
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# More landmarks help only if there are enough samples: with 1000 samples 800 landmarks fit the noise, since the
# penalty was set for more samples. ``feature_map="auto"`` selects their number, and alpha too.
#
# One batch after the other
# -------------------------
# With given landmarks the result of ``partial_fit`` is the model of all rows, independent of their order.

points = features.Landmarks(points=X[:300])
stream = OperatorKernelRegressor("rbf", feature_map=points, **settings)
for rows in np.array_split(np.arange(20_000), 10):
    stream.partial_fit(X[rows], Y[rows])
at_once = OperatorKernelRegressor("rbf", feature_map=points, **settings).fit(X, Y)
print(f"R2 against the truth {r2_score(truth(new), stream.predict(new)):.4f}")
difference = np.abs(stream.predict(new) - at_once.predict(new)).max()
print("ten batches and one fit are the same model:", bool(difference < 1e-8))
