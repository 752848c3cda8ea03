"""What a model file can hold: values of every kind."""

import datetime
import functools
import zoneinfo
from collections import Counter, OrderedDict

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.model_selection import KFold, ShuffleSplit

import hilbertlearn
from hilbertlearn import IrregularFunctions, kernels, load, losses, operators, output_losses, save, spaces
from hilbertlearn._utils.linalg import Spectrum
from hilbertlearn.data.objects import ObjectList

# ---------------------------------------------------------------- values


def trip(value, tmp_path):
    return load(save(value, tmp_path / "value.hl"))


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
    again = trip(value, tmp_path)
    assert type(again) is type(value) and again == value
    assert repr(again)[:100] == repr(value)[:100] if not isinstance(value, (int, set, frozenset)) else True
    nested = trip({"a": [value, (value,)]}, tmp_path)["a"]
    assert type(nested[0]) is type(value) and nested[0] == value and nested[1] == (value,)


def test_nan_and_signs(tmp_path):
    assert np.isnan(trip(float("nan"), tmp_path)) and np.isnan(trip(np.float32("nan"), tmp_path))
    assert np.signbit(trip(-0.0, tmp_path))
    assert trip(np.float64("nan"), tmp_path).tobytes() == np.float64("nan").tobytes()


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
    again = trip(array, tmp_path)
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
    again = trip(array, tmp_path)
    assert again.dtype == object and again.shape == array.shape and repr(again) == repr(array)
    assert again.flags.f_contiguous == array.flags.f_contiguous
    assert list(map(type, again.ravel())) == list(map(type, array.ravel()))


@pytest.mark.parametrize("name", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("sort", ["matrix", "array"])
def test_sparse_matrices(name, sort, tmp_path):
    dense = np.where(np.random.default_rng(0).random((6, 4)) < 0.4, 1.5, 0.0)
    S = getattr(scipy.sparse, f"{name}_{sort}")(dense)
    again = trip(S, tmp_path)
    assert type(again) is type(S) and again.shape == S.shape and again.dtype == S.dtype
    assert_array_equal(again.toarray(), dense)


def test_unsorted_indices_stay_as_they_are(tmp_path):
    S = scipy.sparse.csr_array((np.array([1.0, 2.0]), np.array([3, 1]), np.array([0, 2])), shape=(1, 4))
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    again = trip(S, tmp_path)
    assert_array_equal(again.indices, S.indices, strict=True)
    assert_array_equal(again.indptr, S.indptr, strict=True)


def test_random_states_go_on(tmp_path):
    for state in (np.random.RandomState(3), np.random.default_rng(3)):
        state.normal(size=3)
        again = trip(state, tmp_path)
        assert_array_equal(again.normal(size=5), state.normal(size=5))


def test_masked_arrays(tmp_path):
    array = np.ma.MaskedArray([1.0, 2.0], [True, False], fill_value=7.0)
    again = trip(array, tmp_path)
    assert_array_equal(again.filled(), [7.0, 2.0])
    assert_array_equal(again.data, array.data)


def test_partial_functions(tmp_path):
    from sklearn.metrics.pairwise import rbf_kernel

    again = trip(functools.partial(rbf_kernel, gamma=0.3), tmp_path)
    assert again.func is rbf_kernel and again.keywords == {"gamma": 0.3}


@pytest.mark.parametrize(
    "setting",
    [
        losses.InfConv(losses.Huber(0.4, 1), losses.Squared()),
        2.0 * output_losses.Absolute() + output_losses.Huber(0.2),
        kernels.Columns([("rbf", ["a"]), (kernels.Categorical(), "b")]),
        operators.AxisProduct(curves=operators.Covariance(0.3)),
        spaces.Dictionary(["fourier", spaces.BSpline(4)]),
        RBF(1.5) + WhiteKernel(0.1),
        KFold(3, shuffle=True, random_state=0),
        ShuffleSplit(2),
        hilbertlearn.model_selection.EdgeSplit(),
    ],
    ids=lambda setting: type(setting).__name__,
)
def test_settings(setting, tmp_path):
    again = trip(setting, tmp_path)
    assert type(again) is type(setting) and repr(again) == repr(setting)


def test_irregular_functions(tmp_path):
    curves = IrregularFunctions([[0.0, 1.0], [0.5]], [[1.0, np.nan], [2.0]], (0, 2))
    again = trip(curves, tmp_path)
    assert again.domain == curves.domain
    for one, other in zip(again.points + again.values, curves.points + curves.values, strict=True):
        assert_array_equal(one, other)


# ---------------------------------------------------------------- values of other packages


def test_frames_of_pandas(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "number": [1.5, np.nan],
            "whole": pandas.array([1, None], dtype="Int64"),
            "text": ["a", None],
            "string": pandas.array(["a", pandas.NA], dtype="string"),
            "category": pandas.Categorical(["x", "y"], ["y", "x", "z"], ordered=True),
            "time": pandas.to_datetime(["2020-01-01", "2021-01-01"]),
            "zoned": pandas.to_datetime(["2020-01-01", "2021-01-01"]).tz_localize("Europe/Paris"),
            "flag": [True, False],
        },
        index=pandas.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["one", None]),
    )
    again = trip(frame, tmp_path)
    pandas.testing.assert_frame_equal(again, frame)
    for name in frame:
        pandas.testing.assert_series_equal(trip(frame[name], tmp_path), frame[name])
        assert trip(frame[name].dtype, tmp_path) == frame[name].dtype


