"""Objects as a class and its attributes: taken apart, and put together again without a call of anything of theirs."""

from __future__ import annotations

import dataclasses
import inspect
from functools import cache, cached_property
from typing import Any

from sklearn.base import BaseEstimator

from .._utils.sums import kept
from .errors import ModelFileError
from .names import current_attributes

_OF_CALLBACKS = ("_skl_callbacks", "_parent_callback_ctx")  # scikit-learn's, which watch fits
_OF_CLASSES = ("_parameter_constraints",)  # by which scikit-learn checks settings before compiled code has them


def attributes_of(value) -> dict[str, Any]:
    """The attributes of an object, without those that are computed when asked for, and without callbacks."""
    stored = {name: item for name, item in vars(value).items() if name not in _OF_CALLBACKS}
    return {name: item for name, item in stored.items() if not _is_computed(type(value), name)}


def blank(cls: Any):
    """An object of a class, with nothing in it."""
    return cls.__new__(cls)


def fill(value, attributes: dict[str, Any]):
    """Give a blank object its attributes; what the class has got since it was saved is as its defaults say."""
    cls = type(value)
    attributes = current_attributes(cls, attributes)
    for name in attributes:
        if not is_free(cls, name):
            raise ModelFileError(f"objects of {cls.__name__} have no attribute {name!r} that a file may set")
    missing = {name: default for name, default in _defaults(cls).items() if name not in attributes}
    vars(value).update({**attributes, **missing})


def _is_computed(cls, name) -> bool:
    return isinstance(_of_class(cls, name), (cached_property, kept))


def _of_class(cls, name):
    """What a class has by a name, itself and not what it gives; None for nothing."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def is_free(cls, name) -> bool:
    """Whether a name may be that of an attribute: no method, property or other descriptor, nothing of Python's own."""
    if not name.isidentifier() or name.startswith("__") or name in _OF_CALLBACKS + _OF_CLASSES:
        return False
    if dataclasses.is_dataclass(cls):
        return name in {field.name for field in dataclasses.fields(cls)}
    found = _of_class(cls, name)
    return not callable(found) and not hasattr(type(found), "__get__")


def _defaults(cls) -> dict[str, Any]:
    """What attributes are that a file does not have: fields of dataclasses and settings of estimators, by default."""
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
