"""Arrays of the user's files, with checks of their names and sizes."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import scipy.sparse


def read_arrays(path, name, axes, sparse=()):
    """Arrays by name from the file `name` in the folder `path`, or from the file `path` itself, and the file.

    axes : for each array the letters of its first axes; axes of the same letter must have the same length
    sparse : names of sparse matrices, whose four parts are arrays of the file
    """
    file = Path(path)
    if file.suffix != ".npz":
        file = file / name
    parts = {key: [f"{key}_{part}" for part in ("data", "indices", "indptr", "shape")] for key in sparse}
    keys = [part for key in axes for part in parts.get(key, [key])]
    if not file.is_file():
        raise FileNotFoundError(f"no file {file}: path must be the folder with {name}, which has {', '.join(keys)}")
    try:
        stored = _load(file, keys)
    except (ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{file} must be an .npz file with the arrays {', '.join(keys)}: {error}") from error
    arrays = {key: _sparse(stored, parts[key], file) if key in sparse else stored[key] for key in axes}
    sizes: dict[str, dict] = {}
    for key, letters in axes.items():
        for letter, size, prefix in zip(letters, arrays[key].shape, ("", "columns of ")):
            sizes.setdefault(letter, {})[prefix + key] = size
    for sizes_of_axis in sizes.values():
        check_sizes(file, sizes_of_axis)
    return arrays, file


def _load(file, keys):
    """The arrays with the given names of an .npz file."""
    with zipfile.ZipFile(file) as archive:
        names = [entry.removesuffix(".npy") for entry in archive.namelist()]
    missing = [key for key in keys if key not in names]
    if missing:
        raise ValueError(f"no {', '.join(missing)} among its arrays ({', '.join(names)})")
    with np.load(file, allow_pickle=False) as stored:
        return {key: stored[key] for key in keys}


def check_sizes(file, sizes):
    """Raise unless all arrays of the file have the same length; sizes : {name: length}."""
    if len(set(sizes.values())) > 1:
        lengths = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise ValueError(f"{file}: arrays must have as many rows as each other, got {lengths}")


def split_rows(rows, offsets, file, unit):
    """Rows (N, ...) split into parts from offsets[:-1] to offsets[1:]; unit : name of the rows in errors."""
    if len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != len(rows) or (np.diff(offsets) <= 0).any():
        raise ValueError(f"{file}: offsets must increase from 0 to the number of {unit}, {len(rows)}; got {offsets}")
    return np.split(rows, offsets[1:-1])


def _sparse(arrays, parts, file):
    data, indices, indptr, shape = (arrays[part] for part in parts)
    try:
        matrix = scipy.sparse.csr_array((data.astype(float), indices, indptr), shape=tuple(shape.tolist()))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file}: {', '.join(parts)} must be the parts of a sparse matrix: {error}") from error
    return matrix
