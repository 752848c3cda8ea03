"""Display of tasks: bars in a terminal, log lines elsewhere; how they end."""

import io
import logging
import os
import re
import select
import sys
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hilbertlearn import ConformalPredictor, OperatorKernelRegressor, RegularizationPathCV
from hilbertlearn._utils.progress import Progress, display, tasks
from hilbertlearn._utils.progress.display import DISPLAY, LOGGER

pty = pytest.importorskip("pty")

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1]]) + 0.1 * rng.normal(size=(40, 2))
GIVEN = {"kernel": "rbf", "gamma": 0.5, "alpha": 1e-2}
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


class Terminal:
    """A pseudo-terminal in place of standard error, and what was written to it."""

    def __init__(self, monkeypatch):
        self._master, slave = pty.openpty()
        self._stream = os.fdopen(slave, "w")
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setattr(sys, "stderr", self._stream)

    def read(self):
        """Everything; nothing can be written any more."""
        self._stream.flush()
        out = b""
        while select.select([self._master], [], [], 0.2)[0]:
            out += os.read(self._master, 65536)
        self._stream.close()
        os.close(self._master)
        return out.decode()


@pytest.fixture
def quick_log(monkeypatch):
    monkeypatch.setattr(display, "_SECONDS_BETWEEN_LINES", 0.05)


def work(progress, steps=4, pause=0.1):
    with progress.task("outer work", "piece", 2, where="here") as outer:
        for _ in range(2):
            with progress.task("inner work", "step", steps, is_step=True) as inner:
                for number in range(steps):
                    time.sleep(pause)
                    inner.step(f"number {number}", f"best {number / 7:.2g}")
            outer.step()


def nothing_is_open():
    return not tasks._open_tasks() and DISPLAY.is_empty


def test_bars_on_a_terminal(monkeypatch):
    terminal = Terminal(monkeypatch)
    work(Progress("Model", verbose=1))
    text = terminal.read()
    assert "outer work, here" in text and "  inner work" in text and "━" in text and "1 of 2" in text
    assert "0:00:00" in text  # elapsed and remaining time
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1  # the cursor is hidden once, and back
    last = text[text.rindex("\x1b[?25h") :]
    assert re.search(r"\[Model\] outer work, here: 2 of 2 in \d\.\d s\r\n$", last)
    assert nothing_is_open()


def test_a_log_has_plain_lines(monkeypatch, quick_log):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    work(Progress("Model", verbose=1))
    text = stream.getvalue()
    assert not CONTROL.search(text)
    *during, last = text.splitlines()
    assert all(line.startswith("[Model] outer work, here: ") for line in during)
    assert any(re.search(r"inner work: [1-3] of 4, best 0(\.\d+)?; number [0-2]", line) for line in during)
    assert last.startswith("[Model] outer work, here: 2 of 2 in ")


def test_a_log_is_not_long(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    work(Progress("Model", verbose=1), steps=100, pause=1e-3)
    assert len(stream.getvalue().splitlines()) == 1


def test_standard_error_may_be_missing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    work(Progress("Model", verbose=1), pause=0.0)
    assert nothing_is_open()


def test_silence(capfd, monkeypatch):
    monkeypatch.setattr(DISPLAY, "open", pytest.fail)
    work(Progress("Model"), pause=0.0)
    assert capfd.readouterr() == ("", "")


def test_tasks_of_several_threads(monkeypatch, quick_log):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    threads = [threading.Thread(target=work, args=(Progress(name, verbose=1),)) for name in ("One", "Two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ends = [line for line in stream.getvalue().splitlines() if " in " in line and "2 of 2" in line]
    assert sorted(line[:5] for line in ends) == ["[One]", "[Two]"] and nothing_is_open()


# ---------------------------------------------------------------- how it ends


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("rich", [True, False])
def test_a_terminal_is_left_clean(monkeypatch, error, rich):
    terminal = Terminal(monkeypatch)
    if not rich:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    progress = Progress("Model", verbose=1)
    with pytest.raises(error), progress.task("outer", "piece", 3) as outer:
        outer.step()
        with progress.task("inner", "step", 3):
            time.sleep(0.5)
            raise error
    text = terminal.read()
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == int(rich)
    assert re.search(r"\[Model\] outer: broken off, 1 of 3 in \d\.\d s\r\n$", text)
    assert nothing_is_open()


def interrupting(A, B):
    """A kernel for which somebody loses patience."""
    time.sleep(0.4)
    raise KeyboardInterrupt


@pytest.mark.parametrize("around", [None, "path", "conformal"])
def test_an_interrupted_fit_changes_nothing_and_leaves_a_clean_terminal(monkeypatch, around):
    inner = OperatorKernelRegressor(**GIVEN, loss="huber", verbose=1)
    model = {
        None: inner,
        "path": RegularizationPathCV(inner, [1e-2, 1e-1], cv=2),
        "conformal": ConformalPredictor(inner, "cv+", 0.8, cv=3, verbose=1),
    }[around]
    terminal = Terminal(monkeypatch)
    before = model.fit(X, Y).predict(X)
    inner.set_params(kernel=interrupting)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    inner.set_params(kernel="rbf")
    assert_array_equal(model.predict(X), before)
    text = terminal.read()
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") and nothing_is_open()
    assert ("broken off" in text) == (around == "conformal")  # the others have no task before the kernel is there


@pytest.mark.parametrize("error", [ValueError("closed"), BrokenPipeError(32, "Broken pipe")], ids=str)
def test_a_terminal_that_is_gone_does_not_end_the_work(monkeypatch, error):
    class Gone(io.StringIO):
        def write(self, text):
            raise error

    silent = OperatorKernelRegressor(**GIVEN).fit(X, Y)
    monkeypatch.setattr(sys, "stderr", Gone())
    model = OperatorKernelRegressor(**GIVEN, verbose=1).fit(X, Y)
    assert_array_equal(model.predict(X), silent.predict(X))
    monkeypatch.undo()
    assert nothing_is_open()


def test_lines_in_a_terminal_without_rich(monkeypatch, quick_log):
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    terminal = Terminal(monkeypatch)
    work(Progress("Model", verbose=1))
    text = terminal.read()
    assert "\x1b" not in text
    *during, last = text.splitlines()
    drawing = re.compile(r"outer work, here: [01] of 2, .*inner work: [1-3] of 4, .*")
    assert any(drawing.search(line) for line in during)
    assert re.fullmatch(r"\[Model\] outer work, here: 2 of 2 in \d\.\d s", last)


def test_lines_go_to_the_handlers_of_an_application(monkeypatch, capfd):
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    monkeypatch.setattr(LOGGER, "handlers", [handler])
    work(Progress("Model", verbose=1), pause=0.0)
    assert [record.levelno for record in records] == [logging.INFO]
    assert records[0].getMessage().startswith("[Model] outer work, here: 2 of 2 in ")
    assert capfd.readouterr() == ("", "")
