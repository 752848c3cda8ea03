"""Sections of every kind of model, and names of samples and columns in them."""

import json

import networkx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn.metrics
from helpers.report_cases import CASES, RBF, case
from helpers.report_pages import ParsedPage, case_section

from hilbertlearn import (
    FunctionalRegressor,
    IrregularFunctions,
    LinkPredictor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    kernels,
    report,
)


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("codes", "links", "partners")])
def test_without_outputs_predictions_alone_are_shown(name):
    section = case_section(name)
    model, X, _, known = case(name)
    alone = report.section(model, X, None, **known)
    assert "score" not in alone.facts and "Predictions" in [part.title for part in alone.parts]
    assert "nothing to compare" in report.html(alone) and "score" in section.facts


def test_an_alternative_stands_beside_the_same_score_of_the_model():
    model, X, y, _ = case("rankings")
    reference = {"name": "sorted", "score_name": "tau", "ours": 0.75, "score": 0.5}
    found = report.section(model, X, y, reference=reference)
    ours, other, loss = found.tiles[:3]
    assert (ours.label, ours.value, other.label, other.value, other.note) == ("tau", "0.750", "tau", "0.500", "sorted")
    assert "loss" in loss.label and found.facts["reference"] == reference


def test_refusals_name_the_argument():
    model, X, y, _ = case("vectors")
    with pytest.raises(ValueError, match="ids must have a name for each of the 20 samples, got 3"):
        report.section(model, X, y, ids=["a", "b", "c"])
    with pytest.raises(TypeError, match="model must be a fitted estimator"):
        report.section(OperatorKernelRegressor, X, y)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        report.section(RegularizationPathCV(), X, y)
    with pytest.raises(TypeError, match="sections must be results of"):
        report.html([])
    with pytest.raises(TypeError, match="got DataFrame"):
        report.html([X])


def test_model_and_data_stay_as_they_are():
    model, X, y, _ = case("vectors")
    before = X.copy(), y.copy(), model.dual_coef_.copy()
    case_section("vectors")
    pd.testing.assert_frame_equal(X, before[0])
    pd.testing.assert_frame_equal(y, before[1])
    np.testing.assert_array_equal(model.dual_coef_, before[2])


def data_forms():
    """Data in various forms: pairs of a name and a function that gives model, X and y."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(30, 2))
    Y, t = np.c_[X.sum(axis=1), X[:, 0]], np.linspace(0, 1, 12)
    curves = pd.DataFrame(np.sin(4 * t + X[:, :1]), columns=t)
    vectors = OperatorKernelRegressor(**RBF)
    points = IrregularFunctions([t] * 30, list(curves.to_numpy()))
    words, labels = ["aa", "ab", "bb", "ba"] * 3, ["u", "v"] * 6
    shares, club = Y**2 / (Y**2).sum(axis=1, keepdims=True), networkx.karate_club_graph()
    unseen = curves.copy()
    unseen.iloc[0] = np.nan
    return {
        "nothing observed": lambda: (vectors.fit(X, Y), X, np.full_like(Y, np.nan)),
        "an output never observed": lambda: (vectors.fit(X, Y), X, np.c_[Y[:, 0], np.full(30, np.nan)]),
        "one sample": lambda: (vectors.fit(X, Y), X[:1], Y[:1]),
        "sparse": lambda: (vectors.fit(scipy.sparse.csr_array(X), Y), scipy.sparse.csr_array(X), Y),
        "lists": lambda: (vectors.fit(X.tolist(), Y.tolist()), X.tolist(), Y.tolist()),
        "batches": lambda: (OperatorKernelRegressor(feature_map=10, **RBF).partial_fit(X, Y), X, Y),
        "curves in a frame": lambda: (FunctionalRegressor(**RBF).fit(X, curves), X, curves),
        "a curve never seen": lambda: (FunctionalRegressor(**RBF).fit(X, curves), X, unseen),
        "irregular, then on a grid": lambda: (FunctionalRegressor(**RBF).fit(X, points), X, curves.to_numpy()),
        "texts": lambda: (StructuredPredictor(kernels.NGrams(), alpha=0.1).fit(words, labels), words, labels),
        "shares": lambda: (StructuredPredictor(output_loss="hellinger", **RBF).fit(X, shares), X, shares),
        "a network": lambda: (LinkPredictor().fit(club), club, None),
    }  # fmt: skip


@pytest.mark.parametrize("name", data_forms())
def test_data_in_various_forms(name):
    model, X, y = data_forms()[name]()
    section = report.section(model, X, y)
    seen = ParsedPage(report.html(section))
    score = section.facts["score"]
    if name in ("nothing observed", "one sample"):
        assert np.isnan(score) and "score" not in json.loads(seen.data)["sections"][0]["facts"] and "–" in seen.shown
    elif name == "a network":
        assert score == pytest.approx(model.score(None, X))
    elif name == "an output never observed":
        assert score == pytest.approx(sklearn.metrics.r2_score(y[:, 0], model.predict(X)[:, 0]))
    else:
        assert score == pytest.approx(model.score(X, y))


def test_reference_and_model_are_shown_by_the_same_score():
    plain = {"name": "the commonest", "score_name": "share right", "ours": 0.875, "score": -0.625}
    shown = ParsedPage(report.html(case_section("labels", reference=plain, seconds=2.5))).shown
    assert {"share right", "0.875", "this model", "−0.625", "the commonest", "2.5 s"} <= set(shown)


def test_task_in_words():
    assert case_section("vectors").task == "From 2 columns, predict 3 numbers."
    assert case_section("related").task == "From 2 columns, predict 3 related numbers."
    assert case_section("label sets").task == "From 2 columns, predict which of 3 labels apply."
    assert case_section("curves", task="How does it flow?").task == "How does it flow?"
