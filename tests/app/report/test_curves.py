"""Evaluation of curves, by other means."""

import numpy as np
import pytest
from helpers.report_cases import GRID, case
from helpers.report_pages import assert_close, case_section, chart, series

from hilbertlearn import (
    metrics,
)


def test_curves_with_their_band():
    model, X, y, known = case("bands")
    section, band = case_section("bands"), model.predict_band(X)
    found, predicted = chart(section, "Curve by curve"), model.predict(X)
    assert_close(found["shared"]["grid"], GRID)
    errors = [metrics.integrated_squared_error(y[i : i + 1], predicted[i : i + 1], GRID) ** 0.5 for i in range(len(y))]
    order = np.argsort(errors)[::-1]
    for view, i in zip(found["views"], order, strict=True):
        assert view["label"].startswith(f"{known['ids'][i]}, error")
        assert_close(series(view, "predicted")["y"], predicted[i])
        assert_close(series(view, "true")["y"], y[i])
        assert_close(series(view, "band")["lower"], band.lower[i])
        assert_close(series(view, "band")["upper"], band.upper[i])
    inside = np.where(np.isnan(y), np.nan, (band.lower <= y) & (y <= band.upper))
    along = chart(section, "Inside the band, along the curve")["views"][0]
    assert_close(series(along, "observed")["y"], np.nanmean(inside, axis=0))
    assert section.facts["coverage"] == pytest.approx(band.contains(y).mean())


def test_errors_and_gaps_along_the_curve():
    model, X, y, _ = case("curves")
    section = case_section("curves")
    residuals = y - model.predict(X)
    view = chart(section, "Error along the curve")["views"][0]
    assert_close(series(view, "error")["y"], np.sqrt(np.nanmean(residuals**2, axis=0)))
    assert_close(series(view, "spread")["y"], np.nanstd(y, axis=0))
    assert_close(chart(section, "Missing along the curve")["views"][0]["series"][0]["y"], np.isnan(y).mean(axis=0))


def test_irregular_curves_are_at_their_own_points():
    model, X, y, _ = case("irregular")
    found = chart(case_section("irregular"), "Curve by curve")
    for view in found["views"]:
        i = int(view["label"].split(",")[0])
        assert_close(series(view, "true")["x"], y.points[i])
        assert_close(series(view, "true")["y"], y.values[i])
