"""``outlier_report``: a table of the training samples that deviate from the model, for every loss and output."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ._utils.linalg import row_norms
from ._utils.statistics import MAD_TO_DEVIATION
from ._utils.validation import check_number
from .data.items import object_array
from .leave_one_out import loo_residuals
from .machine.base import KernelMachine
from .machine.state import State

_SHOWN = 10  # rows that a printed table shows


def outlier_report(estimator, *, cutoff=5.0):
    """Table of the training samples, in decreasing order of the residual that the loss holds back.

    A robust loss holds back the part of a residual beyond its bound. Samples are sorted by the norm of this part, then
    by the norm of the residual. The squared and the epsilon-insensitive losses hold nothing back.

    The table has one row for each sample of positive weight, and the columns:

    - ``held_back`` : share of the residual that the loss holds back, from 0 to 1; ``1 - kappa / norm`` for Huber with
      p=2.
    - ``residual`` : norm of the residual divided by the median norm. With gaps, the norm is first divided by the root
      of the share of observed values.
    - ``loo_residual`` : leave-one-out residual, in the same unit. It is exact for the squared loss with one (kernel,
      operator) term and no gaps that the operator mixes. Otherwise it is an approximation without refits: ridge
      regression with the weights of iteratively reweighted least squares at the optimum has the same solution, and
      its closed form leaves the sample out while the other weights and the constant stay fixed. A pointwise loss has
      the mean weight of the observed points of a sample. NaN where kernels and operators have no closed form, and
      where rows came in batches.
    - ``leverage`` : share of the leave-one-out residual that the fit removes because it includes the sample, from 0 to
      1. It is the diagonal of the hat matrix for one output, and its value along the residual for several.
    - ``screening_weight`` : factor of the sample's weight from outlier screening, 1 where it is unchanged and 1e-6 for
      gross outliers.
    - for functions, ``start`` and ``end`` of the part of the domain where the curve deviates (NaN if it does not),
      ``n_points`` and ``points``. A curve deviates at points where its residual exceeds ``cutoff`` robust standard
      deviations, both of all residuals and of the residuals of all curves at that point. Functions of several variables
      have ``start_1``, ``end_1``, ``start_2``, ..., and points (n_points, n_variables). For quantiles, a point counts
      if the residual of any level is large.

    Parameters
    ----------
    estimator : fitted estimator
        ``OperatorKernelRegressor``, ``FunctionalRegressor``, ``QuantileRegressor`` with one problem for all outputs, or
        ``StructuredPredictor`` (residuals in coordinates); also inside ``RegularizationPathCV``, ``GridSearchCV``, or
        at the end of a ``Pipeline``.
    cutoff : float, default=5.0
        Number of robust standard deviations beyond which a point of a curve deviates.

    Returns
    -------
    report : pandas.DataFrame or OutlierTable
        Its index is that of the training data frame, or the positions of the samples. Without pandas, an
        ``OutlierTable`` has the same columns, and positions as ``index``.

    References
    ----------
    - Cook, R. D. and Weisberg, S. (1982). Residuals and influence in regression. Chapman and Hall.
    - Lambert, A., Bouche, D., Szabo, Z. and d'Alche-Buc, F. (2022). Functional output regression with infimal
      convolution: exploring the Huber and epsilon-insensitive losses. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, outlier_report
    >>> X = np.linspace(0, 1, 30)[:, None]
    >>> y = np.sin(6 * X[:, 0])
    >>> y[[4, 20]] += 3
    >>> report = outlier_report(OperatorKernelRegressor(loss="huber").fit(X, y))
    >>> sorted(report.index[:2].tolist())
    [4, 20]
    """
    check_number(cutoff, "cutoff")
    machine = _machine(estimator)
    state, diagnostics = machine.state_, machine.state_.diagnostics
    columns = sample_columns(state)
    if hasattr(state.space, "grids"):
        columns |= _stretches(state, cutoff)
    order = np.lexsort((-diagnostics.sizes, -diagnostics.held_back * diagnostics.sizes))  # ties in the order of samples
    names = machine.machine_.sample_names(diagnostics.rows[order])
    return _make_frame({name: values[order] for name, values in columns.items()}, names)


def sample_columns(state: State) -> dict[str, np.ndarray]:
    """Columns for all kinds of outputs, in the order of the samples of positive weight."""
    diagnostics: Any = state.diagnostics
    scale = float(np.median(diagnostics.sizes)) or 1.0
    loo_norms, leverages = _loo_norms(state)
    return {
        "held_back": diagnostics.held_back,
        "residual": diagnostics.sizes / scale,
        "loo_residual": loo_norms / scale,
        "leverage": leverages,
        "screening_weight": state.screening_weights[diagnostics.rows],
    }


@dataclass(frozen=True)
class OutlierTable:
    """The report without pandas: columns of equal length by name."""

    columns: dict[str, np.ndarray]
    index: np.ndarray

    def __len__(self):
        return len(self.index)

    def __getitem__(self, name):
        return self.columns[name]

    def __repr__(self):
        names = [name for name in self.columns if name != "points"]
        rows = [["", *names]]
        for i, label in enumerate(self.index[:_SHOWN]):
            rows.append([str(label), *(f"{self.columns[name][i]:.3g}" for name in names)])
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
        return "\n".join(lines + [f"... {len(self)} samples"] * (len(self) > _SHOWN))


def _make_frame(columns, index):
    """A data frame, or an ``OutlierTable`` without pandas."""
    try:
        import pandas
    except ImportError:
        return OutlierTable(columns, index)
    return pandas.DataFrame(columns, index=index)


def _machine(estimator) -> KernelMachine:
    """The fitted kernel machine inside a pipeline or a search."""
    original = estimator
    while True:
        if isinstance(estimator, Pipeline):
            estimator = estimator[-1]
        elif not isinstance(estimator, KernelMachine) and hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            break
    if not isinstance(estimator, KernelMachine):
        if hasattr(estimator, "fit"):
            check_is_fitted(estimator)  # an unfitted search has no best estimator
        raise TypeError(
            "estimator must be an OperatorKernelRegressor, FunctionalRegressor or StructuredPredictor, or a search or "
            f"Pipeline around one, got {type(original).__name__}"
        )
    check_is_fitted(estimator)
    if getattr(estimator.state_, "diagnostics", None) is None:
        raise ValueError(
            "estimator keeps no residuals of its training samples: it has a regressor of its own, was fitted from a "
            "stream or by workers, weighs very many outputs, or has a problem for each output, as quantiles of vectors "
            "do; fit a kernel machine to arrays in memory, quantiles with operator=None"
        )
    return estimator


# ---------------------------------------------------------------- leave one out


def unit_duals(state: State):
    """Dual variables (n, d) in coordinates, of samples of weight one; the residuals for the squared loss."""
    diagnostics: Any = state.diagnostics
    if diagnostics.dual_coordinates is not None:
        return diagnostics.dual_coordinates
    penalty = state.alpha * diagnostics.weights.sum()
    return state.coefficients[diagnostics.rows] * (penalty / diagnostics.weights)[:, None]


def _loo_norms(state: State):
    """Norms (n,) of leave-one-out residuals, and leverages (n,)."""
    diagnostics: Any = state.diagnostics
    if state.loo_data is not None:
        left_out, fitted = state.loo_residuals()[diagnostics.rows], unit_duals(state)
        observed = np.isfinite(left_out)
        share = _share(observed, state.space.measure)
        fitted_norms, loo_norms = (row_norms(np.where(observed, rows, 0.0)) for rows in (fitted, left_out))
        return loo_norms / np.sqrt(share), _leverage(fitted_norms, loo_norms)
    if diagnostics.loo_data is None:
        missing = np.full(len(diagnostics.rows), np.nan)
        return missing, missing
    change, leverages = _fitted_changes(state)
    change = change if diagnostics.sampling is None else diagnostics.sampling.push(change)
    known = np.nan_to_num(diagnostics.residuals)
    share = 1.0 if diagnostics.sampling is not None else _share(np.isfinite(diagnostics.residuals), state.space.measure)
    inside = row_norms(np.where(np.isfinite(diagnostics.residuals), known + change, 0.0)) ** 2
    outside = np.maximum(diagnostics.sizes**2 * share - row_norms(known) ** 2, 0.0)  # squared norm outside the space
    return np.sqrt((inside + outside) / share), leverages


def _fitted_changes(state: State):
    """Change (n, d) of the fitted coordinates of each sample when it joins the fit, and leverages (n,).

    Ridge regression with weights v and targets ``fitted + dual / v`` has the same solution.
    """
    diagnostics: Any = state.diagnostics
    data, duals = diagnostics.loo_data, unit_duals(state)
    v = np.ones(len(duals)) if diagnostics.irls_weights is None else diagnostics.irls_weights
    positions = np.arange(len(duals))
    if data.kernels is None and data.graph_penalty is None:  # samples with zero coefficients may be dropped
        positions = np.searchsorted(diagnostics.rows, state.columns)
    weights = diagnostics.weights[positions] * v[positions]
    gaps = (duals / v[:, None])[positions]  # targets minus fitted values
    term = state.training_term(replace(data, weights=np.ones(len(positions))))
    penalty = state.alpha * diagnostics.weights.sum()
    fitted = term.apply(diagnostics.weights[positions, None] * duals[positions]) / penalty
    ((_, residuals),) = loo_residuals(term.scaled(np.sqrt(weights)), fitted + gaps, [penalty], weights=weights)
    change, leverages = np.zeros_like(duals), np.zeros(len(duals))
    change[positions] = residuals - gaps
    leverages[positions] = _leverage(row_norms(gaps), row_norms(residuals))
    return change, leverages


def _leverage(fitted, left_out):
    """Share ``1 - fitted / left_out`` of leave-one-out residual norms that the fit removes."""
    remaining = np.divide(fitted, left_out, out=np.ones_like(left_out), where=left_out > 0)
    return np.clip(1 - remaining, 0.0, 1.0)


def _share(observed, measure):
    """Share (n,) of the values of each sample that are observed, by quadrature weights."""
    weights = np.ones(observed.shape[1]) if measure is None else measure
    return observed @ weights / weights.sum()


# ---------------------------------------------------------------- where along the domain


def point_residuals(state: State):
    """For each sample of positive weight its observed points (m_i, k), and the residuals (m_i,) there."""
    diagnostics: Any = state.diagnostics
    space: Any = state.space
    rows = unit_duals(state) if diagnostics.residuals is None else diagnostics.residuals
    if diagnostics.observation_points is not None:
        return [
            (points, row[: len(points)] / root)
            for row, (points, root) in zip(rows, diagnostics.observation_points, strict=True)
        ]
    if diagnostics.residuals is None and state.loo_data is not None:
        rows = np.where(np.isfinite(state.loo_data.Y), rows, np.nan)
    points = np.stack(np.meshgrid(*space.grids, indexing="ij"), axis=-1).reshape(-1, len(space.grids))
    values = space.evaluate_on_grid(rows)
    values = values if diagnostics.outside_values is None else values + diagnostics.outside_values
    values = values.reshape(len(rows), -1)
    # a point for each curve and quantile level of a sample
    points = np.repeat(points, values.shape[1] // len(points), axis=0)
    return [(points[np.isfinite(row)], row[np.isfinite(row)]) for row in values]


def deviating_points(state: State, cutoff):
    """For each sample of positive weight the points (m_i, k) where its residual is large."""
    residuals = point_residuals(state)
    sizes = [np.abs(values) for _, values in residuals]
    common = MAD_TO_DEVIATION * float(np.median(np.concatenate(sizes)))
    local = _local_scales(residuals, sizes)
    return [
        points[size > cutoff * np.maximum(scale, common)] if common > 0 else points[:0]
        for (points, _), size, scale in zip(residuals, sizes, local, strict=True)
    ]


def _local_scales(residuals, sizes):
    """Robust standard deviations over samples, at the points of each sample; zeros where few points are shared."""
    points, inverse = np.unique(np.concatenate([points for points, _ in residuals]), axis=0, return_inverse=True)
    inverse = inverse.ravel()
    if 2 * len(points) > len(inverse):  # most points belong to one curve
        return [np.zeros(len(size)) for size in sizes]
    flat = np.concatenate(sizes)
    order = np.argsort(inverse, kind="stable")
    groups = np.split(flat[order], np.cumsum(np.bincount(inverse))[:-1])
    scales = MAD_TO_DEVIATION * np.array([np.median(group) for group in groups])
    return np.split(scales[inverse], np.cumsum([len(size) for size in sizes])[:-1])


def _stretches(state: State, cutoff) -> dict[str, np.ndarray]:
    """Columns of functions: where along the domain each sample deviates."""
    deviating = deviating_points(state, cutoff)
    dimension = deviating[0].shape[1]
    columns = {}
    for k in range(dimension):
        suffix = "" if dimension == 1 else f"_{k + 1}"
        for name, end in (("start", np.min), ("end", np.max)):
            columns[name + suffix] = np.array([end(rows[:, k]) if len(rows) else np.nan for rows in deviating])
    points = object_array([np.unique(rows[:, 0]) if dimension == 1 else np.unique(rows, axis=0) for rows in deviating])
    return columns | {"n_points": np.array([len(rows) for rows in points]), "points": points}
