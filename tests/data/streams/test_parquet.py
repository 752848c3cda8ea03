"""Parquet files: null is NaN, and columns that a file must have."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hilbertlearn.data import streams

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
N, P, D = 103, 3, 2
rng = np.random.default_rng(0)
X, Y, W = rng.normal(size=(N, P)), rng.normal(size=(N, D)), rng.uniform(size=N)


def table(rows=slice(None)):
    columns = {f"x{j}": X[rows, j] for j in range(P)} | {f"y{j}": Y[rows, j] for j in range(D)} | {"w": W[rows]}
    return pa.table(columns)


def parquet(folder):
    pq.write_table(table(), folder / "a.parquet", row_group_size=17)
    return streams.from_parquet(folder / "a.parquet", targets=["y0", "y1"], sample_weight="w", batch_size=10)


def test_null_is_nan_and_one_target_is_a_vector(tmp_path):
    columns = {"x": pa.array([1, None, 3]), "flag": pa.array([True, False, True]), "y": pa.array([1.0, 2.0, None])}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    (batch,) = streams.from_parquet(tmp_path / "a.parquet", targets="y")
    assert_array_equal(batch.X, [[1, 1], [np.nan, 0], [3, 1]])
    assert_array_equal(batch.y, [1, 2, np.nan])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"targets": ["y0", "z"]}, "no column 'z'; its columns are 'x0'"),
        ({"targets": "y0", "features": ["x0", "v"]}, "no column 'v'"),
        ({"targets": "y0", "sample_weight": "v"}, "no column 'v'"),
        ({"targets": []}, "targets must be the name"),
        ({"targets": "y0", "features": 3}, "features must be the name"),
    ],
)
def test_columns_that_are_not_there(options, message, tmp_path):
    parquet(tmp_path)
    with pytest.raises(ValueError, match=message):
        streams.from_parquet(tmp_path / "a.parquet", **options)


def test_columns_of_words_and_files_without_rows(tmp_path):
    pq.write_table(pa.table({"x": ["a", "b"], "y": [1.0, 2.0]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"column 'x' .*holds string"):
        streams.from_parquet(tmp_path / "a.parquet", targets="y")
    pq.write_table(table(slice(0, 0)), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match="has no rows"):
        streams.from_parquet(tmp_path / "b.parquet", targets="y0")
