"""Tasks: steps, shares, text, and what estimators report."""

import io
import re
import sys
import time

import numpy as np
import pytest
from sklearn.utils.parallel import delayed

from hilbertlearn import ConformalPredictor, OperatorKernelRegressor, QuantileRegressor, RegularizationPathCV
from hilbertlearn._utils.progress import Progress, StopSearch, run_jobs
from hilbertlearn._utils.progress.tasks import seconds_as_text

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1]]) + 0.1 * rng.normal(size=(40, 2))
GIVEN = {"kernel": "rbf", "gamma": 0.5, "alpha": 1e-2}

IN_WORDS = {0.0: "0.0 s", 0.26: "0.3 s", 9.94: "9.9 s", 9.96: "10 s", 59.4: "59 s", 59.6: "1 min 0 s"}
IN_WORDS |= {200: "3 min 20 s", 3599.6: "1 h 0 min", 7500: "2 h 5 min"}


@pytest.mark.parametrize(("seconds", "text"), IN_WORDS.items())
def test_seconds_in_words(seconds, text):
    assert seconds_as_text(seconds) == text


def test_remaining_time_of_steady_work(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    with Progress().task("work", "step", 10) as task:
        assert "left" not in task.status
        for step in range(1, 10):
            now[0] = 2.0 * step
            task.step()
            assert f"about {20 - 2 * step} s left" in task.status
        task.step()
        assert task.status == "work: 10 of 10"


def test_the_gap_of_a_solver_gives_its_share(monkeypatch):
    with Progress(verbose=0).iterations("", 1e-6, 1000) as silent:
        assert silent is None
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Progress("model", verbose=1).iterations("alpha 1", 1e-6, 1000) as callback:
        callback(25, 1e-3)
        assert callback.share == pytest.approx(0.5)
        callback(50, 1e-2)  # it does not go back
        assert callback.share == pytest.approx(0.5)
        callback(900, 1e-3)  # near the last iteration
        assert callback.share == pytest.approx(0.9)


def test_a_guess_of_the_number_of_steps_may_be_wrong():
    with Progress().task("search", "kernel", 3, exact=False) as task:
        for _ in range(10):
            task.step()
            assert task.share < 1
    assert task.count == "10 kernels"


def test_a_task_that_is_a_step_advances_the_task_around_it():
    progress = Progress()
    with progress.task("outer", "piece", 2) as outer, progress.task("inner", "step", 4, is_step=True) as inner:
        inner.step()
        assert outer.share == pytest.approx(0.25 / 2)
        inner.step()
        assert outer.share == pytest.approx(0.5 / 2)


def test_results_of_jobs_are_in_order():
    task = Progress().task("jobs", "job", 5)
    assert run_jobs(task, [delayed(pow)(k, 2) for k in range(5)], n_jobs=2) == [0, 1, 4, 9, 16]
    assert task.done == 5


def test_a_stopped_search_is_not_broken_off(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with pytest.raises(StopSearch), Progress("Model", verbose=1).task("search", "kernel") as task:
        task.step("", "best 1")
        raise StopSearch
    assert stream.getvalue().startswith("[Model] search: best 1, 1 kernel in ")


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
