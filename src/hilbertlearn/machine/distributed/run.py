"""One algorithm on all parts of the samples at the same time, each on the worker that has its blocks.

A part's solver is a task that stays on its worker until it is done. It meets the others at each sum over samples; see
``meeting``. When a worker is lost, so are its dual variables: Dask computes the lost blocks again, on the workers
left, and the solvers begin anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..._utils.threads import at_most
from .meeting import Interrupted, Meeting

_TRIES = 4
_LOOK_EVERY = 0.5  # seconds between looks at which workers are there
_PATIENCE = 15.0  # seconds to wait for a worker where there is none: a nanny starts a lost one anew
_FAN_IN = 8  # sums of as many workers that are added at a time


@dataclass(frozen=True)
class Outcome:
    """What the first part returned, and what it took."""

    result: Any
    n_parts: int
    n_sums: int
    n_bytes: int  # that all parts have sent
    n_tries: int = 1


def on_parts(client, blocks, work: Callable, shared, told: Callable | None = None) -> Outcome:
    """``work(blocks of a part, total, shared)`` on every worker that has some of the blocks, all at the same time.

    blocks : futures
    work : a function that passes each sum over samples through ``total``, in the same order on all parts
    shared : what every worker is sent once
    told : is called here, now and then, with what the first part has passed to ``total.tell``; None for nobody
    """
    for tried in range(1, _TRIES + 1):
        addresses, groups = placed(client, blocks)
        found = _attempt(client, addresses, groups, work, shared, told)
        if found is not None:
            return replace(found, n_tries=tried)
    raise _lost_too_often(len(addresses))


def summed(client, blocks, partial: Callable, shared, told: Callable | None = None):
    """The sum over parts of ``partial(blocks of a part, shared)``, by a tree of tasks.

    told : is called, now and then, with how many workers are done, in words; None for nobody

    What a lost worker had computed Dask computes again; only where that cannot be done is all begun anew.
    """
    from distributed import CancelledError

    for _ in range(_TRIES):
        addresses, groups = placed(client, blocks)
        sent = client.scatter(shared, broadcast=True, hash=False)
        level = [
            client.submit(_limited, partial, _sharing(address, addresses), group, sent, **_preferring(address))
            for address, group in zip(addresses, groups, strict=True)
        ]
        parts = level
        while len(level) > 1:
            some = range(0, len(level), _FAN_IN)
            level = [client.submit(added, level[i : i + _FAN_IN], pure=False) for i in some]
        try:
            if told is not None:
                _watch(level[0], parts, told)
            return level[0].result()
        except CancelledError:  # what was sent is lost
            continue
    raise _lost_too_often(len(addresses))


def _watch(future, parts, told):
    """Until a future is done, tell how many of the parts that it is made of are."""
    from distributed import wait

    while not future.done():
        told(f"{sum(part.done() for part in parts)} of {len(parts)} workers are done")
        with suppress(TimeoutError):
            wait(future, timeout=_LOOK_EVERY)


def _lost_too_often(number):
    return RuntimeError(
        f"workers were lost in each of {_TRIES} attempts, the last time {number} were there; look into the workers' "
        "logs (memory?), or give Dask more of them"
    )


def placed(client, blocks) -> tuple[list, list]:
    """Addresses of workers, and the blocks of each; in the order of the first block that each has."""
    _wait_for(client, blocks)
    where = client.who_has(blocks)
    groups: dict[str, list] = {}
    for block in blocks:
        holders = sorted(where.get(block.key, ()))
        if not holders:
            return placed(client, blocks)  # lost since
        address = min(holders, key=lambda one: len(groups.get(one, ())))
        groups.setdefault(address, []).append(block)
    return list(groups), list(groups.values())


def _attempt(client, addresses, groups, work, shared, told) -> Outcome | None:
    """What the first part returns and what travelled, None where a worker was lost."""
    from distributed import CancelledError

    meeting = client.submit(Meeting, len(groups), actor=True, workers=addresses[:1], pure=False)
    tasks = []
    try:
        sent = client.scatter(shared, broadcast=True, hash=False)
        actor = meeting.result()
        for k, (address, group) in enumerate(zip(addresses, groups, strict=True)):
            share = _sharing(address, addresses)
            options: dict = {"workers": [address], "pure": False, "retries": 0}
            tasks.append(client.submit(_part, work, k, actor, share, group, sent, **options))
        look = None if told is None else _News(actor, told)
        if not _finished(client, tasks, set(addresses), look):
            _let_go(actor)
            return None
        result = _result(tasks)
        if result is None:
            return None
        n_sums, n_bytes = actor.travelled().result()
        return Outcome(result[0], len(groups), n_sums, n_bytes)
    except (OSError, RuntimeError, CancelledError):
        if set(addresses) <= set(client.nthreads()):
            raise
        return None
    finally:
        client.cancel([*tasks, meeting])


class _News:
    """Looks for what the first part has told, and passes it on once."""

    def __init__(self, actor, told):
        self._actor, self._told, self._last = actor, told, None

    def __call__(self):
        try:
            news = self._actor.news().result(timeout=_LOOK_EVERY)
        except (OSError, RuntimeError, TimeoutError):  # the meeting's worker is lost: the parts will find out
            return
        if news is not None and news != self._last:
            self._last = news
            self._told(*news)


def _finished(client, tasks, addresses, look=None) -> bool:
    """Wait until all tasks are done, and look in between; False when one of their workers is gone."""
    from distributed import wait

    pending = set(tasks)
    while pending:
        try:
            pending = wait(list(pending), timeout=_LOOK_EVERY, return_when="FIRST_COMPLETED").not_done
        except TimeoutError:
            if not addresses <= set(client.nthreads()):
                return False
            if look is not None:
                look()
    if look is not None:
        look()
    return True


def _result(tasks):
    """What the first task returned, in a tuple; None where the parts were interrupted. Their own errors are raised."""
    errors = [task.exception() for task in tasks if task.status == "error"]
    if errors:
        raise errors[0]
    ended = [task.result() for task in tasks if task.status == "finished"]
    return None if len(ended) < len(tasks) or not all(ended) else ended[0]


def _let_go(actor):
    """Tell the parts that wait that there is nothing to wait for; where its worker is the lost one, they know."""
    try:
        actor.end("a worker was lost").result(timeout=5)
    except (OSError, RuntimeError, TimeoutError):
        return


def _part(work, k, meeting, share, group, shared):
    """Run on a worker: the work on its blocks, in a tuple; None if it was interrupted. The first part's is kept."""
    from distributed import secede

    secede()  # it will wait for others: tasks that they wait for may need this thread
    try:
        result = _limited(work, share, group, _Turns(meeting, k), shared)
    except Interrupted:
        return None
    except BaseException as error:
        meeting.end(f"a part of the samples failed: {error!r}").result()
        raise
    return (result if k == 0 else None,)


