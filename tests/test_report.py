"""Reports: their numbers are those of the models, and nothing in the data gets out of its place in the page."""

import json
import re
from functools import cache
from html.parser import HTMLParser

import networkx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn.metrics
from report_cases import CASES, GRID, RBF, case

from hilbertlearn import (
    FunctionalRegressor,
    IrregularFunctions,
    LinkPredictor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    kernels,
    metrics,
    outlier_report,
    report,
)
from hilbertlearn.plotting import axes as plotting_axes
from hilbertlearn.report import charts, choices, text

BAD = "<script>alert(1)</script>"
ODD = [BAD, "</script><img src=x onerror=alert(2)>", "a\"b'c&d", "\u2028 <!--", "{{x}}"]


class Seen(HTMLParser):
    """Tags with their attributes, and the text of the data and of everything that is shown."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.data, self.shown, self.inside = [], "", [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = (tag, dict(attributes))

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, text):
        if self.inside and self.inside[1].get("id") == "report-data":
            self.data += text
        elif self.inside is None or self.inside[0] not in ("script", "style"):
            self.shown.append(text)


def made(name, /, **more):
    model, X, y, known = case(name)
    return report.section(model, X, y, **{**known, **more}) if more else _made(name)


@cache
def _made(name):
    model, X, y, known = case(name)
    return report.section(model, X, y, **known)


def data_of(section, **options):
    """The section in the page's data."""
    return json.loads(Seen(report.html(section, **options)).data)["sections"][0]


def chart(section, title):
    """The chart of that title, as it is in the page."""
    (found,) = [one for one in data_of(section)["charts"].values() if one["title"] == title]
    return found


def series(view, name):
    (found,) = [one for one in view["series"] if one.get("name", "").startswith(name)]
    return found


def table(section, title):
    (found,) = [item for part in section.parts for item in part.items if getattr(item, "title", "").startswith(title)]
    return found


def close(seen, wanted):
    """Six digits are kept."""
    np.testing.assert_allclose(np.array(seen, dtype=float), wanted, rtol=1e-5, atol=1e-12)


def inner(model):
    """What has a score: behind sets and searches."""
    while hasattr(model, "best_estimator_") or hasattr(model, "calibration_"):
        model = model.estimator_ if hasattr(model, "calibration_") else model.best_estimator_
    return model


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


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize("name", ["vectors", "intervals"])
def test_vectors_are_predicted_against_true(name):
    model, X, y, _ = case(name)
    found = chart(made(name), "Predicted against true")
    predicted = model.predict(X)
    for view, target in zip(found["views"], y.columns, strict=True):
        assert view["label"] == target
        dots = {label: (a, b) for one in view["series"] for label, a, b in zip(one["names"], one["x"], one["y"])}
        known = y.index[y[target].notna()]
        assert set(dots) == set(known)
        close([dots[label] for label in known], np.c_[y.loc[known, target], predicted.loc[known, target]])


def test_scores_by_output_are_those_of_scikit_learn():
    model, X, y, _ = case("vectors")
    section, predicted = made("vectors"), model.predict(X)
    for target in y.columns:
        seen = y[target].notna()
        pair = y.loc[seen, target], predicted.loc[seen, target]
        assert section.facts["r2"][target] == pytest.approx(sklearn.metrics.r2_score(*pair))
        assert section.facts["rmse"][target] == pytest.approx(sklearn.metrics.root_mean_squared_error(*pair))


def test_worst_samples_are_those_with_the_largest_errors():
    model, X, y, _ = case("vectors")
    relative = (y - model.predict(X)) / y.std(ddof=0)
    errors = np.sqrt((relative**2).mean(axis=1))
    worst = table(made("vectors"), "Largest errors")
    assert worst.names == errors.sort_values(ascending=False).index[:10].tolist()
    assert worst.rows[0] == [text.number(errors.max())]


def test_gaps_and_ranges_of_outputs():
    _, _, y, _ = case("vectors")
    found = table(made("vectors"), "Outputs")
    assert found.names == list(y.columns)
    for row, target in zip(found.rows, y.columns, strict=True):
        assert row[0].share == pytest.approx(y[target].isna().mean())
        assert row[1:] == [text.number(f(y[target].dropna())) for f in (np.min, np.median, np.max)]


