"""Training data: samples with kernels and terms, from which problems are stated."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .. import kernels, operators
from .._utils.statistics import mean_rows
from ..core.problem import Problem
from ..core.terms import (
    PATH,
    DeformedFeatureKernel,
    DeformedGram,
    DeformedKernel,
    Factors,
    FeatureGram,
    PaddedFactors,
    PaddedTerm,
    SampledTerm,
    Term,
    TrainingOutputs,
    kernels_in_memory,
    make_gram,
    make_term,
    merge_terms,
)
from ..spaces import Space
from .constant import best_constant
from .samples import EncodedOutputs, Samples, take_samples

_ALPHAS_PER_DECADE = 4
# default alphas, relative to the mean of k(x, x) times the norm of the operator; below the smallest, rounding decides
_SMALLEST, _LARGEST = 1e-11, 10.0
_RELATIVE_ALPHAS = np.geomspace(_SMALLEST, _LARGEST, round(_ALPHAS_PER_DECADE * np.log10(_LARGEST / _SMALLEST)) + 1)


@dataclass(frozen=True, kw_only=True)
class Training(Samples):
    """Samples with their kernels and terms; folds take rows of this."""

    kernels: tuple  # InputKernel each, or FeatureKernel
    grams: tuple  # of each kernel, between the n samples
    terms: tuple[Term, ...]  # not scaled by weights

    # ---------------------------------------------------------------- properties

    @property
    def samples(self) -> Samples:
        """The samples without kernels and terms."""
        return Samples(**{field.name: getattr(self, field.name) for field in fields(Samples)})

    @property
    def root_weights(self):
        return None if (self.weights == 1).all() else np.sqrt(self.weights)

    @property
    def learned_operator(self) -> operators.LearnedOperator | None:
        """The setting of an operator that is learnt with the function; None for others."""
        return operators.as_learned(self.recipe.pairs[0][1])

    @property
    def centered(self) -> bool:
        return self.recipe.center

    @cached_property
    def term(self) -> Term | None:
        """The only term, or the sum of several without operators as one; None for other sums."""
        return self.terms[0] if len(self.terms) == 1 else merge_terms(self.terms)

    @property
    def closed_form(self) -> bool:
        """Whether leave-one-out residuals of the squared loss have a formula."""
        if self.term is None or self.learned_operator is not None or self.term.loo_formula is None:
            return False
        return self.mask is None or self.term.takes_mask()

    @property
    def on_features(self) -> bool:
        """Whether features replace Gram matrices."""
        return any(kernel.on_features for kernel in self.kernels)

    @property
    def depends_on_alpha(self) -> bool:
        """Whether a graph's penalty makes the kernel another one for each alpha."""
        return self.grams[0].depends_on_alpha

    # ---------------------------------------------------------------- problems

    def constant(self, loss):
        """The constant (d,), in coordinates, that the model with this loss is fitted around.

        It is NaN for an output that no sample observes, and so are the predictions of this output.
        """
        if not self.recipe.center:
            return np.zeros(self.encoded.coordinates.shape[1])
        encoded = self.encoded
        best = best_constant(encoded.coordinates, self.weights, loss, self.measure, encoded.outside)
        return self.space.smooth_means(best[None])[0]

    def weighted_term(self, alpha) -> Term:
        """The only term, for this alpha, with sample weights; restricted to observed entries if gaps have a formula."""
        assert self.term is not None
        term = self.term.for_alpha(alpha)
        term = term.with_mask(self.mask) if self.mask is not None and self.closed_form else term
        return term if self.root_weights is None else term.scaled(self.root_weights)

    def problem(self, loss, alpha, center) -> Problem:
        """The dual problem of outputs around a constant, `center` (d,)."""
        encoded, root = self.encoded, self.root_weights
        constant = np.nan_to_num(center)
        if encoded.sampling is not None:
            constant = encoded.sampling.push(constant)
        Y = np.nan_to_num(self.Y - constant)
        if self.term is not None:  # for other losses than the squared one the prox handles gaps
            terms = [self.weighted_term(alpha) if loss.quadratic else self.weighted_term(alpha).without_mask()]
        else:
            terms = [term if root is None else term.scaled(root) for term in self.terms]
        if self.has_outside_column(loss):
            Y, terms = np.column_stack([Y, encoded.outside]), [PaddedTerm(term) for term in terms]
        Y = (Y if root is None else Y * root[:, None]).astype(self.grams[0].dtype, copy=False)
        return Problem(tuple(terms), Y, loss, float(alpha * self.weights.sum()), self.mask, root, self.measure)

    def has_outside_column(self, loss) -> bool:
        """Whether problems with this loss have the norms of outputs outside their space as one more column.

        For the squared loss these are a constant, and under a sampling the values contain them.
        """
        has_norms = self.encoded.outside is not None and self.encoded.sampling is None
        return has_norms and not loss.quadratic and not loss.on_margins

    def adapt_factors(self, factors: Factors | None, loss) -> Factors | None:
        """Factors of ``weighted_term`` in the form that the problem with this loss needs."""
        return PaddedFactors(factors) if factors is not None and self.has_outside_column(loss) else factors

    def alphas(self):
        """Logarithmic grid of penalties that spans the spectrum of the problem."""
        return alpha_grid(sum(term.scaled(np.sqrt(self.weights)).scale for term in self.terms) / self.weights.sum())

    def factor_for_path(self, alphas) -> tuple[Training, Any]:
        """The same data, and factors with which every further alpha costs little; None for a single alpha."""
        if len(alphas) < 2 or self.term is None or self.term.loo_formula is None:
            return self, None
        if self.depends_on_alpha:
            gram = self.grams[0].factored()
            return replace(self, grams=(gram,), terms=(self.terms[0].with_gram(gram),)), None
        return self, self.weighted_term(alphas[0]).factor(PATH)

    def with_operator(self, M) -> Training:
        """The same data with another operator."""
        return replace(self, terms=(self.terms[0].with_operator(M),))

    def to_float64(self) -> Training:
        samples = super().to_float64()
        return self if samples is self else build(samples, self.kernels)

    # ---------------------------------------------------------------- parts of the data

    def take(self, positions) -> Training:
        """The training data of the samples at these positions, which alone define space, operator and kernel.

        With a graph's penalty the other samples stay, without outputs. Feature maps stay as they are.
        """
        rows, weights = self.rows[positions], self.weights[positions]
        encoded = EncodedOutputs.from_outputs(self.recipe.space(self.y[rows], weights), self.y[rows])
        X, columns, selected, grams = self.X, self.columns, self.kernels, [gram.take(positions) for gram in self.grams]
        if self.on_features and not self.depends_on_alpha:
            X, columns = _safe_indexing(self.X, positions), rows
        elif not self.depends_on_alpha:
            X, columns = self._take_inputs(positions), rows
            settings = [kernels.scalar_kernel(kernel) for kernel, _ in self.recipe.pairs]
            selected = tuple(self._resolve_kernel(k, setting, X, weights) for k, setting in enumerate(settings))
            for k, kernel in enumerate(selected):
                if kernel is not self.kernels[k]:
                    grams[k] = _gram(self.recipe, kernel, kernel.training_gram(X))
        return replace(
            self,
            X=X,
            columns=columns,
            rows=rows,
            weights=weights,
            kernels=selected,
            grams=tuple(grams),
            terms=make_terms(self.recipe, grams, encoded, weights),
            encoded=encoded,
        )

    def _resolve_kernel(self, k, setting, X, weights):
        """The kernel of a part of the samples: the same unless its settings have a rule that depends on the data."""
        recipe = self.recipe
        if kernels.is_fixed(setting, recipe.gamma, self.kernels[k]):
            return self.kernels[k]
        options = (recipe.center, self.kernels[k].scaling)
        return kernels.InputKernel.from_settings(setting, recipe.gamma, recipe.params, X, weights, *options)

    def take_encoded(self, positions) -> Samples:
        """The samples at these positions, encoded as before."""
        rows, weights = self.rows[positions], self.weights[positions]
        return replace(self.samples, rows=rows, weights=weights, encoded=self.encoded.take(positions))

    def outputs_and_weights(self):
        """All outputs given, and weights (n_samples,): one for the samples in use, zero for others."""
        return self.y, np.isin(np.arange(self.n_samples), self.rows).astype(float)

    def with_space(self, space: Space) -> Training:
        """The same samples with outputs in another space."""
        encoded = EncodedOutputs.from_outputs(space, self.y).take(self.rows)
        terms = make_terms(self.recipe, self.grams, encoded, self.weights)
        return replace(self, encoded=encoded, terms=terms)

    def merge_duplicates(self) -> Training:
        """The same data with repeated samples merged, see ``Samples.merge_duplicates``; under a graph too."""
        labelled = _safe_indexing(self.X, self.labelled_indices) if self.depends_on_alpha else self.X
        first, mass, _ = self._groups(labelled)
        if not self._are_copies(first):
            return self
        return replace(
            self,
            X=self.X if self.depends_on_alpha else self._take_inputs(first),
            columns=self.columns if self.depends_on_alpha else self.columns[first],
            rows=self.rows[first],
            weights=mass,
            grams=tuple(gram.take(first) for gram in self.grams),
            terms=tuple(term.take(first) for term in self.terms),
            encoded=self.encoded.take(first),
        )

    def _take_inputs(self, positions):
        if self.on_features:  # of kernel values all columns stay: landmarks are among them
            return _safe_indexing(self.X, positions)
        return take_samples(self.X, positions, self.kernels)

    def cross(self, positions, part: Training):
        """Kernel values, by kernel, of the samples at these positions with those of a part of the training data."""
        columns, values = np.searchsorted(self.rows, part.rows), []
        for gram, kernel, part_kernel in zip(self.grams, self.kernels, part.kernels, strict=True):
            if part_kernel is kernel:
                values.append(gram.cross(positions, columns))
            else:
                values.append(part_kernel(_safe_indexing(self.X, positions), part.X))
        return values


