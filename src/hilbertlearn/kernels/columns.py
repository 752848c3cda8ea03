"""Kernels of categories, and of tables whose columns are of different kinds."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator

from .._utils.validation import check_choice, check_number
from ..data.frames import is_frame, is_framed, values_of
from ..data.functions import has_points, non_negative
from .family import as_kernel_object, is_searched, kernel_from_name
from .gram import PRECOMPUTED, InputKernel, check_kernel, has_gamma, is_positive, median_rate, provides_operator
from .ranks import evenly_spread_rows
from .stationary import RATE_RULES, BandwidthMixin, unresolved_error
from .tables import InputTable, category_codes, column_names, column_positions, is_single_column

_COMBINE = ("sum", "product")
_STEPS = (1 / 16, 1 / 4, 4, 16)  # factors by which a round changes the rate of one part; each is one more fit
_MEDIAN_ROWS = 1000  # rows that the median is computed from; time and memory grow with the square


class Columns(BaseEstimator):
    """Sum or product of kernels, each of which is evaluated on some columns of a data frame or an array.

    One kernel can thus combine a curve, numbers and categories. A sum is for functions that are sums of functions of
    the parts, a product for functions in which the parts interact. Settings of parts are searched by the number of the
    part, as ``kernel__0__gamma`` or ``kernel__weights``. Rates that are selected automatically start at the rule of
    each part for its columns. They are searched together, by a common factor, and then one by one in rounds.

    Parameters
    ----------
    parts : list of (kernel, columns)
        kernel: a name, an object of ``hilbertlearn.kernels``, or a callable. The rate of a named kernel is selected
        automatically, and linear and polynomial kernels have their origin at the mean of the training inputs.
        columns: a name, a list of names, or a slice of names, which includes both ends. Numbers are positions, unless
        the names are numbers. Kernels get the values (n, k) of these columns; a single column that is not in a list is
        given as (n,), and so is a single column that does not hold numbers. Columns of scikit-fda functions are given
        unchanged. ``Columns`` inside ``Columns`` gets the selected part of the data frame.
    combine : {"sum", "product"}, default="sum"
        How the values of the parts are combined.
    weights : array of shape (number of parts,), default=None
        Non-negative factors of the kernels in a sum; None for ones.
    n_rounds : int, default=3
        Number of rounds that change the rate of a single part. A round is kept only if the cross-validated error falls.

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
        """Get the settings.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the kernels of the parts by number, "0", and their settings, "0__gamma".

        Returns
        -------
        params : dict
            Values by name.
        """
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
        """Set the settings, the kernels of parts by number, and settings of these.

        A named kernel becomes an object: ``0__gamma=2`` turns "rbf" into ``NamedKernel("rbf", 2)``.

        Parameters
        ----------
        **params : dict
            Values by name, as in ``get_params``.

        Returns
        -------
        self : Columns
            The kernel.
        """
        settings = {name: params.pop(name) for name in super().get_params(deep=False) if name in params}
        super().set_params(**settings)
        known = self.get_params()
        kernels = {name: params.pop(name) for name in list(params) if name.isdecimal() and name in known}
        for name in params:
            number = name.partition("__")[0]
            kernels |= _replace_name(number, kernels.get(number, known.get(number)), name)
        if kernels:
            self.parts = [(kernels.get(str(i), part[0]), part[1]) for i, part in enumerate(self.parts)]
        return super().set_params(**params) if params else self

    def validate(self):
        """Raise an error if a setting is out of range, or a part is not a pair of a kernel and columns."""
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
        expected = f"Columns: weights must be {len(self.parts)} numbers >= 0, one for each part"
        weights = non_negative(self.weights, len(self.parts), expected)
        if not weights.any():
            raise ValueError(f"{expected}, and not all of them 0")
        return weights

    @property
    def rate_is_searched(self):
        """Whether the rate of a part is selected by leave-one-out errors."""
        return any(is_searched(kernel, "auto") for kernel, _ in self._kernels())

    def _kernels(self):
        """The parts, with kernel objects for names of kernels of curves and strings."""
        return [(kernel_from_name(kernel, "auto"), columns) for kernel, columns in self.parts]

    def resolve(self, X, sample_weight=None) -> ResolvedColumns:
        """Return the kernel with numbers for all settings, each part resolved with its columns.

        Parameters
        ----------
        X : data frame or array of shape (n, p)
            Training inputs.
        sample_weight : array of shape (n,), default=None
            Weights of the samples; None for ones.

        Returns
        -------
        kernel : ResolvedColumns
            A kernel of the same columns.
        """

        def resolve_part(kernel, x):
            return InputKernel.from_settings(kernel, "auto", None, x, sample_weight, centred=True)

        return self._resolve_parts(X, resolve_part)

    def __call__(self, X, Z):
        names = [kernel for kernel, _ in self._kernels() if has_gamma(kernel)]
        if names:
            raise unresolved_error(f"Columns: gamma of {names[0]!r}", "auto")
        return self._resolve_parts(X, lambda kernel, x: InputKernel(kernel))(X, Z)

    def _resolve_parts(self, X, resolve_part) -> ResolvedColumns:
        self.validate()
        X, parts = read_columns(X), []
        for i, ((kernel, columns), weight) in enumerate(zip(self._kernels(), self._weights(), strict=True)):
            description = f"Columns: part {i}, {kernel!r},"
            indices = column_positions(columns, column_names(X), description)
            part = ColumnPart(
                description,
                InputKernel(kernel),
                tuple(column_names(X)[j] for j in indices),
                is_single_column(columns),
                float(weight),
                is_searched(kernel, "auto"),
            )
            parts.append(replace(part, kernel=resolve_part(kernel, part.read(X))))
        return ResolvedColumns(tuple(parts), self.combine)


