"""Arrays in numpy's npy format."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hilbertlearn.persistence import ModelFileError
from hilbertlearn.persistence.arrays import array_bytes, array_from_bytes


def npy(header, content=b""):
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


@pytest.mark.parametrize(
    "content",
    [
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", b"cos\nsystem\n(S'true'\ntR."),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (10**15,), }", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", bytes(8)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }", bytes(8)),
        npy("{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (1,), }", bytes(8)),
        npy("{'descr': '<U0', 'fortran_order': False, 'shape': (10000000000,), }"),
        npy("{'descr': '|V8', 'fortran_order': False, 'shape': (1,), }", bytes(8)),
        npy("__import__('os').system('true')", bytes(8)),
        npy("(" * 100 + ")" * 10, bytes(8)),
        npy(""),
        b"\x93NUMPY\x09\x00",
        b"\x93NUMPY",
        b"",
    ],
    ids=range(16),
)
def test_invalid_arrays(content):
    with pytest.raises(ModelFileError):
        array_from_bytes(content, "arrays/0.npy")


@pytest.mark.parametrize("order", "CF")
def test_arrays_keep_their_order(order):
    array = np.asarray(np.random.default_rng(0).normal(size=(4, 3, 2)), order=order)
    for stored in (array, array[::2], array[:0], array.astype(">f4"), array[0, 0, 0]):
        again = array_from_bytes(array_bytes(stored), "arrays/0.npy")
        assert_array_equal(again, stored, strict=True)
        assert again.flags.writeable and again.flags.aligned
        contiguous = np.asarray(stored).copy(order="A")  # what is in neither order is in C's
        assert again.strides == contiguous.strides
