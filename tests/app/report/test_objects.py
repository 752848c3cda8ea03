"""Evaluation of objects, by other means."""

import numpy as np
import pytest
import sklearn.metrics
from helpers.report_cases import case
from helpers.report_pages import case_section, table

from hilbertlearn import (
    StructuredPredictor,
    metrics,
    report,
)
from hilbertlearn.app.report import objects, text


def test_sets_of_label_sets_are_separated():
    labels = ["b", "a", "c"]
    kind = objects.OutputKind("label set", labels=labels)
    sets = text.join_first([[1, 1, 0], [1, 0, 0]], kind.write, between=" | ")
    assert sets == "b, a | b"  # labels in the order of their columns


def test_objects_have_their_losses():
    model, X, y, _ = case("rankings")
    section, predicted = case_section("rankings"), model.predict(X)
    assert section.facts["kendall_tau"] == pytest.approx(metrics.kendall_tau(y, predicted))
    assert section.facts["exact"] == pytest.approx((y == predicted).all(axis=1).mean())
    assert section.facts["coverage"] == pytest.approx(model.predict_set(X).contains(y).mean())
    found = table(section, "Examples")
    assert found.columns == ["predicted", "true", "loss", "set"]
    for name, row in zip(found.names, found.rows, strict=True):
        order = [["a", "b", "c"][j] for j in np.argsort(y[int(name)])]
        assert row[1] == " > ".join(order)
        assert (row[0] == row[1]) == (row[2] == "0")


def test_confusions_are_those_of_scikit_learn():
    model, X, y, _ = case("labels")
    found = table(case_section("labels"), "Predicted (across)")
    counts = sklearn.metrics.confusion_matrix(y, model.predict(X), labels=found.names)
    assert [[int(cell.text) for cell in row] for row in found.rows] == counts.tolist()


def test_classes_that_training_had_not_seen_are_named():
    X = np.arange(12.0)[:, None]
    model = StructuredPredictor("rbf", gamma=1.0, alpha=0.1).fit(X, [1, 2] * 6)
    section = report.section(model, X[:4], [1, 2, 1, 7])
    found = table(section, "Predicted (across)")
    assert found.names == ["1", "2", "7"] and [sum(int(cell.text) for cell in row) for row in found.rows] == [2, 1, 1]
    assert section.facts["score"] == pytest.approx(model.score(X[:4], [1, 2, 1, 7]))


def test_label_sets_have_the_f1_of_scikit_learn():
    model, X, y, _ = case("label sets")
    wanted = sklearn.metrics.f1_score(y, model.predict(X), average="samples", zero_division=1.0)
    assert case_section("label sets").facts["f1"] == pytest.approx(wanted)


def test_outputs_that_are_not_known_do_not_count():
    model, X, y, _ = case("sets of labels to choose")
    known = [None if i % 3 == 0 else str(label) for i, label in enumerate(y)]
    rows = [i for i, label in enumerate(known) if label is not None]
    section = report.section(model, X, known)
    assert section.facts["score"] == pytest.approx(model.estimator_.score(X[rows], y[rows]))
    held = model.predict_set(X[rows]).contains(y[rows])
    assert (section.facts["coverage"], section.facts["n_covered"]) == (pytest.approx(held.mean()), held.sum())
