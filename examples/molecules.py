"""Molecules: properties from fingerprints, and retrieval of a molecule from noisy measurements, with rdkit.

Properties: seven that rdkit computes (logP, polar surface, ...) for molecules of the NCI's collection, from the bits
of their Morgan fingerprints; and one that was measured, the activity of compounds of one series against their target
(ChEMBL 2321810). Both lists are included in rdkit. The seven are functions of the structure; the error comes from
bits shared by several substructures, and from the small number of molecules.

Retrieval: a molecule is to be found from its noisy descriptors among the 50 molecules of nearest weight. Models learn
to predict fingerprints from descriptors, and rank the candidates by their predictions. The last line needs no
learning: it computes the descriptors of every candidate, which is possible only if there is a formula for the
measurements, as here; it is the upper limit under the noise.

Prints tables, means over splits with standard errors, and writes molecules.png beside this file. Needs rdkit.
"""

import os
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from rdkit import Chem, RDConfig, RDLogger
from rdkit.Chem import QED, Crippen, Descriptors, rdFingerprintGenerator
from rdkit.Chem import rdMolDescriptors as rd
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor

from hilbertlearn import OperatorKernelRegressor, StructuredPredictor, kernels

PICTURE = Path(__file__).with_name("molecules.png")
NCI = Path(RDConfig.RDDataDir) / "NCI" / "first_5K.smi"
SERIES = Path(RDConfig.RDContribDir) / "FreeWilson" / "data" / "CHEMBL2321810"
SPLITS, TRAIN, TEST, BITS = 3, 250, 300, 512
NOISE, CANDIDATES, QUERIES = 0.2, 50, 150
MORGAN = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=BITS)
COOL, COLOURS = "#00798c", ["#00798c", "#d1495b", "#edae49", "#30638e", "#8d6a9f", "0.3"]
PROPERTIES = {
    "logP": Crippen.MolLogP,
    "refractivity": Crippen.MolMR,
    "polar area": rd.CalcTPSA,
    "donors": rd.CalcNumHBD,
    "rotatable": rd.CalcNumRotatableBonds,
    "rings": rd.CalcNumRings,
    "QED": QED.qed,
}
MEASURED = [
    *PROPERTIES.values(), rd.CalcFractionCSP3, rd.CalcNumHBA, rd.CalcLabuteASA, rd.CalcNumAromaticRings,
    rd.CalcKappa3, rd.CalcHallKierAlpha, rd.CalcChi1v, rd.CalcChi4v, Descriptors.BalabanJ, Descriptors.BertzCT,
]  # fmt: skip


# ---------------------------------------------------------------- data


def read(path, n=None, seed=0):
    """Molecules of a file of SMILES, n of them drawn, no salts and nothing tiny, and their names.

    Of molecules with the same fingerprint, stereoisomers above all, there is one: none is in training and test.
    """
    pairs = [line.split()[:2] for line in path.read_text().splitlines()]
    found = {}
    for i in np.random.default_rng(seed).permutation(len(pairs)):
        molecule = Chem.MolFromSmiles(pairs[i][0])
        if molecule is not None and molecule.GetNumBonds() >= 3 and len(Chem.GetMolFrags(molecule)) == 1:
            found.setdefault(fingerprints([molecule]).tobytes(), (molecule, pairs[i][1]))
        if len(found) == n:
            break
    return tuple(zip(*found.values(), strict=True))


def fingerprints(molecules):
    return np.array([MORGAN.GetFingerprintAsNumPy(molecule) for molecule in molecules])


def values_of(functions, molecules):
    return np.array([[function(molecule) for function in functions] for molecule in molecules], dtype=float)


def series():
    """Fingerprints (n, bits) and measured activities (n,) of one series of compounds."""
    molecules, names = read(SERIES.with_suffix(".smi"))
    rows = Path(f"{SERIES}_act.csv").read_text().split()[1:]
    activity = dict(row.split(",") for row in rows)
    return fingerprints(molecules), np.array([float(activity[name]) for name in names])


