"""Forged model files that are small, and would be large, deep or endless once they are read."""

import json
import tracemalloc

import pytest
from helpers.stored_models import assert_refused

from hilbertlearn import load, save
from hilbertlearn.persistence import archive


def chain(tmp_path, node, number, *last):
    """A file of nodes, each of which holds the one before; `node` makes one from the reference to another."""
    nodes = [{"is": "tuple", "of": []}, *(node([i]) for i in range(number)), *last]
    stored = {"root": [len(nodes) - 1], "nodes": nodes}
    archive.write_archive(tmp_path / "chain", {"model.json": json.dumps(stored).encode()}, {})
    return tmp_path / "chain"


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
def test_values_that_are_hashed_or_freed_by_calls_within_calls_are_not_deep(tmp_path, node):
    load(chain(tmp_path, node, 500))
    assert_refused(chain(tmp_path, node, 5000), "too deep")


@pytest.mark.parametrize(
    "last",
    [
        {"is": "set", "of": [[60]]},
        {"is": "type", "of": [[60]]},
        {"is": "masked_array", "of": [[60], [60], [60]]},
        {"is": "polars.Series", "of": ["a", None, [60]]},
        {"is": "dict", "of": [[60], 1]},
    ],
    ids=lambda node: node["is"],
)
def test_values_that_hold_each_other_twice(tmp_path, last):
    """2^60 parts, of 61 nodes."""
    assert_refused(chain(tmp_path, lambda inner: {"is": "tuple", "of": [inner, inner]}, 60, last), "too many")


@pytest.mark.parametrize("kind", ["set", "frozenset", "dict", "counter"])
def test_keys_of_one_hash(tmp_path, kind):
    """Each would be compared with all before it."""
    keys = [n * (2**61 - 1) for n in range(1001)]
    assert len(set(map(hash, keys))) == 1

    def file(keys):
        parts = keys if "set" in kind else [part for key in keys for part in (key, 1)]
        stored = {"root": [0], "nodes": [{"is": kind, "of": parts}]}
        archive.write_archive(tmp_path / "file", {"model.json": json.dumps(stored).encode()}, {})
        return tmp_path / "file"

    assert set(load(file(keys[:1000]))) == set(keys[:1000])
    assert_refused(file(keys), "one hash")


LONG = {"is": "range", "of": [0, 10**7, 1]}
LONG_INDEX = {"is": "pandas.RangeIndex", "of": [0, 10**11, 1, None]}


@pytest.mark.parametrize(
    "nodes",
    [
        [{"is": "range", "of": [0, 10**11, 1]}],
        [LONG, {"is": "spline", "of": [[0], [0], 3, True, 0]}],
        [LONG, {"is": "compressed", "of": ["csr_array", [0], [0], [0], 3, 3]}],
        [LONG, {"is": "coordinates", "of": ["coo_array", [0], 1, [0], 3]}],
        [LONG, {"is": "diagonals", "of": ["dia_array", [0], [0], 3, 3]}],
        [LONG, {"is": "polars.Series", "of": ["a", None, [0]]}],
        [LONG, {"is": "pandas.Index", "of": [[0], None, None]}],
        [LONG_INDEX, {"is": "pandas.Index", "of": [[0], None, None]}],
        [LONG_INDEX, {"is": "pandas.DatetimeIndex", "of": [[0], None, None, None]}],
        [LONG_INDEX, {"is": "pandas.PeriodIndex", "of": [[0], "M", None]}],
        [LONG_INDEX, {"is": "pandas.Series", "of": [[0], None, 1.0, None]}],
        [LONG_INDEX, {"is": "pandas.DataFrame", "of": [[0], [0], 1.0, None]}],
        [LONG_INDEX, {"is": "pandas.MultiIndex", "of": [[0], [0], None]}],
        [LONG_INDEX, {"is": "scalar", "of": ["<i8", "0" * 10]}, {"is": "polars.Series", "of": ["a", None, [0]]}],
    ],
    ids=lambda nodes: nodes[-1]["is"],
)
def test_what_is_short_in_a_file_is_not_made_long(tmp_path, nodes):
    if any("pandas" in node["is"] for node in nodes):
        pytest.importorskip("pandas")
    stored = {"root": [len(nodes) - 1], "nodes": nodes}
    archive.write_archive(tmp_path / "file", {"model.json": json.dumps(stored).encode()}, {})
    tracemalloc.start()
    assert_refused(tmp_path / "file")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


def test_long_ranges_are_refused_before_they_are_written(tmp_path):
    with pytest.raises(TypeError, match="range of 100000000 numbers"):
        save([range(10**8)], tmp_path / "file")
    assert load(save([range(10**6)], tmp_path / "file")) == [range(10**6)]


def test_rows_of_a_sparse_matrix_have_a_place_each(tmp_path):
    """A list of lists has one for each row: many in a small file would be many lists."""
    import scipy.sparse

    path = save(scipy.sparse.coo_array(([1.0], ([0], [0])), shape=(10**9, 1)), tmp_path / "file")
    members, versions = archive.read_archive(path)
    members["model.json"] = members["model.json"].replace(b"coo_array", b"lil_array")
    archive.write_archive(path, members, versions)
    assert_refused(path, "no sparse matrix")
