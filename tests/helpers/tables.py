"""Tables of curves and of objects."""

import numpy as np
import pandas as pd

N = 40

POINTS = np.array([0.5, 2.0, 2.5, 4.0, 5.0, 6.0, 7.0, 8.5])


def curves_table():
    """Curves with columns out of order, integer identifiers, missing cells and a name that is not ASCII."""
    rng = np.random.default_rng(0)
    x, group = rng.normal(size=(N, 2)), rng.choice(["süd", "nord"], N)
    Y = np.sin(POINTS / 2 + x[:, :1]) + (group == "süd")[:, None] + 0.05 * rng.normal(size=(N, len(POINTS)))
    table = pd.DataFrame({"größe": x[:, 0], "id": 100 + np.arange(N), "weight": x[:, 1], "region": group, "unit": "kg"})
    for j in rng.permutation(len(POINTS)):
        table.insert(int(rng.integers(table.shape[1])), f"y_{POINTS[j]:g}", Y[:, j])
    table.loc[3, "weight"] = np.nan
    table.loc[5, "region"] = None
    table.loc[7, "y_4"] = np.nan
    return table


def objects_table():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(N, 2))
    scores = np.column_stack([x[:, 0], -x[:, 0], x[:, 1]])
    table = pd.DataFrame({"x": x[:, 0], "z": x[:, 1]})
    table[["r1", "r2", "r3"]] = 1 + (-scores).argsort(axis=1).argsort(axis=1)
    table[["A", "B"]] = (x > 0).astype(int)
    table["kind"] = np.where(x[:, 0] > 0, "hoch", "tief")
    return table
