"""Indices, dtypes and scalars of pandas in model files."""

import tracemalloc
import zoneinfo

import numpy as np
import pytest
from helpers.model_files import roundtrip, write_nodes
from helpers.stored_models import assert_refused

from hilbertlearn import save

pandas = pytest.importorskip("pandas")
LONG = {"is": "range", "of": [0, 10**7, 1]}
LONG_INDEX = {"is": "pandas.RangeIndex", "of": [0, 10**11, 1, None]}


@pytest.mark.parametrize(
    "nodes",
    [
        [LONG, {"is": "pandas.Index", "of": [[0], None, None]}],
        [LONG_INDEX, {"is": "pandas.Index", "of": [[0], None, None]}],
        [LONG_INDEX, {"is": "pandas.DatetimeIndex", "of": [[0], None, None, None]}],
        [LONG_INDEX, {"is": "pandas.PeriodIndex", "of": [[0], "M", None]}],
        [LONG_INDEX, {"is": "pandas.CategoricalIndex", "of": [[0], None, None]}],
        [LONG_INDEX, {"is": "pandas.MultiIndex", "of": [[0], [0], None]}],
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


COLUMNS = {
    "number": [1.5, np.nan],
    "whole": pandas.array([1, None], dtype="Int64"),
    "text": ["a", None],
    "string": pandas.array(["a", pandas.NA], dtype="string"),
    "category": pandas.Categorical(["x", "y"], ["y", "x", "z"], ordered=True),
    "time": pandas.to_datetime(["2020-01-01", "2021-01-01"]),
    "zoned": pandas.to_datetime(["2020-01-01", "2021-01-01"]).tz_localize("Europe/Paris"),
    "flag": [True, False],
}


def test_dtypes(tmp_path):
    frame = pandas.DataFrame(COLUMNS)
    for name in frame:
        assert roundtrip(frame[name].dtype, tmp_path) == frame[name].dtype
        index = pandas.Index(frame[name])
        pandas.testing.assert_index_equal(roundtrip(index, tmp_path), index)


def test_frames_are_refused_with_the_remedy(tmp_path):
    frame = pandas.DataFrame(COLUMNS)
    for value in (frame, frame["number"]):
        with pytest.raises(TypeError, match=r"to_numpy\(\)"):
            save([value], tmp_path / "frame")


def test_indices_and_scalars(tmp_path):
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
        pandas.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["one", None]),
    ):
        pandas.testing.assert_index_equal(roundtrip(index, tmp_path), index)
    for value in (
        pandas.Timestamp("2020-01-01 10:00"),
        pandas.Timestamp("2020-01-01", tz="UTC"),
        pandas.Timedelta("3h"),
    ):
        assert roundtrip(value, tmp_path) == value
    assert roundtrip(pandas.NA, tmp_path) is pandas.NA and roundtrip(pandas.NaT, tmp_path) is pandas.NaT
    assert roundtrip((pandas.DataFrame, pandas.Series), tmp_path) == (pandas.DataFrame, pandas.Series)
    with pytest.raises(TypeError, match="reset the index"):
        save(pandas.interval_range(0, 2), tmp_path / "intervals")
