"""Readers of networks whose nodes have features, and of molecules; each takes the path of files that the user has."""

from __future__ import annotations

from inspect import getdoc

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import maximum_bipartite_matching
from sklearn.utils import Bunch, check_random_state

from ..._utils.validation import check_number
from ...datasets.graphs import graph_from_edges
from .files import check_sizes, read_arrays


def load_nips_coauthorship(path):
    """Authors of the NIPS conferences of 1987 to 2003, linked by common papers, and words.

    The words are those of titles and abstracts of the papers until 1999; later ones have none. Brouard et al. 2016 have
    the words of the full texts. Co-authors share the words of their common papers, so that ``author_word`` gives the
    links away; ``separate_papers`` and ``words_of_own_papers`` do not.

    Parameters
    ----------
    path : str or path
        Folder with ``nips1_17_network.npz`` (``authors``, ``doc_names``, ``doc_year``, sparse ``doc_author``) and
        ``nips0_12_abstract_words.npz`` (``vocabulary``, sparse ``doc_word``).

    Returns
    -------
    data : Bunch
        With DESCR, this text, and for 2865 authors, 2484 papers and 14036 words

        - adjacency (n_authors, n_authors): 1 for authors of a common paper, sparse
        - at_least_two_links: mask (n_authors,), the 2026 authors that Brouard et al. 2016 keep
        - doc_author (n_papers, n_authors): 0/1, sparse
        - doc_word (n_papers, n_words): counts, sparse
        - author_word (n_authors, n_words): counts over all papers of the author, sparse
        - authors (n_authors,), doc_names, doc_year (n_papers,), vocabulary (n_words,)

    References
    ----------
    - Globerson, Chechik, Pereira and Tishby (2007). Euclidean embedding of co-occurrence data. Journal of Machine
      Learning Research 8.
    - Brouard, Szafranski and d'Alché-Buc (2016). Input output kernel regression: supervised and semi-supervised
      structured output prediction with operator-valued kernels. Journal of Machine Learning Research 17.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import scipy.sparse
    >>> from hilbertlearn import readers
    >>> folder = Path(tempfile.mkdtemp())
    >>> def parts(name, matrix):  # of a sparse matrix
    ...     matrix = scipy.sparse.csr_array(matrix)
    ...     return {f"{name}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}
    >>> facts = {"authors": np.array(["A", "B"]), "doc_names": np.array(["one"]), "doc_year": np.array([1990])}
    >>> np.savez(folder / "nips1_17_network.npz", **facts, **parts("doc_author", [[1, 1]]))
    >>> words = {"vocabulary": np.array(["kernel", "loss"]), **parts("doc_word", [[2, 1]])}
    >>> np.savez(folder / "nips0_12_abstract_words.npz", **words)
    >>> data = readers.load_nips_coauthorship(folder)
    >>> data.adjacency.toarray().tolist(), data.author_word.toarray().tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [[2.0, 1.0], [2.0, 1.0]])
    """
    network_axes = {"authors": "a", "doc_names": "p", "doc_year": "p", "doc_author": "pa"}
    network, _ = read_arrays(path, "nips1_17_network.npz", network_axes, sparse=["doc_author"])
    words, file = read_arrays(
        path, "nips0_12_abstract_words.npz", {"vocabulary": "w", "doc_word": "pw"}, sparse=["doc_word"]
    )
    doc_author, doc_word = network["doc_author"], words["doc_word"]
    check_sizes(file, {"doc_word": doc_word.shape[0], "doc_names": len(network["doc_names"])})
    adjacency = _coauthors(doc_author)
    return Bunch(
        adjacency=adjacency,
        at_least_two_links=adjacency.sum(axis=1) >= 2,
        author_word=scipy.sparse.csr_array(doc_author.T @ doc_word),
        **network,
        **words,
        DESCR=getdoc(load_nips_coauthorship),
    )


