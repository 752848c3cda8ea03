"""Work in threads: the same results in the same order, errors that come through, no threads inside of threads."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse
import threadpoolctl
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_limits

from hilbertlearn._utils import threads
from hilbertlearn._utils.threads import map_in_threads
from hilbertlearn.kernels import node_embedding
from hilbertlearn.links.rate_search import search_on_subsamples
from hilbertlearn.machine.distributed.parallel import _with_limited_threads


@pytest.fixture
def two_threads(monkeypatch):
    """As if BLAS could take two, where this runs with one."""
    monkeypatch.setattr(threads, "_blas_threads", lambda: 2)


@pytest.mark.usefixtures("two_threads")
def test_results_are_in_order_and_from_two_threads():
    both, seen = threading.Barrier(2, timeout=10), set()

    def squared(i):
        if i < 2:
            both.wait()  # passes only when two are at work
        seen.add(threading.get_ident())
        return i**2

    assert map_in_threads(squared, range(20)) == [i**2 for i in range(20)]
    assert len(seen) == 2 and threading.get_ident() in seen


def test_one_thread_is_the_callers(monkeypatch):
    monkeypatch.setattr(threads, "_blas_threads", lambda: 1)
    assert set(map_in_threads(lambda _: threading.get_ident(), range(5))) == {threading.get_ident()}
    assert map_in_threads(len, []) == []


@pytest.mark.usefixtures("two_threads")
def test_a_single_item_takes_no_thread():
    assert map_in_threads(lambda _: threading.get_ident(), [0]) == [threading.get_ident()]


def test_blas_has_one_thread_inside():
    real = threads._blas_threads
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "_blas_threads", lambda: 2)
        assert map_in_threads(lambda _: real(), range(4)) == [1] * 4


@pytest.mark.usefixtures("two_threads")
def test_errors_and_numpys_settings_come_through():
    with pytest.raises(ZeroDivisionError):
        map_in_threads(lambda i: 1 / i, [1, 0, 2])
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        map_in_threads(lambda x: np.ones(1) / x, [np.zeros(1), np.zeros(1)])


@pytest.mark.usefixtures("two_threads")
def test_after_an_error_nothing_else_is_begun():
    begun, failed = [], threading.Event()

    def work(i):
        begun.append(i)
        if i == 0:
            failed.set()
            raise LookupError
        failed.wait(10)
        time.sleep(0.2)  # until the error has been noted

    with pytest.raises(LookupError):
        map_in_threads(work, range(50))
    assert len(begun) <= 3


@pytest.mark.usefixtures("two_threads")
def test_rates_are_prepared_in_the_callers_thread_before_they_are_looked_at():
    prepared, late = [], []

    def prepare(i, nodes):
        assert threading.current_thread() is threading.main_thread()
        prepared.append((i, len(nodes)))

    def score(i, j, nodes):
        if (i, len(nodes)) not in prepared:
            late.append((i, len(nodes)))
        return -((i - 4) ** 2) - (j - 3) ** 2

    W = scipy.sparse.csr_array((1200, 1200))
    assert search_on_subsamples(score, (7, 13), W, prepare=prepare) == (4, 3)
    assert not late and len(set(prepared)) == len(prepared)
    assert {n for _, n in prepared} == {500, 1000, 1200}


def test_embeddings_do_not_depend_on_threads(monkeypatch):
    i, j = np.random.default_rng(0).integers(400, size=(2, 900))
    W = scipy.sparse.csr_array((np.ones(900), (i, j)), shape=(400, 400))
    W.setdiag(0.0)
    W = scipy.sparse.csr_array(W + W.T)
    found = []
    for number in (1, 2):
        monkeypatch.setattr(threads, "_blas_threads", lambda number=number: number)
        V = node_embedding("diffusion", W, rank=100)
        found.append(V @ V.T)
    assert_allclose(*found, atol=1e-12)


@pytest.fixture
def blas(monkeypatch):
    """A BLAS with one number of threads for the whole process; what real ones do in other threads differs."""
    number = [4]

    class Limits:
        def __init__(self, limits, user_api):
            self.before, number[0] = number[0], limits

        def restore_original_limits(self):
            number[0] = self.before

    class Controller:
        limit = Limits

    monkeypatch.setattr(threads, "_controller", Controller)
    return number


def overlapping():
    """Two tasks in threads that stay: the first to begin is the first to end."""
    inside, begun, ended = threading.Event(), threading.Event(), threading.Event()

    def first():
        inside.set()
        assert begun.wait(10)

    def second():
        begun.set()
        assert ended.wait(10)

    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(_with_limited_threads, first, 10**6)
        assert inside.wait(10)
        other = pool.submit(_with_limited_threads, second, 10**6)
        one.result(10)
        yield  # the second alone
        ended.set()
        other.result(10)
        yield  # none


def test_the_number_of_threads_is_put_back_whatever_the_order(blas):
    pytest.importorskip("dask")
    assert [blas[0] for _ in overlapping()] == [1, 4]


def test_the_number_of_threads_of_the_blas_here_is_put_back():
    pytest.importorskip("dask")
    before = threadpool_limits(2, user_api="blas")
    try:
        release = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", lambda **_: None)
        release(force=True)  # this thread may have it, of other tests
        wanted = threads._blas_threads()
        assert [threads._blas_threads() for _ in overlapping()] == [1, wanted]
    finally:
        before.restore_original_limits()


def test_inner_limits_give_way_to_outer_ones(blas):
    with threads.limit_blas_threads(2):
        with threads.threads_for(10):
            assert blas == [1]
        assert blas == [2]
        with pytest.raises(ZeroDivisionError), threads.limit_blas_threads(1):
            assert 1 / 0
        with threads.threads_for(10_000), threads.limit_blas_threads(3):
            assert blas == [2]
    assert blas == [4]
