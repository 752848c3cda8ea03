"""Coverage and width of intervals of level 0.9 on four small real tables, beside MAPIE around the same models.

20 random splits, two thirds to train on, the first target; widths are relative to the standard deviation of the target.
"Selected once" has the settings of the model of all training samples as numbers; MAPIE's jackknife+ has the same model.
Tables of FOLDER that are missing are left out, and MAPIE where it is not installed.
"""

from __future__ import annotations

import warnings

import numpy as np
from common import arguments, figures_of, progress, smaller, table, with_error, write_csv
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import KFold, LeaveOneOut, train_test_split

from hilbertlearn import ConformalPredictor, OperatorKernelRegressor

LEVEL = 0.9
MAPIE = True
TABLES = ("slump", "edm", "airquality", "prestige")


def read_tables(folder):
    """Inputs and first target of the tables, those of several outputs and those in ``small_tables`` beside them."""
    small = folder.parent / "small_tables" / "small_tables.npz"
    small = dict(np.load(small)) if small.exists() else {}
    for name in TABLES:
        if (folder / f"{name}.npz").exists():
            data = np.load(folder / f"{name}.npz", allow_pickle=True)
            yield name, data["X"].astype(float), data["Y"][:, 0].astype(float)
        elif f"{name}__X" in small:
            yield (
                name,
                small[f"{name}__X"].astype(float),
                small[f"{name}__Y"].reshape(len(small[f"{name}__X"]), -1)[:, 0],
            )
        else:
            print(f"{name}: not in {folder.parent}, left out")


def cross_conformal():
    """MAPIE's class for cross conformal intervals; None where it is not installed."""
    try:
        from mapie.regression import CrossConformalRegressor
    except ImportError:
        return None
    return CrossConformalRegressor


def intervals(X, y, new, seed, mapie):
    """Pairs (method, intervals (m, 2)) by methods that learn from X and y."""
    default = ConformalPredictor(level=LEVEL).fit(X, y)
    yield "default", default.predict_interval(new)
    fitted = default.estimator_
    settings = {"gamma": fitted.gamma_} if isinstance(fitted.kernel_, str) else {}
    given = OperatorKernelRegressor(fitted.kernel_, alpha=fitted.alpha_, **settings)
    yield "selected once", ConformalPredictor(given, "jackknife+", LEVEL).fit(X, y).predict_interval(new)
    if mapie is None:
        return
    folds = KFold(10, shuffle=True, random_state=seed)
    models = {
        "MAPIE jackknife+, selected once": (given, LeaveOneOut()),
        "MAPIE cv+, default estimator": (OperatorKernelRegressor(), folds),
        "MAPIE cv+, random forest": (RandomForestRegressor(random_state=seed), folds),
    }
    for name, (model, cv) in models.items():
        one = mapie(model, confidence_level=LEVEL, method="plus", cv=cv).fit_conformalize(X, y)
        yield name, one.predict_interval(new)[1][..., 0]


def quick(folder):
    """Figures of a small piece: a short run on few samples, without MAPIE, see ``common.figures_of``."""
    with smaller(__name__, TABLES=("slump",), MAPIE=False):
        return figures_of(main, ["coverage", "width"], "data", "method", data=folder)


def main():
    args = arguments(__doc__, data="multi_target", splits=20)
    mapie = cross_conformal() if MAPIE else None
    if MAPIE and mapie is None:
        print("mapie is not installed: only the intervals of hilbertlearn; pip install mapie")
    rows = []
    for name, X, y in read_tables(args.data):
        for seed in progress(range(2 if args.quick else args.splits), name):
            parts = train_test_split(X, y, test_size=1 / 3, random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of rates at the end of the grid
                for method, ends in intervals(parts[0], parts[2], parts[1], seed, mapie):
                    inside = (ends[:, 0] <= parts[3]) & (parts[3] <= ends[:, 1])
                    width = np.mean(ends[:, 1] - ends[:, 0]) / y.std()
                    rows.append({"data": name, "method": method, "coverage": inside.mean(), "width": width})
    keys = dict.fromkeys((row["data"], row["method"]) for row in rows)
    lines = []
    for key in keys:
        own = [row for row in rows if (row["data"], row["method"]) == key]
        lines.append([*key, *(with_error([row[value] for row in own]) for value in ("coverage", "width"))])
    print(table(["data", "method", "coverage", "mean width"], lines))
    write_csv("coverage_tables", rows)


if __name__ == "__main__":
    main()