def words_of_own_papers(doc_author, doc_word, random_state=None):
    """Words of authors such that no paper gives words to two of them: each paper counts for one of its authors.

    As many authors as possible have a paper (a maximum matching); the other papers are assigned to one of their
    authors at random. Similarities of two authors by the papers that they did not write together would be no kernel
    (not positive semi-definite), and most co-authors have no such papers. A
    common paper provides words of one author here; in ``separate_papers`` it provides none where it makes a link.

    Parameters
    ----------
    doc_author : sparse matrix of shape (n_papers, n_authors)
        1 for the authors of a paper.
    doc_word : sparse matrix of shape (n_papers, n_words)
        Counts.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    words : sparse matrix of shape (n_authors, n_words)
        Counts; rows of authors who got no paper are zero.

    References
    ----------
    - Hopcroft and Karp (1973). An n^5/2 algorithm for maximum matchings in bipartite graphs. SIAM Journal on Computing
      2.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import readers
    >>> doc_author = np.array([[1, 1], [1, 0]])  # a paper of both authors, and one of the first alone
    >>> readers.words_of_own_papers(doc_author, np.array([[5, 0], [0, 7]]), random_state=0).toarray().tolist()
    [[0.0, 7.0], [5.0, 0.0]]
    """
    rng = check_random_state(random_state)
    authorship, doc_word = scipy.sparse.csr_array(doc_author), scipy.sparse.csr_array(doc_word)
    n_papers, n_authors = authorship.shape
    papers = np.flatnonzero((np.diff(authorship.indptr) > 0) & (doc_word.sum(axis=1) > 0))
    authorship = authorship[papers]
    n_of_paper = np.diff(authorship.indptr)
    owner = authorship.indices[authorship.indptr[:-1] + (rng.uniform(size=len(papers)) * n_of_paper).astype(int)]
    rows, columns = rng.permutation(len(papers)), rng.permutation(n_authors)  # the matching prefers the first
    matched = maximum_bipartite_matching(authorship[rows][:, columns], perm_type="column")
    owner[rows[matched >= 0]] = columns[matched[matched >= 0]]
    ownership = scipy.sparse.csr_array((np.ones(len(papers)), (owner, papers)), shape=(n_authors, n_papers))
    return ownership @ doc_word


def separate_papers(data, input_share=0.5, *, random_state=None):
    """A network of authors and their words, from different papers, so that no paper gives both.

    The papers with words are divided at random into papers for the inputs, among them all of a single author, and
    papers for the links; papers without words are for the links. Each of the input papers counts for one author, as in
    ``words_of_own_papers``: authors who write together more than once would otherwise share words again. Nodes are the
    authors who have a link and words; some have links with authors without words only, and are isolated.

    Parameters
    ----------
    data : Bunch
        Of ``load_nips_coauthorship``; its ``doc_author`` and ``doc_word`` are used.
    input_share : float, default=0.5
        Share of the papers of several authors that are for the inputs.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    data : Bunch
        With, for n authors

        - X (n, n_words): counts, sparse
        - adjacency (n, n): 1 for authors of a common paper that is for the links, sparse
        - nodes (n,): their numbers in data.authors
        - input_papers: mask (n_papers,)

    References
    ----------
    - Brouard, Szafranski and d'Alché-Buc (2016). Input output kernel regression: supervised and semi-supervised
      structured output prediction with operator-valued kernels. Journal of Machine Learning Research 17 (the task).

    Examples
    --------
    Two papers of two authors each have no words and make the links; each author has a paper of words:

    >>> import numpy as np
    >>> import scipy.sparse
    >>> from sklearn.utils import Bunch
    >>> from hilbertlearn import readers
    >>> doc_author = scipy.sparse.csr_array(np.vstack([[[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]], np.eye(3)]))
    >>> doc_word = scipy.sparse.csr_array(np.vstack([np.zeros((2, 3)), np.eye(3)]))
    >>> data = readers.separate_papers(Bunch(doc_author=doc_author, doc_word=doc_word), random_state=0)
    >>> data.adjacency.toarray().tolist(), data.X.toarray().tolist()
    ([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    """
    if not 0 < check_number(input_share, "input_share") < 1:
        raise ValueError(f"input_share must be between 0 and 1, got {input_share}")
    rng = check_random_state(random_state)
    doc_author, doc_word = data.doc_author, data.doc_word
    is_drawn = rng.uniform(size=doc_author.shape[0]) < input_share
    inputs = (doc_word.sum(axis=1) > 0) & (is_drawn | (doc_author.sum(axis=1) == 1))
    network = _coauthors(doc_author[np.flatnonzero(~inputs)])
    with_links = np.flatnonzero(network.sum(axis=1) > 0)
    papers = np.flatnonzero(inputs)
    X = words_of_own_papers(doc_author[papers][:, with_links], doc_word[papers], rng)
    known = np.flatnonzero(X.sum(axis=1) > 0)
    nodes = with_links[known]
    return Bunch(X=X[known], adjacency=network[nodes][:, nodes], nodes=nodes, input_papers=inputs)


