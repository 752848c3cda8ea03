"""Kernels of inputs whose columns are of different kinds, and of categories."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, clone

from .._utils.validation import check_choice, check_number
from ..data.frames import is_frame, is_framed, values_of
from ..data.functions import has_points, non_negative
from .family import as_kernel_object, is_searched, kernel_from_name
from .gram import POSITIVE, PRECOMPUTED, InputKernel, check_kernel, has_gamma, median_rate, provides_operator
from .ranks import evenly_spread_rows
from .stationary import BandwidthMixin, unresolved_error
from .tables import InputTable, category_codes, column_names, column_positions, is_single_column

_COMBINE = ("sum", "product")
_RULES = ("median", "auto")
_STEPS = (1 / 16, 1 / 4, 4, 16)  # factors of the rate of one part
_MEDIAN_ROWS = 1000  # rows the median is taken over


class Columns(BaseEstimator):
    """The sum, or the product, of kernels that each see some of the columns of X, a data frame or an array.

    So a curve, numbers and categories go into one kernel. A sum is for functions that are sums of functions of the
    parts, a product for those in which the parts interact. Settings of parts are searched by their number, as
    ``kernel__0__gamma`` or ``kernel__weights``. Rates that are left to the data begin at the rule of each part for its
    own columns; they are searched together, by a common factor, and then, in rounds, one by one.

    Parameters
    ----------
    parts : list of (kernel, columns)
        kernel: a name, "rbf" or another, whose rate is left to the data and whose origin, of linear and polynomial
        ones, is the mean of the training inputs; an object of ``hilbertlearn.kernels``; or a callable.
        columns: a name, a list of names, or a slice of names that contains both ends; numbers are positions, unless
        the names are numbers. Kernels get the values (n, k) of these columns, of a single one that is not in a list
        (n,), and the same where it is not of numbers: functions of scikit-fda in a column as they are. Columns inside
        Columns gets the part of the data frame.
    combine : {"sum", "product"}, default="sum"
        What is done with the values of the parts.
    weights : array of shape (number of parts,), default=None
        Numbers >= 0 that kernels in a sum are multiplied by; None for ones.
    n_rounds : int, default=3
        How often the rate of a single part may be changed; a round is kept only if the held-out error falls.

    References
    ----------
    - Shawe-Taylor and Cristianini (2004). Kernel Methods for Pattern Analysis. Cambridge University Press, chapter 3.

    Examples
    --------
    >>> import pandas as pd
    >>> from hilbertlearn import kernels
    >>> X = pd.DataFrame({"age": [20.0, 30.0, 30.0], "region": ["north", "north", "south"]})
    >>> kernel = kernels.Columns([("rbf", ["age"]), (kernels.CategoricalKernel(), "region")], combine="product")
    >>> kernel.resolve(X)(X, X).round(2)
    array([[1.  , 0.61, 0.22],
           [0.61, 1.  , 0.37],
           [0.22, 0.37, 1.  ]])
    """

    reads_columns = accepts_missing = selects_by_name = True

    def __init__(self, parts, combine="sum", weights=None, n_rounds=3):
        self.parts, self.combine, self.weights, self.n_rounds = parts, combine, weights, n_rounds

    def get_params(self, deep=True):
        """The settings; if deep also the kernels of the parts by their number, "0", and their settings, "0__gamma"."""
        params = super().get_params(deep=False)
        if not deep or not isinstance(self.parts, (list, tuple)):
            return params
        for i, part in enumerate(self.parts):
            if isinstance(part, (list, tuple)) and len(part) == 2:
                params[str(i)] = part[0]
                inner = part[0].get_params() if hasattr(part[0], "get_params") else {}
                params.update({f"{i}__{name}": value for name, value in inner.items()})
        return params

    def set_params(self, **params):
        """Set settings, kernels of parts by their number, and settings of these.

        A part given by name becomes the object behind it: "rbf" and ``0__gamma=2`` is ``NamedKernel("rbf", 2)``.
        """
        own = {name: params.pop(name) for name in super().get_params(deep=False) if name in params}
        super().set_params(**own)
        known = self.get_params()
        numbered = {name: params.pop(name) for name in list(params) if name.isdecimal() and name in known}
        for name in params:
            number = name.partition("__")[0]
            numbered |= _settable(number, numbered.get(number, known.get(number)), name)
        if numbered:
            self.parts = [(numbered.get(str(i), part[0]), part[1]) for i, part in enumerate(self.parts)]
        return super().set_params(**params) if params else self

    def validate(self):
        """Raise where a setting is out of range, or a part is no kernel of columns."""
        check_choice(self.combine, "Columns: combine", _COMBINE)
        check_number(self.n_rounds, "Columns: n_rounds", strict=False, integer=True)
        pairs = isinstance(self.parts, (list, tuple)) and all(
            isinstance(part, (list, tuple)) and len(part) == 2 for part in self.parts
        )
        if not pairs or not self.parts:
            raise ValueError(f"Columns: parts must be a list of (kernel, columns), at least one, got {self.parts!r}")
        for i, (kernel, columns) in enumerate(self._kernels()):
            check_kernel(kernel)
            if isinstance(kernel, str) and kernel == PRECOMPUTED:
                raise ValueError(f"Columns: part {i} cannot be 'precomputed'; give a kernel of its columns")
            if isinstance(kernel, type):
                raise TypeError(f"Columns: part {i} is a class; pass {kernel.__name__}()")
            if provides_operator(kernel):
                raise ValueError(f"Columns: part {i} must be a kernel whose values are numbers, got {kernel!r}")
            if columns is None or (hasattr(columns, "__len__") and not len(columns)):
                raise ValueError(f"Columns: part {i} has no columns; give at least one, or leave the part out")
            if hasattr(kernel, "validate"):
                kernel.validate()
        self._weights()

    def _weights(self):
        """Weights (number of parts,)."""
        if self.weights is None:
            return np.ones(len(self.parts))
        if self.combine == "product":
            raise ValueError("Columns: weights are of a sum; set weights=None or combine='sum'")
        wanted = f"Columns: weights must be {len(self.parts)} numbers >= 0, one for each part"
        weights = non_negative(self.weights, len(self.parts), wanted)
        if not weights.any():
            raise ValueError(f"{wanted}, and not all of them 0")
        return weights

    @property
    def rate_is_searched(self):
        """Whether the rate of a part is left to held-out errors."""
        return any(is_searched(kernel, "auto") for kernel, _ in self._kernels())

    def _kernels(self):
        """The parts, with objects for names of kernels of curves and strings."""
        return [(kernel_from_name(kernel, "auto"), columns) for kernel, columns in self.parts]

    def resolve(self, X, sample_weight=None) -> ResolvedColumns:
        """The kernel with numbers for all settings, each part's from its own columns."""

        def kernel_of(kernel, x):
            return InputKernel.from_settings(kernel, "auto", None, x, sample_weight, centred=True)

        return self._made(X, kernel_of)

    def __call__(self, X, Z):
        open_ = [kernel for kernel, _ in self._kernels() if has_gamma(kernel)]
        if open_:
            raise unresolved_error(f"Columns: gamma of {open_[0]!r}", "auto")
        return self._made(X, lambda kernel, x: InputKernel(kernel))(X, Z)

    def _made(self, X, kernel_of) -> ResolvedColumns:
        self.validate()
        X, parts = read_columns(X), []
        for i, ((kernel, columns), weight) in enumerate(zip(self._kernels(), self._weights(), strict=True)):
            what = f"Columns: part {i}, {kernel!r},"
            found = column_positions(columns, column_names(X), what)
            one = ColumnPart(
                what,
                InputKernel(kernel),
                tuple(column_names(X)[j] for j in found),
                is_single_column(columns),
                float(weight),
                is_searched(kernel, "auto"),
            )
            parts.append(replace(one, kernel=kernel_of(kernel, one.read(X))))
        return ResolvedColumns(tuple(parts), self.combine)


