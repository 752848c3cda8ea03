"""Sums over samples that may be in several parts, each where its rows are.

A function ``total`` takes the sum over the samples of one part, an array, and returns that over all. Whatever is formed
over samples passes through it, so that one algorithm runs on every part, and only sums travel.
"""

from __future__ import annotations


def local_total(partial):
    """``total`` where all samples are here."""
    return partial


class cached_attribute:
    """A property computed once, for those that sum over samples.

    ``functools.cached_property`` of Python 3.11 holds a lock that all objects of a class share while it computes; parts
    in threads of one process would wait for each other's sums for ever.
    """

    def __init__(self, function):
        self.function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        value = self.function(instance)
        object.__setattr__(instance, self.name, value)  # found before this from now on, also of frozen objects
        return value
