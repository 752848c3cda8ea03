"""Landmarks that move to where the chosen model errs least, before it is fitted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._utils.linalg import spectrum
from ..core.terms import FeatureGram
from ..features import moved
from ..training import Fit, Options, fit
from .choice import Choice
from .on_features import Approximation


def with_moves(choice: Choice, options: Options) -> Choice:
    """The choice with landmarks that have made their moves, where the setting of the features asks for some.

    Any loss, with gaps and weights, has the solution of the squared loss with other targets, fitted values plus dual
    variables: that is what landmarks are moved by. alpha stays: samples left out have had a part in the moves, and
    would choose too small a one.
    """
    training, steps = choice.training, getattr(choice.training.recipe.features, "moves", 0)
    if not steps:
        return choice
    if len(training.kernels) > 1 or training.depends_on_alpha or choice.loss.on_margins:
        raise ValueError(
            "Landmarks: moves are for one kernel, without a graph's penalty or a margin; set moves=0, manifold=0"
        )
    found = fit(training, choice.loss, choice.alpha, options.quick(), factors=choice.factors)
    (kernel,) = training.kernels
    values, targets = _targets(found)
    penalties, where = found.problem.penalty / values, f"{kernel.n_components} landmarks"
    with options.said.task("moves", "move", steps, where=where, exact=False) as task:
        new = moved(kernel.map, training.X, targets, training.weights, penalties, steps, task.step)
    gram = FeatureGram(new(training.X))
    terms = tuple(term.with_gram(gram) for term in training.terms)
    training = replace(training, kernels=(replace(kernel, map=new),), grams=(gram,), terms=terms)
    left = Approximation(new.n_components, new.trace_left(training.X))
    return replace(choice, training=training, factors=None, approximation=left)


def _targets(found: Fit):
    """Eigenvalues (r,) of the operator, and in its eigenbasis targets (n, r) of which the squared loss has this fit."""
    training = found.training
    every = np.arange(len(training.rows))
    targets = found.deviations_at(training.cross(every, training))
    targets += found.sample_coefficients * (found.problem.penalty / found.root**2)
    M = training.terms[0].M
    if M is None:
        return np.ones(targets.shape[1]), targets
    values, vectors = spectrum(M)
    return values, targets @ vectors
