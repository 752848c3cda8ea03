"""Files are replaced whole or not at all."""

import os

import pytest

from hilbertlearn._utils.atomic_files import write_atomically


def test_a_file_is_replaced(tmp_path):
    path = tmp_path / "model.txt"
    path.write_text("old")
    with write_atomically(path) as new:
        with open(new, "w") as file:
            file.write("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new" and os.listdir(tmp_path) == ["model.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_or_an_interrupt_leaves_nothing(tmp_path, error):
    path = tmp_path / "model.txt"
    path.write_text("old")
    with pytest.raises(error), write_atomically(path) as new:
        with open(new, "w") as file:
            file.write("half")
        raise error
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["model.txt"]
