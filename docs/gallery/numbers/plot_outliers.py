"""
Outliers named
==============

Some of the outputs are wrong. A robust loss keeps them from spoiling the model, and the model says which they are.

The data are the 442 patients of scikit-learn's diabetes set: ten measurements each, and the progression of the
disease a year later. As slips of the decimal point we multiply one in twelve of the training outputs by ten.
"""

# %%
# The data, and the slips
# -----------------------

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
# Kernel, bandwidth and penalty are chosen by the model. The Huber loss is a square for small residuals and grows
# linearly beyond a constant, which is found from held-out residuals.

models = {
    "squared loss": OperatorKernelRegressor(),
    "Huber loss": OperatorKernelRegressor(loss="huber"),
    "scikit-learn's HuberRegressor": HuberRegressor(max_iter=1000),
}
for name, model in models.items():
    error = median_absolute_error(y[test], model.fit(X[train], seen).predict(X[test]))
    print(f"{name:30} median error {error:5.1f}")
clean = OperatorKernelRegressor().fit(X[train], y[train])
print(f"{'without any slips':30} median error {median_absolute_error(y[test], clean.predict(X[test])):5.1f}")

# %%
# Which samples are they?
# -----------------------
# The report has a row for each training sample, the most suspect first. Each dot of the picture is a sample: how far
# it is from a model without it, over how much of its own prediction it decides.

robust = models["Huber loss"]
report = outlier_report(robust)
print(report.head(3).round(2))
found = np.isin(report.index[: len(wrong)], wrong).mean()
print(f"of the first {len(wrong)} rows {found:.0%} are slips")

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
plotting.plot_outliers(report, ax, n_named=2)
ax.set_title(f"{len(wrong)} of 300 outputs are ten times too large")
plt.show()

# %%
# The squared loss is of no use here; the Huber loss is as good as the squared one without any slips, and its report
# has the slips on top. Scikit-learn's robust regression, which is linear, is not far behind: the relation is nearly
# linear. It names no culprits.
