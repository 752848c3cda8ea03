"""Numbers as text."""

import numpy as np
import pytest

from hilbertlearn.app.report import text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.123456, "0.123"), (0.28, "0.280"), (3, "3"), (-2.5, "−2.50"), (1234567, "1.23e6"), (12345.6, "12\u202f346"),
        (1.5e-7, "1.5e-7"), (-1.5e-7, "−1.5e-7"), (np.nan, "–"), (np.inf, "∞"), (-np.inf, "−∞"), (0.0, "0"),
    ],
)  # fmt: skip
def test_numbers_have_one_form(value, written):
    assert text.format_number(value) == written


def test_shares_and_times_in_words():
    assert [text.format_percent(share) for share in (0, 0.001, 0.456, np.nan)] == ["0 %", "< 1 %", "46 %", "–"]
    assert [text.format_seconds(s) for s in (1e-5, 0.25, 2.5, 125)] == [
        "less than 1 ms",
        "250 ms",
        "2.5 s",
        "2 min 5 s",
    ]
    assert text.join_words(["a", "b", "c"]) == "a, b and c" and text.format_count(1, "sample") == "1 sample"
    assert text.join_first(range(15), most=2) == "0, 1 and 13 more"
