"""Detection of corrupted curves and points: ``outlier_report`` on the synthetic curves of Lambert et al. 2022.

200 training curves (appendix B.2), 10 % of them corrupted: type 1 (curves exchanged and negated), type 2 (another
Gaussian process added, intensity 2) or type 3 (a tenth of their points replaced by noise). The model has the paper's
kernels of inputs and outputs and ``losses.Huber(p=1)``, all other settings selected from the data. Results: the share
of the corrupted curves among the first 12 % of the report, and for type 3 precision and recall of the reported
points.

    python experiments/outliers.py            20 draws, about two minutes
    python experiments/outliers.py --quick    2 draws

Prints a table and writes output/outliers.csv.
"""

import numpy as np
from common import arguments, figures_of, progress, smaller, table, with_error, write_csv
from lambert2022_common import INPUT_RATE, OUTPUT_RATE
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import FunctionalRegressor, datasets, losses, operators, outlier_report, spaces

N, SHARE, FIRST = 200, 0.1, 0.12
TYPES = {
    "type 1 (labels)": datasets.corrupt_labels,
    "type 2 (curves)": datasets.corrupt_curves,
    "type 3 (points)": datasets.corrupt_points,
}


def model():
    output_kernel = {"space": spaces.Grid("equal"), "operator": operators.Integral("rbf", OUTPUT_RATE)}
    return FunctionalRegressor("precomputed", loss=losses.Huber(p=1), **output_kernel)


def look(corrupt, seed):
    """Share of the corrupted curves among the first, precision and recall of points, for one draw."""
    X, Y, _, grid = datasets.make_gaussian_process_curves(N, random_state=seed)
    Y, changed = corrupt(Y, SHARE, random_state=seed)
    report = outlier_report(model().set_params(grid=grid).fit(rbf_kernel(X, gamma=INPUT_RATE), Y))
    curves = changed if changed.ndim == 1 else changed.any(axis=1)
    found = {"found": curves[report.index[: round(FIRST * N)]].sum() / curves.sum()}
    if changed.ndim == 2:
        flagged = np.zeros(changed.shape, dtype=bool)
        for i, points in zip(report.index, report["points"], strict=True):
            flagged[i] = np.isin(grid, points)
        hits = (flagged & changed).sum()
        found |= {"precision": hits / max(flagged.sum(), 1), "recall": hits / changed.sum()}
    return found


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, N=40):
        return figures_of(main, ["found", "precision", "recall"], "outliers")


def main():
    quick = arguments(__doc__).quick
    rows = []
    for seed in progress(range(2 if quick else 20), "outliers"):
        rows += [{"draw": seed, "outliers": name, **look(corrupt, seed)} for name, corrupt in TYPES.items()]
    write_csv("outliers" + "_quick" * quick, rows)
    lines = []
    for name in TYPES:
        own = [row for row in rows if row["outliers"] == name]
        cells = [with_error([row[key] for row in own]) if key in own[0] else "" for key in ("precision", "recall")]
        lines.append([name, with_error([row["found"] for row in own]), *cells])
    print(table(["outliers", "found among the first 12 %", "precision of points", "recall of points"], lines))


if __name__ == "__main__":
    main()
