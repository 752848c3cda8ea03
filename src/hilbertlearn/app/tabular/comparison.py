"""Comparison of the model of a table with alternatives of scikit-learn, by the same folds."""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.model_selection import KFold

from ..._utils.progress import Progress
from ..._utils.validation import check_number
from ...data.functions import IrregularFunctions
from ...functional import FunctionalRegressor
from .alternatives import alternatives_for
from .files import TableError, import_pandas
from .inputs import InputEncoder

OURS = "hilbertlearn"


def compare(model, frame, inputs=None, *, folds=5, random_state=0, verbose=0):
    """Cross-validated scores of a ``TabularModel`` and of alternatives of scikit-learn.

    All get the inputs in the encoding of the model, which is learnt from the training part of each fold. Alternatives
    do not accept missing targets: they get the mean of the column. A column that is empty in the training part of a
    fold is not scored there. Alternatives get irregularly sampled curves by linear interpolation.

    Parameters
    ----------
    model : TabularModel
        It need not be fitted, and is not changed. Its ``level`` is ignored.
    frame : pandas.DataFrame
        The table, as in ``TabularModel.fit``.
    inputs : pandas.DataFrame, default=None
        Inputs of curves in long form, as in ``TabularModel.fit``.
    folds : int, default=5
        Number of folds of shuffled rows. Rows without targets are dropped.
    random_state : int, default=0
        Seed of the shuffling.
    verbose : int, default=0
        1 shows the progress over folds.

    Returns
    -------
    table : pandas.DataFrame
        Columns method, score (the higher the better), standard_error over folds, and seconds per fold.
    score : str
        Name of the score.
    notes : list of str
        Sentences on what was chosen and filled in.

    References
    ----------
    Nadeau and Bengio (2003), "Inference for the generalization error", on standard errors over folds, which are
    slightly too small since training parts overlap.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from hilbertlearn.tabular import TabularModel, compare
    >>> x = np.linspace(-2, 2, 40)
    >>> table, score, _ = compare(TabularModel("y"), pd.DataFrame({"x": x, "y": np.sin(3 * x)}), folds=2)
    >>> score, table["method"].tolist()[:3]
    ('R2', ['hilbertlearn', 'mean', 'RidgeCV'])
    >>> ours, mean = table["score"][:2]
    >>> bool(ours > 0.9 > mean)
    True
    """
    check_number(folds, "folds", low=1, integer=True)
    selection = model.select_columns(frame, inputs)
    table, outputs, task = selection.table, selection.outputs, selection.task
    if folds > len(table):
        raise TableError(f"folds: {folds} of them are more than the {len(table)} samples with targets; give fewer")
    alternatives = alternatives_for(task.name, outputs, model.loss, model.levels)
    splits = KFold(folds, shuffle=True, random_state=random_state).split(table)
    results: dict = {}
    with Progress("compare", verbose).task("folds", "fold", folds) as progress:
        for train, test in splits:
            encoder, X = InputEncoder.fit_encode(table.iloc[train], selection.features)
            X_test = encoder.encode(table.iloc[test])
            truth = alternatives.scored(outputs[test], outputs[train])
            ours = task.estimator(model.loss, model.levels, None, 0)
            ours = _score(ours, X, outputs[train], X_test, truth, alternatives.score)
            results.setdefault(OURS, []).append(ours)
            targets = alternatives.targets(outputs[train])
            for name, estimator in alternatives.estimators(X.shape[1]):
                result = _score(estimator, X, targets, X_test, truth, alternatives.decoded_score)
                results.setdefault(name, []).append(result)
            progress.step(f"{alternatives.score_name} {ours[0]:.3f}")
    return _table(results), alternatives.score_name, selection.notes


def _score(estimator, X, y, X_test, truth, score):
    """Score of an estimator, and the seconds of fit and prediction."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the user can do nothing about warnings of fits in folds
        predictions = _predict(estimator.fit(X, y), X_test, truth)
    seconds = time.perf_counter() - start
    return score(truth, predictions), seconds


def _predict(estimator, X, truth):
    """Predictions; those of irregularly sampled curves are at the points of the truth."""
    irregular = isinstance(truth, IrregularFunctions) and isinstance(estimator, FunctionalRegressor)
    return estimator.predict(X, grid=list(truth.points)) if irregular else estimator.predict(X)


def _table(results):
    rows = []
    for name, pairs in results.items():
        scores, seconds = np.array(pairs).T
        error = scores.std(ddof=1) / np.sqrt(len(scores))
        rows.append({"method": name, "score": scores.mean(), "standard_error": error, "seconds": seconds.mean()})
    return import_pandas().DataFrame(rows)
