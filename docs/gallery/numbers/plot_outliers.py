"""
Outlier detection
=================

Some of the outputs are wrong. A robust loss limits their influence on the model, and the model identifies them.

The data are the 442 patients of scikit-learn's diabetes set: ten measurements each, and the progression of the
disease a year later. One in twelve of the training outputs is multiplied by ten, as if the decimal point was
misplaced.
"""

# %%
# Data and errors
# ---------------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import HuberRegressor
from sklearn.metrics import median_absolute_error

from hilbertlearn import OperatorKernelRegressor, outlier_report, plotting

X, y = load_diabetes(return_X_y=True)
rng = np.random.default_rng(0)
order = rng.permutation(len(y))
train, test = order[:300], order[300:]
wrong = np.sort(rng.choice(300, 25, replace=False))
seen = y[train].copy()
seen[wrong] *= 10

# %%
# Two losses, and scikit-learn's robust regression
# ------------------------------------------------
# Kernel, bandwidth and penalty are selected by leave-one-out. The Huber loss is quadratic for small residuals and
# linear beyond a constant, which is computed from leave-one-out residuals.

models = {
    "squared loss": OperatorKernelRegressor(),
    "Huber loss": OperatorKernelRegressor(loss="huber"),
    "scikit-learn's HuberRegressor": HuberRegressor(max_iter=1000),
}
for name, model in models.items():
    error = median_absolute_error(y[test], model.fit(X[train], seen).predict(X[test]))
    print(f"{name:30} median error {error:5.1f}")
clean = OperatorKernelRegressor().fit(X[train], y[train])
print(f"{'without wrong outputs':30} median error {median_absolute_error(y[test], clean.predict(X[test])):5.1f}")

# %%
# The outlier report
# ------------------
# The report has a row for each training sample, the largest deviation first. Each dot of the figure is a sample: its
# leave-one-out residual over its leverage, the influence on its own prediction.

robust = models["Huber loss"]
report = outlier_report(robust)
print(report.head(3).round(2))
found = np.isin(report.index[: len(wrong)], wrong).mean()
print(f"of the first {len(wrong)} rows {found:.0%} are wrong outputs")

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
plotting.plot_outliers(report, ax, n_named=2)
ax.set_title(f"{len(wrong)} of 300 outputs are ten times too large")
plt.show()

# %%
# The squared loss fails here; the Huber loss is as accurate as the squared one without wrong outputs, and its report
# lists the wrong outputs first. Scikit-learn's robust regression, which is linear, is nearly as accurate: the
# relation is nearly linear. It does not report outliers.
