"""Readers of structured outputs read what was written and refuse what does not fit."""

import os
from pathlib import Path

import numpy as np
import pytest
from helpers.refusals import assert_refused
from scipy import stats

from hilbertlearn import datasets, readers
from hilbertlearn.metrics import top_k_accuracy

rng = np.random.default_rng(8)


def yeast_arrays():
    return {
        "X_train": rng.normal(size=(4, 3)),
        "Y_train": np.array([[0, 1], [1, 1], [0, 0], [1, 0]], dtype=np.uint8),
        "X_test": rng.normal(size=(2, 3)),
        "Y_test": np.array([[1, 1], [0, 1]], dtype=np.uint8),
        "label_names": np.array(["growth", "transport"]),
    }


def usps_arrays():
    codes = rng.integers(1, 2001, size=(5, 256)).astype(np.int16)
    target = np.array([3, 1, 4, 1, 5], dtype=np.int8)
    return {"X_train_code": codes[:3], "y_train": target[:3], "X_test_code": codes[3:], "y_test": target[3:]}


def candidate_arrays():
    bits = rng.integers(0, 2, size=(7, 11))
    return {
        "fingerprint_packed": np.packbits(bits, axis=1),
        "n_bits": np.array(11),
        "iokr_score": np.arange(7, dtype=np.float32),
        "offsets": np.array([0, 2, 6, 7], dtype=np.int32),
        "true_index": np.array([1, 0, 0], dtype=np.int32),
        "spectrum_id": np.array(["a", "b", "c"]),
        "formula": np.array(["CH4", "H2O", "O2"]),
        "inchikey": np.array(["k", "l", "m"]),
    }, bits


def test_yeast(tmp_path):
    arrays = yeast_arrays()
    np.savez(tmp_path / "yeast.npz", **arrays)
    for path in (tmp_path, str(tmp_path / "yeast.npz")):
        data = readers.load_yeast(path)
        np.testing.assert_array_equal(data.X[data.train], arrays["X_train"])
        np.testing.assert_array_equal(data.X[~data.train], arrays["X_test"])
        np.testing.assert_array_equal(data.Y, np.r_[arrays["Y_train"], arrays["Y_test"]])
        assert list(data.label_names) == ["growth", "transport"]
    np.savez(tmp_path / "yeast.npz", **{**arrays, "Y_test": arrays["Y_test"][:1]})
    assert_refused(lambda: readers.load_yeast(tmp_path), ["yeast.npz", "X_test 2", "Y_test 1"])
    np.savez(tmp_path / "yeast.npz", **{**arrays, "X_test": arrays["X_test"][:, :2]})
    assert_refused(lambda: readers.load_yeast(tmp_path), ["yeast.npz", "X_train and X_test", "(4, 3)", "(2, 2)"])
    np.savez(tmp_path / "yeast.npz", **{**arrays, "label_names": np.array(["growth"])})
    assert_refused(lambda: readers.load_yeast(tmp_path), ["yeast.npz", "label_names 1", "2"])
    np.savez(tmp_path / "yeast.npz", **{**arrays, "label_names": np.array(["growth", None])})
    assert_refused(lambda: readers.load_yeast(tmp_path), ["yeast.npz", "allow_pickle=False"])  # runs nothing it reads


def test_usps(tmp_path):
    arrays = usps_arrays()
    np.savez(tmp_path / "usps.npz", **arrays)
    data = readers.load_usps(tmp_path)
    image = arrays["X_test_code"][1].astype(float)
    np.testing.assert_allclose(data.X[4], image[:128] / 2000)
    np.testing.assert_allclose(data.Y[4], image[128:] / image[128:].sum())
    np.testing.assert_allclose(data.images[4, 2], image[32:48] / 2000)
    assert list(data.target) == [3, 1, 4, 1, 5] and list(data.train) == [True, True, True, False, False]
    arrays["X_train_code"][1, 128:] = 0
    np.savez(tmp_path / "usps.npz", **arrays)
    assert_refused(lambda: readers.load_usps(tmp_path), ["image 1", "lower half", "leave"])
    arrays["X_train_code"][1, 128:] = -1000
    np.savez(tmp_path / "usps.npz", **arrays)
    assert_refused(lambda: readers.load_usps(tmp_path), ["usps.npz", "0 to 2000", "-1000"])


def test_metabolite_candidates(tmp_path):
    arrays, bits = candidate_arrays()
    file = tmp_path / "impact_candidates.npz"
    np.savez(file, **arrays)
    data = readers.load_metabolite_candidates(tmp_path)
    for candidates, scores, rows in zip(data.candidates, data.scores, (slice(0, 2), slice(2, 6), slice(6, 7))):
        np.testing.assert_array_equal(candidates, bits[rows])
        np.testing.assert_array_equal(scores, np.arange(7)[rows])
    assert list(data.true_index) == [1, 0, 0] and list(data.formula) == ["CH4", "H2O", "O2"]
    assert top_k_accuracy(data.true_index, data.scores) == pytest.approx(2 / 3)
    for changes, words in [
        ({"offsets": np.array([0, 2, 6, 6])}, ["offsets", "7"]),
        ({"offsets": np.array([0, 7])}, ["offsets[1:] 1", "true_index 3"]),
        ({"true_index": np.array([2, 0, 0])}, ["true_index", "less"]),
        ({"iokr_score": np.arange(3)}, ["fingerprint_packed 7", "iokr_score 3"]),
    ]:
        np.savez(file, **{**arrays, **changes})
        assert_refused(lambda: readers.load_metabolite_candidates(tmp_path), ["impact_candidates.npz", *words])


