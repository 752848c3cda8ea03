"""Sums over parts: in the order of the parts, and interrupted for all at once."""

import asyncio

import numpy as np
import pytest

from hilbertlearn.machine.distributed.all_reduce import AllReduce, Interruption


def test_all_parts_receive_the_sum():
    async def run():
        actor = AllReduce(3)
        sends = [actor.total(k, 0, np.array([10.0**k])) for k in (2, 0, 1)]
        return await asyncio.gather(*sends), await actor.travelled()

    sums, (rounds, n_bytes) = asyncio.run(run())
    assert [float(one[0]) for one in sums] == [111.0] * 3 and rounds == 1 and n_bytes == 24


def test_an_end_interrupts_parts_that_wait_and_parts_that_come():
    async def run():
        actor = AllReduce(2)
        waiting = asyncio.ensure_future(actor.total(0, 0, np.zeros(1)))
        await asyncio.sleep(0)
        await actor.end("a worker was lost")
        with pytest.raises(Interruption, match="a worker was lost"):
            await waiting
        with pytest.raises(Interruption, match="a worker was lost"):
            await actor.total(1, 0, np.zeros(1))

    asyncio.run(run())


def test_a_part_that_starts_again_interrupts_all():
    async def run():
        actor = AllReduce(2)
        waiting = asyncio.ensure_future(actor.total(0, 0, np.zeros(1)))
        await asyncio.sleep(0)
        with pytest.raises(Interruption):
            await actor.total(0, 0, np.zeros(1))
        with pytest.raises(Interruption):
            await waiting

    asyncio.run(run())


def test_the_last_progress():
    async def run():
        actor = AllReduce(1)
        assert await actor.last_report() is None
        await actor.report(1, 0.5)
        return await actor.last_report()

    assert asyncio.run(run()) == (1, 0.5)
