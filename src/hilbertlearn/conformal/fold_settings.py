"""Leave-one-out models of few samples, whose settings are selected without the sample."""

from __future__ import annotations

from .samples import CalibrationData
from .settings import ConformalSettings
from .splits import FOLDS, groups_by_value
from .wrapped import leave_one_out_by_fold, selects_settings

SELECT_BY_FOLD_UP_TO = 200


def with_settings_of_folds(models, settings: ConformalSettings, data: CalibrationData, model):
    """Leave-one-out models in closed form; of few samples with settings selected without the fold of each.

    The settings that are best for the samples fit each of them too well, so that residuals are too small.

    models : with the settings of all samples
    model : the estimator fitted to all samples
    """
    n = len(models.rows)
    if n > SELECT_BY_FOLD_UP_TO or not selects_settings(model):
        return models
    fold = groups_by_value(models.data.Y, models.loo_predictions, FOLDS)
    if not fold.any():  # copies of one sample
        return models
    task = settings.progress.task("settings without some samples", "fold", int(fold.max()) + 1, has_subtasks=True)
    by_fold = leave_one_out_by_fold(settings.estimator, model, data.X, data.y, data.sample_weight, fold, task)
    return models if by_fold is None else by_fold
