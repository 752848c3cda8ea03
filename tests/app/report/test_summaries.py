"""Ranges and missing entries of the data."""

import numpy as np
import pandas as pd
import pytest
from helpers.report_cases import case
from helpers.report_pages import case_section, table

from hilbertlearn import (
    OperatorKernelRegressor,
    report,
)
from hilbertlearn.app.report import text


def test_inputs_are_shown_as_the_reader_knows_them():
    frame = pd.DataFrame({"size": [100.0, 200.0, np.nan, 300.0] * 5})
    X = (frame.fillna(200.0).to_numpy() - 200) / 100
    model = OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-2).fit(X, X[:, 0])
    data = report.section(model, X, X[:, 0], inputs=frame).parts[0]
    assert "25 % missing in the inputs" in data.intro.replace("25.0", "25")
    table = data.items[-1]
    assert table.names == ["size"] and table.rows[0][1:4] == ["100", "200", "300"]


def test_gaps_and_ranges_of_outputs():
    _, _, y, _ = case("vectors")
    found = table(case_section("vectors"), "Outputs")
    assert found.names == list(y.columns)
    for row, target in zip(found.rows, y.columns, strict=True):
        assert row[0].share == pytest.approx(y[target].isna().mean())
        assert row[1:] == [text.format_number(f(y[target].dropna())) for f in (np.min, np.median, np.max)]
