"""How many threads products and factors of matrices take."""

import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from functools import cache
from typing import Any

import threadpoolctl
from threadpoolctl import ThreadpoolController

_SMALL = 600  # rows of a square matrix up to which one thread is as fast as two
_lock = threading.Lock()
_limits: list[int] = []  # that hold at the moment; BLAS has one number for all threads of a process
_before: Any = None  # what was there before the first of them


@cache
def _controller():
    """The libraries of the process, looked for once: that takes a millisecond, in which an interrupt would be lost."""
    return ThreadpoolController()


@contextmanager
def limit_blas_threads(number):
    """A context in which BLAS takes so many threads, or the fewest of all such contexts that overlap.

    Contexts of different threads end in any order. The first to begin remembers what was before, and the last to end
    puts it back.
    """
    global _before
    with _lock:
        if not _limits:
            _before = _controller().limit(limits=number, user_api="blas")
        elif number < min(_limits):
            _controller().limit(limits=number, user_api="blas")
        _release()
        _limits.append(number)
    try:
        yield
    finally:
        with _lock:
            _limits.remove(number)
            if not _limits:
                _before.restore_original_limits()
                _before = None
            elif number < min(_limits):
                _controller().limit(limits=min(_limits), user_api="blas")
            _release()


def _release():
    """Let other threads set the number: threadpoolctl leaves that to the thread that did so first, as of 3.8."""
    release = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if release is not None:
        release()


def threads_for(n):
    """A context in which matrices (n, n) are worked on: with one thread where they are small.

    numpy and scipy each bring a BLAS with threads of its own. Where the two take turns by the millisecond, threads of
    one that wait keep those of the other from running: small fits are several times slower with two than with one.
    """
    return limit_blas_threads(1) if n <= _SMALL else nullcontext()


def map_in_threads(function, items, serial_up_to=1):
    """``[function(item) for item in items]``, worked on in as many threads as BLAS may take, each with a BLAS of one.

    Matrices of a few hundred or thousand rows, one for each thread, are done sooner than one after the other with all
    threads. Where BLAS is held to one thread so is this: who runs many processes, and calls inside of another. What the
    function does must not depend on other items, and it should not warn: no line of the user's is above a thread's.
    The caller is one of the threads: if it waited for each item instead, it would be woken up in the others' way.

    serial_up_to : number of items up to which one thread works on them
    """
    items = list(items)
    threads = min(len(items), _blas_threads()) if len(items) > serial_up_to else 1
    if threads == 1:
        return [function(item) for item in items]
    results, waiting = [None] * len(items), deque(range(len(items)))

    def work():
        try:
            while (position := _first(waiting)) is not None:
                results[position] = function(items[position])
        finally:
            waiting.clear()  # after an error nothing else is begun

    with limit_blas_threads(1), ThreadPoolExecutor(threads - 1) as pool:
        others = [pool.submit(copy_context().run, work) for _ in range(threads - 1)]  # with numpy's settings of errors
        work()
        for other in others:
            other.result()
    return results


def _first(waiting):
    """Taken from a deque that other threads take from too; None where it is empty."""
    try:
        return waiting.popleft()
    except IndexError:
        return None


def _blas_threads():
    return max((one["num_threads"] for one in _controller().info() if one["user_api"] == "blas"), default=1)
