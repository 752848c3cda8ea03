"""Small generated data sets in the file formats of the real ones, for readers and experiments without the real data.

They cannot be used to evaluate methods. ``folder_of_data`` creates a folder with all data sets, with the real ones if
they are given.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from sklearn.metrics.pairwise import rbf_kernel

TABLES = ("andro", "slump", "edm", "atp7d", "oes97", "osales", "scpf", "sf2")
RANKINGS = {"iris": 3, "cpu-small": 5, "bodyfat": 7, "segment": 7, "pendigits": 10, "vowel": 11, "wisconsin": 16}
LABEL_SETS = ("birds", "medical", "enron", "delicious")
CHANNELS = ("LP", "LA", "TBCL", "TBCD", "VEL", "GLO", "TTCL", "TTCD", *(f"T{i}" for i in range(9, 15)))


def folder_of_data(folder, given=None):
    """Fill a folder with a folder for each data set: a link to that of the folder ``given``, or generated files."""
    for name, write in WRITERS.items():
        own = folder / name
        if given is not None and (given / name).is_dir():
            own.symlink_to((given / name).resolve(), target_is_directory=True)
        else:
            own.mkdir()
            write(own, np.random.default_rng(0))
    return folder


def waves(latent, n_points, rng, noise=0.05):
    """Curves (n, n_points) whose sines have the columns of latent (n, k) for amplitudes."""
    t = np.linspace(0, 1, n_points)
    atoms = [np.sin((k + 1) * np.pi * t) / (k + 1) for k in range(latent.shape[1])]
    return latent @ np.array(atoms) + noise * rng.normal(size=(len(latent), n_points))


def near(points, share=0.15):
    """Adjacency matrix (n, n) of points: the nearest pairs are linked."""
    K = np.triu(rbf_kernel(points), 1)
    links = np.quantile(K[np.triu_indices(len(K), 1)], 1 - share) < K
    return (links | links.T).astype(np.uint8)


def words_of(points, n_words, rng):
    """Counts (n, n_words), more of them where words are near to points."""
    return rng.poisson(0.1 + 2 * rbf_kernel(points, rng.normal(size=(n_words, points.shape[1]))))


def parts(name, matrix):
    """The arrays by which files hold a sparse matrix."""
    matrix = scipy.sparse.csr_array(matrix)
    return {f"{name}_{part}": np.asarray(getattr(matrix, part)) for part in ("data", "indices", "indptr", "shape")}


def edges_of(adjacency):
    return np.column_stack(np.nonzero(np.triu(adjacency)))


def dti(folder, rng, n=24):
    latent = rng.normal(size=(n, 3))
    X, Y = 0.5 + 0.1 * waves(latent, 93, rng), 0.5 + 0.1 * waves(np.tanh(latent), 55, rng)
    Y[rng.random(Y.shape) < 0.05] = np.nan
    facts = {name: np.arange(n) for name in ("subject", "visit", "visit_time", "n_scans", "sex", "pasat")}
    ones = np.ones(n, dtype=bool)
    np.savez(folder / "dti.npz", cca=X, rcst=Y, case=ones.astype(int), first_ms_visit=ones, **facts)


def speech(folder, rng, n=24):
    lengths = rng.integers(20, 27, size=n)
    offsets, latent = np.append(0, np.cumsum(lengths)), rng.normal(size=(n, 3))
    sound, tract = [], []
    for own, length in zip(latent, lengths, strict=True):
        sound.append(waves(own * rng.uniform(0.9, 1.1, size=(13, 1)), length, rng).T)
        tract.append(waves(np.tanh(own) * np.linspace(0.5, 1, len(CHANNELS))[:, None], length, rng))
    np.savez(folder / "mfcc13.npz", values=np.concatenate(sound), offsets=offsets)
    names = {"channels": np.array(CHANNELS), "channels_authors_loader": np.array(CHANNELS)}
    facts = {"words": np.array([f"word {i}" for i in range(n)]), "keep_413": np.ones(n, dtype=bool), "step_s": 0.005}
    np.savez(folder / "vocal_tract.npz", values=np.hstack(tract), offsets=offsets, **names, **facts)


def lip_emg(folder, rng, n=8):
    latent, time = rng.normal(size=(n, 3)), np.linspace(0, 0.64, 641)
    X, Y = 0.05 * waves(latent, 641, rng), waves([1, 0, 0] + 0.5 * np.tanh(latent), 641, rng)
    Y += rng.uniform(0.2, 1, size=(n, 1)) * np.sin(40 * np.pi * time / 0.64)  # which short bases do not have
    np.savez(folder / "lip_emg.npz", emg=X, lip_acc=Y, time=time)


def labelled(rng, n, n_labels, n_features=5):
    """Features (n, n_features), and label sets (n, n_labels) that depend on them."""
    X = rng.normal(size=(n, n_features))
    values = X @ rng.normal(size=(n_features, n_labels)) + 0.3 * rng.normal(size=(n, n_labels))
    return X, (values > 0.5).astype(np.uint8)


def label_sets(file, rng, n_labels, **facts):
    X, Y = labelled(rng, 60, n_labels)
    np.savez(file, X_train=X[:40], Y_train=Y[:40], X_test=X[40:], Y_test=Y[40:], **facts)


def yeast_multilabel(folder, rng):
    label_sets(folder / "yeast.npz", rng, 14, label_names=np.array([f"label {i}" for i in range(14)]))


def multi_label(folder, rng):
    for name in LABEL_SETS:
        label_sets(folder / f"{name}.npz", rng, 5)


def label_ranking(folder, rng, n=60):
    for name, n_labels in RANKINGS.items():
        X = rng.normal(size=(n, 4))
        values = X @ rng.normal(size=(4, n_labels)) + 0.3 * rng.normal(size=(n, n_labels))
        np.savez(folder / f"{name}.npz", X=X, ranks=values.argsort(axis=1).argsort(axis=1) + 1)


def multi_target(folder, rng, n=45):
    for name in TABLES:
        X = rng.normal(size=(n, 4))
        np.savez(folder / f"{name}.npz", X=X, Y=np.sin(X @ rng.normal(size=(4, 3))) + 0.1 * rng.normal(size=(n, 3)))


def small_tables(folder, rng, n=30):
    X = rng.normal(size=(n, 3)) * [1.0, 100.0, 0.01]
    Y = X @ [1.0, 0.01, 0.0] + 0.3 * rng.normal(size=n)
    tables = {"line": (X, Y), "wave": (X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n))}
    tables = {f"{name}__{key}": value for name, pair in tables.items() for key, value in zip("XY", pair)}
    np.savez(folder / "small_tables.npz", **tables)


def usps(folder, rng, n=200):
    target = np.arange(n) % 10
    shapes = rng.uniform(200, 1800, size=(10, 256))
    codes = np.clip(shapes[target] + 100 * rng.normal(size=(n, 256)), 1, 2000).astype(np.int16)
    half = n // 2
    np.savez(
        folder / "usps.npz",
        X_train_code=codes[:half],
        y_train=target[:half],
        X_test_code=codes[half:],
        y_test=target[half:],
    )


def metabolite_fp490(folder, rng, n=40):
    X, Y = labelled(rng, n, 286)
    np.savez(folder / "fp490.npz", K=rbf_kernel(X), Y=Y)


def metabolite_candidates(folder, rng, n=24):
    sizes = rng.integers(3, 9, size=n)
    offsets = np.append(0, np.cumsum(sizes)).astype(np.int32)
    true = rng.integers(0, sizes)
    scores = rng.normal(size=offsets[-1])
    scores[offsets[:-1] + true] += 1
    bits = rng.integers(0, 2, size=(offsets[-1], 166))
    names = np.array([f"spectrum {i}" for i in range(n)])
    facts = {"true_index": true.astype(np.int32), "spectrum_id": names, "formula": names, "inchikey": names}
    packed = {"fingerprint_packed": np.packbits(bits, axis=1), "n_bits": np.array(166)}
    np.savez(folder / "impact_candidates.npz", iokr_score=scores, offsets=offsets, **packed, **facts)


def nci60_drugs(folder, rng, n=60, lines=8):
    points = rng.normal(size=(n, 3))
    activity = np.tanh(points @ rng.normal(size=(3, lines))) + 0.3 * rng.normal(size=(n, lines))
    activity[rng.random(activity.shape) < 0.03] = np.nan
    facts = {"nsc": np.arange(n), "smiles": np.array(["C" * (i + 1) for i in range(n)])}
    names = np.array([f"line {i}" for i in range(lines)])
    paths = parts("path6", words_of(points, 40, rng))
    np.savez(folder / "nci60_1k.npz", **facts, cell_line=names, activity_z=activity, **paths)


def nips_coauthorship(folder, rng, papers=120, authors=60):
    points, subjects = rng.normal(size=(authors, 2)), rng.normal(size=(papers, 2))
    nearest = np.argsort(-rbf_kernel(subjects, points), axis=1)[:, :3]
    doc_author = np.zeros((papers, authors))
    np.put_along_axis(doc_author, nearest, 1, axis=1)
    facts = {"authors": np.arange(authors), "doc_names": np.arange(papers), "doc_year": np.full(papers, 1999)}
    np.savez(folder / "nips1_17_network.npz", **facts, **parts("doc_author", doc_author))
    words = words_of(subjects, 30, rng)
    np.savez(folder / "nips0_12_abstract_words.npz", vocabulary=np.arange(30), **parts("doc_word", words))


def cora(folder, rng, n=60):
    points = rng.normal(size=(n, 2))
    words = words_of(points, 30, rng).clip(max=1)
    np.savez(folder / "cora.npz", edges=edges_of(near(points)), label=np.zeros(n, dtype=int), **parts("words", words))


def facebook_ego(folder, rng, n=40):
    points = rng.normal(size=(n, 2))
    features = words_of(points, 20, rng).clip(max=1)
    facts = {"node_id": np.arange(n), "feature_names": np.array([f"f{i}" for i in range(20)])}
    np.savez(folder / "ego0.npz", features=features, edges=edges_of(near(points)), **facts)


def yeast_ppi(folder, rng, n=40):
    points = rng.normal(size=(n, 2))
    K = rbf_kernel(points) + 1e-3 * np.eye(n)
    np.savez(folder / "yamanishi150_kegg.npz", protein=np.arange(n), adjacency=near(points), K=K)


def movielens(folder, rng, n=40, movies=25):
    users = [f"{i + 1}|{20 + i}|{'MF'[i % 2]}|{('artist', 'writer')[i % 3 == 0]}|0" for i in range(n)]
    items = [
        "|".join([f"{j + 1}", f"movie {j}", "", "", "", *("01"[(j + k) % 3 == 0] for k in range(19))])
        for j in range(movies)
    ]
    liked = rng.normal(size=(n, 2)) @ rng.normal(size=(2, movies)) + 0.5 * rng.normal(size=(n, movies))
    ratings = np.clip(np.round(3 + liked), 1, 5).astype(int)
    seen = np.argwhere(rng.random((n, movies)) < 0.8)
    lines = [f"{i + 1}\t{j + 1}\t{ratings[i, j]}\t0" for i, j in seen]
    for name, own in (("u.user", users), ("u.item", items), ("u.data", lines)):
        (folder / name).write_text("\n".join(own) + "\n")


#: For each folder of data the function (folder, rng) that writes its files.
WRITERS = {
    "dti": dti,
    "speech_vt": speech,
    "lip_emg": lip_emg,
    "yeast_multilabel": yeast_multilabel,
    "multi_label": multi_label,
    "label_ranking": label_ranking,
    "multi_target": multi_target,
    "small_tables": small_tables,
    "usps": usps,
    "metabolite_fp490": metabolite_fp490,
    "metabolite_candidates": metabolite_candidates,
    "nci60_drugs": nci60_drugs,
    "nips_coauthorship": nips_coauthorship,
    "cora": cora,
    "facebook_ego": facebook_ego,
    "yeast_ppi": yeast_ppi,
    "ml-100k": movielens,
}
