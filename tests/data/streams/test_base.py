"""Every source: each row once and in order, samples that are uniform, and what it refuses."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

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


def parquet_parts(folder):
    (folder / "parts").mkdir()
    pq.write_table(table(slice(0, 60)), folder / "parts" / "0.parquet")
    pq.write_table(table(slice(60, N)), folder / "parts" / "1.parquet", row_group_size=9)
    return streams.from_parquet(folder / "parts", targets=["y0", "y1"], features=["x0", "x1", "x2"], sample_weight="w")


def batches():
    for rows in np.array_split(np.arange(N), 7):
        yield X[rows], Y[rows], W[rows]


SOURCES = {
    "arrays": lambda folder: streams.from_arrays(X, Y, W, batch_size=10),
    "one batch": lambda folder: streams.from_arrays(X, Y, W),
    "npy": npy,
    "parquet": parquet,
    "parquet in parts": parquet_parts,
    "callable": lambda folder: streams.from_batches(batches),
    "list": lambda folder: streams.from_batches(list(batches())),
}


def rows_of(source):
    return [np.concatenate(parts) for parts in zip(*source, strict=True)]


@pytest.mark.parametrize("name", SOURCES)
def test_every_row_comes_once_and_again(name, tmp_path):
    source = SOURCES[name](tmp_path)
    assert source.repeatable and source.n_rows in (None, N)
    for _ in range(2):
        for part, wanted in zip(rows_of(source), (X, Y, W), strict=True):
            assert_array_equal(part, wanted)


@pytest.mark.parametrize("name", SOURCES)
def test_a_sample_has_rows_of_the_source_whole(name, tmp_path):
    source = SOURCES[name](tmp_path)
    some = source.sample(20)
    rows = [int(np.flatnonzero((x == X).all(axis=1))[0]) for x in some.X]
    assert len(set(rows)) == 20 and rows == sorted(rows)
    assert_array_equal(some.y, Y[rows])
    assert_array_equal(some.sample_weight, W[rows])
    again, other = source.sample(20), source.sample(20, random_state=1)
    assert_array_equal(again.X, some.X)
    assert (np.asarray(other.X) != some.X).any()
    assert_array_equal(source.sample(10 * N).X, X)


@pytest.mark.parametrize("kind", ["arrays", "callable", "parquet"])
def test_samples_are_uniform(kind, tmp_path):
    """Each row is drawn about as often as the others: a share of 0.3 within five standard deviations."""
    index = np.arange(40.0)[:, None]
    pq.write_table(pa.table({"x": index[:, 0], "y": index[:, 0]}), tmp_path / "a.parquet", row_group_size=7)
    source = {
        "arrays": lambda: streams.from_arrays(index, index),
        "callable": lambda: streams.from_batches(lambda: ((part, part) for part in np.array_split(index, 6))),
        "parquet": lambda: streams.from_parquet(tmp_path / "a.parquet", targets="y"),
    }[kind]()
    draws = 300
    drawn = np.concatenate([source.sample(12, random_state=seed).X[:, 0] for seed in range(draws)]).astype(int)
    counts = np.bincount(drawn, minlength=40)
    assert np.abs(counts - 0.3 * draws).max() < 5 * np.sqrt(draws * 0.3 * 0.7)


def written(folder, name, content=b""):
    (folder / name).write_bytes(content)
    return folder / name


REFUSALS = {
    "no such file": (lambda f: streams.from_npy(f / "none.npy", Y), FileNotFoundError, "no file"),
    "no such parquet": (lambda f: streams.from_parquet(f / "none", targets="y"), FileNotFoundError, "no file"),
    "empty npy": (lambda f: streams.from_npy(written(f, "e.npy"), Y), ValueError, "is empty; write"),
    "empty parquet": (lambda f: streams.from_parquet(written(f, "e.pq"), targets="y"), ValueError, "is empty; write"),
    "no npy": (lambda f: streams.from_npy(written(f, "e.npy", b"abcdefgh"), Y), ValueError, "numpy.save has written"),
    "no parquet": (
        lambda f: streams.from_parquet(written(f, "e.parquet", b"abcdefgh"), targets="y"),
        ValueError,
        "no Parquet file",
    ),
    "directory without files": (lambda f: streams.from_parquet(f, targets="y"), ValueError, r"no \*.parquet files"),
    "rows disagree": (lambda f: streams.from_arrays(X, Y[:-1]), ValueError, "X and y must have as many rows"),
    "no rows": (lambda f: streams.from_arrays(X[:0], Y[:0]), ValueError, "no rows"),
    "a list": (lambda f: streams.from_arrays([1, 2], Y), TypeError, "X must be an array"),
    "a batch of one": (lambda f: list(streams.from_batches([(X,)])), ValueError, "batch 1 must be"),
    "a batch that is none": (lambda f: list(streams.from_batches([(X, Y), X])), ValueError, "batch 2 must be"),
    "no batches": (lambda f: list(streams.from_batches([])), ValueError, "iterable is empty"),
    "not iterable": (lambda f: streams.from_batches(3), TypeError, "iterable of"),
    "batch size": (lambda f: streams.from_arrays(X, Y, batch_size=0), ValueError, "batch_size must be"),
    "widths": (lambda f: streams.from_batches([(X, Y), (X[:, 1:], Y)]).sample(500), ValueError, "same columns"),
    "y beside a source": (lambda f: streams.as_source(streams.from_arrays(X, Y), Y), ValueError, "y must be None"),
    "y beside npy": (lambda f: streams.as_source("x.npy"), ValueError, "y must be an array"),
    "y beside parquet": (lambda f: streams.as_source("x.parquet"), ValueError, "names of the target columns"),
    "another file": (lambda f: streams.as_source("x.csv", Y), ValueError, "end in .npy or .parquet"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(name, tmp_path):
    make, error, message = REFUSALS[name]
    with pytest.raises(error, match=message):
        make(tmp_path)


def test_weights_in_every_form_and_what_they_may_not_be():
    for given, wanted in ((None, np.ones(3)), (2, [2, 2, 2]), ([[1], [0], [2]], [1, 0, 2]), (np.zeros(3), [0, 0, 0])):
        assert_array_equal(streams.base.check_batch_weights(given, 3), wanted)
    for given in ([1, 2], np.ones((3, 2)), [1, -1, 1], [1, np.nan, 1], [1, np.inf, 1]):
        with pytest.raises(ValueError, match="sample_weight must"):
            streams.base.check_batch_weights(given, 3)
