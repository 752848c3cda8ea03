"""Callbacks of solvers."""

from hilbertlearn.core.solvers.solution import IterationMonitor


def test_a_monitor_calls_back_and_remembers_that_it_was_stopped():
    seen = []

    def callback(iteration, gap):
        seen.append((iteration, gap))
        return gap < 0.5

    monitor = IterationMonitor(callback)
    assert not monitor(1, 0.9) and not monitor.stopped
    assert monitor(2, 0.1) and monitor.stopped
    assert monitor(3, 0.9)  # once stopped, always stopped
    assert seen == [(1, 0.9), (2, 0.1), (3, 0.9)]


def test_a_monitor_without_a_callback_never_stops():
    monitor = IterationMonitor(None)
    assert not monitor(1, 0.0) and not monitor.stopped
