"""Split conformal sets of candidates, from the scores of any model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..decoders.candidates import sort_best_first
from .candidate_scores import Gap, as_candidate_score
from .levels import check_level, samples_needed
from .ranks import WeightedRanks


@dataclass(frozen=True, eq=False)
class PositionSets(Sequence):
    """For each of m queries the positions of the candidates in its set, best first.

    Attributes
    ----------
    sets : list of m arrays of int
        Positions of the members of each set, best first.
    p_values : list of m arrays of float
        P-value of each member.
    sizes : (m,) array of int
        Numbers of members.

    References
    ----------
    - Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic learning in a random world. Springer.
    - Sadinle, M., Lei, J. and Wasserman, L. (2019). Least ambiguous set-valued classifiers with bounded error levels.
      JASA 114(525).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn.conformal import sets_of_scores
    >>> known = [np.array([0.9, 0.1]), np.array([0.5, 0.6]), np.array([0.0, 0.8]), np.array([0.7, 0.3])]
    >>> sets = sets_of_scores(known, [0, 0, 1, 0], [np.array([0.4, 0.0])], level=0.8)
    >>> sets[0], sets.contains([1])
    (array([0]), array([False]))
    """

    sets: list  # (m,) arrays
    p_values: list = field(repr=False)  # (m,) of each member: the share of calibration samples with no smaller score

    @property
    def sizes(self):
        """Numbers (m,) of members."""
        return np.array([len(members) for members in self.sets], dtype=int)

    def contains(self, positions):
        """Test which positions are in their sets.

        Parameters
        ----------
        positions : (m,) array of int
            Position of a candidate of each query.

        Returns
        -------
        inside : (m,) array of bool
        """
        return np.array([i in members for i, members in zip(positions, self.sets, strict=True)], dtype=bool)

    def __len__(self):
        return len(self.sets)

    def __getitem__(self, i):
        return self.sets[i]


def sets_of_scores(
    calibration_scores, true_index, scores, *, level=0.9, score="auto", allow_empty=False
) -> PositionSets:
    """Sets of candidates that conform to calibration samples, to which the model was not fitted.

    The true candidate of a new sample is in its set with probability at least ``level``, if the sample is exchangeable
    with the calibration samples.

    Parameters
    ----------
    calibration_scores : list of n arrays (c_i,)
        Scores of the candidates of each calibration sample, the larger the better.
    true_index : (n,) array of int
        Position of the true candidate of each calibration sample.
    scores : list of m arrays
        Scores of the candidates of each query.
    level : float between 0 and 1, default=0.9
        Coverage of the sets.
    score : str or object of ``conformal.candidate_scores``, default="auto"
        "auto" for "gap", or a score of ``ConformalPredictor`` for objects except "loss".
    allow_empty : bool, default=False
        False puts the best candidate into every set.

    Returns
    -------
    sets : PositionSets
        The positions of the candidates in each set.

    References
    ----------
    - Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic learning in a random world. Springer.
    - Romano, Y., Sesia, M. and Candes, E. J. (2020). Classification with valid and adaptive coverage. NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn.conformal import sets_of_scores
    >>> known = [np.array([0.9, 0.1, 0.2]), np.array([0.5, 0.6]), np.array([0.0, 0.8]), np.array([0.7, 0.3])]
    >>> sets = sets_of_scores(known, [0, 0, 1, 0], [np.array([0.4, 0.3, 0.35, 0.0])], level=0.8)
    >>> sets[0], sets.sizes
    (array([0, 2, 1]), array([3]))
    """
    level, candidate_score = check_level(level), as_candidate_score(score) or Gap()
    if candidate_score.by_loss:
        raise ValueError("score='loss' needs predictions and their loss; use another score")
    true_index, n = np.asarray(true_index), len(calibration_scores)
    if len(true_index) != n:
        raise ValueError(f"true_index must have one entry a sample, got {len(true_index)} for {n}")
    if n < samples_needed(level):
        raise ValueError(
            f"level={level:g} needs at least {samples_needed(level)} samples for calibration, got {n}; lower level, or "
            "give more"
        )
    true_scores = np.empty(n)
    for i, (values, true) in enumerate(zip(calibration_scores, true_index, strict=True)):
        values = _check_scores(values, f"calibration_scores[{i}]")
        if not 0 <= true < len(values):
            raise ValueError(f"true_index[{i}] is {true}, of {len(values)} candidates; give the true one's position")
        true_scores[i] = candidate_score(-values)[true]
    ranks = WeightedRanks.from_scores(true_scores, np.zeros(n, dtype=int), 1)
    sets, p_values = [], []
    for i, values in enumerate(scores):
        values = _check_scores(values, f"scores[{i}]")
        order = sort_best_first(values, np.arange(len(values)), len(values))[0]
        below = ranks.weight_below(candidate_score(-values)[None, None])[0]
        members, member_p_values = ranks.members(below, order, level, allow_empty=allow_empty)
        sets.append(members)
        p_values.append(member_p_values)
    return PositionSets(sets, p_values)


def _check_scores(values, name):
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite scores (c,) of at least one candidate, got shape {values.shape}")
    return values
