"""The model of a table beside scikit-learn's alternatives, by the same folds."""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from ..._utils.progress import Progress
from ..._utils.validation import check_number
from ...data.functions import IrregularFunctions
from ...functional import FunctionalRegressor
from .files import TableError, pandas
from .inputs import InputEncoding
from .peers import peers_of

OURS = "hilbertlearn"


def compare(model, frame, inputs=None, *, folds=5, random_state=0, verbose=0):
    """Held-out scores of a ``TabularModel`` and of alternatives.

    All get the inputs as the model encodes them, learnt from the training part of each fold. Alternatives refuse gaps
    in targets, which they get the mean of the column for; a column that is empty in the training part of a fold is not
    scored there. Curves at points of their own they get by linear interpolation.

    Parameters
    ----------
    model : ``TabularModel``, which need not be fitted and stays as it is; its level has no part here
    frame, inputs : as in its ``fit``
    folds : number of folds, of samples in random order; those without targets are left out
    random_state : of that order
    verbose : 1 tells which folds are done

    Returns
    -------
    table : data frame with columns method, score (the higher the better), standard_error over folds, seconds a fold
    score : what the score is called
    notes : sentences on what was chosen and filled in

    References
    ----------
    Nadeau and Bengio (2003), "Inference for the generalization error", on standard errors over folds, which are
    somewhat too small since training parts overlap.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from hilbertlearn.tabular import TabularModel, compare
    >>> x = np.linspace(-2, 2, 40)
    >>> found, score, _ = compare(TabularModel("y"), pd.DataFrame({"x": x, "y": np.sin(3 * x)}), folds=2)
    >>> score, found["method"].tolist()[:3]
    ('R2', ['hilbertlearn', 'mean', 'RidgeCV'])
    >>> ours, mean = found["score"][:2]
    >>> bool(ours > 0.9 > mean)
    True
    """
    check_number(folds, "folds", low=1, integer=True)
    plan = clone(model)
    table, outputs = plan.choose_columns(frame, inputs)
    if folds > len(table):
        raise TableError(f"folds: {folds} of them are more than the {len(table)} samples with targets; give fewer")
    task = plan.targets_as_task()
    peers = peers_of(plan.task_, outputs, plan.loss, plan.levels)
    splits = KFold(folds, shuffle=True, random_state=random_state).split(table)
    found: dict = {}
    with Progress("compare", verbose).task("folds", "fold", folds) as going:
        for train, test in splits:
            encoding = InputEncoding.of(table.iloc[train], plan.features_)
            X, X_test = (encoding.encode(table.iloc[some])[0] for some in (train, test))
            ours = task.estimator(plan.loss, plan.levels, None, 0)
            truth = peers.scored(outputs[test], outputs[train])
            own = _scored(ours, X, outputs[train], X_test, truth, peers.score)
            found.setdefault(OURS, []).append(own)
            targets = peers.targets(outputs[train])
            for name, estimator in peers.estimators(X.shape[1]):
                other = _scored(estimator, X, targets, X_test, truth, peers.decoded_score)
                found.setdefault(name, []).append(other)
            going.step(f"{peers.score_name} {own[0]:.3f}")
    return _table(found), peers.score_name, plan.notes_


def _scored(estimator, X, y, X_test, truth, score):
    """Score and seconds of an estimator."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits in folds, where there is nothing to be done about them
        predictions = _predicted(estimator.fit(X, y), X_test, truth)
    seconds = time.perf_counter() - start
    return score(truth, predictions), seconds


def _predicted(estimator, X, truth):
    """Predictions; those of our curves at points of their own, at the points of the truth."""
    irregular = isinstance(truth, IrregularFunctions) and isinstance(estimator, FunctionalRegressor)
    return estimator.predict(X, grid=list(truth.points)) if irregular else estimator.predict(X)


def _table(found):
    rows = []
    for name, pairs in found.items():
        scores, seconds = np.array(pairs).T
        error = scores.std(ddof=1) / np.sqrt(len(scores))
        rows.append({"method": name, "score": scores.mean(), "standard_error": error, "seconds": seconds.mean()})
    return pandas().DataFrame(rows)
