"""Sets of candidates at 90 %: coverage and size for molecules, rankings and label sets.

- 120 spectra with candidate lists of 2 to 7705 molecules and the scores of another model (``metabolite_candidates``):
  half of the spectra calibrate, the others are queries, 200 times.
- 490 spectra with a given kernel and 462 distinct fingerprints (``metabolite_fp490``): 390 for training, 100 queries,
  among all molecules, and among lists of 50 with the true one.
- Rankings (iris, 3 items; cpu-small, 5; vowel, 11; wisconsin, 16) and label sets (yeast, 14 labels; birds, 19;
  medical, 45), default settings: 300 training samples (iris 100, wisconsin 130), up to 150 queries. All rankings and
  label sets are candidates for the Kendall and Hamming losses; these sets are compared with balls of the loss. For F1
  the candidates are the training label sets; coverage is that of outputs that are candidates, with their share. Mean
  sizes are over listed sets, with up to 20 000 members.

    python experiments/candidate_sets.py --data FOLDER            3 draws, 5 minutes
    python experiments/candidate_sets.py --data FOLDER --quick    1 draw, two minutes

FOLDER holds these folders, label_ranking/, yeast_multilabel/ and multi_label/. Prints tables, writes
output/candidate_sets.csv; with --quick the name ends in _quick.
"""

from __future__ import annotations

from math import factorial

import numpy as np
from common import arguments, figures_of, progress, smaller, table, with_error, write_csv
from sklearn.preprocessing import StandardScaler

from hilbertlearn import ConformalPredictor, StructuredPredictor, kernels
from hilbertlearn.conformal import sets_of_scores
from hilbertlearn.readers import load_metabolite_candidates, load_metabolite_fingerprints

LEVEL = 0.9
SCORES = ("gap", "likelihood", "rank", "cumulative", "objective")
SOME = ("gap", "likelihood", "rank")
OUTPUT_KERNEL = kernels.TanimotoGaussian(0.72)
ALPHA = 1e-3
LISTED = 50
SPECTRA = 100  # that are asked, of those with a kernel
RANKINGS = {"iris": 100, "cpu-small": 300, "vowel": 300, "wisconsin": 130}
LABEL_SETS = ("yeast", "birds", "medical")
LEARNT, ASKED = 300, 150


def of_sets(found, true):
    """Coverage, and the median and mean size."""
    sizes = np.asarray(found.sizes, dtype=float)
    listed = np.isfinite(sizes)
    mean = sizes[listed].mean() if listed.any() else np.nan
    return {"coverage": found.contains(true).mean(), "median": np.median(sizes), "mean": mean, "listed": listed.mean()}


# ---------------------------------------------------------------- molecules


def given_scores(folder, draws):
    """Rows of random halves of the spectra with candidate lists, for each score."""
    data = load_metabolite_candidates(folder / "metabolite_candidates")
    sizes = np.array([len(own) for own in data.scores])
    for seed in range(draws):
        order = np.random.default_rng(seed).permutation(len(sizes))
        held, asked = np.array_split(order, 2)
        for score in SCORES:
            found = sets_of_scores(
                [data.scores[i] for i in held],
                data.true_index[held],
                [data.scores[i] for i in asked],
                level=LEVEL,
                score=score,
            )
            row = of_sets(found, data.true_index[asked])
            ratios = found.sizes / sizes[asked]
            yield {"data": "spectra, given scores", "method": "split", "score": score, "draw": seed, **row} | {
                "candidates": np.median(sizes[asked]),
                "share": np.median(ratios),
            }


def fingerprints(folder, draws, method="cv+"):
    """Rows of the spectra with a kernel: candidates for all, and lists for each."""
    data = load_metabolite_fingerprints(folder / "metabolite_fp490")
    molecules, own = np.unique(data.Y, axis=0, return_inverse=True)
    own = own.ravel()
    estimator = StructuredPredictor("precomputed", output_kernel=OUTPUT_KERNEL, alpha=ALPHA)
    for seed in progress(range(draws), "spectra"):
        rng = np.random.default_rng(seed)
        train, test = np.split(rng.permutation(len(own)), [-SPECTRA])
        lists = [with_others(rng, i, len(molecules)) for i in own]
        for score in SOME:
            for pool in ("all", "lists"):
                given = [molecules[lists[i]] for i in train] if pool == "lists" else None
                model = ConformalPredictor(estimator, method, level=LEVEL, score=score, cv=5, random_state=seed)
                model.fit(data.K[np.ix_(train, train)], data.Y[train], candidates_per_query=given)
                asked = (
                    {"candidates_per_query": [molecules[lists[i]] for i in test]}
                    if pool == "lists"
                    else {"candidates": molecules}
                )
                row = of_sets(model.predict_set(data.K[np.ix_(test, train)], **asked), data.Y[test])
                number = LISTED if pool == "lists" else len(molecules)
                yield {"data": f"spectra, {pool}", "method": method, "score": score, "draw": seed, **row} | {
                    "candidates": number,
                    "share": row["median"] / number,
                }


