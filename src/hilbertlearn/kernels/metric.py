"""Kernels of a learnt distance of the inputs: recursive feature machines.

Radhakrishnan, Beaglehole, Pandit & Belkin, Mechanism for feature learning in neural networks and backpropagation-free
machine learning models, Science 2024. The average outer product of the gradients of a fitted model is the metric of the
next kernel: directions along which the model does not change are shortened.

    kernel = MetricKernel("matern12").resolve(X)
    for _ in range(kernel.n_rounds):
        C = ...  # coefficients (n, d) of the model f(x) = sum_j k(x, x_j) c_j
        kernel = kernel.relearn(X, C).resolve(X)
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, clone

from .._utils.linalg import psd_root
from .._utils.validation import check_choice, check_number, check_symmetric_psd
from .gram import resolve_gamma
from .ranks import evenly_spread_rows
from .stationary import DIFFERENTIABLE, GAMMA_RULES, BandwidthMixin, distances, profile, profile_derivative

_BASES = ("rbf", "matern12", "matern32", "matern52")
_ROUNDING = 1e-14  # squared distance over squared norm below which a difference is rounding error
_ROWS = 1000  # samples that outer products are averaged over; time is proportional
_ENTRIES = 2**21  # entries of a block, 16 MB; about four blocks are in memory at once


class MetricKernel(BandwidthMixin, BaseEstimator):
    """Stationary kernel of a learnt distance, ``k(x, z) = profile(gamma (x - z)' metric (x - z))``.

    The metric is learnt from gradients of fitted models (recursive feature machines): directions along which the output
    does not change are shortened, so that irrelevant inputs do no harm. Inputs are rows of numbers, dense or sparse,
    and should have one scale.

    Parameters
    ----------
    base : {"rbf", "matern12", "matern32", "matern52"}, default="rbf"
        The profile; "matern12" is exp(-distance / length), as in the paper.
    n_rounds : int, default=5
        Number of times that a fit relearns the metric. A round is kept only if the cross-validated error falls.
    diagonal : bool, default=False
        Whether the metric is diagonal: it weights single inputs, not directions. With many inputs that needs fewer
        samples and less time.
    gamma : float or {"median", "scale", "auto"}, default="auto"
        "median" for 1 / (2 median squared distance) of training inputs in the metric. "auto" starts at the median, and
        estimators search from there.
    metric : array of shape (p, p) or (p,), default=None
        A positive semi-definite matrix, or non-negative weights (p,) of the inputs if `diagonal`; None for the
        identity. Learnt metrics have trace p, as the identity has, so that gamma keeps its meaning. Their diagonal is
        the importance of the inputs: the mean squared derivative with respect to each input, relative to the average
        over the inputs. Their leading eigenvectors are the relevant directions.
    scaling : InputScaling, default=None
        Scaling of the inputs before the metric is applied, which ``kernel="auto"`` selects; None for inputs as given.

    References
    ----------
    - Radhakrishnan, Beaglehole, Pandit and Belkin (2024). Mechanism for feature learning in neural networks and
      backpropagation-free machine learning models. Science 383.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, kernels
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> kernel = kernels.MetricKernel(n_rounds=3, diagonal=True)
    >>> model = OperatorKernelRegressor(kernel, alpha=1e-3).fit(X, np.sin(2 * X[:, 0]))  # only the first input matters
    >>> int(np.argmax(model.kernel_.metric))
    0
    """

    positive_definite = True

    def __init__(self, base="rbf", n_rounds=5, diagonal=False, gamma="auto", metric=None, scaling=None):
        self.base, self.n_rounds, self.diagonal = base, n_rounds, diagonal
        self.gamma, self.metric, self.scaling = gamma, metric, scaling

    def __repr__(self, N_CHAR_MAX=700):
        """Representation without the entries of the matrix."""
        if not hasattr(self.metric, "shape"):
            return super().__repr__(N_CHAR_MAX)
        without_metric = super(MetricKernel, clone(self).set_params(metric=None, scaling=None)).__repr__(N_CHAR_MAX)
        settings = without_metric[len("MetricKernel(") : -1]
        metric = f"metric=<array {' x '.join(map(str, self.metric.shape))}>"
        return f"MetricKernel({', '.join(filter(None, [settings, metric]))})"

    def validate(self):
        """Raise an error if a setting is out of range, or the metric is not positive semi-definite."""
        check_choice(self.base, "MetricKernel: base", _BASES)
        check_number(self.n_rounds, "MetricKernel: n_rounds", strict=False, integer=True)
        if not isinstance(self.diagonal, (bool, np.bool_)):
            raise ValueError(f"MetricKernel: diagonal must be True or False, got {self.diagonal!r}")
        check_number(self.gamma, "MetricKernel: gamma", choices=GAMMA_RULES)
        self._metric_array()

    def _resolved_rate(self, X, sample_weight):
        self.validate()
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        return resolve_gamma("rbf", self.initial_rate(), self.transform(X), weights)

    def transform(self, X):
        """Map inputs to rows whose Euclidean distances are those of the metric.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, p)
            Inputs.

        Returns
        -------
        rows : array or sparse matrix of shape (n, p)
            ``X @ root`` with ``metric = root root'``, X scaled first if there is a scaling.
        """
        x = self._scaled_rows(X, "X")
        root = self._root(x.shape[1], "X")
        return _apply_root(x, root)

    def __call__(self, X, Z):
        self._validate_resolved()
        x, z = self._scaled_rows(X, "X"), None if Z is X else self._scaled_rows(Z, "Z")
        root = self._root(x.shape[1], "X")
        if z is not None:
            _check_columns(z.shape[1], x.shape[1], "Z", "X")
        D = distances(self.base, _apply_root(x, root), None if z is None else _apply_root(z, root))
        return profile(self.base, D, self.gamma, out=D, symmetric=z is None)

    def gradients(self, x, Z, C):
        """Compute the gradients of ``f(x) = sum_j k(x, z_j) c_j``.

        The kernel of the base "matern12" is not differentiable at x = z: such pairs contribute zero, as in the paper.

        Parameters
        ----------
        x : array of shape (m, p)
            Points at which gradients are computed.
        Z : array of shape (n, p)
            Inputs z_j.
        C : array of shape (n, d) or (n,)
            Coefficients c_j.

        Returns
        -------
        gradients : array of shape (m, p, d)
            Derivatives with respect to each input.
        """
        self._validate_resolved()
        x, Z = _dense(self._scaled_rows(x, "x")), _dense(self._scaled_rows(Z, "Z"))
        C = _coefficients(C, len(Z))
        root = self._root(Z.shape[1], "Z")
        _check_columns(x.shape[1], Z.shape[1], "x", "Z")
        out = np.empty((*x.shape, C.shape[1]))
        for points, outputs, values in self._gradient_blocks(x, Z, C, root):
            out[points, :, outputs] = np.swapaxes(_apply_root(values, root), 1, 2)
        return out if self.scaling is None else out * self.scaling.factors[:, None]

    def relearn(self, X, C, sample_weight=None, gamma="auto"):
        """Return the kernel whose metric is the average outer product of gradients of ``f(x) = sum_j k(x, x_j) c_j``.

        The metric is ``mean_i sum_l grad f_l(x_i) grad f_l(x_i)'``, or its diagonal if `diagonal`, divided by its mean
        eigenvalue. It does not change if f is constant.

        Parameters
        ----------
        X : array of shape (n, p)
            Samples; the average is over at most 1000 of them.
        C : array of shape (n, d) or (n,)
            Coefficients of the model in orthonormal coordinates of the outputs.
        sample_weight : array of shape (n,), default=None
            Weights of the samples; None for ones.
        gamma : float or {"median", "scale", "auto"}, default="auto"
            gamma of the new kernel. The present number belongs to the present distances.

        Returns
        -------
        kernel : MetricKernel
            The same settings, with the new metric and gamma.
        """
        self._validate_resolved()
        x = _dense(self._scaled_rows(X, "X"))
        n, p = x.shape
        C, weights = _coefficients(C, n), _weights(sample_weight, n)
        root = self._root(p, "X")
        metric = self._mean_outer_product(x, C, weights, root)
        if metric is None:
            metric = self._metric_array()
        if metric is None:
            metric = np.ones(p) if self.diagonal else np.eye(p)
        check_number(gamma, "MetricKernel: gamma", choices=GAMMA_RULES)
        return clone(self).set_params(metric=metric, gamma=gamma)

    def variants(self, X, C, sample_weight=None):
        """List kernels to try after a fit: the result of ``relearn``, and metrics between it and the identity.

        These are the square root of the learnt metric and, unless `diagonal`, its diagonal part and the root of that.
        They have smaller errors where few samples make the gradients inaccurate.

        Parameters
        ----------
        X, C, sample_weight
            As in ``relearn``.

        Returns
        -------
        kernels : list of MetricKernel
            Two kernels if `diagonal`, else four.
        """
        kernel = self.relearn(X, C, sample_weight)
        metric = kernel.metric
        if self.diagonal:
            metrics = [metric, np.sqrt(metric)]
        else:
            diagonal = np.diag(np.diag(metric))
            metrics = [metric, psd_root(metric), diagonal, np.sqrt(diagonal)]
        traces = [np.sum(M if self.diagonal else np.diag(M)) for M in metrics]
        return [clone(kernel).set_params(metric=M * (len(M) / trace)) for M, trace in zip(metrics, traces, strict=True)]

    def without_bounds(self):
        """The same kernel for inputs however far from the training samples, see ``InputScaling``."""
        if self.scaling is None:
            return self
        metric, unseen = self._metric_array(), self.scaling.factors == 0  # columns that no gradient depends on
        if metric is not None and unseen.any():
            metric = np.where(unseen, 1.0, metric) if self.diagonal else metric + np.diag(unseen.astype(float))
        return clone(self).set_params(scaling=self.scaling.without_bounds(), metric=metric)

    def _scaled_rows(self, X, name):
        """Rows of numbers (n, p), scaled if there is a scaling; sparse ones stay sparse."""
        rows = _rows(X, name)
        if self.scaling is None:
            return rows
        _check_columns(rows.shape[1], len(self.scaling.factors), name, "scaling")
        return self.scaling(rows)

    def _validate_resolved(self):
        """Raise an error if a setting is out of range, or gamma is not a number yet."""
        self.validate()
        self.check_resolved()

    def _metric_array(self):
        """The checked metric as floats (p, p), or (p,) if `diagonal`; None for the identity."""
        if self.metric is None:
            return None
        try:
            metric = np.asarray(self.metric, dtype=float)
        except (TypeError, ValueError):  # sparse, ragged, or no numbers
            raise ValueError(
                f"MetricKernel: metric must be None or a dense array of numbers, got {type(self.metric).__name__}"
            ) from None
        if metric.ndim != (1 if self.diagonal else 2):
            expected = "weights (p,) of the inputs" if self.diagonal else "a matrix (p, p)"
            raise ValueError(
                f"MetricKernel: metric must be {expected} with diagonal={self.diagonal}, got shape {metric.shape}; "
                "weights of single inputs need diagonal=True, matrices diagonal=False"
            )
        if not self.diagonal:
            return check_symmetric_psd(
                metric, "MetricKernel: metric", "give a positive semi-definite matrix (p, p), or None for the identity"
            )
        if not (np.isfinite(metric).all() and (metric >= 0).all()):
            raise ValueError(
                f"MetricKernel: metric must have finite weights >= 0, got weights from {metric.min():.3g} to "
                f"{metric.max():.3g}; give 0 to an input that is not used"
            )
        return metric

    def _root(self, p, name):
        """A root of the metric for p inputs: (p, p), or (p,) if `diagonal`; None for the identity."""
        metric = self._metric_array()
        if metric is None:
            return None
        if len(metric) != p:
            raise ValueError(
                f"MetricKernel: {name} has {p} columns, but metric is for {len(metric)} inputs, its shape is "
                f"{metric.shape}; give inputs that it was made for, or metric=None"
            )
        return np.sqrt(metric) if self.diagonal else psd_root(metric)

    def _gradient_blocks(self, x, Z, C, root):
        """Blocks (points, outputs, values (b, c, p)) of the derivatives with respect to the transformed rows u.

        They are ``2 gamma (u sum_j w_j c_jl - sum_j w_j c_jl u_j)``, where w_j is the derivative of the profile with
        respect to gamma D at z_j: matrix products, without an array (m, n, p).
        """
        origin = Z.mean(axis=0)  # an origin near the data keeps cancellation small
        x, Z = x - origin, Z - origin
        u, v = _apply_root(x, root), _apply_root(Z, root)
        close = _ROUNDING * _metric_norm(root) * np.einsum("ij,ij->i", x, x)
        table = np.column_stack([v, np.ones(len(v))])
        height = max(1, _ENTRIES // max(table.shape))
        width = max(1, _ENTRIES // (table.shape[1] * max(len(v), min(height, len(u)))))
        for i in range(0, len(u), height):
            points = slice(i, i + height)
            weights = self._profile_derivatives(distances(self.base, u[points], v), close[points])
            for j in range(0, C.shape[1], width):
                outputs = slice(j, j + width)
                columns = C[:, outputs, None] * table[:, None, :]
                sums = (weights @ columns.reshape(len(v), -1)).reshape(len(weights), *columns.shape[1:])
                values = u[points, None, :] * sums[..., -1:]
                values -= sums[..., :-1]
                values *= 2 * self.gamma
                yield points, outputs, values

    def _profile_derivatives(self, D, close):
        """Derivative of the profile with respect to gamma D at D (m, n); for "matern12" zero up to D = close (m,)."""
        if self.base in DIFFERENTIABLE:
            return profile_derivative(self.base, D, self.gamma, out=D)
        D[close[:, None] >= D] = np.inf  # the derivative is zero at infinity
        root = np.sqrt(2 * self.gamma * D, out=D)
        return -np.exp(-root) / root

    def _mean_outer_product(self, x, C, weights, root):
        """The learnt metric; None if all gradients are rounding errors."""
        p = x.shape[1]
        if not C.any():
            return None
        C = C / np.abs(C).max()  # the trace is normalised below; squares of large coefficients overflow
        if C.shape[1] > len(C):  # invariant to rotations of the outputs: n columns suffice
            C = np.linalg.qr(C.T)[1].T
        rows = np.flatnonzero(weights > 0)
        rows = rows[evenly_spread_rows(x[rows], _ROWS)]
        shares = np.sqrt(weights[rows] / weights[rows].sum())
        total = np.zeros(p if self.diagonal else (p, p))
        for points, _, values in self._gradient_blocks(x[rows], x, C, root):
            values *= shares[points, None, None]
            flat = values.reshape(-1, p)
            total += np.einsum("ij,ij->j", flat, flat) if self.diagonal else flat.T @ flat
        rounding = np.finfo(float).eps ** 2 * self.gamma * (np.abs(C).sum(axis=0) ** 2).sum()
        if not self.diagonal:
            if np.trace(total) <= rounding:
                return None
            eigenvalues, vectors = np.linalg.eigh(total if root is None else root @ total @ root.T)
            total = (vectors * np.maximum(eigenvalues, 0.0)) @ vectors.T
            total = (total + total.T) / 2
            return total * (p / np.trace(total))
        if total.sum() <= rounding:
            return None
        total = total if root is None else total * root**2
        return total * (p / total.sum())


def _apply_root(rows, root):
    """Compute ``rows @ root`` for rows (.., p), dense or sparse; root is symmetric, None for the identity."""
    if root is None:
        return rows
    with np.errstate(over="ignore", invalid="ignore"):  # ``distances`` raises the error
        if root.ndim == 1:
            return rows @ scipy.sparse.diags_array(root) if scipy.sparse.issparse(rows) else rows * root
        return np.asarray(rows @ root)


def _metric_norm(root):
    """An upper bound of the norm of the metric with this root."""
    if root is None:
        return 1.0
    return np.max(root, initial=0.0) ** 2 if root.ndim == 1 else np.linalg.norm(root @ root)


def _rows(X, name):
    """Rows of numbers (n, p) as floats; sparse ones stay sparse."""
    if scipy.sparse.issparse(X):
        return scipy.sparse.csr_array(X, dtype=float)
    try:
        rows = np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        rows = None
    if rows is None or rows.ndim not in (1, 2):
        got = type(X).__name__ if rows is None else f"shape {rows.shape}"
        raise ValueError(f"MetricKernel: {name} must be rows of numbers (n, p), got {got}; give it two axes")
    return rows[:, None] if rows.ndim == 1 else rows


def _dense(rows):
    """Rows as a dense array."""
    return rows.toarray() if scipy.sparse.issparse(rows) else rows


def _check_columns(n_columns, expected, name, other):
    """Raise an error if two inputs have different numbers of columns."""
    if n_columns != expected:
        raise ValueError(
            f"MetricKernel: {name} has {n_columns} columns and {other} has {expected}; give rows of the same inputs"
        )


def _coefficients(C, n):
    """Coefficients (n, d) as floats."""
    C = np.asarray(C, dtype=float)
    C = C[:, None] if C.ndim == 1 else C
    if C.ndim != 2 or len(C) != n:
        raise ValueError(
            f"MetricKernel: C must have a row of coefficients for each of {n} samples, got shape {C.shape}"
        )
    if not np.isfinite(C).all():
        raise ValueError("MetricKernel: C contains NaN or infinity; give coefficients of a fitted model")
    return C


def _weights(sample_weight, n):
    """Weights (n,) as floats, ones for None."""
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n,) or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError(
            f"MetricKernel: sample_weight must be {n} finite numbers >= 0, one for each sample and not all 0, got "
            f"{sample_weight!r}"
        )
    return weights
