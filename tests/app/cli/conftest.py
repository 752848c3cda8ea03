"""The command in a folder of its own."""

import pytest

from hilbertlearn.app.cli.run import run


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Runs the command in a folder of its own; gives exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def run_here(*arguments):
        code = run([str(one) for one in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return run_here
