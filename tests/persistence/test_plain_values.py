"""Values of Python, numpy and scipy in model files."""

import datetime
import functools
import tracemalloc
import zoneinfo
from collections import Counter, OrderedDict

import numpy as np
import pytest
import scipy.sparse
from helpers.model_files import roundtrip, write_nodes
from helpers.stored_models import assert_refused
from numpy.testing import assert_array_equal

from hilbertlearn import load, save
from hilbertlearn._utils.linalg import Spectrum
from hilbertlearn.data.objects import ObjectList
from hilbertlearn.persistence import archive


def test_sparse_matrices_that_point_elsewhere(tmp_path):
    import scipy.sparse

    S = scipy.sparse.csr_array(np.eye(4))
    path = save([S], tmp_path / "file")
    assert_array_equal(load(path)[0].toarray(), np.eye(4))
    S.indices[2] = 10**6
    assert_refused(save([S], path))
    C = scipy.sparse.coo_array(np.eye(4))
    C.coords[0][1] = 77
    assert_refused(save([C], path))


@pytest.mark.parametrize("kind", ["set", "frozenset", "dict", "counter"])
def test_keys_of_one_hash(tmp_path, kind):
    """Each would be compared with all before it."""
    keys = [n * (2**61 - 1) for n in range(1001)]
    assert len(set(map(hash, keys))) == 1

    def file(keys):
        parts = keys if "set" in kind else [part for key in keys for part in (key, 1)]
        return write_nodes(tmp_path / "file", [{"is": kind, "of": parts}])

    assert set(load(file(keys[:1000]))) == set(keys[:1000])
    assert_refused(file(keys), "one hash")


LONG = {"is": "range", "of": [0, 10**7, 1]}


@pytest.mark.parametrize(
    "nodes",
    [
        [{"is": "range", "of": [0, 10**11, 1]}],
        [LONG, {"is": "spline", "of": [[0], [0], 3, True, 0]}],
        [LONG, {"is": "compressed", "of": ["csr_array", [0], [0], [0], 3, 3]}],
        [LONG, {"is": "coordinates", "of": ["coo_array", [0], 1, [0], 3]}],
        [LONG, {"is": "diagonals", "of": ["dia_array", [0], [0], 3, 3]}],
    ],
    ids=lambda nodes: nodes[-1]["is"],
)
def test_ranges_do_not_become_arrays(tmp_path, nodes):
    write_nodes(tmp_path / "file", nodes)
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


VALUES = [
    None,
    True,
    0,
    -(2**63),
    2**63,
    -(3**100),
    7**9000,  # more digits than JSON's reader takes
    0.1,
    -0.0,
    1e-320,
    float("inf"),
    -float("inf"),
    3 - 4.5j,
    "",
    "ünïcode \u2028 \ud800",
    b"",
    bytes(range(256)),
    (),
    (1, (2.5, "a", None)),
    [[], [1]],
    {1, 2},
    frozenset({"a", ("b", 1), frozenset({3})}),
    {1: "a", (2, 3): "b", None: 4, "x": {}, 2.5: [], frozenset({1}): 1},
    OrderedDict([("b", 1), ("a", 2)]),
    Counter("abca"),
    slice(1, None, 2),
    range(3, 9, 2),
    ...,
    datetime.datetime(2020, 1, 2, 3, 4, 5, 6),
    datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC),
    datetime.datetime(2020, 7, 2, tzinfo=zoneinfo.ZoneInfo("Europe/Paris"), fold=1),
    datetime.date(2020, 1, 2),
    datetime.time(1, 2, 3, 4),
    datetime.timedelta(days=-3, microseconds=7),
    np.float64(0.1),
    np.float32(0.1),
    np.int8(-3),
    np.bool_(True),
    np.str_("text"),
    np.bytes_(b"text"),
    np.datetime64("2020-01-02T03"),
    np.timedelta64(3, "D"),
    np.complex64(1 + 2j),
    np.dtype("<f4"),
    np.dtype(object),
    np.float32,
    float,
    ObjectList(["a", (1, 2)]),
    Spectrum(1, "b"),
    np.log1p,
]


