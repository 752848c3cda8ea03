"""The closed table of other packages' classes whose objects a file may hold, and of functions that it may name.

It has the estimators of scikit-learn whose learnt attributes are used by numpy and scipy alone, or are checked in
``estimators`` and ``trees``; its kernels and splitters; containers and bases of scikit-fda. Files have public names, as
"sklearn.linear_model.Ridge".

Compiled code of the following estimators relies on learnt attributes without checks, so they are not in the table:
neighbours, clusters, support vector machines, gradient boosting, vectorisers of text, stochastic gradient descent.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import types

import numpy as np

from .names import PACKAGE

# module -> classes that may be stored; None for all public classes of the module but those in EXCLUDED
CLASSES: dict[str, str | None] = {
    "sklearn.compose": None,
    "sklearn.covariance": None,
    "sklearn.cross_decomposition": None,
    "sklearn.decomposition": None,
    "sklearn.discriminant_analysis": None,
    "sklearn.dummy": None,
    "sklearn.ensemble": "AdaBoostClassifier AdaBoostRegressor BaggingClassifier BaggingRegressor ExtraTreesClassifier "
    "ExtraTreesRegressor RandomForestClassifier RandomForestRegressor RandomTreesEmbedding StackingClassifier "
    "StackingRegressor VotingClassifier VotingRegressor",
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
EXCLUDED = (
    "sklearn.linear_model.PassiveAggressiveRegressor",
    "sklearn.linear_model.SGDRegressor",
    "sklearn.preprocessing.MultiLabelBinarizer",
)

# module -> functions that may be named; None for all in its __all__
FUNCTIONS: dict[str, str | None] = {
    f"{PACKAGE}.kernels": None,
    f"{PACKAGE}.metrics": None,
    "sklearn.metrics": None,
    "sklearn.metrics.pairwise": "additive_chi2_kernel chi2_kernel cosine_distances cosine_similarity "
    "euclidean_distances laplacian_kernel linear_kernel manhattan_distances polynomial_kernel rbf_kernel "
    "sigmoid_kernel",
}

POLARS_DTYPES = tuple(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64))
POLARS_DTYPES += ("Float32", "Float64", "Boolean", "String", "Binary", "Date", "Time", "Null", "Object", "Categorical")

# classes that are values themselves: settings, and the classes of the training outputs
TYPES = {
    f"{cls.__module__}.{cls.__qualname__}": cls
    for cls in (bool, int, float, complex, str, bytes, object, list, tuple, dict, set, frozenset)
}
_OPTIONAL_TYPES = {"pandas": ("DataFrame", "Series"), "polars": ("DataFrame", "Series", *POLARS_DTYPES)}


def name_class(cls: type) -> str | None:
    """The public name of a class of another package, None if it is not in the table."""
    for module in _parent_modules(cls.__module__):
        name = f"{module}.{cls.__qualname__}"
        if find_class(name) is cls:
            return name
    return None


def find_class(name: str) -> type | None:
    """The class of a public name, None if it is not in the table."""
    module, _, short = name.rpartition(".")
    if module not in CLASSES or name in EXCLUDED:
        return None
    names = CLASSES[module]  # None for all public ones
    if short.startswith("_") if names is None else short not in names.split():
        return None
    cls = getattr(importlib.import_module(module), short, None)
    home = module if names is None else module.split(".")[0]  # a module's imports from elsewhere are not in the table
    return cls if inspect.isclass(cls) and f"{cls.__module__}.".startswith(f"{home}.") else None


def name_function(function) -> str | None:
    """The public name of a function of the table or a ufunc of numpy, None for all others."""
    short = getattr(function, "__name__", "")
    for module in (*FUNCTIONS, "numpy"):
        if module in sys.modules and find_function(f"{module}.{short}") is function:
            return f"{module}.{short}"
    return None


def find_function(name: str):
    """The function of a public name, None if it is not in the table."""
    module, _, short = name.rpartition(".")
    if module == "numpy":
        ufunc = getattr(np, short, None)
        return ufunc if isinstance(ufunc, np.ufunc) else None
    if module not in FUNCTIONS:
        return None
    home, names = importlib.import_module(module), FUNCTIONS[module]
    function = getattr(home, short, None) if short in (home.__all__ if names is None else names.split()) else None
    return function if isinstance(function, types.FunctionType) else None


def name_type(cls: type) -> str | None:
    """The name of a class that is itself a value, None if it cannot be one."""
    name = f"{cls.__module__.split('.')[0]}.{cls.__qualname__}"
    return name if find_type(name) is cls else None


def find_type(name: str) -> type | None:
    """The class of the name of a class that is itself a value, None if it cannot be one."""
    if name in TYPES:
        return TYPES[name]
    package, _, short = name.partition(".")
    if package == "numpy":
        cls = getattr(np, short, None)
        return cls if isinstance(cls, type) and issubclass(cls, np.generic) else None
    if short in _OPTIONAL_TYPES.get(package, ()):
        return getattr(importlib.import_module(package), short)
    return None


def is_estimator(value) -> bool:
    """Whether the class of an object is one of scikit-learn's or inherits from one."""
    return any(base.__module__.split(".")[0] == "sklearn" for base in type(value).__mro__)


def _parent_modules(module: str):
    """A module and the packages around it, where a class may be public."""
    parts = module.split(".")
    return [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
