"""Nested settings of objects that are given by name."""

from __future__ import annotations

from collections import defaultdict

from sklearn.base import BaseEstimator

from .._utils.naming import unnamed_in_errors
from ..losses import as_loss
from ..operators import operator_from_name
from ..spaces import named_space

_REMEDIES = {
    "kernel": "set gamma, or kernel_params, of the estimator, or give an object such as kernels.Matern()",
    "operator": "give an object such as operators.TaskGraph()",
    "output_metric": "give an object such as operators.TaskGraph(form='similarity')",
    "output_loss": "give an object such as output_losses.Huber()",
    "output_kernel": "give an object such as kernels.NGrams()",
    "graph": "give an object such as kernels.Affinity()",
    "regressor": "give a regressor of scikit-learn",
}


@unnamed_in_errors
class NamedSettings(BaseEstimator):
    """An estimator whose ``set_params(loss__kappa=0.1)`` is understood where ``loss`` is a name."""

    # for each setting the function that creates an object from its name
    _by_name: dict = {
        "loss": as_loss,
        "operator": operator_from_name,
        "output_metric": operator_from_name,
        "space": named_space,
    }

    def set_params(self, **params):
        """Set settings of the estimator, as ``alpha``, and of objects in it, as ``loss__kappa``.

        A name is replaced by its object: ``loss="huber"`` and ``loss__kappa=0.1`` is ``Huber(0.1)``.

        Parameters
        ----------
        **params : settings
            By name, nested ones as ``component__setting``.

        Returns
        -------
        self : object
        """
        plain: dict = {}
        nested: dict = defaultdict(dict)
        for key, value in params.items():
            name, separator, setting = key.partition("__")
            if separator and name in self._get_param_names():
                nested[name][setting] = value
            else:
                plain[key] = value
        super().set_params(**plain)
        for name, settings in nested.items():
            component = self._component(name, settings)
            component.set_params(**settings)
            setattr(self, name, component)
        return self

    def _component(self, name, settings):
        """The object of a setting, created where the setting is a name."""
        value = getattr(self, name)
        if hasattr(value, "set_params") and not isinstance(value, type):
            return value
        if isinstance(value, str) and value != "auto" and name in self._by_name:
            return self._by_name[name](value)
        remedy = _REMEDIES.get(name, "leave it out")
        raise ValueError(f"{name}__{next(iter(settings))}: {name}={value!r} has no settings of its own; {remedy}")
