"""Zachary's karate club with hidden pairs."""

import numpy as np
import pytest

networkx = pytest.importorskip("networkx")
CLUB = networkx.karate_club_graph()
W = networkx.to_numpy_array(CLUB)
N = len(W)


def masked(rng, share=0.3):
    mask = np.triu(rng.random((N, N)) < share, 1)
    return mask | mask.T
