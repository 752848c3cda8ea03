"""Scores of the comparison are those of scikit-learn."""

import numpy as np
import pytest
from helpers.tables import POINTS, curves_table, objects_table
from numpy.testing import assert_allclose
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold

from hilbertlearn.app.tabular import TableError
from hilbertlearn.tabular import TabularModel, compare


@pytest.fixture(scope="module")
def table():
    return curves_table()


@pytest.mark.parametrize(
    ("targets", "score"), [("r*", "Kendall's tau"), ("A,B", "labels right"), ("kind", "share right")]
)
def test_comparison_of_objects(coarse, targets, score):
    table, name, _ = compare(TabularModel(targets, features="x,z"), objects_table(), folds=2)
    assert name == score
    scores = table.set_index("method")["score"]
    assert scores["hilbertlearn"] > scores.iloc[1] + 0.2  # the constant prediction
    assert (table["seconds"] > 0).all() and len(table) == 6


def test_comparison_of_curves_has_the_scores_of_scikit_learn(coarse):
    table = curves_table().drop(columns="region")
    found, name, notes = compare(TabularModel("y_*"), table.dropna(), folds=2)
    assert name == "R2" and any("unit" in note for note in notes)
    rows, names = table.dropna(), [f"y_{point:g}" for point in POINTS]
    X, Y = rows[["größe", "weight"]].to_numpy(), rows[names].to_numpy()
    values = []
    for train, test in KFold(2, shuffle=True, random_state=0).split(X):
        scale = X[train].std(axis=0)
        ridge = RidgeCV(np.logspace(-3, 4, 15)).fit(X[train] / scale, Y[train])
        values.append(1 - np.mean((ridge.predict(X[test] / scale) - Y[test]) ** 2) / Y.var(axis=0).mean())
    ours = found.set_index("method").loc["RidgeCV"]
    assert_allclose(ours["score"], np.mean(values))
    assert_allclose(ours["standard_error"], np.std(values, ddof=1) / np.sqrt(2))


@pytest.mark.filterwarnings("error")
def test_comparison_leaves_out_a_column_that_no_curve_has(coarse):
    table = curves_table().drop(columns="region").dropna()
    names = [f"y_{point:g}" for point in POINTS]
    empty = table.assign(**{names[3]: np.nan})
    model = TabularModel("y_*", task="functional")
    found, _, _ = compare(model, empty, folds=2)
    other, _, _ = compare(model, table.drop(columns=names[3]), folds=2)
    assert_allclose(found["score"][1:4], other["score"][1:4])  # trees draw random splits
    assert found["score"][0] > found["score"][1]


def test_comparison_scores_no_target_without_training_values(coarse):
    table = objects_table()[["x", "z"]].assign(u=lambda rows: rows["x"], v=np.nan)
    test = next(KFold(2, shuffle=True, random_state=0).split(table))[1]
    table.loc[table.index[test], "v"] = 1e3 * np.arange(len(test))
    first = compare(TabularModel("u,v", features="x,z"), table, folds=2)[0]
    table.loc[table.index[test], "v"] *= -7
    assert_allclose(first["score"], compare(TabularModel("u,v", features="x,z"), table, folds=2)[0]["score"], rtol=1e-6)
    assert np.isfinite(first["score"]).all()


def test_folds_are_not_more_than_samples(table):
    with pytest.raises(TableError, match="more than the 40 samples"):
        compare(TabularModel("y_*"), table, folds=50)
    with pytest.raises(ValueError, match="folds"):
        compare(TabularModel("y_*"), table, folds=1)
