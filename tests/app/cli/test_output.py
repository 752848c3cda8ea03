"""Output of commands."""

import json
from pathlib import Path

import numpy as np

from hilbertlearn.app.cli import output


def test_json_has_no_infinities(capsys):
    output.CommandOutput(as_json=True).result(
        {"a": np.float64("inf"), "b": [np.int64(2), float("nan")], "c": Path("x")}
    )
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [2, None], "c": "x"}
