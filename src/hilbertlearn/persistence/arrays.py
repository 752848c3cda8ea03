"""Arrays of numbers, text and times in numpy's npy format; arrays of objects, which would be pickles, are refused."""

from __future__ import annotations

import io
import math

import numpy as np
from numpy.lib import format as npy

from .errors import ModelFileError

DTYPE_KINDS = "biufcSUmM"  # numpy's codes of the dtypes that arrays in a file may have


def array_bytes(array: np.ndarray) -> bytes:
    """An array in the npy format: in Fortran order if it is contiguous in that order only, else in C order."""
    out = io.BytesIO()
    npy.write_array(out, np.asarray(array), allow_pickle=False)
    return out.getvalue()


def array_from_bytes(content: bytes, name) -> np.ndarray:
    """The array in bytes of the npy format; its header must match the length of the contents exactly."""
    file = io.BytesIO(content)
    try:
        version = npy.read_magic(file)
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        shape, fortran, dtype = read(file)
    except Exception as error:  # numpy's reader of headers raises errors of many classes
        raise ModelFileError(f"{name} is no array in the npy format ({error}); save the model again") from error
    count = math.prod(map(int, shape))
    if dtype.kind not in DTYPE_KINDS or dtype.hasobject or (dtype.itemsize == 0 and count):
        raise ModelFileError(f"{name} has the dtype {dtype}, which save does not write; save the model again")
    if min(shape, default=0) < 0 or count * dtype.itemsize != len(content) - file.tell():
        raise ModelFileError(f"{name} is said to be of shape {shape}, its contents are not; save the model again")
    if not count:
        return np.empty(shape, dtype, order="F" if fortran else "C")
    flat = np.frombuffer(content, dtype, offset=file.tell())
    return flat.reshape(shape, order="F" if fortran else "C").copy(order="K")  # an aligned copy that is writable
