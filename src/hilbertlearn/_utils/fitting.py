"""Support of ``fit``: transactions, available methods, settings, tags, and metadata routing."""

from __future__ import annotations

import copy
from contextlib import contextmanager
from functools import update_wrapper, wraps
from inspect import signature
from types import MethodType

from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object
from sklearn.utils.validation import has_fit_parameter


def unfitted_copy(estimator):
    """A copy with the settings, without learnt attributes, whose names end in an underscore."""
    new = copy.copy(estimator)
    for name in [name for name in vars(new) if name.endswith("_") and not name.endswith("__")]:
        delattr(new, name)
    return new


@contextmanager
def transaction(estimator):
    """An unfitted copy to fit in a ``with`` block. The estimator takes over its attributes if the block succeeds.

    So a fit that fails, or is interrupted, leaves an earlier one as it was, and nothing of an earlier fit remains after
    one that succeeds.
    """
    new = unfitted_copy(estimator)
    yield new
    estimator.__dict__ = new.__dict__


def transactional(fit):
    """The method ``fit`` as a ``transaction``; it returns the estimator."""

    @wraps(fit)
    def wrapper(self, *args, **kwargs):
        with transaction(self) as new:
            fit(new, *args, **kwargs)
        return self

    return wrapper


def transactional_update(learn):
    """As ``transactional``, on a copy that keeps the learnt attributes."""

    @wraps(learn)
    def wrapper(self, *args, **kwargs):
        new = copy.copy(self)
        learn(new, *args, **kwargs)
        self.__dict__ = new.__dict__
        return self

    return wrapper


class available_if_checked:
    """Decorate a method that exists only if ``check(estimator)`` raises no AttributeError.

    Unlike with scikit-learn's ``available_if``, the caller sees the error of the check, which names a remedy.
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
    """A copy of a settings object and of the settings objects in it; later changes of the original do not affect it."""
    if isinstance(setting, type) or not hasattr(setting, "get_params"):
        return setting
    new = copy.copy(setting)
    for name, value in setting.get_params(deep=False).items():
        if hasattr(value, "get_params"):
            setattr(new, name, snapshot(value))
    return new


def store(estimator, arguments):
    """Set the arguments of a constructor, its ``locals()``, as attributes of the same names."""
    for name, value in arguments.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


def with_tags_of(wrapped, tags):
    """The tags of a wrapper, which takes the same inputs and outputs as the wrapped estimator."""
    inner = get_tags(wrapped)
    for name in ("estimator_type", "regressor_tags", "classifier_tags", "target_tags", "input_tags"):
        setattr(tags, name, copy.deepcopy(getattr(inner, name)))
    return tags


def copy_feature_names(fitted, wrapper):
    """Set ``n_features_in_`` and ``feature_names_in_`` of a wrapper, where the fitted estimator has them."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(fitted, name):
            setattr(wrapper, name, getattr(fitted, name))


def routing_enabled() -> bool:
    """Whether scikit-learn's metadata routing is enabled."""
    return bool(get_config().get("enable_metadata_routing", False))


def router_to(owner, **estimators):
    """Metadata router of an estimator whose ``fit`` and ``predict`` call those of other estimators."""
    mapping = MethodMapping().add(caller="fit", callee="fit").add(caller="predict", callee="predict")
    return MetadataRouter(owner=owner).add(method_mapping=mapping, **estimators)


def weight_arguments(model, sample_weight, owner, name="estimator") -> dict:
    """Keyword arguments of ``model.fit`` that pass on the sample weights; none for sample_weight=None.

    With metadata routing enabled the requests of the model decide (``model.set_fit_request(sample_weight=True)``).
    Without it a pipeline passes the weights to its last step.

    Parameters
    ----------
    owner : the estimator that calls ``model.fit``, or its name
    name : the parameter of the owner that holds the model, for messages
    """
    if sample_weight is None:
        return {}
    if not routing_enabled():
        return {_weight_argument(model, name): sample_weight}
    if not _takes_weights(get_routing_for_object(model)):
        raise _no_weights_error(model, name)
    router = router_to(owner, **{name: model})
    return dict(router.route_params(caller="fit", params={"sample_weight": sample_weight})[name]["fit"])


def _takes_weights(routing):
    """Whether ``fit`` of an estimator, or of one inside it, takes sample weights."""
    if isinstance(routing, MetadataRouter):
        return any(_takes_weights(pair.router) for _, pair in routing)
    return "sample_weight" in routing.fit.requests


def _no_weights_error(model, name):
    return ValueError(f"{name}: {model!r} takes no sample_weight; give another {name}, or no weights")


def _weight_argument(model, name):
    """The argument of ``fit`` that takes weights; ``fit(**params)``, as of searches, passes them on."""
    if isinstance(model, Pipeline):
        step, last = model.steps[-1]
        return f"{step}__{_weight_argument(last, name)}"
    takes_any = any(argument.kind is argument.VAR_KEYWORD for argument in signature(model.fit).parameters.values())
    if not takes_any and not has_fit_parameter(model, "sample_weight"):
        raise _no_weights_error(model, name)
    return "sample_weight"
