"""Readers of networks read what was written and refuse what does not fit."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from helpers.refusals import assert_refused
from scipy import stats
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.utils import Bunch

from hilbertlearn import readers
from hilbertlearn.metrics import link_roc_auc

rng = np.random.default_rng(9)


def assert_graph(adjacency, n):
    A = adjacency.toarray()
    assert scipy.sparse.issparse(adjacency) and A.shape == (n, n)
    assert (A == A.T).all() and (A.diagonal() == 0).all() and set(np.unique(A)) <= {0, 1}
    assert adjacency.nnz == A.sum()
    return A


def parts(name, matrix):
    S = scipy.sparse.csr_matrix(matrix)
    return {
        f"{name}_data": S.data.astype(np.int16),
        f"{name}_indices": S.indices,
        f"{name}_indptr": S.indptr,
        f"{name}_shape": np.array(S.shape),
    }


# papers 0, 1 of authors 0, 1; paper 2 of 1, 2, 3; paper 3 of 3 alone; paper 4 of 0, 4 and without words
DOC_AUTHOR = np.array([[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [0, 1, 1, 1, 0], [0, 0, 0, 1, 0], [1, 0, 0, 0, 1]])
DOC_WORD = np.array([[1, 0, 2], [0, 3, 0], [0, 1, 1], [4, 0, 0], [0, 0, 0]])
LINKS = [[0, 1, 0, 0, 1], [1, 0, 1, 1, 0], [0, 1, 0, 1, 0], [0, 1, 1, 0, 0], [1, 0, 0, 0, 0]]


def nips_arrays():
    network = {"authors": np.array(list("abcde")), "doc_names": np.array(list("vwxyz")), "doc_year": np.arange(5)}
    return network | parts("doc_author", DOC_AUTHOR), {"vocabulary": np.array(["a", "b", "c"])} | parts(
        "doc_word", DOC_WORD
    )


def save_nips(folder, network, words):
    np.savez(folder / "nips1_17_network.npz", **network)
    np.savez(folder / "nips0_12_abstract_words.npz", **words)


def test_nips(tmp_path):
    network, words = nips_arrays()
    save_nips(tmp_path, network, words)
    data = readers.load_nips_coauthorship(tmp_path)
    np.testing.assert_array_equal(assert_graph(data.adjacency, 5), LINKS)
    np.testing.assert_array_equal(data.at_least_two_links, [True, True, True, True, False])
    np.testing.assert_array_equal(data.doc_author.toarray(), DOC_AUTHOR)
    np.testing.assert_array_equal(data.doc_word.toarray(), DOC_WORD)
    np.testing.assert_array_equal(data.author_word.toarray(), [[1, 3, 2], [1, 4, 3], [0, 1, 1], [4, 1, 1], [0, 0, 0]])
    assert list(data.authors) == list("abcde") and list(data.vocabulary) == list("abc")
    for changed_network, changed_words, said in [
        ({"authors": np.array(list("abcd"))}, {}, ["network", "columns of doc_author 5", "authors 4"]),
        ({"doc_year": np.arange(3)}, {}, ["network", "doc_year 3"]),
        ({}, parts("doc_word", DOC_WORD[:4]), ["abstract_words", "doc_word 4", "doc_names 5"]),
        ({}, {"vocabulary": np.array(["a"])}, ["abstract_words", "columns of doc_word 3", "vocabulary 1"]),
        ({"doc_author_indices": np.full(9, 77)}, {}, ["network", "doc_author_indices", "sparse"]),
    ]:
        save_nips(tmp_path, {**network, **changed_network}, {**words, **changed_words})
        assert_refused(lambda: readers.load_nips_coauthorship(tmp_path), said)


def random_papers(n_papers=300, n_authors=150):
    """Authorships and words; each paper has a word of its own, 10 papers have no words."""
    doc_author = np.zeros((n_papers, n_authors))
    for row in doc_author:
        row[rng.choice(n_authors, size=rng.integers(1, 5), replace=False)] = 1
    doc_word = np.diag(np.arange(1.0, n_papers + 1))
    doc_word[:10] = 0
    return Bunch(doc_author=scipy.sparse.csr_array(doc_author), doc_word=scipy.sparse.csr_array(doc_word))


def test_each_paper_counts_for_one_author():
    data = random_papers()
    words = readers.words_of_own_papers(data.doc_author, data.doc_word, random_state=0).toarray()
    np.testing.assert_array_equal(words.sum(axis=0), data.doc_word.toarray().sum(axis=0))
    assert ((words > 0).sum(axis=0)[10:] == 1).all()
    authors, papers = np.nonzero(words)
    assert (data.doc_author.toarray()[papers, authors] == 1).all()
    other = readers.words_of_own_papers(data.doc_author, data.doc_word, random_state=1).toarray()
    assert (words != other).any()


def test_as_many_authors_as_possible_have_words():
    words = readers.words_of_own_papers(scipy.sparse.csr_array(DOC_AUTHOR), scipy.sparse.csr_array(DOC_WORD), 0)
    # papers 0 and 1 for authors 0 and 1 in either order, 2 for author 2, since 3 is of author 3 alone
    np.testing.assert_array_equal(words.toarray()[2:], [[0, 1, 1], [4, 0, 0], [0, 0, 0]])
    assert (words.toarray()[:2].sum(axis=1) > 0).all()
    nobody = readers.words_of_own_papers(scipy.sparse.csr_array((2, 3)), scipy.sparse.csr_array(np.ones((2, 4))))
    assert nobody.shape == (3, 4) and nobody.nnz == 0


def test_separate_papers():
    data = random_papers()
    part = readers.separate_papers(data, 0.4, random_state=0)
    A = assert_graph(part.adjacency, len(part.nodes))
    doc_author, inputs = data.doc_author.toarray(), part.input_papers
    links = doc_author[~inputs][:, part.nodes]
    np.testing.assert_array_equal(A, (links.T @ links > 0) & ~np.eye(len(A), dtype=bool))
    X = part.X.toarray()
    assert (X.sum(axis=1) > 0).all() and (X[:, ~inputs] == 0).all() and ((X > 0).sum(axis=0) <= 1).all()
    authors, papers = np.nonzero(X)
    assert (doc_author[papers, part.nodes[authors]] == 1).all()
    alone = doc_author.sum(axis=1) == 1
    assert inputs[10:][alone[10:]].all() and not inputs[:10].any()
    assert stats.binomtest(int(inputs[10:][~alone[10:]].sum()), int((~alone[10:]).sum()), 0.4).pvalue > 1e-3
    for share in (0, 1, 1.2):
        assert_refused(lambda share=share: readers.separate_papers(data, share), ["input_share", str(share)])


def cora_arrays():
    words = rng.integers(0, 2, size=(4, 6))
    edges = np.array([[0, 1], [2, 1]], dtype=np.int32)
    return {"edges": edges, "label": np.array([0, 2, 1, 1], dtype=np.int8), **parts("words", words)}, words


def test_cora(tmp_path):
    arrays, words = cora_arrays()
    np.savez(tmp_path / "cora.npz", **arrays)
    for path in (tmp_path, str(tmp_path / "cora.npz")):
        data = readers.load_cora(path)
        np.testing.assert_array_equal(data.X.toarray(), words)
        np.testing.assert_array_equal(
            assert_graph(data.adjacency, 4), [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
        )
        assert list(data.target) == [0, 2, 1, 1]
    for changes, said in [
        ({"edges": np.array([[0, 4]])}, ["edges", "0 to 3", "4"]),
        ({"edges": np.array([[-1, 2]])}, ["edges", "0 to 3", "-1"]),
        ({"edges": np.array([[1, 2], [2, 2]])}, ["edges", "node 2 with itself"]),
        ({"edges": np.array([[1, 2, 3]])}, ["edges", "pairs", "(1, 3)"]),
        ({"edges": np.array([[1.0, 2.0]])}, ["edges", "pairs", "float64"]),
        ({"label": np.arange(5)}, ["words 4", "label 5"]),
        ({"words_shape": np.array([4])}, ["words_shape", "sparse"]),
        ({"words_indptr": np.array([0, 1])}, ["words_indptr", "sparse"]),
    ]:
        np.savez(tmp_path / "cora.npz", **{**arrays, **changes})
        assert_refused(lambda: readers.load_cora(tmp_path), ["cora.npz", *said])
    both_ways = np.array([[0, 1], [1, 0], [0, 1]])
    np.savez(tmp_path / "cora.npz", **{**arrays, "edges": both_ways})
    assert assert_graph(readers.load_cora(tmp_path).adjacency, 4).sum() == 2


def test_facebook(tmp_path):
    features = rng.integers(0, 2, size=(3, 2)).astype(np.uint8)
    arrays = {"node_id": np.array([7, 8, 9]), "features": features, "feature_names": np.array(["birth", "work"])}
    np.savez(tmp_path / "ego5.npz", **arrays, edges=np.array([[0, 2]]))
    np.savez(tmp_path / "ego0.npz", **arrays, edges=np.zeros((0, 2), dtype=int))
    data = readers.load_facebook_ego(tmp_path, ego=5)
    np.testing.assert_array_equal(data.X, features)
    np.testing.assert_array_equal(assert_graph(data.adjacency, 3), [[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    assert list(data.node_id) == [7, 8, 9] and list(data.feature_names) == ["birth", "work"]
    assert readers.load_facebook_ego(tmp_path).adjacency.nnz == 0
    np.savez(tmp_path / "ego0.npz", **{**arrays, "feature_names": np.array(["birth"])}, edges=np.array([[0, 2]]))
    assert_refused(lambda: readers.load_facebook_ego(tmp_path), ["ego0.npz", "feature_names 1"])
    assert_refused(lambda: readers.load_facebook_ego(tmp_path, 6), ["ego6.npz"], FileNotFoundError)
    assert_refused(lambda: readers.load_facebook_ego(tmp_path, "0"), ["ego", "'0'"])


def test_yeast_ppi(tmp_path):
    A = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.uint8)
    arrays = {"protein": np.array(["p", "q", "r"]), "adjacency": A, "K": np.eye(3) + 0.1}
    file = tmp_path / "yamanishi150_kegg.npz"
    np.savez(file, **arrays)
    data = readers.load_yeast_ppi(tmp_path)
    np.testing.assert_array_equal(assert_graph(data.adjacency, 3), A)
    np.testing.assert_array_equal(data.K, arrays["K"])
    assert list(data.proteins) == ["p", "q", "r"]
    for changes, said in [
        ({"K": np.eye(2)}, ["K 2", "protein 3"]),
        ({"adjacency": A[:, :2]}, ["columns of adjacency 2"]),
        ({"adjacency": np.triu(A)}, ["adjacency", "symmetric"]),
        ({"adjacency": np.eye(3, dtype=int)}, ["adjacency", "node 0 with itself"]),
    ]:
        np.savez(file, **{**arrays, **changes})
        assert_refused(lambda: readers.load_yeast_ppi(tmp_path), [file.name, *said])


def test_nci60(tmp_path):
    activity = rng.normal(size=(3, 2))
    activity[1, 0] = np.nan
    paths = rng.integers(0, 2, size=(3, 5))
    arrays = {"nsc": np.array([4, 5, 6]), "smiles": np.array(["C", "CC", "CO"]), "cell_line": np.array(["x", "y"])}
    arrays |= {"activity_z": activity, **parts("path6", paths)}
    file = tmp_path / "nci60_1k.npz"
    np.savez(file, **arrays)
    data = readers.load_nci60_drugs(tmp_path)
    np.testing.assert_array_equal(data.paths.toarray(), paths)
    np.testing.assert_array_equal(data.activity, activity)
    assert (
        list(data.nsc) == [4, 5, 6] and list(data.smiles) == ["C", "CC", "CO"] and list(data.cell_lines) == ["x", "y"]
    )
    for changes, said in [
        ({"cell_line": np.array(["x"])}, ["columns of activity_z 2", "cell_line 1"]),
        ({"smiles": np.array(["C"])}, ["path6 3", "smiles 1"]),
        ({"smiles": np.array(["C", "CC", None])}, ["allow_pickle=False"]),  # runs nothing it reads
    ]:
        np.savez(file, **{**arrays, **changes})
        assert_refused(lambda: readers.load_nci60_drugs(tmp_path), [file.name, *said])


@pytest.mark.parametrize(
    ("load", "file", "key"),
    [
        (readers.load_nips_coauthorship, "nips1_17_network.npz", "doc_author_indptr"),
        (readers.load_cora, "cora.npz", "words_data"),
        (readers.load_facebook_ego, "ego0.npz", "features"),
        (readers.load_yeast_ppi, "yamanishi150_kegg.npz", "adjacency"),
        (readers.load_nci60_drugs, "nci60_1k.npz", "path6_shape"),
    ],
)
def test_what_is_not_there(tmp_path, load, file, key):
    nowhere = tmp_path / "nowhere"
    assert_refused(lambda: load(nowhere), [str(nowhere), file, key], FileNotFoundError)
    np.savez(tmp_path / file, something=1)
    assert_refused(lambda: load(tmp_path), [str(tmp_path / file), key, "something"])


FOLDER = os.environ.get("HILBERTLEARN_DATA")
with_data = pytest.mark.skipif(not FOLDER, reason="HILBERTLEARN_DATA does not name the folder of the data sets")


@with_data
def test_real_nips():
    folder = Path(FOLDER) / "nips_coauthorship"
    data = readers.load_nips_coauthorship(folder)
    assert assert_graph(data.adjacency, 2865).sum() == 2 * 4733 and data.doc_word.shape == (2484, 14036)
    kept = np.flatnonzero(data.at_least_two_links)
    assert len(kept) == 2026 and data.adjacency[kept][:, kept].nnz / (2026 * 2025) == pytest.approx(0.00204, abs=5e-6)
    with np.load(folder / "nips1_17_network.npz") as network:
        assert (data.adjacency[network["edges"][:, 0], network["edges"][:, 1]] == 1).all()
    worded = kept[data.author_word[kept].sum(axis=1) > 0]
    all_words = cosine_similarity(data.author_word[worded])
    assert link_roc_auc(data.adjacency[worded][:, worded], all_words) == pytest.approx(0.983, abs=5e-4)
    part = readers.separate_papers(data, random_state=0)
    assert 450 < len(part.nodes) < 550 and 400 < part.adjacency.nnz / 2 < 600
    assert 0.65 < link_roc_auc(part.adjacency, cosine_similarity(part.X)) < 0.75


@with_data
def test_real_cora():
    data = readers.load_cora(Path(FOLDER) / "cora")
    assert data.X.shape == (2708, 1433) and len(np.unique(data.target)) == 7
    assert assert_graph(data.adjacency, 2708).sum() == 2 * 5278


@with_data
def test_real_facebook():
    for ego, shape, n_links in ((0, (347, 224), 2519), (107, (1045, 576), 26749)):
        data = readers.load_facebook_ego(Path(FOLDER) / "facebook_ego", ego)
        assert data.X.shape == shape and assert_graph(data.adjacency, shape[0]).sum() == 2 * n_links


@with_data
def test_real_yeast_ppi():
    data = readers.load_yeast_ppi(Path(FOLDER) / "yeast_ppi")
    assert assert_graph(data.adjacency, 150).sum() == 2 * 168
    assert np.linalg.eigvalsh(data.K).min() > 0


@with_data
def test_real_nci60():
    data = readers.load_nci60_drugs(Path(FOLDER) / "nci60_drugs")
    missing = np.isnan(data.activity)
    assert data.activity.shape == (1068, 60) and data.paths.shape == (1068, 11964) and set(data.paths.data) == {1}
    assert (~missing.any(axis=1)).sum() == 16 and missing.mean() == pytest.approx(0.05, abs=0.001)
    common = (data.paths @ data.paths.T).toarray()
    sizes = common.diagonal()
    assert (common / (sizes[:, None] + sizes - common)).mean() == pytest.approx(0.117, abs=5e-4)
