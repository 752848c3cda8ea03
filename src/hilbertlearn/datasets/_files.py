"""Files of the user: what they must have, and what is said when they do not."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np


def read_arrays(path, name, keys):
    """The arrays called keys of the file name in the folder path (or of the file path itself), and the file."""
    file = Path(path)
    if file.suffix != ".npz":
        file = file / name
    if not file.is_file():
        raise FileNotFoundError(f"no file {file}: path must be the folder with {name}, which has {', '.join(keys)}")
    try:
        with zipfile.ZipFile(file) as archive:
            found = [entry.removesuffix(".npy") for entry in archive.namelist()]
        missing = [key for key in keys if key not in found]
        if missing:
            raise ValueError(f"no {', '.join(missing)} among its arrays ({', '.join(found)})")
        with np.load(file, allow_pickle=False) as arrays:
            return {key: arrays[key] for key in keys}, file
    except (ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{file} must be an .npz file with the arrays {', '.join(keys)}: {error}") from error


def check_rows(file, arrays):
    if len({len(array) for array in arrays.values()}) > 1:
        sizes = ", ".join(f"{name} {len(array)}" for name, array in arrays.items())
        raise ValueError(f"{file}: arrays must have as many rows as each other, got {sizes}")
