"""Shared by the experiments: arguments, progress bar, CSV files, tables, and runs of a small part."""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np

from hilbertlearn._utils.progress import Progress

OUTPUT = Path(__file__).parent / "output"
DATA = "HILBERTLEARN_DATA"
DPI = 120
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
    figure.savefig(part, format="png", dpi=DPI, bbox_inches="tight")
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


def smaller(module, **constants):
    """A context in which constants of a module, given by its name, have other values."""
    return mock.patch.multiple(sys.modules[module], **constants)


def figures_of(main, values, *keys, data=None, options=()):
    """Figures of a run with ``--quick``: means of columns of the files that ``main`` writes, by names.

    Parameters
    ----------
    main : the function of the experiment, which reads its arguments, prints tables, and draws
    values : columns with the figures
    keys : columns whose values tell figures apart, and go into their names
    data : the folder of its data, where it reads any
    options : further arguments
    """
    arguments = [main.__module__, "--quick", *options]
    arguments += [] if data is None else ["--data", str(data)]
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.multiple(sys.modules["common"], OUTPUT=Path(folder), DPI=20),
        mock.patch.object(sys, "argv", arguments),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        main()
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")
        rows = [{"file": path.stem, **row} for path in sorted(Path(folder).iterdir()) for row in read_rows(path)]
    return means(rows, values, ("file", *keys))


def read_rows(path):
    """The dictionaries of a CSV or JSON file, none of other files."""
    if path.suffix == ".json":
        return json.loads(path.read_text())
    if path.suffix != ".csv":
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def means(rows, values, keys):
    """Mean of each column of values over the rows with the same keys; where a row has none it does not count."""
    found = {}
    for row in rows:
        names = [str(row[key]) for key in keys if row.get(key, "") != ""]
        for value in values:
            if row.get(value, "") != "":
                found.setdefault(": ".join([names[0], ", ".join([*names[1:], value])]), []).append(float(row[value]))
    return {name: float(np.mean(numbers)) for name, numbers in found.items()}
