"""From a table of nodes and arrays back to a model: see ``encode``.

A file has no code: classes and functions are looked up in closed tables, attributes are set on blank objects, and the
few constructors that are called check their parts. Nodes are built in the order of their numbers, without recursion, so
that a deep model needs no deep stack.
"""

from __future__ import annotations

import importlib
from typing import Any

from . import packages
from .archive import MODEL
from .arrays import array_from_bytes
from .attributes import blank, fill
from .encode import IMPORTED
from .errors import ModelFileError
from .estimators import check_estimator
from .kinds import find_kind
from .names import find_class
from .plain_values import pairs

_SCALARS = (type(None), bool, int, float, str)
_MAX_DEPTH = 1000  # of values within each other, which Python hashes, compares and frees recursively
_MAX_PARTS = 10**8  # of such values, a shared part counted each time: 60 nodes can have 2^60 parts


class Decoder:
    """Builds the values of a table of nodes.

    members : dict, contents of the members of the file by name; arrays are removed once they are read
    functions : bool, whether functions and classes that the file names as "module:name" are imported
    """

    def __init__(self, nodes, members: dict[str, bytes], functions: bool):
        is_table = isinstance(nodes, list) and all(
            isinstance(node, dict) and type(node.get("is")) is str for node in nodes
        )
        self._require(is_table, "no table of nodes")
        self.nodes, self.members, self.functions = nodes, members, functions
        self.built: list[Any] = [None] * len(nodes)
        self.ready = [False] * len(nodes)
        self.extents = [(1, 0)] * len(nodes)  # of values built at once: number of parts at all levels, and depth
        self.count = 0

    def model(self, root):
        """The value of `root` with all values that it refers to."""
        holders = [i for i, node in enumerate(self.nodes) if node["is"] in ("list", "dict", "object")]
        for i in holders:
            self._set(i, self._blank(self.nodes[i]))
        for i, node in enumerate(self.nodes):
            if not self.ready[i]:
                self.extents[i] = self._extent(node)
                self._set(i, self._build(node))
        for i in holders:
            self._fill(self.built[i], self.nodes[i])
        for i in holders:
            if packages.is_estimator(self.built[i]):
                check_estimator(self.built[i])
        return self._value(root)

    def _set(self, i, value):
        self.built[i], self.ready[i] = value, True

    def _value(self, value):
        if isinstance(value, _SCALARS):
            return value
        self._require(self._is_reference(value) and self.ready[value[0]], f"no value {value!r:.60}")
        return self.built[value[0]]

    def _is_reference(self, value) -> bool:
        """Whether a value in JSON is the reference to a node."""
        number = value[0] if isinstance(value, list) and len(value) == 1 else None
        return type(number) is int and 0 <= number < len(self.nodes)

    def _extent(self, node) -> tuple[int, int]:
        """Number of parts and depth of a value that is built at once, bounded because hashing it is recursive."""
        parts = node.get("of")
        self._require(isinstance(parts, list), "a node without parts")
        inner = [self.extents[part[0]] for part in parts if self._is_reference(part)]
        size = 1 + len(parts) + sum(size for size, _ in inner)
        depth = 1 + max((depth for _, depth in inner), default=0)
        self.count += size
        self._require(depth <= _MAX_DEPTH and self.count <= _MAX_PARTS, "values inside values, too deep or too many")
        return size, depth

    def _parts(self, node):
        parts = node.get("of")
        self._require(isinstance(parts, list), "a node without parts")
        return [self._value(part) for part in parts]

    def _blank(self, node):
        """An empty list or dictionary, or an object without attributes."""
        if node["is"] == "dict":
            return {}
        if node["is"] == "list":
            return [] if "class" not in node else blank(self._sequence_class(node, list))
        return blank(self._class(node.get("class")))

    def _fill(self, holder, node):
        if node["is"] == "list":
            holder.extend(self._parts(node))
        elif node["is"] == "dict":
            self._extent(node)
            holder.update(pairs(self._parts(node)))
        else:
            attributes = node.get("of")
            self._require(isinstance(attributes, dict), "an object without attributes")
            fill(holder, {name: self._value(value) for name, value in attributes.items()})

    def _build(self, node):
        """A value that is built at once, unlike lists, dictionaries and objects, which are filled later."""
        kind = node["is"]
        if kind == "array":
            (name,) = self._parts(node)
            self._require(isinstance(name, str), "an array without a name")
            self._require(name in self.members and name != MODEL, f"no array {name!r:.60}")
            return array_from_bytes(self.members.pop(name), name)
        if kind == "tuple" and "class" in node:
            cls, parts = self._sequence_class(node, tuple), self._parts(node)
            self._require(len(parts) == len(getattr(cls, "_fields", ())), f"no {cls.__name__}")
            return tuple.__new__(cls, parts)
        if kind in ("type", "function", "import"):
            (name,) = self._parts(node)
            return self._find_code(kind, name)
        stored_kind = find_kind(kind)
        if stored_kind is None:
            raise _error(f"unknown kind {kind!r:.60}")
        return stored_kind.build(*self._parts(node))

    def _find_code(self, kind, name):
        self._require(isinstance(name, str), f"a {kind} without a name")
        if kind == "import":
            return self._import(name)
        value = packages.find_type(name) if kind == "type" else packages.find_function(name)
        self._require(value is not None, f"no {kind} {name!r:.60}")
        return value

    def _sequence_class(self, node, base):
        """A class of the package that is a list or a tuple."""
        cls = find_class(str(node["class"]))
        self._require(cls is not None and issubclass(cls, base), f"no class {node['class']!r:.60} of {base.__name__}s")
        return cls

    def _class(self, name):
        self._require(isinstance(name, str), f"no class {name!r:.60}")
        if name.startswith(IMPORTED):
            cls = self._import(name.removeprefix(IMPORTED))
            self._require(isinstance(cls, type), f"{name!r:.60} is no class")
            return cls
        cls = find_class(name) or packages.find_class(name)
        if cls is None or issubclass(cls, (list, tuple)):
            raise ModelFileError(
                f"the file has objects of {name!r:.80}, which this version does not store; upgrade hilbertlearn and "
                "scikit-learn to the versions that wrote it, or fit the model again"
            )
        return cls

    def _import(self, path):
        """A function or a class of the user, by its import path."""
        if not self.functions:
            raise ModelFileError(
                f"the model needs code that is not in the file, {path!r:.120}; if you trust the file, "
                "load(..., functions=True) imports it"
            )
        module, _, name = path.partition(":")
        try:
            value = importlib.import_module(module)
            for part in name.split("."):
                value = getattr(value, part)
        except (ImportError, AttributeError, ValueError) as error:
            raise ModelFileError(f"{path!r:.120} is not there ({error}); put it where it was when saved") from error
        self._require(callable(value), f"{path!r:.120} is no function")
        return value

    @staticmethod
    def _require(condition, problem):
        if not condition:
            raise _error(problem)


def _error(problem) -> ModelFileError:
    return ModelFileError(f"the file is not as save writes it: {problem}; save the model again")
