"""The model of a table beside scikit-learn's alternatives, by the same folds."""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from .._validation import check_number
from .files import TableError, pandas
from .inputs import InputEncoding
from .peers import peers_of

OURS = "hilbertlearn"


def compare(model, frame, inputs=None, *, folds=5, random_state=0, said=None):
    """Held-out scores of a ``TabularModel`` and of alternatives.

    All get the inputs as the model encodes them, learnt from the training part of each fold. Alternatives refuse gaps
    in targets, which they get the mean of the column for; curves at points of their own they get by linear
    interpolation.

    Parameters
    ----------
    model : ``TabularModel``, which need not be fitted and stays as it is; its level has no part here
    frame, inputs : as in its ``fit``
    folds : number of folds, of samples in random order; those without targets are left out
    said : function that is called with a text before each fit, or None

    Returns
    -------
    table : data frame with columns method, score (the higher the better), standard_error over folds, seconds a fold
    score : what the score is called
    notes : sentences on what was chosen and filled in
    """
    check_number(folds, "folds", low=1, integer=True)
    plan = clone(model)
    table, outputs = plan.choose_columns(frame, inputs)
    if folds > len(table):
        raise TableError(f"folds: {folds} of them are more than the {len(table)} samples with targets; give fewer")
    task = plan.targets_as_task()
    peers = peers_of(plan.task_, outputs, plan.loss, plan.levels)
    found: dict = {}
    for number, (train, test) in enumerate(KFold(folds, shuffle=True, random_state=random_state).split(table)):
        encoding = InputEncoding.of(table.iloc[train], plan.features_)
        X, X_test = (encoding.encode(table.iloc[some])[0] for some in (train, test))
        ours = task.estimator(plan.loss, plan.levels, None, 0)
        for name, estimator in [(OURS, ours), *peers.estimators(X.shape[1])]:
            if said is not None:
                said(f"fold {number + 1} of {folds}: {name}")
            own = outputs[train] if name == OURS else peers.targets(outputs[train])
            start = time.perf_counter()
            predictions = _predicted(estimator, X, own, X_test, outputs[test] if name == OURS else None)
            seconds = time.perf_counter() - start
            if name != OURS:
                predictions = peers.decode(predictions, outputs[test])
            found.setdefault(name, []).append((peers.score(outputs[test], predictions), seconds))
    return _table(found), peers.score_name, plan.notes_


def _predicted(estimator, X, y, X_test, truth):
    """Predictions of an estimator; of curves at points of their own, at those of the truth."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits in folds, where there is nothing to be done about them
        estimator.fit(X, y)
        points = getattr(truth, "points", None)
        return estimator.predict(X_test) if points is None else estimator.predict(X_test, grid=list(points))


def _table(found):
    rows = []
    for name, pairs in found.items():
        scores, seconds = np.array(pairs).T
        error = scores.std(ddof=1) / np.sqrt(len(scores))
        rows.append({"method": name, "score": scores.mean(), "standard_error": error, "seconds": seconds.mean()})
    return pandas().DataFrame(rows)
