"""Operator-valued kernels built from the training outputs (Laforgue et al. 2020, proposition 2)."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from sklearn.base import BaseEstimator

from .._validation import check_choice
from .gram import check_kernel

FORMS = ("i", "ii", "iii", "iv", "v", "vi")


class OutputBuilt(BaseEstimator):
    """Kernels ``sum_i mu_i k_i(s, t) y_i (x) y_i`` over the training outputs y_i, centred, and pairwise variants.

    ======  =====================================================================  ==============================
    form    operator-valued kernel at (s, t)                                       cost of one product
    ======  =====================================================================  ==============================
    i       sum_i mu_i k(s,t) k(s,x_i) k(t,x_i) y_i (x) y_i                        n^3
    ii      k(s,t) sum_i mu_i y_i (x) y_i                                          one separable term
    iii     sum_i mu_i k(s,x_i) k(t,x_i) y_i (x) y_i                               n^2 d
    iv      sum_ij mu_ij k(s,t) l_ij(s) l_ij(t) z_ij (x) z_ij                      n^4
    v       k(s,t) sum_ij mu_ij z_ij (x) z_ij                                      one separable term
    vi      sum_ij mu_ij l_ij(s) l_ij(t) z_ij (x) z_ij                             n^3
    ======  =====================================================================  ==============================

    with ``z_ij = y_i + y_j`` and ``l_ij(s) = k(s, x_i) k(s, x_j)``: the paper leaves the families k_i, k_ij and
    k(s, x_i, x_j) open, here they are k localised at the samples. Sums of rank-one terms are kept as products of
    n x n matrices, never as one Gram matrix a term.

    Parameters
    ----------
    form : "i" to "vi"
    kernel : the scalar kernel k, a name or a callable; a name uses the estimator's gamma
    weights : None for mu proportional to the sample weights (1/n without them, products of two for pairs), or a
        function of the centred outputs (n, d) that returns non-negative mu of shape (n,), or (n, n) for pairs
    """

    def __init__(self, form="ii", kernel="rbf", weights=None):
        self.form, self.kernel, self.weights = form, kernel, weights

    def validate(self):
        check_choice(self.form, "OutputBuilt: form", FORMS)
        check_kernel(self.kernel)

    def operator(self, Y, sample_weight):
        """The operator (d, d) of forms ii and v, which are separable; None for the others."""
        mu = self._mu(Y, sample_weight)
        if self.form == "ii":
            return (Y.T * mu) @ Y
        if self.form == "v":
            return Y.T @ (np.diag(mu.sum(0) + mu.sum(1)) + mu + mu.T) @ Y
        return None

    def term(self, G, Y, sample_weight):
        """The map ``A -> sum of terms applied to A`` for the kernel values G (n, n) and outputs Y (n, d)."""
        return RankOneTerms(self.form, G, Y, self._mu(Y, sample_weight))

    def _mu(self, Y, sample_weight):
        pairs = self.form in ("iv", "v", "vi")
        shape = (len(Y), len(Y)) if pairs else (len(Y),)
        if self.weights is None:
            share = sample_weight / sample_weight.sum()
            return np.multiply.outer(share, share) if pairs else share
        mu = np.asarray(self.weights(Y), dtype=float)
        if mu.shape != shape or not (mu >= 0).all():
            raise ValueError(f"OutputBuilt: weights must return non-negative numbers of shape {shape}, got {mu.shape}")
        return mu


class RankOneTerms:
    """Forms i, iii, iv and vi as a map on dual variables; the interface of ``problem.Separable`` without spectra."""

    def __init__(self, form, G, Y, mu, root_weights=None):
        self.form, self.G, self.Y = form, G, Y
        self.mu = (mu + mu.T) / 2 if mu.ndim == 2 else mu  # the pair (i, j) acts like (j, i)
        self.root = np.ones(len(Y)) if root_weights is None else root_weights

    def scaled(self, root_weights):
        return RankOneTerms(self.form, self.G, self.Y, self.mu, self.root * root_weights)

    def apply(self, A):
        return self.root[:, None] * self.predictor(self.root[:, None] * A)(self.G)

    def predictor(self, A):
        """The function ``G (m, n) -> values (m, d)`` whose unscaled dual variables are A (n, d)."""
        return RankOnePredictor(self.form, self.G, self.Y, self.mu, A)

    def margin_gram(self, Y):
        """``<y_i, K(x_i, x_j) y_j>``, shape (n, n)."""
        G, H = self.G, self.G * (Y @ self.Y.T)
        if self.form in ("i", "iii"):
            inner = (H * self.mu) @ H.T
        else:  # sum_lm mu_lm (H_il G_im + G_il H_im) (H_jl G_jm + G_jl H_jm), one l at a time
            inner = np.zeros_like(G)
            for i, mu in enumerate(self.mu):
                features = H[:, i : i + 1] * G + G[:, i : i + 1] * H
                inner += (features * mu) @ features.T
        return (inner if self.form in ("iii", "vi") else inner * G) * np.multiply.outer(self.root, self.root)

    @property
    def trace(self) -> float:
        """Scale of the term, as ``Separable.trace``: here the sum of the weights times its norm."""
        return float(self.root @ self.root) * self.norm

    @cached_property
    def norm(self) -> float:
        """Largest eigenvalue of the map, by power iterations (the proximal gradient backtracks if it is short)."""
        A = np.random.default_rng(0).normal(size=self.Y.shape)
        size = 0.0
        for _ in range(30):
            length = np.linalg.norm(A)
            if length == 0:
                return 0.0
            A = self.apply(A / length)
            size = float(np.linalg.norm(A))
        return 1.05 * size


class RankOnePredictor:
    """Values at new points, from their kernel values with the samples."""

    def __init__(self, form, G, Y, mu, A):
        self.form, self.Y = form, Y
        products = A @ Y.T  # <a_t, y_i>
        if form == "i":
            self.state = G * products * mu
        elif form == "iii":
            self.state = ((G * products).sum(axis=0) * mu)[:, None] * Y
        elif form == "vi":
            H = G * products
            self.state = 2 * mu * (H.T @ G + G.T @ H)
        else:
            self.state = (G, products, mu)

    def __call__(self, G):
        if self.form == "iii":
            return G @ self.state
        if self.form in ("i", "vi"):
            return (G * (G @ self.state)) @ self.Y
        train, products, mu = self.state
        out = np.zeros((len(G), self.Y.shape[1]))
        for i, y in enumerate(self.Y):  # all pairs (i, j) of one i
            pairs = train[:, i : i + 1] * train * (products[:, i : i + 1] + products) * mu[i]
            local = G[:, i : i + 1] * G * (G @ pairs)
            out += local @ self.Y + np.multiply.outer(local.sum(axis=1), y)
        return out
