"""Rounds of a kernel that is learnt in steps: fit, change the distance or the rate of one part, choose again."""

from __future__ import annotations

from dataclasses import replace

from ..losses import Squared
from ..training import Options, Samples, fit
from .criterion import Criterion
from .search import Found, families_of, search

_BETTER = 0.5  # standard errors that a round must gain to be kept: the best of several falls by chance too


def rounds_of(samples: Samples) -> int:
    """How often the kernel is to be learnt anew; a term among others is not."""
    pairs = samples.recipe.pairs
    return getattr(pairs[0][0], "n_rounds", 0) if len(pairs) == 1 and not samples.recipe.shapes else 0


def relearn(samples: Samples, found: Found, criterion: Criterion, alpha, options: Options, weights=None) -> Found:
    """The kernel after as many rounds as make its held-out error fall.

    weights : (n,) factors of the sample weights, of a robust fit, or None
    """
    trials = found.trials
    for _ in range(rounds_of(samples)):
        training = found.curve.training
        own = training if weights is None else replace(training, weights=training.weights * weights)
        penalty = found.curve.penalty / float(own.weights.sum())
        fitted = fit(own, Squared(), penalty, options.quick(), factors=found.curve.factors)
        (predictor,) = fitted.predictors(fitted.coefficients)
        variants = found.kernels[0].kernel.variants(training.X, predictor.coef, training.input_weights)
        if not variants:
            break
        reweighted = samples.with_shapes(variants)
        new = search(reweighted, families_of(reweighted), criterion, alpha, options, weights, middle=found.rate)
        trials += new.trials
        if not new.curve.error < found.curve.error - _BETTER * found.curve.standard_error:
            break
        found = new
    return replace(found, trials=trials)