@dataclass(frozen=True)
class ColumnPart:
    """A kernel of some columns."""

    what: str  # it is, for errors
    kernel: InputKernel
    names: tuple  # of the columns
    single: bool  # whether it takes one column (n,)
    weight: float
    searched: bool

    def read(self, X):
        """The columns of X, a table or an array, as the kernel takes them."""
        found = [_found(name, X, self.what) for name in self.names]
        if not isinstance(X, InputTable):
            x = X[:, found]
            self._check_numbers(x)
            return x if scipy.sparse.issparse(x) or not self._alone else x[:, 0]
        table = X.take(found)
        if getattr(self.kernel.kernel, "reads_columns", False):
            return table
        functions = [has_points(column) for column in table.columns]
        if any(functions):
            if len(functions) > 1:
                raise ValueError(f"{self.what} has functions beside other columns; give them a part of their own")
            return table.columns[0]
        if any(column.dtype == object for column in table.columns):
            return self._objects(table)
        x = np.column_stack(table.columns).astype(float)
        self._check_numbers(x)
        return x[:, 0] if self._alone else x

    @property
    def _alone(self):
        """Whether the kernel takes its only column as (n,)."""
        kernel = self.kernel.kernel
        return self.single and not isinstance(kernel, str) and not getattr(kernel, "reads_columns", False)

    def _objects(self, table):
        if isinstance(self.kernel.kernel, str):
            odd = [name for name, column in zip(table.names, table.columns) if column.dtype == object]
            raise ValueError(
                f"{self.what} takes numbers, which {', '.join(map(repr, odd))} does not hold; give "
                "kernels.CategoricalKernel() for categories, kernels.NGrams() for text, or another kernel object"
            )
        return table.columns[0] if len(table.columns) == 1 else np.column_stack([*map(_as_objects, table.columns)])

    def _check_numbers(self, x):
        values = x.data if scipy.sparse.issparse(x) else x
        if getattr(self.kernel.kernel, "accepts_missing", False) or values.dtype.kind not in "fc":
            return
        if not np.isfinite(values).all():
            raise ValueError(
                f"{self.what} has NaN or infinity in its columns {list(self.names)}; fill the gaps, for example with "
                "SimpleImputer, or leave these samples out"
            )


