"""Forged trees and forests of scikit-learn."""

import pytest
from helpers.model_files import first_node, forge
from helpers.stored_models import VECTORS, X, assert_refused
from sklearn.ensemble import ExtraTreesRegressor

from hilbertlearn import save
from hilbertlearn.persistence.arrays import array_bytes, array_from_bytes


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("left_child", 10**6),
        ("left_child", 0),
        ("left_child", -2),
        ("left_child", -1),
        ("right_child", 1),
        ("feature", 4),
        ("feature", -1),
        ("feature", 2**40),
    ],
)
def test_forged_trees(tmp_path, column, value):
    path = save(ExtraTreesRegressor(2, random_state=0).fit(X, VECTORS), tmp_path / "forest.hl")

    def change(model, members):
        parts = first_node(model, **{"is": "tree"})["of"]
        (node,) = parts[parts.index(column) + 1]
        (name,) = model["nodes"][node]["of"]
        array = array_from_bytes(members[name], name)
        array[0] = value
        members[name] = array_bytes(array)

    assert_refused(forge(path, change), "tree")


@pytest.mark.parametrize(
    ("position", "value"), [(0, 2), (0, 100), (0, 0), (1, 0), (1, -1), (1, "a"), (2, None), (3, None), (4, "feature")]
)
def test_trees_with_other_numbers(tmp_path, position, value):
    path = save(ExtraTreesRegressor(2, random_state=0).fit(X, VECTORS), tmp_path / "forest.hl")

    def change(model, members):
        first_node(model, **{"is": "tree"})["of"][position] = value

    assert_refused(forge(path, change))


@pytest.mark.parametrize("name", ["n_features_in_", "n_outputs_"])
def test_forests_of_other_features(tmp_path, name):
    path = save(ExtraTreesRegressor(2, random_state=0).fit(X, VECTORS), tmp_path / "forest.hl")

    def change(model, members):
        trees = [node for node in model["nodes"] if node.get("class") == "sklearn.tree.ExtraTreeRegressor"]
        trees[-1]["of"][name] = 50

    assert_refused(forge(path, change), "tree")


def test_forests_where_the_first_tree_takes_others(tmp_path):
    other = ExtraTreesRegressor(2, random_state=0).fit(X[:, :2], VECTORS)
    mixed = ExtraTreesRegressor(2, random_state=0).fit(X, VECTORS)
    mixed.estimators_[0] = other.estimators_[0]
    path = save(mixed, tmp_path / "forest.hl")
    assert_refused(path, "trees of other features")
