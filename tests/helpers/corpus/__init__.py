"""Small fits of every component of the package, one module a subject.

A module has ``CASES``, a dictionary of ``Case`` by name. What each fit gives is in ``tests/regression_corpus.json``,
which ``python tests/regression_corpus.py --write`` makes anew. To add a case, add an entry to the module of its
subject.
"""

import importlib

from .case import Case

SUBJECTS = (
    "autoencoder",
    "baselines",
    "conformal",
    "containers",
    "features",
    "functions",
    "kernels",
    "links",
    "losses",
    "operators",
    "paths",
    "quantiles",
    "semi_supervised",
    "structured",
    "tables",
    "vectors",
    "wrappers",
)

CASES: dict[str, Case] = {
    f"{subject}/{name}": case
    for subject in SUBJECTS
    for name, case in importlib.import_module(f"{__name__}.{subject}").CASES.items()
}
