"""The table of largest errors."""

import numpy as np
from helpers.report_cases import case
from helpers.report_pages import case_section, table

from hilbertlearn.app.report import text


def test_worst_samples_are_those_with_the_largest_errors():
    model, X, y, _ = case("vectors")
    relative = (y - model.predict(X)) / y.std(ddof=0)
    errors = np.sqrt((relative**2).mean(axis=1))
    worst = table(case_section("vectors"), "Largest errors")
    assert worst.names == errors.sort_values(ascending=False).index[:10].tolist()
    assert worst.rows[0] == [text.format_number(errors.max())]
