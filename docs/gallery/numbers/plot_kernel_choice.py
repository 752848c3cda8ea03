"""
Selection of kernel, bandwidth and penalty
==========================================

By default kernel, ``gamma`` and ``alpha`` minimise the leave-one-out error, which has a closed form.
``search_results_`` contains all evaluated settings, and ``plot_search_results`` draws them.
"""

# %%
# A grid search of ``KernelRidge`` takes longer, since it fits each setting in each fold.

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, train_test_split

from hilbertlearn import OperatorKernelRegressor, plotting

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

start = time.perf_counter()
model = OperatorKernelRegressor().fit(X_train, y_train)
ours = time.perf_counter() - start
print(model.summary())

grid = {"kernel": ["rbf", "laplacian"], "alpha": np.geomspace(1e-3, 10, 7), "gamma": np.geomspace(0.1, 1e3, 7)}
start = time.perf_counter()
search = GridSearchCV(KernelRidge(), grid, cv=5).fit(X_train, y_train - y_train.mean())
theirs = time.perf_counter() - start

tried = len(model.search_results_["error"])
print(f"selected by leave-one-out from {tried} settings: R2 {model.score(X_test, y_test):.3f}")
score, settings = search.score(X_test, y_test - y_train.mean()), len(search.cv_results_["params"])
print(f"grid search of {settings} settings: R2 {score:.3f}")
print("the search took longer:", theirs > ours)

# %%
# The curves are the smallest error at each ``alpha`` (or ``gamma``), one for each kernel; the red dot marks the
# selected settings.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
plotting.plot_search_results(model, left)
plotting.plot_search_results(model, right, over="gamma")
for ax in (left, right):
    ax.set(yscale="linear", ylim=np.array([0.98, 1.4]) * model.search_results_["error"].min())
    ax.get_legend().remove()
figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
plt.show()

# %%
# The minimum is flat: the kernels, also the linear one, are within some per cent of each other, so that the penalty
# matters here and the kernel hardly does. For a single kernel all evaluated pairs are drawn as a map.

rbf = OperatorKernelRegressor("rbf").fit(X_train, y_train)
figure, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
plotting.plot_search_results(rbf, ax, over="both")
plt.show()
