"""Best-of-several timings of two things side by side."""

from __future__ import annotations

import json
import time

REPEATS = 5


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
