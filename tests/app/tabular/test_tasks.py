"""Predictions of each task are those of its estimator."""

import numpy as np
import pandas as pd
import pytest
from helpers.tables import N, objects_table
from numpy.testing import assert_allclose

from hilbertlearn import (
    ConformalPredictor,
    OperatorKernelRegressor,
    StructuredPredictor,
)
from hilbertlearn.app.tabular.columns import match_columns
from hilbertlearn.tabular import TabularModel


def target(cells):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.normal(size=len(cells)), "y": cells})


def test_intervals_are_those_of_the_conformal_predictor():
    rng = np.random.default_rng(1)
    x = rng.normal(size=N)
    table = pd.DataFrame({"x": x, "a": x + 0.1 * rng.normal(size=N), "b": x**2})
    model = TabularModel("a,b", level=0.8).fit(table)
    X = ((x - x.mean()) / x.std())[:, None]
    reference = ConformalPredictor(OperatorKernelRegressor(), level=0.8).fit(X, table[["a", "b"]].to_numpy())
    found, ends = model.predict(table), reference.predict_interval(X)
    assert list(found.columns) == ["a", "a_lower", "a_upper", "b", "b_lower", "b_upper"]
    assert_allclose(found[["a_lower", "b_lower"]], ends[..., 0], atol=1e-8)
    assert_allclose(found[["a_upper", "b_upper"]], ends[..., 1], atol=1e-8)
    assert_allclose(found[["a", "b"]], reference.predict(X), atol=1e-8)


@pytest.mark.parametrize(
    ("targets", "task", "setting"),
    [("r*", "ranking", {"output_loss": "kendall"}), ("A,B", "multilabel", {}), ("kind", "structured", {})],
)
def test_objects_are_those_of_the_predictor_fed_by_hand(targets, task, setting):
    table = objects_table()
    table.loc[0, match_columns(table.columns, targets, "targets")[0]] = np.nan
    model = TabularModel(targets, features="x,z", level=0.8).fit(table)
    assert (model.task_, model.n_samples_) == (task, N - 1)
    rest = table.iloc[1:]
    X = ((table[["x", "z"]] - rest[["x", "z"]].mean()) / rest[["x", "z"]].std(ddof=0)).to_numpy()
    names = model.targets_
    outputs = rest[names[0]].tolist() if task == "structured" else rest[names].to_numpy().astype(int)
    reference = ConformalPredictor(StructuredPredictor(**setting), level=0.8, random_state=0).fit(X[1:], outputs)
    found = model.predict(table)
    assert found[names].to_numpy().squeeze().tolist() == np.asarray(reference.predict(X)).squeeze().tolist()
    sets = reference.predict_set(X)
    assert found["set_size"].tolist() == sets.sizes.tolist()
    first = found["set"][1].split(" | ")[0]
    truth = rest.iloc[0]
    if task == "ranking":
        assert first == " > ".join(truth[names].astype(float).sort_values().index)
    elif task == "multilabel":
        assert first == "{" + ", ".join(name for name in "AB" if truth[name]) + "}"
    else:
        assert first == truth["kind"]


def test_quantiles_are_in_order_and_named_by_level():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"x": rng.normal(size=N)})
    table["y"] = table["x"] + rng.normal(size=N)
    found = TabularModel("y", levels=(0.25, 0.75)).fit(table).predict(table)
    assert list(found.columns) == ["y_q0.25", "y_q0.75"]
    assert (found["y_q0.25"] <= found["y_q0.75"]).all()
    assert 0.3 < ((found["y_q0.25"] <= table["y"]) & (table["y"] <= found["y_q0.75"])).mean() < 0.7


@pytest.mark.parametrize("missing", [False, True])
def test_truths_come_back_as_truths(missing):
    cells = [True, False] * 15 + [None] * missing
    frame = target(cells)
    predicted = TabularModel("y").fit(frame).predict(frame[:4])["y"]
    assert set(predicted) <= {"True", "False"} and len(predicted) == 4
