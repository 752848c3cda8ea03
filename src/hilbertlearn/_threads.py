"""How many threads products and factors of matrices take."""

from contextlib import nullcontext

from threadpoolctl import threadpool_limits

_SMALL = 600  # rows of a square matrix up to which one thread is as fast as two


def threads_for(n):
    """A context in which matrices (n, n) are worked on: with one thread where they are small.

    numpy and scipy each bring a BLAS with threads of its own. Where the two take turns by the millisecond, threads of
    one that wait keep those of the other from running: small fits are several times slower with two than with one.
    """
    return threadpool_limits(1, user_api="blas") if n <= _SMALL else nullcontext()
