"""Which training samples do not go with the others: one table, whatever the loss and the outputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ._utils.linalg import row_norms
from ._utils.statistics import MAD_TO_DEVIATION
from ._utils.validation import check_number
from .leave_one_out import loo_residuals
from .machine.base import KernelMachine
from .machine.state import State

_SHOWN = 10  # rows of a table that are printed


def outlier_report(estimator, *, cutoff=5.0):
    """A table of the training samples, those that the loss held back most on top.

    The order is by the part of the residual that a robust loss left out of account, its norm, then by the norm of the
    residual: for the squared and the epsilon-insensitive losses, which hold nothing back, by the latter alone.

    Columns, one row a sample that counted in the fit:

    - ``held_back`` : share of the residual that the loss left out, 0 to 1: ``1 - kappa / norm`` for Huber of rows;
    - ``residual`` : norm of the residual over the median norm; with gaps, over the root of the share that was observed;
    - ``loo_residual`` : the same, in the same unit, of the model without the sample. For the squared loss, one (kernel,
      operator) term and no gaps that the operator mixes it is exact. Otherwise it is an approximation without refits:
      ridge regression with the weights of iteratively reweighted least squares at the optimum has the same solution,
      and the sample is left out of that by the closed form, the other weights and the constant held fixed. A loss of
      points has the mean weight of its points, and what was not observed has none. NaN where kernels and operators
      allow no formula, and where rows came in pieces and are not held;
    - ``leverage`` : the share of the leave-one-out residual that the fit takes away because the sample takes part in
      it, 0 to 1: the diagonal of the hat matrix for one output, its value along the residual for several;
    - for functions ``start`` and ``end`` of the stretch of the domain where the curve deviates, NaN where it does
      not, ``n_points``, and ``points``, where it does: those at which the residual is more than ``cutoff`` times the
      robust standard deviation of residuals (of all points, and of all curves at that point). Functions of several
      variables have ``start_1``, ``end_1``, ``start_2``, ...; points are then rows (n_points, n_variables). Those of
      quantiles are where the residual of any level is large.

    Parameters
    ----------
    estimator : fitted ``OperatorKernelRegressor``, ``FunctionalRegressor``, ``QuantileRegressor`` of one problem or
        ``StructuredPredictor``, also inside ``RegularizationPathCV``, ``GridSearchCV`` or at the end of a ``Pipeline``;
        for structured outputs residuals are those in coordinates
    cutoff : robust standard deviations beyond which a point of a curve is pointed at

    Returns
    -------
    pandas.DataFrame, its index that of the training data, or positions; without pandas a ``Table`` with the same
    columns, and the positions as ``index``

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
    state, seen = machine.state_, machine.state_.inspected
    columns = sample_columns(state)
    if hasattr(state.space, "grids"):
        columns |= _stretches(state, cutoff)
    order = np.lexsort((-seen.sizes, -seen.held_back * seen.sizes))  # equals stay in the order of the samples
    return _framed(
        {name: values[order] for name, values in columns.items()}, machine.machine_.sample_names(seen.rows[order])
    )


def sample_columns(state: State) -> dict[str, np.ndarray]:
    """The columns that all kinds of outputs have, in the order of the samples that counted."""
    seen: Any = state.inspected
    scale = float(np.median(seen.sizes)) or 1.0
    left_out, leverages = _left_out(state)
    return {
        "held_back": seen.held_back,
        "residual": seen.sizes / scale,
        "loo_residual": left_out / scale,
        "leverage": leverages,
    }


@dataclass(frozen=True)
class Table:
    """Columns of equal length by name, for where there is no pandas."""

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


def _framed(columns, index):
    try:
        import pandas
    except ImportError:
        return Table(columns, index)
    return pandas.DataFrame(columns, index=index)


def _machine(estimator) -> KernelMachine:
    """The fitted kernel machine in whatever it is wrapped."""
    given = estimator
    while True:
        if isinstance(estimator, Pipeline):
            estimator = estimator[-1]
        elif not isinstance(estimator, KernelMachine) and hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            break
    if not isinstance(estimator, KernelMachine):
        if hasattr(estimator, "fit"):
            check_is_fitted(estimator)  # a search that is not has no best estimator to look into
        raise TypeError(
            "estimator must be an OperatorKernelRegressor, FunctionalRegressor or StructuredPredictor, or a search or "
            f"Pipeline around one, got {type(given).__name__}"
        )
    check_is_fitted(estimator)
    if getattr(estimator.state_, "inspected", None) is None:
        raise ValueError(
            "estimator keeps no residuals of its training samples: it has a regressor of its own, was fitted from a "
            "stream or by workers, weighs very many outputs, or has a problem for each output, as quantiles of vectors "
            "do; fit a kernel machine to arrays in memory, quantiles with operator=None"
        )
    return estimator


# ---------------------------------------------------------------- leave one out


def forces(state: State):
    """Dual variables (n, d) in coordinates for a weight of one: what the samples pull the function with."""
    seen: Any = state.inspected
    if seen.pulls is not None:
        return seen.pulls
    penalty = state.alpha * seen.weights.sum()
    return state.coefficients[seen.rows] * (penalty / seen.weights)[:, None]


