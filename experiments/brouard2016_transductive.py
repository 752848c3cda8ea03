"""Tables 6 and 7 of Brouard et al. 2016: links of a network of which 5, 10 or 20 % is known, and the time it takes.

The paper has 1242 proteins. The three networks of brouard2016_proteins.py, with their kernels, replace them: 150
yeast proteins, 347 friends of a Facebook user, the 400 papers of Cora with most citations. The protocol is that of
table 3 in brouard2016_networks.py: three quarters of the nodes for training, of which some are labelled, the others
for test; transductive are pairs of training nodes that are not both labelled, semi-supervised pairs of two test
nodes. Draws of nodes without a known link are omitted.

    python experiments/brouard2016_transductive.py --data FOLDER            it holds yeast_ppi/, facebook_ego/, cora/
    python experiments/brouard2016_transductive.py --data FOLDER --quick    2 draws

Prints the tables of docs/results/brouard2016.md, writes output/brouard2016_transductive.csv. Seconds are those of the
processor, for a fit with the selected settings and the scores of all pairs: set OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import itertools

import numpy as np
import scipy.sparse
from brouard2016_networks import METRICS, Network, known_links, picked, rows_of_network
from brouard2016_proteins import networks
from common import arguments, figures_of, progress, smaller, table, with_error, write_csv

SHARES = (0.05, 0.1, 0.2)
DRAWS, FEWEST = 10, 3  # draws, and how many with a known link a cell of the tables needs
SETTINGS = {"transductive": "transductive", "inductive": "semi-supervised"}
PAPER = {  # AUC-ROC, then AUC-PR, at 5, 10 and 20 %
    ("transductive", "EM"): ((82.2, 15.7), (82.9, 16.5), (84.6, 19.7)),
    ("transductive", "PKMR"): ((77.5, 6.1), (80.8, 9.8), (83.9, 13.8)),
    ("transductive", "ridge, penalty"): ((80.6, 7.1), (83.1, 11.7), (83.9, 17.8)),
    ("inductive", "ridge, penalty"): ((81.0, 6.6), (82.9, 10.5), (83.8, 16.0)),
}
PAPER_SECONDS = {"EM": (0.19, 0.19, 0.22), "PKMR": (0.16, 0.18, 0.19), "ridge, penalty": (1.61, 1.63, 1.76)}


def drawn(network, rep):
    """A network of brouard2016_proteins.py, nodes in random order; of a given kernel features with these products."""
    adjacency = scipy.sparse.csr_array(network.adjacency)
    if network.features is None:
        return Network(np.linalg.cholesky(network.K), adjacency, rep, kernel="linear")
    return Network(network.features, adjacency, rep)


def run(folder, draws):
    jobs = list(itertools.product(networks(folder), range(draws)))
    for (name, network), rep in progress(jobs, "tables 6 and 7"):
        yield from rows_of_network(name, drawn(network, rep), rep, SHARES)


def cell(values, digits=1):
    return with_error(values, digits) if len(values) >= FEWEST else ""


def table6(rows):
    lines = []
    methods, names = (list(dict.fromkeys(row[key] for row in rows)) for key in ("method", "network"))
    for name, (setting, label), method in itertools.product(names, SETTINGS.items(), methods):
        facts = {"network": name, "setting": setting, "method": method}
        cells = []
        for share in SHARES:
            areas = [cell(picked(rows, **facts, share=share, metric=metric)) for metric in METRICS]
            cells.append(" / ".join(areas) if all(areas) else "")
        lines.append([name, label, method, *cells])
    for (setting, method), figures in PAPER.items():
        lines.append(["paper", SETTINGS[setting], method, *(f"{roc} / {pr}" for roc, pr in figures)])
    return table(["network", "setting", "method", *(f"{100 * share:g} %: ROC / PR" for share in SHARES)], lines)


def table7(rows):
    lines = []
    for name, method in dict.fromkeys((row["network"], row["method"]) for row in rows):
        own = [row for row in rows if (row["network"], row["method"]) == (name, method)]
        seconds = [[row["seconds"] for row in own if row["share"] == share] for share in SHARES]
        lines.append([name, method, *(f"{np.mean(some):.3f}" if some else "" for some in seconds)])
    lines += [["paper", method, *seconds] for method, seconds in PAPER_SECONDS.items()]
    return table(["network", "method", *(f"{100 * share:g} %" for share in SHARES)], lines)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller("brouard2016_networks", ALPHAS=(1e-3, 1e-1)), smaller(__name__, SHARES=(0.4,)):
        return figures_of(main, ["value"], "network", "method", "setting", "metric", data=folder)


def main():
    given = arguments(__doc__, data="")
    rows = list(run(given.data, 2 if given.quick else DRAWS))
    write_csv("brouard2016_transductive" + "_quick" * given.quick, rows)
    print(known_links(rows), table6(rows), table7(rows), sep="\n\n")


if __name__ == "__main__":
    main()
