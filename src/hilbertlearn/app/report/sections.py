"""A section of a report: one model and its evaluation on test data."""

from __future__ import annotations

import time

from .codes import evaluate_codes
from .curves import evaluate_curves
from .fit import fit_rows, outlier_items, time_rows
from .layers import ModelLayers, column_names, sample_names
from .links import evaluate_links
from .objects import evaluate_objects
from .parts import Figures, ModelEvaluation, Section, SectionPart, Tile, worst_table
from .quantiles import evaluate_quantiles
from .search import search_part
from .summaries import describe_inputs, inputs_table, missing_share
from .text import format_count, format_number, format_percent, format_seconds
from .vectors import evaluate_vectors


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
    """Evaluate a fitted model on test data, as a section of a report.

    Scores, errors and coverage are computed on (X, y), which should be samples that ``fit`` has not seen. The section
    also has results of the fit itself: outliers, cross-validated errors, the duality gap.

    Parameters
    ----------
    model : estimator
        A fitted estimator of the package, or a ``RegularizationPathCV``, ``ConformalPredictor``, ``Pipeline`` or
        ``GridSearchCV`` around one. Other regressors of scikit-learn are accepted, with fewer results.
    X : array-like or None
        Inputs in a form that ``predict`` takes. For links ``graphs.Pairs``, features of nodes, or None for the nodes
        of fit.
    y : array-like or None
        Outputs in any form that ``fit`` takes, NaN where not observed. None shows predictions only.
    name : str, default=None
        Heading. None takes the name of the estimator.
    task : str, default=None
        A sentence on the task. None makes one from the data.
    ids : sequence of str, default=None
        Names of the samples. None takes the index of a data frame, or positions.
    columns : sequence of str, default=None
        Names of the inputs. None takes those of a data frame.
    targets : sequence of str, default=None
        Names of the outputs, or of labels. None takes those of a data frame.
    seconds : float, default=None
        Duration of the fit. None if unknown.
    reference : dict, default=None
        ``{"name": ..., "score_name": ..., "ours": ..., "score": ...}``: an alternative method, the name of a score, and
        the scores of this model and of the alternative. None for no comparison.
    inputs : pandas.DataFrame, default=None
        The inputs before an encoding, with missing cells and texts, for the table of the data. None shows X.

    Returns
    -------
    Section
        For ``report.html`` and ``report.write``; its ``facts`` are numbers.

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
    >>> section = report.section(model, X[1::2], Y[1::2], targets=["sine", "cosine"])
    >>> print(section.task)
    From 1 column, predict 2 numbers.
    >>> bool(section.facts["score"] > 0.99)
    True
    """
    layers = ModelLayers.from_estimator(model)
    names = sample_names(layers, X, y, ids)
    raw_inputs = X if inputs is None else inputs
    columns = column_names(raw_inputs, columns, model, "feature_names_in_")
    targets = None if y is None and targets is None else column_names(y, targets, None, "")
    start = time.perf_counter()
    evaluation = _evaluator(layers)(layers, X, y, names, targets)
    evaluation_seconds = time.perf_counter() - start
    n = evaluation.facts["n_pairs"] if "n_pairs" in evaluation.facts else len(names)
    search, search_facts = search_part(layers)
    rows, fit_facts = fit_rows(layers)
    outliers, outlier_facts = outlier_items(layers)
    coverage = evaluation.coverage
    coverage_facts = {} if coverage is None else coverage.facts
    facts = {"n_samples": n, **evaluation.facts, **coverage_facts, **search_facts, **fit_facts, **outlier_facts}
    facts |= {} if seconds is None else {"fit_seconds": float(seconds)}
    times = time_rows(seconds, evaluation_seconds, format_count(n, evaluation.unit), facts)
    parts = [
        _data_part(raw_inputs, n, evaluation, columns),
        evaluation.part,
        None if coverage is None else coverage.part,
        _samples_part(evaluation, names, outliers),
        search,
        SectionPart("The fit", "", [Figures([*rows, *times])]),
    ]
    tiles = [*_reference_tiles(reference, facts), *evaluation.tiles]
    tiles += [*([] if coverage is None else [coverage.tile]), *_last_tiles(facts, seconds)]
    sentence = (
        f"From {describe_inputs(raw_inputs)}, {evaluation.verb} {evaluation.goal}." if task is None else str(task)
    )
    heading = type(layers.estimator).__name__ if name is None else str(name)
    return Section(heading, sentence, tiles, [part for part in parts if part is not None], facts)


def _evaluator(model: ModelLayers):
    """The function that evaluates this kind of outputs."""
    if model.predicts_links:
        return evaluate_links
    if model.is_autoencoder:
        return evaluate_codes
    if model.predicts_quantiles:
        return evaluate_quantiles
    if model.predicts_objects:
        return evaluate_objects
    return evaluate_curves if model.predicts_functions else evaluate_vectors


def _data_part(X, n, evaluation: ModelEvaluation, columns) -> SectionPart:
    """Numbers of samples, ranges and missing entries."""
    intro, missing = f"{format_count(n, evaluation.unit)} evaluated", missing_share(X)
    if missing is not None:
        intro += f", {format_percent(missing, 1) if missing else 'nothing'} missing in the inputs"
    inputs = inputs_table(X, columns)
    return SectionPart("The data", f"{intro}.", [*evaluation.outputs, *([] if inputs is None else [inputs])])


def _samples_part(evaluation: ModelEvaluation, names, outliers) -> SectionPart | None:
    """The test samples with the largest errors, and outliers of the training data."""
    worst = worst_table(evaluation, names)
    items = ([] if worst is None else [worst]) + outliers
    return SectionPart("Samples to check", "", items) if items else None


def _reference_tiles(reference, facts) -> list[Tile]:
    """Tiles of a score and of the same score of an alternative."""
    if reference is None:
        return []
    name, score_name = str(reference["name"]), str(reference["score_name"])
    ours, score = float(reference["ours"]), float(reference["score"])
    facts["reference"] = {"name": name, "score_name": score_name, "ours": ours, "score": score}
    return [Tile(score_name, format_number(ours), "this model"), Tile(score_name, format_number(score), name)]


def _last_tiles(facts, fit_seconds) -> list[Tile]:
    tiles = []
    if facts.get("dual_gap") is not None:
        tiles.append(
            Tile(
                "certified gap",
                format_number(facts["dual_gap"], 2),
                f"{format_count(facts['n_iter'] or 0, 'iteration')}",
            )
        )
    if fit_seconds is not None:
        tiles.append(Tile("fit", format_seconds(float(fit_seconds)), ""))
    return tiles
