"""Sums over samples that may be distributed over several parts.

A function ``total`` takes the sum over the samples of one part, an array, and returns the sum over all parts. All sums
over samples pass through it. So the same algorithm runs on every part, and only sums are communicated.
"""

from __future__ import annotations


def local_total(partial):
    """``total`` for samples in one part."""
    return partial


class cached_attribute:
    """A cached property that may sum over samples.

    ``functools.cached_property`` of Python 3.11 holds one lock for all objects of a class while it computes. Parts in
    threads of one process would wait for each other's sums forever.
    """

    def __init__(self, function):
        self.function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        value = self.function(instance)
        object.__setattr__(instance, self.name, value)  # shadows the property, also of frozen objects
        return value
