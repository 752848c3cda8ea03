"""Numbers in reports are those of the models, computed here by other means."""

import json

import networkx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn.metrics
from helpers.report_cases import GRID, RBF, case
from helpers.report_pages import Seen, assert_close, chart, made, series, table

from hilbertlearn import (
    FunctionalRegressor,
    IrregularFunctions,
    LinkPredictor,
    OperatorKernelRegressor,
    StructuredPredictor,
    kernels,
    metrics,
    outlier_report,
    report,
)
from hilbertlearn.app.report import choices, text

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
        assert_close([dots[label] for label in known], np.c_[y.loc[known, target], predicted.loc[known, target]])


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
    section = made("curves")
    residuals = y - model.predict(X)
    view = chart(section, "Error along the curve")["views"][0]
    assert_close(series(view, "error")["y"], np.sqrt(np.nanmean(residuals**2, axis=0)))
    assert_close(series(view, "spread")["y"], np.nanstd(y, axis=0))
    assert_close(chart(section, "Missing along the curve")["views"][0]["series"][0]["y"], np.isnan(y).mean(axis=0))


def test_irregular_curves_are_at_their_own_points():
    model, X, y, _ = case("irregular")
    found = chart(made("irregular"), "Curve by curve")
    for view in found["views"]:
        i = int(view["label"].split(",")[0])
        assert_close(series(view, "true")["x"], y.points[i])
        assert_close(series(view, "true")["y"], y.values[i])


def test_quantiles_hold_what_is_counted():
    model, X, y, _ = case("quantiles")
    below = chart(made("quantiles"), "Outputs below each quantile")["views"][0]["series"][0]
    assert_close(below["y"], (y.to_numpy()[:, None] <= model.predict(X)).mean(axis=0))
    assert_close(below["x"], [0.1, 0.5, 0.9])


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
    assert_close(bars["x"], edges[:-1])
    assert_close(bars["y"], np.histogram(scores[y == 1], edges)[0] / y.sum())
    likely = table(section, "Likeliest links")
    assert likely.names[0] == "{} – {}".format(*model.predict_links(top_k=1)[0][:2])
    first = series(chart(section, "The likeliest pairs")["views"][0], "links among")
    order = np.argsort(-scores, kind="stable")
    assert_close(first["y"], [y[order][: int(k)].mean() for k in first["x"]])


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
    assert_close(line["x"], path.alphas_[order])
    assert_close(line["y"], path.errors_[order])
    assert_close(band["upper"], (path.errors_ + path.standard_errors_)[order])
    mark = series(view, "chosen")
    assert_close([mark["x"][0], mark["y"][0]], [path.alpha_, path.errors_[path.alphas_ == path.alpha_][0]])


def test_two_way_path_has_a_line_for_each_constant():
    path, *_ = case("two-way path")
    view = chart(made("two-way path"), "Held-out error along the path")["views"][0]
    order = np.argsort(path.alphas_)
    for j, params in enumerate(path.loss_grid_):
        assert_close(series(view, f"kappa {text.number(params['kappa'])}")["y"], path.errors_[order, j])


def test_settings_that_were_tried():
    model, *_ = case("chosen")
    section, table_ = made("chosen"), pd.DataFrame(model.search_results_)
    assert section.facts["n_tried"] == len(table_)
    best = table_.loc[table_["error"].idxmin()]
    view = chart(section, "Over alpha")["views"][0]
    mark = series(view, "chosen")
    assert mark["x"][0] == pytest.approx(model.alpha_, rel=1e-5) and mark["y"][0] == pytest.approx(
        best["error"], rel=1e-3
    )
    own = table_[(table_["kernel"] == best["kernel"]) & (table_["gamma"] == best["gamma"])].sort_values("alpha")
    name = next(one["name"] for one in view["series"] if one["name"].startswith(best["kernel"]))
    assert_close(series(view, name)["x"], own["alpha"])
    assert_close(series(view, name)["y"], own["error"])


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
    assert_close([dots[str(one)] for one in wanted.index], wanted[["leverage", "loo_residual"]])


def test_certificate_and_support():
    model, *_ = case("robust")
    facts, shown = made("robust").facts, Seen(report.html(made("robust"))).shown
    assert facts["dual_gap"] == model.dual_gap_ and facts["n_iter"] == model.n_iter_
    assert (facts["n_support"], facts["n_held_back"]) == (len(model.support_), model.saturated_.sum())
    assert text.number(model.alpha_) in shown and text.setting(model.loss_) in shown


def test_reference_and_model_are_shown_by_the_same_score():
    plain = {"name": "the commonest", "score_name": "share right", "ours": 0.875, "score": -0.625}
    shown = Seen(report.html(made("labels", reference=plain, seconds=2.5))).shown
    assert {"share right", "0.875", "this model", "−0.625", "the commonest", "2.5 s"} <= set(shown)


def test_task_in_words():
    assert made("vectors").task == "From 2 columns, predict 3 numbers."
    assert made("related").task == "From 2 columns, predict 3 related numbers."
    assert made("label sets").task == "From 2 columns, predict which of 3 labels apply."
    assert made("curves", task="How does it flow?").task == "How does it flow?"
