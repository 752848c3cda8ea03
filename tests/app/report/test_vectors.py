"""Evaluation of vectors, by other means."""

import numpy as np
import pytest
import sklearn.metrics
from helpers.report_cases import case
from helpers.report_pages import assert_close, case_section, chart

from hilbertlearn import (
    OperatorKernelRegressor,
    report,
)


@pytest.mark.parametrize("name", ["vectors", "intervals"])
def test_vectors_are_predicted_against_true(name):
    model, X, y, _ = case(name)
    found = chart(case_section(name), "Predicted against true")
    predicted = model.predict(X)
    for view, target in zip(found["views"], y.columns, strict=True):
        assert view["label"] == target
        dots = {label: (a, b) for one in view["series"] for label, a, b in zip(one["names"], one["x"], one["y"])}
        known = y.index[y[target].notna()]
        assert set(dots) == set(known)
        assert_close([dots[label] for label in known], np.c_[y.loc[known, target], predicted.loc[known, target]])


def test_scores_by_output_are_those_of_scikit_learn():
    model, X, y, _ = case("vectors")
    section, predicted = case_section("vectors"), model.predict(X)
    for target in y.columns:
        seen = y[target].notna()
        pair = y.loc[seen, target], predicted.loc[seen, target]
        assert section.facts["r2"][target] == pytest.approx(sklearn.metrics.r2_score(*pair))
        assert section.facts["rmse"][target] == pytest.approx(sklearn.metrics.root_mean_squared_error(*pair))


def test_diagonal_operators_relate_nothing():
    X, Y = np.random.default_rng(0).normal(size=(2, 20, 2))
    model = OperatorKernelRegressor("rbf", gamma=1.0, alpha_per_output=True).fit(X, Y)
    assert report.section(model, X, Y).task == "From 2 columns, predict 2 numbers."
