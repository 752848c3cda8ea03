"""Parts of a fit and the workers that they run on; fits on a cluster are in ``test_source.py``."""

import numpy as np

from hilbertlearn.machine.distributed import parallel


def test_sums_are_added_in_order():
    assert parallel.add_parts([np.array([1.0]), np.array([2.0]), np.array([3.0])]).tolist() == [6.0]


def test_workers_of_one_host_share_its_threads():
    addresses = ["tcp://10.0.0.1:1", "tcp://10.0.0.1:2", "tcp://10.0.0.2:1"]
    assert [parallel._n_workers_on_host(one, addresses) for one in addresses] == [2, 2, 1]


class Task:
    def __init__(self, status, result=None, error=None):
        self.status, self._result, self._error = status, result, error

    def result(self):
        return self._result

    def exception(self):
        return self._error


def test_the_result_is_that_of_the_first_part():
    assert parallel._first_result([Task("finished", (7,)), Task("finished", (None,))]) == (7,)
    assert parallel._first_result([Task("finished", (7,)), Task("finished", None)]) is None  # a part was interrupted
    assert parallel._first_result([Task("finished", (7,)), Task("lost")]) is None
