"""From nodes to a model: forged tables, nodes and names, and small files that would be large, deep or endless."""

import json

import pytest
from helpers.model_files import first_node, forge, write_nodes
from helpers.stored_models import assert_refused

from hilbertlearn import load
from hilbertlearn.persistence import archive


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "builtins.eval",
        "subprocess.Popen",
        "sklearn.utils.Bunch",
        "sklearn.datasets.load_iris",
        "sklearn.linear_model._base.LinearModel",
        "sklearn.pipeline.delayed",
        "sklearn.ensemble.GradientBoostingRegressor",
        "sklearn.svm.SVC",
        "sklearn.neighbors.KNeighborsRegressor",
        "sklearn.linear_model.SGDRegressor",
        "hilbertlearn.vector.OperatorKernelRegressor",
        "machine.KernelMachine",
        "data.ParquetSource",
        "estimators.__class__",
        "estimators.",
        "",
        ["machine.State"],
        None,
        7,
    ],
)
def test_classes_that_are_not_in_the_table(file, name):
    def change(model, members):
        first_node(model, **{"is": "object"})["class"] = name

    assert_refused(forge(file, change))


@pytest.mark.parametrize("kind", ["type", "function", "import", "object"])
@pytest.mark.parametrize(
    "name", ["os.system", "os:system", "builtins.eval", "builtins:eval", "numpy.save", "numpy.load"]
)
def test_code_that_is_not_in_the_table(file, kind, name):
    def change(model, members):
        node = {"is": kind, "of": [name]} if kind != "object" else {"is": kind, "class": f"import {name}", "of": {}}
        model["nodes"] = [node]
        model["root"] = [0]

    assert_refused(forge(file, change))


@pytest.mark.parametrize(
    "node",
    [
        {"is": "list", "of": [[10**9]]},
        {"is": "list", "of": [[-1]]},
        {"is": "list", "of": [[1.0]]},
        {"is": "list", "of": [[True]]},
        {"is": "list", "of": [[0, 1]]},
        {"is": "list", "of": [{}]},
        {"is": "list", "of": {}},
        {"is": "list"},
        {"is": "list", "class": "losses.Huber", "of": []},
        {"is": "tuple", "class": "_utils.Spectrum", "of": [1]},
        {"is": "tuple", "class": "losses.Huber", "of": []},
        {"is": "tuple", "of": [[0]]},
        {"is": "dict", "of": [1]},
        {"is": "dict", "of": [[0], 1]},
        {"is": "object", "class": "data.ObjectList", "of": {}},
        {"is": "object", "class": "losses.Huber", "of": []},
        {"is": "array", "of": ["model.json"]},
        {"is": "array", "of": ["arrays/999.npy"]},
        {"is": "array", "of": [[0]]},
        {"is": "array", "of": []},
        {"is": "object_array", "of": ["C", 2, 10**9, 10**9]},
        {"is": "object_array", "of": ["C", 1, -1]},
        {"is": "scalar", "of": ["|O", "0000"]},
        {"is": "scalar", "of": ["<f8", "0"]},
        {"is": "dtype", "of": ["i4,O"]},
        {"is": "float", "of": ["1.5"]},
        {"is": "int", "of": ["0x"]},
        {"is": "zone", "of": ["../../etc/passwd"]},
        {"is": "bytes", "of": [1]},
        {"is": "random_state", "of": [1, 2, 3, 4]},
        {"is": "partial", "of": [1, 0]},
        {"is": "pandas.missing", "of": ["read_pickle"]},
        {"is": "pandas.dtype", "of": ["read_pickle"]},
        {"is": "polars.dtype", "of": ["scan_csv"]},
        {"is": "networkx", "of": ["read_gpickle", 1, 2, 3]},
        {"is": "compressed", "of": ["load_npz", 1, 2, 3]},
        {"is": "coordinates", "of": ["load_npz", 1, 2, 3]},
        {"is": "pickle", "of": ["gASVCg=="]},
        {"is": "__class__", "of": []},
        {"is": 3},
        {},
        [],
    ],
    ids=str,
)
def test_invalid_nodes(tmp_path, node):
    assert_refused(write_nodes(tmp_path / "file", [node]))


@pytest.mark.parametrize(
    "stored", [[], {}, {"root": 1}, {"root": [0], "nodes": {}}, {"root": {}, "nodes": []}, 1, None]
)
def test_invalid_tables(tmp_path, stored):
    archive.write_archive(tmp_path / "file", {"model.json": json.dumps(stored).encode()}, {})
    assert_refused(tmp_path / "file")


def chain(tmp_path, node, number, *last):
    """A file of nodes, each of which holds the one before; `node` makes one from the reference to another."""
    nodes = [{"is": "tuple", "of": []}, *(node([i]) for i in range(number)), *last]
    return write_nodes(tmp_path / "chain", nodes)


def test_lists_may_be_deep(tmp_path):
    found, depth = load(chain(tmp_path, lambda inner: {"is": "list", "of": [inner]}, 5000)), 0
    while found:
        (found,), depth = found, depth + 1
    assert depth == 5000  # which is no depth of calls


@pytest.mark.parametrize(
    "node",
    [
        lambda inner: {"is": "tuple", "of": [inner]},
        lambda inner: {"is": "object_array", "of": ["C", 1, 1, inner]},
        lambda inner: {"is": "slice", "of": [inner, None, None]},
    ],
    ids=["tuple", "object_array", "slice"],
)
def test_the_depth_of_values_that_are_hashed_or_freed_recursively_is_limited(tmp_path, node):
    load(chain(tmp_path, node, 500))
    assert_refused(chain(tmp_path, node, 5000), "too deep")


@pytest.mark.parametrize(
    "last",
    [
        {"is": "set", "of": [[60]]},
        {"is": "type", "of": [[60]]},
        {"is": "masked_array", "of": [[60], [60], [60]]},
        {"is": "dict", "of": [[60], 1]},
    ],
    ids=lambda node: node["is"],
)
def test_the_number_of_shared_parts_is_limited(tmp_path, last):
    """2^60 parts, of 61 nodes."""
    assert_refused(chain(tmp_path, lambda inner: {"is": "tuple", "of": [inner, inner]}, 60, last), "too many")