def test_metabolite_fingerprints(tmp_path):
    K, Y = np.eye(3), np.array([[0, 1], [1, 1], [0, 0]], dtype=np.uint8)
    np.savez(tmp_path / "fp490.npz", K=K, Y=Y)
    data = readers.load_metabolite_fingerprints(tmp_path)
    np.testing.assert_array_equal(data.K, K)
    np.testing.assert_array_equal(data.Y, Y)
    np.savez(tmp_path / "fp490.npz", K=K[:, :2], Y=Y)
    assert_refused(lambda: readers.load_metabolite_fingerprints(tmp_path), ["fp490.npz", "K 3", "columns of K 2"])


@pytest.mark.parametrize(
    ("load", "file", "key"),
    [
        (readers.load_yeast, "yeast.npz", "Y_train"),
        (readers.load_usps, "usps.npz", "X_test_code"),
        (readers.load_metabolite_candidates, "impact_candidates.npz", "offsets"),
        (readers.load_metabolite_fingerprints, "fp490.npz", "K"),
    ],
)
def test_what_is_not_there(tmp_path, load, file, key):
    nowhere = tmp_path / "nowhere"
    assert_refused(lambda: load(nowhere), [str(nowhere), file, key], FileNotFoundError)
    np.savez(tmp_path / file, something=1)
    assert_refused(lambda: load(tmp_path), [str(tmp_path / file), key, "something"])
    (tmp_path / file).write_bytes(b"not an archive")
    assert_refused(lambda: load(tmp_path), [str(tmp_path / file), ".npz", key])


USERS = "1|24|M|writer|85711\n2|53|F|doctor|94043\n3|34|F|writer|T8H1N\n"
RATED = "2\t1\t5\t881250949\n1\t1\t4\t880606923\n1\t2\t3\t891717742\n3\t2\t1\t878887116\n"


@pytest.fixture
def movielens(tmp_path):
    genres = ["|".join("1" if j in of else "0" for j in range(19)) for of in ((5, 8), (1,))]
    items = (
        f"1|Les Misérables (1995)|01-Jan-1995||http://a|{genres[0]}\n2|Heat (1995)|01-Jan-1995||http://b|{genres[1]}\n"
    )
    (tmp_path / "u.user").write_text(USERS)
    (tmp_path / "u.data").write_text(RATED)
    (tmp_path / "u.item").write_bytes(items.encode("latin-1"))
    return tmp_path


def test_movielens(movielens):
    data = readers.load_movielens(movielens)
    np.testing.assert_array_equal(data.Y, [[4, 3], [5, np.nan], [np.nan, 1]])
    assert list(data.feature_names) == ["age", "female", "doctor", "writer"]
    np.testing.assert_allclose(data.X[:, 0], stats.zscore([24, 53, 34]))
    np.testing.assert_array_equal(data.X[:, 1:], [[0, 0, 1], [1, 1, 0], [1, 0, 1]])
    assert list(data.titles) == ["Les Misérables (1995)", "Heat (1995)"]
    assert [list(data.genre_names[row == 1]) for row in data.genres] == [["Comedy", "Drama"], ["Action"]]
    assert list(data.age) == [24, 53, 34] and list(data.occupation) == ["writer", "doctor", "writer"]
    assert set(data) == set(datasets.make_movie_ratings(10, 100, 240))


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("u.data", RATED + "4\t1\t2\t0\n", ["u.data", "4", "u.user"]),
        ("u.data", RATED + "1\t1\t2\t0\n", ["u.data", "twice"]),
        ("u.data", RATED + "3\t1\tgood\t0\n", ["u.data", "ratings", "good"]),
        ("u.data", RATED + "3,1,2,0\n", ["u.data, line 5", "4 fields", "got 1"]),
        ("u.data", "", ["u.data", "empty"]),
        ("u.user", USERS + "4|x|F|doctor|1\n", ["u.user", "ages", "x"]),
        ("u.item", "1|Heat\n", ["u.item, line 1", "24 fields", "got 2"]),
    ],
)
def test_movielens_refuses(movielens, file, text, words):
    (movielens / file).write_text(text)
    assert_refused(lambda: readers.load_movielens(movielens), words)


@pytest.mark.parametrize("file", ["u.user", "u.item", "u.data"])
def test_movielens_files_are_missing(movielens, file):
    (movielens / file).unlink()
    words = [str(movielens / file), "MovieLens 100k", "u.user, u.item, u.data"]
    assert_refused(lambda: readers.load_movielens(movielens), words, FileNotFoundError)


