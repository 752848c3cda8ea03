"""One model and the data it is judged on, as a section of a report."""

from __future__ import annotations

import time

from .behind import Model, columns_of, names_of
from .choices import choices_part
from .codes import judge_codes
from .curves import judge_curves
from .data import in_words, inputs_table, missing_inputs
from .fits import fit_rows, outlier_items, time_rows
from .links import judge_links
from .objects import judge_objects
from .parts import Figures, Judged, Part, Section, Tile, worst_table
from .quantiles import judge_quantiles
from .text import count, number, percent
from .text import seconds as duration
from .vectors import judge_vectors


def section(
    model,
    X,
    y,
    *,
    name=None,
    task=None,
    ids=None,
    columns=None,
    targets=None,
    seconds=None,
    reference=None,
    inputs=None,
) -> Section:
    """What a fitted model has learnt, and how it does on data it is judged on.

    Everything is measured on (X, y), which should be samples that ``fit`` has not seen; what the model says of its
    training samples (outliers, held-out errors, the certified gap) is in the section too.

    Parameters
    ----------
    model : fitted estimator of the package, or ``RegularizationPathCV``, ``ConformalPredictor``, ``Pipeline`` or
        ``GridSearchCV`` around one; other regressors of scikit-learn will do, and say less
    X : inputs, as ``predict`` takes them; of links ``graphs.Pairs``, features of nodes, or None for the nodes of fit
    y : outputs, NaN where not observed, in any form that ``fit`` takes; None shows predictions alone
    name : heading; None for the name of the estimator
    task : a sentence on what is asked; None for one that is made of the data
    ids : names of the samples; None for the index of a data frame, or positions
    columns : names of the inputs; None for those of a data frame
    targets : names of the outputs, or of labels; None for those of a data frame
    seconds : that the fit took, where they are known
    reference : ``{"name": ..., "score_name": ..., "ours": ..., "score": ...}``: a plain alternative, what both are
        compared by, and the scores of this model and of the alternative
    inputs : the inputs as a reader knows them, where X is what became of them: a data frame with its gaps and texts

    Returns
    -------
    Section, for ``report.html`` and ``report.write``; ``facts`` has its numbers

    References
    ----------
    - Gneiting, T. and Raftery, A. E. (2007). Strictly proper scoring rules, prediction, and estimation. JASA 102(477).
    - Barber, R. F., Candes, E. J., Ramdas, A. and Tibshirani, R. J. (2021). Predictive inference with the jackknife+.
      Annals of Statistics 49(1).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, report
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> Y = np.hstack([np.sin(6 * X), np.cos(6 * X)])
    >>> model = OperatorKernelRegressor("rbf", gamma=5.0, alpha=1e-4).fit(X[::2], Y[::2])
    >>> found = report.section(model, X[1::2], Y[1::2], targets=["sine", "cosine"])
    >>> print(found.task)
    From 1 column, predict 2 numbers.
    >>> bool(found.facts["score"] > 0.99)
    True
    """
    layers = Model.of(model)
    names = names_of(layers, X, y, ids)
    shown = X if inputs is None else inputs
    columns = columns_of(shown, columns, model, "feature_names_in_")
    targets = None if y is None and targets is None else columns_of(y, targets, None, "")
    start = time.perf_counter()
    judged = _judge(layers)(layers, X, y, names, targets)
    took = time.perf_counter() - start
    n = judged.facts["n_pairs"] if "n_pairs" in judged.facts else len(names)
    chosen, more = choices_part(layers)
    fitted, certificate = fit_rows(layers)
    facts = {"n_samples": n, **judged.facts, **more, **certificate}
    outliers, found = outlier_items(layers)
    facts |= found | ({} if seconds is None else {"fit_seconds": float(seconds)})
    times = time_rows(seconds, took, count(n, judged.unit), facts)
    parts = [
        _data_part(shown, n, judged, columns),
        judged.part,
        judged.coverage,
        _samples_part(judged, names, outliers),
        chosen,
        Part("The fit", "", [Figures([*fitted, *times])]),
    ]
    tiles = [*_beside(reference, facts), *judged.tiles, *_last_tiles(facts, seconds)]
    sentence = f"From {in_words(shown)}, {judged.verb} {judged.goal}." if task is None else str(task)
    heading = type(layers.machine).__name__ if name is None else str(name)
    return Section(heading, sentence, tiles, [part for part in parts if part is not None], facts)


def _judge(model: Model):
    """The function that judges this kind of outputs."""
    if model.predicts_links:
        return judge_links
    if model.makes_codes:
        return judge_codes
    if model.predicts_quantiles:
        return judge_quantiles
    if model.predicts_objects:
        return judge_objects
    return judge_curves if model.predicts_functions else judge_vectors


def _data_part(X, n, judged: Judged, columns) -> Part:
    """What there is of data, and what is missing."""
    intro, missing = f"{count(n, judged.unit)} judged", missing_inputs(X)
    if missing is not None:
        intro += f", {percent(missing, 1) if missing else 'nothing'} missing in the inputs"
    inputs = inputs_table(X, columns)
    return Part("The data", f"{intro}.", [*judged.outputs, *([] if inputs is None else [inputs])])


def _samples_part(judged: Judged, names, outliers) -> Part | None:
    """The worst samples judged, and those of the training data that do not go with the others."""
    worst = worst_table(judged, names)
    items = ([] if worst is None else [worst]) + outliers
    return Part("Samples to look at", "", items) if items else None


def _beside(reference, facts) -> list[Tile]:
    """Tiles of a score and of the same score of a plain alternative."""
    if reference is None:
        return []
    name, score_name = str(reference["name"]), str(reference["score_name"])
    ours, score = float(reference["ours"]), float(reference["score"])
    facts["reference"] = {"name": name, "score_name": score_name, "ours": ours, "score": score}
    return [Tile(score_name, number(ours), "this model"), Tile(score_name, number(score), name)]


def _last_tiles(facts, fit_seconds) -> list[Tile]:
    tiles = []
    if facts.get("dual_gap") is not None:
        tiles.append(Tile("certified gap", number(facts["dual_gap"], 2), f"{count(facts['n_iter'] or 0, 'iteration')}"))
    if fit_seconds is not None:
        tiles.append(Tile("fit", duration(float(fit_seconds)), ""))
    return tiles