def with_others(rng, i, n):
    """Numbers of molecules, that of the true one among them."""
    others = rng.choice(np.delete(np.arange(n), i), LISTED - 1, replace=False)
    return rng.permutation(np.append(others, i))


# ---------------------------------------------------------------- rankings and label sets


def rankings_of(folder, name):
    data = np.load(folder / "label_ranking" / f"{name}.npz")
    return data["X"], data["ranks"], factorial(data["ranks"].shape[1])


def label_sets_of(folder, name):
    file = folder / ("yeast_multilabel" if name == "yeast" else "multi_label") / f"{name}.npz"
    data = np.load(file, allow_pickle=True)
    X, Y = (np.concatenate([data[f"{part}_train"], data[f"{part}_test"]]) for part in "XY")
    return X.astype(float), Y.astype(int), 2.0 ** Y.shape[1]


def tables(folder, draws):
    """Rows of rankings by Kendall's loss, and of label sets by the Hamming loss and F1."""
    tasks = [(name, "kendall", *rankings_of(folder, name), n) for name, n in RANKINGS.items()]
    tasks += [(name, loss, *label_sets_of(folder, name), LEARNT) for name in LABEL_SETS for loss in ("hamming", "f1")]
    for name, loss, X, y, number, n in progress(tasks, "tables"):
        for seed in range(draws):
            order = np.random.default_rng(seed).permutation(len(X))
            train, test = order[:n], order[n : n + ASKED]
            scaler = StandardScaler().fit(X[train])
            for method, score in (("split", "auto"), ("cv+", "auto"), ("split", "loss")):
                if score == "loss" and (name in ("iris", "cpu-small") or loss == "f1"):
                    continue  # where balls are what "auto" is, or there is no need of them
                model = ConformalPredictor(
                    StructuredPredictor(output_loss=loss),
                    method,
                    level=LEVEL,
                    score=score,
                    cv=5 if method == "cv+" else None,
                    random_state=seed,
                )
                found = model.fit(scaler.transform(X[train]), y[train]).predict_set(scaler.transform(X[test]))
                row = of_sets(found, y[test])
                kind = type(found).__name__
                yield {"data": name, "loss": loss, "method": method, "score": kind, "draw": seed, **row} | {
                    "candidates": number,
                    "share": row["median"] / number,
                }
            if loss == "f1":
                yield seen_only(name, loss, scaler.transform(X), y, train, test, seed)


def seen_only(name, loss, X, y, train, test, seed):
    """The row of sets among the label sets that were seen; the coverage is of those that are among them."""
    candidates = np.unique(y[train], axis=0)
    seen = [(candidates == row).all(axis=1).any() for row in y[test]]
    model = ConformalPredictor(
        StructuredPredictor(output_loss=loss, candidates=candidates), "cv+", level=LEVEL, cv=5, random_state=seed
    )
    found = model.fit(X[train], y[train]).predict_set(X[test])
    row = of_sets(found, y[test]) | {"coverage": found.contains(y[test])[seen].mean(), "seen": np.mean(seen)}
    row |= {"candidates": len(candidates), "share": row["median"] / len(candidates)}
    return {"data": name, "loss": loss, "method": "cv+", "score": "CandidateSets, seen", "draw": seed, **row}


# ---------------------------------------------------------------- tables


def summary(rows, *keys):
    groups: dict = {}
    for row in rows:
        groups.setdefault(tuple(row.get(key, "") for key in keys), []).append(row)
    lines = []
    for names, own in groups.items():
        coverage = with_error([row["coverage"] for row in own])
        sizes = [f"{np.mean([row[what] for row in own]):.4g}" for what in ("median", "mean", "candidates")]
        share = np.mean([row["share"] for row in own])
        seen, listed = (np.mean([row.get(what, 1.0) for row in own]) for what in ("seen", "listed"))
        lines.append([*names, coverage, *sizes, f"{100 * share:.3g}", f"{100 * listed:.0f}", f"{100 * seen:.0f}"])
    return table(
        [*keys, "coverage", "median size", "mean size", "of", "median share (%)", "listed (%)", "candidates (%)"], lines
    )


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    few = {"RANKINGS": {"iris": 30}, "LABEL_SETS": ("birds",), "LEARNT": 30, "ASKED": 10, "LISTED": 5, "SPECTRA": 10}
    with smaller(__name__, **few, SOME=("gap",)):
        return figures_of(main, ["coverage", "median"], "data", "loss", "score", "method", data=folder)


def main():
    options = arguments(__doc__, data="metabolite_candidates")
    folder, name, draws = options.data.parent, "candidate_sets", 3
    if options.quick:
        name, draws = "candidate_sets_quick", 1
    given = list(given_scores(folder, 60 * draws))
    known = list(fingerprints(folder, draws))
    other = list(tables(folder, draws))
    write_csv(name, [*given, *known, *other])
    print(summary(given, "data", "score"), summary(known, "data", "score"), sep="\n\n", end="\n\n")
    print(summary(other, "data", "loss", "score", "method"))


if __name__ == "__main__":
    main()
