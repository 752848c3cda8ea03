"""Scores of candidates, computed from the decoder's objective at all candidates of a query.

A score is a setting and learns nothing. The prediction of a model minimises its objective: the weighted loss ``sum_i
w_i(x) Delta(z, y_i)``, or the squared distance in the output space up to a constant. A score turns the values (..., c)
at the distinct candidates of a query into scores (..., c), the smaller the better. It does not depend on their order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, clone

from .._utils.validation import check_choice, check_number
from ..decoders.candidates import TIE_TOLERANCE

_FLAT = 1e-9  # mean gap relative to the largest value up to which all candidates are tied


class CandidateScore(BaseEstimator, ABC):
    """A function of the objective at the candidates; subclasses hold settings only.

    References
    ----------
    - Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic learning in a random world. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn.conformal import candidate_scores
    >>> issubclass(candidate_scores.Gap, candidate_scores.CandidateScore)
    True
    """

    by_candidates = True  # whether the score of a candidate depends on the other candidates
    by_loss = False  # whether the objective is the output loss to the prediction instead of the decoder's

    @abstractmethod
    def __call__(self, objective):
        """Compute scores of candidates.

        Parameters
        ----------
        objective : (..., c) array
            The objective at the distinct candidates of each query.

        Returns
        -------
        scores : (..., c) array
            The smaller the better.
        """


class Objective(CandidateScore):
    """The objective itself, which does not depend on the other candidates.

    References
    ----------
    - Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic learning in a random world. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn.conformal import candidate_scores
    >>> candidate_scores.Objective()(np.array([0.3, 0.1]))
    array([0.3, 0.1])
    """

    by_candidates = False

    def __call__(self, objective):
        return objective


class Gap(CandidateScore):
    """The difference of the objective and its minimum over the candidates.

    Parameters
    ----------
    relative : bool, default=False
        Whether to divide by the mean difference over the candidates, so that queries with objectives of different
        spread are comparable.

    References
    ----------
    - Sadinle, M., Lei, J. and Wasserman, L. (2019). Least ambiguous set-valued classifiers with bounded error levels.
      JASA 114(525).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn.conformal import candidate_scores
    >>> candidate_scores.Gap()(np.array([0.3, 0.1, 0.2])).round(3)
    array([0.2, 0. , 0.1])
    """

    def __init__(self, relative=False):
        self.relative = relative

    def __call__(self, objective):
        gaps = objective - objective.min(axis=-1, keepdims=True)
        if not self.relative:
            return gaps
        return gaps / _spread(gaps, objective)


class ObjectiveRank(CandidateScore):
    """The number of candidates with at most the same objective, ties included.

    Sets then have the same number of candidates for every query, up to ties.

    References
    ----------
    - Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic learning in a random world. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn.conformal import candidate_scores
    >>> candidate_scores.ObjectiveRank()(np.array([0.3, 0.1, 0.2]))
    array([3., 1., 2.])
    """

    def __call__(self, objective):
        order, ends = _sort_with_ties(objective)
        return _unsort(ends.astype(float), order)


class Likelihood(CandidateScore):
    """Minus the logarithm of the candidate's mass; masses are ``exp(-gap / temperature)``, normalised to sum one.

    Parameters
    ----------
    temperature : float, default=0.2
        In units of the mean gap over the candidates.

    References
    ----------
    - Sadinle, M., Lei, J. and Wasserman, L. (2019). Least ambiguous set-valued classifiers with bounded error levels.
      JASA 114(525).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn.conformal import candidate_scores
    >>> np.exp(-candidate_scores.Likelihood()(np.array([0.3, 0.1, 0.2]))).round(3)
    array([0.   , 0.993, 0.007])
    """

    def __init__(self, temperature=0.2):
        self.temperature = temperature

    def __call__(self, objective):
        ratios = Gap(relative=True)(objective) / check_number(self.temperature, "temperature")
        return ratios + logsumexp(-ratios, axis=-1, keepdims=True)


class CumulativeMass(CandidateScore):
    """The total mass of the candidates with at most the same objective, with the masses of ``Likelihood``.

    This is the score of Romano, Sesia & Candes 2020 without randomisation; all tied candidates count.

    Parameters
    ----------
    temperature : float, default=0.2
        As in ``Likelihood``.
    penalty : float, default=0.0
        Added for each candidate beyond the first (Angelopoulos et al. 2021). It excludes long tails of poor candidates.

    References
    ----------
    - Romano, Y., Sesia, M. and Candes, E. J. (2020). Classification with valid and adaptive coverage. NeurIPS.
    - Angelopoulos, A. N., Bates, S., Malik, J. and Jordan, M. I. (2021). Uncertainty sets for image classifiers using
      conformal prediction. ICLR.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn.conformal import candidate_scores
    >>> candidate_scores.CumulativeMass()(np.array([0.3, 0.1, 0.2])).round(3)
    array([1.   , 0.993, 1.   ])
    """

    def __init__(self, temperature=0.2, penalty=0.0):
        self.temperature, self.penalty = temperature, penalty

    def __call__(self, objective):
        penalty = check_number(self.penalty, "penalty", strict=False)
        masses = np.exp(-Likelihood(self.temperature)(objective))
        order, ends = _sort_with_ties(objective)
        sums = np.cumsum(np.take_along_axis(masses, order, axis=-1), axis=-1)
        return _unsort(np.take_along_axis(sums, ends - 1, axis=-1) + penalty * (ends - 1), order)


class PredictionLoss(CandidateScore):
    """The output loss between the prediction and the candidate: sets are balls around the prediction.

    References
    ----------
    - Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic learning in a random world. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn.conformal import candidate_scores
    >>> candidate_scores.PredictionLoss().by_loss
    True
    """

    by_candidates = False
    by_loss = True

    def __call__(self, objective):
        return objective


_BY_NAME = {
    "gap": Gap,
    "objective": Objective,
    "rank": ObjectiveRank,
    "likelihood": Likelihood,
    "cumulative": CumulativeMass,
    "loss": PredictionLoss,
}


def as_candidate_score(score):
    """A score from its name, or a copy of an object; None for "auto"."""
    if isinstance(score, str):
        alternatives = ", or an object of conformal.candidate_scores"
        name = check_choice(score, "score", ("auto", *_BY_NAME), alternatives)
        return None if name == "auto" else _BY_NAME[name]()
    if isinstance(score, type) or not isinstance(score, CandidateScore):
        remedy = f"pass {score.__name__}()" if isinstance(score, type) else "use 'auto' or candidate_scores.Gap()"
        raise TypeError(f"score must be a name or an object of conformal.candidate_scores, got {score!r}; {remedy}")
    return clone(score)


def _spread(gaps, objective):
    """(..., 1) mean of the gaps, one where all candidates are tied."""
    mean = gaps.mean(axis=-1, keepdims=True)
    return np.where(mean > _FLAT * np.abs(objective).max(axis=-1, keepdims=True), mean, 1.0)


def _sort_with_ties(objective):
    """Order (..., c), best first, and for each position the number of candidates up to its last tie, up to rounding."""
    order = np.argsort(objective, axis=-1, kind="stable")
    values = np.take_along_axis(objective, order, axis=-1)
    rises = np.diff(values, axis=-1) > TIE_TOLERANCE * np.abs(values).max(axis=-1, keepdims=True)
    c = values.shape[-1]
    ends = np.full(values.shape, c)
    ends[..., :-1] = np.where(rises, np.arange(1, c), c)
    return order, np.flip(np.minimum.accumulate(np.flip(ends, -1), axis=-1), -1)


def _unsort(values, order):
    """Values (..., c) of the sorted candidates, back in the order of the candidates."""
    out = np.empty(values.shape)
    np.put_along_axis(out, order, values, axis=-1)
    return out
