"""Reports of every kind of model: whole, alone, and nothing in the data gets out of its place in the page."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from helpers.report_cases import CASES, case
from helpers.report_pages import Seen, chart, inner, made

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, RegularizationPathCV, StructuredPredictor, report
from hilbertlearn.app.report import charts, choices, objects, text
from hilbertlearn.plotting import axes as plotting_axes

BAD = "<script>alert(1)</script>"
ODD = [BAD, "</script><img src=x onerror=alert(2)>", "a\"b'c&d", "\u2028 <!--", "{{x}}"]


# ---------------------------------------------------------------- all kinds


@pytest.mark.parametrize("name", CASES)
def test_every_model_has_a_page(name):
    model, X, y, _ = case(name)
    section = made(name)
    page = report.html(section, title="A title", command="fit it")
    seen = Seen(page)
    (found,) = json.loads(seen.data)["sections"]
    assert found["facts"]["score"] == pytest.approx(inner(model).score(X, y), rel=1e-5)
    assert "A title" in seen.shown and "fit it" in seen.shown and section.task in seen.shown
    assert {"time of judging", "hilbertlearn", "numpy", "scipy", "scikit-learn", "platform"} <= set(seen.shown)
    assert len(page) < 200_000
    drawn = found["charts"]
    assert {attributes["data-chart"] for _, attributes in seen.tags if "data-chart" in attributes} == set(drawn)
    for one in drawn.values():
        assert one["views"] and all(view["series"] for view in one["views"])


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_fetched(name):
    page = report.html(made(name))
    for tag, attributes in Seen(page).tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert not {"src", "srcset", "style"} & set(attributes) and not any(key.startswith("on") for key in attributes)
        assert attributes.get("href", "#").startswith("#")
    urls = set(re.findall(r"https?:[^\s\"'<>)]*", page))
    assert urls <= {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert "url(" not in page and "@import" not in page and "innerHTML" not in page


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("codes", "links", "partners")])
def test_without_outputs_predictions_alone_are_shown(name):
    section = made(name)
    model, X, _, known = case(name)
    alone = report.section(model, X, None, **known)
    assert "score" not in alone.facts and "Predictions" in [part.title for part in alone.parts]
    assert "nothing to compare" in report.html(alone) and "score" in section.facts


def test_several_sections_are_on_one_page():
    names = ("vectors", "curves", "labels")
    page = report.html([made(name, name=name) for name in names], title="Three")
    seen = Seen(page)
    assert [one["name"] for one in json.loads(seen.data)["sections"]] == list(names)
    links = [attributes["href"] for tag, attributes in seen.tags if tag == "a"]
    assert set(links) <= {f"#{attributes.get('id')}" for _, attributes in seen.tags} and len(links) == 3


# ---------------------------------------------------------------- names that are not to be trusted


def odd_section():
    X = np.random.default_rng(0).normal(size=(5, 2))
    frame = pd.DataFrame(X, index=ODD, columns=ODD[:2])
    y = pd.DataFrame(X @ [[1, 2], [3, 4]], index=ODD, columns=ODD[2:4])
    model = OperatorKernelRegressor("rbf", gamma=1.0, alpha=0.1).fit(frame, y)
    reference = {"name": BAD, "score_name": BAD, "ours": 0.2, "score": 0.1}
    return report.section(model, frame, y, name=BAD, task=BAD, reference=reference)


def test_an_alternative_stands_beside_the_same_score_of_the_model():
    model, X, y, _ = case("rankings")
    reference = {"name": "sorted", "score_name": "tau", "ours": 0.75, "score": 0.5}
    found = report.section(model, X, y, reference=reference)
    ours, other, loss = found.tiles[:3]
    assert (ours.label, ours.value, other.label, other.value, other.note) == ("tau", "0.750", "tau", "0.500", "sorted")
    assert "loss" in loss.label and found.facts["reference"] == reference


def test_inputs_are_shown_as_the_reader_knows_them():
    frame = pd.DataFrame({"size": [100.0, 200.0, np.nan, 300.0] * 5})
    X = (frame.fillna(200.0).to_numpy() - 200) / 100
    model = OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-2).fit(X, X[:, 0])
    data = report.section(model, X, X[:, 0], inputs=frame).parts[0]
    assert "25 % missing in the inputs" in data.intro.replace("25.0", "25")
    table = data.items[-1]
    assert table.names == ["size"] and table.rows[0][1:4] == ["100", "200", "300"]


def test_sets_of_label_sets_are_told_apart():
    labels = ["b", "a", "c"]
    kind = objects.Kind("label set", labels=labels)
    sets = text.few([[1, 1, 0], [1, 0, 0]], kind.write, between=" | ")
    assert sets == "b, a | b"  # labels in the order of their columns


def test_names_stay_text():
    page = report.html([odd_section(), odd_section()], title=BAD, command=BAD)
    seen = Seen(page)
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
    assert BAD not in page and [tag for tag, _ in Seen(page).tags].count("script") == 2


def test_policy_allows_this_script_alone():
    (policy,) = [a["content"] for tag, a in Seen(report.html(odd_section())).tags if a.get("http-equiv")]
    assert "default-src 'none'" in policy and "unsafe" not in policy and policy.count("sha256-") == 2


# ---------------------------------------------------------------- size, files, refusals


def test_many_samples_are_drawn_in_part_and_it_is_said():
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
    rows = charts.drawn(errors, 100)
    assert len(rows) == len(set(rows)) == 100 and set(np.argsort(-errors)[:10]) <= set(rows)
    spread = charts.spread_out(errors, 7)
    assert errors[spread[0]] == errors.max() and errors[spread[-1]] == errors.min()
    assert (np.diff(errors[spread]) < 0).all()


def test_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    assert report.write(target, odd_section(), title="One") == target
    first = target.read_text(encoding="utf-8")
    assert first.startswith("<!doctype html>") and [one.name for one in tmp_path.iterdir()] == ["report.html"]

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        report.write(target, odd_section(), title="Two")
    assert target.read_text(encoding="utf-8") == first and len(list(tmp_path.iterdir())) == 1
    with pytest.raises(FileNotFoundError, match="no folder"):
        report.write(tmp_path / "nowhere" / "report.html", odd_section())


def test_refusals_name_the_argument():
    model, X, y, _ = case("vectors")
    with pytest.raises(ValueError, match="ids must have a name for each of the 20 samples, got 3"):
        report.section(model, X, y, ids=["a", "b", "c"])
    with pytest.raises(TypeError, match="model must be a fitted estimator"):
        report.section(OperatorKernelRegressor, X, y)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        report.section(RegularizationPathCV(), X, y)
    with pytest.raises(TypeError, match="sections must be what"):
        report.html([])
    with pytest.raises(TypeError, match="got DataFrame"):
        report.html([X])


def test_model_and_data_stay_as_they_are():
    model, X, y, _ = case("vectors")
    before = X.copy(), y.copy(), model.dual_coef_.copy()
    made("vectors")
    pd.testing.assert_frame_equal(X, before[0])
    pd.testing.assert_frame_equal(y, before[1])
    np.testing.assert_array_equal(model.dual_coef_, before[2])


# ---------------------------------------------------------------- looks


def test_colours_are_those_of_plotting():
    page = report.html(odd_section())
    for color in (*plotting_axes.CYCLE, plotting_axes.GREY):
        assert color in page


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.123456, "0.123"), (0.28, "0.280"), (3, "3"), (-2.5, "−2.50"), (1234567, "1.23e6"), (12345.6, "12\u202f346"),
        (1.5e-7, "1.5e-7"), (-1.5e-7, "−1.5e-7"), (np.nan, "–"), (np.inf, "∞"), (-np.inf, "−∞"), (0.0, "0"),
    ],
)  # fmt: skip
def test_numbers_are_written_alike(value, said):
    assert text.number(value) == said


def test_shares_and_times_in_words():
    assert [text.percent(share) for share in (0, 0.001, 0.456, np.nan)] == ["0 %", "< 1 %", "46 %", "–"]
    assert [text.seconds(s) for s in (1e-5, 0.25, 2.5, 125)] == ["less than 1 ms", "250 ms", "2.5 s", "2 min 5 s"]
    assert text.listed(["a", "b", "c"]) == "a, b and c" and text.count(1, "sample") == "1 sample"
    assert text.few(range(15), most=2) == "0, 1 and 13 more"


def test_bins_are_around_values_at_even_steps():
    np.testing.assert_allclose(charts.edges_of([1, 3, 2, 2]), [0.5, 1.5, 2.5, 3.5])
    np.testing.assert_allclose(charts.edges_of([0, 1 / 3, 1]), np.arange(-1 / 6, 1.3, 1 / 3))
    assert len(charts.edges_of(np.random.default_rng(0).normal(size=400))) == 21


def test_what_was_chosen_is_a_dot_only_where_it_was_tried():
    kinds = [[one.kind for one in choices._marks(0.1, x, 2.0)] for x in (0.1, 0.2)]
    assert kinds == [["points", "rule"], ["rule"]]
