"""Readers of networks whose nodes have features, and of molecules. They take the path of files that the user has."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import maximum_bipartite_matching
from sklearn.utils import Bunch, check_random_state

from .._validation import check_number
from ._files import check_rows, read_arrays

SPARSE_PARTS = ("data", "indices", "indptr", "shape")
NIPS = (
    "Authors of the NIPS conferences of 1987 to 2003, linked by common papers (Globerson et al. 2007), and words of "
    "titles and abstracts of the papers until 1999. Brouard et al. 2016 have the words of the full texts."
)
CORA = (
    "Papers on machine learning by the words they have (X), linked by citations (adjacency), of seven topics (target)."
)
FACEBOOK = (
    "Friends of one user of Facebook by features of their profiles (X), linked by friendship (adjacency), of McAuley "
    "and Leskovec 2012."
)
YEAST_PPI = (
    "Proteins of yeast by a kernel that integrates several sources (K), linked by pathways (adjacency): 150 of the 769 "
    "of Yamanishi et al. 2004. Not the data of Brouard et al. 2016."
)
NCI60 = (
    "Molecules by their linear paths of 1 to 6 bonds (paths) and their activity against 60 lines of cancer cells, of "
    "CellMiner. Not the molecules of Su et al. 2010."
)


def load_nips_coauthorship(path):
    """Authors, their papers and the words of these.

    Co-authors share the words of their common papers, so that ``author_word`` gives the links away; ``separate_papers``
    and ``words_of_own_papers`` do not. The papers after 1999 have no words.

    Parameters
    ----------
    path : folder with ``nips1_17_network.npz`` (``authors``, ``doc_names``, ``doc_year``, sparse ``doc_author``) and
        ``nips0_12_abstract_words.npz`` (``vocabulary``, sparse ``doc_word``)

    Returns
    -------
    Bunch with, for 2865 authors, 2484 papers and 14036 words,
        adjacency (n_authors, n_authors) : 1 for authors of a common paper, sparse
        at_least_two_links : mask (n_authors,), the 2026 authors that Brouard et al. 2016 keep
        doc_author (n_papers, n_authors) : 0/1, sparse
        doc_word (n_papers, n_words) : counts, sparse
        author_word (n_authors, n_words) : counts over all papers of the author, sparse
        authors (n_authors,), doc_names, doc_year (n_papers,), vocabulary (n_words,)
        DESCR : a description
    """
    arrays, file = read_arrays(
        path, "nips1_17_network.npz", ("authors", "doc_names", "doc_year", *_parts("doc_author"))
    )
    words, words_file = read_arrays(path, "nips0_12_abstract_words.npz", ("vocabulary", *_parts("doc_word")))
    doc_author, doc_word = _sparse(arrays, "doc_author", file), _sparse(words, "doc_word", words_file)
    check_rows(file, {"doc_author": _rows(doc_author), **{name: arrays[name] for name in ("doc_names", "doc_year")}})
    check_rows(file, {"columns of doc_author": _rows(doc_author.T), "authors": arrays["authors"]})
    check_rows(words_file, {"doc_word": _rows(doc_word), "doc_names": arrays["doc_names"]})
    check_rows(words_file, {"columns of doc_word": _rows(doc_word.T), "vocabulary": words["vocabulary"]})
    adjacency = _coauthors(doc_author)
    return Bunch(
        adjacency=adjacency,
        at_least_two_links=_sums(adjacency) >= 2,
        doc_author=doc_author,
        doc_word=doc_word,
        author_word=scipy.sparse.csr_array(doc_author.T @ doc_word),
        **{name: arrays[name] for name in ("authors", "doc_names", "doc_year")},
        vocabulary=words["vocabulary"],
        DESCR=NIPS,
    )


def words_of_own_papers(doc_author, doc_word, random_state=None):
    """Words of authors such that no paper gives words to two of them: each paper counts for one of its authors.

    As many authors as possible have a paper (a maximum matching); the papers beyond are given to one of their authors
    at random. Features without common papers cannot be had pair by pair: the similarities of two authors by the papers
    that they did not write together are no kernel (not positive semi-definite), and most co-authors have no others. A
    common paper still speaks of its one owner here; in ``separate_papers`` it does of nobody if it makes a link.

    Parameters
    ----------
    doc_author : (n_papers, n_authors) 0/1, sparse
    doc_word : (n_papers, n_words) counts, sparse
    random_state : None, a seed, or a ``RandomState``

    Returns
    -------
    sparse (n_authors, n_words); rows of authors who got no paper are zero
    """
    rng = check_random_state(random_state)
    authorship = scipy.sparse.csr_array(doc_author)
    n_papers, n_authors = authorship.shape
    papers = np.flatnonzero((np.diff(authorship.indptr) > 0) & (_sums(doc_word) > 0))
    authorship = authorship[papers]
    n_of_paper = np.diff(authorship.indptr)
    owner = authorship.indices[authorship.indptr[:-1] + (rng.uniform(size=len(papers)) * n_of_paper).astype(int)]
    rows, columns = rng.permutation(len(papers)), rng.permutation(n_authors)  # the matching prefers the first
    matched = maximum_bipartite_matching(authorship[rows][:, columns], perm_type="column")
    owner[rows[matched >= 0]] = columns[matched[matched >= 0]]
    owns = scipy.sparse.csr_array((np.ones(len(papers)), (owner, papers)), shape=(n_authors, n_papers))
    return scipy.sparse.csr_array(owns @ doc_word)


def separate_papers(data, input_share=0.5, *, random_state=None):
    """A network of authors and their words, from different papers, so that no paper gives both.

    The papers with words are divided at random into papers for the inputs, among them all of a single author, and
    papers for the links; papers without words are for the links. Each of the input papers counts for one author, as in
    ``words_of_own_papers``: authors who write together more than once would otherwise share words again. Nodes are the
    authors who have a link and words; some have links with authors without words only, and are isolated.

    Parameters
    ----------
    data : of ``load_nips_coauthorship``
    input_share : share of the papers of several authors that are for the inputs
    random_state : None, a seed, or a ``RandomState``

    Returns
    -------
    Bunch with, for n authors,
        X (n, n_words) : counts, sparse
        adjacency (n, n) : 1 for authors of a common paper that is for the links, sparse
        nodes (n,) : their numbers in data.authors
        input_papers : mask (n_papers,)
    """
    if not 0 < check_number(input_share, "input_share") < 1:
        raise ValueError(f"input_share must be between 0 and 1, got {input_share}")
    rng = check_random_state(random_state)
    doc_author, doc_word = data.doc_author, data.doc_word
    drawn = rng.uniform(size=doc_author.shape[0]) < input_share
    inputs = (_sums(doc_word) > 0) & (drawn | (_sums(doc_author) == 1))
    network = _coauthors(doc_author[np.flatnonzero(~inputs)])
    linked = np.flatnonzero(_sums(network) > 0)
    papers = np.flatnonzero(inputs)
    X = words_of_own_papers(doc_author[papers][:, linked], doc_word[papers], rng)
    known = np.flatnonzero(_sums(X) > 0)
    nodes = linked[known]
    return Bunch(X=X[known], adjacency=network[nodes][:, nodes], nodes=nodes, input_papers=inputs)


def load_cora(path):
    """The citation network Cora.

    Parameters
    ----------
    path : folder with ``cora.npz``, or that file; it has ``edges``, ``label`` and sparse ``words``

    Returns
    -------
    Bunch with, for n = 2708 papers,
        X (n, 1433) : 1 for the words that the paper has, sparse
        adjacency (n, n) : 1 if either cites the other, sparse; 5278 links
        target (n,) : topics, 0 to 6
        DESCR : a description
    """
    arrays, file = read_arrays(path, "cora.npz", ("edges", "label", *_parts("words")))
    X, target = _sparse(arrays, "words", file), arrays["label"]
    check_rows(file, {"words": _rows(X), "label": target})
    return Bunch(X=X, adjacency=_graph(arrays["edges"], len(target), file), target=target.astype(int), DESCR=CORA)


def load_facebook_ego(path, ego=0):
    """The friends of one user of Facebook, without that user.

    Parameters
    ----------
    path : folder with ``ego0.npz`` and ``ego107.npz``, or one of these files; they have ``node_id``, ``features``,
        ``feature_names`` and ``edges``
    ego : number of the user, for the name of the file in the folder

    Returns
    -------
    Bunch with, for n = 347 friends of user 0 (1045 of user 107),
        X (n, 224) : features, 0/1 (576 for user 107)
        adjacency (n, n) : sparse; 2519 links (26749); some nodes have none
        node_id (n,), feature_names (224,)
        DESCR : a description
    """
    check_number(ego, "ego", strict=False, integer=True)
    arrays, file = read_arrays(path, f"ego{ego}.npz", ("node_id", "features", "feature_names", "edges"))
    X, names, node_id = arrays["features"], arrays["feature_names"], arrays["node_id"]
    check_rows(file, {"features": X, "node_id": node_id})
    check_rows(file, {"columns of features": X.T, "feature_names": names})
    adjacency = _graph(arrays["edges"], len(X), file)
    return Bunch(X=X.astype(float), adjacency=adjacency, node_id=node_id, feature_names=names, DESCR=FACEBOOK)


def load_yeast_ppi(path):
    """A network of yeast proteins.

    Parameters
    ----------
    path : folder with ``yamanishi150_kegg.npz``, or that file; it has ``protein``, ``adjacency`` and ``K``

    Returns
    -------
    Bunch with, for n = 150 proteins,
        K (n, n) : kernel of the proteins, for ``kernel="precomputed"``
        adjacency (n, n) : sparse; 168 links
        proteins (n,) : their names
        DESCR : a description
    """
    arrays, file = read_arrays(path, "yamanishi150_kegg.npz", ("protein", "adjacency", "K"))
    K, adjacency, proteins = arrays["K"], arrays["adjacency"], arrays["protein"]
    for name, matrix in (("K", K), ("adjacency", adjacency)):
        check_rows(file, {name: matrix, f"columns of {name}": matrix.T, "protein": proteins})
    rows, columns = np.nonzero(adjacency)
    if (adjacency != adjacency.T).any():
        raise ValueError(f"{file}: adjacency must be symmetric")
    return Bunch(
        K=K, adjacency=_graph(np.c_[rows, columns], len(K), file, "adjacency"), proteins=proteins, DESCR=YEAST_PPI
    )


def load_nci60_drugs(path):
    """Activity of molecules against lines of cancer cells.

    Parameters
    ----------
    path : folder with ``nci60_1k.npz``, or that file; it has ``nsc``, ``smiles``, ``cell_line``, ``activity_z`` and
        sparse ``path6``

    Returns
    -------
    Bunch with, for n = 1068 molecules,
        paths (n, 11964) : 1 for the linear paths of bonds that the molecule has, sparse; for a ``Tanimoto`` kernel
        activity (n, 60) : standardised for each molecule over the lines, NaN not measured; two lines, ME:MDA-N and
            LC:EKVX, have most of the gaps
        nsc, smiles (n,) : number and structure of the molecules
        cell_lines (60,) : names
        DESCR : a description
    """
    names = ("nsc", "smiles", "cell_line", "activity_z")
    arrays, file = read_arrays(path, "nci60_1k.npz", (*names, *_parts("path6")))
    nsc, smiles, cell_lines, activity = (arrays[name] for name in names)
    paths = _sparse(arrays, "path6", file)
    check_rows(file, {"path6": _rows(paths), "activity_z": activity, "nsc": nsc, "smiles": smiles})
    check_rows(file, {"columns of activity_z": activity.T, "cell_line": cell_lines})
    return Bunch(paths=paths, activity=activity, nsc=nsc, smiles=smiles, cell_lines=cell_lines, DESCR=NCI60)


def _parts(name):
    """The four arrays of a sparse matrix in a file."""
    return [f"{name}_{part}" for part in SPARSE_PARTS]


def _sparse(arrays, name, file):
    data, indices, indptr, shape = (arrays[part] for part in _parts(name))
    try:
        matrix = scipy.sparse.csr_array((data.astype(float), indices, indptr), shape=tuple(shape.tolist()))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file}: {', '.join(_parts(name))} must be the parts of a sparse matrix: {error}") from error
    return matrix


def _graph(edges, n_nodes, file, name="edges"):
    """Adjacency matrix (n_nodes, n_nodes), sparse, of pairs of nodes in any order."""
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise ValueError(f"{file}: {name} must be pairs of numbers of nodes, got shape {edges.shape}, {edges.dtype}")
    if len(edges) and (edges.min() < 0 or edges.max() >= n_nodes):
        raise ValueError(
            f"{file}: {name} must have numbers of nodes from 0 to {n_nodes - 1}, got {edges.min()} to {edges.max()}"
        )
    rows, columns = edges.T
    if (rows == columns).any():
        raise ValueError(f"{file}: {name} links node {rows[rows == columns][0]} with itself")
    half = scipy.sparse.csr_array((np.ones(len(edges)), (rows, columns)), shape=(n_nodes, n_nodes))
    return _ones(half + half.T)


def _coauthors(doc_author):
    """Adjacency matrix of the authors (n_authors, n_authors), sparse: 1 for those of a common paper."""
    common = scipy.sparse.csr_array(doc_author.T @ doc_author)
    common.setdiag(0.0)
    common.eliminate_zeros()
    return _ones(common)


def _ones(matrix):
    matrix = scipy.sparse.csr_array(matrix)
    matrix.data[:] = 1.0
    return matrix


def _sums(matrix):
    return np.asarray(matrix.sum(axis=1)).ravel()


def _rows(matrix):
    """What has as many rows as a sparse matrix, which has no length of its own."""
    return range(matrix.shape[0])