def alpha_grid(scale):
    """Logarithmic grid of penalties around a scale, the mean of k(x, x) times the operator's norm."""
    return (scale if scale > 0 else 1.0) * _RELATIVE_ALPHAS


# ---------------------------------------------------------------- construction


def build(samples: Samples, selected, values=None) -> Training:
    """Training data from samples and kernels whose settings are numbers.

    selected : for each term an ``InputKernel``, or a ``FeatureKernel``
    values : Gram matrices (N, N) or features (N, r) that were computed before, or None
    """
    recipe, graph = samples.recipe, samples.graph
    grams: list = []
    for i, kernel in enumerate(selected):
        K = kernel.training_gram(samples.X) if values is None else values[i]
        if graph is not None:
            penalty = kernels.graph_penalty(graph, K, samples.columns, kernel.on_features)
            deformed = (DeformedFeatureKernel if kernel.on_features else DeformedKernel)(K, penalty)
            grams.append(DeformedGram(deformed, float(recipe.manifold), samples.labelled_indices))
        else:
            grams.append(FeatureGram(K) if kernel.on_features else _gram(recipe, kernel, K))
    terms = make_terms(recipe, grams, samples.encoded, samples.weights)
    if graph is not None and not any(kernel.on_features for kernel in selected):
        _check_learnt_operator(recipe, samples)
    values = {field.name: getattr(samples, field.name) for field in fields(Samples)}
    return Training(**values, kernels=tuple(selected), grams=tuple(grams), terms=terms)


