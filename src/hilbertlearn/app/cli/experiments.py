"""The experiments of the repository: a list, and a function that runs one of them from a clone."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from ..tabular import TableError


@dataclass(frozen=True)
class Experiment:
    """A script of ``experiments/``.

    paper : its source, "" for experiments that are not from a paper
    shows : its subject, with results of the paper
    data : the data sets that it reads, "" for none
    minutes : duration with one thread, None if unknown
    """

    name: str
    paper: str
    shows: str
    data: str
    minutes: float | None

    @property
    def row(self):
        return self.name, self.shows, self.data, "" if self.minutes is None else f"{self.minutes:g}"

    @property
    def facts(self):
        return asdict(self)


_LAMBERT, _BOUCHE, _LAFORGUE = "Lambert et al. 2022", "Bouche et al. 2021", "Laforgue et al. 2020"
_STANDARD_ERROR = 2  # file descriptor
_CILIBERTO, _BROUARD = "Ciliberto et al. 2016", "Brouard et al. 2016"
_NETWORKS = "yeast_ppi, facebook_ego, cora"

EXPERIMENTS = [
    Experiment("lambert2022_figure1", _LAMBERT, "figure 1, insensitive losses: error against sparsity", "", 0.5),
    Experiment(
        "lambert2022_figure2", _LAMBERT, "figure 2, outliers: Huber losses hold where the squared one fails", "", 27
    ),
    Experiment("lambert2022_figure4", _LAMBERT, "figure 4, error of Huber losses over alpha and kappa", "", 1),
    Experiment("lambert2022_figure5", _LAMBERT, "figure 5, p = 2 for wrong curves, p = 1 for wrong points", "", 11),
    Experiment("lambert2022_dti", _LAMBERT, "table 2, DTI at alpha 1e-5: squared 0.250, Huber 0.221", "dti", 2),
    Experiment(
        "lambert2022_speech", _LAMBERT, "tables 3 and 4, TTCL with outliers: squared 15.06, Huber 9.48", "speech_vt", 15
    ),
    Experiment("bouche2021_figure1", _BOUCHE, "figure 1, error against noise", "", 1),
    Experiment("bouche2021_figure2", _BOUCHE, "figure 2, error against missing values", "", 10),
    Experiment("bouche2021_dti", _BOUCHE, "table 1, DTI: KPL 0.233, FKRR 0.238, KAM 0.242, KE 0.251", "dti", 12),
    Experiment("bouche2021_speech", _BOUCHE, "table 2, speech, average: KPL 6.14, FKRR 6.14, KE 13.29", "speech_vt", 8),
    Experiment("laforgue2020_lip", _LAFORGUE, "figure 8, Huber against four outliers in lip curves", "lip_emg", 4),
    Experiment(
        "laforgue2020_yeast",
        _LAFORGUE,
        "figures 3, 4, 6, 12 to 14, label sets with robust losses",
        "yeast_multilabel",
        10,
    ),
    Experiment(
        "laforgue2020_metabolites",
        _LAFORGUE,
        "table 1, molecules, top 1 in %: ridge 35.7, robust 37.1 and 38.3 (other data here)",
        "metabolite_fp490, metabolite_candidates",
        7,
    ),
    Experiment(
        "laforgue2020_autoencoder", _LAFORGUE, "figure 7, a kernel autoencoder (other data here)", "nci60_drugs", 55
    ),
    Experiment(
        "ciliberto2016_figure1", _CILIBERTO, "figure 1, outliers, n = 1000: loss trick 0.07, ridge 0.19", "", 10
    ),
    Experiment("ciliberto2016_usps", _CILIBERTO, "table 2, half digits, recognition loss: 0.193, KDE 0.294", "usps", 5),
    Experiment("ciliberto2016_movielens", _CILIBERTO, "table 1, rankings of movies: 0.396, linear 0.430", "ml-100k", 5),
    Experiment(
        "brouard2016_synthetic",
        _BROUARD,
        "tables 8, 9, figures 3, 4, 8, links of random networks: AUC 82 to 98 %",
        "",
        25,
    ),
    Experiment(
        "brouard2016_networks",
        _BROUARD,
        "table 3, figure 5, co-authors at 20 %: AUC 96.5 / 43.7",
        "nips_coauthorship, cora",
        7,
    ),
    Experiment(
        "brouard2016_proteins",
        _BROUARD,
        "tables 4 and 5, links of new proteins: AUC 91.2 (other data here)",
        _NETWORKS,
        6,
    ),
    Experiment(
        "brouard2016_transductive", _BROUARD, "tables 6 and 7, links of known proteins (other data here)", _NETWORKS, 2
    ),
    Experiment("brouard2016_drugs", _BROUARD, "figures 6 and 7, related tasks (other data here)", "nci60_drugs", 4),
    Experiment("no_tuning", "", "defaults beside KernelRidge with GridSearchCV", "", 1),
    Experiment("defaults", "", "defaults beside tuned peers on all data sets", "all of them", None),
    Experiment("outliers", "", "which curves are corrupted, and where", "", 2),
    Experiment(
        "networks", "", "links of seven networks beside heuristics", "facebook_ego, cora, nips_coauthorship", 30
    ),
    Experiment("conformal_coverage", "", "coverage of intervals, regions and bands", "", None),
    Experiment("coverage_small", "", "coverage with 20 to 300 samples, settings selected", "", 60),
    Experiment("coverage_tables", "", "intervals on small tables beside MAPIE", "multi_target, small_tables", 8),
    Experiment("bands", "", "widths of bands beside split conformal", "dti, speech_vt", 25),
    Experiment(
        "candidate_sets",
        "",
        "sets of molecules, rankings and label sets",
        "metabolite_*, label_ranking, yeast_multilabel, multi_label",
        5,
    ),
    Experiment("quantiles", "", "quantiles beside scikit-learn's", "multi_target", None),
    Experiment("quantiles_small", "", "quantiles of few samples", "multi_target, small_tables", 1),
    Experiment("small_tables", "", "tables of 12 to 111 samples beside ridge regression", "small_tables", 5),
    Experiment("learnt_metrics", "", "learnt metrics beside models without them and boosting", "", 6),
    Experiment("landmarks", "", "landmarks beside the exact fit", "label_ranking, multi_label", 30),
    Experiment("scaling", "", "how time grows with the number of samples", "", 5),
]


def run_experiment(name, data=None, quick=False, to_stderr=False):
    """Run a script of a clone; returns its path and the seconds it took.

    to_stderr : whether its output goes to standard error
    """
    by_name = {experiment.name: experiment for experiment in EXPERIMENTS}
    if name not in by_name:
        raise TableError(f"there is no experiment {name!r}; hilbertlearn reproduce --list shows them")
    script = folder() / f"{name}.py"
    options = ["--quick"] if quick else []
    if by_name[name].data:
        if data is None:
            raise TableError(f"{name} reads data: give the folder that holds {by_name[name].data} by --data FOLDER")
        if not data.is_dir():
            raise TableError(f"--data {data}: there is no such folder")
        options += ["--data", str(data.resolve())]
    start = time.perf_counter()
    process = subprocess.run(
        [sys.executable, str(script), *options], stdout=_STANDARD_ERROR if to_stderr else None, check=False
    )
    if process.returncode:
        raise RuntimeError(f"{name} ended with exit code {process.returncode}")
    return script, time.perf_counter() - start


def folder():
    """The folder of the scripts: beside the package in a clone, or below the current folder."""
    for root in (Path(__file__).parents[4], Path.cwd()):
        if (root / "experiments" / "common.py").is_file():
            return root / "experiments"
    raise TableError("experiments are not part of the installed package; run this in a clone of the repository")
