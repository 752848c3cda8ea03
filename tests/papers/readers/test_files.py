"""Files of the user: arrays they must have, sizes that must agree, rows that are split."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from hilbertlearn.papers.readers.files import check_sizes, read_arrays, split_rows

AXES = {"x": "n", "y": "n", "A": "nn"}


def write(folder, **arrays):
    np.savez(folder / "data.npz", **arrays)
    return folder


def sparse_parts(name, matrix):
    matrix = scipy.sparse.csr_array(matrix)
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}
    return {f"{name}_{key}": value for key, value in parts.items()}


def test_arrays_come_back_by_name(tmp_path):
    A = np.array([[0, 2, 0], [0, 0, 3], [1, 0, 0]])
    write(tmp_path, x=np.arange(3), y=np.ones((3, 2)), **sparse_parts("A", A))
    for path in (tmp_path, str(tmp_path), tmp_path / "data.npz"):
        arrays, file = read_arrays(path, "data.npz", AXES, sparse=("A",))
        assert file == tmp_path / "data.npz"
        assert_array_equal(arrays["x"], [0, 1, 2])
        assert_array_equal(arrays["A"].toarray(), A)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"folder with data\.npz, which has x, y"):
        read_arrays(tmp_path, "data.npz", {"x": "n", "y": "n"})
    write(tmp_path, x=np.arange(3))
    with pytest.raises(ValueError, match=r"no y among its arrays \(x\)"):
        read_arrays(tmp_path, "data.npz", {"x": "n", "y": "n"})


def test_lengths_must_agree(tmp_path):
    write(tmp_path, x=np.arange(3), y=np.arange(4))
    with pytest.raises(ValueError, match="got x 3, y 4"):
        read_arrays(tmp_path, "data.npz", {"x": "n", "y": "n"})
    check_sizes("file", {"a": 2, "b": 2})


def test_rows_are_split_at_offsets():
    rows = np.arange(10).reshape(5, 2)
    parts = split_rows(rows, np.array([0, 2, 5]), "file", "rows")
    assert_array_equal(parts[0], rows[:2])
    assert_array_equal(parts[1], rows[2:])
    for offsets in ([0], [1, 5], [0, 4], [0, 3, 3, 5]):
        with pytest.raises(ValueError, match="offsets must increase from 0 to the number of rows, 5"):
            split_rows(rows, np.array(offsets), "file", "rows")
