"""Fits that succeed whole or change nothing."""

from __future__ import annotations

import copy
from functools import update_wrapper, wraps
from types import MethodType

from sklearn.utils import get_tags


def blank(estimator):
    """A copy with the settings and nothing learnt: learnt attributes, private ones too, end in an underscore."""
    new = copy.copy(estimator)
    for name in [name for name in vars(new) if name.endswith("_") and not name.endswith("__")]:
        delattr(new, name)
    return new


def transactional(fit):
    """The method ``fit`` on a blank copy whose state the estimator takes over at the end.

    So a fit that fails, or is interrupted, leaves an earlier one as it was, and nothing of an earlier one is left by
    one that succeeds.
    """

    @wraps(fit)
    def whole(self, *args, **kwargs):
        new = blank(self)
        fit(new, *args, **kwargs)
        self.__dict__ = new.__dict__
        return self

    return whole


def continued(learn):
    """As ``transactional``, on a copy that keeps what was learnt before."""

    @wraps(learn)
    def whole(self, *args, **kwargs):
        new = copy.copy(self)
        learn(new, *args, **kwargs)
        self.__dict__ = new.__dict__
        return self

    return whole


class where:
    """Decorator of a method that is there only where ``check(estimator)`` raises no AttributeError.

    As ``available_if`` of scikit-learn, but the error that a caller sees is that of the check, with its remedy.
    """

    def __init__(self, check):
        self.check = check

    def __call__(self, method):
        self.method = method
        return update_wrapper(self, method)

    def __get__(self, estimator, owner=None):
        if estimator is None:
            return self.method
        self.check(estimator)
        return MethodType(self.method, estimator)


def snapshot(setting):
    """A copy of a settings object, and of those inside it, that later changes of the settings do not reach."""
    if isinstance(setting, type) or not hasattr(setting, "get_params"):
        return setting
    new = copy.copy(setting)
    for name, value in setting.get_params(deep=False).items():
        if hasattr(value, "get_params"):
            setattr(new, name, snapshot(value))
    return new


def store(estimator, given):
    """Keep the arguments of a constructor, ``locals()`` there, as settings of the same names, and nothing else."""
    for name, value in given.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


def with_tags_of(wrapped, tags):
    """The tags of an estimator around another, which is for the same inputs and outputs as that."""
    inner = get_tags(wrapped)
    for name in ("estimator_type", "regressor_tags", "classifier_tags", "target_tags", "input_tags"):
        setattr(tags, name, copy.deepcopy(getattr(inner, name)))
    return tags
