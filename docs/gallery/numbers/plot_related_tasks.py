"""
Related tasks
=============

There are twenty outputs, some of them similar, and each is observed for a few samples only. An operator relates the
outputs, so that each improves the prediction of the others; it can be given, computed from the outputs, or learnt
with the model.
"""

# %%
# Twenty sensors in four groups: within a group all follow the same function of three inputs, up to sign and size.
# Each sensor is observed for 30 % of the samples.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import r2_score

from hilbertlearn import OperatorKernelRegressor, operators

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(360, 3))
functions = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] * X[:, 2], np.abs(X[:, 0]) - 1, np.cos(2 * X[:, 2])])
group = np.repeat(np.arange(4), 5)
sizes = rng.choice([-1, 1], size=20) * rng.uniform(0.7, 1.3, size=20)
truth = functions[:, group] * sizes
seen = truth[:160] + 0.3 * rng.normal(size=(160, 20))
seen[rng.random(seen.shape) < 0.7] = np.nan

# %%
# ``TaskGraph`` computes similarities of the outputs and smooths over their graph; it has no negative relations.
# ``LearnedOperator`` optimises the operator together with the function, including signs and sizes.

settings = {
    "independent": None,
    "TaskGraph()": operators.TaskGraph(),
    "Covariance()": operators.Covariance(),
    "LearnedOperator()": operators.LearnedOperator(),
}
alphas = np.geomspace(1e-4, 1e-2, 7)
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11.5, 3.4), width_ratios=[1, 1, 1.4], layout="constrained")
for (name, operator), color in zip(settings.items(), ("#8C8C8C", "#E69F00", "#009E73", "#0072B2")):
    models = [OperatorKernelRegressor("rbf", gamma=0.3, operator=operator, alpha=a).fit(X[:160], seen) for a in alphas]
    scores = [r2_score(truth[160:], model.predict(X[160:])) for model in models]
    right.semilogx(alphas, scores, "o-", color=color, markersize=4, label=name)
    print(f"{name:16} R2 {max(scores):.3f} at best")
right.set(xlabel="alpha", ylabel="R2 of new samples", ylim=(0.4, 0.9))
right.legend(frameon=False, fontsize="small")
right.spines[["top", "right"]].set_visible(False)
for ax, matrix, title in (
    (left, np.corrcoef(truth.T), "true correlations"),
    (middle, models[np.argmax(scores)].operator_, "operator that was learnt"),
):
    top = np.abs(matrix).max()
    ax.imshow(matrix, cmap="PuOr", vmin=-top, vmax=top)
    ax.set(title=title, xlabel="sensor", ylabel="sensor", xticks=[0, 5, 10, 15], yticks=[0, 5, 10, 15])
plt.show()

# %%
# The learnt operator recovers groups and signs although 70 % of the outputs are missing. ``alpha="auto"`` would
# select the penalty, by folds if there are gaps and an operator, which takes half a minute for ``LearnedOperator()``;
# here alpha is given so that all four models are shown over the whole range.
