"""Estimators with default settings, compared with tuned alternatives: real tables, outliers, the papers' data.

- multi_target: ``OperatorKernelRegressor()`` on eight tables of several outputs. Inputs are standardised, their gaps
  imputed by training means, nominal inputs encoded as integers. Error: root mean squared error over that of the
  training mean, averaged over outputs (aRRMSE).
- label_ranking: ``StructuredPredictor(output_loss="kendall")`` on five tables. Score: Kendall's tau.
- multi_label: ``StructuredPredictor(output_loss="f1")`` on three tables, trained on the distributed training part and
  on three random two thirds of it. Inputs of zeros and ones are not changed. Score: F1 by sample.
- robust: ``loss="huber"``, all other settings selected from the data. In five tables 10 % of the training rows have
  10 standard deviations added to each output, of random sign; aRRMSE on clean rows. In the curves of Lambert et al.
  2022, without noise and with noise of deviation 0.5, 10 % of the training curves are wrong (intensity 3), or 10 % of
  the points of every curve (``losses.Huber(p=1)``); NMSE on clean curves. The alternative is the best in hindsight,
  on the test data, of 9 alphas, 8 gammas and 7 kappas.
- papers: ``FunctionalRegressor()`` compared with the methods of ``bouche2021_dti.py``, ``bouche2021_speech.py``,
  ``lambert2022_dti.py`` and ``laforgue2020_lip.py``, on their splits and by their errors: "paper" is the paper's own
  method (KPL; the squared and the Huber loss at alpha = 1e-3; the squared loss, and the Huber loss at the kappa that
  is best in hindsight, m = 16), "best" the method of the script with the least error on average.

Alternatives of the first three parts: ``KernelRidge`` by ``GridSearchCV``, 5 folds over 6 alphas from 1e-6 to 10 and
6 gammas from 1e-3 to 100 over the number of inputs, by the part's score (multi_target: squared error of standardised
outputs); outputs are standardised, ranks and labels centred. 200 extra trees with scikit-learn's defaults. Predicted
labels have a value of at least 0.5, or of at least ("threshold") the value with the best cross-validated F1, for
KernelRidge together with alpha and gamma. Test sets are random thirds, seeds 0, 1 and 2.

    python experiments/defaults.py --data FOLDER                          all parts
    python experiments/defaults.py --data FOLDER --part label_ranking     one of them
    python experiments/defaults.py --data FOLDER --also gamma=median      one more column of ours, or several
    python experiments/defaults.py --data FOLDER --quick                  2 splits, few tables, coarse grids

FOLDER holds multi_target/, label_ranking/, multi_label/, dti/, speech_vt/ and lip_emg/. Results of the alternatives
are stored in the folder of ``--cache``, so that only our estimators run again; delete it if an alternative changes.
Prints one table per part and writes it to output/defaults_PART.md, and one entry per fit to
output/defaults_PART.json.
"""

import argparse
import json
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import common
import numpy as np
from common import DATA, figures_of, progress, smaller, table, with_error
from defaults_curves import papers, robust
from defaults_tables import label_ranking, multi_label, multi_target
from scipy.stats import gmean
from sklearn.base import clone

from hilbertlearn import kernels, losses, operators, spaces

PARTS = {"multi_target": multi_target, "label_ranking": label_ranking, "multi_label": multi_label, "robust": robust}
AGAINST = {"multi_label": "KernelRidge, threshold", "robust": "best in hindsight", "papers": "paper"}  # ratios are to
ROOMS = {"kernel": kernels, "operator": operators, "space": spaces, "loss": losses}  # where settings have objects
OURS = "default"
SMALL = {  # constants of the scripts behind the parts for a small piece
    "lambert2022_dti": {"N_TRAIN": 16, "ALPHAS": (1e-3,)},
    "bouche2021_dti": {"N_TRAIN": 16},
    "bouche2021_speech": {"N_TRAIN": 16},
    "laforgue2020_lip": {"CLEAN": 2, "OUTLIERS": 1, "ALPHAS": np.geomspace(1e-8, 1e1, 7)},
    "defaults_tables": {"TABLES": ("slump",), "RANKINGS": ("iris",), "SETS": ("birds",), "QUICK_SPLITS": 1},
    "defaults_curves": {"N_TRAIN": 20, "NOISES": (0.5,), "SPOILT": ("slump",), "QUICK_SPLITS": 1},
}


class Cache:
    """Results of peers by name in a JSON file, for they do not change with our code; written after each."""

    def __init__(self, path):
        self.path = path
        self.found = json.loads(path.read_text()) if path.exists() else {}

    def __call__(self, key, make):
        """What is known under the key, or else what make() returns."""
        if key not in self.found:
            self.found[key] = make()
            write(self.path, json.dumps(self.found, indent=1))
        return self.found[key]


