"""Files of models: ``save`` and ``load``.

A file holds numbers, text and names of classes from a closed table; nothing in it is, or names, code to run. To make
objects of another class of the package storable, add one line to the table in ``names``.
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
    """Store a model in a file that can be loaded without running anything that is in it.

    The loaded model predicts the same, to the last bit, on a machine with the same versions of numpy and scipy.

    Parameters
    ----------
    model : any estimator or settings object of the package, fitted or not; a scikit-learn pipeline or search around one
    path : str or path of the file, by habit with the suffix ".hl"; an earlier file is replaced when all is written
    functions : True stores functions and classes of your own, such as a callable kernel, by where they are imported
        from, ``module:name``; they must be there when the model is loaded, with ``load(path, functions=True)``. By
        default models that need them are refused.

    Returns
    -------
    pathlib.Path of the file

    Notes
    -----
    The file is a zip archive [1]_ whose members are not compressed: ``manifest.json`` (version of the format, versions
    of the packages, SHA-256 digest of all), ``model.json``, a table of nodes that refer to each other by number, and
    arrays in numpy's npy format [2]_. Objects are stored as the name of their class, from a closed table of the
    package's own classes, scikit-learn's estimators and some of pandas, polars, networkx and scikit-fda, and their
    attributes. Saving a model twice gives the same bytes.

    The digest tells a damaged file. It does not tell who wrote a file; loading is safe because a file cannot name code.

    Trees, forests and neighbours of scikit-learn are stored by their nodes and samples; its gradient boosting and
    support vector machines are not stored. A model of many samples makes a large file; ``feature_map`` makes small
    ones.

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
    """The model in a file that ``save`` has written.

    Parameters
    ----------
    path : str or path of the file
    functions : True imports the functions and classes that the file names by ``module:name``, which runs code of these
        modules: only for files that you trust. By default such files are refused.

    Returns
    -------
    The model, as it was: settings, learnt attributes, ``partial_fit`` where it had it.

    Raises
    ------
    ModelFileError
        a ``ValueError``, if the file is damaged, of a newer version of the package, or not written by ``save``

    Notes
    -----
    See ``save`` for the format. Nothing of the file is run, whoever wrote it. A model that holds estimators of
    scikit-learn warns if the version that wrote it is another one.

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
    _warn_of_versions(stored["nodes"], versions, path)
    try:
        return Decoder(stored["nodes"], members, functions).model(stored["root"])
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error.__cause__
    except ImportError:
        raise  # an extra that the model needs, which says its name
    except Exception as error:  # of constructors that were given parts they refuse
        raise ModelFileError(f"{path} is not as save writes it ({error}); save the model again") from error


def _versions() -> dict[str, str]:
    others = {"numpy": np, "scipy": scipy, "scikit-learn": sklearn}
    return {"hilbertlearn": __version__, **{name: package.__version__ for name, package in others.items()}}


def _warn_of_versions(nodes, versions, path):
    """Warn where objects of scikit-learn were written by another version of it."""
    then, now = str(versions.get("scikit-learn")), _versions()["scikit-learn"]
    if then.split(".")[:2] == now.split(".")[:2] or not isinstance(nodes, list):
        return
    if any(isinstance(node, dict) and str(node.get("class")).startswith("sklearn.") for node in nodes):
        warn(f"{path} holds estimators of scikit-learn {then}, here it is {now}: predictions may differ; fit again")
