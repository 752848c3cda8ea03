"""Fits that succeed whole or change nothing."""

from __future__ import annotations

import copy
from functools import update_wrapper, wraps
from inspect import signature
from types import MethodType

from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object
from sklearn.utils.validation import has_fit_parameter


def unfitted_copy(estimator):
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
        new = unfitted_copy(self)
        fit(new, *args, **kwargs)
        self.__dict__ = new.__dict__
        return self

    return whole


def transactional_update(learn):
    """As ``transactional``, on a copy that keeps what was learnt before."""

    @wraps(learn)
    def whole(self, *args, **kwargs):
        new = copy.copy(self)
        learn(new, *args, **kwargs)
        self.__dict__ = new.__dict__
        return self

    return whole


class available_if_checked:
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


def routing_enabled() -> bool:
    """Whether scikit-learn's metadata routing is enabled."""
    return bool(get_config().get("enable_metadata_routing", False))


def router_to(owner, **estimators):
    """Metadata router of an estimator around others, whose ``fit`` and ``predict`` call those of the others."""
    mapping = MethodMapping().add(caller="fit", callee="fit").add(caller="predict", callee="predict")
    return MetadataRouter(owner=owner).add(method_mapping=mapping, **estimators)


def weight_arguments(model, sample_weight, owner, name="estimator") -> dict:
    """Keyword arguments of ``model.fit`` that hand the weights of samples on; none for sample_weight=None.

    With metadata routing enabled the model's own requests decide (``model.set_fit_request(sample_weight=True)``).
    Without, the weights of a pipeline go to its last step.

    Parameters
    ----------
    owner : the estimator, or its name, that calls ``model.fit``
    name : its argument that holds the model, for messages
    """
    if sample_weight is None:
        return {}
    if not routing_enabled():
        return {_name_of_weights(model, name): sample_weight}
    if not _mentions_weights(get_routing_for_object(model)):
        raise _without_weights(model, name)
    router = router_to(owner, **{name: model})
    return dict(router.route_params(caller="fit", params={"sample_weight": sample_weight})[name]["fit"])


def _mentions_weights(routing):
    """Whether ``fit`` of an estimator, or of one inside it, has weights to request or to decline."""
    if isinstance(routing, MetadataRouter):
        return any(_mentions_weights(pair.router) for _, pair in routing)
    return "sample_weight" in routing.fit.requests


def _without_weights(model, name):
    return ValueError(f"{name}: {model!r} takes no sample_weight; give another {name}, or no weights")


def _name_of_weights(model, name):
    """The argument of ``fit`` that takes weights; ``**params`` of searches and the like hand them on."""
    if isinstance(model, Pipeline):
        step, last = model.steps[-1]
        return f"{step}__{_name_of_weights(last, name)}"
    handed_on = any(one.kind is one.VAR_KEYWORD for one in signature(model.fit).parameters.values())
    if not handed_on and not has_fit_parameter(model, "sample_weight"):
        raise _without_weights(model, name)
    return "sample_weight"
