"""Model files: ``save`` and ``load``.

Decisions
---------
*Format.* A file is a zip archive of JSON and npy members. None is compressed, so that a small file cannot take much
memory. The JSON is a table of nodes that refer to each other by number: identity and cycles are kept, and a deep model
needs no deep stack. The digest detects damage, not forgery; loading is safe because a file cannot name code.

*Objects* are the name of a class, from a closed table (``names``, ``packages``), and attributes that are set on
``cls.__new__(cls)``. Attributes that are methods, properties or dunders are refused when saved and when loaded. Cached
properties and callbacks are not stored. Settings that a class has gained since get their defaults. Fitted models
therefore hold objects, never partial functions or bound methods. To store objects of another class of the package, add
its name to the table in ``names``.

*Other packages.* Estimators of scikit-learn are stored in the same way. Learnt attributes that compiled code follows
without checks are checked first: nodes of trees, columns of one-hot encodings, indices of sparse matrices. Estimators
that would need further checks (neighbours, clusters, vectorisers of text, stochastic gradient descent, support vector
machines, gradient boosting) are refused with a message that names the remedy. Of pandas and polars, models keep
indices, columns and dtypes of the training outputs; data frames and series as settings are refused.

skops 0.16 was measured as an alternative on the 195 estimators of scikit-learn 1.9 that fit a small table:

=============================================  ===========  =========================
..                                             this format  skops
=============================================  ===========  =========================
estimators that load                           127          139; 194 with ``trusted=``
median size of a small estimator               2.5 kB       11 kB
forest, 100 trees, 500 samples, 20 outputs     22.0 MB      23.9 MB
same forest, save and load                     0.14 s       0.13 to 0.20 s
our model in a pipeline, 500 samples           315 kB       390 kB, and 10 types to trust
forest with a child index outside of its tree  refused      refused; crash with ``trusted=``
=============================================  ===========  =========================

skops loads more estimators, but forests, ``GridSearchCV`` and every class of this package only after the user has
declared them trusted, and it does not check the numbers that compiled code follows. It would be a dependency and a
second format within the file, because estimators here hold estimators of scikit-learn and are held by them. An
estimator that is refused here can still be stored by itself with skops.

Forged files were tried as well: 3 542 files of all estimators in the table, each with one learnt attribute cut,
repeated, transposed or overwritten. None crashed a prediction; support vector machines, which are not in the table,
did.

*Functions of the user* are stored by import path, and only if both ``save`` and ``load`` get ``functions=True``.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import scipy
import sklearn

from .. import __version__
from .._utils.validation import warn
from .archive import MODEL, array_name, from_json, read_archive, to_json, write_archive
from .arrays import array_bytes
from .decode import Decoder
from .encode import Encoder
from .errors import ModelFileError

__all__ = ["ModelFileError", "load", "save"]


def save(model, path, *, functions=False) -> Path:
    """Store a model in a file; loading the file runs no code from it.

    The loaded model makes the same predictions, to the last bit, with the same versions of numpy and scipy.

    Parameters
    ----------
    model : object
        An estimator or a settings object of the package, fitted or not; a scikit-learn pipeline or search around one.
    path : str or path-like
        The file, usually with the suffix ".hl". An earlier file is replaced once the new one is complete.
    functions : bool, default=False
        Whether functions and classes of your own, such as a callable kernel, are stored by their import path,
        ``module:name``. They are imported by ``load(path, functions=True)``. By default models that need them are
        refused.

    Returns
    -------
    path : pathlib.Path
        The file.

    Raises
    ------
    TypeError
        If the model holds a value that cannot be stored; the message names its place in the model and the remedy.

    Notes
    -----
    The file is a zip archive [1]_ whose members are not compressed: ``manifest.json`` (version of the format, versions
    of the packages, SHA-256 digest of all), ``model.json``, a table of nodes that refer to each other by number, and
    arrays in numpy's npy format [2]_. Objects are stored as the name of their class, from a closed table of the
    package's own classes, estimators of scikit-learn and some classes of pandas, polars, networkx and scikit-fda, with
    their attributes. Saving a model twice gives the same bytes.

    The digest detects damage, not who wrote a file; loading is safe because a file cannot name code.

    Trees and forests of scikit-learn are stored by their nodes. Neighbours, clusters, vectorisers of text, gradient
    boosting, stochastic gradient descent and support vector machines are refused; store such an estimator by itself
    with skops, or fit it again. A model of many samples makes a large file; ``feature_map`` makes small ones.

    References
    ----------
    .. [1] PKWARE Inc. APPNOTE.TXT - .ZIP File Format Specification, version 6.3.10, 2022.
    .. [2] NumPy Enhancement Proposal 1: A simple file format for NumPy arrays, 2007.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, load, save
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> model = OperatorKernelRegressor(alpha=1e-3).fit(X, np.hstack([np.sin(X), np.cos(X)]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(model, pathlib.Path(folder) / "waves.hl")
    ...     again = load(path)
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    path = os.fspath(path)
    encoder = Encoder(functions)
    try:
        root = encoder.value(model, "")
    except RecursionError:
        raise TypeError("model holds lists inside lists too deep to be stored, or one that contains itself") from None
    members = {MODEL: to_json({"root": root, "nodes": encoder.nodes})}
    members.update((array_name(i), array_bytes(array)) for i, array in enumerate(encoder.arrays))
    return write_archive(path, members, _versions())


def load(path, *, functions=False):
    """Load a model from a file that ``save`` has written.

    Parameters
    ----------
    path : str or path-like
        The file.
    functions : bool, default=False
        Whether functions and classes that the file names as ``module:name`` are imported, which runs code of these
        modules: use it only for files that you trust. By default such files are refused.

    Returns
    -------
    model : object
        The model with its settings and learnt attributes. ``partial_fit`` can go on if the stored model could.

    Raises
    ------
    ModelFileError
        A ``ValueError``: the file is damaged, was written by a newer version of the package, or not by ``save``.

    Notes
    -----
    See ``save`` for the format. No code from the file is run. A warning is given if the model holds estimators of
    another version of scikit-learn.

    References
    ----------
    .. [1] PKWARE Inc. APPNOTE.TXT - .ZIP File Format Specification, version 6.3.10, 2022.
    .. [2] NumPy Enhancement Proposal 1: A simple file format for NumPy arrays, 2007.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from hilbertlearn import load, losses, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load(save(losses.Huber(0.5), pathlib.Path(folder) / "loss.hl"))
    Huber(kappa=0.5)
    """
    path = os.fspath(path)
    members, versions = read_archive(path)
    stored = from_json(members[MODEL], f"{path}: {MODEL}")
    if not isinstance(stored, dict) or set(stored) != {"root", "nodes"}:
        raise ModelFileError(f"{path}: {MODEL} is not as save writes it; save the model again")
    _warn_about_versions(stored["nodes"], versions, path)
    try:
        return Decoder(stored["nodes"], members, functions).model(stored["root"])
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error.__cause__
    except ImportError:
        raise  # of an optional package that the model needs; the message names it
    except Exception as error:  # of constructors that refuse their parts
        raise ModelFileError(f"{path} is not as save writes it ({error}); save the model again") from error


def _versions() -> dict[str, str]:
    dependencies = {"numpy": np, "scipy": scipy, "scikit-learn": sklearn}
    return {"hilbertlearn": __version__, **{name: package.__version__ for name, package in dependencies.items()}}


def _warn_about_versions(nodes, versions, path):
    """Warn if the file holds objects of scikit-learn and was written with another version of it."""
    stored, installed = str(versions.get("scikit-learn")), _versions()["scikit-learn"]
    if stored.split(".")[:2] == installed.split(".")[:2] or not isinstance(nodes, list):
        return
    if any(isinstance(node, dict) and str(node.get("class")).startswith("sklearn.") for node in nodes):
        warn(
            f"{path} holds estimators of scikit-learn {stored}, here it is {installed}: predictions may differ; "
            "fit again"
        )
