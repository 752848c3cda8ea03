"""Readers of data with structured outputs; each takes the path of files that the user has."""

from __future__ import annotations

import csv
from inspect import getdoc
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from ..._utils.validation import check_number
from ...datasets.structured import GENRES, image_halves, movie_ratings
from .files import check_sizes, read_arrays, split_rows

MOVIELENS_FILES = {"u.user": 5, "u.item": 5 + len(GENRES), "u.data": 4}  # number of fields in a line


def load_yeast(path):
    """Yeast genes by expression and phylogeny and the functional classes each of them has.

    Parameters
    ----------
    path : str or path
        Folder with ``yeast.npz``, or that file; it has ``X_train``, ``Y_train``, ``X_test``, ``Y_test`` and
        ``label_names``.

    Returns
    -------
    data : Bunch
        With DESCR, this text, and for n = 2417 genes, 1500 for training and then 917 for testing

        - X (n, 103): features, rows of norm 1
        - Y (n, 14): 0/1
        - train: mask (n,) of the usual training set
        - label_names (14,)

    References
    ----------
    - Elisseeff and Weston (2001). A kernel method for multi-labelled classification. NIPS 14.
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML (experiments).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from hilbertlearn import readers
    >>> folder = Path(tempfile.mkdtemp())
    >>> genes, classes = np.ones((3, 103)), np.ones((3, 14))  # made up, in the form of the file
    >>> parts = {"X_train": genes, "Y_train": classes, "X_test": genes[:1], "Y_test": classes[:1]}
    >>> np.savez(folder / "yeast.npz", label_names=np.array([f"class {j}" for j in range(14)]), **parts)
    >>> data = readers.load_yeast(folder)
    >>> data.X.shape, data.Y.shape, data.train.tolist()
    ((4, 103), (4, 14), [True, True, True, False])
    """
    axes = {"X_train": "r", "Y_train": "rl", "X_test": "t", "Y_test": "t", "label_names": "l"}
    arrays, file = read_arrays(path, "yeast.npz", axes)
    X, train = _concatenate(file, arrays, "X_train", "X_test")
    Y, _ = _concatenate(file, arrays, "Y_train", "Y_test")
    return Bunch(X=X, Y=Y.astype(int), train=train, label_names=arrays["label_names"], DESCR=getdoc(load_yeast))


def load_usps(path):
    """Upper half to lower half of handwritten digits, USPS.

    The lower half is a histogram, its grey levels divided by their sum, as in the paper. The paper trains on 1000
    images, as many of each digit, and tests on 5000; these are more than the usual test set has, so it must draw from
    both sets.

    Parameters
    ----------
    path : str or path
        Folder with ``usps.npz``, or that file; it has ``X_train_code``, ``X_test_code`` (images of 256 grey levels
        from 0 to 2000, row by row), ``y_train`` and ``y_test``.

    Returns
    -------
    data : Bunch
        With DESCR, this text, and for n = 9298 images, 7291 of the usual training set and then 2007

        - X (n, 128): upper halves, row by row, grey levels in [0, 1]
        - Y (n, 128): lower halves, row by row, non-negative with sum 1
        - images (n, 16, 16): grey levels in [0, 1]
        - target (n,): the digits
        - train: mask (n,) of the usual training set

    References
    ----------
    - Hull (1994). A database for handwritten text recognition research. IEEE Transactions on Pattern Analysis and
      Machine Intelligence 16.
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      section 6 and table 2.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from hilbertlearn import readers
    >>> folder = Path(tempfile.mkdtemp())
    >>> images = np.full((3, 256), 1000)  # grey ones, made up
    >>> digits = {"y_train": np.array([3, 8, 1]), "y_test": np.array([0])}
    >>> np.savez(folder / "usps.npz", X_train_code=images, X_test_code=images[:1], **digits)
    >>> data = readers.load_usps(folder)
    >>> data.X.shape, data.Y.sum(axis=1).round(6).tolist(), data.train.tolist()
    ((4, 128), [1.0, 1.0, 1.0, 1.0], [True, True, True, False])
    """
    axes = {"X_train_code": "r", "y_train": "r", "X_test_code": "t", "y_test": "t"}
    arrays, file = read_arrays(path, "usps.npz", axes)
    codes, train = _concatenate(file, arrays, "X_train_code", "X_test_code")
    target, _ = _concatenate(file, arrays, "y_train", "y_test")
    if codes.shape[1:] != (256,) or codes.min() < 0 or codes.max() > 2000:
        raise ValueError(
            f"{file}: X_train_code and X_test_code must have 256 columns of grey levels from 0 to 2000, "
            f"got shape {codes.shape} and levels from {codes.min()} to {codes.max()}"
        )
    images = codes.reshape(-1, 16, 16) / 2000
    return image_halves(images, target=target.astype(int), train=train, DESCR=getdoc(load_usps))


