"""Coverage of prediction sets, counted by other means."""

import pytest
from helpers.report_cases import case
from helpers.report_pages import case_section, chart


def test_coverage_is_counted():
    model, X, y, _ = case("intervals")
    section, ends = case_section("intervals"), model.predict_interval(X)
    assert section.facts["coverage"] == pytest.approx(model.predict_region(X).contains(y).mean())
    for j, target in enumerate(y.columns):
        seen = y[target].notna().to_numpy()
        inside = (ends[seen, j, 0] <= y[target][seen]) & (y[target][seen] <= ends[seen, j, 1])
        assert section.facts["coverage_by_output"][target] == pytest.approx(inside.mean())
        view = chart(section, "Predicted against true")["views"][j]
        assert sum(len(one["x"]) for one in view["series"] if one["name"].startswith("inside")) == inside.sum()
    assert section.facts["level"] == 0.8


def test_partners_hold_links():
    model, X, y, _ = case("partners")
    names = X.names[y == 1]
    assert case_section("partners").facts["coverage"] == pytest.approx(
        model.predict_set().contains(list(map(tuple, names))).mean()
    )
