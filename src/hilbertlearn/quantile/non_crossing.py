"""Quantiles whose order is a constraint of the problem, at the samples and at further points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse
from sklearn.utils.validation import _num_samples

from ..core.problem import Problem
from ..losses import NonCrossingPinball
from ..losses.pinball import antitonic_regression
from ..machine.state import State, scatter
from ..training import Fit, Training, build


def fit_non_crossing(training: Training, loss, alpha, options, points=None) -> Fit:
    """The quantiles of smallest objective that are in order at the samples and at points; training has levels.

    At a sample the order is one more part of its loss. A point is a sample without outputs, whose loss is the order
    alone: it has dual variables, and weight 1 where weights scale these, but no part in the sum of weights.
    """
    center = training.constant(loss)
    levels, total = len(loss.taus), float(training.weights.sum())
    observed = np.isfinite(training.Y[:, ::levels])
    extended = training if points is None else with_points(training, points)
    observed = np.vstack([observed, np.zeros((len(extended.rows) - len(observed), observed.shape[1]), dtype=bool)])
    Y = np.where(np.repeat(observed, levels, axis=1), extended.Y, 0.0) - np.nan_to_num(center)
    root = extended.root_weights
    terms = [extended.term] if extended.term else extended.terms
    terms = [term if root is None else term.scaled(root) for term in terms]
    Y = Y if root is None else Y * root[:, None]
    problem = Problem(
        tuple(terms), Y, NonCrossingPinball(loss.levels, observed), float(alpha) * total, None, root, extended.measure
    )
    return Fit(extended, problem, options.solve(problem, alpha, None, None), float(alpha), center)


def with_points(training: Training, points) -> Training:
    """Training data with further inputs whose outputs are not known; operators stay as they are."""
    k, n = _num_samples(points), training.n_samples
    missing = np.full((k, training.Y.shape[1]), np.nan)
    new_rows = np.arange(n, n + k)
    stack = scipy.sparse.vstack if scipy.sparse.issparse(training.X) else np.concatenate
    encoded = replace(
        training.encoded,
        Y=np.vstack([training.encoded.Y, missing]),
        coordinates=np.vstack([training.encoded.coordinates, missing]),
    )
    samples = replace(
        training.samples,
        X=stack([training.X, points]),
        columns=np.concatenate([training.columns, new_rows]),
        rows=np.concatenate([training.rows, new_rows]),
        n_samples=n + k,
        weights=np.concatenate([training.weights, np.ones(k)]),
        encoded=encoded,
    )
    extended = build(samples, training.kernels)
    terms = tuple(term.with_gram(gram) for term, gram in zip(training.terms, extended.grams, strict=True))
    return replace(extended, terms=terms)


def in_order(offsets, levels):
    """The offsets (d L,) nearest to those given that increase along the levels: quantiles in order stay in order."""
    blocks = offsets.reshape(1, -1, len(levels))
    return -antitonic_regression(-blocks).reshape(offsets.shape)


def non_crossing_state(fit: Fit) -> State:
    """The state of such a fit. Arrays of samples have no rows for the points; coefficients have."""
    problem, loss, training = fit.problem, fit.loss, fit.training
    assert isinstance(loss, NonCrossingPinball)
    observed, root = np.repeat(loss.observed, len(loss.taus), axis=1), fit.root
    has_output = loss.observed.any(axis=1)
    n = training.n_samples - int((~has_output).sum())
    residuals = np.where(observed, problem.Y - problem.fitted(fit.solution.dual), 0.0) / root
    sizes = np.abs(residuals) if problem.measure is None else np.abs(residuals) / np.sqrt(problem.measure)
    typical = np.median(sizes[observed])
    saturated = loss.saturated(fit.solution.dual / root, problem.measure)
    rows = training.rows[has_output]
    return State.from_fit(
        replace(fit, training=replace(training, y=None)),  # points have no outputs
        diagnostics=None,
        loss=loss.without_order(),
        support=rows[fit.solution.dual[has_output].any(axis=1)],
        saturated=scatter(saturated[has_output], rows, n),
        residual_sizes=scatter(sizes[has_output] / (typical if typical > 0 else 1.0), rows, n),
    )
