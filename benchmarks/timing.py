"""Timings of two computations, the best of several runs."""

from __future__ import annotations

import ctypes
import json
import sys
import time

REPEATS = 5
_MMAP_MAX, _TRIM_THRESHOLD = -4, -1  # of glibc's mallopt


def keep_memory():
    """Freed memory stays with the process: virtual machines may take seconds to hand out hundreds of megabytes again,
    to whichever of two comes after a pause."""
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        libc.mallopt(_MMAP_MAX, 0)
        libc.mallopt(_TRIM_THRESHOLD, 2**31 - 1)


keep_memory()


def seconds(function):
    """Wall time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def best_of(*functions, repeats=REPEATS):
    """Best time of each function, run in turn so that a busy machine slows all of them alike."""
    times = [[seconds(f) for f in functions] for _ in range(repeats)]
    return [min(column) for column in zip(*times, strict=True)]


def report(name, reference, **figures):
    """Print one line of JSON."""
    rounded = {k: float(f"{v:.3g}") if isinstance(v, float) else v for k, v in figures.items()}
    print(json.dumps({"benchmark": name, "reference": reference, **rounded}), flush=True)
