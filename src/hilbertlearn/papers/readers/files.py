"""Files of the user: what they must have, and what is said when they do not."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import scipy.sparse


def read_arrays(path, name, axes, sparse=()):
    """The arrays of the file name in the folder path (or of the file path itself) by their names, and the file.

    axes has for each array the letters of its first axes: those of one letter must be as long as each other. Arrays
    whose names are in sparse are sparse matrices, of which the file has the four parts.
    """
    file = Path(path)
    if file.suffix != ".npz":
        file = file / name
    parts = {key: [f"{key}_{part}" for part in ("data", "indices", "indptr", "shape")] for key in sparse}
    keys = [part for key in axes for part in parts.get(key, [key])]
    if not file.is_file():
        raise FileNotFoundError(f"no file {file}: path must be the folder with {name}, which has {', '.join(keys)}")
    try:
        with zipfile.ZipFile(file) as archive:
            found = [entry.removesuffix(".npy") for entry in archive.namelist()]
        missing = [key for key in keys if key not in found]
        if missing:
            raise ValueError(f"no {', '.join(missing)} among its arrays ({', '.join(found)})")
        with np.load(file, allow_pickle=False) as stored:
            read = {key: stored[key] for key in keys}
    except (ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{file} must be an .npz file with the arrays {', '.join(keys)}: {error}") from error
    arrays = {key: _sparse(read, parts[key], file) if key in sparse else read[key] for key in axes}
    sizes: dict[str, dict] = {}
    for key, letters in axes.items():
        for letter, size, what in zip(letters, arrays[key].shape, ("", "columns of ")):
            sizes.setdefault(letter, {})[what + key] = size
    for same in sizes.values():
        check_sizes(file, same)
    return arrays, file


def check_sizes(file, sizes):
    """Raise unless the arrays of the file are all as long as each other; sizes has their lengths by their names."""
    if len(set(sizes.values())) > 1:
        seen = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise ValueError(f"{file}: arrays must have as many rows as each other, got {seen}")


def split_rows(rows, offsets, file, what):
    """The parts of the rows (N, ...) that begin at offsets[:-1] and end at offsets[1:]."""
    if len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != len(rows) or (np.diff(offsets) <= 0).any():
        raise ValueError(f"{file}: offsets must increase from 0 to the number of {what}, {len(rows)}; got {offsets}")
    return np.split(rows, offsets[1:-1])


def _sparse(arrays, parts, file):
    data, indices, indptr, shape = (arrays[part] for part in parts)
    try:
        matrix = scipy.sparse.csr_array((data.astype(float), indices, indptr), shape=tuple(shape.tolist()))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file}: {', '.join(parts)} must be the parts of a sparse matrix: {error}") from error
    return matrix