@dataclass(frozen=True)
class ResolvedColumns(BandwidthMixin):
    """``Columns`` with numbers for all settings."""

    parts: tuple[ColumnPart, ...]
    combine: str
    reads_columns = accepts_missing = selects_by_name = True

    @property
    def gamma(self):
        """The rates of the parts, None for those without; None where none has one."""
        rates = [part.kernel.rate for part in self.parts]
        return None if all(rate is None for rate in rates) else rates

    @property
    def positive_definite(self):
        """Whether all parts are by construction."""
        kernels = [part.kernel.kernel for part in self.parts]
        return all(k in POSITIVE if isinstance(k, str) else getattr(k, "positive_definite", False) for k in kernels)

    def with_rate(self, factor):
        """The same kernel with the rates that are searched multiplied by factor."""
        check_number(factor, "factor")
        parts = (replace(part, kernel=part.kernel.with_rate(factor)) if part.searched else part for part in self.parts)
        return replace(self, parts=tuple(parts))

    def variants(self, X, C, sample_weight=None):
        """Kernels to go on with after a fit: the rate of one part changed, where rates of several are searched."""
        open_ = [i for i, part in enumerate(self.parts) if part.searched]
        if len(open_) < 2:
            return []
        return [self._with_rate_of(i, factor) for i in open_ for factor in _STEPS]

    def _with_rate_of(self, i, factor):
        part = replace(self.parts[i], kernel=self.parts[i].kernel.with_rate(factor))
        return replace(self, parts=(*self.parts[:i], part, *self.parts[i + 1 :]))

    def __call__(self, X, Z):
        x, z = read_columns(X), None if Z is X else read_columns(Z)
        values = (part.weight * part.kernel(part.read(x), None if z is None else part.read(z)) for part in self.parts)
        G = next(values)
        for one in values:
            G = G + one if self.combine == "sum" else G * one
        return G

    def __repr__(self):
        shown = []
        for part in self.parts:
            gamma = part.kernel.gamma  # of names; objects show their own
            rate = "" if gamma is None else f" {gamma:.3g}"
            shown.append(f"({part.kernel.kernel}{rate}, {', '.join(map(str, part.names))})")
        return f"Columns([{', '.join(shown)}], {self.combine!r})"


