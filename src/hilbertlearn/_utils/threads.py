"""Numbers of threads of BLAS, and work in parallel threads."""

import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from functools import cache
from typing import Any

import threadpoolctl
from threadpoolctl import ThreadpoolController

_SMALL_SIZE = 600  # rows of a square matrix up to which one thread is as fast as two
_lock = threading.Lock()
_limits: list[int] = []  # of the open contexts; BLAS has one limit for all threads of a process
_original_limit: Any = None  # the limit before the first open context


@cache
def _controller():
    """The BLAS libraries of the process. The search takes a millisecond, in which an interrupt would be lost."""
    return ThreadpoolController()


@contextmanager
def limit_blas_threads(number):
    """A context in which BLAS uses at most `number` threads; of overlapping contexts the smallest number holds.

    Contexts of different threads end in any order. The first one to begin stores the original limit, and the last one
    to end restores it.
    """
    global _original_limit
    with _lock:
        if not _limits:
            _original_limit = _controller().limit(limits=number, user_api="blas")
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
                _original_limit.restore_original_limits()
                _original_limit = None
            elif number < min(_limits):
                _controller().limit(limits=min(_limits), user_api="blas")
            _release()


def _release():
    """Let other threads set the limit: threadpoolctl, as of 3.8, reserves that for the thread that did so first."""
    release = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if release is not None:
        release()


def threads_for(n):
    """A context for work on matrices (n, n), which uses one thread if they are small.

    numpy and scipy each have a BLAS with its own threads. If the two alternate within milliseconds, waiting threads of
    one block those of the other: small fits are several times slower with two threads than with one.
    """
    return limit_blas_threads(1) if n <= _SMALL_SIZE else nullcontext()


def map_in_threads(function, items, serial_up_to=1):
    """``[function(item) for item in items]`` in as many threads as BLAS may use, each with one thread of BLAS.

    For matrices of a few hundred or thousand rows this is faster than one matrix after the other with all threads. If
    BLAS is limited to one thread (in one of many processes, or inside another call), so is this function. Calls must
    not depend on each other, and should not warn, because the stack of a thread has no line of the user. The calling
    thread works too: waking it up for each item would slow down the others.

    serial_up_to : number of items up to which one thread works on them
    """
    items = list(items)
    threads = min(len(items), _blas_threads()) if len(items) > serial_up_to else 1
    if threads == 1:
        return [function(item) for item in items]
    results, queue = [None] * len(items), deque(range(len(items)))

    def work():
        try:
            while (position := _pop(queue)) is not None:
                results[position] = function(items[position])
        finally:
            queue.clear()  # after an error no other item is started

    with limit_blas_threads(1), ThreadPoolExecutor(threads - 1) as pool:
        futures = [pool.submit(copy_context().run, work) for _ in range(threads - 1)]  # copies numpy's error settings
        work()
        for future in futures:
            future.result()
    return results


def _pop(queue):
    """The first element of a deque that several threads use; None if it is empty."""
    try:
        return queue.popleft()
    except IndexError:
        return None


def _blas_threads():
    return max((library["num_threads"] for library in _controller().info() if library["user_api"] == "blas"), default=1)
