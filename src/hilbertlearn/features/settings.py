"""The setting ``feature_map`` of estimators."""

from __future__ import annotations

import numbers

from .landmarks import Landmarks
from .random import RandomFeatures
from .transformer import TransformerFeatures


def as_feature_map(setting):
    """Return the settings object of ``feature_map``: an integer is a number of landmarks, None stays None.

    A scikit-learn transformer or pipeline is wrapped in ``TransformerFeatures``.
    """
    known = (
        "None, a number of landmarks, features.Landmarks(), features.RandomFeatures(), or a transformer of "
        "scikit-learn such as Nystroem()"
    )
    if setting is None or isinstance(setting, (Landmarks, RandomFeatures, TransformerFeatures)):
        return setting
    if isinstance(setting, type):
        raise TypeError(f"feature_map must be an object, got the class {setting.__name__}; pass {setting.__name__}()")
    if isinstance(setting, numbers.Integral) and not isinstance(setting, bool):
        if setting < 1:
            raise ValueError(f"feature_map: the number of landmarks must be > 0, got {setting}")
        return Landmarks(int(setting))
    if hasattr(setting, "fit") and hasattr(setting, "transform"):
        return TransformerFeatures(setting)
    error = ValueError if isinstance(setting, (str, numbers.Number)) else TypeError
    raise error(f"feature_map must be {known}, got {setting!r}")
