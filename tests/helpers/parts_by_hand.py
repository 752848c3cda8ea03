"""Samples in several parts, each with a thread of its own: sums meet at barriers, added in the order of the parts."""

from threading import Barrier, Thread

import numpy as np


class Meeting:
    """Sums over parts; ``sums`` counts them, ``numbers`` the numbers that each part sends."""

    def __init__(self, number):
        self.parts: list = [None] * number
        self.barrier = Barrier(number, timeout=20)
        self.sums = self.numbers = 0

    def total(self, k):
        """What part k passes its sums through."""

        def add(partial):
            self.parts[k] = np.array(partial)
            self.barrier.wait()
            summed = sum(self.parts)
            if k == 0:
                self.sums, self.numbers = self.sums + 1, self.numbers + summed.size
            self.barrier.wait()
            return summed

        return add


def on_parts(rows, work):
    """``work(rows of a part, its total)`` for each of the parts, all at the same time; their results, the meeting."""
    meeting, results = Meeting(len(rows)), [None] * len(rows)
    failures: list = []

    def one(k):
        try:
            results[k] = work(rows[k], meeting.total(k))
        except BaseException as error:
            failures.append(error)
            meeting.barrier.abort()

    threads = [Thread(target=one, args=(k,)) for k in range(len(rows))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return results, meeting
