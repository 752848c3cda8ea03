"""Values that are neither numbers nor text, as a kind and the parts that one is made of.

A kind takes values of some types apart into a list of parts, which are values again, and puts them together. Types are
known by package and name, "pandas.RangeIndex", so that no package is imported unless a value is of one of its types.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Kind:
    """Values of one sort in files.

    name : in files
    types : of its values, package and name
    parts : value -> list of its parts
    build : the parts -> the value; raises if they are not those of one
    """

    name: str
    types: tuple[str, ...]
    parts: Callable[[Any], list]
    build: Callable[..., Any]


def type_name(cls: type) -> str:
    """The package of a class and its name."""
    return f"{cls.__module__.split('.')[0]}.{cls.__qualname__}"


def is_number(value) -> bool:
    """Whether a value is an integer, of Python or of numpy."""
    return type(value) is int or isinstance(value, np.integer)


def require(good, what):
    """Raise unless parts are those of a value."""
    if not good:
        raise ValueError(what)
