"""One algorithm on all parts of the samples at the same time, each on the worker that has its blocks.

The solver of a part is a task that stays on its worker until it ends. Each sum over samples is an all-reduce over the
parts, see ``all_reduce``. When a worker is lost, its dual variables are lost too: Dask computes its blocks again on
other workers, and the solvers start again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..._utils.threads import limit_blas_threads
from .all_reduce import AllReduce, Interruption

_TRIES = 4  # attempts before a fit fails whose workers are lost
_POLL_SECONDS = 0.5  # between checks of which workers are alive
_PATIENCE = 15.0  # seconds to wait while there is no worker: a nanny restarts a lost one
_FAN_IN = 8  # partial sums that one task adds


@dataclass(frozen=True)
class PartsResult:
    """The result of the first part, and the traffic."""

    result: Any
    n_parts: int
    n_sums: int
    n_bytes: int  # that all parts have sent
    n_tries: int = 1


def run_on_parts(client, blocks, work: Callable, shared, report: Callable | None = None) -> PartsResult:
    """Run ``work(blocks of a part, total, shared)`` on every worker that has some of the blocks, all at the same time.

    blocks : futures
    work : a function that passes each sum over samples through ``total``, in the same order on all parts
    shared : what every worker is sent once
    report : function called here, every half second, with the last arguments of ``total.report`` of the first part
    """
    for attempt in range(1, _TRIES + 1):
        addresses, groups = group_by_worker(client, blocks)
        result = _attempt(client, addresses, groups, work, shared, report)
        if result is not None:
            return replace(result, n_tries=attempt)
    raise _make_lost_error(len(addresses))


def sum_over_parts(client, blocks, partial: Callable, shared, report: Callable | None = None):
    """The sum over parts of ``partial(blocks of a part, shared)``, by a tree of tasks.

    report : function called every half second with a text on how many workers are done

    Dask computes the results of a lost worker again; where that is impossible, the sum starts again.
    """
    from distributed import CancelledError

    for _ in range(_TRIES):
        addresses, groups = group_by_worker(client, blocks)
        sent = client.scatter(shared, broadcast=True, hash=False)
        level = [
            client.submit(
                _with_limited_threads,
                partial,
                _n_workers_on_host(address, addresses),
                group,
                sent,
                **_task_options(address),
            )
            for address, group in zip(addresses, groups, strict=True)
        ]
        parts = level
        while len(level) > 1:
            starts = range(0, len(level), _FAN_IN)
            level = [client.submit(add_parts, level[i : i + _FAN_IN], pure=False) for i in starts]
        try:
            if report is not None:
                _watch(level[0], parts, report)
            return level[0].result()
        except CancelledError:  # the shared data are lost
            continue
    raise _make_lost_error(len(addresses))


def _watch(future, parts, report):
    """Report, until a future is done, how many of its parts are."""
    from distributed import wait

    while not future.done():
        report(f"{sum(part.done() for part in parts)} of {len(parts)} workers are done")
        with suppress(TimeoutError):
            wait(future, timeout=_POLL_SECONDS)


def _make_lost_error(number):
    return RuntimeError(
        f"workers were lost in each of {_TRIES} attempts, the last time {number} were there; look into the workers' "
        "logs (memory?), or give Dask more of them"
    )


def group_by_worker(client, blocks) -> tuple[list, list]:
    """Addresses of workers, and the blocks of each, in the order of each worker's first block."""
    _wait_for_blocks(client, blocks)
    where = client.who_has(blocks)
    groups: dict[str, list] = {}
    for block in blocks:
        holders = sorted(where.get(block.key, ()))
        if not holders:
            return group_by_worker(client, blocks)  # lost in the meantime
        address = min(holders, key=lambda holder: len(groups.get(holder, ())))
        groups.setdefault(address, []).append(block)
    return list(groups), list(groups.values())


def _attempt(client, addresses, groups, work, shared, report) -> PartsResult | None:
    """The result, None where a worker was lost."""
    from distributed import CancelledError

    actor_future = client.submit(AllReduce, len(groups), actor=True, workers=addresses[:1], pure=False)
    tasks = []
    try:
        sent = client.scatter(shared, broadcast=True, hash=False)
        actor = actor_future.result()
        for k, (address, group) in enumerate(zip(addresses, groups, strict=True)):
            share = _n_workers_on_host(address, addresses)
            options: dict = {"workers": [address], "pure": False, "retries": 0}
            tasks.append(client.submit(_run_part, work, k, actor, share, group, sent, **options))
        poll = None if report is None else _ProgressRelay(actor, report)
        if not _wait_for_tasks(client, tasks, set(addresses), poll):
            _release_waiting(actor)
            return None
        result = _first_result(tasks)
        if result is None:
            return None
        n_sums, n_bytes = actor.travelled().result()
        return PartsResult(result[0], len(groups), n_sums, n_bytes)
    except (OSError, RuntimeError, CancelledError):
        if set(addresses) <= set(client.nthreads()):
            raise
        return None
    finally:
        client.cancel([*tasks, actor_future])


