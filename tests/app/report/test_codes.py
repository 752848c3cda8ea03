"""Evaluation of autoencoders, by other means."""

import numpy as np
import pytest
from helpers.report_cases import case
from helpers.report_pages import assert_close, case_section, chart, table


def test_codes_and_reconstruction_errors():
    model, X, _, _ = case("codes")
    section = case_section("codes")
    errors = ((model.coordinates(X) - model.inverse_transform(model.transform(X))) ** 2).sum(axis=1)
    assert section.facts["score"] == pytest.approx(-errors.mean())
    assert section.facts["kept"] == pytest.approx(1 - errors.mean() / (model.coordinates(X) ** 2).sum(axis=1).mean())
    assert int(table(section, "Largest errors").names[0]) == np.argmax(errors)
    assert_close(chart(section, "Codes")["views"][0]["series"][0]["x"], model.transform(X)[:, 0])
    assert_close(chart(section, "Descent")["views"][0]["series"][0]["y"], model.objective_path_)
