"""Charts and tables of the search are its results."""

import numpy as np
import pandas as pd
import pytest
from helpers.report_cases import case
from helpers.report_pages import assert_close, case_section, chart, series

from hilbertlearn.app.report import search, text


def test_what_was_chosen_is_a_dot_only_where_it_was_tried():
    kinds = [[one.kind for one in search._marks(0.1, x, 2.0)] for x in (0.1, 0.2)]
    assert kinds == [["points", "rule"], ["rule"]]


def test_path_is_that_of_the_search():
    path, *_ = case("path")
    section = case_section("path")
    view = chart(section, "Cross-validated error along the path")["views"][0]
    order = np.argsort(path.alphas_)
    line, band = series(view, "mean cross-validated error"), series(view, "± 1")
    assert_close(line["x"], path.alphas_[order])
    assert_close(line["y"], path.errors_[order])
    assert_close(band["upper"], (path.errors_ + path.standard_errors_)[order])
    mark = series(view, "chosen")
    assert_close([mark["x"][0], mark["y"][0]], [path.alpha_, path.errors_[path.alphas_ == path.alpha_][0]])


def test_two_way_path_has_a_line_for_each_constant():
    path, *_ = case("two-way path")
    view = chart(case_section("two-way path"), "Cross-validated error along the path")["views"][0]
    order = np.argsort(path.alphas_)
    for j, params in enumerate(path.loss_grid_):
        assert_close(series(view, f"kappa {text.format_number(params['kappa'])}")["y"], path.errors_[order, j])


def test_settings_that_were_tried():
    model, *_ = case("chosen")
    section, table_ = case_section("chosen"), pd.DataFrame(model.search_results_)
    assert section.facts["n_tried"] == len(table_)
    single = table_[[not kernel.startswith("average of ") for kernel in table_["kernel"]]]
    best = single.loc[single["error"].idxmin()]
    view = chart(section, "Over alpha")["views"][0]
    mark = series(view, "chosen")
    assert mark["x"][0] == pytest.approx(model.alpha_, rel=1e-5)  # a mean of the alphas that were tried: a line
    own = single[(single["kernel"] == best["kernel"]) & (single["gamma"] == best["gamma"])].sort_values("alpha")
    name = next(one["name"] for one in view["series"] if one.get("name", "").startswith(best["kernel"]))
    assert_close(series(view, name)["x"], own["alpha"])
    assert_close(series(view, name)["y"], own["error"])


def test_errors_under_other_weights_are_another_round():
    tried = {"kernel": ["rbf"] * 5, "gamma": [1.0, 1.0, 1.0, 1.0, 2.0], "alpha": [0.1, 1.0, 0.1, 1.0, 0.1]}
    tried |= {"error": [3.0, 4.0, 1.0, 2.0, 5.0], "standard_error": [0.1] * 5, "seconds": [0.0] * 5}
    tried |= {"n_samples": [9] * 5, "method": ["folds"] * 5}
    columns = {name: np.array(values) for name, values in tried.items()}
    (last, later), (first, earlier) = search.comparable_stages(columns)
    assert (last, first) == ("folds, 9 samples, round 2", "folds, 9 samples, round 1")
    assert later["error"].tolist() == [1.0, 2.0, 5.0] and earlier["error"].tolist() == [3.0, 4.0]
    columns["error"] = np.array([3.0, 4.0, 3.0, 4.0, 5.0])  # seen twice, and the same
    assert [label for label, _ in search.comparable_stages(columns)] == ["folds, 9 samples"]
