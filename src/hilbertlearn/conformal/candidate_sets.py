"""Sets of objects, one for each query: lists of candidates, and balls of the output loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from ..data.objects import concatenate_outputs, distinct, read_outputs, restore_form, take
from ..structured.state import OutputRules
from .finite_spaces import as_metric, ball_sizes, from_metric
from .levels import conforms, upper_ends
from .object_models import ObjectModels, OutputObjective

_ROUNDING = 1e-10  # relative rounding error of a loss: smaller differences are ties


def canonical(rules: OutputRules, items):
    """Outputs in a form that is equal where the predictor cannot distinguish them: as its loss checks them."""
    return items if rules.kernel is not None or rules.loss is None else rules.loss.resolve(items).check(items)


def _read(rules, y, m):
    """Outputs y, one for each of m queries, after reading."""
    outputs, known = read_outputs(y, like=rules.outputs)
    if len(known) != m:
        raise ValueError(f"y must have an output for each of the {m} queries, got {len(known)}")
    return outputs


@dataclass(frozen=True, eq=False, repr=False)
class CandidateSets(Sequence):
    """Sets of candidates for m queries, a sequence of m collections in the form of the outputs, best first.

    Equal candidates are in a set once. Where all rankings or all sets of labels are candidates, and more than 20 000 of
    them conform, the set is not listed: it is None and its size infinite, but ``contains`` still tests it.

    Attributes
    ----------
    sets : list of m collections of outputs
        Members of each set, best first.
    indices : list of m arrays of int
        Positions of the members among the candidates.
    p_values : list of m arrays of float
        P-value of each member.
    sizes : (m,) array
        Numbers of members.

    References
    ----------
    - Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic learning in a random world. Springer.
    - Sadinle, M., Lei, J. and Wasserman, L. (2019). Least ambiguous set-valued classifiers with bounded error levels.
      JASA 114(525).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import ConformalPredictor, StructuredPredictor
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> words = ["low" if x < 0.5 else "high" for x in X[:, 0]]
    >>> predictor = StructuredPredictor("rbf", gamma=10.0, alpha=1e-3, output_loss="zero_one")
    >>> sets = ConformalPredictor(predictor, level=0.9).fit(X, words).predict_set([[0.1], [0.9]])
    >>> sets.contains(["low", "low"]), sets.sizes
    (array([ True, False]), array([1, 1]))
    """

    sets: list  # (m,) in the user's form
    indices: list  # (m,) positions of the members among the candidates, the first of equal ones
    p_values: list  # (m,) of each member: the share of calibration samples, and the query, with no smaller score
    rules: OutputRules = field(repr=False)
    members: list = field(repr=False)  # (m,) after reading
    conforms: Callable | None = field(default=None, repr=False)  # outputs (m,) -> (m,), where sets may not be listed

    @classmethod
    def from_members(cls, rules, sets, conforms=None):
        """Build from the members of each set.

        Parameters
        ----------
        rules : OutputRules
        sets : list of m triples
            The members after reading, or None where they are not listed; their positions; their p-values.
        conforms : callable, default=None
            Tests outputs (m,) where sets may not be listed.

        Returns
        -------
        sets : CandidateSets
        """
        members, indices, p_values = ([triple[part] for triple in sets] for part in range(3))
        in_user_form = [None if outputs is None else restore_form(outputs, rules.form) for outputs in members]
        return cls(in_user_form, indices, p_values, rules, members, conforms)

    @property
    def sizes(self):
        """Numbers (m,) of members."""
        if all(members is not None for members in self.members):
            return np.array([len(members) for members in self.members], dtype=int)
        return np.array([np.inf if members is None else len(members) for members in self.members])

    def contains(self, y):
        """Test which outputs are in their sets.

        Parameters
        ----------
        y : collection of m outputs
            One for each query, in the form of the training outputs.

        Returns
        -------
        inside : (m,) array of bool
        """
        outputs = _read(self.rules, y, len(self))
        if self.conforms is not None:
            return self.conforms(outputs)
        _, group = distinct(canonical(self.rules, concatenate_outputs([*self.members, outputs])))
        ends = np.cumsum(self.sizes)
        output_groups = group[ends[-1] if len(ends) else 0 :]
        return np.array(
            [
                number in group[end - size : end]
                for number, end, size in zip(output_groups, ends, self.sizes, strict=True)
            ],
            dtype=bool,
        )

    def __len__(self):
        return len(self.sets)

    def __getitem__(self, i):
        return self.sets[i]

    def __repr__(self):
        sizes = self.sizes
        summary = f", sizes {sizes.min():g} to {sizes.max():g}, median {np.median(sizes):g}" if len(sizes) else ""
        return f"CandidateSets({len(self)} {'query' if len(self) == 1 else 'queries'}{summary})"


@dataclass(frozen=True, eq=False)
class Balls:
    """Sets of outputs whose loss to the prediction is small.

    ``contains`` tests the set itself. With one model (split) it is the ball of ``radius`` around ``center``. With
    several models (cv+) the set is inside that ball, where the loss is a function of a metric (Kendall, Spearman,
    Hamming, F1, Jaccard); for other losses ``radius`` is NaN.

    Attributes
    ----------
    center : collection of m outputs
        Predictions, in the form of the training outputs.
    radius : (m,) array
        In units of the loss.
    sizes : (m,) array
        Numbers of outputs in the balls, NaN where they are not known.

    References
    ----------
    - Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic learning in a random world. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import ConformalPredictor, StructuredPredictor
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> labels = (X > [0.2, 0.4, 0.6, 0.8]).astype(int)
    >>> predictor = StructuredPredictor("rbf", gamma=10.0, alpha=1e-3, output_loss="hamming")
    >>> model = ConformalPredictor(predictor, level=0.9, method="split", score="loss", random_state=0).fit(X, labels)
    >>> balls = model.predict_set([[0.5]], candidates=None)
    >>> balls.contains([[1, 1, 0, 0]])
    array([ True])
    """

    center: Any  # (m,) predictions, in the user's form
    radius: np.ndarray  # (m,) in units of the loss
    rules: OutputRules = field(repr=False)
    models: ObjectModels = field(repr=False)
    queries: Any = field(repr=False)
    scores: np.ndarray = field(repr=False)  # (n,) of the calibration samples
    level: float = field(repr=False)
    weights: Any = field(repr=False)  # (n,) of the calibration samples, or None
    query_weights: Any = field(repr=False)  # (m,) or None

    @classmethod
    def from_scores(
        cls, models: ObjectModels, objective: OutputObjective, X, scores, level, weights=None, query_weights=None
    ):
        """Compute the balls of queries.

        Parameters
        ----------
        models : ObjectModels
        objective : OutputObjective
            Of the model for point predictions.
        X : array-like of length m
            Inputs of the queries.
        scores : (n,) array
            Losses of the calibration samples.
        level : float
        weights : (n,) array, default=None
            Of the calibration samples.
        query_weights : (m,) array, default=None

        Returns
        -------
        balls : Balls
        """
        rules, queries, final = objective.rules, models.queries(X), objective.queries(X)
        m = _num_samples(X)
        radius = np.full(m, np.nan)
        metric = as_metric(rules.evaluation_loss, scores)
        for q in range(m):
            weight_arguments = _weight_arguments(weights, query_weights, q)
            if models.n_models == 1:
                ends = upper_ends(scores[None, :, None].copy(), level, *weight_arguments)[0, 0]
            elif metric is not None:
                # at most k - 1 samples have R_i below the loss of a member z, so for one of the k smallest
                # d(center, mu_k(i)) + d(R_i) the triangle inequality bounds d(center, z) by it
                distances = _distances(models, rules, queries, q, take(final, [q]))[models.model_index]
                bound = upper_ends((distances + metric)[None, :, None], level, *weight_arguments)[0, 0]
                ends = from_metric(rules.evaluation_loss, bound)
            else:
                continue
            radius[q] = ends
        center = objective.machine.predict(X)
        return cls(center, radius, rules, models, queries, scores, level, weights, query_weights)

    def contains(self, y):
        """Test which outputs are in their sets.

        Parameters
        ----------
        y : collection of m outputs
            One for each query, in the form of the training outputs.

        Returns
        -------
        inside : (m,) array of bool
        """
        outputs = _read(self.rules, y, len(self.radius))
        result = np.empty(len(self.radius), dtype=bool)
        for q in range(len(result)):
            losses = self.models.values(self.queries, slice(q, q + 1), take(outputs, [q]))[0, :, 0]
            by_sample = losses[self.models.model_index] * (1 - _ROUNDING)
            weight_arguments = _weight_arguments(self.weights, self.query_weights, q)
            result[q] = conforms(by_sample[None], self.scores, self.level, *weight_arguments)[0]
        return result

    @property
    def sizes(self):
        """Numbers (m,) of outputs in the balls, as floats; NaN where they are not known.

        Rankings are counted by Mahonian numbers, sets of labels by binomial coefficients.
        """
        centers, _ = read_outputs(self.center, like=self.rules.outputs)
        loss = self.rules.evaluation_loss
        return ball_sizes(loss, loss.check_predictions(centers), self.radius)

    def __len__(self):
        return len(self.radius)


def _weight_arguments(weights, query_weights, q):
    """Weights of the samples and of query q; None for both without query weights."""
    return (None, None) if query_weights is None else (weights, query_weights[q : q + 1])


def _distances(models, rules, queries, q, center):
    """Metric (K,) between a prediction and those of the models for query q."""
    losses = models.values(queries, slice(q, q + 1), center)[0, :, 0]
    return as_metric(rules.evaluation_loss, losses)