def test_label_rankings_by_order(tmp_path):
    file = tmp_path / "table.txt"
    rows = "0.5,-1,L10>L1>L2\n2,3e-2,L2>L10\n"
    for heading in ("A1,A2,ranking\n", ""):
        file.write_text(heading + rows)
        data = readers.load_label_rankings(file)
        assert list(data.label_names) == ["L1", "L2", "L10"]
        np.testing.assert_array_equal(data.X, [[0.5, -1], [2, 0.03]])
        np.testing.assert_array_equal(data.Y, [[2, 3, 1], [np.nan, 1, 2]])


def test_label_rankings_by_rank(tmp_path):
    file = tmp_path / "table.csv"
    rows = "0.5,-1,2,1,3\n2,3,3,2,1\n"
    for heading, names in (
        ("a, b, x, y, z\n", ["x", "y", "z"]),
        ("", ["L1", "L2", "L3"]),
        ("2,2,3\n", ["L1", "L2", "L3"]),
    ):
        file.write_text(heading + rows)
        data = readers.load_label_rankings(str(file), n_labels=3)
        assert list(data.label_names) == names
        np.testing.assert_array_equal(data.X, [[0.5, -1], [2, 3]])
        np.testing.assert_array_equal(data.Y, [[2, 1, 3], [3, 2, 1]])


@pytest.mark.parametrize(
    ("text", "n_labels", "words"),
    [
        ("", None, ["features and a ranking"]),
        ("A,ranking\n", None, ["features and a ranking"]),
        ("A,B,ranking\n1,a>b\n1,2,a>b\n", None, ["row 1", "2 columns", "3"]),
        ("A,B,C\n1,2,1\n", None, ["last column", "'1'", "n_labels"]),
        ("A,ranking\n1,a>b\n2,b>b\n", None, ["row 2", "twice", "b>b"]),
        ("A,ranking\nred,a>b\n", None, ["features must be numbers", "red"]),
        ("A,x,y\n1,first,second\n", 2, ["ranks must be numbers", "first"]),
        ("A,x,y\n1,1,2\n", 3, ["n_labels", "less than 3", "got 3"]),
    ],
)
def test_label_rankings_refuse(tmp_path, text, n_labels, words):
    file = tmp_path / "table.csv"
    file.write_text(text)
    assert_refused(lambda: readers.load_label_rankings(file, n_labels), [str(file), *words])
    assert_refused(lambda: readers.load_label_rankings(file, 0), ["n_labels", "integer", "0"])


def test_label_rankings_are_missing(tmp_path):
    file = tmp_path / "table.csv"
    assert_refused(lambda: readers.load_label_rankings(file), [str(file), "commas"], FileNotFoundError)


FOLDER = os.environ.get("HILBERTLEARN_DATA")
with_data = pytest.mark.skipif(not FOLDER, reason="HILBERTLEARN_DATA does not name the folder of the data sets")


@with_data
def test_real_yeast():
    data = readers.load_yeast(Path(FOLDER) / "yeast_multilabel")
    assert data.X.shape == (2417, 103) and data.Y.shape == (2417, 14) and data.train.sum() == 1500
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1, atol=1e-3)
    assert data.Y.sum(axis=1).mean() == pytest.approx(4.24, abs=0.01)


@with_data
def test_real_usps():
    data = readers.load_usps(Path(FOLDER) / "usps")
    assert data.X.shape == data.Y.shape == (9298, 128) and data.train.sum() == 7291
    np.testing.assert_allclose(data.Y.sum(axis=1), 1)
    counts = np.bincount(data.target[data.train])
    np.testing.assert_array_equal(counts, [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644])


@with_data
def test_real_metabolite_candidates():
    data = readers.load_metabolite_candidates(Path(FOLDER) / "metabolite_candidates")
    sizes = [len(candidates) for candidates in data.candidates]
    assert len(sizes) == 120 and min(sizes) == 2 and max(sizes) == 7705 and sum(sizes) == 139511
    assert all(candidates.shape[1] == 166 for candidates in data.candidates)
    for k, share in ((1, 0.225), (5, 0.533), (10, 0.625), (20, 0.75)):  # of those who made the file
        assert top_k_accuracy(data.true_index, data.scores, k, ties="best") == pytest.approx(share, abs=5e-4)
    alone = [(c == c[t]).all(axis=1).sum() == 1 for c, t in zip(data.candidates, data.true_index)]
    assert np.mean(alone) == pytest.approx(0.39, abs=0.005)


@with_data
def test_real_metabolite_fingerprints():
    data = readers.load_metabolite_fingerprints(Path(FOLDER) / "metabolite_fp490")
    assert data.K.shape == (490, 490) and data.Y.shape == (490, 286)
    np.testing.assert_allclose(data.K, data.K.T)
    assert data.Y.mean() == pytest.approx(0.172, abs=5e-4) and len(np.unique(data.Y, axis=0)) == 462
