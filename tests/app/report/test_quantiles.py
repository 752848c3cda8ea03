"""Evaluation of quantiles, by other means."""

from helpers.report_cases import case
from helpers.report_pages import assert_close, case_section, chart


def test_quantiles_hold_what_is_counted():
    model, X, y, _ = case("quantiles")
    below = chart(case_section("quantiles"), "Outputs below each quantile")["views"][0]["series"][0]
    assert_close(below["y"], (y.to_numpy()[:, None] <= model.predict(X)).mean(axis=0))
    assert_close(below["x"], [0.1, 0.5, 0.9])
