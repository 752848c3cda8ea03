"""Quantiles whose order is a constraint of the problem, at the samples and at further points."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import scipy.sparse
from sklearn.utils.validation import _num_samples

from ..core.problem import Problem
from ..losses import NonCrossingPinball
from ..machine.state import State, scatter
from ..training import Fit, Samples, Training, build


def fit_in_order(training: Training, loss, alpha, options, points=None) -> Fit:
    """The quantiles of smallest objective among those in order at the samples and at points; training has levels.

    At a sample the order is one more part of its loss. A point is a sample without outputs, whose loss is the order
    alone: it has dual variables, and weight 1 where weights scale these, but no part in the sum of weights.
    """
    center = training.constant(loss)
    levels, total = len(loss.taus), float(training.weights.sum())
    seen = np.isfinite(training.Y[:, ::levels])
    whole = training if points is None else with_points(training, points)
    seen = np.vstack([seen, np.zeros((len(whole.rows) - len(seen), seen.shape[1]), dtype=bool)])
    Y = np.where(np.repeat(seen, levels, axis=1), whole.Y, 0.0) - np.nan_to_num(center)
    root = whole.root_weights
    terms = [term if root is None else term.scaled(root) for term in ([whole.term] if whole.term else whole.terms)]
    Y = Y if root is None else Y * root[:, None]
    problem = Problem(
        tuple(terms), Y, NonCrossingPinball(loss.levels, seen), float(alpha) * total, None, root, whole.measure
    )
    return Fit(whole, problem, options.solve(problem, alpha, None, None), float(alpha), center)


def with_points(training: Training, points) -> Training:
    """Training data with further inputs whose outputs are not known; operators stay as they are."""
    k, n = _num_samples(points), training.n_samples
    nothing = np.full((k, training.Y.shape[1]), np.nan)
    more = np.arange(n, n + k)
    stack = scipy.sparse.vstack if scipy.sparse.issparse(training.X) else np.concatenate
    encoded = replace(
        training.encoded,
        Y=np.vstack([training.encoded.Y, nothing]),
        coordinates=np.vstack([training.encoded.coordinates, nothing]),
    )
    given = {field.name: getattr(training, field.name) for field in fields(Samples)}
    own = {
        "X": stack([training.X, points]),
        "columns": np.concatenate([training.columns, more]),
        "rows": np.concatenate([training.rows, more]),
        "n_samples": n + k,
        "weights": np.concatenate([training.weights, np.ones(k)]),
        "encoded": encoded,
    }
    whole = build(Samples(**{**given, **own}), training.kernels)
    terms = tuple(term.with_gram(gram) for term, gram in zip(training.terms, whole.grams, strict=True))
    return replace(whole, terms=terms)


def state_in_order(found: Fit) -> State:
    """The state of such a fit: what is said of samples is said of those given, coefficients are of points too."""
    problem, loss, training = found.problem, found.loss, found.training
    assert isinstance(loss, NonCrossingPinball)
    seen, root = np.repeat(loss.observed, len(loss.taus), axis=1), found.root
    own = loss.observed.any(axis=1)
    n = training.n_samples - int((~own).sum())
    residuals = np.where(seen, problem.Y - problem.fitted(found.solution.dual), 0.0) / root
    sizes = np.abs(residuals) if problem.measure is None else np.abs(residuals) / np.sqrt(problem.measure)
    typical = np.median(sizes[seen])
    held = loss.saturated(found.solution.dual / root, problem.measure)
    rows = training.rows[own]
    return State.from_fit(
        replace(found, training=replace(training, y=None)),  # points have no outputs
        diagnostics=None,
        loss=loss.without_order(),
        support=rows[found.solution.dual[own].any(axis=1)],
        saturated=scatter(held[own], rows, n),
        residual_sizes=scatter(sizes[own] / (typical if typical > 0 else 1.0), rows, n),
    )