def _gram(recipe, kernel, K):
    """The Gram matrix with values K, in the precision of the fit."""
    gram = make_gram(kernel.kernel, K)
    if recipe.precision == "float64":
        return gram
    return gram.in_precision("refined" if recipe.precision == "refined" else "float32")


def make_terms(recipe, grams, encoded: EncodedOutputs, weights):
    """The terms of kernels with these Gram matrices, operators learnt from encoded outputs."""
    coordinates, space = encoded.coordinates, encoded.space
    center = mean_rows(coordinates, weights) if recipe.center else np.zeros(coordinates.shape[1])
    outputs = TrainingOutputs(coordinates, weights, center, space if hasattr(space, "axes") else None)
    learned = [operators.as_learned(operator) for _, operator in recipe.pairs]
    if any(learned) and (len(learned) > 1 or encoded.sampling is not None):
        raise ValueError(
            "operator: LearnedOperator requires one kernel and outputs on a common grid; give a single kernel, or "
            "irregular='projected'"
        )
    terms = [
        make_term(kernel, gram, operator, outputs) for (kernel, operator), gram in zip(recipe.pairs, grams, strict=True)
    ]
    return tuple(terms if encoded.sampling is None else [SampledTerm(term, encoded.sampling) for term in terms])


def _check_learnt_operator(recipe, samples):
    """Refuse to learn an operator with so many eigenvalues that the deformed kernel of each does not fit in memory."""
    number = samples.encoded.Y.shape[1]  # it will have as many
    most = kernels_in_memory(len(samples.rows), len(samples.columns))
    if operators.as_learned(recipe.pairs[0][1]) is not None and number > most:
        raise ValueError(
            f"manifold: a learnt operator has {number} eigenvalues, each with a kernel of its own, and memory is for "
            f"{most:.0f}; use another operator, or for curves a space with fewer components, such as "
            "space=spaces.Eigen(n_components=20)"
        )
