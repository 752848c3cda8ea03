"""Objects as a class and attributes: read from an object, and set on a blank one without a call of its methods."""

from __future__ import annotations

import dataclasses
import inspect
from functools import cache, cached_property
from typing import Any

from sklearn.base import BaseEstimator

from .._utils.sums import cached_attribute
from .errors import ModelFileError
from .names import current_attributes

_CALLBACKS = ("_skl_callbacks", "_parent_callback_ctx")  # attributes of scikit-learn's callbacks, not stored
_CONSTRAINTS = ("_parameter_constraints",)  # scikit-learn checks settings by them: a file must not replace them


def read_attributes(value) -> dict[str, Any]:
    """The attributes of an object, without cached properties and callbacks."""
    stored = {name: item for name, item in vars(value).items() if name not in _CALLBACKS}
    return {name: item for name, item in stored.items() if not _is_cached(type(value), name)}


def blank(cls: Any):
    """An object of a class without attributes; nothing of the class is called but ``__new__``."""
    return cls.__new__(cls)


def fill(value, attributes: dict[str, Any]):
    """Set the attributes of a blank object; fields and settings that the file lacks get their defaults."""
    cls = type(value)
    attributes = current_attributes(cls, attributes)
    for name in attributes:
        if not is_settable(cls, name):
            raise ModelFileError(f"objects of {cls.__name__} have no attribute {name!r} that a file may set")
    missing = {name: default for name, default in _defaults(cls).items() if name not in attributes}
    vars(value).update({**attributes, **missing})


def _is_cached(cls, name) -> bool:
    return isinstance(_class_attribute(cls, name), (cached_property, cached_attribute))


def _class_attribute(cls, name):
    """The attribute of a class as it is defined, before descriptors are called; None if there is none."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def is_settable(cls, name) -> bool:
    """Whether a file may set an attribute: it is no method, property or other descriptor, and no dunder."""
    if not name.isidentifier() or name.startswith("__") or name in _CALLBACKS + _CONSTRAINTS:
        return False
    if dataclasses.is_dataclass(cls):
        return name in {field.name for field in dataclasses.fields(cls)}
    attribute = _class_attribute(cls, name)
    return not callable(attribute) and not hasattr(type(attribute), "__get__")


def _defaults(cls) -> dict[str, Any]:
    """Default values of the fields of a dataclass, or of the settings of an estimator."""
    if dataclasses.is_dataclass(cls):
        return {
            field.name: field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
            for field in dataclasses.fields(cls)
            if field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        }
    return _settings(cls) if issubclass(cls, BaseEstimator) else {}


@cache
def _settings(cls) -> dict[str, Any]:
    parameters = inspect.signature(cls.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}