@pytest.mark.parametrize("value", VALUES, ids=[f"{i} {type(value).__name__}" for i, value in enumerate(VALUES)])
def test_values(value, tmp_path):
    again = roundtrip(value, tmp_path)
    assert type(again) is type(value) and again == value
    assert repr(again)[:100] == repr(value)[:100] if not isinstance(value, (int, set, frozenset)) else True
    nested = roundtrip({"a": [value, (value,)]}, tmp_path)["a"]
    assert type(nested[0]) is type(value) and nested[0] == value and nested[1] == (value,)


def test_nan_and_signs(tmp_path):
    assert np.isnan(roundtrip(float("nan"), tmp_path)) and np.isnan(roundtrip(np.float32("nan"), tmp_path))
    assert np.signbit(roundtrip(-0.0, tmp_path))
    assert roundtrip(np.float64("nan"), tmp_path).tobytes() == np.float64("nan").tobytes()


ARRAYS = [
    np.zeros((0, 3)),
    np.array(1.5),
    np.arange(6.0).reshape(2, 3),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(12.0)[::3],
    np.broadcast_to(1.0, (3, 2)),
    np.array([True, False]),
    np.arange(3, dtype=">i2"),
    np.array([1 + 2j]),
    np.array([1.5], dtype=np.float16),
    np.array(["a", "bcd"]),
    np.array([b"a", b"bcd"]),
    np.array(["2020-01-02", "NaT"], dtype="datetime64[s]"),
    np.array([3], dtype="timedelta64[ms]"),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype} {array.shape}")
def test_arrays(array, tmp_path):
    again = roundtrip(array, tmp_path)
    assert_array_equal(again, array, strict=True)
    assert again.flags.f_contiguous == np.array(array, order="A").flags.f_contiguous


def objects(items, shape=None):
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array if shape is None else array.reshape(shape)


@pytest.mark.parametrize(
    "array",
    [
        objects(["a", None, (1, 2), {3}, frozenset({4}), b"5", 2**70]),
        objects([np.float64(1), np.arange(2), [1], {"a": 1}], (2, 2)),
        np.asfortranarray(objects(list("abcdef"), (2, 3))),
        objects([]),
        objects(["x"]).reshape(()),
    ],
    ids=range(5),
)
def test_arrays_of_objects(array, tmp_path):
    again = roundtrip(array, tmp_path)
    assert again.dtype == object and again.shape == array.shape and repr(again) == repr(array)
    assert again.flags.f_contiguous == array.flags.f_contiguous
    assert list(map(type, again.ravel())) == list(map(type, array.ravel()))


@pytest.mark.parametrize("name", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("sort", ["matrix", "array"])
def test_sparse_matrices(name, sort, tmp_path):
    dense = np.where(np.random.default_rng(0).random((6, 4)) < 0.4, 1.5, 0.0)
    S = getattr(scipy.sparse, f"{name}_{sort}")(dense)
    again = roundtrip(S, tmp_path)
    assert type(again) is type(S) and again.shape == S.shape and again.dtype == S.dtype
    assert_array_equal(again.toarray(), dense)


def test_unsorted_indices_stay_as_they_are(tmp_path):
    S = scipy.sparse.csr_array((np.array([1.0, 2.0]), np.array([3, 1]), np.array([0, 2])), shape=(1, 4))
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    again = roundtrip(S, tmp_path)
    assert_array_equal(again.indices, S.indices, strict=True)
    assert_array_equal(again.indptr, S.indptr, strict=True)


def test_random_states_go_on(tmp_path):
    for state in (np.random.RandomState(3), np.random.default_rng(3)):
        state.normal(size=3)
        again = roundtrip(state, tmp_path)
        assert_array_equal(again.normal(size=5), state.normal(size=5))


def test_masked_arrays(tmp_path):
    array = np.ma.MaskedArray([1.0, 2.0], [True, False], fill_value=7.0)
    again = roundtrip(array, tmp_path)
    assert_array_equal(again.filled(), [7.0, 2.0])
    assert_array_equal(again.data, array.data)


def test_partial_functions(tmp_path):
    from sklearn.metrics.pairwise import rbf_kernel

    again = roundtrip(functools.partial(rbf_kernel, gamma=0.3), tmp_path)
    assert again.func is rbf_kernel and again.keywords == {"gamma": 0.3}
