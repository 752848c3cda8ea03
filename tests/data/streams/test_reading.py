"""The forms in which fit takes rows in pieces."""

import numpy as np
import pytest

from hilbertlearn.data import streams

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
N, P, D = 103, 3, 2
rng = np.random.default_rng(0)
X, Y, W = rng.normal(size=(N, P)), rng.normal(size=(N, D)), rng.uniform(size=N)


def npy(folder):
    for name, part in (("X", X), ("y", Y), ("w", W)):
        np.save(folder / f"{name}.npy", part)
    return streams.from_npy(folder / "X.npy", str(folder / "y.npy"), folder / "w.npy", batch_size=10)


def table(rows=slice(None)):
    columns = {f"x{j}": X[rows, j] for j in range(P)} | {f"y{j}": Y[rows, j] for j in range(D)} | {"w": W[rows]}
    return pa.table(columns)


def parquet(folder):
    pq.write_table(table(), folder / "a.parquet", row_group_size=17)
    return streams.from_parquet(folder / "a.parquet", targets=["y0", "y1"], sample_weight="w", batch_size=10)


def batches():
    for rows in np.array_split(np.arange(N), 7):
        yield X[rows], Y[rows], W[rows]


@pytest.mark.parametrize(
    ("X", "y", "kind"),
    [
        ("x.npy", "y.npy", streams.ArraySource),
        ("a.parquet", ["y0", "y1"], streams.ParquetSource),
        (".", "y0", streams.ParquetSource),
    ],
)
def test_paths_that_fit_takes(X, y, kind, tmp_path):
    npy(tmp_path)
    (tmp_path / "X.npy").rename(tmp_path / "x.npy")
    parquet(tmp_path)
    y = str(tmp_path / y) if str(y).endswith("npy") else y
    assert streams.is_source(tmp_path / X)
    assert isinstance(streams.as_source(tmp_path / X, y), kind)


def test_other_forms_that_fit_takes(tmp_path):
    npy(tmp_path)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert streams.is_source(mapped) and not streams.is_source(X) and not streams.is_source([X])
    assert isinstance(streams.as_source(mapped, Y), streams.ArraySource)
    assert isinstance(streams.as_source(batches), streams.IterableSource)
    assert isinstance(streams.as_source(batches()), streams.IterableSource)
    source = streams.from_arrays(X, Y)
    assert streams.as_source(source) is source


def test_data_that_can_be_called_are_data():
    class Curves(list):
        def __call__(self, points):
            return points

    assert not streams.is_source(Curves([1, 2])) and not streams.is_source(Curves)
