"""A table with gaps: blood measurements of 442 patients, most of them incomplete.

Data: scikit-learn's diabetes table (Efron et al. 2004). Age, sex, body mass index and blood pressure predict six
serum measurements and the progression of the disease a year later. In the training table 60 % of the outputs are
empty, and 30 % in the test table: scores of ``hilbertlearn.metrics`` use the observed entries. scikit-learn's models
do not support gaps: they are fitted to each output separately, or to imputed outputs.

Prints a table and writes tables.png beside this file.
"""

import os
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_diabetes
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.impute import KNNImputer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split

from hilbertlearn import OperatorKernelRegressor, metrics

PICTURE = Path(__file__).with_name("tables.png")
INPUTS = ["age", "sex", "bmi", "bp"]
DRAWS = 3


class EachOutput(BaseEstimator):
    """A model for each output, fitted to the samples in which it was observed."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, Y):
        self.models_ = [clone(self.model).fit(X[y.notna()], y[y.notna()]) for _, y in Y.items()]
        return self

    def predict(self, X):
        return np.column_stack([model.predict(X) for model in self.models_])


class Filled(BaseEstimator):
    """One model for all outputs, their gaps imputed from the most similar patients."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, Y):
        both = KNNImputer(n_neighbors=10).fit_transform(np.column_stack([X, Y]))
        self.model_ = clone(self.model).fit(X, both[:, X.shape[1] :])
        return self

    def predict(self, X):
        return self.model_.predict(X)


def patients(seed):
    """Inputs and outputs of training and test, as frames; outputs have NaN where not observed."""
    table = load_diabetes(as_frame=True, scaled=True).frame
    X, Y = table[INPUTS], table.drop(columns=INPUTS)
    X, X_test, Y, Y_test = train_test_split(X, Y, test_size=0.4, random_state=seed)
    rng = np.random.default_rng(seed)
    Y, Y_test = (T.mask(rng.random(T.shape) < share) for T, share in ((Y, 0.6), (Y_test, 0.3)))
    return X / X.std(), Y, X_test / X.std(), Y_test


def main():
    trees = ExtraTreesRegressor(100, min_samples_leaf=5, random_state=0)
    models = {
        "OperatorKernelRegressor()": OperatorKernelRegressor(),
        "  operator='covariance'": OperatorKernelRegressor(operator="covariance"),
        "RidgeCV, each output": EachOutput(RidgeCV(np.geomspace(1e-2, 1e4, 19))),
        "RidgeCV, gaps filled": Filled(RidgeCV(np.geomspace(1e-2, 1e4, 19))),
        "ExtraTrees, each output": EachOutput(trees),
        "ExtraTrees, gaps filled": Filled(trees),
    }
    scores, seconds = {name: [] for name in models}, dict.fromkeys(models, 0.0)
    for seed in range(DRAWS):
        X, Y, X_test, Y_test = patients(seed)
        for name, model in models.items():
            start = time.perf_counter()
            predicted = clone(model).fit(X, Y).predict(X_test)
            seconds[name] += (time.perf_counter() - start) / DRAWS
            scores[name].append(metrics.r2_score(Y_test, predicted, multioutput="raw_values"))
    print(f"{len(X)} training patients, {Y.isna().to_numpy().mean():.0%} of the outputs missing; {DRAWS} draws")
    print(f"{'test R2':28}{'mean':>7}" + "".join(f"{name:>8.7}" for name in Y) + f"{'seconds':>9}")
    for name in models:
        raw = np.mean(scores[name], axis=0)
        print(f"{name:28}{raw.mean():7.3f}" + "".join(f"{score:8.2f}" for score in raw) + f"{seconds[name]:9.2f}")
    best = max(models, key=lambda name: np.mean(scores[name]))
    print(f"best on average: {best.strip()}")
    draw({name: np.mean(scores[name], axis=1) for name in models})


def draw(scores):
    """Mean R2 of each draw, one line per draw: models differ less than draws."""
    figure, axis = plt.subplots(figsize=(8, 4))
    for values in np.array(list(scores.values())).T:
        axis.plot(values, range(len(scores)), "o-", color="0.75", mfc="#2171b5", mec="none", lw=0.8)
    axis.plot([values.mean() for values in scores.values()], range(len(scores)), "|", color="black", ms=22, mew=2)
    axis.set_yticks(range(len(scores)), [name.strip() for name in scores])
    axis.invert_yaxis()
    axis.set(xlabel="test R2, mean over seven outputs (bar: mean over draws)", title="A table with 60 % gaps")
    axis.spines[["top", "right"]].set_visible(False)
    part = PICTURE.with_suffix(".part")
    figure.savefig(part, format="png", dpi=120, bbox_inches="tight")
    os.replace(part, PICTURE)
    print(f"wrote {PICTURE.name}")


if __name__ == "__main__":
    main()