def load_metabolite_candidates(path):
    """Molecules that a mass spectrum may come from, for decoding over candidates and top-k accuracy.

    They have the right formula. There are no spectra to learn from.

    Parameters
    ----------
    path : str or path
        Folder with ``impact_candidates.npz``, or that file; it has ``fingerprint_packed``, ``n_bits``,
        ``iokr_score``, ``offsets`` and the arrays from ``true_index`` below.

    Returns
    -------
    data : Bunch
        With DESCR, this text, and for n = 120 spectra of 2 to 7705 candidates

        - candidates: list of n arrays (n_candidates, 166), the fingerprints (MACCS), 0/1; candidates may share one
        - scores: list of n arrays (n_candidates,), higher is better, by input output kernel regression (Bach et al.
          2018)
        - true_index (n,): number of the true molecule among the candidates of its spectrum
        - spectrum_id, formula, inchikey (n,): of the true molecules

    References
    ----------
    - Bach, Szedmak, Brouard, Böcker and Rousu (2018). Liquid-chromatography retention order prediction for metabolite
      identification. Bioinformatics 34.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from hilbertlearn import readers
    >>> folder = Path(tempfile.mkdtemp())
    >>> bits = np.packbits(np.eye(5, 166, dtype=np.uint8), axis=1)  # two spectra of 2 and 3 candidates, made up
    >>> facts = {name: np.array(["a", "b"]) for name in ("spectrum_id", "formula", "inchikey")}
    >>> scores = {"iokr_score": np.arange(5.0), "true_index": np.array([1, 0]), "offsets": np.array([0, 2, 5])}
    >>> np.savez(folder / "impact_candidates.npz", fingerprint_packed=bits, n_bits=166, **scores, **facts)
    >>> data = readers.load_metabolite_candidates(folder)
    >>> [one.shape for one in data.candidates], data.true_index.tolist()
    ([(2, 166), (3, 166)], [1, 0])
    """
    rows = {"fingerprint_packed": "c", "iokr_score": "c", "n_bits": "", "offsets": ""}
    facts = dict.fromkeys(("true_index", "spectrum_id", "formula", "inchikey"), "n")
    arrays, file = read_arrays(path, "impact_candidates.npz", rows | facts)
    packed, scores, n_bits, offsets = (arrays.pop(name) for name in rows)
    check_sizes(file, {"offsets[1:]": len(offsets) - 1, "true_index": len(arrays["true_index"])})
    bits = np.unpackbits(packed, axis=1)[:, : int(n_bits)]
    candidates, scores = (split_rows(each, offsets, file, "candidates") for each in (bits, scores.astype(float)))
    if (arrays["true_index"] < 0).any() or (arrays["true_index"] >= np.diff(offsets)).any():
        raise ValueError(f"{file}: true_index must be less than the number of candidates of the spectrum")
    return Bunch(candidates=candidates, scores=scores, **arrays, DESCR=getdoc(load_metabolite_candidates))


def load_metabolite_fingerprints(path):
    """Molecular fingerprints from mass spectra.

    Distributed as 'fp' with Su and Rousu 2015. Not the data of Brouard et al. 2016.

    Parameters
    ----------
    path : str or path
        Folder with ``fp490.npz``, or that file; it has ``K`` and ``Y``.

    Returns
    -------
    data : Bunch
        With DESCR, this text, and for n = 490 molecules

        - K (n, n): kernel of the spectra, for ``kernel="precomputed"``
        - Y (n, 286): fingerprints, 0/1

    References
    ----------
    - Su and Rousu (2015). Multilabel classification through random graph ensembles. Machine Learning 99.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from hilbertlearn import readers
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.savez(folder / "fp490.npz", K=np.eye(4), Y=np.ones((4, 286)))  # made up, in its form
    >>> data = readers.load_metabolite_fingerprints(folder)
    >>> data.K.shape, data.Y.shape
    ((4, 4), (4, 286))
    """
    arrays, _ = read_arrays(path, "fp490.npz", {"K": "nn", "Y": "n"})
    return Bunch(K=arrays["K"], Y=arrays["Y"].astype(int), DESCR=getdoc(load_metabolite_fingerprints))


