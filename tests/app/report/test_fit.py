"""The fit: duality gap, support, outliers."""

import pytest
from helpers.report_cases import case
from helpers.report_pages import ParsedPage, assert_close, case_section, chart, table

from hilbertlearn import (
    outlier_report,
    report,
)
from hilbertlearn.app.report import text


@pytest.mark.parametrize("name", ["vectors", "robust", "curves", "labels"])
def test_outliers_are_those_of_the_report_on_them(name):
    model, *_ = case(name)
    wanted, section = outlier_report(model), case_section(name)
    found = table(section, "Training samples that deviate most")
    assert found.names == [str(one) for one in wanted.index[:10]]
    dots = {}
    for one in chart(section, "Training samples")["views"][0]["series"]:
        dots |= dict(zip(one.get("names", ()), zip(one.get("x", ()), one.get("y", ()))))
    assert_close([dots[str(one)] for one in wanted.index], wanted[["leverage", "loo_residual"]])


def test_certificate_and_support():
    model, *_ = case("robust")
    facts, shown = case_section("robust").facts, ParsedPage(report.html(case_section("robust"))).shown
    assert facts["dual_gap"] == model.dual_gap_ and facts["n_iter"] == model.n_iter_
    assert (facts["n_support"], facts["n_held_back"]) == (len(model.support_), model.saturated_.sum())
    assert text.format_number(model.alpha_) in shown and text.format_setting(model.loss_) in shown
