"""Kinds: how a value that is neither a number, text nor an object with attributes is stored as a list of parts.

A kind splits a value into parts, which are values again, and builds the value from them. The kinds of pandas, polars
and networkx are in modules that import these packages. They are loaded when a model or a file has such a value.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

OPTIONAL = ("pandas", "polars", "networkx")  # packages with a module of kinds, ``pandas_values`` and so on


@dataclass(frozen=True)
class Kind:
    """How values of some types are stored.

    name : str, in files; kinds of an optional package begin with its name
    types : tuple of str, package and class of the values, as "numpy.MaskedArray"
    parts : function, value -> list of parts
    build : function, parts -> value; raises a ValueError unless the parts belong to such a value
    """

    name: str
    types: tuple[str, ...]
    parts: Callable[[Any], list]
    build: Callable[..., Any]


def kind_of_value(value) -> Kind | None:
    """The kind of a value, None if it has none."""
    if isinstance(value, np.generic):
        return find_kind("scalar")
    if isinstance(value, np.dtype):
        return find_kind("dtype")
    name = type_name(type(value))
    return next((kind for kind in _kinds(_package(name)).values() if name in kind.types), None)


def find_kind(name: str) -> Kind | None:
    """The kind of this name in files, None if there is none."""
    return _kinds(_package(name)).get(name)


def type_name(cls: type) -> str:
    """The package and the name of a class."""
    return f"{cls.__module__.split('.')[0]}.{cls.__qualname__}"


def is_integer(value) -> bool:
    """Whether a value is an integer of Python or of numpy."""
    return type(value) is int or isinstance(value, np.integer)


def require(condition, message):
    """Raise a ValueError unless the condition holds."""
    if not condition:
        raise ValueError(message)


def _package(name: str) -> str:
    """The optional package that a name begins with, "" for all others."""
    package = name.partition(".")[0]
    return package if package in OPTIONAL else ""


@cache
def _kinds(package: str) -> dict[str, Kind]:
    """The kinds of an optional package, or all others, by name."""
    modules = [f"{package}_values"] if package else ["plain_values", "trees"]
    tables = [importlib.import_module(f".{module}", __package__).KINDS for module in modules]
    return {kind.name: kind for table in tables for kind in table}
