"""Evaluation of links, by other means."""

import numpy as np
import pytest
import sklearn.metrics
from helpers.report_cases import case
from helpers.report_pages import assert_close, case_section, chart, series, table

from hilbertlearn import (
    report,
)
from hilbertlearn.app.report import text


def test_new_nodes_have_their_likeliest_links():
    model, X, _, _ = case("nodes")
    section = report.section(model, X, None, ids=[f"n{i}" for i in range(len(X))])
    u, v, score = model.predict_links(X, top_k=1)[0]
    found = table(section, "Likeliest links among these nodes")
    assert (found.names[0], found.rows[0]) == (f"n{u} – n{v}", [text.format_number(score)])


def test_links_without_anything_more_given():
    model, *_ = case("links")
    section = report.section(model, None, None)
    assert "Likeliest links that are not known" in report.html(section) and "score" not in section.facts


def test_scores_of_links():
    model, X, y, _ = case("links")
    section = case_section("links")
    scores = model.decision_function(X)
    assert section.facts["average_precision"] == pytest.approx(sklearn.metrics.average_precision_score(y, scores))
    bars = series(chart(section, "Scores of pairs")["views"][0], "linked")
    edges = np.linspace(scores.min(), scores.max(), len(bars["x"]) + 1)
    assert_close(bars["x"], edges[:-1])
    assert_close(bars["y"], np.histogram(scores[y == 1], edges)[0] / y.sum())
    likely = table(section, "Likeliest links")
    assert likely.names[0] == "{} – {}".format(*model.predict_links(top_k=1)[0][:2])
    first = series(chart(section, "The likeliest pairs")["views"][0], "links among")
    order = np.argsort(-scores, kind="stable")
    assert_close(first["y"], [y[order][: int(k)].mean() for k in first["x"]])
