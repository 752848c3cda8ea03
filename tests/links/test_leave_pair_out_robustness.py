"""Leave-pair-out with repeated samples and a huge penalty."""

import mpmath as mp
import numpy as np
import pytest
from helpers.graph_robustness import KNOWN, RNG, X
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import (
    LinkPredictor,
)
from hilbertlearn.links.leave_pair_out import leave_pairs_out


@pytest.mark.parametrize("penalty", [1e-6, 1e-8, 1e-10])
def test_pairs_left_out_of_repeated_samples(penalty):
    K, V = rbf_kernel(np.repeat(X[:5], 2, axis=0)), RNG.normal(size=(10, 3))
    products, squares = leave_pairs_out(K, V, penalty)
    mp.mp.dps = 50
    for i, j in ((0, 1), (2, 3), (0, 2), (1, 8)):
        rest = [k for k in range(10) if k not in (i, j)]
        inverse = (mp.matrix(K[np.ix_(rest, rest)].tolist()) + mp.mpf(penalty) * mp.eye(8)) ** -1
        h = np.array(
            (mp.matrix(K[[i, j]][:, rest].tolist()) * inverse * mp.matrix(V[rest].tolist())).tolist(),
            dtype=float,
        )
        assert_allclose(
            [products[i, j], squares[i, j], squares[j, i]],
            [h[0] @ h[1], h[0] @ h[0], h[1] @ h[1]],
            rtol=1e-4,
        )


def test_pairs_left_out_with_a_huge_alpha():
    assert np.isfinite(LinkPredictor(alpha=1e300, similarities=None).fit(X, KNOWN).thresholds_["new"])