@dataclass(frozen=True)
class ColumnPart:
    """A kernel and the columns on which it is evaluated."""

    description: str  # first words of error messages
    kernel: InputKernel
    names: tuple  # of the columns
    single: bool  # whether the setting is one column and not a list
    weight: float
    searched: bool  # whether the rate of the kernel is searched

    def read(self, X):
        """Select the columns of X, a table or an array, in the form that the kernel takes."""
        indices = [column_positions([name], column_names(X), self.description)[0] for name in self.names]
        if not isinstance(X, InputTable):
            x = X[:, indices]
            self._check_numbers(x)
            return x if scipy.sparse.issparse(x) or not self._takes_vector else x[:, 0]
        table = X.take(indices)
        if getattr(self.kernel.kernel, "reads_columns", False):
            return table
        functions = [has_points(column) for column in table.columns]
        if any(functions):
            if len(functions) > 1:
                raise ValueError(
                    f"{self.description} has functions beside other columns; give them a part of their own"
                )
            return table.columns[0]
        if any(column.dtype == object for column in table.columns):
            return self._read_objects(table)
        x = np.column_stack(table.columns).astype(float)
        self._check_numbers(x)
        return x[:, 0] if self._takes_vector else x

    @property
    def _takes_vector(self):
        """Whether the kernel gets its single column as (n,)."""
        kernel = self.kernel.kernel
        return self.single and not isinstance(kernel, str) and not getattr(kernel, "reads_columns", False)

    def _read_objects(self, table):
        """Columns that hold objects: (n,) for one column, (n, k) for several."""
        if isinstance(self.kernel.kernel, str):
            non_numeric = [name for name, column in zip(table.names, table.columns) if column.dtype == object]
            raise ValueError(
                f"{self.description} takes numbers, which {', '.join(map(repr, non_numeric))} does not hold; give "
                "kernels.CategoricalKernel() for categories, kernels.NGrams() for text, or another kernel object"
            )
        if len(table.columns) == 1:
            return table.columns[0]
        return np.column_stack([np.array(column, dtype=object) for column in table.columns])

    def _check_numbers(self, x):
        """Raise an error for NaN or infinity unless the kernel accepts them."""
        values = x.data if scipy.sparse.issparse(x) else x
        if getattr(self.kernel.kernel, "accepts_missing", False) or values.dtype.kind not in "fc":
            return
        if not np.isfinite(values).all():
            raise ValueError(
                f"{self.description} has NaN or infinity in its columns {list(self.names)}; fill the gaps, for example "
                "with SimpleImputer, or leave these samples out"
            )


@dataclass(frozen=True)
class ResolvedColumns:
    """``Columns`` with numbers for all settings, as a fitted model keeps it."""

    parts: tuple[ColumnPart, ...]
    combine: str
    reads_columns = accepts_missing = selects_by_name = True
    rate_setting = BandwidthMixin.rate_setting

    @property
    def gamma(self):
        """The rates of the parts, with None for parts without a rate; None if no part has one."""
        rates = [part.kernel.rate for part in self.parts]
        return None if all(rate is None for rate in rates) else rates

    @property
    def positive_definite(self):
        """Whether all parts are positive semi-definite by construction."""
        return all(is_positive(part.kernel.kernel) for part in self.parts)

    def with_rate(self, factor):
        """Return the kernel with all searched rates multiplied by factor."""
        check_number(factor, "factor")
        parts = (replace(part, kernel=part.kernel.with_rate(factor)) if part.searched else part for part in self.parts)
        return replace(self, parts=tuple(parts))

    def variants(self, X, C, sample_weight=None):
        """List kernels to try after a fit: the rate of one part is changed, if rates of several parts are searched."""
        searched = [i for i, part in enumerate(self.parts) if part.searched]
        if len(searched) < 2:
            return []
        return [self._with_part_rate(i, factor) for i in searched for factor in _STEPS]

    def _with_part_rate(self, i, factor):
        part = replace(self.parts[i], kernel=self.parts[i].kernel.with_rate(factor))
        return replace(self, parts=(*self.parts[:i], part, *self.parts[i + 1 :]))

    def __call__(self, X, Z):
        x, z = read_columns(X), None if Z is X else read_columns(Z)
        values = (part.weight * part.kernel(part.read(x), None if z is None else part.read(z)) for part in self.parts)
        return functools.reduce(np.add if self.combine == "sum" else np.multiply, values)

    def __repr__(self):
        parts = []
        for part in self.parts:
            gamma = part.kernel.gamma  # of named kernels; the representation of an object contains its gamma
            rate = "" if gamma is None else f" {gamma:.3g}"
            parts.append(f"({part.kernel.kernel}{rate}, {', '.join(map(str, part.names))})")
        return f"Columns([{', '.join(parts)}], {self.combine!r})"


