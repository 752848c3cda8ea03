"""``python -m experiments [name ...]``: run all experiments, or the named ones; ``--quick`` for a small part of each.

    python -m experiments --data FOLDER            all of them, as in the results pages; hours
    python -m experiments --quick                  a small part of each, under a minute; prints its figures
    python -m experiments --quick --data FOLDER    the same on real data, if they are in FOLDER
    python -m experiments --list                   their names

The small part of an experiment is its function ``quick(folder)``: its ``main`` with few samples and short grids. Data
sets that are not in FOLDER are generated (``standins.py``), so the figures do not evaluate methods; they are
regression tests of the experiments (``tests/experiments_quick.json``).
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
sys.path.insert(0, str(Path(__file__).parent))  # scripts import each other by their plain names

from common import table
from standins import folder_of_data

from hilbertlearn.app.cli.experiments import EXPERIMENTS, run_experiment

NAMES = [one.name for one in EXPERIMENTS]


def quick(name, folder):
    """Figures {name: number} of a small piece of an experiment, on the data of a folder."""
    return importlib.import_module(name).quick(folder)


def main():
    parser = argparse.ArgumentParser(prog="python -m experiments", description="Run the experiments of the papers.")
    parser.add_argument("names", nargs="*", metavar="name", help="all if none is given")
    parser.add_argument("--quick", action="store_true", help="a small piece of each")
    parser.add_argument("--data", type=Path, default=os.environ.get("HILBERTLEARN_DATA"), help="folder of real data")
    parser.add_argument("--json", type=Path, help="file to write the figures of --quick to")
    parser.add_argument("--list", action="store_true", help="print the names")
    given = parser.parse_args()
    unknown = sorted(set(given.names) - set(NAMES))
    if unknown:
        parser.error(f"unknown experiment {', '.join(unknown)}; known: {', '.join(NAMES)}")
    if given.list:
        print(*NAMES, sep="\n")
    elif given.quick:
        found = figures(given.names or NAMES, given.data)
        if given.json:
            given.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    else:
        for name in given.names or NAMES:
            run_experiment(name, given.data)


def figures(names, data):
    """Print the figures of small pieces, and return them by experiment, with five digits."""
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        folder_of_data(Path(folder), None if data is None else Path(data))
        for name in names:
            start = time.perf_counter()
            out[name] = {figure: float(f"{value:.5g}") for figure, value in quick(name, Path(folder)).items()}
            print(f"\n{name}, {time.perf_counter() - start:.1f} s\n")
            print(table(["figure", "value"], out[name].items()), flush=True)
    return out


if __name__ == "__main__":
    main()
