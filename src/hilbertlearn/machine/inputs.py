"""Inputs as kernels take them: rows of numbers, curves, or objects of any kind."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from ..data.frames import check_collected, is_frame, is_framed, item_values, values_of
from ..data.functions import as_curves, curves_on_grid, has_points, read_functions, same_points
from ..data.objects import as_numbers, kind_of
from ..data.times import points_in
from ..kernels import InputKernel, InputTable
from .dates import list_names, with_days

_N_NAMES = 10  # names of columns that a message lists


def check_inputs(estimator, X, kernels, reset, like=None, dtype=np.float64):
    """Inputs in the form that scalar kernels take.

    Parameters
    ----------
    estimator : with ``reset`` it records the features of X, otherwise X must have the recorded ones
    X : inputs as given
    kernels : scalar kernels, settings
    reset : whether X are the training inputs
    like : training inputs; X is a list of objects if they are, and rows of numbers have their dtype
    dtype : of rows of numbers for named kernels, or a list of accepted ones, the first being the default
    """
    check_collected(X, "X")
    kernels = [part.kernel for kernel in kernels for part in InputKernel(kernel).parts]
    if _any_has(kernels, "accepts_any_input"):  # a transformer checks its inputs itself
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    named = any(isinstance(kernel, str) for kernel in kernels)
    if _reads_columns(kernels, X):
        return _read_columns(estimator, with_days(estimator, X, reset), reset, _all_have(kernels, "selects_by_name"))
    if has_points(X):
        X = as_curves(X)
    X = with_days(estimator, X, reset, single=named)
    if is_framed(X) and not is_frame(X):  # a series is indexed by labels
        values = values_of(X)
        X = values if values.dtype.kind in "biuf" else list(values)
    if named:
        is_float32 = isinstance(like, np.ndarray) and like.dtype == np.float32
        return _read_rows(estimator, X, kernels, reset, like.dtype if is_float32 else dtype)
    return _read_objects(estimator, X, reset, like, gaps=_all_have(kernels, "accepts_missing"))


def _any_has(kernels, flag) -> bool:
    return any(getattr(kernel, flag, False) for kernel in kernels)


def _all_have(kernels, flag) -> bool:
    return all(getattr(kernel, flag, False) for kernel in kernels)


def _reads_columns(kernels, X) -> bool:
    """Whether kernels take inputs by columns; a mixture cannot take a data frame."""
    if _any_has(kernels, "reads_columns") and not _all_have(kernels, "reads_columns") and is_frame(X):
        raise ValueError(
            "kernel: kernels beside kernels.Columns or CategoricalKernel cannot take a data frame by its columns; put "
            "each into Columns([(kernel, names)])"
        )
    return bool(kernels) and _all_have(kernels, "reads_columns")


def _read_objects(estimator, X, reset, like, gaps):
    """Inputs of kernel objects: rows of numbers, curves, or a list of objects; gaps : whether X may have NaN."""
    if isinstance(X, (list, tuple)):
        numbers = _numbers_in(list(X), like)
        if numbers is None:
            return list(X)
        X = numbers
    if is_frame(X) or (getattr(X, "ndim", 0) == 2 and X.dtype.kind in "biuf"):
        return _validate(estimator, X, reset, gaps, accept_sparse="csr", dtype=np.float64, order="C")
    if hasattr(X, "dtype") and X.dtype.kind in "biuf":
        options = {"ensure_2d": False, "allow_nd": True, "input_name": "X", "dtype": np.float64, "order": "C"}
        X = check_array(X, accept_sparse="csr", ensure_all_finite="allow-nan", **options)
        _refuse_gaps(X, gaps)
    return X


def _numbers_in(items, like):
    """An array of the numbers in a list, None for a list of objects."""
    if isinstance(like, list):
        return None
    row_types = (list, tuple) if isinstance(like, np.ndarray) else (list,)
    return as_numbers(items, row_types) if items else np.asarray(items)


def _read_rows(estimator, X, kernels, reset, dtype):
    """Rows of numbers, for kernels by name; curves are the rows of their values."""
    _refuse_objects(X)
    if has_points(X):
        X = _values_of_curves(estimator, X, reset)
        if np.isnan(X).any():
            raise ValueError(
                "X has curves with NaN, which a kernel of vectors cannot take; use kernels.L2() or another kernel of "
                "curves, or fill the gaps"
            )
    if getattr(X, "ndim", 2) > 2:  # curves are rows of numbers to a kernel of vectors
        X = np.reshape(X, (len(X), -1))
    dtype = np.float64 if scipy.sparse.issparse(X) else dtype
    X = _validate(estimator, X, reset, gaps=False, accept_sparse="csr", dtype=dtype, order="C")
    if reset and 0 < abs(X).max() < np.finfo(X.dtype).tiny:
        raise ValueError("X is too small for its precision; scale X, for example with StandardScaler")
    if "precomputed" in kernels and scipy.sparse.issparse(X):
        X = X.toarray()
    if "precomputed" in kernels and reset and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"X must be the square Gram matrix of the samples for kernel='precomputed', got shape {X.shape}"
        )
    return X


def _read_columns(estimator, X, reset, by_name):
    """Inputs by columns: an array of numbers, an ``InputTable``, or a single column (n,)."""
    if isinstance(X, InputTable):
        return X
    if is_frame(X):
        _record_names(estimator, X, reset)
        return InputTable.from_data(X) if reset else _in_order(InputTable.from_data(X), estimator, by_name)
    X = values_of(X)
    names = None if reset else getattr(estimator, "X_names_", None)  # of the training data frame
    is_list = isinstance(X, (list, tuple))
    in_rows = is_list and any(map(_is_row, X))
    single_column = getattr(X, "ndim", 0) == 1 or (is_list and not in_rows)
    if single_column and names is not None and len(names) == 1:
        return InputTable(names, [item_values(list(X))])
    if is_list and not in_rows:
        return list(X)
    X = _array_of_rows(X) if is_list else X
    return X if X.ndim != 2 else _read_table(estimator, X, reset, names)


def _array_of_rows(rows):
    """An array of numbers, or of objects."""
    numbers = as_numbers(list(rows), (list, tuple))
    return np.array(rows, dtype=object) if numbers is None else numbers


def _read_table(estimator, X, reset, names):
    """A two-dimensional array as a table, unless it has numbers and no names."""
    if X.dtype.kind in "biuf":
        options = {"accept_sparse": "csr", "dtype": np.float64, "order": "C", "ensure_all_finite": "allow-nan"}
        X = validate_data(estimator, X, reset=reset, **options)
    else:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    return X if names is None and X.dtype.kind == "f" else InputTable.from_data(X, names)


def _in_order(table, estimator, by_name):
    """The columns of the training inputs in their order; kernels that select columns by name take the whole table."""
    names = getattr(estimator, "X_names_", None)
    if names is None:
        return table
    missing = [name for name in names if name not in table.names]
    if missing and by_name:
        return table
    if missing:
        raise ValueError(f"X has no column {missing[0]!r}, which the training inputs had; give columns {list(names)}")
    return table.take([table.names.index(name) for name in names])


def _record_names(estimator, X, reset):
    """With reset record the names of a data frame; otherwise kernels select the columns that they need."""
    names = tuple(X.columns)
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ValueError(f"X has {names.count(repeated[0])} columns named {repeated[0]!r}; give each a name of its own")
    mixed = len({isinstance(name, str) for name in names}) > 1  # which scikit-learn refuses
    if reset:
        estimator.X_names_, estimator.n_features_in_ = names, len(names)
    if not mixed and (reset or not hasattr(estimator, "feature_names_in_")):
        validate_data(estimator, X, reset=reset, skip_check_array=True)


def _is_row(item):
    return isinstance(item, (list, tuple, np.ndarray))


def _validate(estimator, X, reset, gaps, **options):
    """X as checked by scikit-learn; errors name a kernel for columns that are not numbers, and a remedy for NaN.

    gaps : whether X may have NaN
    """
    names = X.columns if is_frame(X) else None
    try:
        X = validate_data(estimator, X, reset=reset, ensure_all_finite="allow-nan", **options)
    except (TypeError, ValueError) as error:
        suggestion = _suggest_kernel(X) if is_frame(X) else None
        if suggestion is None:
            raise
        raise ValueError(f"X must be numbers for this kernel. {suggestion}") from error
    _refuse_gaps(X, gaps, names)
    return X


def _refuse_gaps(X, gaps, names=None):
    """Raise if inputs have NaN that kernels do not take; names : of the columns."""
    values = X.data if scipy.sparse.issparse(X) else X
    if gaps or not np.isnan(values).any():
        return
    where = ""
    if names is not None:
        columns = [repr(name) for name, has_gap in zip(names, np.isnan(X).any(axis=0)) if has_gap]
        where = f" in the columns {list_names(columns, _N_NAMES)}"
    raise ValueError(
        f"X contains NaN{where}, and this kernel takes rows without gaps; fill them, for example with "
        "make_pipeline(SimpleImputer(), model) of scikit-learn, or drop these rows; for curves with gaps use "
        "kernels.L2() or another kernel of curves"
    )


def _suggest_kernel(X):
    """A sentence with the kernel for a data frame with columns that are not numbers; None where all are numbers."""
    table = InputTable.from_data(X)
    kinds: dict = {"numbers": [], "functions": [], "others": []}
    for name, column in zip(table.names, table.columns, strict=True):
        functions = has_points(column)
        kinds["functions" if functions else "others" if column.dtype == object else "numbers"].append(name)
    if len(kinds["numbers"]) == len(table.names):
        return None
    others = f"[name for name in X.columns if name not in {kinds['functions'] + kinds['others']!r}]"
    parts = (
        [f"('rbf', {kinds['numbers'] if len(kinds['numbers']) <= _N_NAMES else others})"] if kinds["numbers"] else []
    )
    parts += [f"(kernels.L2(), {name!r})" for name in kinds["functions"]]
    parts += [f"(kernels.CategoricalKernel(), {kinds['others']!r})"] if kinds["others"] else []
    columns = list_names([repr(name) for name in kinds["functions"] + kinds["others"]], _N_NAMES)
    dated = [repr(name) for name, column in zip(table.names, table.columns, strict=True) if _are_dates(column)]
    dates = (
        f" Convert the dates in {list_names(dated, _N_NAMES)}, which are text, with pandas.to_datetime."
        if dated
        else ""
    )
    return (
        f"The columns {columns} are not numbers.{dates} Give each kind of column a kernel of its own, with "
        f"from hilbertlearn import kernels: kernel=kernels.Columns([{', '.join(parts)}])"
    )


def _are_dates(column):
    """Whether a column holds dates as text."""
    is_text = column.dtype == object and all(isinstance(cell, str) for cell in column)
    points = points_in(column) if is_text else None
    return points is not None and points[1] is not None  # the second is the origin of dates


def _values_of_curves(estimator, X, reset):
    """Values of curves on a grid, which at predict must be that of fit."""
    curves = curves_on_grid(X) if not hasattr(X, "data_matrix") else read_functions(X, name="X")[0]
    if reset:
        estimator.X_axes_ = curves.axes
    training = getattr(estimator, "X_axes_", curves.axes)
    has_same_shape = [len(axis) for axis in training] == [len(axis) for axis in curves.axes]
    if has_same_shape and not all(map(same_points, training, curves.axes)):
        ranges = (", ".join(f"[{axis[0]:g}, {axis[-1]:g}]" for axis in axes) for axes in (curves.axes, training))
        given, expected = ranges
        raise ValueError(
            "X must be curves on the grid of the training inputs, or irregular ones with the same domain; got "
            f"points of {given} in place of {expected}"
        )
    return curves.values


def _refuse_objects(X):
    """Raise for inputs that are objects, and name a kernel for them; numpy would convert some of them."""
    is_sequence = isinstance(X, (list, tuple)) or getattr(X, "ndim", 2) == 1
    if not is_sequence or getattr(getattr(X, "dtype", None), "kind", "O") in "biuf":
        return
    for x in {type(x): x for x in X}.values():  # one of each type
        kind = kind_of(x)
        if kind == "string":
            raise ValueError(
                "X holds strings, and this kernel takes rows of numbers; use kernel=kernels.NGrams(), by name "
                "'ngrams', or another kernel of strings"
            )
        if kind not in ("number", "sequence") and not hasattr(x, "__array__") and x is not None:
            raise ValueError(
                f"X holds objects such as {type(x).__name__}, and this kernel takes rows of numbers; use "
                "kernel=kernels.PairwiseKernel(function) of two objects or a callable (X, Z) -> Gram, or give an array"
            )
