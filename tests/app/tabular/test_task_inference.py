"""The task, inferred from names and cells of targets."""

import numpy as np
import pandas as pd
import pytest

from hilbertlearn.app.tabular import TableError
from hilbertlearn.app.tabular.task_inference import infer_task, points_in_names
from hilbertlearn.tabular import TabularModel


@pytest.mark.parametrize(
    ("names", "points"),
    [
        (["y_0.5", "y_1", "y_-2"], [0.5, 1, -2]),
        (["t10", "t9"], [10, 9]),
        (["2001", "2002"], [2001, 2002]),
        (["lead 2 at 1e-3 s", "lead 2 at 2e-3 s"], [1e-3, 2e-3]),
        (["y-1", "y-2"], [1, 2]),
        (["y_1,5", "y_2,5"], [1.5, 2.5]),
        (["a1", "b2"], None),
        (["y_1", "y_01"], None),
        (["y", "y_1"], None),
        (["y_1"], None),
    ],
)
def test_numbers_in_names(names, points):
    found, _ = points_in_names(names)
    assert (found is None) if points is None else found.tolist() == points


def test_tasks_are_inferred_from_targets():
    rng = np.random.default_rng(0)
    waves = pd.DataFrame(np.cumsum(rng.normal(size=(30, 12)), axis=1)).add_prefix("t")
    noise = pd.DataFrame(rng.normal(size=(30, 12))).add_prefix("t")
    ranks = pd.DataFrame(rng.permuted(np.tile(np.arange(1, 5), (30, 1)), axis=1)).add_prefix("r")
    labels = pd.DataFrame(rng.integers(0, 2, size=(30, 4))).add_prefix("l").astype(float)
    labels.iloc[0, 0] = np.nan
    few = pd.DataFrame(
        {"c": rng.integers(0, 3, 60), "many": rng.integers(0, 30, 60), "text": rng.choice(["a", "b"], 60)}
    )
    for frame, task in [(waves, "functional"), (noise, "vector"), (ranks, "ranking"), (labels, "multilabel")]:
        assert infer_task(frame, list(frame.columns))[0] == task
    assert [infer_task(few, [name])[0] for name in few.columns] == ["structured", "vector", "structured"]
    with pytest.raises(TableError, match="'text' hold no numbers"):
        infer_task(few, ["c", "text"])


@pytest.mark.parametrize("text", [False, True])
def test_many_dates_are_no_target(text):
    dates = pd.date_range("2024-01-01", periods=20)
    frame = pd.DataFrame({"x": np.arange(20.0), "when": dates.strftime("%Y-%m-%d") if text else dates})
    with pytest.raises(TableError, match=r"target 'when' holds dates.*days since a date"):
        TabularModel("when").fit(frame)


def target(cells):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.normal(size=len(cells)), "y": cells})


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([*map(float, range(39)), "oops"], ["'y' must hold numbers", "row 40 has 'oops'"]),
        ([f"{k}.5 mg" for k in range(40)], ["such as '0.5 mg'", "plain numbers", "structured"]),
        ([f"{k},5" for k in range(39)] + ["1,234"], ["such as '0,5'", "another decimal mark"]),
    ],
    ids=["a mistake", "units", "a mark that may be either"],
)
def test_numbers_with_something_wrong_are_no_classes(cells, words):
    with pytest.raises(TableError) as error:
        TabularModel("y").fit(target(cells))
    assert all(word in str(error.value) for word in words), error.value
    assert TabularModel("y", task="structured").fit(target(cells)).task_ == "structured"


def test_codes_of_few_kinds_are_classes():
    cells = ["1a", "2b", "3c"] * 10
    assert TabularModel("y").fit(target(cells)).task_ == "structured"
