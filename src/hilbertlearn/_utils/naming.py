"""Names of methods in errors that Python itself raises."""

from __future__ import annotations

import inspect


def unnamed_in_errors(cls):
    """Decorate a class that users never see: a wrong call of a method that others inherit names the method alone.

    ``predict() got an unexpected keyword argument 'k'`` in place of ``LinkPredictionMixin.predict() got ...``.
    """
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        function = getattr(member, "__func__", member)  # of a class method
        is_called = name == "__init__" or not name.startswith("_")
        while is_called and inspect.isfunction(function):
            if function.__qualname__ == f"{cls.__qualname__}.{name}":  # else it is another class's
                function.__doc__ = function.__doc__ or _inherited_doc(cls, name)
                function.__qualname__ = name
            function = getattr(function, "__wrapped__", None)  # what a decorator calls
    return cls


def _inherited_doc(cls, name):
    """The docstring of a method of the next class that has one: inspect looks for it by the qualified name."""
    docs = (getattr(getattr(base, name, None), "__doc__", None) for base in cls.__mro__[1:])
    return next(filter(None, docs), None) if name != "__init__" else None
