"""Names of methods in Python's own error messages."""

from __future__ import annotations

import inspect


def unnamed_in_errors(cls):
    """Decorate an internal base class: errors about arguments of its methods do not name the class.

    They say ``predict() got an unexpected keyword argument 'k'``, not ``LinkPredictionMixin.predict() got ...``.
    """
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        function = getattr(member, "__func__", member)  # of a classmethod
        is_public = name == "__init__" or not name.startswith("_")
        while is_public and inspect.isfunction(function):
            if function.__qualname__ == f"{cls.__qualname__}.{name}":  # not inherited
                function.__doc__ = function.__doc__ or _inherited_doc(cls, name)
                function.__qualname__ = name
            function = getattr(function, "__wrapped__", None)  # the function inside a decorator
    return cls


def _inherited_doc(cls, name):
    """The docstring that a method inherits; inspect would look for it by the qualified name."""
    docs = (getattr(getattr(base, name, None), "__doc__", None) for base in cls.__mro__[1:])
    return next(filter(None, docs), None) if name != "__init__" else None
