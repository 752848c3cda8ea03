"""Values of Python, numpy and scipy as parts: see ``kinds``."""

from __future__ import annotations

import base64
import datetime
import functools
import zoneinfo
from collections import Counter, OrderedDict

import numpy as np
import scipy.interpolate
import scipy.sparse
from sklearn.utils import Bunch

from .arrays import DTYPE_KINDS
from .kinds import Kind, require

_COMPRESSED = ("csr_matrix", "csr_array", "csc_matrix", "csc_array", "bsr_matrix", "bsr_array")
_ROWS = ("lil_matrix", "lil_array")
_COORDINATES = ("coo_matrix", "coo_array", "dok_matrix", "dok_array")
_DIAGONALS = ("dia_matrix", "dia_array")
_WORDS = 624  # length of the state of the Mersenne twister
_INDEX_DTYPES = {np.dtype(np.int32), np.dtype(np.int64)}
_MAX_COLLISIONS = 1000  # keys with the same hash; inserting k of them takes about k²/2 comparisons
_MAX_RANGE = 10**7  # numbers in a range, which is a few bytes in a file and 80 MB as an array


def sort_items(items):
    """Elements of a set, sorted by class and text: an order that does not depend on hashes."""
    return sorted(items, key=lambda item: (type(item).__name__, repr(item)))


def _text(content: bytes) -> str:
    return base64.b85encode(content).decode("ascii")


def _content(text: str) -> bytes:
    return base64.b85decode(text.encode("ascii"))


def _float(text):
    value = float(text)
    require(text == repr(value) and not np.isfinite(value), f"no number {text!r}")
    return value


def _scalar_parts(value):
    require(value.dtype.kind in DTYPE_KINDS, f"a numpy scalar of dtype {value.dtype}; give a number")
    return [value.dtype.str, _text(value.tobytes())]


def _scalar(text, content):
    dtype, content = np.dtype(str(text)), _content(content)
    require(dtype.kind in DTYPE_KINDS and dtype.itemsize == len(content), f"no scalar of dtype {dtype}")
    return np.frombuffer(content, dtype)[0] if len(content) else dtype.type()


def _dtype_parts(dtype):
    require(dtype.kind in DTYPE_KINDS + "O" and not dtype.metadata, f"the dtype {dtype}; give one of numbers or text")
    return [dtype.str]


def _dtype(text):
    dtype = np.dtype(str(text))
    require(dtype.kind in DTYPE_KINDS + "O", f"no dtype {text!r}")
    return dtype


def _object_array(order, dimensions, *parts):
    shape, items = parts[:dimensions], parts[dimensions:]
    require(all(type(n) is int and n >= 0 for n in shape) and order in ("C", "F"), "no shape of an array")
    require(int(np.prod(shape, dtype=object)) == len(items), "an array of objects has other numbers of them")
    flat = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):  # one by one, because numpy would make sequences more dimensions
        flat[i] = item
    return flat.reshape(shape, order=order).copy(order="K")


def object_array_parts(array):
    """Order, number of dimensions, shape and elements of an array of objects."""
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    return [order, array.ndim, *array.shape, *array.ravel(order=order)]


def _masked_parts(array):
    return [array.data, np.ma.getmaskarray(array), array.fill_value]


def _masked(data, mask, fill_value):
    require(_are_arrays(data, mask) and np.ndim(fill_value) == 0 and data.shape == mask.shape, "no masked array")
    return np.ma.MaskedArray(data, mask, fill_value=fill_value)


def _mapping_parts(mapping):
    return [part for pair in mapping.items() for part in pair]


def pairs(parts):
    """Pairs of keys and values from a flat list of them."""
    require(len(parts) % 2 == 0, "a key without a value")
    return list(zip(check_hashes(parts[::2]), parts[1::2], strict=True))


def check_hashes(keys):
    """Keys of a dictionary or elements of a set; too many of the same hash are refused, as inserting them is slow."""
    require(max(Counter(map(hash, keys)).values(), default=0) <= _MAX_COLLISIONS, "too many keys of one hash")
    return keys


