"""Output operators: settings that become a PSD matrix (d, d) when the training coordinates are known."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator

from ._statistics import mean_rows
from ._validation import check_choice, check_number, check_symmetric_psd


class Identity(BaseEstimator):
    """Independent coordinates: the kernel is ``k(x, z) I``."""

    def matrix(self, Y, weights=None):
        return None


class TaskGraph(BaseEstimator):
    """Related tasks from similarities M between them (Brouard et al. 2016, section 5.2).

    Parameters
    ----------
    M : (d, d) non-negative similarities, or None for ``exp(-gamma ||Y^i - Y^j||^2)`` over the samples in which both
        tasks were observed
    mu : weight of the graph in [0, 1]; 0 is the identity
    form : "laplacian" for ``(mu L_M + (1 - mu) I)^-1`` (model 2) or "similarity" for ``mu M + (1 - mu) I`` (model 1)
    gamma : a number, or "median" for one over the median squared distance between tasks
    """

    def __init__(self, M=None, mu=0.5, form="laplacian", gamma="median"):
        self.M, self.mu, self.form, self.gamma = M, mu, form, gamma

    def matrix(self, Y, weights=None):
        d = Y.shape[1]
        check_number(self.mu, "TaskGraph: mu", strict=False)
        check_choice(self.form, "TaskGraph: form", ("laplacian", "similarity"))
        if self.mu > 1 or (self.mu == 1 and self.form == "laplacian"):
            limit = "< 1 (a graph Laplacian is singular)" if self.form == "laplacian" else "<= 1"
            raise ValueError(f"TaskGraph: mu must be {limit}, got {self.mu!r}")
        similarity = task_similarity(Y, self.gamma, weights) if self.M is None else np.asarray(self.M, dtype=float)
        if similarity.shape != (d, d):
            raise ValueError(f"TaskGraph: M must have shape {(d, d)}, one row a task, got {similarity.shape}")
        if not np.allclose(similarity, similarity.T) or similarity.min() < 0:
            raise ValueError("TaskGraph: M must be symmetric and non-negative; pass similarities between tasks")
        if self.form == "similarity":
            if self.M is None and not np.isfinite(Y).all():  # distances over different samples
                similarity = _psd_part(similarity)
            return self.mu * similarity + (1 - self.mu) * np.eye(d)
        laplacian = np.diag(similarity.sum(axis=1)) - similarity
        return scipy.linalg.inv(self.mu * laplacian + (1 - self.mu) * np.eye(d))


class Covariance(BaseEstimator):
    """Covariance of the training outputs, ``shrinkage`` of it replaced by a multiple of the identity of equal trace.

    Entries that were not observed are left out of each covariance; what is then not PSD is cut off.
    """

    def __init__(self, shrinkage=0.1):
        self.shrinkage = shrinkage

    def matrix(self, Y, weights=None):
        check_number(self.shrinkage, "Covariance: shrinkage", strict=False)
        if self.shrinkage > 1:
            raise ValueError(f"Covariance: shrinkage must be at most 1, got {self.shrinkage!r}")
        observed = np.isfinite(Y)
        weights = np.ones(len(Y)) if weights is None else weights
        centred = np.where(observed, Y - mean_rows(Y, weights), 0.0)
        pairs = (observed.T * weights) @ observed
        S = np.divide((centred.T * weights) @ centred, pairs, out=np.zeros_like(pairs), where=pairs > 0)
        if not observed.all():
            S = _psd_part(S)
        mean = np.trace(S) / len(S)
        return (1 - self.shrinkage) * S + self.shrinkage * (mean if mean > 0 else 1.0) * np.eye(len(S))


class Decay(BaseEstimator):
    """Diagonal with entries ``1 / (1 + j)^rate``, j = 0, 1, ...: later coordinates are smoothed more."""

    def __init__(self, rate=2.0):
        self.rate = rate

    def matrix(self, Y, weights=None):
        check_number(self.rate, "Decay: rate", strict=False)
        return np.diag((1.0 + np.arange(Y.shape[1])) ** -self.rate)


def _psd_part(S):
    values, vectors = scipy.linalg.eigh(S)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def task_similarity(Y, gamma="median", weights=None):
    """``exp(-gamma ||Y^i - Y^j||^2)`` between columns of Y (n, d), mean square over samples observed in both."""
    observed = np.isfinite(Y)
    weights = np.ones(len(Y)) if weights is None else weights
    filled = np.where(observed, Y, 0.0)
    counts = (observed.T * weights) @ observed
    square = (filled.T**2 * weights) @ observed
    distances = square + square.T - 2 * (filled.T * weights) @ filled
    distances = np.divide(np.maximum(distances, 0), counts, out=np.zeros_like(distances), where=counts > 0)
    np.fill_diagonal(distances, 0.0)
    off = distances[np.triu_indices_from(distances, k=1)]
    off = off[off > 0]
    if check_number(gamma, "TaskGraph: gamma", choices=("median",)) == "median":
        gamma = 1.0 / np.median(off) if len(off) else 1.0
    similarity = np.exp(-gamma * distances)
    similarity[counts == 0] = 0.0  # never seen together: no edge
    return similarity


_NAMES = {"identity": Identity, "task_graph": TaskGraph, "covariance": Covariance, "decay": Decay}


def operator_matrix(operator, Y, weights=None):
    """The PSD matrix (d, d) of an operator for coordinates Y (n, d), NaN where not observed; None is the identity."""
    if operator is None:
        return None
    if isinstance(operator, str):
        operator = _NAMES[check_choice(operator, "operator", tuple(_NAMES))]()
    if hasattr(operator, "matrix"):
        M = operator.matrix(Y, weights)
    else:
        try:
            M = np.asarray(operator, dtype=float)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"operator must be a matrix, a name or an object of hilbertlearn.operators, got {operator!r}"
            ) from error
    if M is None:
        return None
    d = Y.shape[1]
    if M.shape != (d, d):
        raise ValueError(f"operator must have shape {(d, d)}, one row an output, got {M.shape}")
    return check_symmetric_psd(
        M, "operator", "pass a positive semi-definite matrix or an object of hilbertlearn.operators"
    )