def load_movielens(path):
    """Ratings of movies by users, of the original files of MovieLens 100k.

    ``make_movie_ratings`` generates data of the same form without the files.

    Parameters
    ----------
    path : str or path
        Folder with ``u.user`` (``id|age|gender|occupation|zip``), ``u.item`` (``id|title|date|date|address|19 genres``)
        and ``u.data`` (user, movie, rating and time, between tabs).

    Returns
    -------
    data : Bunch
        With DESCR, this text, and for n = 943 users and d = 1682 movies, both in the order of the files

        - X (n, 23): features of the users: age, standardised over all users; 1 for women; 1 for their occupation, of 21
        - feature_names (23,)
        - Y (n, d): ratings 1 to 5, the larger the better, NaN not rated
        - age, gender ("M", "F"), occupation (n,)
        - genres (d, 19): 0/1; genre_names (19,); titles (d,)

    References
    ----------
    - Harper and Konstan (2015). The MovieLens datasets: history and context. ACM Transactions on Interactive
      Intelligent Systems 5.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from hilbertlearn import readers
    >>> folder = Path(tempfile.mkdtemp())
    >>> movie = "1|Solaris|1972|||" + "|".join("0" * 19)
    >>> files = {"u.user": "1|24|F|artist|85711", "u.item": movie, "u.data": "1 1 5 0"}
    >>> for name, line in files.items():  # one user and one movie, made up
    ...     written = (folder / name).write_text(line.replace(" ", chr(9)))  # tabs
    >>> data = readers.load_movielens(folder)
    >>> data.Y.tolist(), data.titles.tolist(), data.occupation.tolist()
    ([[5.0]], ['Solaris'], ['artist'])
    """
    folder = Path(path)
    users, items, ratings = (_fields(folder / name, n_fields) for name, n_fields in MOVIELENS_FILES.items())
    age, gender, occupation = _numbers(users[:, 1], folder / "u.user", "ages").astype(int), users[:, 2], users[:, 3]
    genres = _numbers(items[:, 5:], folder / "u.item", "genres").astype(int)

    file = folder / "u.data"
    rows, columns = _positions(ratings[:, 0], users[:, 0], file), _positions(ratings[:, 1], items[:, 0], file)
    Y = np.full((len(users), len(items)), np.nan)
    Y[rows, columns] = _numbers(ratings[:, 2], file, "ratings")
    if (~np.isnan(Y)).sum() < len(ratings):
        raise ValueError(f"{file}: a user rates a movie twice; there must be one line for each pair of them")
    occupations, titles = np.unique(occupation), items[:, 1]
    return movie_ratings(Y, age, gender, occupation, occupations, genres, titles, getdoc(load_movielens))


def load_label_rankings(path, n_labels=None):
    r"""A table of features and rankings of labels, separated by commas.

    Parameters
    ----------
    path : str or path
        The file. Its last column has the labels in order, the best first (``b>c>a``; labels may be missing), or
        its last n_labels columns have the ranks of the labels, 1 for the best. The other columns are numbers. A first
        line that is no row of the table is a heading.
    n_labels : int, default=None
        Number of rank columns; None for a column of orders.

    Returns
    -------
    data : Bunch
        With DESCR, this text, and for n lines

        - X (n, n_features)
        - Y (n, n_labels): the rank of each label, 1 for the best; NaN for a label that an order does not have
        - label_names (n_labels,): labels of the orders in alphabetical order (L2 before L10), or headings of the ranks

    References
    ----------
    - Cheng, Hühn and Hüllermeier (2009). Decision tree and instance-based learning for label ranking. ICML (whose data
      sets have this form).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from hilbertlearn import readers
    >>> file = Path(tempfile.mkdtemp()) / "wine.csv"
    >>> written = file.write_text("age,sugar,order\n3,0.2,b>a>c\n5,0.1,a>c\n")
    >>> data = readers.load_label_rankings(file)
    >>> data.label_names.tolist(), data.Y.tolist()
    (['a', 'b', 'c'], [[2.0, 1.0, 3.0], [1.0, nan, 2.0]])
    """
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"no file {file}: path must be a table of features and rankings, separated by commas")
    if n_labels is not None:
        check_number(n_labels, "n_labels", integer=True)
    with file.open(newline="", encoding="utf-8") as lines:
        table = [[field.strip() for field in row] for row in csv.reader(lines) if row]
    heading, rows = _heading(table, file, orders=n_labels is None)
    if n_labels is None:
        label_names, Y = _orders([row[-1] for row in rows], file)
    else:
        label_names, Y = _ranks(rows, heading, n_labels, file)
    X = _numbers([row[: -(n_labels or 1)] for row in rows], file, "features")
    return Bunch(X=X, Y=Y, label_names=label_names, DESCR=getdoc(load_label_rankings))


