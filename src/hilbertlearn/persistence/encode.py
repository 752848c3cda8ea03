"""From a model to a table of nodes, which refer to each other by number, and a list of arrays.

A value is JSON's null, boolean, finite number or text, or ``[i]``: node i of the table. A node is ``{"is": kind, "of":
parts}``, with ``"class"`` where the kind does not say it. Objects that are met again are the same node, so that what
was one object is one again; lists, dictionaries and objects have their numbers before those of what they hold,
everything else after, which is the order that ``decode`` builds them in.
"""

from __future__ import annotations

import math
import types
from typing import Any

import numpy as np

from . import packages
from .archive import array_name
from .arrays import KINDS as NUMBERS
from .attributes import attributes_of, is_free
from .estimators import check_memory
from .names import own_name
from .tables import KINDS, kind_of

IMPORTED = "import "  # before the path of what is imported, in names of classes
_PYTHON = 1 << 9  # the flag of classes that are made by a class statement
_LONG = 2**63  # larger integers are text
_REMEDIES = {
    "rdkit": "give molecules as SMILES strings, or their fingerprints as arrays of zeros and ones",
    "dask": "compute it first, with .compute()",
    "distributed": "give plain data in its place, or None",
    "torch": "give it as a numpy array",
    "pandas": "turn it into an array, or reset the index, before fit",
    "polars": "turn it into an array before fit",
    "sklearn": "take another estimator, as RandomForestRegressor or KernelRidge, or store it by other means",
}


class Encoder:
    """The table of nodes, ``nodes``, and the arrays, ``arrays``, of the values that were added to it.

    functions : whether functions and classes of the user's are stored by where they are imported from
    """

    def __init__(self, functions: bool):
        self.functions = functions
        self.nodes: list[Any] = []
        self.arrays: list[np.ndarray] = []
        self.found: dict[int, tuple[int, Any]] = {}  # by id: number, and the object, which stays alive

    def value(self, value, path):
        """What stands for a value in JSON; `path` to it from the model, for errors."""
        if value is None or type(value) in (bool, str):
            return value
        if (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < _LONG):
            return value
        if id(value) not in self.found:
            self._add(value, path)
        return [self.found[id(value)][0]]

    def _add(self, value, path):
        cls = type(value)
        own = own_name(cls)
        if cls is list or (own is not None and issubclass(cls, list)):
            self._holder(value, {"is": "list", **_of_class(own)}, lambda: self._items(value, path))
        elif cls is dict:
            self._holder(value, {"is": "dict"}, lambda: self._pairs(value, path))
        elif isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
            self._array(value, path)
        elif own is not None and issubclass(cls, tuple):
            self._put(value, {"is": "tuple", "class": own, "of": self._items(value, path)})
        elif (kind := kind_of(value)) is not None:
            self._put(value, {"is": kind.name, "of": self._items(self._checked(kind.parts, value, path), path)})
        elif isinstance(value, type) or _is_function(value):
            self._put(value, self._named(value, path))
        else:
            name = own or packages.class_name(cls) or self._imported(value, path)
            self._checked(check_memory, value, path)
            node = {"is": "object", "class": name}
            self._holder(value, node, lambda: self._attributes(value, path))

    def _holder(self, value, node, parts):
        """A node that others, also those inside it, can refer to before it is filled."""
        self._put(value, node)
        node["of"] = parts()

    def _put(self, value, node):
        self.found[id(value)] = len(self.nodes), value
        self.nodes.append(node)

    def _items(self, items, path):
        return [self.value(item, f"{path}[{i}]") for i, item in enumerate(items)]

    def _pairs(self, mapping, path):
        found = []
        for key, item in mapping.items():
            found += [self.value(key, f"{path}: key {key!r:.40}"), self.value(item, f"{path}[{key!r:.40}]")]
        return found

    def _attributes(self, value, path):
        attributes = attributes_of(value)
        odd = [name for name in attributes if not is_free(type(value), name)]
        if odd:
            raise TypeError(f"{path or 'model'} has attributes in the place of its class's own, {odd}; delete them")
        return {name: self.value(item, f"{path}.{name}".lstrip(".")) for name, item in attributes.items()}

    def _array(self, array, path):
        if type(array) not in (np.ndarray, np.memmap):
            raise TypeError(f"{path or 'model'} is a {type(array).__name__}, which is not stored; give a plain array")
        if array.dtype == object:
            parts = self._items(KINDS["object_array"].parts(array), path)
            self._put(array, {"is": "object_array", "of": parts})
            return
        if array.dtype.kind not in NUMBERS or not array.dtype.itemsize:
            raise TypeError(
                f"{path or 'model'} is an array of dtype {array.dtype}, which is not stored; give numbers or text"
            )
        self._put(array, {"is": "array", "of": [array_name(len(self.arrays))]})
        self.arrays.append(array)

    def _checked(self, function, value, path):
        """What a function that refuses some values gives for one."""
        try:
            return function(value)
        except ValueError as error:
            raise TypeError(f"{path or 'model'} cannot be stored: {error}") from error

    def _named(self, value, path):
        """A class, or a function: known ones by public names, the user's by where they are imported from."""
        known = packages.type_in_files(value) if isinstance(value, type) else packages.function_name(value)
        if known is not None:
            return {"is": "type" if isinstance(value, type) else "function", "of": [known]}
        what = f"the {'class' if isinstance(value, type) else 'function'} {getattr(value, '__qualname__', value)}"
        return {"is": "import", "of": [self._import_path(value, what, path)]}

    def _imported(self, value, path):
        """The name of the user's own class."""
        cls = type(value)
        package = cls.__module__.split(".")[0]
        if package in _REMEDIES or own_package(cls) or not _is_plain(cls):
            remedy = _REMEDIES.get(package, "give plain data in its place")
            raise TypeError(f"{path or 'model'} is a {package} {cls.__qualname__}, which is not stored; {remedy}")
        return IMPORTED + self._import_path(cls, f"an object of the class {cls.__qualname__}", path)

    def _import_path(self, value, what, path):
        """``module:name`` of a function or a class."""
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if not isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)) or not module or not name:
            raise TypeError(f"{path or 'model'} is {what}, which cannot be stored; give a function of a module")
        if "<" in name or module == "__main__":
            raise TypeError(
                f"{path or 'model'} is {what}, which has no name that another process could import it by; define it at "
                "the top of a module of its own, and save with functions=True"
            )
        if not self.functions:
            raise TypeError(
                f"{path or 'model'} is {what} of {module}, code that a file cannot hold; save(..., functions=True) "
                f"stores that it is imported as {module}:{name}, and load(..., functions=True) imports it"
            )
        return f"{module}:{name}"


def own_package(cls) -> bool:
    """Whether a class is one of this package, which the table must have for its objects to be stored."""
    return cls.__module__.split(".")[0] == __package__.split(".")[0]


def _is_plain(cls) -> bool:
    """Whether all that an object of a class holds are its attributes: nothing compiled, no list or text of a kind."""
    return all(base is object or (base.__flags__ & _PYTHON and not vars(base).get("__slots__")) for base in cls.__mro__)


def _is_function(value) -> bool:
    return isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc))


def _of_class(name):
    return {} if name is None else {"class": name}
