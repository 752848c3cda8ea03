"""The closed table of other packages' classes whose objects a file may hold, and of functions that it may name.

Estimators of scikit-learn whose predictions are numpy's and scipy's work, or whose attributes are checked in
``estimators`` before compiled code sees them, its kernels and splitters; containers and bases of scikit-fda. Names in
files are public ones, "sklearn.linear_model.Ridge".
"""

from __future__ import annotations

import importlib
import inspect
import sys
import types

import numpy as np

from .frames import POLARS
from .names import PACKAGE

# modules, with the classes of those of which not all that are public may be stored
MODULES: dict[str, str | None] = {
    "sklearn.cluster": "KMeans MiniBatchKMeans",
    "sklearn.compose": None,
    "sklearn.covariance": None,
    "sklearn.cross_decomposition": None,
    "sklearn.decomposition": None,
    "sklearn.discriminant_analysis": None,
    "sklearn.dummy": None,
    "sklearn.ensemble": "AdaBoostClassifier AdaBoostRegressor BaggingClassifier BaggingRegressor ExtraTreesClassifier "
    "ExtraTreesRegressor RandomForestClassifier RandomForestRegressor RandomTreesEmbedding StackingClassifier "
    "StackingRegressor VotingClassifier VotingRegressor",
    "sklearn.feature_extraction": "DictVectorizer",
    "sklearn.feature_extraction.text": "CountVectorizer TfidfTransformer TfidfVectorizer",
    "sklearn.feature_selection": None,
    "sklearn.gaussian_process": None,
    "sklearn.gaussian_process.kernels": None,
    "sklearn.impute": None,
    "sklearn.kernel_approximation": None,
    "sklearn.kernel_ridge": None,
    "sklearn.linear_model": None,
    "sklearn.metrics._scorer": "_MultimetricScorer _PassthroughScorer _Scorer",
    "sklearn.model_selection": None,
    "sklearn.multiclass": None,
    "sklearn.multioutput": None,
    "sklearn.naive_bayes": None,
    "sklearn.neighbors": "KNeighborsClassifier KNeighborsRegressor NearestNeighbors RadiusNeighborsClassifier "
    "RadiusNeighborsRegressor",
    "sklearn.neural_network": "MLPClassifier MLPRegressor",
    "sklearn.neural_network._stochastic_optimizers": "AdamOptimizer SGDOptimizer",
    "sklearn.pipeline": None,
    "sklearn.preprocessing": None,
    "sklearn.random_projection": None,
    "sklearn.svm": "LinearSVC LinearSVR",
    "sklearn.tree": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor",
    "sklearn.utils._metadata_requests": "MetadataRequest MethodMetadataRequest",
    "skfda": "FDataBasis FDataGrid FDataIrregular",
    "skfda.representation.basis": "BSplineBasis ConstantBasis FourierBasis MonomialBasis",
    "skfda.representation.interpolation": "SplineInterpolation",
}

# modules, with the functions of those of which not all that are public may be named
FUNCTIONS: dict[str, str | None] = {
    f"{PACKAGE}._sums": "same",
    f"{PACKAGE}.kernels": None,
    f"{PACKAGE}.metrics": None,
    "sklearn.metrics": None,
    "sklearn.metrics.pairwise": "additive_chi2_kernel chi2_kernel cosine_distances cosine_similarity "
    "euclidean_distances laplacian_kernel linear_kernel manhattan_distances polynomial_kernel rbf_kernel "
    "sigmoid_kernel",
}

# classes that are settings, or say in what form outputs came
TYPES = {
    f"{cls.__module__}.{cls.__qualname__}": cls
    for cls in (bool, int, float, complex, str, bytes, object, list, tuple, dict, set, frozenset)
}
_FRAMES = {"pandas": ("DataFrame", "Series"), "polars": ("DataFrame", "Series", *POLARS)}


def class_name(cls: type) -> str | None:
    """The public name of a class of another package, None if it is not in the table."""
    for module in _homes(cls.__module__):
        name = f"{module}.{cls.__qualname__}"
        if class_of(name) is cls:
            return name
    return None


def class_of(name: str) -> type | None:
    """The class behind a public name, None if it is not in the table."""
    module, _, short = name.rpartition(".")
    if module not in MODULES:
        return None
    named = MODULES[module]
    if short.startswith("_") if named is None else short not in named.split():
        return None
    found = getattr(importlib.import_module(module), short, None)
    home = module if named is None else module.split(".")[0]  # what a module imports from elsewhere is not its own
    return found if inspect.isclass(found) and f"{found.__module__}.".startswith(f"{home}.") else None


def function_name(function) -> str | None:
    """The public name of a function of numpy, scikit-learn or this package that needs no import by the user's path."""
    short = getattr(function, "__name__", "")
    for module in (*FUNCTIONS, "numpy"):
        if module in sys.modules and function_of(f"{module}.{short}") is function:
            return f"{module}.{short}"
    return None


def function_of(name: str):
    """The function behind a public name, None if it is not one of those that files may name."""
    module, _, short = name.rpartition(".")
    if module == "numpy":
        found = getattr(np, short, None)
        return found if isinstance(found, np.ufunc) else None
    if module not in FUNCTIONS:
        return None
    home, named = importlib.import_module(module), FUNCTIONS[module]
    found = getattr(home, short, None) if short in (home.__all__ if named is None else named.split()) else None
    return found if isinstance(found, types.FunctionType) else None


def type_in_files(cls: type) -> str | None:
    """The name of a class that is itself a value, None if it cannot be one."""
    name = f"{cls.__module__.split('.')[0]}.{cls.__qualname__}"
    return name if type_behind(name) is cls else None


def type_behind(name: str) -> type | None:
    """The class behind the name of one that is itself a value."""
    if name in TYPES:
        return TYPES[name]
    package, _, short = name.partition(".")
    if package == "numpy":
        found = getattr(np, short, None)
        return found if isinstance(found, type) and issubclass(found, np.generic) else None
    if short in _FRAMES.get(package, ()):
        return getattr(importlib.import_module(package), short)
    return None


def _homes(module: str):
    """The modules where a class that is defined in `module` may be public."""
    parts = module.split(".")
    return [".".join(parts[:n]) for n in range(len(parts), 0, -1)]


def is_estimator(value) -> bool:
    """Whether an object is one of scikit-learn's, or of a class made from one."""
    return any(base.__module__.split(".")[0] == "sklearn" for base in type(value).__mro__)