def test_indices_of_pandas(tmp_path):
    pandas = pytest.importorskip("pandas")
    for index in (
        pandas.RangeIndex(2, 9, 3, name="n"),
        pandas.Index([1.5, 2.5]),
        pandas.Index(["a", "b"], name=("p", 1)),
        pandas.Index(["a", 1, None], dtype=object),
        pandas.date_range("2020-01-01", periods=3, freq="D"),
        pandas.date_range("2020-01-01", periods=3, freq="h", tz=zoneinfo.ZoneInfo("Asia/Tokyo"), name="t"),
        pandas.period_range("2020-01", periods=3, freq="M", name="month"),
        pandas.PeriodIndex(["2020Q1", pandas.NaT, "2021Q2"], freq="Q"),
        pandas.to_timedelta([1, 2], unit="h"),
        pandas.CategoricalIndex(["a", "b", "a"]),
    ):
        pandas.testing.assert_index_equal(trip(index, tmp_path), index)
    for value in (
        pandas.Timestamp("2020-01-01 10:00"),
        pandas.Timestamp("2020-01-01", tz="UTC"),
        pandas.Timedelta("3h"),
    ):
        assert trip(value, tmp_path) == value
    assert trip(pandas.NA, tmp_path) is pandas.NA and trip(pandas.NaT, tmp_path) is pandas.NaT
    assert trip((pandas.DataFrame, pandas.Series), tmp_path) == (pandas.DataFrame, pandas.Series)
    with pytest.raises(TypeError, match="reset the index"):
        save(pandas.interval_range(0, 2), tmp_path / "intervals")


def test_frames_of_polars(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "number": [1.5, None],
            "whole": [1, 2],
            "text": ["a", None],
            "flag": [True, None],
            "lists": [[1, 2], [3]],
            "time": [datetime.datetime(2020, 1, 1), None],
            "day": [datetime.date(2020, 1, 1), None],
        }
    ).with_columns(
        polars.Series("category", ["a", "b"], dtype=polars.Categorical),
        polars.Series("kind", ["a", "b"], dtype=polars.Enum(["b", "a"])),
    )
    again = trip(frame, tmp_path)
    assert again.equals(frame) and again.schema == frame.schema
    for series in frame:
        assert trip(series.dtype, tmp_path) == series.dtype


def test_graphs_of_networkx(tmp_path):
    networkx = pytest.importorskip("networkx")
    for kind in (networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph):
        graph = kind(name="ring")
        graph.add_node("lonely", weight=2)
        graph.add_edge("b", ("a", 1), weight=0.5)
        graph.add_edge(3, "b")
        again = trip(graph, tmp_path)
        assert type(again) is kind and again.graph == graph.graph
        assert list(again.nodes(data=True)) == list(graph.nodes(data=True))
        assert list(again.edges(data=True)) == list(graph.edges(data=True))
        assert [list(again.adj[node]) for node in again] == [list(graph.adj[node]) for node in graph]
        again.add_edge(3, "c", weight=1.0)
        if not graph.is_directed() and not graph.is_multigraph():
            again["b"][3]["weight"] = 4.0
            assert again[3]["b"]["weight"] == 4.0  # one edge, whichever way it is asked for


def test_functions_of_scikit_fda(tmp_path):
    skfda = pytest.importorskip("skfda")
    bases = skfda.representation.basis
    grid = skfda.FDataGrid(np.random.default_rng(0).random((3, 6)), np.linspace(0, 1, 6), argument_names=["t"])
    basis = grid.to_basis(bases.FourierBasis((0, 1), n_basis=3))
    irregular = skfda.FDataIrregular(start_indices=[0, 2], points=np.c_[[0.0, 1, 0, 1]], values=np.ones((4, 1)))
    for functions in (grid, basis, irregular):
        again = trip(functions, tmp_path)
        assert type(again) is type(functions) and bool(again.equals(functions))
    for one in (bases.BSplineBasis((0, 2), n_basis=5), bases.MonomialBasis(domain_range=(0, 1), n_basis=2)):
        assert trip(one, tmp_path) == one
