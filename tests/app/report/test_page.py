"""Pages: whole, self-contained, and text from data stays text."""

import json
import re

import numpy as np
import pytest
from helpers.report_cases import CASES, case
from helpers.report_pages import BAD, ODD, ParsedPage, case_section, scored_estimator, section_with_odd_names

from hilbertlearn import (
    StructuredPredictor,
    report,
)
from hilbertlearn.plotting import axes as plotting_axes


@pytest.mark.parametrize("name", CASES)
def test_every_model_has_a_page(name):
    model, X, y, _ = case(name)
    section = case_section(name)
    page = report.html(section, title="A title", command="fit it")
    seen = ParsedPage(page)
    (found,) = json.loads(seen.data)["sections"]
    assert found["facts"]["score"] == pytest.approx(scored_estimator(model).score(X, y), rel=1e-5)
    assert "A title" in seen.shown and "fit it" in seen.shown and section.task in seen.shown
    assert {"time of evaluation", "hilbertlearn", "numpy", "scipy", "scikit-learn", "platform"} <= set(seen.shown)
    assert len(page) < 200_000
    drawn = found["charts"]
    assert {attributes["data-chart"] for _, attributes in seen.tags if "data-chart" in attributes} == set(drawn)
    for one in drawn.values():
        assert one["views"] and all(view["series"] for view in one["views"])


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_fetched(name):
    page = report.html(case_section(name))
    for tag, attributes in ParsedPage(page).tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert not {"src", "srcset", "style"} & set(attributes) and not any(key.startswith("on") for key in attributes)
        assert attributes.get("href", "#").startswith("#")
    urls = set(re.findall(r"https?:[^\s\"'<>)]*", page))
    assert urls <= {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert "url(" not in page and "@import" not in page and "innerHTML" not in page


def test_several_sections_are_on_one_page():
    names = ("vectors", "curves", "labels")
    page = report.html([case_section(name, name=name) for name in names], title="Three")
    seen = ParsedPage(page)
    assert [one["name"] for one in json.loads(seen.data)["sections"]] == list(names)
    links = [attributes["href"] for tag, attributes in seen.tags if tag == "a"]
    assert set(links) <= {f"#{attributes.get('id')}" for _, attributes in seen.tags} and len(links) == 3


def test_names_stay_text():
    page = report.html([section_with_odd_names(), section_with_odd_names()], title=BAD, command=BAD)
    seen = ParsedPage(page)
    assert [tag for tag, _ in seen.tags].count("script") == 2 and "img" not in [tag for tag, _ in seen.tags]
    assert BAD not in page and page.count("</script>") == 2
    found = json.loads(seen.data)["sections"][0]
    (scatter,) = [one for one in found["charts"].values() if one["title"] == "Predicted against true"]
    assert scatter["views"][0]["series"][0]["names"] == ODD and scatter["views"][1]["label"] == ODD[3]
    assert {attributes["data-name"] for _, attributes in seen.tags if "data-name" in attributes} == set(ODD)
    assert BAD in seen.shown


def test_objects_stay_text():
    X = np.arange(6.0)[:, None]
    model = StructuredPredictor("rbf", gamma=1.0, alpha=0.1).fit(X, [BAD, "b"] * 3)
    page = report.html(report.section(model, X, [BAD, "b"] * 3))
    assert BAD not in page and [tag for tag, _ in ParsedPage(page).tags].count("script") == 2


def test_policy_allows_this_script_alone():
    (policy,) = [
        a["content"] for tag, a in ParsedPage(report.html(section_with_odd_names())).tags if a.get("http-equiv")
    ]
    assert "default-src 'none'" in policy and "unsafe" not in policy and policy.count("sha256-") == 2


def test_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    assert report.write(target, section_with_odd_names(), title="One") == target
    first = target.read_text(encoding="utf-8")
    assert first.startswith("<!doctype html>") and [one.name for one in tmp_path.iterdir()] == ["report.html"]

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        report.write(target, section_with_odd_names(), title="Two")
    assert target.read_text(encoding="utf-8") == first and len(list(tmp_path.iterdir())) == 1
    with pytest.raises(FileNotFoundError, match="no folder"):
        report.write(tmp_path / "nowhere" / "report.html", section_with_odd_names())


def test_colours_are_those_of_plotting():
    page = report.html(section_with_odd_names())
    for color in (*plotting_axes.CYCLE, plotting_axes.GREY):
        assert color in page