class CategoricalKernel(BandwidthMixin, BaseEstimator):
    """Kernel of categories: 1 for equal categories, ``rho = exp(-gamma)`` for different ones.

    Categories are text, numbers, or other hashable values. Missing values (None, NaN, pandas.NA) are one category.
    Categories that the training samples do not have are treated like all others. Matrices ``(1 - rho) I + rho 11'`` are
    positive definite, and so are products and means of them.

    Parameters
    ----------
    gamma : float or {"median", "auto"}, default="auto"
        The larger gamma, the less is shared between categories. "median" for 1 / median number of columns in which
        training samples differ, over pairs that differ: 1 for one column (rho 0.37). "auto" starts at the median, and
        estimators search from there.
    combine : {"product", "mean"}, default="product"
        For several columns: the product is ``exp(-gamma number of columns that differ)``. The mean is the share of
        equal columns plus rho times the share of the others, a sum of functions of single columns.

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
    rate_is_roughness = False  # between two categories nothing is smooth: the rate only scales differences

    def __init__(self, gamma="auto", combine="product"):
        self.gamma, self.combine = gamma, combine

    def validate(self):
        """Raise an error if a setting is out of range."""
        check_choice(self.combine, "CategoricalKernel: combine", ("product", "mean"))
        check_number(self.gamma, "CategoricalKernel: gamma", choices=RATE_RULES)

    def _resolved_rate(self, X, sample_weight):
        self.validate()
        gamma = self.initial_rate()
        return self._median_rate(_categories(X), sample_weight) if isinstance(gamma, str) else float(gamma)

    def _median_rate(self, columns, sample_weight):
        """1 / median number of columns that differ, over pairs of different samples."""
        if self.combine == "mean":  # independent of the number of columns
            return 1.0
        rows = evenly_spread_rows(InputTable(range(len(columns)), columns), _MEDIAN_ROWS)
        weights = np.ones(len(columns[0])) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        pairs = np.triu_indices(len(rows), k=1)
        n_different = _count_differences([column[rows] for column in columns], None)[pairs]
        return median_rate("laplacian", n_different, np.multiply.outer(weights[rows], weights[rows])[pairs])

    def __call__(self, X, Z):
        self.validate()
        self.check_resolved()
        x, z = _categories(X), None if Z is X else _categories(Z)
        if z is not None and len(x) != len(z):
            raise ValueError(f"CategoricalKernel: X and Z must have the same columns, got {len(x)} and {len(z)}")
        n_different = _count_differences(x, z)
        if self.combine == "product":
            return np.exp(-self.gamma * n_different)
        return 1 - (1 - np.exp(-self.gamma)) * n_different / len(x)


def _replace_name(number, kernel, setting):
    """The part ``{number: kernel object}`` if its kernel is a name; an empty dictionary otherwise."""
    if not isinstance(kernel, str):
        return {}
    replacement = as_kernel_object(kernel)
    if isinstance(replacement, str):
        raise ValueError(
            f"{setting}: part {number} of Columns, {kernel!r}, has no settings of its own; give an object such as "
            "kernels.Matern()"
        )
    return {number: replacement}


def read_columns(X):
    """Read inputs with columns: numeric arrays and sparse matrices (n, p) stay, others become an ``InputTable``."""
    is_numeric = scipy.sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf")
    return X if is_numeric else InputTable.from_data(X)


def _categories(X):
    """Columns (n,) of categories of a data frame, a series, an array, a table or a list."""
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


def _count_differences(x, z):
    """Number (n, m) of columns in which samples x and z differ; z is None for x."""
    counts = np.zeros((len(x[0]), len(x[0] if z is None else z[0])))
    for j, column in enumerate(x):
        if z is None:
            x_codes = z_codes = category_codes(column)
        else:
            codes = category_codes(np.array([*column.tolist(), *z[j].tolist(), None], dtype=object)[:-1])
            x_codes, z_codes = codes[: len(column)], codes[len(column) :]
        counts += x_codes[:, None] != z_codes
    return counts
