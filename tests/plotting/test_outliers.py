"""Pictures of outlier reports: samples and stretches where the report has them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import (
    FunctionalRegressor,
    OperatorKernelRegressor,
    losses,
    outlier_report,
    plotting,
)

pytest.importorskip("matplotlib")

rng = np.random.default_rng(0)
GRID = np.linspace(0, 1, 21)
X = rng.uniform(size=(30, 2))
CURVES = np.sin(5 * GRID + 3 * X[:, :1]) + 0.05 * rng.normal(size=(30, 21))
CURVES[7, 5:9] += 2
CURVES[12] = 2 - CURVES[12]
VECTORS = CURVES[:, ::7]


@pytest.fixture(scope="module")
def model():
    return FunctionalRegressor("rbf", gamma=2.0, alpha=1e-4, loss=losses.Huber(p=1)).fit(X, CURVES)


def test_samples_are_where_the_report_has_them(model):
    report = outlier_report(model)
    ax = plotting.plot_outliers(report)
    (dots,) = ax.collections
    assert_allclose(dots.get_offsets(), report[["leverage", "loo_residual"]])
    assert_allclose(dots.get_array(), report["held_back"])
    assert {text.get_text() for text in ax.texts} == {"12", "7"}
    assert not plotting.plot_outliers(report, n_named=0).texts


def test_samples_without_leverages_are_in_the_order_of_the_report():
    terms = [("rbf", np.eye(3)), ("linear", np.ones((3, 3)))]
    several = OperatorKernelRegressor(terms, gamma=2.0, alpha=1e-2, loss=losses.Huber(0.1)).fit(X, VECTORS)
    (dots,) = plotting.plot_outliers(several).collections
    assert_array_equal(dots.get_offsets()[:, 0], np.arange(1, 31))
    assert_allclose(dots.get_offsets()[:, 1], outlier_report(several)["residual"])


def test_stretches_are_lines_with_their_points(model):
    report = outlier_report(model)
    ax = plotting.plot_outliers(report, kind="stretches", n_named=3)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [str(i) for i in report.index[:3]]
    assert report.index[1] == 7
    (segment,) = ax.collections[1].get_segments()
    assert_allclose(segment, [[report.loc[7, "start"], 1], [report.loc[7, "end"], 1]])
    assert_allclose(ax.lines[1].get_xdata(), report.loc[7, "points"])
    vectors = OperatorKernelRegressor(alpha=1e-2).fit(X, VECTORS)
    with pytest.raises(ValueError, match="functions of one variable"):
        plotting.plot_outliers(vectors, kind="stretches")
