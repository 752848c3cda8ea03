"""Kernel matrices of low and of full rank, and their eigenpairs by eigh."""

import numpy as np
import scipy.linalg
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn._utils import linalg
from hilbertlearn._utils.linalg import Spectrum

EPS = np.finfo(float).eps
N = 600


def sample(n, p, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def smooth(n=N, gamma=0.1):
    """Rank of about 70 for every n, eigenvalues down to rounding."""
    return rbf_kernel(sample(n, 2), gamma=gamma)


def rough(n=N):
    return rbf_kernel(sample(n, 30), gamma=0.05)


def by_eigh(S, rounding=None):
    values, vectors = scipy.linalg.eigh(S, driver="evd")
    kept = values > max(values[-1], 0) * (len(S) * EPS if rounding is None else rounding)
    return Spectrum(values[kept], vectors[:, kept])


def record_eigh_sizes(monkeypatch):
    """A list that collects the sizes of the matrices that `eigh` is called with."""
    seen = []

    def counted(S, *args, own=scipy.linalg.eigh, **options):
        seen.append(len(S))
        return own(S, *args, **options)

    monkeypatch.setattr(linalg.scipy.linalg, "eigh", counted)
    return seen
