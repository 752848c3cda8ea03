"""Models of few samples whose settings are selected without the calibration sample.

The settings that are best for all samples fit each of them a little too well, so that leave-one-out residuals with
these settings are too small. The package's docstring has the measured coverages.
"""

from __future__ import annotations

from .samples import CalibrationData
from .settings import ConformalSettings
from .splits import groups_by_value
from .wrapped import fit_folded_leave_one_out, has_learnt_metric, selects_settings

# Number of samples up to which settings are selected in folds, which takes as long as five fits. With 300 samples the
# settings of all samples cost 0.002 to 0.013 of the coverage, with 500 at most 0.006.
SELECT_BY_FOLD_UP_TO = 300
_FOLDS = 5  # ten take twice the time; coverage and width differ by less than 0.01


def depends_on_samples(model, n) -> bool:
    """Whether the settings of a fitted model of n samples fit these so well that errors with them are too small.

    Of many samples this holds for a learnt metric alone, which has as many numbers as pairs of inputs.
    """
    return selects_settings(model) and (n <= SELECT_BY_FOLD_UP_TO or has_learnt_metric(model))


def select_by_fold(models, settings: ConformalSettings, data: CalibrationData, model):
    """Leave-one-out models in closed form, and whether they share the settings of all samples.

    Of few samples, and where a metric of the inputs is learnt, the settings are selected without the fold of the sample
    that is left out. This is not possible for an alpha that ``RegularizationPathCV`` selects, an alpha for each output,
    and features.

    models : with the settings of all samples
    model : the estimator fitted to all samples
    """
    if not depends_on_samples(model, len(models.rows)):
        return models, True
    fold = groups_by_value(models.data.Y, models.loo_predictions, _FOLDS)
    if not fold.any():  # copies of one sample
        return models, True
    task = settings.progress.task("settings without some samples", "fold", int(fold.max()) + 1, has_subtasks=True)
    folded = fit_folded_leave_one_out(settings.estimator, model, data.X, data.y, data.sample_weight, fold, task)
    return (models, True) if folded is None else (folded, False)