def _mapping(cls):
    return lambda *parts: cls(dict(pairs(parts)))


def _partial_parts(value):
    return [value.func, len(value.args), *value.args, *_mapping_parts(value.keywords)]


def _partial(function, n_arguments, *parts):
    require(callable(function), "no function")
    return functools.partial(function, *parts[:n_arguments], **dict(pairs(parts[n_arguments:])))


def _datetime_parts(value):
    return [value.year, value.month, value.day, *_time_parts(value)]


def _time_parts(value):
    return [value.hour, value.minute, value.second, value.microsecond, value.tzinfo, value.fold]


def _datetime(*parts):
    return datetime.datetime(*parts[:8], fold=parts[8])


def _time(*parts):
    return datetime.time(*parts[:5], fold=parts[5])


def _range_parts(value):
    require(len(value) <= _MAX_RANGE, f"a range of {len(value)} numbers; give its first and last")
    return [value.start, value.stop, value.step]


def _range(start, stop, step):
    value = range(start, stop, step)
    require(len(value) <= _MAX_RANGE, "a range too long")
    return value


def _are_arrays(*parts) -> bool:
    """Whether parts are arrays; other sequences could be much larger once numpy has turned them into arrays."""
    return all(isinstance(part, np.ndarray) for part in parts)


def _compressed_parts(S):
    return [type(S).__name__, S.data, S.indices, S.indptr, *S.shape]


def _compressed(name, data, indices, indptr, *shape):
    require(name in _COMPRESSED, f"no sparse matrix of {_COMPRESSED}")
    require(_are_arrays(data, indices, indptr) and {indices.dtype, indptr.dtype} <= _INDEX_DTYPES, "no sparse matrix")
    S = getattr(scipy.sparse, name)((data, indices, indptr), shape=shape)
    S.check_format(full_check=True)  # products do not check indices
    S.indices, S.indptr = indices, indptr  # with their dtypes, which scipy may have changed
    return S


def _rows_parts(S):
    return [type(S).__name__, *_compressed_parts(S.tocsr())]


def _rows(name, *parts):
    """From compressed rows: each row, empty or not, takes bytes in the file."""
    require(name in _ROWS, f"no sparse matrix of {_ROWS}")
    return _compressed(*parts).asformat("lil")


def _coordinates_parts(S):
    C = S.tocoo()
    return [type(S).__name__, C.data, len(C.coords), *C.coords, *S.shape]


def _coordinates(name, data, dimensions, *parts):
    require(name in _COORDINATES, f"no sparse matrix of {_COORDINATES}")
    coords, shape = parts[:dimensions], parts[dimensions:]
    require(_are_arrays(data, *coords), "no sparse matrix")
    suffix = "array" if name.endswith("_array") else "matrix"
    S = getattr(scipy.sparse, f"coo_{suffix}")((data, tuple(coords)), shape=shape)  # checks the indices
    return S.asformat(name[:3])


def _diagonals(name, data, offsets, *shape):
    require(name in _DIAGONALS and _are_arrays(data, offsets), f"no sparse matrix of {_DIAGONALS}")
    return getattr(scipy.sparse, name)((data, offsets), shape=shape)


def _spline(knots, coefficients, degree, extrapolate, axis):
    require(_are_arrays(knots, coefficients) and type(degree) is int, "no spline")
    return scipy.interpolate.BSpline(knots, coefficients, degree, extrapolate, axis)


def _random_state_parts(state):
    _, key, position, has_gauss, gauss = state.get_state(legacy=True)
    return [key, position, has_gauss, gauss]


def _random_state(key, position, has_gauss, gauss):
    is_key = isinstance(key, np.ndarray) and key.shape == (_WORDS,) and key.dtype == np.uint32
    require(is_key and type(position) is int and 0 <= position <= _WORDS, "no state of a random generator")
    state = np.random.RandomState()
    state.set_state(("MT19937", key, position, int(bool(has_gauss)), float(gauss)))
    return state


