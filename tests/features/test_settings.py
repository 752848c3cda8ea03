"""The short forms of the setting ``feature_map``."""

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem

from hilbertlearn import features

# ---------------------------------------------------------------- the setting


def test_short_forms():
    assert features.as_feature_map(None) is None
    made = features.as_feature_map(np.int64(300))
    assert isinstance(made, features.Landmarks) and made.n_components == 300
    for setting in (features.Landmarks(3), features.RandomFeatures(4), features.TransformerFeatures(Nystroem())):
        assert features.as_feature_map(setting) is setting
    wrapped = features.as_feature_map(Nystroem(n_components=4))
    assert isinstance(wrapped, features.TransformerFeatures) and wrapped.transformer.n_components == 4


@pytest.mark.parametrize(
    ("setting", "error", "message"),
    [
        (0, ValueError, "number of landmarks must be > 0"),
        (True, ValueError, r"feature_map must be None, a number of landmarks, features\.Landmarks\(\)"),
        (2.5, ValueError, "feature_map must be"),
        ("nystroem", ValueError, "feature_map must be"),
        (object(), TypeError, "feature_map must be"),
        (Nystroem, TypeError, r"got the class Nystroem; pass Nystroem\(\)"),
        (features.Landmarks, TypeError, r"got the class Landmarks; pass Landmarks\(\)"),
    ],
)
def test_other_settings_are_refused(setting, error, message):
    with pytest.raises(error, match=message):
        features.as_feature_map(setting)