def splits(n, n_train, n_test):
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(n)
        yield order[:n_train], order[n_train : n_train + n_test]


# ---------------------------------------------------------------- properties


def regressors():
    return {
        "OperatorKernelRegressor()": OperatorKernelRegressor(),
        "  kernel='tanimoto'": OperatorKernelRegressor("tanimoto"),
        "RidgeCV": RidgeCV(np.geomspace(1e-1, 1e4, 16)),
        "ExtraTrees": ExtraTreesRegressor(100, max_features=0.3, random_state=0),
        "5 nearest neighbours, Jaccard": KNeighborsRegressor(5, metric="jaccard", weights="distance"),
    }


def properties(X, Y):
    """Test R2 of each output and seconds, for each regressor (splits, outputs + 1)."""
    found = {name: [] for name in regressors()}
    for train, test in splits(len(X), TRAIN, TEST):
        for name, model in regressors().items():
            bits = X.astype(bool) if "Jaccard" in name else X.astype(float)
            start = time.perf_counter()
            predicted = model.fit(bits[train], Y[train]).predict(bits[test])
            seconds = time.perf_counter() - start
            found[name].append([*np.atleast_1d(r2_score(Y[test], predicted, multioutput="raw_values")), seconds])
    return {name: np.array(rows) for name, rows in found.items()}


# ---------------------------------------------------------------- retrieval


def ranked(scores):
    """Positions of candidates (queries, candidates), best first."""
    return np.argsort(-scores, axis=1, kind="stable")


def by_tanimoto(predicted, F, lists):
    """Candidates ranked by their similarity to predicted fingerprints (queries, bits), bits or shares of bits."""
    alike = [kernels.Tanimoto()(row[None], F[own])[0] for row, own in zip(predicted, lists, strict=True)]
    return ranked(np.array(alike))


def ours(D, F, lists):
    def ranks(train, queries, seen):
        model = StructuredPredictor(output_kernel="tanimoto").fit(D[train], F[train])
        own = [F[rows] for rows in lists[queries]]
        _, _, places = model.predict_topk(seen, CANDIDATES, candidates_per_query=own, return_indices=True)
        return np.array(places)

    return ranks


def rankers(D, F, lists):
    """Functions of training rows, queries and their measurements -> ranks of their candidates, best first."""

    def of_regressor(model):
        def ranks(train, queries, seen):
            return by_tanimoto(model().fit(D[train], F[train]).predict(seen), F, lists[queries])

        return ranks

    def by_formula(train, queries, seen):
        return ranked(-((seen[:, None] - D[lists[queries]]) ** 2).sum(axis=2))

    return {
        "StructuredPredictor, tanimoto": ours(D, F, lists),
        "ExtraTrees on bits": of_regressor(lambda: ExtraTreesRegressor(50, random_state=0)),
        "RidgeCV on bits": of_regressor(lambda: RidgeCV(np.geomspace(1e-2, 1e4, 19))),
        "5 nearest neighbours": of_regressor(lambda: KNeighborsRegressor(5, weights="distance")),
        "nearest neighbour": of_regressor(lambda: KNeighborsRegressor(1)),
        "(candidates' own descriptors)": by_formula,
    }


def retrieval(F, D, weight):
    """Top-1 and top-5 accuracies and seconds of each method (splits, 3), and the ranks of the truth in all splits.

    F : fingerprints, D : descriptors, weight : by which candidates are chosen
    """
    D = (D - D.mean(axis=0)) / D.std(axis=0)
    lists = np.argsort(abs(weight[:, None] - weight), axis=1, kind="stable")[:, :CANDIDATES]
    lists = np.random.default_rng(0).permuted(lists, axis=1)  # random position of the true molecule
    found, positions = {}, {}
    for seed, (train, queries) in enumerate(splits(len(D), TRAIN, QUERIES)):
        seen = D[queries] + NOISE * np.random.default_rng(seed).normal(size=D[queries].shape)
        for name, ranks in rankers(D, F, lists).items():
            start = time.perf_counter()
            order = ranks(train, queries, seen)
            seconds = time.perf_counter() - start
            place = (np.take_along_axis(lists[queries], order, axis=1) == queries[:, None]).argmax(axis=1)
            found.setdefault(name, []).append([np.mean(place < 1), np.mean(place < 5), seconds])
            positions.setdefault(name, []).append(place)
    return {name: np.array(rows) for name, rows in found.items()}, {k: np.concatenate(v) for k, v in positions.items()}


