"""Fits that succeed whole or change nothing, and copies of settings."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from hilbertlearn import kernels
from hilbertlearn._utils.fitting import snapshot, transactional, unfitted_copy


class Mean(BaseEstimator):
    """Learns in steps, the last of which may fail."""

    def __init__(self, scale=1.0, kernel=None):
        self.scale, self.kernel = scale, kernel

    @transactional
    def fit(self, X, *, extra=False):
        """The mean of X."""
        assert not any(name.endswith("_") for name in vars(self)), "something is left of an earlier fit"
        self.n_, self._private_ = len(X), list(X)
        if extra:
            self.extra_ = True
        self.mean_ = self.scale * sum(X) / len(X)
        return self


def test_blank_keeps_settings_and_drops_all_that_was_learnt():
    model = Mean(2.0, kernels.L2()).fit([1.0, 2.0], extra=True)
    model.note, model._metadata, model.odd__ = "kept", "kept too", "not learnt"
    before = dict(vars(model))
    new = unfitted_copy(model)
    assert vars(new) == {
        "scale": 2.0,
        "kernel": model.kernel,
        "note": "kept",
        "_metadata": "kept too",
        "odd__": "not learnt",
    }
    assert new is not model and type(new) is Mean and new.kernel is model.kernel
    assert vars(model) == before


def test_a_fit_that_succeeds_replaces_everything_and_returns_the_estimator():
    model = Mean()
    assert model.fit([1.0, 3.0], extra=True) is model
    assert (model.mean_, model.n_, model._private_, model.extra_) == (2.0, 2, [1.0, 3.0], True)
    model.fit([5.0])
    assert (model.mean_, model.n_, model._private_) == (5.0, 1, [5.0])
    assert not hasattr(model, "extra_")


@pytest.mark.parametrize("X", [[], [1.0, "two"], None])
def test_a_fit_that_fails_changes_nothing(X):
    model = Mean().fit([1.0, 3.0], extra=True)
    before = dict(vars(model))
    with pytest.raises((TypeError, ZeroDivisionError)):
        model.fit(X)
    assert vars(model) == before
    never = Mean()
    with pytest.raises((TypeError, ZeroDivisionError)):
        never.fit(X)
    assert list(vars(never)) == ["scale", "kernel"]


def test_an_interrupt_changes_nothing():
    def numbers():
        yield 1.0
        raise KeyboardInterrupt

    class Sum(BaseEstimator):
        @transactional
        def fit(self, X):
            self.total_ = 0.0
            for x in X:
                self.total_ += x

    model = Sum().fit([1.0, 2.0])
    with pytest.raises(KeyboardInterrupt):
        model.fit(numbers())
    assert model.total_ == 3.0


def test_the_decorated_method_looks_like_the_one_inside():
    assert str(inspect.signature(Mean.fit)) == "(self, X, *, extra=False)"
    assert Mean.fit.__name__ == "fit" and Mean.fit.__doc__ == "The mean of X."


def test_a_fit_of_a_subclass_may_call_that_of_its_parent():
    class Rounded(Mean):
        @transactional
        def fit(self, X):
            super().fit(X)
            self.mean_ = round(self.mean_)
            return self

    model = Rounded().fit([1.0, 2.0, 4.0])
    assert model.mean_ == 2 and model.n_ == 3
    with pytest.raises(ValueError):
        model.fit([1.0, np.nan])  # NaN cannot be rounded, after the parent's fit
    assert model.mean_ == 2 and model.n_ == 3


def test_a_snapshot_is_out_of_reach_of_later_changes():
    outer = Mean(2.0, Mean(3.0, kernels.L2(0.5)))
    copy = snapshot(outer)
    outer.set_params(scale=-1.0, kernel__scale=-1.0, kernel__kernel__gamma=-1.0)
    assert (copy.scale, copy.kernel.scale, copy.kernel.kernel.gamma) == (2.0, 3.0, 0.5)
    outer.set_params(kernel=None)
    assert copy.kernel.kernel.gamma == 0.5


def test_a_snapshot_leaves_the_original_alone():
    outer = Mean(2.0, kernels.L2(0.5))
    inner = outer.kernel
    snapshot(outer).set_params(scale=-1.0, kernel__gamma=-1.0)
    assert outer.kernel is inner and (outer.scale, inner.gamma) == (2.0, 0.5)


@pytest.mark.parametrize("setting", ["rbf", 3.0, None, kernels.L2, len], ids=str)
def test_a_snapshot_of_what_holds_no_settings_is_itself(setting):
    assert snapshot(setting) is setting