def test_coverage_is_counted():
    model, X, y, _ = case("intervals")
    section, ends = made("intervals"), model.predict_interval(X)
    assert section.facts["coverage"] == pytest.approx(model.predict_region(X).contains(y).mean())
    for j, target in enumerate(y.columns):
        seen = y[target].notna().to_numpy()
        inside = (ends[seen, j, 0] <= y[target][seen]) & (y[target][seen] <= ends[seen, j, 1])
        assert section.facts["coverage_by_output"][target] == pytest.approx(inside.mean())
        view = chart(section, "Predicted against true")["views"][j]
        assert sum(len(one["x"]) for one in view["series"] if one["name"].startswith("inside")) == inside.sum()
    assert section.facts["level"] == 0.8


def test_curves_with_their_band():
    model, X, y, known = case("bands")
    section, band = made("bands"), model.predict_band(X)
    found, predicted = chart(section, "Curve by curve"), model.predict(X)
    close(found["shared"]["grid"], GRID)
    errors = [metrics.integrated_squared_error(y[i : i + 1], predicted[i : i + 1], GRID) ** 0.5 for i in range(len(y))]
    order = np.argsort(errors)[::-1]
    for view, i in zip(found["views"], order, strict=True):
        assert view["label"].startswith(f"{known['ids'][i]}, error")
        close(series(view, "predicted")["y"], predicted[i])
        close(series(view, "true")["y"], y[i])
        close(series(view, "band")["lower"], band.lower[i])
        close(series(view, "band")["upper"], band.upper[i])
    inside = np.where(np.isnan(y), np.nan, (band.lower <= y) & (y <= band.upper))
    along = chart(section, "Inside the band, along the curve")["views"][0]
    close(series(along, "observed")["y"], np.nanmean(inside, axis=0))
    assert section.facts["coverage"] == pytest.approx(band.contains(y).mean())


def test_errors_and_gaps_along_the_curve():
    model, X, y, _ = case("curves")
    section = made("curves")
    residuals = y - model.predict(X)
    view = chart(section, "Error along the curve")["views"][0]
    close(series(view, "error")["y"], np.sqrt(np.nanmean(residuals**2, axis=0)))
    close(series(view, "spread")["y"], np.nanstd(y, axis=0))
    close(chart(section, "Missing along the curve")["views"][0]["series"][0]["y"], np.isnan(y).mean(axis=0))


def test_irregular_curves_are_at_their_own_points():
    model, X, y, _ = case("irregular")
    found = chart(made("irregular"), "Curve by curve")
    for view in found["views"]:
        i = int(view["label"].split(",")[0])
        close(series(view, "true")["x"], y.points[i])
        close(series(view, "true")["y"], y.values[i])


def test_quantiles_hold_what_is_counted():
    model, X, y, _ = case("quantiles")
    below = chart(made("quantiles"), "Outputs below each quantile")["views"][0]["series"][0]
    close(below["y"], (y.to_numpy()[:, None] <= model.predict(X)).mean(axis=0))
    close(below["x"], [0.1, 0.5, 0.9])


def test_objects_have_their_losses():
    model, X, y, _ = case("rankings")
    section, predicted = made("rankings"), model.predict(X)
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
    found = table(made("labels"), "Predicted (across)")
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
    assert made("label sets").facts["f1"] == pytest.approx(wanted)


def test_new_nodes_have_their_likeliest_links():
    model, X, _, _ = case("nodes")
    section = report.section(model, X, None, ids=[f"n{i}" for i in range(len(X))])
    u, v, score = model.predict_links(X, top_k=1)[0]
    found = table(section, "Likeliest links among these nodes")
    assert (found.names[0], found.rows[0]) == (f"n{u} – n{v}", [text.number(score)])


def test_links_without_anything_more_given():
    model, *_ = case("links")
    section = report.section(model, None, None)
    assert "Likeliest links that are not known" in report.html(section) and "score" not in section.facts


def test_outputs_that_are_not_known_do_not_count():
    model, X, y, _ = case("sets of labels to choose")
    known = [None if i % 3 == 0 else str(label) for i, label in enumerate(y)]
    rows = [i for i, label in enumerate(known) if label is not None]
    section = report.section(model, X, known)
    assert section.facts["score"] == pytest.approx(model.estimator_.score(X[rows], y[rows]))
    held = model.predict_set(X[rows]).contains(y[rows])
    assert (section.facts["coverage"], section.facts["n_covered"]) == (pytest.approx(held.mean()), held.sum())


def test_links_are_told_apart():
    model, X, y, _ = case("links")
    section = made("links")
    scores = model.decision_function(X)
    assert section.facts["average_precision"] == pytest.approx(sklearn.metrics.average_precision_score(y, scores))
    bars = series(chart(section, "Scores of pairs")["views"][0], "linked")
    edges = np.linspace(scores.min(), scores.max(), len(bars["x"]) + 1)
    close(bars["x"], edges[:-1])
    close(bars["y"], np.histogram(scores[y == 1], edges)[0] / y.sum())
    likely = table(section, "Likeliest links")
    assert likely.names[0] == "{} – {}".format(*model.predict_links(top_k=1)[0][:2])
    first = series(chart(section, "The likeliest pairs")["views"][0], "links among")
    order = np.argsort(-scores, kind="stable")
    close(first["y"], [y[order][: int(k)].mean() for k in first["x"]])