def _generator_parts(generator):
    state = generator.bit_generator.state
    require(state["bit_generator"] == "PCG64", "a generator other than PCG64; give default_rng(...)")
    return [state["state"]["state"], state["state"]["inc"], state["has_uint32"], state["uinteger"]]


def _generator(state, increment, has_uint32, uinteger):
    generator = np.random.Generator(np.random.PCG64())
    inner = {"state": int(state), "inc": int(increment)}
    generator.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": inner,
        "has_uint32": int(bool(has_uint32)),
        "uinteger": int(uinteger),
    }
    return generator


KINDS = (
    Kind("tuple", ("builtins.tuple",), list, lambda *parts: parts),
    Kind("set", ("builtins.set",), sort_items, lambda *parts: set(check_hashes(parts))),
    Kind("frozenset", ("builtins.frozenset",), sort_items, lambda *parts: frozenset(check_hashes(parts))),
    Kind("bytes", ("builtins.bytes",), lambda value: [_text(value)], _content),
    Kind("int", ("builtins.int",), lambda value: [hex(value)], lambda text: int(text, 16)),
    Kind("float", ("builtins.float",), lambda value: [repr(value)], _float),
    Kind("complex", ("builtins.complex",), lambda value: [value.real, value.imag], complex),
    Kind("slice", ("builtins.slice",), lambda value: [value.start, value.stop, value.step], slice),
    Kind("range", ("builtins.range",), _range_parts, _range),
    Kind("ellipsis", ("builtins.ellipsis",), lambda value: [], lambda: Ellipsis),
    Kind("ordered_dict", ("collections.OrderedDict",), _mapping_parts, _mapping(OrderedDict)),
    Kind("counter", ("collections.Counter",), _mapping_parts, _mapping(Counter)),
    Kind("bunch", ("sklearn.Bunch",), _mapping_parts, lambda *parts: Bunch(**dict(pairs(parts)))),
    Kind("partial", ("functools.partial",), _partial_parts, _partial),
    Kind("datetime", ("datetime.datetime",), _datetime_parts, _datetime),
    Kind("date", ("datetime.date",), lambda value: [value.year, value.month, value.day], datetime.date),
    Kind("time", ("datetime.time",), _time_parts, _time),
    Kind(
        "timedelta",
        ("datetime.timedelta",),
        lambda value: [value.days, value.seconds, value.microseconds],
        datetime.timedelta,
    ),
    Kind("offset", ("datetime.timezone",), lambda value: [value.utcoffset(None)], datetime.timezone),
    Kind("zone", ("zoneinfo.ZoneInfo",), lambda value: [value.key], zoneinfo.ZoneInfo),
    Kind("scalar", (), _scalar_parts, _scalar),
    Kind("dtype", (), _dtype_parts, _dtype),
    Kind("object_array", (), object_array_parts, _object_array),
    Kind("masked_array", ("numpy.MaskedArray",), _masked_parts, _masked),
    Kind("random_state", ("numpy.RandomState",), _random_state_parts, _random_state),
    Kind("generator", ("numpy.Generator",), _generator_parts, _generator),
    Kind("compressed", tuple(f"scipy.{name}" for name in _COMPRESSED), _compressed_parts, _compressed),
    Kind("rows", tuple(f"scipy.{name}" for name in _ROWS), _rows_parts, _rows),
    Kind("coordinates", tuple(f"scipy.{name}" for name in _COORDINATES), _coordinates_parts, _coordinates),
    Kind(
        "diagonals",
        tuple(f"scipy.{name}" for name in _DIAGONALS),
        lambda S: [type(S).__name__, S.data, S.offsets, *S.shape],
        _diagonals,
    ),
    Kind(
        "spline",
        ("scipy.BSpline",),
        lambda spline: [spline.t, spline.c, spline.k, spline.extrapolate, spline.axis],
        _spline,
    ),
)
