"""What long work says: bars on a terminal, a line without rich, lines of a log, nothing; tasks inside tasks."""

import io
import os
import re
import select
import sys
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hilbertlearn import ConformalPredictor, OperatorKernelRegressor, QuantileRegressor, RegularizationPathCV
from hilbertlearn._utils.progress import Enough, Progress, tasks, times, views
from hilbertlearn._utils.progress.screen import SCREEN

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
    monkeypatch.setattr(views, "_LOG_EVERY", 0.05)


def work(said, steps=4, pause=0.1):
    with said.task("outer work", "piece", 2, where="here") as outer:
        for _ in range(2):
            with said.task("inner work", "step", steps, is_step=True) as inner:
                for number in range(steps):
                    time.sleep(pause)
                    inner.step(f"number {number}", f"best {number / 7:.2g}")
            outer.step()


def nothing_is_open():
    return not tasks._going_on() and not SCREEN._open and SCREEN._view is None


# ---------------------------------------------------------------- time


IN_WORDS = {0.0: "0.0 s", 0.26: "0.3 s", 9.94: "9.9 s", 9.96: "10 s", 59.4: "59 s", 59.6: "1 min 0 s"}
IN_WORDS |= {200: "3 min 20 s", 3599.6: "1 h 0 min", 7500: "2 h 5 min"}


@pytest.mark.parametrize(("seconds", "text"), IN_WORDS.items())
def test_seconds_in_words(seconds, text):
    assert times.seconds_as_text(seconds) == text


def test_time_left_of_steady_work_is_right():
    now = [0.0]
    clock = times.Clock(lambda: now[0])
    assert clock.left is None
    for step in range(1, 10):
        now[0] = 2.0 * step
        clock.see(step / 10)
        assert clock.left == pytest.approx(20 - now[0])
    now[0] += 0.5  # between steps it goes on
    assert clock.left == pytest.approx(1.5)
    now[0] += 10.0  # longer than was guessed: nothing is
    assert clock.left is None


def test_time_left_does_not_jump():
    now = [0.0]
    clock = times.Clock(lambda: now[0])
    now[0] = 1.0
    clock.see(0.1)
    assert clock.left == pytest.approx(9.0)
    now[0] = 4.0  # a slow step: by itself it would say 16
    clock.see(0.2)
    assert clock.left == pytest.approx((6.0 + 16.0) / 2)


def test_the_gap_says_how_far_a_solver_is(monkeypatch):
    with Progress(verbose=0).iterations("", 1e-6, 1000) as silent:
        assert silent is None
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Progress("model", verbose=1).iterations("alpha 1", 1e-6, 1000) as told:
        told(25, 1e-3)
        assert told.clock.share == pytest.approx(0.5)
        told(50, 1e-2)  # it does not go back
        assert told.clock.share == pytest.approx(0.5)
        told(900, 1e-3)  # near the last iteration
        assert told.clock.share == pytest.approx(0.9)


def test_a_guess_of_the_number_of_steps_may_be_wrong():
    with Progress().task("search", "kernel", 3, exact=False) as task:
        for _ in range(10):
            task.step()
            assert task.clock.share < 1
    assert task.count == "10 kernels"


# ---------------------------------------------------------------- where it is shown


def test_bars_on_a_terminal(monkeypatch):
    terminal = Terminal(monkeypatch)
    work(Progress("Model", verbose=1))
    text = terminal.read()
    assert "outer work, here" in text and "  inner work" in text and "━" in text and "1 of 2" in text
    assert "about" in text and "left" in text
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1  # the cursor is hidden once, and back
    last = text[text.rindex("\x1b[?25h") :]
    assert re.search(r"\[Model\] outer work, here: 2 of 2 in \d\.\d s\r\n$", last)
    assert nothing_is_open()


def test_one_line_on_a_terminal_without_rich(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    terminal = Terminal(monkeypatch)
    work(Progress("Model", verbose=1))
    text = terminal.read()
    assert "\x1b" not in text
    *drawn, last = text.rstrip("\r\n").split("\r")
    drawing = re.compile(r"outer work, here: [01] of 2, .*inner work: [1-3] of 4, .*")
    assert any(drawing.search(line) for line in drawn) and any(re.search(r"\[#+-+\]", line) for line in drawn)
    assert all(len(line) < 100 for line in drawn)
    assert drawn[-1].strip() == ""  # it was wiped out
    assert re.fullmatch(r"\[Model\] outer work, here: 2 of 2 in \d\.\d s", last)


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
    monkeypatch.setattr(SCREEN, "opened", pytest.fail)
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
    said = Progress("Model", verbose=1)
    with pytest.raises(error), said.task("outer", "piece", 3) as outer:
        outer.step()
        with said.task("inner", "step", 3):
            time.sleep(0.5)
            raise error
    text = terminal.read()
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == int(rich)
    assert re.search(r"\[Model\] outer: broken off, 1 of 3 in \d\.\d s\r\n$", text)
    assert nothing_is_open()


def test_what_has_enough_is_not_broken_off(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with pytest.raises(Enough), Progress("Model", verbose=1).task("search", "kernel") as task:
        task.step("", "best 1")
        raise Enough
    assert stream.getvalue().startswith("[Model] search: best 1, 1 kernel in ")


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


# ---------------------------------------------------------------- estimators


def said_by(model, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    model.fit(X, Y)
    return [re.sub(r" in [\d.]+ s$", "", line) for line in stream.getvalue().splitlines()]


def test_folds_of_a_path(monkeypatch):
    path = RegularizationPathCV(OperatorKernelRegressor(**GIVEN, loss="huber", verbose=1), [1e-2, 1e-1], cv=3)
    folds, solve = said_by(path, monkeypatch)
    assert folds == "[OperatorKernelRegressor] errors of folds: 3 of 3"
    best = path.best_estimator_
    assert f"solve, alpha {best.alpha_:.2g}: gap {best.dual_gap_:.1e}, {best.n_iter_} iterations" in solve


def test_models_inside_models(monkeypatch):
    inner = OperatorKernelRegressor(**GIVEN, loss="huber", verbose=1)
    lines = said_by(ConformalPredictor(inner, "cv+", 0.8, cv=3, verbose=1), monkeypatch)
    assert lines == [  # what is inside them leaves no lines
        "[ConformalPredictor] model of all samples",
        "[ConformalPredictor] models without some samples: 3 of 3",
    ]


def test_outputs_of_quantiles(monkeypatch):
    model = QuantileRegressor((0.2, 0.8), alpha=0.1, coupling=1.0, kernel="rbf", gamma=0.5, verbose=1)
    assert said_by(model, monkeypatch) == ["[QuantileRegressor] outputs: 2 of 2"]
    (line,) = said_by(model.set_params(operator=None), monkeypatch)
    assert line.startswith("[QuantileRegressor] solve, alpha 0.1: gap ")


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
    assert SCREEN._open == [] and SCREEN._view is None
