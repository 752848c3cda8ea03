"""Where the parts of the samples meet: sums of what each has, added in the order of the parts."""

from __future__ import annotations

import asyncio

_INTERRUPTED = "a part of the samples was lost"


class Interrupted(RuntimeError):
    """The work on the parts ended before its time."""


class Meeting:
    """An actor on one of the workers that all parts send their sums to.

    Its methods are coroutines, so that parts wait in the worker's event loop and take no thread of it.
    """

    def __init__(self, number):
        self.number, self.rounds, self.bytes = number, 0, 0
        self._parts: dict = {}
        self._sum: asyncio.Future | None = None
        self._ended: str | None = None
        self._news: tuple | None = None

    async def total(self, k, turn, partial):
        """The sum of what all parts send in one turn; k : the number of the part that sends."""
        if self._ended is None and (turn != self.rounds or k in self._parts):
            # a worker that came back has begun its task anew: these sums are of no use any more
            await self.end(_INTERRUPTED)
        if self._ended is not None:
            raise Interrupted(self._ended)
        if self._sum is None:
            self._sum = asyncio.get_running_loop().create_future()
        waiting = self._sum
        self._parts[k] = partial
        self.bytes += partial.nbytes
        if len(self._parts) == self.number:
            summed = self._parts[0]
            for other in range(1, self.number):  # in this order, whoever came first
                summed = summed + self._parts[other]
            self.rounds, self._parts, self._sum = self.rounds + 1, {}, None
            waiting.set_result(summed)
        return await asyncio.shield(waiting)

    async def end(self, why):
        """Let go those that wait, and those that come."""
        self._ended = self._ended or why
        if self._sum is not None and not self._sum.done():
            self._sum.set_exception(Interrupted(self._ended))
            self._sum.exception()  # seen, whether or not somebody waits

    async def tell(self, *news):
        """How far the work is, from the first part."""
        self._news = news

    async def news(self):
        """What was told last, None for nothing."""
        return self._news

    async def travelled(self):
        """Number of sums so far, and of the bytes that parts have sent for them."""
        return self.rounds, self.bytes
