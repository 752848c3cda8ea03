"""TabularModel: the task told from the columns, and each task."""

import numpy as np

from hilbertlearn.tabular import TabularModel

from .case import Case
from .data import CURVES, LABEL_SETS, RANKINGS, VECTORS, WORDS, N, T, X


def _table(**columns):
    """A function that makes the frame: three numbers, a category, and the target columns."""

    def make():
        import pandas as pd

        inputs = {"id": np.arange(100, 100 + N), "size": X[:, 0], "weight": X[:, 1], "height": X[:, 2]}
        region = np.where(X[:, 0] > 0, "north", "south")
        return pd.DataFrame({**inputs, "region": region, **columns})

    return make


def _long():
    import pandas as pd

    return pd.DataFrame(
        {
            "curve": np.repeat(np.arange(N), len(T)),
            "time": np.tile(T, N),
            "value": CURVES.ravel(),
            "size": np.repeat(X[:, 0], len(T)),
            "weight": np.repeat(X[:, 1], len(T)),
        }
    )


def numbers(frame):
    """Columns of numbers that are predictions, as an array."""
    return frame.drop(columns="id", errors="ignore")


def predictions(model, frame):
    return numbers(model.predict(frame))


def case(targets, table, **settings):
    return Case(TabularModel(targets, **settings), table, None, table, asks=(predictions,), needs=("pandas",))


_VECTORS = _table(u=VECTORS[:, 2], v=VECTORS[:, 1])
_CURVES = _table(**{f"y_{t:g}": CURVES[:, j] for j, t in enumerate(T)})
CASES = {
    "defaults, vector": case("u,v", _VECTORS),
    "defaults, curves": case("y_*", _CURVES),
    "defaults, classes": case("word", _table(word=WORDS)),
    "defaults, label sets": case("a,b,c", _table(**dict(zip("abc", LABEL_SETS.T)))),
    "defaults, rankings": case("r_*", _table(**{f"r_{j}": RANKINGS[:, j] for j in range(3)})),
    "long": Case(
        TabularModel(long=("curve", "time", "value")), _long, None, _long, asks=(predictions,), needs=("pandas",)
    ),
    "level": case("u,v", _VECTORS, level=0.8),
    "levels": case("u", _VECTORS, features="size:height", levels=(0.2, 0.8)),
}
