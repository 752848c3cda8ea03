"""Charts: selections of samples, bins, limits of size."""

import numpy as np
from helpers.report_pages import chart

from hilbertlearn import (
    FunctionalRegressor,
    OperatorKernelRegressor,
    report,
)
from hilbertlearn.app.report import charts


def test_many_samples_are_drawn_in_part_with_a_note():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    Y = np.sin(X @ rng.normal(size=(2, 120)))
    vectors = OperatorKernelRegressor("rbf", gamma=1.0, alpha=0.01).fit(X[:50], Y[:50])
    page = report.html(report.section(vectors, X, Y))
    assert len(page.encode()) < 2_000_000
    found = chart(report.section(vectors, X, Y), "Predicted against true")
    assert len(found["views"][0]["series"][0]["x"]) == charts.NUMBERS // (2 * charts.VIEWS)
    assert f"of {len(X)}" in found["note"] and "of 120 outputs" in found["note"]
    curves = FunctionalRegressor("rbf", gamma=1.0, alpha=0.01, operator=None).fit(X[:50], Y[:50])
    section = report.section(curves, X[:200], Y[:200])
    assert len(report.html(section).encode()) < 2_000_000
    found = chart(section, "Curve by curve")
    assert len(found["views"]) == charts.VIEWS and "60 of 200 curves" in found["note"]


def test_worst_samples_are_among_those_drawn():
    errors = np.random.default_rng(0).random(500)
    rows = charts.select_drawn(errors, 100)
    assert len(rows) == len(set(rows)) == 100 and set(np.argsort(-errors)[:10]) <= set(rows)
    spread = charts.select_evenly(errors, 7)
    assert errors[spread[0]] == errors.max() and errors[spread[-1]] == errors.min()
    assert (np.diff(errors[spread]) < 0).all()


def test_bins_are_around_values_at_even_steps():
    np.testing.assert_allclose(charts.bin_edges([1, 3, 2, 2]), [0.5, 1.5, 2.5, 3.5])
    np.testing.assert_allclose(charts.bin_edges([0, 1 / 3, 1]), np.arange(-1 / 6, 1.3, 1 / 3))
    assert len(charts.bin_edges(np.random.default_rng(0).normal(size=400))) == 21