def write(path, text):
    """Write a file, all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(text)
    os.replace(part, path)


def run(cases, also, cache, label):
    """One dictionary for each case and method."""
    for case in progress(cases, label):
        for name, settings in {OURS: {}, **also}.items():
            found = ours(case, settings, name)
            if found is not None:
                yield {"data": case.data, "split": case.split, "method": name, **found}
        for name, peer in case.peers.items():
            found = cache(f"{case.data} / {case.split} / {name}", peer)
            yield {"data": case.data, "split": case.split, "method": name, **found}


def ours(case, settings, name):
    """What our model gives with further settings; None, and a word, if these are not for this estimator."""
    try:
        return case.measure(clone(case.model).set_params(**settings))
    except (TypeError, ValueError) as error:
        if not settings:
            raise
        if case.split == 0:
            print(f"\n{name} is left out for {case.data}: {error}", file=sys.stderr)


def settings_of(text):
    """Settings from "name=value,name=value"; values are numbers, objects such as MetricKernel, or words."""
    return {name: value_of(name, value) for name, value in (pair.split("=") for pair in text.split(","))}


def value_of(name, value):
    made = getattr(ROOMS.get(name), value, None)
    if isinstance(made, type):
        return made()
    try:
        return float(value)
    except ValueError:
        return value


def report(rows, against):
    """A table of scores, with the ratio of ours to the peer ``against`` and seconds (processor time) of both."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    names = list(dict.fromkeys(row["data"] for row in rows))
    scores, seconds = ({name: by_method(rows, name, key) for name in names} for key in ("score", "seconds"))
    lines, ratios = [], {method: [] for method in methods}
    for name in names:
        means = {method: np.mean(values) for method, values in scores[name].items()}
        for method, mean in means.items():
            ratios[method].append(mean / means[against])
        cells = [cell(scores[name].get(method)) for method in methods]
        times = " / ".join(f"{np.median(seconds[name][m]):.2g}" for m in (OURS, against) if m in seconds[name])
        lines.append([name, *cells, f"{means[OURS] / means[against]:.3f}", times])
    for title, mean in (("mean ratio", np.mean), ("geometric mean", gmean)):  # one bad table may rule the first
        lines.append([title, *(f"{mean(ratios[method]):.3f}" for method in methods), "", ""])
    return table(["data", *methods, f"ratio to {against}", "seconds"], lines)


def by_method(rows, name, key):
    """Values of one key for each method that has them on the data called name."""
    found = {}
    for row in rows:
        if row["data"] == name and key in row:
            found.setdefault(row["method"], []).append(row[key])
    return found


def cell(values):
    """Mean and standard error, with digits for the size of the numbers."""
    if values is None:
        return ""
    digits = max(3, 2 - int(np.floor(np.log10(np.abs(np.mean(values))))))
    return with_error(values, digits) if len(values) > 1 else f"{values[0]:.{digits}f}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get(DATA), help=f"folder that holds the data (or set {DATA})")
    parser.add_argument("--part", choices=[*PARTS, "papers", "all"], default="all")
    parser.add_argument(
        "--also", action="append", default=[], help="settings of one more column: name=value,name=value"
    )
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "defaults_cache")
    parser.add_argument("--quick", action="store_true", help="2 splits, few tables, coarse grids")
    options = parser.parse_args()
    if options.data is None:
        parser.error(f"--data is missing: give the folder that holds the data, or set {DATA}")
    return options


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with tempfile.TemporaryDirectory() as cache, ExitStack() as stack:
        for name, constants in SMALL.items():
            stack.enter_context(smaller(name, **constants))
        return figures_of(main, ["score"], "data", "method", data=folder, options=["--cache", cache])


def main():
    options = arguments()
    also = {text: settings_of(text) for text in options.also}
    for part in [*PARTS, "papers"] if options.part == "all" else [options.part]:
        name = part + "_quick" * options.quick
        cache = Cache(options.cache / f"{name}.json")
        folder = Path(options.data)
        cases = papers(folder, options.quick, cache) if part == "papers" else PARTS[part](folder, options.quick)
        rows = list(run(cases, also, cache, part))
        text = report(rows, AGAINST.get(part, "KernelRidge"))
        write(common.OUTPUT / f"defaults_{name}.json", json.dumps(rows, indent=1))
        write(common.OUTPUT / f"defaults_{name}.md", text + "\n")
        print(f"\n{part}\n\n{text}")


if __name__ == "__main__":
    main()