class _Turns:
    """Sums over all parts, one after the other."""

    def __init__(self, meeting, k):
        self._meeting, self._k, self._turns = meeting, k, 0

    def __call__(self, partial):
        self._turns += 1
        return _answer(self._meeting, self._k, self._turns - 1, partial)

    def tell(self, *news):
        """Let the one who waits for all parts know how far they are; nobody waits for an answer."""
        if self._k == 0:
            self._meeting.tell(*news)


def _answer(meeting, k, turn, partial):
    """The sum over all parts; an actor whose worker is gone never answers, and says so when it is asked again."""
    try:
        answer = meeting.total(k, turn, partial)
        while True:
            try:
                return answer.result(timeout=_LOOK_EVERY)
            except TimeoutError:
                if not callable(meeting.total):  # to look for it raises where its worker is gone
                    raise
    except (OSError, RuntimeError) as error:
        raise Interrupted(str(error)) from error


def _limited(work, share, *arguments):
    """Run on a worker: with its share of the threads of its host."""
    from dask.system import CPU_COUNT

    with at_most(max(1, CPU_COUNT // share)):
        return work(*arguments)


def added(parts):
    """Run on a worker: the sum of a few, in their order."""
    first, *others = parts
    for other in others:
        first = first + other
    return first


def _sharing(address, addresses) -> int:
    """How many of the workers are on the same host as one."""
    return sum(_host(one) == _host(address) for one in addresses)


def _host(address):
    return address.rsplit(":", 1)[0]


def _preferring(address):
    """Options of tasks that belong on the worker with their data; where it is gone, another may run them."""
    return {"workers": [address], "allow_other_workers": True, "pure": False}


def _wait_for(client, blocks):
    """Until all blocks are there, computed again if need be."""
    from distributed import wait

    missing_since = None
    while True:
        try:
            wait(blocks, timeout=_LOOK_EVERY)
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