def load_cora(path):
    """The citation network Cora: papers on machine learning by the words they have, of seven topics.

    Parameters
    ----------
    path : str or path
        Folder with ``cora.npz``, or that file; it has ``edges``, ``label`` and sparse ``words`` (``words_data``,
        ``words_indices``, ``words_indptr``, ``words_shape``).

    Returns
    -------
    data : Bunch
        With DESCR, this text, and for n = 2708 papers

        - X (n, 1433): 1 for the words that the paper has, sparse
        - adjacency (n, n): 1 if either cites the other, sparse; 5278 links
        - target (n,): topics, 0 to 6

    References
    ----------
    - Sen et al. (2008). Collective classification in network data. AI Magazine 29.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import scipy.sparse
    >>> from hilbertlearn import readers
    >>> folder = Path(tempfile.mkdtemp())
    >>> words = scipy.sparse.csr_array(np.eye(3))  # three papers of a word each, made up
    >>> parts = {f"words_{part}": getattr(words, part) for part in ("data", "indices", "indptr", "shape")}
    >>> np.savez(folder / "cora.npz", edges=np.array([[0, 1]]), label=np.array([0, 0, 1]), **parts)
    >>> data = readers.load_cora(folder)
    >>> data.adjacency.toarray().tolist(), data.X.shape, data.target.tolist()
    ([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], (3, 3), [0, 0, 1])
    """
    arrays, file = read_arrays(path, "cora.npz", {"edges": "", "label": "n", "words": "n"}, sparse=["words"])
    target = arrays["label"].astype(int)
    adjacency = _graph(arrays["edges"], len(target), file)
    return Bunch(X=arrays["words"], adjacency=adjacency, target=target, DESCR=getdoc(load_cora))


def load_facebook_ego(path, ego=0):
    """The friends of one user of Facebook, without that user.

    Parameters
    ----------
    path : str or path
        Folder with ``ego0.npz`` and ``ego107.npz``, or one of these files; they have ``node_id``, ``features``,
        ``feature_names`` and ``edges``.
    ego : int, default=0
        Number of the user, for the name of the file in the folder.

    Returns
    -------
    data : Bunch
        With DESCR, this text, and for n = 347 friends of user 0 (1045 of user 107)

        - X (n, 224): features of their profiles, 0/1 (576 for user 107)
        - adjacency (n, n): friendships, sparse; 2519 links (26749); some nodes have none
        - node_id (n,), feature_names (224,)

    References
    ----------
    - McAuley and Leskovec (2012). Learning to discover social circles in ego networks. NIPS 25.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from hilbertlearn import readers
    >>> folder = Path(tempfile.mkdtemp())
    >>> facts = {"node_id": np.array([7, 8, 9]), "feature_names": np.array(["town", "school"])}  # made up
    >>> np.savez(folder / "ego0.npz", features=np.eye(3)[:, :2], edges=np.array([[0, 1], [1, 2]]), **facts)
    >>> data = readers.load_facebook_ego(folder, ego=0)
    >>> data.X.shape, data.adjacency.toarray().tolist()
    ((3, 2), [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    """
    check_number(ego, "ego", strict=False, integer=True)
    axes = {"node_id": "n", "features": "nf", "feature_names": "f", "edges": ""}
    arrays, file = read_arrays(path, f"ego{ego}.npz", axes)
    X = arrays.pop("features").astype(float)
    adjacency = _graph(arrays.pop("edges"), len(X), file)
    return Bunch(X=X, adjacency=adjacency, **arrays, DESCR=getdoc(load_facebook_ego))