class CategoricalKernel(BandwidthMixin, BaseEstimator):
    """Kernel of categories: 1 for equal ones, ``rho = exp(-gamma)`` for others, all as unlike each other.

    Categories are text, numbers, or any values that can be hashed; missing ones (None, NaN, pandas.NA) are a category
    of their own. Those that training samples did not have are unlike all of these, and like themselves. Matrices
    ``(1 - rho) I + rho 11'`` are positive definite, and so are products and means of them.

    Parameters
    ----------
    gamma : float or {"median", "auto"}, default="auto"
        The larger the less is shared between categories; "median" for 1 / median number of columns in which training
        samples differ, where they do, so that it is 1 for one column (rho 0.37); "auto" for the same where nothing
        searches for a better one.
    combine : {"product", "mean"}, default="product"
        Over several columns: ``exp(-gamma number of columns that differ)``, or the share of columns that agree plus rho
        times that of the others, a sum of functions of single columns.

    References
    ----------
    - Qian, Wu and Wu (2008). Gaussian process models for computer experiments with qualitative and quantitative
      factors. Technometrics 50.

    Examples
    --------
    >>> from hilbertlearn import kernels
    >>> regions = ["north", "south", "north"]
    >>> kernels.CategoricalKernel(gamma=1.0)(regions, regions).round(2)
    array([[1.  , 0.37, 1.  ],
           [0.37, 1.  , 0.37],
           [1.  , 0.37, 1.  ]])
    """

    reads_columns = accepts_missing = positive_definite = True

    def __init__(self, gamma="auto", combine="product"):
        self.gamma, self.combine = gamma, combine

    def validate(self):
        """Raise where a setting is out of range."""
        check_choice(self.combine, "CategoricalKernel: combine", ("product", "mean"))
        check_number(self.gamma, "CategoricalKernel: gamma", choices=_RULES)

    def resolve(self, X, sample_weight=None):
        """The kernel with a number for gamma."""
        self.validate()
        gamma = self.initial_rate()
        if isinstance(gamma, str):
            gamma = self._median(_categories(X), sample_weight)
        return clone(self).set_params(gamma=float(gamma))

    def _median(self, columns, sample_weight):
        n = len(columns[0])
        rows = evenly_spread_rows(None, _MEDIAN_ROWS, columns)
        if self.combine == "mean":  # whatever the number of columns
            return 1.0
        weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        pairs = np.triu_indices(len(rows), k=1)
        differ = _differing([column[rows] for column in columns], None)[pairs]
        return median_rate("laplacian", differ, np.multiply.outer(weights[rows], weights[rows])[pairs])

    def __call__(self, X, Z):
        self.validate()
        if isinstance(self.gamma, str):
            raise unresolved_error("CategoricalKernel: gamma", self.gamma)
        x, z = _categories(X), None if Z is X else _categories(Z)
        if z is not None and len(x) != len(z):
            raise ValueError(f"CategoricalKernel: X and Z must have the same columns, got {len(x)} and {len(z)}")
        differ = _differing(x, z)
        if self.combine == "product":
            return np.exp(-self.gamma * differ)
        return 1 - (1 - np.exp(-self.gamma)) * differ / len(x)


def _settable(number, kernel, setting):
    """The kernel of a part by its number with an object for its name; nothing where it has none."""
    if not isinstance(kernel, str):
        return {}
    behind = as_kernel_object(kernel)
    if isinstance(behind, str):
        raise ValueError(
            f"{setting}: part {number} of Columns, {kernel!r}, has no settings of its own; give an object such as "
            "kernels.Matern()"
        )
    return {number: behind}


def read_columns(X):
    """Inputs with columns: an array or sparse matrix of numbers (n, p) as it is, anything else as a ``InputTable``."""
    plain = scipy.sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf")
    return X if plain else InputTable.from_data(X)


def _found(name, X, what):
    """Where the column of a name is; arrays have numbers for names."""
    return column_positions([name], column_names(X), what)[0]


def _as_objects(column):
    return np.array(column, dtype=object)


def _categories(X):
    """Columns (n,) of categories, from a data frame, a series, an array, a table or a list."""
    if is_framed(X) and not is_frame(X):
        X = values_of(X)
    if isinstance(X, (list, tuple)) and all(not isinstance(item, (list, tuple, np.ndarray)) for item in X):
        X = np.array([*X, None], dtype=object)[:-1]
    if isinstance(X, np.ndarray) and X.ndim == 1:
        return [X]
    columns = InputTable.from_data(X).columns
    if any(map(has_points, columns)):
        raise ValueError("CategoricalKernel: columns must be categories, got functions; use kernels.L2() for these")
    return columns


def _differing(x, z):
    """In how many columns samples differ (n, m); z : None for the same samples."""
    total = np.zeros((len(x[0]), len(x[0] if z is None else z[0])))
    for j, column in enumerate(x):
        if z is None:
            left = right = category_codes(column)
        else:
            both = category_codes(np.array([*column.tolist(), *z[j].tolist(), None], dtype=object)[:-1])
            left, right = both[: len(column)], both[len(column) :]
        total += left[:, None] != right
    return total
