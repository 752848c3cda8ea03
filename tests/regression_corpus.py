"""The regression corpus: what small fits of all components gave, in ``regression_corpus.json``; also a program.

    python tests/regression_corpus.py                        print what differs from the file, write nothing
    python tests/regression_corpus.py --write                 write the file anew and print what changed
    python tests/regression_corpus.py --only 'losses/*'       some cases, by a glob
    python tests/regression_corpus.py --perturb 1e-15         with X and y changed by that relative amount

Cases are in ``helpers/corpus/``, one module a subject.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import sys
import time
from pathlib import Path

import numpy as np
from helpers.corpus import CASES

FILE = Path(__file__).with_suffix(".json")
_ROUNDING = 1e-14  # absolute difference of numbers that are zero up to rounding


def expected() -> dict[str, dict]:
    """{case: {field: value}} of the file."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def write(results):
    """Store results, one case a line, in the order of their names."""
    lines = (f"{json.dumps(name)}: {json.dumps(results[name])}" for name in sorted(results))
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def differences(old, new, rtol) -> list[tuple]:
    """(field, old, new, relative difference) of the fields of a case that differ by more than the tolerance.

    Values of a prediction are compared relative to the largest of them, other numbers relative to themselves.
    """
    found = []
    for name in sorted({*old, *new}):
        before, after = old.get(name, "-"), new.get(name, "-")
        distance = relative_difference(before, after)
        if distance > rtol:
            found.append((name, before, after, distance))
    return found


def relative_difference(old, new) -> float:
    """Largest difference of two values relative to the largest number of the old one; inf where kinds differ."""
    old, new = flat(old), flat(new)
    if len(old) != len(new):
        return math.inf
    numbers = [abs(a) for a in old if isinstance(a, (int, float)) and math.isfinite(a)]
    unit = max(numbers, default=0.0) or 1.0
    worst = 0.0
    for a, b in zip(old, new):
        if a == b or (a != a and b != b):
            continue
        if any(isinstance(value, (str, bool)) or value is None or not math.isfinite(value) for value in (a, b)):
            return math.inf
        if abs(a - b) > _ROUNDING:
            worst = max(worst, abs(a - b) / unit)
    return worst


def flat(value) -> list:
    """The entries of nested lists."""
    return [entry for item in value for entry in flat(item)] if isinstance(value, list) else [value]


def perturbed(size, seed=0):
    """A function that changes arrays of floats by a relative random amount and leaves all else alone."""

    def change(data):
        if not isinstance(data, np.ndarray) or data.dtype != np.float64:
            return data
        if np.array_equal(data, np.round(data), equal_nan=True):
            return data  # labels, links and ratings
        noise = np.random.default_rng(seed).uniform(-1, 1, data.shape)
        return data * (1 + size * (noise + noise.T if symmetric(data) else noise))

    return change


def symmetric(data):
    return data.ndim == 2 and data.shape[0] == data.shape[1] and np.array_equal(data, data.T, equal_nan=True)


def shown(old, new) -> str:
    """Both values, of lists of one length the entries that differ most."""
    before, after = flat(old), flat(new)
    if len(before) == len(after) > 1:
        worst = max(range(len(before)), key=lambda i: relative_difference(before[i], after[i]))
        return f"[{worst}] {short(before[worst])} -> {short(after[worst])}"
    return f"{short(old)} -> {short(new)}"


def short(value) -> str:
    text = f"{value:.10g}" if isinstance(value, float) else json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the file anew")
    parser.add_argument("--only", default="*", metavar="GLOB", help="names of cases")
    parser.add_argument("--perturb", type=float, default=0.0, metavar="SIZE", help="relative change of X and y")
    parser.add_argument("--times", action="store_true", help="print the slowest cases")
    given = parser.parse_args(arguments)
    if given.write and given.perturb:
        parser.error("--write and --perturb: the file is of unchanged data")
    old = expected()
    names = [name for name in sorted(CASES) if fnmatch.fnmatch(name, given.only)]
    results, times, changed = {}, {}, 0
    change = perturbed(given.perturb) if given.perturb else (lambda data: data)
    for name in names:
        start = time.perf_counter()
        try:
            results[name] = CASES[name].run(change)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
            results[name] = {"error": f"{type(error).__name__}: {error}"}
        times[name] = time.perf_counter() - start
        if name not in old:
            print(f"{name}: new")
            changed += 1
            continue
        found = differences(old[name], results[name], CASES[name].rtol)
        changed += bool(found)
        if found:
            print(name)
        for field, before, after, distance in found:
            print(f"    {field}: {shown(before, after)} ({distance:.1e})")
        if not found:  # what is within the tolerance stays as it is, so that the file shows real changes alone
            results[name] = old[name]
    gone = sorted(set(old) - set(CASES))
    for name in gone:
        print(f"{name}: gone")
    print(f"{len(names)} cases, {changed} changed, {len(gone)} gone, {sum(times.values()):.0f} s")
    if given.times:
        for name in sorted(times, key=times.get, reverse=True)[:25]:
            print(f"{times[name]:8.2f} s  {name}")
    if given.write:
        failed = [name for name in names if "error" in results[name]]
        if failed:
            sys.exit(f"nothing was written: {len(failed)} cases fail")
        kept = {name: old[name] for name in old if name in CASES and name not in results}
        write({**kept, **results})
    elif changed or gone:
        sys.exit(1)


if __name__ == "__main__":
    main()
