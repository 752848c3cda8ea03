"""From a model to a table of nodes, which refer to each other by number, and a list of arrays.

A value is null, a boolean, a finite number or text of JSON, or ``[i]``: node i of the table. A node is ``{"is": kind,
"of": parts}``, with ``"class"`` where the kind does not determine it. An object that occurs twice is one node, so that
identity and cycles are kept. Lists, dictionaries and objects have smaller numbers than their parts, all other nodes
larger ones; ``decode`` relies on this order.
"""

from __future__ import annotations

import math
import types
from typing import Any

import numpy as np

from . import packages
from .archive import array_name
from .arrays import DTYPE_KINDS
from .attributes import is_settable, read_attributes
from .estimators import refuse_memory
from .kinds import kind_of_value
from .names import name_class
from .plain_values import object_array_parts

IMPORTED = "import "  # prefix of the import path of a user's class
_HEAP_TYPE = 1 << 9  # CPython's flag of classes that a class statement creates
_MAX_INTEGER = 2**63  # larger integers are stored as text
_REMEDIES = {
    "rdkit": "give molecules as SMILES strings, or their fingerprints as arrays of zeros and ones",
    "dask": "compute it first, with .compute()",
    "distributed": "give plain data in its place, or None",
    "torch": "give it as a numpy array",
    "pandas": "give an array or a list, as with .to_numpy(), or reset the index, before fit",
    "polars": "give an array or a list, as with .to_list(), before fit",
    "sklearn": "take another estimator, as RandomForestRegressor or KernelRidge, or store this one with skops",
}


class Encoder:
    """Collects the table of nodes, ``nodes``, and the arrays, ``arrays``, of a model.

    functions : bool, whether functions and classes of the user are stored by their import paths
    """

    def __init__(self, functions: bool):
        self.functions = functions
        self.nodes: list[Any] = []
        self.arrays: list[np.ndarray] = []
        self.known: dict[int, tuple[int, Any]] = {}  # id: number of the node, and the object, so that it stays alive

    def value(self, value, path):
        """A value in JSON, or the reference to its node; `path` is that of the value in the model, for errors."""
        if value is None or type(value) in (bool, str):
            return value
        if (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < _MAX_INTEGER):
            return value
        if id(value) not in self.known:
            self._add(value, path)
        return [self.known[id(value)][0]]

    def _add(self, value, path):
        cls = type(value)
        class_name = name_class(cls)
        if cls is list or (class_name is not None and issubclass(cls, list)):
            self._add_holder(value, {"is": "list", **_class_entry(class_name)}, lambda: self._items(value, path))
        elif cls is dict:
            self._add_holder(value, {"is": "dict"}, lambda: self._key_value_parts(value, path))
        elif isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
            self._add_array(value, path)
        elif class_name is not None and issubclass(cls, tuple):
            self._add_node(value, {"is": "tuple", "class": class_name, "of": self._items(value, path)})
        elif (kind := kind_of_value(value)) is not None:
            self._add_node(
                value, {"is": kind.name, "of": self._items(self._call_checked(kind.parts, value, path), path)}
            )
        elif isinstance(value, type) or _is_function(value):
            self._add_node(value, self._code_node(value, path))
        else:
            name = class_name or packages.name_class(cls) or self._imported_class(value, path)
            self._call_checked(refuse_memory, value, path)
            node = {"is": "object", "class": name}
            self._add_holder(value, node, lambda: self._attributes(value, path))

    def _add_holder(self, value, node, parts):
        """A node that others, also its own parts, can refer to before it is filled."""
        self._add_node(value, node)
        node["of"] = parts()

    def _add_node(self, value, node):
        self.known[id(value)] = len(self.nodes), value
        self.nodes.append(node)

    def _items(self, items, path):
        return [self.value(item, f"{path}[{i}]") for i, item in enumerate(items)]

    def _key_value_parts(self, mapping, path):
        parts = []
        for key, item in mapping.items():
            parts += [self.value(key, f"{path}: key {key!r:.40}"), self.value(item, f"{path}[{key!r:.40}]")]
        return parts

    def _attributes(self, value, path):
        attributes = read_attributes(value)
        refused = [name for name in attributes if not is_settable(type(value), name)]
        if refused:
            raise TypeError(f"{path or 'model'} has attributes in the place of its class's own, {refused}; delete them")
        return {name: self.value(item, f"{path}.{name}".lstrip(".")) for name, item in attributes.items()}

    def _add_array(self, array, path):
        if type(array) not in (np.ndarray, np.memmap):
            raise TypeError(f"{path or 'model'} is a {type(array).__name__}, which is not stored; give a plain array")
        if array.dtype == object:
            parts = self._items(object_array_parts(array), path)
            self._add_node(array, {"is": "object_array", "of": parts})
            return
        if array.dtype.kind not in DTYPE_KINDS or not array.dtype.itemsize:
            raise TypeError(
                f"{path or 'model'} is an array of dtype {array.dtype}, which is not stored; give numbers or text"
            )
        self._add_node(array, {"is": "array", "of": [array_name(len(self.arrays))]})
        self.arrays.append(array)

    def _call_checked(self, function, value, path):
        """The result of a function of a value, its ValueError turned into a TypeError with the path."""
        try:
            return function(value)
        except ValueError as error:
            raise TypeError(f"{path or 'model'} cannot be stored: {error}") from error

    def _code_node(self, value, path):
        """The node of a class or a function: by its public name if it is in a table, else by its import path."""
        public_name = packages.name_type(value) if isinstance(value, type) else packages.name_function(value)
        if public_name is not None:
            return {"is": "type" if isinstance(value, type) else "function", "of": [public_name]}
        label = f"the {'class' if isinstance(value, type) else 'function'} {getattr(value, '__qualname__', value)}"
        return {"is": "import", "of": [self._import_path(value, label, path)]}

    def _imported_class(self, value, path):
        """The name of a class of the user."""
        cls = type(value)
        package = cls.__module__.split(".")[0]
        if package in _REMEDIES or _is_ours(cls) or not _is_plain(cls):
            remedy = _REMEDIES.get(package, "give plain data in its place")
            raise TypeError(f"{path or 'model'} is a {package} {cls.__qualname__}, which is not stored; {remedy}")
        return IMPORTED + self._import_path(cls, f"an object of the class {cls.__qualname__}", path)

    def _import_path(self, value, label, path):
        """``module:name`` of a function or a class."""
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if not isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)) or not module or not name:
            raise TypeError(f"{path or 'model'} is {label}, which cannot be stored; give a function of a module")
        if "<" in name or module == "__main__":
            raise TypeError(
                f"{path or 'model'} is {label}, which has no name that another process could import it by; define it "
                "at the top of a module of its own, and save with functions=True"
            )
        if not self.functions:
            raise TypeError(
                f"{path or 'model'} is {label} of {module}, code that a file cannot hold; save(..., functions=True) "
                f"stores that it is imported as {module}:{name}, and load(..., functions=True) imports it"
            )
        return f"{module}:{name}"


def _is_ours(cls) -> bool:
    """Whether a class belongs to this package, whose classes are stored only if they are in the table."""
    return cls.__module__.split(".")[0] == __package__.split(".")[0]


def _is_plain(cls) -> bool:
    """Whether objects of a class consist of attributes alone: no base is compiled, a list or a text, or has slots."""
    bases = [base for base in cls.__mro__ if base is not object]
    return all(base.__flags__ & _HEAP_TYPE and not vars(base).get("__slots__") for base in bases)


def _is_function(value) -> bool:
    return isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc))


def _class_entry(name):
    return {} if name is None else {"class": name}