def _left_out(state: State):
    """Norms (n,) of leave-one-out residuals, and leverages (n,)."""
    seen: Any = state.inspected
    if state.left_out is not None:
        inside, outside = state.loo_residuals()[seen.rows], forces(state)
        observed = np.isfinite(inside)
        share = _share(observed, state.space.measure)
        before, after = (row_norms(np.where(observed, rows, 0.0)) for rows in (outside, inside))
        return after / np.sqrt(share), _leverage(before, after)
    if seen.left is None:
        missing = np.full(len(seen.rows), np.nan)
        return missing, missing
    change, leverages = _moved(state)
    change = change if seen.sampling is None else seen.sampling.push(change)
    known = np.nan_to_num(seen.residuals)
    share = 1.0 if seen.sampling is not None else _share(np.isfinite(seen.residuals), state.space.measure)
    moved = row_norms(np.where(np.isfinite(seen.residuals), known + change, 0.0))
    beyond = np.maximum(seen.sizes**2 * share - row_norms(known) ** 2, 0.0)  # of what is outside the space
    return np.sqrt((moved**2 + beyond) / share), leverages


def _moved(state: State):
    """Change (n, d) of the fitted coordinates of each sample by its own part in the fit, and leverages (n,).

    The fit is that of ridge regression with weights ``force`` to targets ``fitted + dual / force``.
    """
    seen: Any = state.inspected
    left, pulls = seen.left, forces(state)
    force = np.ones(len(pulls)) if seen.force is None else seen.force
    at = np.arange(len(pulls))
    if left.kernels is None and left.penalty is None:  # predictions may be made from those in use alone
        at = np.searchsorted(seen.rows, state.columns)
    weights = seen.weights[at] * force[at]
    gaps = (pulls / force[:, None])[at]
    term = state.training_term(replace(left, weights=np.ones(len(at))))
    penalty = state.alpha * seen.weights.sum()
    fitted = term.apply(seen.weights[at, None] * pulls[at]) / penalty
    ((_, residuals),) = loo_residuals(term.scaled(np.sqrt(weights)), fitted + gaps, [penalty], weights=weights)
    change, leverages = np.zeros_like(pulls), np.zeros(len(pulls))
    change[at], leverages[at] = residuals - gaps, _leverage(row_norms(gaps), row_norms(residuals))
    return change, leverages


def _leverage(before, after):
    """Share of residuals with norms ``after`` that is gone in those with norms ``before``."""
    left = np.divide(before, after, out=np.ones_like(after), where=after > 0)
    return np.clip(1 - left, 0.0, 1.0)


def _share(observed, measure):
    weights = np.ones(observed.shape[1]) if measure is None else measure
    return observed @ weights / weights.sum()


# ---------------------------------------------------------------- where along the domain


def point_residuals(state: State):
    """For each sample that counted the points (m_i, k) it was observed at, and the residuals (m_i,) there."""
    seen: Any = state.inspected
    space: Any = state.space
    rows = forces(state) if seen.residuals is None else seen.residuals
    if seen.observation_points is not None:
        return [
            (points, own[: len(points)] / root)
            for own, (points, root) in zip(rows, seen.observation_points, strict=True)
        ]
    if seen.residuals is None and state.left_out is not None:
        rows = np.where(np.isfinite(state.left_out.Y), rows, np.nan)
    points = np.stack(np.meshgrid(*space.grids, indexing="ij"), axis=-1).reshape(-1, len(space.grids))
    values = space.evaluate_on_grid(rows)
    values = (values if seen.outside_values is None else values + seen.outside_values).reshape(len(rows), -1)
    points = np.repeat(points, values.shape[1] // len(points), axis=0)  # curves, and levels of quantiles, of a sample
    return [(points[np.isfinite(own)], own[np.isfinite(own)]) for own in values]


def deviating_points(state: State, cutoff):
    """For each sample that counted the points (m_i, k) where its residual is large."""
    seen = point_residuals(state)
    sizes = [np.abs(values) for _, values in seen]
    common = MAD_TO_DEVIATION * float(np.median(np.concatenate(sizes)))
    local = _local_scales(seen, sizes)
    found = []
    for (points, _), own, scale in zip(seen, sizes, local, strict=True):
        found.append(points[own > cutoff * np.maximum(scale, common)] if common > 0 else points[:0])
    return found


def _local_scales(seen, sizes):
    """Robust standard deviations, over samples, at the points of each; zeros where points are a curve's own."""
    points, inverse = np.unique(np.concatenate([own for own, _ in seen]), axis=0, return_inverse=True)
    inverse = inverse.ravel()
    if 2 * len(points) > len(inverse):  # hardly any point is seen twice
        return [np.zeros(len(own)) for own in sizes]
    flat = np.concatenate(sizes)
    order = np.argsort(inverse, kind="stable")
    groups = np.split(flat[order], np.cumsum(np.bincount(inverse))[:-1])
    scales = MAD_TO_DEVIATION * np.array([np.median(group) for group in groups])
    return np.split(scales[inverse], np.cumsum([len(own) for own in sizes])[:-1])


def _stretches(state: State, cutoff) -> dict[str, np.ndarray]:
    found = deviating_points(state, cutoff)
    dimension = found[0].shape[1]
    columns = {}
    for k in range(dimension):
        suffix = "" if dimension == 1 else f"_{k + 1}"
        for name, end in (("start", np.min), ("end", np.max)):
            columns[name + suffix] = np.array([end(own[:, k]) if len(own) else np.nan for own in found])
    points = np.empty(len(found), dtype=object)
    for i, own in enumerate(found):
        points[i] = np.unique(own[:, 0]) if dimension == 1 else np.unique(own, axis=0)
    return columns | {"n_points": np.array([len(own) for own in points]), "points": points}