def load_yeast_ppi(path):
    """Yeast proteins linked by pathways: 150 of the 769 of Yamanishi et al. 2004, not those of Brouard et al. 2016.

    Parameters
    ----------
    path : str or path
        Folder with ``yamanishi150_kegg.npz``, or that file; it has ``protein``, ``adjacency`` and ``K``.

    Returns
    -------
    data : Bunch
        With DESCR, this text, and for n = 150 proteins

        - K (n, n): kernel of the proteins that integrates several sources, for ``kernel="precomputed"``
        - adjacency (n, n): sparse; 168 links
        - proteins (n,): their names

    References
    ----------
    - Yamanishi, Vert and Kanehisa (2004). Protein network inference from multiple genomic data: a supervised approach.
      Bioinformatics 20.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from hilbertlearn import readers
    >>> folder = Path(tempfile.mkdtemp())
    >>> links = np.array([[0, 1], [1, 0]])  # two proteins, made up
    >>> np.savez(folder / "yamanishi150_kegg.npz", protein=np.array(["YAL1", "YAL2"]), adjacency=links, K=np.eye(2))
    >>> data = readers.load_yeast_ppi(folder)
    >>> data.K.shape, data.adjacency.toarray().tolist(), data.proteins.tolist()
    ((2, 2), [[0.0, 1.0], [1.0, 0.0]], ['YAL1', 'YAL2'])
    """
    axes = {"protein": "n", "adjacency": "nn", "K": "nn"}
    arrays, file = read_arrays(path, "yamanishi150_kegg.npz", axes)
    adjacency = arrays["adjacency"]
    if (adjacency != adjacency.T).any():
        raise ValueError(f"{file}: adjacency must be symmetric")
    adjacency = _graph(np.argwhere(adjacency), len(adjacency), file, "adjacency")
    return Bunch(K=arrays["K"], adjacency=adjacency, proteins=arrays["protein"], DESCR=getdoc(load_yeast_ppi))


def load_nci60_drugs(path):
    """Activity of molecules against 60 lines of cancer cells, of CellMiner.

    They are not the molecules of Su et al. 2010.

    Parameters
    ----------
    path : str or path
        Folder with ``nci60_1k.npz``, or that file; it has ``nsc``, ``smiles``, ``cell_line``, ``activity_z`` and sparse
        ``path6``.

    Returns
    -------
    data : Bunch
        With DESCR, this text, and for n = 1068 molecules

        - paths (n, 11964): 1 for the linear paths of 1 to 6 bonds that the molecule has, sparse; for a
          ``Tanimoto`` kernel
        - activity (n, 60): standardised for each molecule over the lines, NaN not measured; two lines, ME:MDA-N and
          LC:EKVX, have most of the gaps
        - nsc, smiles (n,): number and structure of the molecules
        - cell_lines (60,): names

    References
    ----------
    - Reinhold et al. (2012). CellMiner: a web-based suite of genomic and pharmacologic tools to explore transcript and
      drug patterns in the NCI-60 cell line set. Cancer Research 72.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import scipy.sparse
    >>> from hilbertlearn import readers
    >>> folder = Path(tempfile.mkdtemp())
    >>> paths = scipy.sparse.csr_array(np.eye(2))  # two molecules, made up
    >>> parts = {f"path6_{part}": getattr(paths, part) for part in ("data", "indices", "indptr", "shape")}
    >>> facts = {"nsc": np.array([1, 2]), "smiles": np.array(["CC", "CO"]), "cell_line": np.array(["ME:MDA-N"])}
    >>> np.savez(folder / "nci60_1k.npz", activity_z=np.array([[0.5], [np.nan]]), **facts, **parts)
    >>> data = readers.load_nci60_drugs(folder)
    >>> data.paths.shape, data.activity.shape, data.cell_lines.tolist()
    ((2, 2), (2, 1), ['ME:MDA-N'])
    """
    axes = {"nsc": "n", "smiles": "n", "cell_line": "c", "activity_z": "nc", "path6": "n"}
    arrays, _ = read_arrays(path, "nci60_1k.npz", axes, sparse=["path6"])
    names = {"path6": "paths", "activity_z": "activity", "cell_line": "cell_lines"}
    return Bunch(**{names.get(key, key): array for key, array in arrays.items()}, DESCR=getdoc(load_nci60_drugs))


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
    return graph_from_edges(rows, columns, n_nodes)


def _coauthors(doc_author):
    """Adjacency matrix of the authors (n_authors, n_authors), sparse: 1 for those of a common paper."""
    common = scipy.sparse.csr_array(doc_author.T @ doc_author)
    common.setdiag(0.0)
    common.eliminate_zeros()
    return common.astype(bool).astype(float)
