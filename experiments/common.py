"""What the experiments share: arguments, a progress bar, a CSV file written at once, tables with standard errors."""

from __future__ import annotations

import argparse
import csv
import os
import sys
from pathlib import Path

import numpy as np

from hilbertlearn._progress import Progress

OUTPUT = Path(__file__).parent / "output"
DATA = "HILBERTLEARN_DATA"


ALONE = {"similarities": None, "cosine": False}  # of ``LinkPredictor``: scores of h alone, as in Brouard et al. 2016


def arguments(doc, *, data=None, **options):
    """Parsed arguments: ``--quick``, ``--data`` when the folder ``data`` of real data is needed, numbers by name."""
    parser = argparse.ArgumentParser(description=doc.strip().splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and a thinner grid, under a minute")
    if data is not None:
        parser.add_argument("--data", default=os.environ.get(DATA), help=f"folder that holds {data}/ (or set {DATA})")
    for name, default in options.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"default {default}")
    parsed = parser.parse_args()
    if data is not None:
        if parsed.data is None:
            parser.error(f"--data is missing: give the folder that holds {data}/, or set {DATA}")
        parsed.data = Path(parsed.data) / data
    return parsed


def progress(items, label):
    """Iterate over items with a bar on the terminal, the one of the package."""
    items = list(items)
    with Progress(Path(sys.argv[0]).stem, verbose=1).task(label.strip(), "case", len(items)) as task:
        for item in items:
            yield item
            task.step()


def write_csv(name, rows):
    """Write dictionaries to output/name.csv, all or nothing."""
    OUTPUT.mkdir(exist_ok=True)
    path = OUTPUT / f"{name}.csv"
    part = path.with_suffix(".part")
    with part.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)))
        writer.writeheader()
        writer.writerows(rows)
    os.replace(part, path)
    print(f"wrote {path}", file=sys.stderr)


def save_figure(figure, name):
    """Write a matplotlib figure to output/name.png, all or nothing."""
    OUTPUT.mkdir(exist_ok=True)
    path = OUTPUT / f"{name}.png"
    part = path.with_suffix(".part")
    figure.savefig(part, format="png", dpi=120, bbox_inches="tight")
    os.replace(part, path)
    print(f"wrote {path}", file=sys.stderr)


def with_error(values, digits=3):
    """Mean and its standard error."""
    values = np.asarray(values, dtype=float)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{values.mean():.{digits}f} ± {error:.{digits}f}"


def table(header, rows):
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
