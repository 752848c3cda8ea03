"""
Gaps in the outputs
===================

Several quantities are measured on each sample, but some are missing. The model uses the observed entries: NaN in an
output means "not observed", and nothing is imputed.

The data are scikit-learn's 178 wines. Seven measurements are predicted from six others. A growing share of the seven
is hidden in the training data.
"""

# %%
# The usual remedy is to impute gaps before the fit, by means or by a model of the outputs among each other
# (``IterativeImputer``). Here no imputation is needed.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import scale

from hilbertlearn import OperatorKernelRegressor

wines = scale(load_wine().data)
X_train, X_test, Y_train, Y_test = train_test_split(wines[:, :6], wines[:, 6:], random_state=0)
shares = [0.0, 0.2, 0.4, 0.6, 0.8]


def ridge(X, Y):
    grid = {"alpha": np.geomspace(0.1, 100, 4), "gamma": [0.01, 0.03, 0.1]}
    return GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=5).fit(X, Y)


methods = {
    "no imputation": lambda X, Y: OperatorKernelRegressor("rbf").fit(X, Y),
    "imputed by means": lambda X, Y: ridge(X, SimpleImputer().fit_transform(Y)),
    "imputed by the other outputs": lambda X, Y: ridge(
        X, IterativeImputer(max_iter=100, tol=1e-2, random_state=0).fit_transform(Y)
    ),
}

# %%
# Each share of gaps is drawn twice.

scores = {name: np.zeros((len(shares), 2)) for name in methods}
for i, share in enumerate(shares):
    for seed in range(2):
        gaps = np.random.default_rng(seed).random(Y_train.shape) < share
        observed = np.where(gaps, np.nan, Y_train)
        for name, fit in methods.items():
            scores[name][i, seed] = r2_score(Y_test, fit(X_train, observed).predict(X_test))

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, values), color in zip(scores.items(), ("#0072B2", "#E69F00", "#8C8C8C")):
    ax.plot(shares, values.mean(axis=1), "o-", color=color, label=name)
    ax.fill_between(shares, values.min(axis=1), values.max(axis=1), color=color, alpha=0.15, linewidth=0)
ax.set(xlabel="share of training outputs that are missing", ylabel="mean R2 of seven outputs, new wines")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
for name, values in scores.items():
    print(f"{name:30}", " ".join(f"{value:.2f}" for value in values.mean(axis=1)))

# %%
# Without gaps, or with few, a grid search of kernel ridge regression is a little better on these wines. If more than
# a third of the outputs is missing, imputation reduces the accuracy.