def _concatenate(file, arrays, *names):
    """The two arrays of these names one after the other, and the mask of the first."""
    first, second = (arrays[name] for name in names)
    if first.shape[1:] != second.shape[1:]:
        raise ValueError(
            f"{file}: {' and '.join(names)} must have as many columns, got shapes {first.shape} and {second.shape}"
        )
    return np.concatenate([first, second]), np.arange(len(first) + len(second)) < len(first)


def _fields(file, n_fields):
    """The fields of a file of MovieLens, an array of strings (n_lines, n_fields)."""
    if not file.is_file():
        raise FileNotFoundError(
            f"no file {file}: path must be the folder of MovieLens 100k, with {', '.join(MOVIELENS_FILES)}"
        )
    separator = "\t" if file.name == "u.data" else "|"
    lines = [line.split(separator) for line in file.read_text(encoding="latin-1").splitlines() if line.strip()]
    for number, fields in enumerate(lines, start=1):
        if len(fields) != n_fields:
            raise ValueError(
                f"{file}, line {number}: must have {n_fields} fields separated by {separator!r}, as in MovieLens 100k, "
                f"got {len(fields)}"
            )
    if not lines:
        raise ValueError(f"{file} is empty")
    return np.array(lines)


def _numbers(fields, file, name):
    """Fields, strings, as an array of numbers of the same shape; name : of the fields, for errors."""
    try:
        return np.asarray(fields).astype(float)
    except ValueError as error:
        raise ValueError(f"{file}: {name} must be numbers: {error}") from error


def _positions(ids, known, file):
    """For each of ids its position in known."""
    position = {name: i for i, name in enumerate(known)}
    unknown = [name for name in ids if name not in position]
    if unknown:
        raise ValueError(f"{file}: {unknown[0]} is the number of no user or movie in u.user and u.item")
    return np.array([position[name] for name in ids])


def _heading(table, file, orders):
    """The first line if it is a heading, or None, and the rows of the table, all of the same length."""
    width = len(table[-1]) if table else 0
    heading = table[0] if table and not _is_row(table[0], width, orders) else None
    rows = table[0 if heading is None else 1 :]
    if not rows or width < 2:
        raise ValueError(f"{file} must have lines of features and a ranking, separated by commas")
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise ValueError(f"{file}: row {number} has {len(row)} columns, others {width}")
        if orders and ">" not in row[-1]:
            raise ValueError(
                f"{file}: the last column must be an order such as b>c>a, got {row[-1]!r} in row {number}; "
                "for columns of ranks give their number as n_labels"
            )
    return heading, rows


def _is_row(fields, width, orders):
    if len(fields) != width:
        return False
    if orders:
        return ">" in fields[-1]
    try:
        [float(field) for field in fields]
    except ValueError:
        return False
    return True


def _orders(orders, file):
    """Label names (d,), and ranks (n, d) from orders such as ``b>c>a``."""
    lists = [[name.strip() for name in order.split(">")] for order in orders]
    names = sorted({name for order in lists for name in order}, key=lambda name: (len(name), name))
    position = {name: j for j, name in enumerate(names)}
    Y = np.full((len(lists), len(names)), np.nan)
    for i, order in enumerate(lists):
        if len(set(order)) < len(order):
            raise ValueError(f"{file}: row {i + 1} has a label twice: {orders[i]}")
        Y[i, [position[name] for name in order]] = np.arange(1, len(order) + 1)
    return np.array(names), Y


def _ranks(rows, heading, n_labels, file):
    """Label names (n_labels,), and ranks (n, n_labels) from the last columns."""
    width = len(rows[0])
    if n_labels >= width:
        raise ValueError(f"n_labels must be less than {width}, the number of columns of {file}; got {n_labels}")
    has_names = heading is not None and len(heading) == width
    names = heading[-n_labels:] if has_names else [f"L{j + 1}" for j in range(n_labels)]
    return np.array(names), _numbers([row[-n_labels:] for row in rows], file, "ranks")