class _ProgressRelay:
    """Passes each report of the first part on once."""

    def __init__(self, actor, report):
        self._actor, self._report, self._last = actor, report, None

    def __call__(self):
        try:
            report = self._actor.last_report().result(timeout=_POLL_SECONDS)
        except (OSError, RuntimeError, TimeoutError):  # the actor's worker is lost, which the parts notice themselves
            return
        if report is not None and report != self._last:
            self._last = report
            self._report(*report)


def _wait_for_tasks(client, tasks, addresses, poll=None) -> bool:
    """Wait until all tasks are done, polling in between; False when one of their workers is gone."""
    from distributed import wait

    pending = set(tasks)
    while pending:
        try:
            pending = wait(list(pending), timeout=_POLL_SECONDS, return_when="FIRST_COMPLETED").not_done
        except TimeoutError:
            if not addresses <= set(client.nthreads()):
                return False
            if poll is not None:
                poll()
    if poll is not None:
        poll()
    return True


def _first_result(tasks):
    """The result of the first task, in a tuple; None where the parts were interrupted. Errors of parts are raised."""
    errors = [task.exception() for task in tasks if task.status == "error"]
    if errors:
        raise errors[0]
    results = [task.result() for task in tasks if task.status == "finished"]
    return None if len(results) < len(tasks) or not all(results) else results[0]


def _release_waiting(actor):
    """End the waiting of the parts; if the actor's own worker is lost, they notice themselves."""
    try:
        actor.end("a worker was lost").result(timeout=5)
    except (OSError, RuntimeError, TimeoutError):
        return


def _run_part(work, k, actor, share, group, shared):
    """Run on a worker: the work on its blocks, in a tuple; None if it was interrupted. The first part's is kept."""
    from distributed import secede

    secede()  # it waits for other parts, whose tasks may need this thread
    try:
        result = _with_limited_threads(work, share, group, _PartSums(actor, k), shared)
    except Interruption:
        return None
    except BaseException as error:
        actor.end(f"a part of the samples failed: {error!r}").result()
        raise
    return (result if k == 0 else None,)


class _PartSums:
    """Sums over all parts, one after the other."""

    def __init__(self, actor, k):
        self._actor, self._k, self._n_sums = actor, k, 0

    def __call__(self, partial):
        self._n_sums += 1
        return _wait_for_sum(self._actor, self._k, self._n_sums - 1, partial)

    def report(self, *report):
        """Report the progress of the first part; the call does not wait for an answer."""
        if self._k == 0:
            self._actor.report(*report)


def _wait_for_sum(actor, k, turn, partial):
    """The sum over all parts. An actor whose worker is lost never answers, so it is looked up from time to time."""
    try:
        answer = actor.total(k, turn, partial)
        while True:
            try:
                return answer.result(timeout=_POLL_SECONDS)
            except TimeoutError:
                if not callable(actor.total):  # the look-up raises where the worker is lost
                    raise
    except (OSError, RuntimeError) as error:
        raise Interruption(str(error)) from error


def _with_limited_threads(work, share, *arguments):
    """Run on a worker: with its share of the threads of its host."""
    from dask.system import CPU_COUNT

    with limit_blas_threads(max(1, CPU_COUNT // share)):
        return work(*arguments)


def add_parts(parts):
    """Run on a worker: the sum of a few partial sums, in their order."""
    first, *others = parts
    for other in others:
        first = first + other
    return first


def _n_workers_on_host(address, addresses) -> int:
    """How many of the workers are on the same host as one."""
    return sum(_host(other) == _host(address) for other in addresses)


def _host(address):
    return address.rsplit(":", 1)[0]


def _task_options(address):
    """Options of tasks for the worker with their data; if it is lost, another may run them."""
    return {"workers": [address], "allow_other_workers": True, "pure": False}


def _wait_for_blocks(client, blocks):
    """Wait until all blocks are computed, some of them again where workers were lost."""
    from distributed import wait

    missing_since = None
    while True:
        try:
            wait(blocks, timeout=_POLL_SECONDS)
            break
        except TimeoutError:
            missing_since = None if client.nthreads() else missing_since or time.monotonic()
            if missing_since is not None and time.monotonic() - missing_since > _PATIENCE:
                raise RuntimeError("no Dask worker is left; start some, and fit again") from None
    for block in blocks:
        if block.status == "error":
            raise block.exception()
        if block.status != "finished":
            raise RuntimeError(
                "blocks of the data are lost and cannot be computed again; give Dask collections that are made from "
                "files or arrays, not scattered ones, or load the data again"
            )
