"""Levels, methods and other settings that are refused."""

import numpy as np
import pytest
from helpers.conformal_samples import MODEL, X, Y
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import ShuffleSplit

from hilbertlearn import ConformalPredictor, OperatorKernelRegressor
from hilbertlearn.conformal import scores


class NoPredict(BaseEstimator):
    def fit(self, X, y):
        return self


@pytest.mark.parametrize("level", [0, 1, 1.2, -0.1, "high", None, True, np.nan])
def test_level_must_be_between_0_and_1(level):
    with pytest.raises(ValueError, match="level must be a number between 0 and 1"):
        ConformalPredictor(MODEL, level=level).fit(X, Y)


@pytest.mark.parametrize(
    ("method", "level", "needed", "there"),
    [("split", 0.95, 19, 12), ("cv+", 0.98, 49, 40), ("jackknife+", 0.99, 99, 40)],
)
def test_too_few_samples_for_the_level(method, level, needed, there):
    with pytest.raises(ValueError, match=rf"needs at least {needed} samples .* has {there}"):
        ConformalPredictor(MODEL, method, level).fit(X, Y)
    ConformalPredictor(MODEL, method, there / (there + 1)).fit(X, Y)  # as the message says


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"estimator": OperatorKernelRegressor}, TypeError, r"pass OperatorKernelRegressor\(\)"),
        ({"estimator": NoPredict()}, TypeError, "estimator must have predict"),
        ({"estimator": "ridge"}, TypeError, "estimator must have fit, predict"),
        ({"method": "jacknife+"}, ValueError, r"did you mean 'jackknife\+'"),
        ({"score": "trimed"}, ValueError, "did you mean 'trimmed'"),
        ({"score": scores.ScaledMaximum}, TypeError, r"pass ScaledMaximum\(\)"),
        ({"score": 3}, TypeError, "score must be a name or an object"),
        ({"score": scores.ScaledMaximum("larger")}, ValueError, "modulation: unknown name 'larger'"),
        ({"score": scores.Mahalanobis(2.0)}, ValueError, "shrinkage must be a number from 0 to 1"),
        ({"method": "split", "calibration": 1.5}, ValueError, "calibration must be a share below 1"),
        ({"method": "split", "calibration": 40}, ValueError, "calibration must be a share below 1"),
        ({"method": "split", "calibration": 0}, ValueError, "calibration must be"),
        ({"cv": 1}, ValueError, "cv must be an integer > 1"),
        ({"cv": ShuffleSplit(3, test_size=0.5, random_state=0)}, ValueError, "more than once"),
    ],
)
def test_bad_settings(settings, error, message):
    with pytest.raises(error, match=message):
        ConformalPredictor(**{"estimator": MODEL, "level": 0.8, **settings}).fit(X, Y)


def test_folds_do_not_go_with_jackknife_plus():
    with pytest.raises(ValueError, match="cv=5: 'jackknife\\+' leaves out each sample"):
        ConformalPredictor(LinearRegression(), "jackknife+", cv=5).fit(np.eye(30), np.arange(30.0))
