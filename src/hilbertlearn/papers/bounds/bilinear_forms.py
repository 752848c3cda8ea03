"""Output losses as bilinear forms of features, with bounds on their parts (Ciliberto et al. 2016, assumption 1).

A loss of z where y is true is

    Delta(z, y) = <phi(z), T phi(y)> + u(z) + v(y)        ||T|| <= norm,   ||phi||^2 <= square

with functions u and v of one output alone. Most losses here are a constant minus a kernel. Losses of numbers in an
interval [a, b] of length w take ``phi(y)(t) = sign(y - t) / 2``, a function on the interval of squared norm w / 4, and
for T the integral operator of the mixed derivative of Delta: for a loss of z - y that is a convolution with its second
derivative, whose norm is at most the variation of the first over a stretch of length w. Integrated by parts,

    <phi(z), T phi(y)> = Delta(z, y) - u(z) - v(y)
    u(z) = (Delta(z, a) + Delta(z, b)) / 2 - k / 2,   v(y) = (Delta(a, y) + Delta(b, y)) / 2 - k / 2

with k the mean of Delta over the four corners.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ... import kernels, output_losses
from ..._utils.linalg import row_norms
from ...output_losses import OutputLoss
from ...output_losses.scalars import ResidualLoss

_GRID = 4000  # steps on an interval, on which variations and extremes are computed; twice as many cost twice the time


@dataclass(frozen=True)
class BilinearForm:
    """Bounds on the parts of a loss: see the docstring of the module."""

    features: str  # description of phi
    norm: float  # of T
    square: float  # largest ||phi||^2
    u: tuple[float, float] = (0.0, 0.0)  # smallest and largest
    v: tuple[float, float] | None = None  # None where it is the function u
    asymmetric: bool = False  # whether predictions and truths have different features, each with these bounds

    @property
    def largest_offset(self) -> float:
        """Largest |u| if v is the same function, else the largest ``sqrt(u^2 + v^2)``."""
        u = max(map(abs, self.u))
        return u if self.v is None else float(np.hypot(u, max(map(abs, self.v))))

    @property
    def half_range(self) -> float:
        """Half of the range of u; its middle is a constant and may count to v."""
        return (self.u[1] - self.u[0]) / 2


def bilinear_form(loss: OutputLoss, outputs=None, interval=None) -> BilinearForm | None:
    """The form of a loss, on outputs in canonical form or on an interval; None if it has none here."""
    parts = loss.parts()
    if len(parts) == 1 and parts[0][1] is loss:
        make = next((make for kind, make in _FORMS.items() if isinstance(loss, kind)), None)
        return None if make is None else make(loss, outputs, interval)
    weighted_forms = []
    for weight, part in parts:
        form = bilinear_form(part, None if outputs is None else part.check(outputs), interval)
        if form is None:
            return None
        weighted_forms.append((weight, form))
    return _sum_forms(weighted_forms)


def _sum_forms(parts) -> BilinearForm:
    """The form of a weighted sum: features side by side, each scaled so that its operator has norm 1."""
    symmetric = all(part.v is None for _, part in parts)
    v_ranges = [part.u if part.v is None else part.v for _, part in parts]
    weights = [weight for weight, _ in parts]
    return BilinearForm(
        features="; ".join(part.features for _, part in parts),
        norm=1.0,
        square=sum(weight * part.norm * part.square for weight, part in parts),
        u=_weighted_range(weights, [part.u for _, part in parts]),
        v=None if symmetric else _weighted_range(weights, v_ranges),
        asymmetric=any(part.asymmetric for _, part in parts),
    )


def _weighted_range(weights, ranges):
    low, high = (sum(w * r[k] for w, r in zip(weights, ranges, strict=True)) for k in (0, 1))
    return float(low), float(high)


def _constant_minus_kernel(features, norm) -> Callable:
    """``norm (1 - k(z, y))`` with a kernel that is 1 on the diagonal."""
    form = BilinearForm(features, norm, 1.0, (norm / 2, norm / 2))
    return lambda loss, outputs, interval: form


def _kernel_loss_form(loss, outputs, interval):
    """``k(z, z) - 2 k(z, y) + k(y, y)``."""
    if outputs is None:
        raise ValueError("output_loss: KernelLoss needs outputs, all there may be or typical ones: give outputs=")
    squares = kernels.diagonal(loss.kernel, outputs, gamma=loss.gamma)
    return _squared_distance_form("features of the kernel", squares)


def _squared_distance_form(features, squares):
    """Squared distances of features with these squared norms (n,)."""
    low, high = float(np.min(squares)), float(np.max(squares))
    return BilinearForm(features, 2.0, high, (low, high))


def _squared_error_form(loss, outputs, interval):
    if outputs is None or interval is not None:
        low, high = _interval_ends(loss, outputs, interval)
        return BilinearForm("the number from the middle", 2.0, ((high - low) / 2) ** 2, (0.0, ((high - low) / 2) ** 2))
    Y = np.asarray(outputs, dtype=float).reshape(len(outputs), -1)
    middle = (Y.min(axis=0) + Y.max(axis=0)) / 2
    radius = float(row_norms(Y - middle).max())
    return BilinearForm("the vector from the middle", 2.0, radius**2, (0.0, radius**2))


def _wasserstein_form(loss, outputs, interval):
    if outputs is None:
        raise ValueError("output_loss: Wasserstein1d needs outputs, for the number of bins: give outputs=")
    bins = np.shape(outputs)[1] - 1  # all cumulated masses but the last, which is 1, are in [0, 1]
    return BilinearForm("signs of cumulated masses", 2.0, bins / 4, (bins / 4, bins / 4))


def _rank_form(loss, outputs, interval):
    """``scale(y) / 2 - <sign(z), gamma(y)> / 2`` over pairs of items; ``||gamma(y)|| <= scale(y)``."""
    if outputs is None:
        raise ValueError("output_loss: Rank needs outputs, ratings (n, items) of which the sizes are read: outputs=")
    Y = np.asarray(outputs, dtype=float)
    pairs = Y.shape[1] * (Y.shape[1] - 1) / 2
    scales = np.array([output_losses.Rank()(-y[None], y[None])[0, 0] for y in Y])  # the cost of the reversed order
    gammas = np.array([_difference_norm(y) for y in Y])
    if loss.normalize:
        gammas, scales = gammas / np.where(scales > 0, scales, 1.0), (scales > 0).astype(float)
    square = float(np.sqrt(pairs) * gammas.max())  # signs and gamma scaled to the same norm
    v = float(scales.min()) / 2, float(scales.max()) / 2
    return BilinearForm("signs of pairs; rated differences", 0.5, square, (0.0, 0.0), v, True)


def _difference_norm(y):
    """Euclidean norm of the differences ``y_i - y_j`` over pairs i < j of rated items."""
    rated = y[np.isfinite(y)]
    return np.sqrt(max(len(rated) * np.sum(rated**2) - np.sum(rated) ** 2, 0.0))


def _margin_form(loss, outputs, interval):
    """``u(z) + d(z) y`` with labels y = -1, 1: u the mean and d half the difference of the losses of z."""
    low, high = loss.span(None) if interval is None else interval
    z = np.linspace(low, high, 2 * _GRID + 1)
    u, d = ((loss.value(z, 1.0) + sign * loss.value(z, -1.0)) / 2 for sign in (1, -1))
    return BilinearForm("score; label", 1.0, float(np.abs(d).max()), (float(u.min()), float(u.max())), (0.0, 0.0), True)


def _residual_form(loss: ResidualLoss, outputs, interval):
    low, high = _interval_ends(loss, outputs, interval)
    width = high - low
    z = np.linspace(low, high, _GRID + 1)
    corners = loss.value(np.array([low, low, high, high]), np.array([low, high, low, high])).mean()
    u = (loss.value(z, low) + loss.value(z, high) - corners) / 2
    v = (loss.value(low, z) + loss.value(high, z) - corners) / 2
    symmetric = bool(np.allclose(u, v, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(u).max())))
    return BilinearForm(
        features=f"signs on [{low:g}, {high:g}]",
        norm=_variation(loss, width),
        square=width / 4,
        u=(float(u.min()), float(u.max())),
        v=None if symmetric else (float(v.min()), float(v.max())),
    )


def _variation(loss: ResidualLoss, width):
    """Upper bound on the variation of the loss's derivative over an interval of residuals of this length.

    The intervals are those of a grid, one step longer at both ends.
    """
    r = np.linspace(-width, width, 2 * _GRID + 1)
    step = width / _GRID
    slopes = loss.residual_derivatives(np.concatenate([[-width - step], r, [width + step]]))[0]
    total = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(slopes)))])
    inside = _GRID + 2
    return float((total[inside:] - total[:-inside]).max())


def _interval_ends(loss, outputs, interval):
    """The ends of the interval of outputs."""
    if interval is None and outputs is None:
        raise ValueError(
            f"output_loss: {type(loss).__name__} has a constant on an interval; give interval=(low, high), or outputs"
        )
    low, high = (np.min(outputs), np.max(outputs)) if interval is None else interval
    if not (np.isfinite([low, high]).all() and low < high):
        raise ValueError(f"interval must be two finite numbers, low < high, got {(low, high)!r}")
    return float(low), float(high)


_FORMS: dict[type, Callable] = {
    output_losses.ZeroOne: _constant_minus_kernel("unit vectors, a constant", 1.0),
    output_losses.Hamming: _constant_minus_kernel("signs of labels, a constant", 0.5),
    output_losses.F1: _constant_minus_kernel("features of the kernel 2 |z and y| / (|z| + |y|), a constant", 1.0),
    output_losses.Jaccard: _constant_minus_kernel("features of Tanimoto's kernel, a constant", 1.0),
    output_losses.Kendall: _constant_minus_kernel("signs of pairs, a constant", 0.5),
    output_losses.Spearman: _constant_minus_kernel("centred ranks, a constant", 0.5),
    output_losses.Hellinger: _constant_minus_kernel("roots, a constant", float(np.sqrt(2))),
    output_losses.Chi2: _constant_minus_kernel("features of the kernel 2 z y / (z + y), a constant", 2.0),
    output_losses.Diffusion: _constant_minus_kernel("features of the heat kernel, a constant", 2.0),
    output_losses.Wasserstein1d: _wasserstein_form,
    output_losses.KernelLoss: _kernel_loss_form,
    output_losses.SquaredError: _squared_error_form,
    output_losses.Rank: _rank_form,
    output_losses.Hinge: _margin_form,
    output_losses.Logistic: _margin_form,
    ResidualLoss: _residual_form,
}
