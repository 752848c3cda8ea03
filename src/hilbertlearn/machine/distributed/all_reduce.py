"""Sums over the parts of the samples, added in the order of the parts."""

from __future__ import annotations

import asyncio

_INTERRUPTED = "a part of the samples was lost"


class Interruption(RuntimeError):
    """The work on the parts ended early."""


class AllReduce:
    """A Dask actor, on one of the workers, to which all parts send their partial sums.

    Its methods are coroutines: waiting parts use the worker's event loop and none of its threads.
    """

    def __init__(self, number):
        self.number, self.rounds, self.bytes = number, 0, 0
        self._parts: dict = {}
        self._sum: asyncio.Future | None = None
        self._ended: str | None = None
        self._last_report: tuple | None = None

    async def total(self, k, turn, partial):
        """The sum of what all parts send in one turn; k : the number of the part that sends."""
        if self._ended is None and (turn != self.rounds or k in self._parts):
            # a worker that was restarted has begun its task again: these sums cannot be completed
            await self.end(_INTERRUPTED)
        if self._ended is not None:
            raise Interruption(self._ended)
        if self._sum is None:
            self._sum = asyncio.get_running_loop().create_future()
        waiting = self._sum
        self._parts[k] = partial
        self.bytes += partial.nbytes
        if len(self._parts) == self.number:
            summed = self._parts[0]
            for other in range(1, self.number):  # in this order, so that sums have the same bits in every run
                summed = summed + self._parts[other]
            self.rounds, self._parts, self._sum = self.rounds + 1, {}, None
            waiting.set_result(summed)
        return await asyncio.shield(waiting)

    async def end(self, why):
        """Raise ``Interruption`` in parts that wait, and in parts that send later."""
        self._ended = self._ended or why
        if self._sum is not None and not self._sum.done():
            self._sum.set_exception(Interruption(self._ended))
            self._sum.exception()  # retrieved, so that asyncio does not report it where no part waits

    async def report(self, *report):
        """Store the progress of the first part."""
        self._last_report = report

    async def last_report(self):
        """The last progress, None before the first."""
        return self._last_report

    async def travelled(self):
        """Number of sums so far, and of the bytes that parts have sent for them."""
        return self.rounds, self.bytes
