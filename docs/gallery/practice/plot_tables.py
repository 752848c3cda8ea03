"""
Tables with numbers and categories
==================================

The example has inputs and outputs in data frames, gaps in the outputs, a column of categories, and a pipeline: the
estimators have the scikit-learn interface. ``kernels.Columns`` combines kernels of named columns, each with its own
bandwidth.
"""

# %%
# The data are scikit-learn's diabetes data in their original units. Three columns are predicted; one of them is
# observed for two thirds of the patients.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from hilbertlearn import OperatorKernelRegressor, kernels

table = load_diabetes(as_frame=True, scaled=False).frame.sample(frac=1, random_state=0)
table["sex"] = np.where(table["sex"] == 1, "f", "m")
numbers, outputs = ["age", "bmi", "bp", "s1", "s2", "s3"], ["s5", "s6", "target"]
X, Y = table[[*numbers, "sex"]], table[outputs].copy()
Y.loc[Y.index[::3], "s5"] = np.nan

# %%
# A kernel of the numbers combined with one of the category is compared with one-hot encoding. Trees do not support
# gaps: they are fitted to the complete outputs.

kernel = kernels.Columns([("rbf", numbers), (kernels.CategoricalKernel(), "sex")])
encoded = make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(), ["sex"]))
models = {
    "kernels.Columns": OperatorKernelRegressor(kernel),
    "one-hot encoding": make_pipeline(encoded, OperatorKernelRegressor()),
    "extra trees": make_pipeline(encoded, ExtraTreesRegressor(100, min_samples_leaf=3, random_state=0)),
}
scores = {}
for name, model in models.items():
    complete = table[outputs] if name == "extra trees" else Y
    predicted = cross_val_predict(model, X, complete, cv=3)
    scores[name] = r2_score(table[outputs], predicted, multioutput="raw_values")
    print(f"{name:18} R2", ", ".join(f"{column} {score:.2f}" for column, score in zip(outputs, scores[name])))

# %%
# A model that was fitted to data frames predicts one.

fitted = models["kernels.Columns"].fit(X[:300], Y[:300])
print(fitted.predict(X[300:303]).round(1))

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for shift, (name, color) in enumerate(zip(scores, ("#0072B2", "#56B4E9", "#8C8C8C"))):
    ax.bar(np.arange(3) + 0.27 * (shift - 1), scores[name], width=0.25, color=color, label=name)
ax.set_xticks(range(3), outputs)
ax.set_ylabel("R2, three folds")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# s5 is the logarithm of a concentration from which others were computed: it is a function of s1, s2 and s3
# (Friedewald's formula). Smooth models learn this function from 200 patients; trees, which are step functions, do
# not.