def test_partners_hold_links():
    model, X, y, _ = case("partners")
    names = X.names[y == 1]
    assert made("partners").facts["coverage"] == pytest.approx(
        model.predict_set().contains(list(map(tuple, names))).mean()
    )


def odd_cases():
    """Data as people have them: pairs of a name and a function that gives model, X and y."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(30, 2))
    Y, t = np.c_[X.sum(axis=1), X[:, 0]], np.linspace(0, 1, 12)
    curves = pd.DataFrame(np.sin(4 * t + X[:, :1]), columns=t)
    vectors = OperatorKernelRegressor(**RBF)
    points = IrregularFunctions([t] * 30, list(curves.to_numpy()))
    words, labels = ["aa", "ab", "bb", "ba"] * 3, ["u", "v"] * 6
    shares, club = Y**2 / (Y**2).sum(axis=1, keepdims=True), networkx.karate_club_graph()
    unseen = curves.copy()
    unseen.iloc[0] = np.nan
    return {
        "nothing observed": lambda: (vectors.fit(X, Y), X, np.full_like(Y, np.nan)),
        "an output never observed": lambda: (vectors.fit(X, Y), X, np.c_[Y[:, 0], np.full(30, np.nan)]),
        "one sample": lambda: (vectors.fit(X, Y), X[:1], Y[:1]),
        "sparse": lambda: (vectors.fit(scipy.sparse.csr_array(X), Y), scipy.sparse.csr_array(X), Y),
        "lists": lambda: (vectors.fit(X.tolist(), Y.tolist()), X.tolist(), Y.tolist()),
        "batches": lambda: (OperatorKernelRegressor(feature_map=10, **RBF).partial_fit(X, Y), X, Y),
        "curves in a frame": lambda: (FunctionalRegressor(**RBF).fit(X, curves), X, curves),
        "a curve never seen": lambda: (FunctionalRegressor(**RBF).fit(X, curves), X, unseen),
        "irregular, then on a grid": lambda: (FunctionalRegressor(**RBF).fit(X, points), X, curves.to_numpy()),
        "texts": lambda: (StructuredPredictor(kernels.NGrams(), alpha=0.1).fit(words, labels), words, labels),
        "shares": lambda: (StructuredPredictor(output_loss="hellinger", **RBF).fit(X, shares), X, shares),
        "a network": lambda: (LinkPredictor().fit(club), club, None),
    }  # fmt: skip


@pytest.mark.parametrize("name", odd_cases())
def test_data_as_people_have_them(name):
    model, X, y = odd_cases()[name]()
    section = report.section(model, X, y)
    seen = Seen(report.html(section))
    score = section.facts["score"]
    if name in ("nothing observed", "one sample"):
        assert np.isnan(score) and "score" not in json.loads(seen.data)["sections"][0]["facts"] and "–" in seen.shown
    elif name == "a network":
        assert score == pytest.approx(model.score(None, X))
    elif name == "an output never observed":
        assert score == pytest.approx(sklearn.metrics.r2_score(y[:, 0], model.predict(X)[:, 0]))
    else:
        assert score == pytest.approx(model.score(X, y))


def test_diagonal_operators_relate_nothing():
    X, Y = np.random.default_rng(0).normal(size=(2, 20, 2))
    model = OperatorKernelRegressor("rbf", gamma=1.0, alpha_per_output=True).fit(X, Y)
    assert report.section(model, X, Y).task == "From 2 columns, predict 2 numbers."


# ---------------------------------------------------------------- what was learnt


def test_path_is_that_of_the_search():
    path, *_ = case("path")
    section = made("path")
    view = chart(section, "Held-out error along the path")["views"][0]
    order = np.argsort(path.alphas_)
    line, band = series(view, "mean held-out error"), series(view, "± 1")
    close(line["x"], path.alphas_[order])
    close(line["y"], path.errors_[order])
    close(band["upper"], (path.errors_ + path.standard_errors_)[order])
    mark = series(view, "chosen")
    close([mark["x"][0], mark["y"][0]], [path.alpha_, path.errors_[path.alphas_ == path.alpha_][0]])


def test_two_way_path_has_a_line_for_each_constant():
    path, *_ = case("two-way path")
    view = chart(made("two-way path"), "Held-out error along the path")["views"][0]
    order = np.argsort(path.alphas_)
    for j, params in enumerate(path.loss_grid_):
        close(series(view, f"kappa {text.number(params['kappa'])}")["y"], path.errors_[order, j])


def test_settings_that_were_tried():
    model, *_ = case("chosen")
    section, table_ = made("chosen"), pd.DataFrame(model.choice_)
    assert section.facts["n_tried"] == len(table_)
    best = table_.loc[table_["error"].idxmin()]
    view = chart(section, "Over alpha")["views"][0]
    mark = series(view, "chosen")
    assert mark["x"][0] == pytest.approx(model.alpha_, rel=1e-5) and mark["y"][0] == pytest.approx(
        best["error"], rel=1e-3
    )
    own = table_[(table_["kernel"] == best["kernel"]) & (table_["gamma"] == best["gamma"])].sort_values("alpha")
    name = next(one["name"] for one in view["series"] if one["name"].startswith(best["kernel"]))
    close(series(view, name)["x"], own["alpha"])
    close(series(view, name)["y"], own["error"])


def test_errors_under_other_weights_are_another_round():
    tried = {"kernel": ["rbf"] * 5, "gamma": [1.0, 1.0, 1.0, 1.0, 2.0], "alpha": [0.1, 1.0, 0.1, 1.0, 0.1]}
    tried |= {"error": [3.0, 4.0, 1.0, 2.0, 5.0], "standard_error": [0.1] * 5, "seconds": [0.0] * 5}
    tried |= {"n_samples": [9] * 5, "method": ["folds"] * 5}
    columns = {name: np.array(values) for name, values in tried.items()}
    (last, later), (first, earlier) = choices.stages_of(columns)
    assert (last, first) == ("folds, 9 samples, round 2", "folds, 9 samples, round 1")
    assert later["error"].tolist() == [1.0, 2.0, 5.0] and earlier["error"].tolist() == [3.0, 4.0]
    columns["error"] = np.array([3.0, 4.0, 3.0, 4.0, 5.0])  # seen twice, and the same
    assert [label for label, _ in choices.stages_of(columns)] == ["folds, 9 samples"]


@pytest.mark.parametrize("name", ["vectors", "robust", "curves", "labels"])
def test_outliers_are_those_of_the_report_on_them(name):
    model, *_ = case(name)
    wanted, section = outlier_report(model), made(name)
    found = table(section, "Training samples that go least")
    assert found.names == [str(one) for one in wanted.index[:10]]
    dots = {}
    for one in chart(section, "Training samples")["views"][0]["series"]:
        dots |= dict(zip(one.get("names", ()), zip(one.get("x", ()), one.get("y", ()))))
    close([dots[str(one)] for one in wanted.index], wanted[["leverage", "loo_residual"]])


def test_certificate_and_support():
    model, *_ = case("robust")
    facts, shown = made("robust").facts, Seen(report.html(made("robust"))).shown
    assert facts["dual_gap"] == model.dual_gap_ and facts["n_iter"] == model.n_iter_
    assert (facts["n_support"], facts["n_held_back"]) == (len(model.support_), model.saturated_.sum())
    assert text.number(model.alpha_) in shown and text.setting(model.loss_) in shown


def test_reference_is_shown_on_the_scale_of_the_tile():
    plain = {"name": "the commonest", "score": -0.625}
    shown = Seen(report.html(made("labels", reference=plain, seconds=2.5))).shown
    assert {"plain alternative", "0.625", "the commonest", "2.5 s"} <= set(shown)
    shown = Seen(report.html(made("vectors", reference={"name": "the mean", "score": -0.625}))).shown
    assert "−0.625" in shown


def test_task_in_words():
    assert made("vectors").task == "From 2 columns, predict 3 numbers."
    assert made("related").task == "From 2 columns, predict 3 related numbers."
    assert made("label sets").task == "From 2 columns, predict which of 3 labels apply."
    assert made("curves", task="How does it flow?").task == "How does it flow?"


# ---------------------------------------------------------------- names that are not to be trusted


def odd_section():
    X = np.random.default_rng(0).normal(size=(5, 2))
    frame = pd.DataFrame(X, index=ODD, columns=ODD[:2])
    y = pd.DataFrame(X @ [[1, 2], [3, 4]], index=ODD, columns=ODD[2:4])
    model = OperatorKernelRegressor("rbf", gamma=1.0, alpha=0.1).fit(frame, y)
    return report.section(model, frame, y, name=BAD, task=BAD, reference={"name": BAD, "score": 0.1})


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