# ---------------------------------------------------------------- tables and picture


def with_error(values):
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}"


def table(title, columns, found):
    """Print {name: (splits, columns + 1)}, the last being seconds."""
    print(f"\n{title:36}" + "".join(f"{column:>17}" for column in columns) + f"{'seconds':>9}")
    for name, rows in found.items():
        print(f"{name:36}" + "".join(f"{with_error(v):>17}" for v in rows.T[:-1]) + f"{rows[:, -1].mean():9.2f}")


def draw(computed, measured, positions):
    figure, axes = plt.subplots(1, 2, figsize=(14, 4.4), layout="constrained", width_ratios=[1.4, 1])
    columns = [*PROPERTIES, "mean", "activity"]
    for k, (name, rows) in enumerate(computed.items()):
        every = np.column_stack([rows[:, :-1], rows[:, :-1].mean(axis=1), measured[name][:, 0]])
        style = {"color": COOL, "mfc": COOL if k else "white"} if k < 2 else {"color": str(0.15 * k)}
        at, errors = np.arange(len(columns)) + 0.13 * (k - 2), every.std(axis=0, ddof=1) / np.sqrt(len(every))
        axes[0].errorbar(at, every.mean(axis=0), errors, fmt="oo^sD"[k], ms=5, lw=1, label=name.strip(), **style)
    axes[0].axvline(len(PROPERTIES) + 0.5, color="0.85")
    axes[0].set_xticks(range(len(columns)), columns, rotation=25, ha="right")
    axes[0].set_ylabel("held-out R2")
    axes[0].set_title("Properties from fingerprints: computed, and one measured", fontsize=10)
    for k, (name, place) in enumerate(positions.items()):
        share, style = [np.mean(place < rank) for rank in range(1, 21)], "--" if name.startswith("(") else "-"
        axes[1].plot(range(1, 21), share, style, color=COLOURS[k], lw=1.2 + (not k), label=name)
    axes[1].plot([1, 20], [1 / CANDIDATES, 20 / CANDIDATES], ":", color="0.6", label="chance")
    axes[1].set(xlabel=f"first k of {CANDIDATES} candidates of similar weight", ylabel="share with the true molecule")
    axes[1].set_title("Which molecule was measured?", fontsize=10)
    axes[1].set_xticks([1, 5, 10, 15, 20])
    axes[0].legend(frameon=False, fontsize=8)
    axes[1].legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    part = PICTURE.with_suffix(".part")
    figure.savefig(part, format="png", dpi=120)
    os.replace(part, PICTURE)
    print(f"\nwrote {PICTURE.name}")


def main():
    RDLogger.DisableLog("rdApp.*")  # some SMILES of the collection cannot be read
    molecules, _ = read(NCI, 1200)
    print(f"{len(molecules)} molecules, {TRAIN} for training; {SPLITS} splits, means and their standard errors")
    F, D = fingerprints(molecules), values_of(MEASURED, molecules)
    computed = properties(F, D[:, : len(PROPERTIES)])
    summed = {name: np.column_stack([rows[:, :-1].mean(axis=1), rows]) for name, rows in computed.items()}
    table("Held-out R2", ["mean", *PROPERTIES], summed)
    measured = properties(*series())
    table("Held-out R2, measured", ["activity"], measured)
    found, positions = retrieval(F, D, values_of([Descriptors.MolWt], molecules)[:, 0])
    table(f"Retrieval among {CANDIDATES}", ["top 1", "top 5"], found)
    draw(computed, measured, positions)


if __name__ == "__main__":
    main()
