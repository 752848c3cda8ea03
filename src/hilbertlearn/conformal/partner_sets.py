"""Sets of partners of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..data.graphs import Pairs
from ..data.graphs.names import as_names, find_positions
from .levels import rank


@dataclass(frozen=True, eq=False)
class PartnerSets(Sequence):
    """For each of m nodes the names of its possible partners, best first.

    Attributes
    ----------
    nodes : (m,) array
        Names of the queried nodes.
    sets : list of m arrays
        Names of the partners of each node, best first.
    p_values : list of m arrays of float
        P-value of each partner.
    sizes : (m,) array of int
        Numbers of partners.

    References
    ----------
    - Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic learning in a random world. Springer.
    - Lu, L. and Zhou, T. (2011). Link prediction in complex networks: a survey. Physica A 390(6).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import ConformalPredictor, LinkPredictor
    >>> X = np.linspace(0, 3, 24)[:, None]
    >>> close = (abs(X - X.T) < 0.4).astype(int) - np.eye(24, dtype=int)
    >>> predictor = LinkPredictor(gamma=2.0, alpha=1e-3, similarities=None, cosine=True)
    >>> partners = ConformalPredictor(predictor, level=0.8, random_state=0).fit(X, close).predict_set([[1.0]])
    >>> np.sort(X[partners[0], 0]).round(1).tolist()
    [0.7, 0.8, 0.9, 1.0, 1.2, 1.3, 1.4]
    """

    nodes: np.ndarray  # (m,) names
    sets: list = field(repr=False)  # (m,) arrays of names
    p_values: list = field(repr=False)  # (m,) of each partner: the share of calibration links with no better score

    @classmethod
    def from_ranks(cls, nodes, others, below, scores, is_open, total, level):
        """Build from the ranks of pairs of m nodes with l others.

        Parameters
        ----------
        nodes : (m,) array of names
        others : (l,) array of names
        below : (m, l) array
            Number of calibration links with better scores.
        scores : (m, l) array
            Minus the score.
        is_open : (m, l) array of bool
            Whether a pair may be in a set.
        total : float
            Number of calibration links.
        level : float

        Returns
        -------
        sets : PartnerSets
        """
        inside = is_open & (below < rank(level, int(total)) - 0.5)
        sets, p_values = [], []
        for mask, below_row, score_row in zip(inside, below, scores, strict=True):
            members = np.flatnonzero(mask)
            members = members[np.argsort(score_row[members], kind="stable")]
            sets.append(others[members])
            p_values.append(1 - below_row[members] / (total + 1))
        return cls(nodes, sets, p_values)

    @property
    def sizes(self):
        """Numbers (m,) of partners."""
        return np.array([len(partners) for partners in self.sets], dtype=int)

    def contains(self, pairs):
        """Test which pairs are in the sets.

        Parameters
        ----------
        pairs : graphs.Pairs or list of k tuples
            Pairs of nodes of fit, or names (node, partner).

        Returns
        -------
        inside : (k,) array of bool
        """
        names = pairs.names.tolist() if isinstance(pairs, Pairs) else list(pairs)
        positions = find_positions(as_names([node for node, _ in names], "pairs"), self.nodes) if names else []
        return np.array(
            [i >= 0 and partner in self.sets[i] for i, (_, partner) in zip(positions, names, strict=True)],
            dtype=bool,
        )

    def __len__(self):
        return len(self.sets)

    def __getitem__(self, i):
        return self.sets[i]
